"""Reads the rows of a partition as blocks: numbers in their own dtype, everything else as codes,
missing rows dropped.

Strings are never decoded row by row: Parquet stores them as codes into a dictionary, and the codes
are what we read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dnfscale.core.arrays import Bools, Ints, Values
from dnfscale.core.columns import Block, Categories, Column, Numbers, Reading, Role
from dnfscale.core.parts import Part, stored_column
from dnfscale.core.weights import counted_weights
from dnfscale.data.clocks import Clock
from dnfscale.data.columnwise import (
    Batch,
    Fetch,
    LateBatch,
    read_batches,
    read_beginning,
    read_first,
    read_late,
)
from dnfscale.data.identity import KnownFile, opened
from dnfscale.data.measures import is_number, measure_of, steps
from dnfscale.data.storage import told
from dnfscale.errors import DataError, LimitError, first_line
from dnfscale.spec.storage import is_remote

_BATCH_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class FileRows:
    """Some row groups of one file."""

    file: KnownFile
    groups: tuple[int, ...]
    n_rows: int
    constants: tuple[tuple[str, pa.Scalar], ...] = ()
    """Columns of one value that is not in the file: hive keys, and columns that the file has no
    value of.
    """

    def with_group(self, group: int, n_rows: int) -> FileRows:
        return replace(self, groups=(*self.groups, group), n_rows=self.n_rows + n_rows)


@dataclass(frozen=True, slots=True)
class ParquetPartition:
    """A run of row groups, which describes to a worker what to read."""

    ordinal: int
    pieces: tuple[FileRows, ...]

    @property
    def n_rows(self) -> int:
        return sum(piece.n_rows for piece in self.pieces)

    def blocks(self, reading: Reading) -> Iterator[Block]:
        """Read the rows, one batch at a time; if no row can be dropped, each column only when it is
        used.
        """
        fetch = (
            read_beginning
            if reading.first_only
            else read_late
            if reading.keeps_all
            else read_batches
        )
        for batch in self._fetched(*wanted(reading), fetch):
            yield to_block(batch, reading)

    def batches(
        self, plain: Sequence[str], coded: Sequence[str], *, first_only: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """Read some columns as they are, and others as codes into a dictionary; on request, only
        the first rows.
        """
        return self._fetched(plain, coded, read_beginning if first_only else read_batches)

    def _fetched(self, plain: Sequence[str], coded: Sequence[str], fetch: Fetch) -> Iterator[Any]:
        batches = (batch for piece in self.pieces for batch in _batches(piece, plain, coded, fetch))
        return gathered(batches, least_rows=_BATCH_ROWS // 2)


@dataclass(frozen=True, slots=True, eq=False)
class TablePartition:
    """Rows that are already in memory, for the estimator."""

    ordinal: int
    table: pa.Table

    @property
    def n_rows(self) -> int:
        return int(self.table.num_rows)

    def blocks(self, reading: Reading) -> Iterator[Block]:
        for batch in self.batches(*wanted(reading)):
            yield to_block(batch, reading)

    def batches(
        self,
        plain: Sequence[str],
        coded: Sequence[str],
        *,
        first_only: bool = False,  # noqa: ARG002
    ) -> Iterator[pa.RecordBatch]:
        """Yield some columns, one batch at a time."""
        yield from self.table.select([*plain, *coded]).to_batches(max_chunksize=_BATCH_ROWS)


def wanted(reading: Reading) -> tuple[list[str], list[str]]:
    """Return the names of the columns to read as they are, and of those to read as codes, each
    once.
    """
    delivered = (*reading.columns, *reading.beside)
    numbers = [
        stored_column(c.name)
        for c in delivered
        if c.role is Role.NUMBER or isinstance(c.name, Part)
    ]
    plain = dict.fromkeys(numbers if reading.weight is None else [*numbers, reading.weight])
    others = [stored_column(column.name) for column in delivered]
    coded = dict.fromkeys(others if reading.target is None else [*others, reading.target])
    return list(plain), [name for name in coded if name not in plain]


T = TypeVar("T")


class _WhenAsked(Sequence[T]):
    """Values that are made when they are used; only the last one is kept, and the next can reuse
    its memory.
    """

    def __init__(self, length: int, make: Callable[[int], T]) -> None:
        self._last: tuple[int, T] | None = None
        self._length = length
        self._make = make

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: Any) -> Any:
        if not 0 <= place < self._length:
            raise IndexError(place)
        if self._last is None or self._last[0] != place:
            self._last = None  # frees its memory before the next is made
            self._last = place, self._make(place)
        return self._last[1]


def to_block(batch: Batch, reading: Reading) -> Block:
    """Turn a batch into a block, without the rows that the reading does not want."""
    convert = _Converter(batch)
    if reading.keeps_all:
        # Each column is converted only when it is used, so that it is still in the processor's
        # cache then.
        columns = _WhenAsked(len(reading.columns), lambda place: convert(reading.columns[place]))
        missing_values = _WhenAsked(len(columns), lambda place: _n_missing(columns[place]))
        return Block(batch.num_rows, batch.num_rows, columns, _target(batch, None), missing_values)
    n_read = batch.num_rows
    weights = None if reading.weight is None else _weights(batch, reading.weight, reading.unit)
    weightless = 0 if weights is None else n_read - int(np.count_nonzero(weights))
    if weights is not None and weightless:
        assert not isinstance(batch, LateBatch), "columns wait only where no row is dropped"
        # Not even that a value of theirs is missing says anything of the table.
        batch, weights = batch.filter(pa.array(weights > 0)), weights[weights > 0]
        convert = _Converter(batch)
    delivered = [convert(column) for column in reading.columns]
    beside = [convert(column) for column in reading.beside]
    target = _target(batch, reading.target)
    keep = np.ones(batch.num_rows, dtype=np.bool_) if reading.target is None else target.codes >= 0
    missing_targets = len(keep) - int(keep.sum())
    among = delivered
    if missing_targets and not reading.keep_missing:
        # What a row without a target misses costs no row.
        among = [_select(data, keep.copy()) for data in delivered]
    if not reading.keep_missing:
        for data in delivered:
            present = _present(data)
            if present is not None:
                keep &= present
    if not keep.all():
        kept = [_select(data, keep) for data in delivered]
        target = target if reading.target is None else Categories(target.codes[keep], target.values)
        weights = None if weights is None else weights[keep]
        beside = [_select(data, keep) for data in beside]
    else:
        kept = delivered
    # Where missing values are kept, only those of kept rows can become attributes.
    missing = tuple(_n_missing(data) for data in (kept if reading.keep_missing else among))
    return Block(
        n_read,
        int(keep.sum()),
        tuple(kept),
        target,
        missing,
        missing_targets,
        weights,
        weightless,
        tuple(beside),
    )


def _target(batch: Batch, name: str | None) -> Categories:
    if name is None:
        return Categories(np.empty(0, dtype=np.int64), ())
    target = _Converter(batch)(Column(name, Role.CATEGORY))
    assert isinstance(target, Categories)
    return target


def _weights(batch: Batch, name: str, unit: int) -> Ints:
    weights = _Converter(batch)(Column(name, Role.NUMBER))
    assert isinstance(weights, Numbers)
    return counted_weights(weights, unit, name=name)


def _batches(
    piece: FileRows, plain: Sequence[str], coded: Sequence[str], fetch: Fetch
) -> Iterator[Batch]:
    constants = {name: value for name, value in piece.constants if name in (*plain, *coded)}
    plain = [name for name in plain if name not in constants]
    coded = [name for name in coded if name not in constants]
    file = piece.file
    # A store is asked for few large pieces ahead; a local file is read step by step, which takes
    # less memory.
    ahead = is_remote(file.path)
    with (
        _told_with(file),
        opened(file.path, file.access) as handle,
        pq.ParquetFile(handle, read_dictionary=coded, pre_buffer=ahead) as parquet,
    ):
        file.check(handle)
        file.check_footer(parquet.metadata)
        # A batch without any column would not know its length.
        names = [*plain, *coded] or parquet.schema_arrow.names[:1]
        batches = (read_first if ahead else fetch)(
            parquet, names, piece.groups, batch_rows=_BATCH_ROWS
        )
        for batch in _with_constants(batches, constants):
            is_late = isinstance(batch, LateBatch)
            yield replace(batch, read=partial(_read_column, file, batch.read)) if is_late else batch
    # If the file was rewritten in place meanwhile, some of the rows read may be old and some new.
    file.check()


def _read_column(file: KnownFile, read: Callable[[str], pa.Array], name: str) -> pa.Array:
    with _told_with(file):
        return read(name)


@contextmanager
def _told_with(file: KnownFile) -> Iterator[None]:
    """Turn a failure to read into one of ours: the file has changed, or why it cannot be read."""
    try:
        yield
    except MemoryError as error:
        raise LimitError(
            f"{file.path}: expected its pages and dictionaries to fit in memory, but they do not "
            f"({first_line(error)}); give more memory, or write the file with smaller "
            "pages and row groups"
        ) from error
    except (pa.ArrowException, OSError) as error:
        file.check()
        raise DataError(
            (
                f"{file.path}: expected to read its columns, but that failed "
                f"({told(error, file.path)}); "
            )
            + (
                "try again, or check the object store"
                if is_remote(file.path)
                else "write the file again"
            )
        ) from error


def _with_constants(batches: Iterable[Batch], constants: dict[str, pa.Scalar]) -> Iterator[Batch]:
    for batch in batches:
        for name, value in constants.items():
            array = pa.repeat(value, batch.num_rows)
            # The one column that was read for its length may be a constant itself.
            if isinstance(batch, LateBatch) or name not in batch.schema.names:
                batch = batch.append_column(name, array)
            else:
                batch = batch.set_column(batch.schema.get_field_index(name), name, array)
        yield batch


class _Converter:
    """Converts the columns of a batch; parts of the same date or time column share its clock."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._clocks: dict[tuple[str, str | None], Clock] = {}

    def __call__(self, column: Column) -> Numbers | Categories:
        if isinstance(column.name, Part):
            return self._clock(column.name).part(column.name.unit)
        if column.role is Role.NUMBER:
            return self._converted(stored_column(column.name), _numbers)
        return self._converted(stored_column(column.name), _categories)

    def _clock(self, part: Part) -> Clock:
        key = part.of, part.zone
        if key not in self._clocks:
            self._clocks[key] = Clock(self._converted(part.of, _numbers), part.zone)
        return self._clocks[key]

    def _converted(self, name: str, convert: Callable[[pa.Array], T]) -> T:
        array = self._batch.column(name)
        try:
            return convert(array)
        except UnicodeDecodeError as error:
            raise DataError(
                f"column {name!r}: expected text in UTF-8, got bytes that are not "
                f"({error.reason}); write it anew"
            ) from error
        except pa.ArrowException as error:
            raise DataError(
                f"column {name!r}: expected numbers, dates, times, booleans or strings, "
                f"got the type {array.type}; "
                "convert it"
            ) from error
        except DataError as error:
            raise DataError(f"column {name!r}: {error}") from error


