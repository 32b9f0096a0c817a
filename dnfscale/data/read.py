"""Rows of a partition as blocks: numbers in their own dtype, everything else as codes, missing rows dropped.

Strings are never decoded row by row: Parquet stores them as codes into a dictionary, and the codes are what we read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dnfscale.core.arrays import Bools, Ints, Values
from dnfscale.core.columns import Block, Categories, Column, Numbers, Reading, Role
from dnfscale.data.exact import is_number, measure_of, steps
from dnfscale.errors import DataError

_BATCH_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class FileRows:
    """Some row groups of one file."""

    path: str
    file_bytes: int
    modified_ns: int
    """Size and time of the file when its footer was read; others later mean that it was rewritten."""
    groups: tuple[int, ...]
    n_rows: int
    constants: tuple[tuple[str, pa.Scalar], ...] = ()
    """Hive keys and their values: columns that stand in the path, not in the file."""

    def with_group(self, group: int, n_rows: int) -> FileRows:
        return replace(self, groups=(*self.groups, group), n_rows=self.n_rows + n_rows)


@dataclass(frozen=True, slots=True)
class ParquetPartition:
    """A run of row groups: what a worker is told to read."""

    ordinal: int
    pieces: tuple[FileRows, ...]

    @property
    def n_rows(self) -> int:
        return sum(piece.n_rows for piece in self.pieces)

    def blocks(self, reading: Reading) -> Iterator[Block]:
        """Read the rows, a batch at a time."""
        numbers, coded = _wanted(reading)
        for batch in self.batches(numbers, coded):
            yield to_block(batch, reading)

    def batches(self, plain: Sequence[str], coded: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read some columns as they are, and others as codes into a dictionary."""
        for piece in self.pieces:
            yield from _batches(piece, plain, coded)


