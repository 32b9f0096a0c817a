"""Tables out of the files that datasets are published in.

A reader turns the bytes of a file (CSV, ARFF, Parquet, MATLAB) into a table; steps such as `Recode`
turn the publisher's table into the project's; `typed` settles the columns and their types;
`write_table` writes Parquet, whole or not at all.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from dnfscale.core.arrays import Scalar
from dnfscale.datasets.arff import parse_arff
from dnfscale.errors import DataError, first_line

_GROUP_ROWS = 1 << 17


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
                pacsv.ReadOptions(
                    column_names=list(self.names), skip_rows=int(self.header), use_threads=False
                ),
                pacsv.ParseOptions(delimiter=self.separator, newlines_in_values=True),
                pacsv.ConvertOptions(
                    column_types=types, null_values=list(self.missing), strings_can_be_null=True
                ),
            )
        except pa.ArrowInvalid as error:
            raise DataError(
                f"{where}: expected {len(self.names):,} columns separated by "
                f"{self.separator!r}, but it cannot be read "
                f"so ({first_line(error)}); is this the right file?"
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
                f"{where}: expected a Parquet file, but it cannot be read "
                f"({first_line(error)}); fetch it again"
            ) from error
        table = table.select(
            [name for name in table.column_names if not name.startswith("__index_level_")]
        )
        for at, column in enumerate(table.schema):
            if pa.types.is_dictionary(column.type):
                table = table.set_column(
                    at, column.name, table.column(at).cast(column.type.value_type)
                )
        return table.replace_schema_metadata()


@dataclass(frozen=True, slots=True)
class Mat:
    """Reads the matrix X and the labels Y of a MATLAB file, as the scikit-feature repository keeps
    them.
    """

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
                f"{where}: expected a MATLAB file up to version 7.2, but it cannot be read "
                f"({first_line(error)}); "
                "fetch it again"
            ) from error
        absent = [name for name in ("X", "Y") if name not in found]
        if absent:
            raise DataError(
                f"{where}: expected the variables X and Y, but there is no {absent[0]}; is "
                "this the right file?"
            )
        matrix, labels = np.asarray(found["X"]), np.asarray(found["Y"]).ravel()
        if matrix.dtype.kind not in "iufb" or matrix.shape != (len(labels), len(self.features)):
            raise DataError(
                f"{where}: expected X to hold a row of {len(self.features):,} numbers for "
                f"each of the {len(labels):,} "
                f"labels of Y, got {matrix.dtype} of the shape {matrix.shape}; is this the "
                "right file?"
            )
        columns = {name: np.ascontiguousarray(matrix[:, i]) for i, name in enumerate(self.features)}
        return pa.table({self.target: labels, **columns})


Step = Callable[[pa.Table], pa.Table]
"""Turns a publisher's table a little more into the project's."""


@dataclass(frozen=True, slots=True)
class Recode:
    """Writes other values into a column; a value that has no other stays, a missing one becomes
    `missing`.
    """

    column: str
    codes: tuple[tuple[Scalar, Scalar], ...] = ()
    missing: Scalar | None = None

    def __call__(self, table: pa.Table) -> pa.Table:
        if self.column not in table.column_names:
            raise DataError(
                f"expected a column {self.column!r}, but there is none; is this the right file?"
            )
        codes: dict[Scalar | None, Scalar | None] = {None: self.missing, **dict(self.codes)}
        values = [codes.get(value, value) for value in table.column(self.column).to_pylist()]
        return table.set_column(
            table.column_names.index(self.column), self.column, pa.array(values)
        )


def unpack(path: Path, members: Sequence[str]) -> bytes:
    """Return the content of a file, or of a member of the archives in it: each member lies in the
    one before.
    """
    content, where = path.read_bytes(), path.name
    for member in members:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                if member not in archive.namelist():
                    found = ", ".join(archive.namelist()[:10])
                    raise DataError(
                        f"{where}: expected the member {member}, got {found}; is this the "
                        "right archive?"
                    )
                content = archive.read(member)
            where = f"{where}/{member}"
            if member.endswith(".gz"):
                content = gzip.decompress(content)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
            raise DataError(
                f"{where}: expected a whole archive, but it is not one ({error}); fetch it again"
            ) from error
    return content


def typed(
    table: pa.Table, *, columns: Sequence[str], text: Sequence[str], fractional: Sequence[str]
) -> pa.Table:
    """Return the columns in order: text as strings, fractional as float64, others as the narrowest
    whole numbers.
    """
    found = table.column_names
    here, wanted = set(found), set(columns)
    absent = [name for name in columns if name not in here]
    excess = [name for name in found if name not in wanted]
    if absent or excess:
        more = f"{len(excess):,} unknown ones: {', '.join(excess[:5])}" if excess else "no others"
        raise DataError(
            f"expected {len(columns):,} columns, but {len(absent):,} of them are missing "
            f"({', '.join(absent[:5])}), "
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
        pq.write_table(table, draft, compression="zstd", row_group_size=_GROUP_ROWS)
        os.replace(draft, path)
    except OSError as error:
        raise DataError(
            f"{path} cannot be written: {error.strerror or error}; choose another folder"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def _numbers(name: str, array: pa.Array) -> pa.Array:
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    try:
        numbers = array.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"expected numbers in column {name!r}, got {array.type} ({first_line(error)})"
        ) from error
    return pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)


def _whole(name: str, numbers: pa.Array) -> pa.Array:
    """Return numbers as whole ones, in the narrowest type that holds them."""
    exact = pc.and_(pc.equal(numbers, pc.round(numbers)), pc.less_equal(pc.abs(numbers), 2.0**53))
    odd = numbers.filter(pc.invert(exact))
    if len(odd):
        raise DataError(
            f"expected whole numbers in column {name!r}, got {odd[0].as_py()!r}; is this "
            "the right file?"
        )
    bounds = pc.min_max(numbers)
    largest = max(abs(bounds["min"].as_py() or 0), abs(bounds["max"].as_py() or 0))
    kinds = (
        (1 << 7, pa.int8()),
        (1 << 15, pa.int16()),
        (1 << 31, pa.int32()),
        (1 << 63, pa.int64()),
    )
    return numbers.cast(next(kind for limit, kind in kinds if largest < limit))
