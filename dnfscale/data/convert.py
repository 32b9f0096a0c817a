"""Tables out of the files that datasets are published in, and Parquet out of tables.

A reader turns the bytes of a file (CSV, ARFF, Parquet, MATLAB) into a table; steps such as `Recode` turn the
publisher's table into the project's; `typed` settles the columns and their types; `write_table` writes Parquet,
whole or not at all. For a CSV of any size there is `convert_csv`, which streams.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from dnfscale.core.arrays import Scalar
from dnfscale.data.arff import parse_arff
from dnfscale.errors import DataError, SpecError

PART_ROWS = 1_000_000
GROUP_ROWS = 1 << 17
GROUP_BYTES = 64 << 20
"""A row group of a converted CSV is closed at so many rows or bytes in memory."""
BLOCK_BYTES = 2 << 20
"""How much of a CSV is parsed at once; its columns have the types of the first block. pyarrow reads some blocks ahead:
with 2 MiB each, 20 million rows of five columns took 256 MiB, with 8 MiB they took 483 MiB and no less time."""
MISSING = ("NA", "N/A", "NaN", "nan", "NULL", "null")
"""What stands for a missing value in a CSV, besides an empty cell, unless the user says otherwise."""


class Reader(Protocol):
    """Turns the content of a file into a table; `where` names the file in errors."""

    def read(self, content: bytes, where: str) -> pa.Table: ...


@dataclass(frozen=True, slots=True)
class Csv:
    """Reads separated values whose columns are known."""

    names: tuple[str, ...]
    """The columns in the order of the file; the names of a header are passed over."""
    text: tuple[str, ...] = ()
    """The columns that hold text; all others hold numbers."""
    separator: str = ","
    header: bool = False
    missing: tuple[str, ...] = ()
    """What stands for a missing value."""

    def read(self, content: bytes, where: str) -> pa.Table:
        types = {name: pa.string() if name in self.text else pa.float64() for name in self.names}
        try:
            return pacsv.read_csv(
                pa.BufferReader(content),
                pacsv.ReadOptions(column_names=list(self.names), skip_rows=int(self.header), use_threads=False),
                pacsv.ParseOptions(delimiter=self.separator, newlines_in_values=True),
                pacsv.ConvertOptions(column_types=types, null_values=list(self.missing), strings_can_be_null=True),
            )
        except pa.ArrowInvalid as error:
            raise DataError(
                f"{where}: expected {len(self.names):,} columns separated by {self.separator!r}, but it cannot be read "
                f"so ({_said(error)}); is this the right file?"
            ) from error


@dataclass(frozen=True, slots=True)
class Arff:
    """Reads dense ARFF."""

    def read(self, content: bytes, where: str) -> pa.Table:
        return parse_arff(content, where)


@dataclass(frozen=True, slots=True)
class Parquet:
    """Reads Parquet, dictionaries decoded, the index that pandas may have left passed over."""

    def read(self, content: bytes, where: str) -> pa.Table:
        try:
            table = pq.read_table(pa.BufferReader(content))
        except (pa.ArrowException, OSError) as error:
            raise DataError(
                f"{where}: expected a Parquet file, but it cannot be read ({_said(error)}); fetch it again"
            ) from error
        table = table.select([name for name in table.column_names if not name.startswith("__index_level_")])
        for at, column in enumerate(table.schema):
            if pa.types.is_dictionary(column.type):
                table = table.set_column(at, column.name, table.column(at).cast(column.type.value_type))
        return table.replace_schema_metadata()


@dataclass(frozen=True, slots=True)
class Mat:
    """Reads the matrix X and the labels Y of a MATLAB file, as the scikit-feature repository keeps them."""

    features: tuple[str, ...]
    target: str

    def read(self, content: bytes, where: str) -> pa.Table:
        # Two thirds of a second to import, and one dataset of the twelve needs it.
        from scipy.io import loadmat

        try:
            found = loadmat(io.BytesIO(content))
        # Of a damaged file SciPy raises whatever its parser stumbles over.
        except Exception as error:
            raise DataError(
                f"{where}: expected a MATLAB file up to version 7.2, but it cannot be read ({_said(error)}); "
                "fetch it again"
            ) from error
        absent = [name for name in ("X", "Y") if name not in found]
        if absent:
            raise DataError(
                f"{where}: expected the variables X and Y, but there is no {absent[0]}; is this the right file?"
            )
        matrix, labels = np.asarray(found["X"]), np.asarray(found["Y"]).ravel()
        if matrix.dtype.kind not in "iufb" or matrix.shape != (len(labels), len(self.features)):
            raise DataError(
                f"{where}: expected X to hold a row of {len(self.features):,} numbers for each of the {len(labels):,} "
                f"labels of Y, got {matrix.dtype} of the shape {matrix.shape}; is this the right file?"
            )
        columns = {name: np.ascontiguousarray(matrix[:, i]) for i, name in enumerate(self.features)}
        return pa.table({self.target: labels, **columns})


Step = Callable[[pa.Table], pa.Table]
"""Turns a publisher's table a little more into the project's."""


@dataclass(frozen=True, slots=True)
class Recode:
    """Writes other values into a column; a value that has no other stays, a missing one becomes `missing`."""

    column: str
    codes: tuple[tuple[Scalar, Scalar], ...] = ()
    missing: Scalar | None = None

    def __call__(self, table: pa.Table) -> pa.Table:
        if self.column not in table.column_names:
            raise DataError(f"expected a column {self.column!r}, but there is none; is this the right file?")
        codes: dict[Scalar | None, Scalar | None] = {None: self.missing, **dict(self.codes)}
        values = [codes.get(value, value) for value in table.column(self.column).to_pylist()]
        return table.set_column(table.column_names.index(self.column), self.column, pa.array(values))


def unpack(path: Path, members: Sequence[str]) -> bytes:
    """Return the content of a file, or of a member of the archives in it: each member lies in the one before."""
    content, where = path.read_bytes(), path.name
    for member in members:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                if member not in archive.namelist():
                    found = ", ".join(archive.namelist()[:10])
                    raise DataError(f"{where}: expected the member {member}, got {found}; is this the right archive?")
                content = archive.read(member)
            where = f"{where}/{member}"
            if member.endswith(".gz"):
                content = gzip.decompress(content)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
            raise DataError(
                f"{where}: expected a whole archive, but it is not one ({error}); fetch it again"
            ) from error
    return content


def typed(table: pa.Table, *, columns: Sequence[str], text: Sequence[str], fractional: Sequence[str]) -> pa.Table:
    """Return the columns in order: text as strings, fractional as float64, others as the narrowest whole numbers."""
    found = table.column_names
    here, wanted = set(found), set(columns)
    absent = [name for name in columns if name not in here]
    excess = [name for name in found if name not in wanted]
    if absent or excess:
        more = f"{len(excess):,} unknown ones: {', '.join(excess[:5])}" if excess else "no others"
        raise DataError(
            f"expected {len(columns):,} columns, but {len(absent):,} of them are missing ({', '.join(absent[:5])}), "
            f"and there are {more}; is this the right file?"
        )
    arrays = []
    for name in columns:
        array = table.column(name).combine_chunks()
        if name in text:
            arrays.append(array.cast(pa.string()))
        else:
            numbers = _numbers(name, array)
            arrays.append(numbers if name in fractional else _whole(name, numbers))
    return pa.table(arrays, names=list(columns))


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table as Parquet, whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, draft, compression="zstd", row_group_size=GROUP_ROWS)
        os.replace(draft, path)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}; choose another folder") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


@dataclass(frozen=True, slots=True)
class Converted:
    """What a CSV was turned into."""

    rows: int
    files: int
    types: dict[str, pa.DataType]
    missing: dict[str, int]
    """Missing values of each column that has some."""


def convert_csv(
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

    Columns are whole numbers, numbers, truth values, dates, times or text, whichever the first block shows; whole
    numbers become numbers, dates become timestamps or text, and columns that began empty find their type, when a later
    row asks for it. Any other change of type is an error, because one slip of the pen would turn a million numbers into
    text. Dates and times are those that ISO 8601 writes (2024-03-01, 2024-03-01 12:30:00, 12:30); with an offset from
    UTC, a timestamp is the instant in UTC. `names` are those of a file without a header, `text` the columns to take as
    text whatever they look like. The directory must be new or empty.
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
        raise DataError(f"{directory} cannot be written: {error.strerror or error}; choose another folder") from error


class _OtherTypeError(Exception):
    """A column needs another type than its first rows had."""

    def __init__(self, column: str, kind: pa.DataType) -> None:
        super().__init__(column, kind)
        self.column = column
        self.kind = kind


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
"""In this order they are tried. Any text may begin like a date, so a column that is not all of one kind is text."""
_WIDER = {str(one): other for order in (_NUMBERS, _MOMENTS) for one, other in itertools.pairwise(order)}


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
                    column_types=types, null_values=["", *self.missing], strings_can_be_null=True, check_utf8=True
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
                f"{self.path}: expected at least two columns separated by {self.separator!r}, got one, "
                f"{names[0][:60]!r}; check --separator"
            )
        for name, times in Counter(names).items():
            if times > 1:
                raise DataError(f"{self.path}: column names must differ, but {name!r} occurs twice; rename one of them")
        for name in types:
            if name not in names:
                raise DataError(f"{self.path}: expected a column {name!r}, got {', '.join(names[:20])}")
        for column in schema:
            if pa.types.is_binary(column.type):
                raise DataError(
                    f"{self.path}: expected text in {self.encoding}, but column {column.name!r} holds other bytes; "
                    "pass --encoding, such as latin1"
                )
            if pa.types.is_null(column.type):
                self.began_empty.add(column.name)

    def _explain(self, error: Exception) -> NoReturn:
        """Raise what to do about an error of pyarrow's: read again with another type, or tell the user."""
        said = _said(error)
        match = re.match(r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to ([^:]+): (.*)", said)
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
            f"{self.path}: {row}expected {kind} in column {name!r} as in the rows before, got {match[4]}; correct it, "
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
    """The files of a conversion under way: hidden until all of them are whole, gone if any of them fails."""

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
    stream: _CsvStream, types: dict[str, pa.DataType], drafts: _Drafts, progress: Callable[[int], None] | None
) -> Converted:
    schema, batches = stream.batches(types)
    pending: list[pa.RecordBatch] = []
    rows = 0
    missing = np.zeros(len(schema), dtype=np.int64)
    for batch in batches:
        pending.append(batch)
        rows += batch.num_rows
        missing += [column.null_count for column in batch.columns]
        if sum(b.num_rows for b in pending) >= GROUP_ROWS or sum(b.nbytes for b in pending) >= GROUP_BYTES:
            drafts.write(pa.Table.from_batches(pending, schema).combine_chunks())
            pending = []
            if progress is not None:
                progress(rows)
    if pending or not rows:
        drafts.write(pa.Table.from_batches(pending, schema).combine_chunks())
    counts = {name: n for name, n in zip(schema.names, missing.tolist(), strict=True) if n}
    return Converted(rows, len(drafts.paths), {column.name: _stored(column.type) for column in schema}, counts)