@dataclass(frozen=True, slots=True, eq=False)
class TablePartition:
    """Rows that are already in memory, for the estimator."""

    ordinal: int
    table: pa.Table

    @property
    def n_rows(self) -> int:
        return int(self.table.num_rows)

    def blocks(self, reading: Reading) -> Iterator[Block]:
        numbers, coded = _wanted(reading)
        for batch in self.batches(numbers, coded):
            yield to_block(batch, reading)

    def batches(self, plain: Sequence[str], coded: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Return some columns, a batch at a time."""
        yield from self.table.select([*plain, *coded]).to_batches(max_chunksize=_BATCH_ROWS)


def _wanted(reading: Reading) -> tuple[list[str], list[str]]:
    """Return the names of the columns to read as numbers, and of those to read as codes."""
    columns = reading.columns + reading.guards
    numbers = [column.name for column in columns if column.role is Role.NUMBER]
    coded = [column.name for column in columns if column.role is not Role.NUMBER]
    if reading.target is not None:
        coded.append(reading.target)
    if reading.weight is not None:
        numbers.append(reading.weight)
    return numbers, coded


def to_block(batch: pa.RecordBatch, reading: Reading) -> Block:
    """Turn a batch into a block, without the rows that the reading does not want."""
    wanted = [_convert(batch, column) for column in reading.columns]
    guards = [_convert(batch, column) for column in reading.guards]
    target = _target(batch, reading.target)
    keep = np.ones(batch.num_rows, dtype=np.bool_) if reading.target is None else target.codes >= 0
    missing_targets = len(keep) - int(keep.sum())
    weights = None if reading.weight is None else _weights(batch, reading.weight)
    if not reading.keep_missing:
        for data in (*wanted, *guards):
            present = _present(data)
            if present is not None:
                keep &= present
    missing = tuple(_n_missing(data) for data in wanted)
    if keep.all():
        return Block(batch.num_rows, batch.num_rows, tuple(wanted), target, missing, missing_targets, weights)
    return Block(
        batch.num_rows,
        int(keep.sum()),
        tuple(_select(data, keep) for data in wanted),
        target if reading.target is None else Categories(target.codes[keep], target.values),
        missing,
        missing_targets,
        None if weights is None else weights[keep],
    )


def _target(batch: pa.RecordBatch, name: str | None) -> Categories:
    if name is None:
        return Categories(np.empty(0, dtype=np.int64), ())
    target = _convert(batch, Column(name, Role.CATEGORY))
    assert isinstance(target, Categories)
    return target


def _weights(batch: pa.RecordBatch, name: str) -> Ints:
    weights = _convert(batch, Column(name, Role.NUMBER))
    assert isinstance(weights, Numbers)
    if weights.present is not None:
        raise DataError(f"column {name!r}: expected a weight for every row, got rows without one; fill them")
    whole = weights.measure is None and weights.values.dtype.kind in "iu"
    if not whole or (len(weights.values) and int(weights.values.min()) < 0):
        raise DataError(f"column {name!r}: expected weights that are whole numbers of at least 0; scale and round them")
    return weights.values.astype(np.int64)


def _batches(piece: FileRows, plain: Sequence[str], coded: Sequence[str]) -> Iterator[pa.RecordBatch]:
    constants = dict(piece.constants)
    plain = [name for name in plain if name not in constants]
    coded = [name for name in coded if name not in constants]
    try:
        _check_unchanged(piece)
        with pq.ParquetFile(piece.path, read_dictionary=coded, memory_map=False, pre_buffer=False) as parquet:
            # Without any column of its own a batch would not know its length.
            names = [*plain, *coded] or parquet.schema_arrow.names[:1]
            batches = parquet.iter_batches(_BATCH_ROWS, row_groups=list(piece.groups), columns=names, use_threads=False)
            yield from _with_constants(batches, constants)
    except (pa.ArrowException, OSError) as error:
        first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DataError(
            f"{piece.path}: expected to read its columns, but that failed ({first_line}); write the file again"
        ) from error


def _check_unchanged(piece: FileRows) -> None:
    now = os.stat(piece.path)
    if (now.st_size, now.st_mtime_ns) != (piece.file_bytes, piece.modified_ns):
        raise DataError(
            f"{piece.path}: expected the file that the job began with, of {piece.file_bytes:,} bytes, got one of "
            f"{now.st_size:,} bytes that was written since; run again on data that does not change meanwhile"
        )


def _with_constants(batches: Iterable[pa.RecordBatch], constants: dict[str, pa.Scalar]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for name, value in constants.items():
            batch = batch.append_column(name, pa.repeat(value, batch.num_rows))
        yield batch


def _convert(batch: pa.RecordBatch, column: Column) -> Numbers | Categories:
    array = batch.column(column.name)
    try:
        return _numbers(array) if column.role is Role.NUMBER else _categories(array)
    except UnicodeDecodeError as error:
        raise DataError(
            f"column {column.name!r}: expected text in UTF-8, got bytes that are not ({error.reason}); write it anew"
        ) from error
    except pa.ArrowException as error:
        raise DataError(
            f"column {column.name!r}: expected numbers, dates, times, booleans or strings, got the type {array.type}; "
            "convert it"
        ) from error
    except DataError as error:
        raise DataError(f"column {column.name!r}: {error}") from error


def _numbers(array: pa.Array) -> Numbers:
    if pa.types.is_null(array.type):
        return Numbers(np.zeros(len(array)), np.zeros(len(array), dtype=np.bool_))
    if not is_number(array.type):
        raise DataError(f"expected a column of numbers, got one of the type {array.type}")
    measure, array = measure_of(array.type), steps(array)
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())
    present = _flags(array.is_valid()) if array.null_count else None
    values = _primitive(array.fill_null(0) if array.null_count else array)
    # The least of values among which there is a nan is a nan, and finding it takes no memory.
    if values.dtype.kind == "f" and len(values) and np.isnan(values.min()):
        nan = np.isnan(values)
        present = ~nan if present is None else present & ~nan
    return Numbers(values, present, measure)


def _categories(array: pa.Array) -> Categories:
    if pa.types.is_null(array.type):
        return Categories(np.full(len(array), -1), ())
    if pa.types.is_boolean(array.type) and not array.null_count:
        return Categories(_flags(array).view(np.int8), (False, True))
    array = steps(array)
    if not pa.types.is_dictionary(array.type):
        array = pc.dictionary_encode(array)
    indices = array.indices
    if indices.null_count:
        # Signed before -1 can mark what is missing.
        indices = indices.cast(pa.int64()).fill_null(-1)
    codes = _primitive(indices)
    values = array.dictionary.to_pylist()
    absent = [i for i, value in enumerate(values) if value is None or value != value]
    if absent:
        codes = np.where(np.isin(codes, absent), -1, codes)
        values = ["" if i in absent else value for i, value in enumerate(values)]
    return Categories(codes, tuple(values))


def _primitive(array: pa.Array) -> Values:
    """Return numbers without nulls as an array on the same memory.

    Arrow's own `to_numpy` would import pandas first, half a second on every worker.
    """
    return np.from_dlpack(array)


def _flags(array: pa.Array) -> Bools:
    return _primitive(array.cast(pa.uint8())).view(np.bool_)


def _present(data: Numbers | Categories) -> Bools | None:
    if isinstance(data, Numbers):
        return data.present
    present = data.codes >= 0
    return None if present.all() else present


def _n_missing(data: Numbers | Categories) -> int:
    present = _present(data)
    return 0 if present is None else int((~present).sum())


def _select(data: Numbers | Categories, keep: Bools) -> Numbers | Categories:
    if isinstance(data, Categories):
        return Categories(data.codes[keep], data.values)
    present = None if data.present is None else data.present[keep]
    return Numbers(data.values[keep], None if present is None or present.all() else present, data.measure)
