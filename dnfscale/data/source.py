"""A dataset seen through its Parquet footers: columns, partitions, sizes; no row is read.

A path may be a file, a directory (with hive-style `key=value` folders), or a glob. Files are taken in the order of
their paths; rows keep the order of files, row groups and rows. Partitions are runs of row groups of about as many rows
each, so that neither one huge file nor thousands of small ones decides how many tasks there are.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from dnfscale.core.columns import Column, Role, Rows
from dnfscale.data.exact import is_decimal, is_number, measure_of
from dnfscale.data.footer import read_chunks
from dnfscale.data.read import FileRows, ParquetPartition
from dnfscale.errors import DataError, SpecError

_PARTITION_ROWS = 1 << 16
_PARTITION_BYTES = 32 << 20
"""A partition is closed when it has so many rows, or so many bytes before compression."""
_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class Footer:
    """What the footer of one file says."""

    path: str
    file_bytes: int
    modified_ns: int
    schema: pa.Schema
    group_rows: tuple[int, ...]
    group_bytes: tuple[int, ...]
    column_bytes: dict[str, int]
    """Compressed bytes of each column."""
    null_counts: dict[str, int]
    """Nulls of each column whose chunks all say how many they have."""
    keys: dict[str, str | None]
    """The hive keys in the file's path."""


@dataclass(frozen=True, slots=True)
class Source:
    """A dataset: its columns and where its rows are."""

    path: str
    types: dict[str, pa.DataType]
    """The columns, in order, hive keys last."""
    partitions: tuple[Rows, ...]
    n_rows: int
    n_files: int
    column_bytes: dict[str, int]
    """Compressed bytes of each column, over all files."""
    null_counts: dict[str, int] = field(default_factory=dict)
    """Nulls of each column, as far as the footers tell; a nan is none."""

    @property
    def identity(self) -> str:
        """A text that changes when the files do: their paths, sizes and times, and how they are partitioned."""
        described = repr((self.n_rows, self.column_bytes, self.partitions))
        return hashlib.blake2b(described.encode(), digest_size=16).hexdigest()


def open_source(path: str) -> Source:
    """Read the footers of a dataset and lay out its partitions."""
    if "://" in path:
        raise DataError(f"{path}: expected the path of a file or directory, got a URL; copy the data to this machine")
    filesystem = pafs.LocalFileSystem()
    # Workers may have another working directory.
    root = os.path.abspath(path)
    try:
        files = _list_files(root, filesystem)
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path}: expected the path of a file or directory, but {_first_line(error)}") from error
    with ThreadPoolExecutor(max_workers=8) as pool:
        footers = list(pool.map(lambda file: _read_footer(file, root, filesystem), files))
    types = _common_types(footers)
    keys = _typed_keys(footers)
    column_bytes: dict[str, int] = {}
    for footer in footers:
        for name, size in footer.column_bytes.items():
            column_bytes[name] = column_bytes.get(name, 0) + size
    return Source(
        path=path,
        types={**types, **{name: kind for name, (kind, _) in keys.items()}},
        partitions=_partitions(footers, keys),
        n_rows=sum(sum(footer.group_rows) for footer in footers),
        n_files=len(footers),
        column_bytes=column_bytes,
        null_counts={
            **{
                name: sum(footer.null_counts[name] for footer in footers)
                for name in types
                if all(name in footer.null_counts for footer in footers)
            },
            **{name: sum(value is None for value in values) for name, (_, values) in keys.items()},
        },
    )


def number_dtype(kind: pa.DataType) -> np.dtype[Any]:
    """Return the dtype in which a column of numbers is read."""
    if pa.types.is_null(kind):
        return np.dtype(np.float64)
    if is_decimal(kind):
        return np.dtype(np.int64)
    if measure_of(kind) is not None:
        return np.dtype(np.int32 if kind.bit_width == 32 or pa.types.is_date(kind) else np.int64)
    return np.dtype(np.float32 if pa.types.is_float16(kind) else kind.to_pandas_dtype())


def role_of(kind: pa.DataType) -> Role | None:
    """Return the role that a column of this type has unless the spec says otherwise; None if it can have none."""
    if pa.types.is_boolean(kind):
        return Role.FLAG
    if is_number(kind):
        return Role.NUMBER
    if pa.types.is_dictionary(kind):
        return Role.CATEGORY if holds_labels(kind.value_type) and not is_decimal(kind.value_type) else None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return Role.CATEGORY
    return Role.CATEGORY if pa.types.is_null(kind) else None


