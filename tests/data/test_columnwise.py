"""Columns read one after the other are the table that Arrow reads at once."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.columns import Column, Reading, Role
from dnfscale.data import columnwise
from dnfscale.data.columnwise import (
    LateBatch,
    read_batches,
    read_beginning,
    read_first,
    read_late,
    side_by_side,
)
from dnfscale.data.source import open_source
from dnfscale.errors import DataError

N_ROWS = 300
COLUMNS = ["small", "text", "flag", "gaps", "when"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of six row groups, with nulls, and with dictionaries that differ from group
    to group.
    """
    table = pa.table(
        {
            "small": pa.array(range(N_ROWS), pa.int16()),
            "text": [f"v{i // 40}" if i % 7 else None for i in range(N_ROWS)],
            "flag": [i % 3 == 0 for i in range(N_ROWS)],
            "gaps": [i / 3 if i % 5 else None for i in range(N_ROWS)],
            "when": pa.array(range(N_ROWS), pa.date32()),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=50)
    return tmp_path / "t.parquet"


@pytest.fixture
def damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file whose first column cannot be read."""
    monkeypatch.setattr("dnfscale.data.read._BATCH_ROWS", 16)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": range(5000), "b": range(5000)}), path)
    content = bytearray(path.read_bytes())
    content[4:2000] = b"\xff" * 1996
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("most_rows", [10, 16, 49, 50, 100, 120, 1000])
@pytest.mark.parametrize("groups", [[0], [1, 2], [0, 1, 2, 3, 4, 5]])
@pytest.mark.parametrize("names", [COLUMNS, COLUMNS[::-1], ["gaps"]])
def test_rows_are_those_that_arrow_reads_at_once(
    path: Path, monkeypatch: pytest.MonkeyPatch, most_rows: int, groups: list[int], names: list[str]
) -> None:
    monkeypatch.setattr(columnwise, "_MOST_ROWS", most_rows)
    with pq.ParquetFile(path, read_dictionary=["text"]) as parquet:
        batches = list(read_batches(parquet, names, groups, batch_rows=16))
        expected = parquet.read_row_groups(groups, names).select(names)
    assert max(batch.num_rows for batch in batches) <= 16
    assert rows_of(pa.Table.from_batches([plain(batch) for batch in batches])) == rows_of(expected)


@pytest.mark.parametrize("most_rows", [10, 49, 50, 100, 120, 1000])
@pytest.mark.parametrize("groups", [[0], [1, 2], [0, 1, 2, 3, 4, 5]])
def test_columns_that_are_read_late_are_those_that_arrow_reads_at_once(
    path: Path, monkeypatch: pytest.MonkeyPatch, most_rows: int, groups: list[int]
) -> None:
    monkeypatch.setattr(columnwise, "_MOST_ROWS", most_rows)
    with pq.ParquetFile(path, read_dictionary=["text"]) as parquet:
        batches = list(read_late(parquet, COLUMNS, groups, batch_rows=16))
        expected = parquet.read_row_groups(groups, COLUMNS)
        for name in COLUMNS:
            values = [value for batch in batches for value in batch.column(name).to_pylist()]
            assert values == expected.column(name).to_pylist()
    assert sum(batch.num_rows for batch in batches) == expected.num_rows
    assert all(isinstance(batch, LateBatch) for batch in batches) == (most_rows >= 50)


def test_a_late_column_is_damaged_when_it_is_asked_for(damaged: Path) -> None:
    [partition] = open_source(str(damaged)).partitions
    columns = (Column("a", Role.NUMBER), Column("b", Role.NUMBER))
    block = next(blocks := partition.blocks(Reading(columns, None, keep_missing=True)))
    assert block.columns[1].values.tolist() == list(range(5000))  # type: ignore[union-attr]
    with pytest.raises(
        DataError, match=r"t\.parquet: expected to read its columns, but that failed"
    ):
        block.columns[0]
    blocks.close()  # type: ignore[attr-defined]


def test_wide_rows_are_read_no_more_at_a_time_than_before(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columnwise, "_MOST_BYTES", 64)
    with pq.ParquetFile(path) as parquet:
        batches = list(read_batches(parquet, COLUMNS, [0, 1], batch_rows=16))
        assert rows_of(pa.Table.from_batches(batches)) == rows_of(
            parquet.read_row_groups([0, 1], COLUMNS)
        )


@given(st.data())
def test_pieces_of_any_length_come_side_by_side(data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(0, 40))
    columns = []
    for _ in range(data.draw(st.integers(1, 4))):
        cuts = sorted(data.draw(st.lists(st.integers(0, n_rows), max_size=6)))
        edges = [0, *cuts, n_rows]
        whole = pa.array(range(n_rows), pa.int32())
        columns.append([whole.slice(a, b - a) for a, b in pairwise(edges)])
    names = [f"c{i}" for i in range(len(columns))]
    batches = list(side_by_side([iter(pieces) for pieces in columns], names))
    assert [row for batch in batches for row in batch.to_pylist()] == [
        dict.fromkeys(names, i) for i in range(n_rows)
    ]


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(pa.ArrowInvalid, match="different numbers of rows"):
        list(side_by_side([iter([pa.array([1, 2])]), iter([pa.array([1])])], ["a", "b"]))


def test_nothing_is_read_beyond_a_first_block_that_is_all_that_is_wanted(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dnfscale.data.read._BATCH_ROWS", 16)
    monkeypatch.setattr("dnfscale.data.read.read_batches", None)
    [partition] = open_source(str(path)).partitions
    columns = (Column("small", Role.NUMBER), Column("gaps", Role.NUMBER))
    block = next(partition.blocks(Reading(columns, None, keep_missing=True, first_only=True)))
    assert block.n_rows == 16
    assert block.columns[0].values.tolist() == list(range(16))  # type: ignore[union-attr]


@pytest.mark.parametrize("batch_rows", [1, 16, 49, 50, 51, 1000])
@pytest.mark.parametrize("groups", [[0], [3], [1, 2]])
def test_the_beginning_is_the_first_batch_that_arrow_reads(
    path: Path, batch_rows: int, groups: list[int]
) -> None:
    with pq.ParquetFile(path, read_dictionary=["text"]) as parquet:
        first, begun = (
            next(iter(read(parquet, COLUMNS, groups, batch_rows=batch_rows)))
            for read in (read_first, read_beginning)
        )
    assert plain(begun).equals(plain(first))


def test_a_page_that_is_damaged_is_told_of_with_the_file(damaged: Path) -> None:
    [partition] = open_source(str(damaged)).partitions
    with pytest.raises(
        DataError, match=r"t\.parquet: expected to read its columns, but that failed"
    ):
        list(partition.batches(["a", "b"], []))  # type: ignore[attr-defined]


def plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch without dictionaries, which differ from batch to batch."""
    arrays = [a.dictionary_decode() if pa.types.is_dictionary(a.type) else a for a in batch.columns]
    return pa.record_batch(arrays, names=batch.schema.names)


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    return table.to_pylist()
