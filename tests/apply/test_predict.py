"""Predictions of datasets against a judge that reads the model's attributes and terms row
by row.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dnfscale.apply.predict
import dnfscale.data.outputs
from dnfscale.apply.predict import predict
from dnfscale.core.columns import Block, Reading
from dnfscale.core.counts import TypeCounts, tally_types
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import MOST_ELL, Model, formula_of
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    Equals,
    IsIn,
    IsMissing,
    IsTrue,
    Vocabulary,
)
from dnfscale.data.frames import table_source
from dnfscale.data.models import model_record
from dnfscale.data.read import TablePartition
from dnfscale.data.source import open_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DataError, LimitError, SpecError
from tests.jobs.judging import holds, is_missing
from tests.strategies import tables

TAU = Vocabulary(
    (
        Above("x_above_median", "x", 1.5),
        Equals("s_red", "s", "red"),
        IsMissing("x_missing", "x"),
        IsTrue("b", "b", True),
        Above("n_above_median", "n", 2**53 + 1),
        Between("x_between", "x", 0.5, 2.0),
    )
)
FORMULA = Dnf((Term(0b000011, 0b000011), Term(0b001100, 0b001100), Term(0b110010, 0b010000)))


def model_of(tau: Vocabulary = TAU, dnf: Dnf = FORMULA, seed: int = 0, **how: Any) -> Model:
    """A model with counts of its own for three quarters of its types."""
    random = np.random.default_rng(seed)
    codes = np.flatnonzero(random.random(1 << len(tau)) < 0.75)
    n = random.integers(1, 9, len(codes))
    return Model(
        "y", how.pop("positive", (True,)), tau, dnf, TypeCounts(len(tau), codes, n, n // 2), **how
    )


def rows(n_rows: int, seed: int = 1) -> pa.Table:
    random = np.random.default_rng(seed)

    def gaps() -> Any:
        return random.random(n_rows) < 0.1

    return pa.table(
        {
            "unused": pa.array(["?"] * n_rows),
            "b": pa.array(random.random(n_rows) < 0.5, mask=gaps()),
            "n": pa.array(2**53 + random.integers(0, 4, n_rows), mask=gaps()),
            "s": pa.array(
                random.choice(["red", "blue", "never seen", ""], n_rows).tolist(), mask=gaps()
            ),
            "x": np.where(gaps(), np.nan, random.integers(0, 4, n_rows) / 1.0),
        }
    )


def judged(models: Sequence[Model], table: pa.Table) -> list[dict[str, Any]]:
    """What is to be written of each row, and the counts of its summary, one row after the other."""
    found = []
    records = [model_record(model) for model in models]
    for row in table.to_pylist():
        said = []
        for model, record in zip(models, records, strict=True):
            truth = [holds(attribute, row) for attribute in record["attributes"]]
            terms = (
                [line["all"] for line in record["lines"]] if "lines" in record else record["terms"]
            )
            code = sum(1 << i for i, true in enumerate(truth) if true)
            first = next(
                (
                    i
                    for i, term in enumerate(terms)
                    if all(truth[x["attribute"]] == x["value"] for x in term)
                ),
                None,
            )
            n, c = model.rows_of(model.type_of(code))
            accepted = (first is not None) == model.answer
            said.append((float(model.probability(n, c, accepted)), first, n > 0, accepted))
        best = max(range(len(said)), key=lambda i: (said[i][0], -i))
        probability, term, seen, accepted = said[best]
        several = len(models) > 1
        found.append(
            {
                "prediction": models[best].positive[0] if several else accepted,
                "probability": probability / sum(p for p, *_ in said) if several else probability,
                "term": term,
                "seen": seen,
                "gap": any(
                    is_missing(row[a.column]) for model in models for a in model.tau.attributes
                ),
            }
        )
    return found


def written(folder: Path) -> list[dict[str, Any]]:
    """All rows of a folder of predictions, in the order of its files."""
    return [
        row for file in sorted(folder.glob("*.parquet")) for row in pq.read_table(file).to_pylist()
    ]


def without(rows_judged: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: row[key] for key in ("prediction", "probability", "term")} for row in rows_judged]


def check(models: Sequence[Model], table: pa.Table, folder: Path, **how: Any) -> None:
    found = predict(
        models,
        how.get("source") or table_source(table, "X"),
        how.get("engine", SerialEngine()),
        folder,
    )
    expected = judged(models, table)
    answers = [row["prediction"] for row in expected]
    labels = [False, True] if len(models) == 1 else [model.positive[0] for model in models]
    assert written(folder) == without(expected)
    assert found.rows == len(expected)
    assert found.answers == tuple(answers.count(label) for label in labels)
    assert found.missing == sum(row["gap"] for row in expected)
    assert found.unseen == sum(not row["seen"] for row in expected)
    assert not [name for name in os.listdir(folder.parent) if name.startswith(".")]


def test_every_row_gets_what_the_terms_say(tmp_path):
    check([model_of()], rows(500), tmp_path / "out")
    schema = pq.read_schema(next((tmp_path / "out").glob("*.parquet")))
    assert [(field.name, str(field.type)) for field in schema] == [
        ("prediction", "bool"),
        ("probability", "double"),
        ("term", "int32"),
    ]


@pytest.mark.parametrize("dnf", [Dnf(()), Dnf((Term(0, 0),))])
def test_a_constant_formula_answers_too(tmp_path, dnf):
    check([model_of(dnf=dnf)], rows(40), tmp_path / "out")


def lines_model(n_lines: int, n_columns: int, seed: int = 0, **how: Any) -> Model:
    """A formula of lines over as many cuts, intervals, sets and values as it has literals, with
    counts of patterns that some rows have.
    """
    random = np.random.default_rng(seed)

    def asked() -> tuple[Attribute, bool]:
        number = int(random.integers(n_columns))
        cut = float(random.integers(0, 90)) / 10
        own: list[Attribute] = [
            Above("above", f"x{number}", cut),
            Between("between", f"x{number}", cut, cut + 2),
            IsMissing("missing", f"x{number}"),
            IsIn("in", f"s{number}", ("red", *random.choice(["blue", "", "a b"], 1).tolist())),
            Equals("equals", f"s{number}", "blue"),
        ]
        return own[int(random.integers(len(own)))], bool(random.random() < 0.6)

    def line() -> dict[Attribute, bool]:
        return dict(asked() for _ in range(int(random.integers(2, 5))))

    tau, dnf = formula_of([list(line().items()) for _ in range(n_lines)])
    none = tally_types(np.empty(0), np.empty(0), n_lines)
    model = Model("y", how.pop("positive", (True,)), tau, dnf, none, types="lines", **how)
    table = many_columns(200, n_columns, seed=7)
    record = model_record(model)
    patterns = []
    for row in table.to_pylist():
        code = sum(holds(a, row) << i for i, a in enumerate(record["attributes"]))
        patterns.append(model.type_of(code))
    seen = np.array(patterns, dtype=np.int64)
    return replace(model, counts=tally_types(seen, random.random(200) < 0.5, n_lines))


def many_columns(n_rows: int, n_columns: int, seed: int = 1) -> pa.Table:
    random = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for number in range(n_columns):
        gaps = random.random((2, n_rows)) < 0.1
        columns[f"x{number}"] = pa.array(random.integers(0, 100, n_rows) / 10, mask=gaps[0])
        texts = random.choice(["red", "blue", "", "a b", "new"], n_rows).tolist()
        columns[f"s{number}"] = pa.array(texts, mask=gaps[1])
    return pa.table(columns)


@pytest.mark.parametrize(("n_lines", "n_columns"), [(1, 1), (9, 4), (16, 30), (17, 30), (40, 40)])
def test_a_formula_of_lines_answers_however_many_attributes_it_has(tmp_path, n_lines, n_columns):
    model = lines_model(n_lines, n_columns)
    assert n_lines <= 9 or len(model.tau) > MOST_ELL
    check([model], many_columns(1000, n_columns), tmp_path / "out")
    check([replace(model, answer=False)], many_columns(1000, n_columns), tmp_path / "other")


def test_formulas_of_lines_and_of_attributes_answer_together(tmp_path):
    models = [
        lines_model(20, 8, positive=("a",)),
        lines_model(3, 8, seed=2, positive=("b",), answer=False),
        model_of(Vocabulary((Above("x", "x0", 5.0), IsMissing("m", "s1"))), Dnf((Term(1, 1),))),
    ]
    models[2] = replace(models[2], positive=("c",))
    check(models, many_columns(500, 8), tmp_path / "out")


def checklist(positive: tuple[Any, ...] = (True,)) -> Model:
    """At least 2 of 4 signs, with counts by their number; no row had three."""
    counts = TypeCounts(4, np.array([0, 1, 3]), np.array([50, 40, 30]), np.array([2, 10, 20]))
    dnf = Dnf((Term(0b1111, 0b0111, 2),))
    return Model(
        "y", positive, Vocabulary(TAU.attributes[:4]), dnf, counts, "indicator", types="signs"
    )


def signs(row: dict[str, Any]) -> int:
    """The judge: how many of the four signs hold."""
    record = model_record(checklist())
    truth = [holds(attribute, row) for attribute in record["attributes"]]
    return sum(truth[:3]) + (not truth[3])


def test_a_checklist_tells_how_many_signs_hold_and_their_share(tmp_path):
    model, table = checklist(), rows(500)
    found = predict([model], table_source(table, "X"), SerialEngine(), tmp_path / "out")
    shares = {
        held: float(model.probability(*model.rows_of((1 << held) - 1), held >= 2))
        for held in range(5)
    }
    expected = [signs(row) for row in table.to_pylist()]
    assert written(tmp_path / "out") == [
        {"prediction": held >= 2, "probability": shares[held], "signs": held} for held in expected
    ]
    # No value is above 1.5 and missing.
    assert set(expected) == {0, 1, 2, 3}
    assert found.unseen == expected.count(3)


def test_of_several_formulas_a_checklist_tells_its_signs_where_it_answers(tmp_path):
    models = [checklist(("a",)), model_of(seed=3, positive=("b",))]
    table = rows(500)
    predict(models, table_source(table, "X"), SerialEngine(), tmp_path / "out")
    found = written(tmp_path / "out")
    assert {row["prediction"] for row in found} == {"a", "b"}
    assert [row["signs"] for row in found] == [
        signs(row) if own["prediction"] == "a" else None
        for row, own in zip(table.to_pylist(), found, strict=True)
    ]


def classes() -> list[Model]:
    """Three formulas, of which one asks only whether a number is there that another compares, in
    either order.
    """
    only_missing = Vocabulary((IsMissing("x_missing", "x"), Equals("s_blue", "s", "blue")))
    compared = Vocabulary((Above("x_above_median", "x", 0.5),))
    return [
        model_of(only_missing, Dnf((Term(0b01, 0b01),)), seed=3, positive=("low",)),
        model_of(compared, Dnf((Term(0b1, 0b1),)), seed=4, positive=("middle",)),
        model_of(seed=5, positive=("high",)),
    ]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_of_several_formulas_the_most_probable_answers_and_the_first_of_several(tmp_path, order):
    check([classes()[i] for i in order], rows(200), tmp_path / "out")


@pytest.mark.parametrize("labels", [(1, 2, 3), (1.5, 2, 3), ("a", "ä", ""), (2**63, 1, 2)])
def test_labels_are_written_in_a_type_that_holds_them(tmp_path, labels):
    models = [model_of(seed=i, positive=(label,)) for i, label in enumerate(labels)]
    check(models, rows(60), tmp_path / "out")


@settings(max_examples=15)
@given(tables(max_rows=25), st.data())
def test_any_table_is_answered_however_it_is_cut(tmp_path_factory, table, data):
    """Attributes of every column of a table at random; the rows come in one partition or in several
    files.
    """
    attributes: list[Any] = []
    for name, kind in zip(table.column_names[:-1], table.schema.types[:-1], strict=True):
        values = [value for value in table[name].to_pylist() if not is_missing(value)]
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            low, high = sorted(
                data.draw(st.lists(st.sampled_from(values or [0]), min_size=2, max_size=2))
            )
            attributes += [
                Above(f"{name}_above", name, low),
                Between(f"{name}_between", name, low, high),
            ]
        elif values:
            attributes.append(Equals(f"{name}_is", name, data.draw(st.sampled_from(values))))
        attributes.append(IsMissing(f"{name}_missing", name))
    tau = Vocabulary(tuple(data.draw(st.permutations(attributes))[:5]))
    full = (1 << len(tau)) - 1
    cares = data.draw(st.lists(st.integers(0, full), max_size=3))
    model = model_of(
        tau, Dnf(tuple(Term(care, care & data.draw(st.integers(0, full))) for care in cares))
    )
    folder = tmp_path_factory.mktemp("any")
    (folder / "data").mkdir()
    cuts = sorted(data.draw(st.lists(st.integers(0, table.num_rows), max_size=3)))
    for i, (start, stop) in enumerate(itertools.pairwise([0, *cuts, table.num_rows])):
        pq.write_table(table[start:stop], folder / "data" / f"{i}.parquet", row_group_size=7)
    check([model], table, folder / "out", source=open_source(str(folder / "data")))


def test_whole_numbers_beyond_floats_and_single_precision_are_compared_exactly(tmp_path):
    tau = Vocabulary(
        (Between("big", "n", 2**53 + 1, 2**53 + 2), Between("tenth", "f", 0.1, float("inf")))
    )
    table = pa.table(
        {
            "n": pa.array([2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3, -(2**62)]),
            "f": pa.array(np.array([0.1, 0.0999, 0.0999, np.nan, np.inf], dtype=np.float32)),
        }
    )
    # The single-precision number nearest to a tenth is above a tenth.
    assert float(np.float32(0.1)) > 0.1
    check([model_of(tau, Dnf((Term(0b01, 0b01), Term(0b10, 0b10))))], table, tmp_path / "out")
    assert [row["term"] for row in written(tmp_path / "out")] == [1, None, 0, None, 1]


def test_cuts_that_are_infinite_or_not_known_are_never_passed(tmp_path):
    tau = Vocabulary(
        (
            Above("tenth", "f", 0.1),
            Above("never", "f", float("inf")),
            Above("not known", "f", None),
            Between("neither", "f", None, None),
        )
    )
    table = pa.table(
        {"f": pa.array(np.array([0.1, 0.0999, np.nan, np.inf, -np.inf], dtype=np.float32))}
    )
    check(
        [model_of(tau, Dnf((Term(0b1001, 0b0001), Term(0b0010, 0b0010))))], table, tmp_path / "out"
    )


def test_files_are_closed_at_their_size_and_keep_the_order_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(dnfscale.apply.predict, "_FILE_ROWS", 100)
    monkeypatch.setattr(dnfscale.apply.predict, "_FEW_ROWS", 0)
    table = rows(450)
    cuts = [0, 1, 130, 131, 400, 450]
    parts = tuple(
        TablePartition(i, table[start:stop])
        for i, (start, stop) in enumerate(itertools.pairwise(cuts))
    )
    check(
        [model_of()],
        table,
        tmp_path / "out",
        source=replace(table_source(table, "X"), partitions=parts),
    )
    sizes = [pq.read_metadata(file).num_rows for file in sorted((tmp_path / "out").iterdir())]
    assert sizes == [130, 270, 50]


def test_few_rows_go_into_one_file(tmp_path):
    table = rows(450)
    parts = tuple(TablePartition(i, table[90 * i : 90 * (i + 1)]) for i in range(5))
    check(
        [model_of()],
        table,
        tmp_path / "out",
        source=replace(table_source(table, "X"), partitions=parts),
    )
    assert len(list((tmp_path / "out").iterdir())) == 1


def test_two_workers_write_what_one_does(tmp_path, cluster, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = rows(300)
    (tmp_path / "data").mkdir()
    for i in range(3):
        pq.write_table(table[100 * i : 100 * (i + 1)], tmp_path / "data" / f"{i}.parquet")
    source = open_source("data")
    check([model_of()], table, Path("serial"), source=source)
    predict([model_of()], source, cluster, Path("apart"))
    assert [p.read_bytes() for p in sorted(Path("apart").iterdir())] == [
        p.read_bytes() for p in sorted(Path("serial").iterdir())
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Misjudged:
    """Rows whose number is not what was said."""

    inner: TablePartition
    n_rows: int
    ordinal: int = 0

    def blocks(self, reading: Reading) -> Iterator[Block]:
        return self.inner.blocks(reading)


@pytest.mark.parametrize("said", [99, 101])
def test_rows_that_are_not_as_many_as_was_said_are_an_error_and_nothing_is_written(tmp_path, said):
    table = rows(100)
    source = table_source(table, "t")
    wrong = replace(source, partitions=(Misjudged(TablePartition(0, table), said),))
    with pytest.raises(
        DataError, match=f"expected {said} rows as the footers say, got (at least )?100"
    ):
        predict([model_of()], wrong, SerialEngine(), tmp_path / "answers")
    assert not list(tmp_path.iterdir())


def test_more_rows_than_there_can_be_are_over_a_limit(tmp_path):
    table = rows(100)
    wrong = replace(
        table_source(table, "t"), partitions=(Misjudged(TablePartition(0, table), 10**16),)
    )
    with pytest.raises(
        LimitError, match="expected memory for the answers to 10,000,000,000,000,000 rows"
    ):
        predict([model_of()], wrong, SerialEngine(), tmp_path / "answers")
    assert not list(tmp_path.iterdir())


def test_no_rows_give_a_file_without_rows(tmp_path):
    pq.write_table(rows(0), tmp_path / "t.parquet")
    for models in ([model_of()], classes()):
        folder = tmp_path / f"out{len(models)}"
        check(models, rows(0), folder, source=open_source(str(tmp_path / "t.parquet")))
        [file] = folder.iterdir()
        assert pq.read_schema(file).names == ["prediction", "probability", "term"]


def test_missing_values_that_were_an_error_are_one_again_and_nothing_is_written(tmp_path):
    with pytest.raises(DataError, match="learned with missing = 'error', but column 's' has some"):
        predict(
            [model_of(missing="error")],
            table_source(rows(50), "X"),
            SerialEngine(),
            tmp_path / "out",
        )
    assert os.listdir(tmp_path) == []


WRONG_COLUMNS = {
    "x": (pa.array(["1"]), "expected column 'x' to hold numbers"),
    "n": (pa.array([True]), "expected column 'n' to hold numbers"),
    "s": (pa.array([1]), "expected column 's' to hold text"),
    "b": (pa.array([1]), "expected column 'b' to hold booleans"),
}


@pytest.mark.parametrize("name", WRONG_COLUMNS)
def test_columns_of_another_type_and_absent_ones_are_refused_before_anything_is_read(
    tmp_path, name
):
    column, message = WRONG_COLUMNS[name]
    table = rows(1)
    wrong = table.set_column(table.column_names.index(name), name, column)
    with pytest.raises(DataError, match=message):
        predict([model_of()], table_source(wrong, "X"), SerialEngine(), tmp_path / "out")
    with pytest.raises(DataError, match=f"'{name}' is not there"):
        predict(
            [model_of()],
            table_source(table.drop_columns(name), "X"),
            SerialEngine(),
            tmp_path / "out",
        )
    assert os.listdir(tmp_path) == []


def test_a_column_without_any_value_may_have_any_type(tmp_path):
    table = rows(30)
    empty = table.set_column(3, "s", pa.nulls(30)).set_column(4, "x", pa.nulls(30))
    check([model_of()], empty, tmp_path / "out")


def test_what_is_there_is_replaced_only_by_force_and_then_whole(tmp_path):
    folder, source = tmp_path / "out", table_source(rows(20), "X")
    predict([model_of()], table_source(rows(7), "X"), SerialEngine(), folder)
    os.replace(folder / "part-00000.parquet", folder / "part-00009.parquet")
    (folder / "_SUCCESS").write_text("")
    with pytest.raises(SpecError, match="already there; choose another --output, or pass --force"):
        predict([model_of()], source, SerialEngine(), folder)
    assert len(written(folder)) == 7
    predict([model_of()], source, SerialEngine(), folder, force=True)
    assert os.listdir(folder) == ["part-00000.parquet"]
    assert os.listdir(tmp_path) == ["out"]
    assert written(folder) == without(judged([model_of()], rows(20)))


OTHERS: dict[str, Any] = {
    "notes.txt": "dear",
    ".part-00000.parquet.crc": "dear",
    "more/part-00000.parquet": None,
    "part-00001.parquet": "dear",
    "part-00002.parquet": pa.table({"x": [1]}),
    "part-00003-cafe.snappy.parquet": None,
}
"""Files that are none of a prediction; None: its content is that of one, its name is not."""


@pytest.mark.parametrize("name", OTHERS)
def test_force_replaces_nothing_but_an_earlier_prediction(tmp_path, name):
    folder, content = tmp_path / "out", OTHERS[name]
    source = table_source(rows(20), "X")
    predict([model_of()], source, SerialEngine(), folder)
    (folder / name).parent.mkdir(exist_ok=True)
    if isinstance(content, str):
        (folder / name).write_text(content)
    else:
        pq.write_table(content or pq.read_table(folder / "part-00000.parquet"), folder / name)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(
        SpecError,
        match=r"out: expected nothing but an earlier prediction for --force to replace, but",
    ):
        predict([model_of()], source, SerialEngine(), folder, force=True)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert os.listdir(tmp_path) == ["out"]


def test_force_does_not_replace_a_file_and_what_comes_meanwhile_stays(tmp_path, monkeypatch):
    source = table_source(rows(20), "X")
    (tmp_path / "file").write_text("dear")
    with pytest.raises(SpecError, match="but there is a file; choose another --output"):
        predict([model_of()], source, SerialEngine(), tmp_path / "file", force=True)
    predict([model_of()], source, SerialEngine(), tmp_path / "out")
    real = dnfscale.apply.predict.write_part

    def joined_by_another(*given: Any) -> None:
        (tmp_path / "out" / "notes.txt").write_text("dear")
        real(*given)

    monkeypatch.setattr(dnfscale.apply.predict, "write_part", joined_by_another)
    with pytest.raises(SpecError, match=r"'notes\.txt'; choose another --output"):
        predict([model_of()], source, SerialEngine(), tmp_path / "out", force=True)
    assert (tmp_path / "file").read_text() == (tmp_path / "out" / "notes.txt").read_text() == "dear"
    assert sorted(os.listdir(tmp_path)) == ["file", "out"]


def test_a_link_to_a_folder_is_replaced_and_not_what_it_points_to(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "dear").write_text("dear")
    (tmp_path / "out").symlink_to(tmp_path / "kept")
    (tmp_path / "broken").symlink_to(tmp_path / "nothing")
    for name in ("out", "broken"):
        with pytest.raises(SpecError, match="already there"):
            predict([model_of()], table_source(rows(9), "X"), SerialEngine(), tmp_path / name)
        predict(
            [model_of()], table_source(rows(9), "X"), SerialEngine(), tmp_path / name, force=True
        )
        assert len(written(tmp_path / name)) == 9
    assert (tmp_path / "kept" / "dear").read_text() == "dear"
    assert sorted(os.listdir(tmp_path)) == ["broken", "kept", "out"]


def test_a_task_that_fails_leaves_nothing_and_what_was_there_stays(tmp_path):
    predict([model_of()], table_source(rows(7), "X"), SerialEngine(), tmp_path / "out")
    (tmp_path / "data").mkdir()
    for i in range(2):
        pq.write_table(rows(40_000, seed=i), tmp_path / "data" / f"{i}.parquet", compression="none")
    damaged = tmp_path / "data" / "1.parquet"
    content = bytearray(damaged.read_bytes())
    content[4 : len(content) - 2000] = bytes(len(content) - 2004)
    damaged.write_bytes(content)
    source = open_source(str(tmp_path / "data"))
    with pytest.raises(
        DataError, match=r"1\.parquet: expected to read its columns, but that failed"
    ):
        predict([model_of()], source, SerialEngine(), tmp_path / "out", force=True)
    assert sorted(os.listdir(tmp_path)) == ["data", "out"]
    assert len(written(tmp_path / "out")) == 7


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        SpecError, match=r"expected a folder that can be written, but (Not a directory|File exists)"
    ):
        predict([model_of()], table_source(rows(3), "X"), SerialEngine(), tmp_path / "file" / "out")


def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path, monkeypatch):
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(dnfscale.data.outputs.pq, "write_table", full)
    with pytest.raises(LimitError, match="No space left on device; make room"):
        predict([model_of()], table_source(rows(3), "X"), SerialEngine(), tmp_path / "out")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("at", [1, 2])
def test_a_folder_that_cannot_be_moved_away_stays_as_it_was(tmp_path, monkeypatch, at):
    predict([model_of()], table_source(rows(7), "X"), SerialEngine(), tmp_path / "out")
    calls = []
    real = os.replace

    def failing(*given: Any) -> None:
        calls.append(given)
        if len(calls) == at:
            raise OSError(16, "Device or resource busy")
        real(*given)

    monkeypatch.setattr(dnfscale.apply.predict.os, "replace", failing)
    with pytest.raises(LimitError, match="busy"):
        predict(
            [model_of()], table_source(rows(3), "X"), SerialEngine(), tmp_path / "out", force=True
        )
    assert os.listdir(tmp_path) == ["out"]
    assert len(written(tmp_path / "out")) == 7