def _stored(kind: pa.DataType) -> pa.DataType:
    """Return a type as Parquet keeps it, which has no unit of a second."""
    if pa.types.is_timestamp(kind) and kind.unit == "s":
        return pa.timestamp("ms", kind.tz)
    return pa.time32("ms") if kind == pa.time32("s") else kind


def _check_arguments(csv_path: Path, directory: Path, separator: str) -> None:
    if len(separator) != 1:
        raise SpecError(f"the separator must be one character, got {separator!r}")
    if not csv_path.is_file():
        raise DataError(f"{csv_path}: expected a CSV file, but there is none at this path")
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise SpecError(f"{directory} must be an empty or a new folder; choose another")


def _numbers(name: str, array: pa.Array) -> pa.Array:
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    try:
        numbers = array.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"expected numbers in column {name!r}, got {array.type} ({_said(error)})") from error
    return pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)


def _whole(name: str, numbers: pa.Array) -> pa.Array:
    """Return numbers as whole ones, in the narrowest type that holds them."""
    exact = pc.and_(pc.equal(numbers, pc.round(numbers)), pc.less_equal(pc.abs(numbers), 2.0**53))
    odd = numbers.filter(pc.invert(exact))
    if len(odd):
        raise DataError(f"expected whole numbers in column {name!r}, got {odd[0].as_py()!r}; is this the right file?")
    bounds = pc.min_max(numbers)
    largest = max(abs(bounds["min"].as_py() or 0), abs(bounds["max"].as_py() or 0))
    kinds = ((1 << 7, pa.int8()), (1 << 15, pa.int16()), (1 << 31, pa.int32()), (1 << 63, pa.int64()))
    return numbers.cast(next(kind for limit, kind in kinds if largest < limit))


def _said(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
