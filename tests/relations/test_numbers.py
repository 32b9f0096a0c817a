"""relations/: figures of numbers that are hard to add up, and of keys that many rows have."""

from __future__ import annotations

import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dnfscale.core.concepts import Figure
from dnfscale.data.source import Source
from dnfscale.errors import DataError
from dnfscale.relations import join
from tests.relations.made import joined, rows_of, written


def _joined(folder: Path, people: dict[str, Any], visits: dict[str, Any], **changes: Any) -> Source:
    main = written(pa.table(people), folder / "people")
    other = written(pa.table(visits), folder / "visits")
    said = {"time": None, "as_of": None, "row_id": None} | changes
    return joined(main, other, folder / "kept", repeats=True, **said).source


def _figure(source: Source, figure: Figure, of: str) -> list[Any]:
    [name] = [c.name for c in source.concepts.values() if (c.figure, c.of) == (figure, of)]
    found: list[Any] = rows_of(source).column(name).to_pylist()
    return found


def test_totals_of_large_whole_numbers_do_not_wrap_around(tmp_path):
    values = [2**62, 2**62, 2**62 + 1, 5]
    source = _joined(tmp_path, {"id": [1, 2]}, {"person": [1, 1, 1, 2], "n": values})
    assert _figure(source, Figure.SUM, "n")[0] == pytest.approx(3 * 2**62)
    assert _figure(source, Figure.MEAN, "n")[0] == pytest.approx(2**62)
    assert _figure(source, Figure.GREATEST, "n") == [2**62 + 1, 5]


def test_a_total_of_more_than_64_bits_is_told_where_whole_numbers_were_learned(tmp_path):
    source = _joined(tmp_path / "one", {"id": [1, 2]}, {"person": [1, 2], "n": [3, 4]})
    [total] = [c for c in source.concepts.values() if (c.figure, c.of) == (Figure.SUM, "n")]
    assert total.digits is None
    large = {"person": [1, 1], "n": [2**62, 2**62]}
    with pytest.raises(DataError, match="totals of 'n' in visits of at most 64 bits"):
        _joined(tmp_path / "other", {"id": [1, 2]}, large, given=(total,))


def test_decimals_are_the_floats_next_to_them(tmp_path):
    # Arrow's own cast makes 648.7570000000001 of the first.
    texts = ["648.757", "-986.685", "491.448", None]
    decimals = [None if text is None else decimal.Decimal(text) for text in texts]
    visits = {"person": [1, 2, 3, 3], "n": pa.array(decimals, pa.decimal128(12, 3))}
    source = _joined(tmp_path, {"id": [1, 2, 3]}, visits)
    assert _figure(source, Figure.GREATEST, "n") == [648.757, -986.685, 491.448]
    assert _figure(source, Figure.SUM, "n") == [648.757, -986.685, 491.448]


def test_there_is_one_zero(tmp_path):
    for name, zeros in (("one", [-0.0, 0.0]), ("other", [0.0, -0.0])):
        source = _joined(tmp_path / name, {"id": [1]}, {"person": [1, 1], "n": zeros})
        for figure in (Figure.LEAST, Figure.GREATEST):
            assert not np.signbit(_figure(source, figure, "n")).any()


def test_small_numbers_keep_their_digits(tmp_path):
    source = _joined(tmp_path, {"id": [1]}, {"person": [1, 1], "n": [1.25e-4, 3.0000005e-4]})
    assert _figure(source, Figure.SUM, "n") == [pytest.approx(4.2500005e-4, rel=1e-8)]


def test_rows_of_one_key_are_matched_a_few_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(join, "_BLOCK_ROWS", 100)
    lengths = []
    seen = join.seen_block

    def noted(table, places, *others):
        lengths.append(len(places))
        return seen(table, places, *others)

    monkeypatch.setattr(join, "seen_block", noted)
    moments = pa.array(range(1000, 1090), pa.timestamp("s"))
    people = {"id": [7] * 90, "seen_at": moments}
    visits = {"person": [7] * 80, "at": pa.array(range(960, 1040), pa.timestamp("s"))}
    source = _joined(tmp_path, people, visits, time="at", as_of="seen_at")
    # 7,200 pairs, a hundred at a time.
    assert sum(lengths) == 7_200
    assert max(lengths) == 100
    [name] = [c.name for c in source.concepts.values() if c.figure is Figure.COUNT and not c.days]
    expected = [sum(at < now for at in range(960, 1040)) for now in range(1000, 1090)]
    assert rows_of(source).column(name).to_pylist() == expected


def test_main_rows_of_one_key_and_one_moment_are_one(tmp_path, monkeypatch):
    lengths = []
    seen = join.seen_block

    def noted(table, places, *others):
        lengths.append(len(places))
        return seen(table, places, *others)

    monkeypatch.setattr(join, "seen_block", noted)
    source = _joined(tmp_path, {"id": [7] * 1_000}, {"person": [7] * 100, "n": list(range(100))})
    assert lengths == [100]
    assert _figure(source, Figure.SUM, "n") == [4950] * 1_000
