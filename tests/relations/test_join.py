"""relations/: concepts equal those of a plain judge, however tables are cut and whatever dies."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from dnfscale.data import source
from dnfscale.datasets.convert import Store
from dnfscale.relations import join
from tests.relations.judge import said
from tests.relations.made import joined, rows_of, tables, written


def _agree(found: object, expected: object) -> bool:
    if isinstance(expected, float) and isinstance(found, float):
        return math.isclose(found, expected, rel_tol=1e-11, abs_tol=1e-11)
    return found == expected


@pytest.mark.parametrize("as_of", [None, "seen_at"])
@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("text_keys", [False, True])
def test_every_concept_says_what_the_judge_says(tmp_path, text_keys, repeats, as_of):
    people, visits = tables(1, n=40, m=300, text_keys=text_keys, repeats=repeats)
    main, other = written(people, tmp_path / "people"), written(visits, tmp_path / "visits")
    found = joined(main, other, tmp_path / "kept", repeats=repeats, as_of=as_of)
    rows = rows_of(found.source).to_pylist()
    related = visits.to_pylist()
    assert [row["id"] for row in rows] == people.column("id").to_pylist()
    assert len(found.source.concepts) > 100
    wrong = [
        (name, row["id"], row[name])
        for name, concept in found.source.concepts.items()
        for row in rows
        if not _agree(row[name], said(concept, row, related))
    ]
    assert wrong == []


def test_what_became_of_the_rows_is_counted(tmp_path):
    people, visits = tables(2, repeats=True)
    main, other = written(people, tmp_path / "people"), written(visits, tmp_path / "visits")
    facts = joined(main, other, tmp_path / "kept", repeats=True).facts
    keys, owners = people.column("id").to_pylist(), visits.column("person").to_pylist()
    assert facts.rows == len(keys)
    assert facts.repeated == len(keys) - len(set(keys)) > 0
    [table] = facts.tables
    assert (table.table, table.rows) == ("visits", len(owners))
    assert table.without == sum(key not in owners for key in keys) > 0
    assert table.strays == sum(own not in keys for own in owners) > 0


@pytest.mark.slow
@pytest.mark.parametrize("text_keys", [False, True])
def test_concepts_do_not_depend_on_files_pieces_buckets_or_blocks(tmp_path, monkeypatch, text_keys):
    people, visits = tables(3, text_keys=text_keys)
    once = joined(
        written(people, tmp_path / "people"), written(visits, tmp_path / "visits"), tmp_path / "one"
    )
    order = sorted(range(visits.num_rows), key=lambda row: row * 7919 % visits.num_rows)
    monkeypatch.setattr(source, "_PARTITION_ROWS", 10)
    monkeypatch.setattr(join, "PIECE_ROWS", 20)
    monkeypatch.setattr(join, "BUCKET_ROWS", 7)
    monkeypatch.setattr(join, "_CELLS", 0)
    monkeypatch.setattr(join, "_FEWEST_ROWS", 9)
    monkeypatch.setattr(join, "_BLOCK_ROWS", 11)
    again = joined(
        written(people, tmp_path / "more" / "people", files=4, group_rows=5),
        written(visits.take(order), tmp_path / "more" / "visits", files=7, group_rows=13),
        tmp_path / "many",
    )
    assert len(again.source.files) > 1
    assert again.source.concepts == once.source.concepts
    assert rows_of(again.source).equals(rows_of(once.source))
    assert again.facts == once.facts


def test_concepts_that_are_left_out_are_told_every_time(tmp_path):
    people, visits = tables(3)
    main, other = written(people, tmp_path / "people"), written(visits, tmp_path / "visits")
    told: list[str] = []
    for _ in range(2):
        joined(main, other, tmp_path / "kept", most=20, tell=told.append)
    assert "more left out by relations.max_concepts; related tables read twice" in told[0]
    assert told[1].endswith("more concepts of related rows are left out by relations.max_concepts")
    assert len(told) == 2
    left_out = joined(main, other, tmp_path / "kept", most=20).facts.left_out
    found = joined(main, other, tmp_path / "all", most=20 + left_out, tell=told.append)
    assert len(found.source.concepts) == 20 + left_out, "so many more there are"
    assert found.facts.left_out == 0
    assert "left out" not in told[-1]


class _Killed(BaseException):
    pass


@pytest.mark.slow
def test_a_killed_join_goes_on_with_the_files_that_are_whole(tmp_path, monkeypatch):
    people, visits = tables(4)
    main, other = written(people, tmp_path / "people"), written(visits, tmp_path / "visits")
    expected = rows_of(joined(main, other, tmp_path / "whole").source)
    monkeypatch.setattr(source, "_PARTITION_ROWS", 10)
    monkeypatch.setattr(join, "PIECE_ROWS", 20)
    monkeypatch.setattr(join, "BUCKET_ROWS", 7)
    monkeypatch.setattr(join, "_CELLS", 0)
    monkeypatch.setattr(join, "_FEWEST_ROWS", 9)
    main = written(people, tmp_path / "more" / "people", files=3, group_rows=10)
    writes: list[str] = []
    write, allowed = Store.write, [0]

    def dying(self: Store, name: str, content: object) -> None:
        if len(writes) >= allowed[0]:
            raise _Killed
        writes.append(name)
        write(self, name, content)

    monkeypatch.setattr(Store, "write", dying)
    place = tmp_path / "kept"
    for allowed[0] in range(3, 200, 9):
        try:
            found = joined(main, other, place)
            break
        except _Killed:
            assert not list(place.glob("*/_whole.json"))
    # No file was written twice.
    assert len(writes) == len(set(writes)) > 15
    assert rows_of(found.source).equals(expected)
    assert [Path(f.path).name for f in found.source.files] == sorted(
        name for name in os.listdir(found.source.folder) if not name.startswith("_")
    )
    # And what is whole is used as it is.
    allowed[0] = 0
    assert rows_of(joined(main, other, place).source).equals(expected)