def holds_labels(kind: pa.DataType) -> bool:
    """Say whether the values of a column can be labels or categories: dates and the like are only ever cut."""
    return role_of(kind) is not None and measure_of(kind) is None


def unusable(kind: pa.DataType) -> str:
    """Say what to do with a column whose type has no role."""
    if pa.types.is_struct(kind) or pa.types.is_map(kind):
        return "write each of its fields as a column of its own"
    if pa.types.is_nested(kind):
        return "write its elements, or what matters of them, as columns of their own"
    if pa.types.is_decimal(kind):
        return "write it as decimal128 of at most 18 digits, or as floats"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return "write it as strings, if it is text"
    return "convert it"


def feature_columns(
    source: Source, *, target: str, drop: Sequence[str], categorical: Sequence[str], boolean: Sequence[str]
) -> tuple[Column, ...]:
    """Return the feature columns of a source and their roles, in the order of the file."""
    columns = []
    for name, kind in source.types.items():
        if name == target or name in drop or name.startswith("__index_level_"):
            continue
        role = role_of(kind)
        if role is None:
            raise DataError(
                f"{source.path}: columns must hold numbers, dates, times, booleans or strings, but {name!r} has the "
                f"type {kind}; {unusable(kind)}, or add it to data.drop"
            )
        for key, listed in (("data.categorical", categorical), ("data.boolean", boolean)):
            if name in listed and not holds_labels(kind):
                raise SpecError(
                    f"{key} must list columns of labels, but {name!r} has the type {kind}, which is cut at its median; "
                    "leave it out, or write the column as strings",
                    key,
                )
        if name in categorical:
            role = Role.CATEGORY
        elif name in boolean:
            role = Role.FLAG
        columns.append(Column(name, role, measure_of(kind)))
    return tuple(columns)


def _list_files(path: str, filesystem: pafs.FileSystem) -> list[pafs.FileInfo]:
    if any(c in path for c in "*?[") and not os.path.exists(path):
        found = [name for name in sorted(glob.glob(path, recursive=True)) if os.path.isfile(name)]
        if not found:
            raise DataError(f"{path}: expected at least one Parquet file, but the pattern matches none")
        return list(filesystem.get_file_info(found))
    info = filesystem.get_file_info(path)
    if info.type == pafs.FileType.NotFound:
        raise DataError(f"{path}: expected a Parquet file or a directory of them, but there is nothing at this path")
    if info.type == pafs.FileType.File:
        return [info]
    entries = filesystem.get_file_info(pafs.FileSelector(path, recursive=True))
    files = [e for e in entries if e.type == pafs.FileType.File and _is_data(e.path, path)]
    if not files:
        raise DataError(f"{path}: expected at least one file that ends in .parquet, but the directory has none")
    return sorted(files, key=lambda entry: str(entry.path))


def _is_data(file: str, root: str) -> bool:
    """Tell data from the side files that other tools leave: names that begin with _ or a dot."""
    parts = PurePosixPath(os.path.relpath(file, root)).parts
    hidden = any(part.startswith((".", "_")) and "=" not in part for part in parts)
    return not hidden and parts[-1].endswith((".parquet", ".pq"))


def _read_footer(file: pafs.FileInfo, root: str, filesystem: pafs.FileSystem) -> Footer:
    try:
        with filesystem.open_input_file(file.path) as handle, pq.ParquetFile(handle) as parquet:
            metadata, schema = parquet.metadata, parquet.schema_arrow
            leaves = [parquet.schema.column(i).path for i in range(metadata.num_columns)]
            chunks = read_chunks(handle)
            if any(len(group) != len(leaves) for group in chunks) or len(chunks) != metadata.num_row_groups:
                raise ValueError("its row groups have other columns than its schema")
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(
            f"{file.path}: expected a Parquet file, but it cannot be read ({_first_line(error)}); "
            "write it again, or leave it out"
        ) from error
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    column_bytes: dict[str, int] = {}
    null_counts: dict[str, int] = dict.fromkeys(schema.names, 0)
    known = set(schema.names)
    names = [leaf if leaf in known else leaf.split(".")[0] for leaf in leaves]
    for group_chunks in chunks:
        for name, chunk in zip(names, group_chunks, strict=True):
            column_bytes[name] = column_bytes.get(name, 0) + chunk.compressed_bytes
            if chunk.nulls is None:
                null_counts.pop(name, None)
            elif name in null_counts:
                null_counts[name] += chunk.nulls
    return Footer(
        path=file.path,
        file_bytes=file.size,
        modified_ns=file.mtime_ns,
        schema=schema,
        group_rows=tuple(group.num_rows for group in groups),
        group_bytes=tuple(group.total_byte_size for group in groups),
        column_bytes=column_bytes,
        null_counts=null_counts,
        keys=_hive_keys(file.path, root),
    )


