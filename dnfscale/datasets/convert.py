"""A CSV of any size as a directory of Parquet files: it is read and written a block at a time."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from dnfscale.errors import DataError, SpecError, first_line

PART_ROWS = 1_000_000
GROUP_ROWS = 1 << 17
GROUP_BYTES = 64 << 20
"""A row group of a converted CSV is closed at so many rows or bytes in memory."""
BLOCK_BYTES = 2 << 20
"""How much of a CSV is parsed at once; its columns have the types of the first block. pyarrow reads
some blocks ahead: with 2 MiB each, 20 million rows of five columns took 256 MiB, with 8 MiB they
took 483 MiB and no less time."""
MISSING = ("NA", "N/A", "NaN", "nan", "NULL", "null")
"""What stands for a missing value in a CSV, besides an empty cell, unless the user says otherwise.
"""
_NUMBERS = (pa.null(), pa.int64(), pa.float64())
_MOMENTS = (
    pa.date32(),
    pa.timestamp("s"),
    pa.timestamp("ns"),
    pa.timestamp("s", "UTC"),
    pa.timestamp("ns", "UTC"),
    pa.time32("s"),
    pa.string(),
)
"""In this order they are tried. Any text may begin like a date, so a column that is not all of one
kind is text.
"""
_WIDER = {
    str(one): other for order in (_NUMBERS, _MOMENTS) for one, other in itertools.pairwise(order)
}


@dataclass(frozen=True, slots=True)
class Converted:
    """What a CSV was turned into."""

    rows: int
    files: int
    types: dict[str, pa.DataType]
    missing: dict[str, int]
    """Missing values of each column that has some."""


def convert_csv(  # noqa: PLR0913 (options of `data convert`)
    csv_path: Path,
    directory: Path,
    *,
    separator: str = ",",
    missing: Sequence[str] = MISSING,
    names: Sequence[str] = (),
    text: Sequence[str] = (),
    encoding: str = "utf8",
    part_rows: int = PART_ROWS,
    block_bytes: int = BLOCK_BYTES,
    progress: Callable[[int], None] | None = None,
) -> Converted:
    """Turn a CSV of any size into a directory of Parquet files, a block at a time.

    Columns are whole numbers, numbers, truth values, dates, times or text, whichever the first
    block shows; whole numbers become numbers, dates become timestamps or text, and columns that
    began empty find their type, when a later row asks for it. Any other change of type is an error,
    because one slip of the pen would turn a million numbers into text. Dates and times are those
    that ISO 8601 writes (2024-03-01, 2024-03-01 12:30:00, 12:30); with an offset from UTC, a
    timestamp is the instant in UTC. `names` are those of a file without a header, `text` the
    columns to take as text whatever they look like. The directory must be new or empty.
    """
    _check_arguments(csv_path, directory, separator)
    stream = _CsvStream(csv_path, separator, tuple(missing), tuple(names), encoding, block_bytes)
    types = dict.fromkeys(text, pa.string())
    try:
        with _Drafts(directory, part_rows) as drafts:
            while True:
                try:
                    return _write_parts(stream, types, drafts, progress)
                except _OtherTypeError as other:
                    types[other.column] = other.kind
                    drafts.discard()
    except OSError as error:
        raise DataError(
            f"{directory} cannot be written: {error.strerror or error}; choose another folder"
        ) from error


def _check_arguments(csv_path: Path, directory: Path, separator: str) -> None:
    if len(separator) != 1:
        raise SpecError(f"the separator must be one character, got {separator!r}")
    if not csv_path.is_file():
        raise DataError(f"{csv_path}: expected a CSV file, but there is none at this path")
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise SpecError(f"{directory} must be an empty or a new folder; choose another")


class _OtherTypeError(Exception):
    """A column needs another type than its first rows had."""

    def __init__(self, column: str, kind: pa.DataType) -> None:
        super().__init__(column, kind)
        self.column = column
        self.kind = kind


@dataclass(frozen=True, slots=True)
class _CsvStream:
    """A CSV to be read a block at a time."""

    path: Path
    separator: str
    missing: tuple[str, ...]
    names: tuple[str, ...]
    encoding: str
    block_bytes: int
    began_empty: set[str] = field(default_factory=set)
    """Columns whose first block had no value: their type is still free."""
    columns: list[str] = field(default_factory=list)
    """Their names, once a first block has been read: another type may not suit even that."""

    def batches(self, types: dict[str, pa.DataType]) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Return the columns and the rows; the types of some columns are given."""
        try:
            reader = pacsv.open_csv(
                str(self.path),
                # One thread, because only then do errors tell the row.
                pacsv.ReadOptions(
                    column_names=list(self.names) or None,
                    use_threads=False,
                    block_size=self.block_bytes,
                    encoding=self.encoding,
                ),
                pacsv.ParseOptions(delimiter=self.separator, newlines_in_values=True),
                pacsv.ConvertOptions(
                    column_types=types,
                    null_values=["", *self.missing],
                    strings_can_be_null=True,
                    check_utf8=True,
                ),
            )
            schema = reader.schema
            self.columns[:] = schema.names
            self._check(schema, types)
        except (pa.ArrowException, OSError, LookupError, UnicodeDecodeError) as error:
            self._explain(error)
        return schema, self._batches(reader)

    def _batches(self, reader: pacsv.CSVStreamingReader) -> Iterator[pa.RecordBatch]:
        try:
            yield from reader
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            self._explain(error)

    def _check(self, schema: pa.Schema, types: dict[str, pa.DataType]) -> None:
        names = schema.names
        if len(names) == 1:
            raise DataError(
                f"{self.path}: expected at least two columns separated by "
                f"{self.separator!r}, got one, "
                f"{names[0][:60]!r}; check --separator"
            )
        for name, times in Counter(names).items():
            if times > 1:
                raise DataError(
                    f"{self.path}: column names must differ, but {name!r} occurs twice; "
                    "rename one of them"
                )
        for name in types:
            if name not in names:
                raise DataError(
                    f"{self.path}: expected a column {name!r}, got {', '.join(names[:20])}"
                )
        for column in schema:
            if pa.types.is_binary(column.type):
                raise DataError(
                    f"{self.path}: expected text in {self.encoding}, but column "
                    f"{column.name!r} holds other bytes; "
                    "pass --encoding, such as latin1"
                )
            if pa.types.is_null(column.type):
                self.began_empty.add(column.name)

    def _explain(self, error: Exception) -> NoReturn:
        """Raise what to do about an error of pyarrow's: read again with another type, or tell the
        user.
        """
        said = first_line(error)
        match = re.match(
            r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to ([^:]+): (.*)", said
        )
        if match is None or not self.columns:
            hint = _parse_hint(said)
            raise DataError(
                f"{self.path}: expected a table separated by {self.separator!r}, got {said}; {hint}"
            ) from error
        name, kind = self.columns[int(match[1])], match[3]
        if name in self.began_empty and kind == "double":
            raise _OtherTypeError(name, _MOMENTS[0]) from error
        if kind in _WIDER:
            raise _OtherTypeError(name, _WIDER[kind]) from error
        row = f"row {int(match[2]):,}: " if match[2] else ""
        raise DataError(
            f"{self.path}: {row}expected {kind} in column {name!r} as in the rows before, "
            f"got {match[4]}; correct it, "
            f"or pass --missing or --text {name}"
        ) from error