def _numbers(array: pa.Array) -> Numbers:
    kind, measure = array.type, None
    if pa.types.is_null(kind):
        return Numbers(np.zeros(len(array)), np.zeros(len(array), dtype=np.bool_))
    # Most columns hold plain numbers, and checking for all other types takes as long as comparing a
    # block of them.
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        if not is_number(kind):
            raise DataError(f"expected a column of numbers, got one of the type {kind}")
        measure, array = measure_of(kind), steps(array)
    if pa.types.is_float16(kind):
        array = array.cast(pa.float32())
    present = _flags(array.is_valid()) if array.null_count else None
    values = _primitive(array.fill_null(0) if array.null_count else array)
    # The minimum is nan if any value is, and it takes no extra memory.
    if values.dtype.kind == "f" and len(values) and np.isnan(values.min()):
        nan = np.isnan(values)
        present = ~nan if present is None else present & ~nan
    return Numbers(values, present, measure)


def _categories(array: pa.Array) -> Categories:
    if pa.types.is_null(array.type):
        return Categories(np.full(len(array), -1), ())
    if pa.types.is_boolean(array.type) and not array.null_count:
        return Categories(_flags(array).view(np.int8), (False, True))
    # Arrow 24 cannot list the values of a column in half precision.
    array = array.cast(pa.float32()) if pa.types.is_float16(array.type) else steps(array)
    if not pa.types.is_dictionary(array.type):
        array = pc.dictionary_encode(array)
    indices = array.indices
    if indices.null_count:
        # The codes must be signed, because -1 marks missing values.
        indices = indices.cast(pa.int64()).fill_null(-1)
    codes = _primitive(indices)
    values = array.dictionary.to_pylist()
    absent = [i for i, value in enumerate(values) if value is None or value != value]
    if absent:
        codes = np.where(np.isin(codes, absent), -1, codes.astype(np.int64))
        values = ["" if i in absent else value for i, value in enumerate(values)]
    return Categories(codes, tuple(values))


def _primitive(array: pa.Array) -> Values:
    """Return numbers without nulls as an array that shares their memory.

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
    return Numbers(
        data.values[keep], None if present is None or present.all() else present, data.measure
    )


def gathered(batches: Iterable[Batch], *, least_rows: int) -> Iterator[Batch]:
    """Yield the same rows in the same order, joining batches of one schema until they have
    least_rows rows: most work on a batch costs the same however few rows it has.

    Batches that are read late are large, and stay as they are.
    """
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if isinstance(batch, LateBatch):
            yield from _as_one(waiting)
            yield batch
            waiting = []
            continue
        if waiting and not batch.schema.equals(waiting[0].schema):
            yield from _as_one(waiting)
            waiting = []
        waiting.append(batch)
        if sum(part.num_rows for part in waiting) >= least_rows:
            yield from _as_one(waiting)
            waiting = []
    yield from _as_one(waiting)


def _as_one(batches: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    if len(batches) < 2:
        yield from batches
        return
    try:
        # Each file has dictionaries of its own.
        table = pa.Table.from_batches(batches).unify_dictionaries()
    except pa.ArrowNotImplementedError:
        yield from batches
        return
    yield from table.combine_chunks().to_batches()