def _hive_keys(file: str, root: str) -> dict[str, str | None]:
    folders = PurePosixPath(os.path.relpath(file, root) if os.path.isdir(root) else file).parts[:-1]
    pairs = (folder.split("=", 1) for folder in folders if "=" in folder)
    return {unquote(key): None if value == _HIVE_NULL else unquote(value) for key, value in pairs}


def _common_types(footers: Sequence[Footer]) -> dict[str, pa.DataType]:
    """Return the columns that all files share; files that disagree are an error."""
    first = footers[0]
    for footer in footers:
        twice = [name for name, count in Counter(footer.schema.names).items() if count > 1]
        if twice:
            raise DataError(
                f"{footer.path}: column names must differ, but {twice[0]!r} occurs twice; rename one of them"
            )
    for footer in footers[1:]:
        missing = [n for n in first.schema.names if n not in footer.schema.names]
        extra = [n for n in footer.schema.names if n not in first.schema.names]
        if missing or extra:
            name, has, lacks = (missing[0], first, footer) if missing else (extra[0], footer, first)
            raise DataError(
                f"{lacks.path}: expected the same columns in all files, but {name!r} of {has.path} is not in it; "
                "write the files with one schema"
            )
        for name in first.schema.names:
            mine, theirs = first.schema.field(name).type, footer.schema.field(name).type
            if _read_as(mine) != _read_as(theirs):
                raise DataError(
                    f"{footer.path}: expected column {name!r} to have the type {mine} as in {first.path}, "
                    f"got {theirs}; write the files with one schema"
                )
    return {field.name: field.type for field in first.schema}


def _read_as(kind: pa.DataType) -> pa.DataType:
    """Types that are read alike may stand beside each other: a dictionary of strings, and strings."""
    if pa.types.is_dictionary(kind):
        return _read_as(kind.value_type)
    return pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind


def _typed_keys(footers: Sequence[Footer]) -> dict[str, tuple[pa.DataType, list[Any]]]:
    """Return the type of each hive key and its value per file: whole numbers where all values read as such."""
    typed: dict[str, tuple[pa.DataType, list[Any]]] = {}
    for key in dict.fromkeys(key for footer in footers for key in footer.keys):
        if key in footers[0].schema.names:
            continue
        outside = [footer.path for footer in footers if key not in footer.keys]
        if outside:
            raise DataError(
                f"{outside[0]}: expected a folder named {key}=... as the other files have; lay out all files alike"
            )
        values: list[Any] = [footer.keys[key] for footer in footers]
        numbers = [None if value is None else _whole_number(value) for value in values]
        if all(number is not None for number, value in zip(numbers, values, strict=True) if value is not None):
            typed[key] = pa.int64(), numbers
        else:
            typed[key] = pa.string(), values
    return typed


def _whole_number(text: str) -> int | None:
    """Return the number that a text spells, if it is one of 64 bits and spelled the usual way."""
    if re.fullmatch(r"0|-?[1-9][0-9]{0,18}", text) and -(1 << 63) <= int(text) < 1 << 63:
        return int(text)
    return None


def _partitions(
    footers: Sequence[Footer], keys: dict[str, tuple[pa.DataType, list[Any]]]
) -> tuple[ParquetPartition, ...]:
    partitions: list[ParquetPartition] = []
    pieces: list[FileRows] = []
    rows = size = 0
    for number, footer in enumerate(footers):
        constants = tuple((key, pa.scalar(values[number], kind)) for key, (kind, values) in keys.items())
        for group, (group_rows, group_bytes) in enumerate(zip(footer.group_rows, footer.group_bytes, strict=True)):
            if not group_rows:
                continue
            if pieces and pieces[-1].path == footer.path:
                pieces[-1] = pieces[-1].with_group(group, group_rows)
            else:
                pieces.append(
                    FileRows(footer.path, footer.file_bytes, footer.modified_ns, (group,), group_rows, constants)
                )
            rows, size = rows + group_rows, size + group_bytes
            if rows >= _PARTITION_ROWS or size >= _PARTITION_BYTES:
                partitions.append(ParquetPartition(len(partitions), tuple(pieces)))
                pieces, rows, size = [], 0, 0
    if pieces:
        partitions.append(ParquetPartition(len(partitions), tuple(pieces)))
    return tuple(partitions)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