def _parse_hint(said: str) -> str:
    if "Empty CSV" in said:
        return "convert a file that has at least a header"
    if "straddl" in said:
        return "a row is longer than a block, or a quote is never closed; correct the file"
    if "columns, got" in said:
        return "check --separator and the quotes of that row"
    return "check --separator and --encoding"


class _Drafts:
    """The files of a conversion under way: hidden until all of them are whole, gone if any of them
    fails.
    """

    def __init__(self, directory: Path, part_rows: int) -> None:
        self.directory = directory
        self.part_rows = part_rows
        self.paths: list[Path] = []
        self._made = not directory.exists()
        self._writer: pq.ParquetWriter | None = None
        self._rows = 0

    def __enter__(self) -> _Drafts:
        self.directory.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._close()
            for path in self.paths:
                os.replace(path, path.with_name(path.name[1:]))
        else:
            self.discard()
            if self._made:
                self.directory.rmdir()

    def write(self, table: pa.Table) -> None:
        """Append rows as a row group; begin another file when one is full."""
        while True:
            if self._writer is None:
                path = self.directory / f".part-{len(self.paths):05d}.parquet"
                self.paths.append(path)
                self._writer = pq.ParquetWriter(path, table.schema, compression="zstd")
                self._rows = 0
            head = table.slice(0, self.part_rows - self._rows)
            self._writer.write_table(head)
            self._rows += head.num_rows
            table = table.slice(head.num_rows)
            if self._rows >= self.part_rows:
                self._close()
            if not table.num_rows:
                return

    def discard(self) -> None:
        """Take back all that was written."""
        with contextlib.suppress(OSError):
            self._close()
        for path in self.paths:
            path.unlink(missing_ok=True)
        self.paths = []

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _write_parts(
    stream: _CsvStream,
    types: dict[str, pa.DataType],
    drafts: _Drafts,
    progress: Callable[[int], None] | None,
) -> Converted:
    schema, batches = stream.batches(types)
    pending: list[pa.RecordBatch] = []
    rows = 0
    missing = np.zeros(len(schema), dtype=np.int64)
    for batch in batches:
        pending.append(batch)
        rows += batch.num_rows
        missing += [column.null_count for column in batch.columns]
        if (
            sum(b.num_rows for b in pending) >= GROUP_ROWS
            or sum(b.nbytes for b in pending) >= GROUP_BYTES
        ):
            drafts.write(pa.Table.from_batches(pending, schema).combine_chunks())
            pending = []
            if progress is not None:
                progress(rows)
    if pending or not rows:
        drafts.write(pa.Table.from_batches(pending, schema).combine_chunks())
    counts = {name: n for name, n in zip(schema.names, missing.tolist(), strict=True) if n}
    return Converted(
        rows, len(drafts.paths), {column.name: _stored(column.type) for column in schema}, counts
    )


def _stored(kind: pa.DataType) -> pa.DataType:
    """Return a type as Parquet keeps it, which has no unit of a second."""
    if pa.types.is_timestamp(kind) and kind.unit == "s":
        return pa.timestamp("ms", kind.tz)
    return pa.time32("ms") if kind == pa.time32("s") else kind
