"""Tables of a lake: the files that a snapshot of a Delta or an Iceberg table is made of.

The table's own library reads its log. Which files are live, their partition values and what is
deleted in them come from there, never from a listing. A plain snapshot, whose files hold the
columns as the table has them now and no deleted rows, is read in place; any other is read here,
file by file, and kept as Parquet like a CSV.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from dnfscale.data.blocks import told_with
from dnfscale.data.identity import opened
from dnfscale.data.listing import check_place, is_pattern, table_kind
from dnfscale.data.storage import located, told
from dnfscale.errors import DataError, SpecError, first_line
from dnfscale.spec.storage import Access, is_remote, joined

_READ = frozenset(
    [
        "columnMapping",
        "deletionVectors",
        "timestampNtz",
        "typeWidening",
        "typeWidening-preview",
        "v2Checkpoint",
        "vacuumProtocolCheck",
    ]
)
"""What a Delta table may ask of its readers that is done here."""
_PHYSICAL = b"delta.columnMapping.physicalName"
_MOST_SAID = 300
_FIELD_ID = b"PARQUET:field_id"


@dataclass(frozen=True, slots=True)
class LiveFile:
    """A file of a snapshot."""

    path: str
    constants: tuple[tuple[str, pa.Scalar], ...]
    """Columns of one value that is not in the file."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a table of a lake holds at one time."""

    path: str
    kind: str
    version: int
    identity: str
    """Which table it is, whatever its path."""
    schema: pa.Schema
    files: tuple[LiveFile, ...]
    is_plain: bool
    """Whether no row of any file is deleted, and no column goes by another name there."""
    read: Callable[[int], Iterator[pa.Table]]
    """Returns the rows of a file that live, in the columns of the table."""

    @property
    def called(self) -> str:
        """What people call it."""
        if self.version < 0:
            return f"the {self.kind} table"
        return (
            f"version {self.version} of {'a' if self.kind == 'Delta' else 'an'} {self.kind} table"
        )

    def has(self, schema: pa.Schema) -> bool:
        """Say whether a file of this schema has the columns of the table as they are now."""
        constants = {name for file in self.files[:1] for name, _ in file.constants}
        own = [column for column in self.schema if column.name not in constants]
        if set(schema.names) != {column.name for column in own}:
            return False
        return all(_is_read_alike(column, schema.field(column.name)) for column in own)


def _is_read_alike(column: pa.Field, stored: pa.Field) -> bool:
    expected = (column.metadata or {}).get(_FIELD_ID)
    return bool(column.type == _plain_type(stored.type)) and (
        expected is None or expected == (stored.metadata or {}).get(_FIELD_ID)
    )


def lake_kind(path: str, access: Access) -> str | None:
    """Say whether a path is a table of a lake: "Delta" or "Iceberg"."""
    check_place(path)
    filesystem, inner = located(path, access)
    if is_pattern(inner) or inner.endswith(".parquet"):
        return None
    try:
        return table_kind(filesystem, inner)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: expected to list its files, but {told(error, path)}") from error


def open_snapshot(path: str, kind: str, version: int | None, access: Access) -> Snapshot:
    """Read the log of a table, as of now or of a version."""
    package = {"Delta": "deltalake", "Iceberg": "pyiceberg"}[kind]
    if importlib.util.find_spec(package) is None:
        raise SpecError(
            f"{path}: a table of {kind} needs {package}, which is not installed; install it with: "
            f"pip install 'dnfscale[{kind.lower()}]'",
            "data.path",
        )
    snapshot = (_delta if kind == "Delta" else _iceberg)(path, version, access)
    if not snapshot.files:
        raise DataError(
            f"{path}: expected rows, but {snapshot.called} has none; say data.version of another",
            "data.path",
        )
    _check_there(snapshot, access)
    return snapshot


def _check_there(snapshot: Snapshot, access: Access) -> None:
    filesystem = located(snapshot.path, access)[0]
    paths = [located(file.path, access)[1] for file in snapshot.files]
    for file, info in zip(snapshot.files, filesystem.get_file_info(paths), strict=True):
        if info.type != pafs.FileType.File:
            raise DataError(
                f"{file.path}: expected a file that the {snapshot.kind} table {snapshot.path} "
                "names, but it is not there; restore it, or say data.version of a snapshot that "
                "does not need it",
                "data.path",
            )


@contextmanager
def _log_of(path: str, kind: str) -> Iterator[None]:
    """Turn what a library says of a log into one of our errors."""
    try:
        yield
    except (DataError, SpecError):
        raise
    except BaseException as error:
        # A library in Rust may panic, which is no Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        said = first_line(error)[:_MOST_SAID]
        raise DataError(
            f"{path}: expected a table of {kind}, but its log cannot be read ({said}); restore "
            "the log, or say data.version of another snapshot",
            "data.path",
        ) from error


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    return pa.binary() if pa.types.is_large_binary(kind) else kind


def _as_table(columns: Mapping[str, Any], schema: pa.Schema, n_rows: int) -> pa.Table:
    """Return columns in the order and with the types of the table; one that is not there is
    empty.
    """
    arrays = [
        columns[column.name].cast(column.type)
        if column.name in columns
        else pa.nulls(n_rows, column.type)
        for column in schema
    ]
    return pa.table(arrays, schema=schema.remove_metadata())


# Delta


def _delta(path: str, version: int | None, access: Access) -> Snapshot:
    from deltalake import DeltaTable

    _check_commits(path, access)
    with _log_of(path, "Delta"):
        table = DeltaTable(path, version=version, storage_options=_delta_options(path, access))
        _check_features(path, table)
        schema = pa.schema(table.schema().to_arrow())
        schema = pa.schema([column.with_type(_plain_type(column.type)) for column in schema])
        adds = pa.table(table.get_add_actions()).to_pylist()
        deleted = pa.table(table.deletion_vectors()) if _has_vectors(table) else None
    physical = {
        column.name: (column.metadata or {}).get(_PHYSICAL, column.name.encode()).decode()
        for column in schema
    }
    partitioned = table.metadata().partition_columns
    files = tuple(
        LiveFile(
            _file_of(path, unquote(add["path"])),
            tuple(
                (name, pa.scalar(add["partition"][name], schema.field(name).type))
                for name in partitioned
            ),
        )
        for add in adds
    )
    vectors = {} if deleted is None else _vectors(path, deleted)

    def read(number: int) -> Iterator[pa.Table]:
        file = files[number]
        keep, at = vectors.get(file.path), 0
        with (
            told_with(file.path),
            opened(file.path, access) as handle,
            pq.ParquetFile(handle) as parquet,
        ):
            for batch in parquet.iter_batches():
                found = _kept(pa.table(batch), keep, at)
                at += batch.num_rows
                stored = set(found.column_names)
                columns: dict[str, Any] = {
                    name: found.column(own) for name, own in physical.items() if own in stored
                }
                columns |= {
                    name: pa.repeat(value, found.num_rows) for name, value in file.constants
                }
                yield _as_table(columns, schema, found.num_rows)

    return Snapshot(
        path,
        "Delta",
        table.version(),
        f"{table.metadata().id}",
        schema,
        files,
        is_plain=not vectors and all(name == own for name, own in physical.items()),
        read=read,
    )


def _check_commits(path: str, access: Access) -> None:
    """Raise DataError for a commit without a byte, which the library takes for one that changes
    nothing.
    """
    filesystem, inner = located(joined(path, "_delta_log"), access)
    try:
        entries = filesystem.get_file_info(pafs.FileSelector(inner))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: expected to list its log, but {told(error, path)}") from error
    for entry in entries:
        if re.fullmatch(r"[0-9]+\.json", entry.base_name) and not entry.size:
            raise DataError(
                f"{path}: expected a table of Delta, but its commit {entry.base_name} is empty; "
                "restore the log, or say data.version of another snapshot",
                "data.path",
            )


def _check_features(path: str, table: Any) -> None:
    asked = set(table.protocol().reader_features or ()) - _READ
    mode = table.metadata().configuration.get("delta.columnMapping.mode", "none")
    if asked or mode not in ("none", "name"):
        what = ", ".join(sorted(asked)) or f"columnMapping by {mode}"
        raise DataError(
            f"{path}: expected a Delta table that can be read here, but it asks for {what}; "
            "write its current rows to a folder of their own, and name that",
            "data.path",
        )


def _has_vectors(table: Any) -> bool:
    return "deletionVectors" in (table.protocol().reader_features or ())


def _vectors(path: str, deleted: pa.Table) -> dict[str, Any]:
    """Return which rows of a file live, for files of which some do not."""
    return {
        _file_of(path, file): np.array(keep, dtype=np.bool_)
        for file, keep in zip(
            deleted.column("filepath").to_pylist(),
            deleted.column("selection_vector").to_pylist(),
            strict=True,
        )
        if keep is not None and not all(keep)
    }


def _kept(table: pa.Table, keep: Any, at: int) -> pa.Table:
    if keep is None:
        return table
    # A vector may end at the last row that was deleted.
    mask = np.ones(table.num_rows, dtype=np.bool_)
    known = keep[at : at + table.num_rows]
    mask[: len(known)] = known
    return table.filter(pa.array(mask))


def _file_of(table: str, path: str) -> str:
    """Return the path of a file as we write paths, from the path or URL in a log."""
    if re.match(r"[a-z][a-z0-9+.-]*://", path):
        parts = urlsplit(path)
        if parts.scheme == "file":
            return unquote(parts.path)
        scheme = {"s3a": "s3", "s3n": "s3"}.get(parts.scheme, parts.scheme)
        return f"{scheme}://{parts.netloc}{unquote(parts.path)}"
    if path.startswith("file:"):
        return unquote(path.removeprefix("file:"))
    if path.startswith("/") and not is_remote(table):
        return path
    folder = table.rstrip("/") if is_remote(table) else located(table, Access())[1]
    return joined(folder, path)


def _delta_options(path: str, access: Access) -> dict[str, str] | None:
    if not path.startswith("s3://"):
        return None
    options = {"AWS_SKIP_SIGNATURE": "true"} if access.anonymous else {}
    if access.region:
        options["AWS_REGION"] = access.region
    if access.endpoint:
        options |= {"AWS_ENDPOINT_URL": access.endpoint}
        options["AWS_ALLOW_HTTP"] = str(access.endpoint.startswith("http:")).lower()
    return options


# Iceberg


def _iceberg(path: str, version: int | None, access: Access) -> Snapshot:
    from pyiceberg.expressions import AlwaysTrue
    from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow
    from pyiceberg.table import StaticTable

    with _log_of(path, "Iceberg"):
        table = StaticTable.from_metadata(_metadata_of(path, access), _ice_options(path, access))
        snapshot = table.current_snapshot() if version is None else table.snapshot_by_id(version)
        if version is not None and snapshot is None:
            known = ", ".join(str(each.snapshot_id) for each in table.metadata.snapshots[-5:])
            raise DataError(
                f"{path}: expected a snapshot {version}, got only {known}; change data.version",
                "data.version",
            )
        # The current schema may be younger than the current snapshot.
        scan = table.scan() if version is None else table.scan(snapshot_id=version)
        wanted = scan.projection()
        schema = pa.schema(
            [column.with_type(_plain_type(column.type)) for column in schema_to_pyarrow(wanted)]
        )
        tasks = [] if snapshot is None else list(scan.plan_files())

    def read(number: int) -> Iterator[pa.Table]:
        with _log_of(path, "Iceberg"):
            rows = ArrowScan(table.metadata, table.io, wanted, AlwaysTrue())
            for batch in rows.to_record_batches([tasks[number]]):
                columns = dict(zip(batch.schema.names, batch.columns, strict=True))
                yield _as_table(columns, schema, batch.num_rows)

    return Snapshot(
        path,
        "Iceberg",
        -1 if snapshot is None else snapshot.snapshot_id,
        f"{table.metadata.table_uuid}",
        schema,
        tuple(LiveFile(_named(task.file.file_path), ()) for task in tasks),
        is_plain=not any(task.delete_files for task in tasks),
        read=read,
    )


def _named(file: str) -> str:
    """Return the path of a file as we write paths: Iceberg escapes nothing."""
    if file.startswith("file:"):
        return re.sub(r"^file:(//)?", "", file)
    return re.sub(r"^s3[an]://", "s3://", file)


def _metadata_of(path: str, access: Access) -> str:
    """Return the newest metadata file of a table: the catalogue, if there is one, is not asked."""
    filesystem, inner = located(joined(path, "metadata"), access)
    names = [
        entry.base_name
        for entry in filesystem.get_file_info(pafs.FileSelector(inner))
        if entry.base_name.endswith(".metadata.json")
    ]

    def number(name: str) -> tuple[int, str]:
        match = re.match(r"v?([0-9]+)", name)
        return (int(match[1]) if match else -1), name

    folder = path if is_remote(path) else located(path, access)[1]
    return joined(folder, f"metadata/{max(names, key=number)}")


def _ice_options(path: str, access: Access) -> dict[str, str]:
    if not path.startswith("s3://"):
        return {}
    options = {"s3.endpoint": access.endpoint, "s3.region": access.region}
    anonymous = {"s3.anonymous": "true"} if access.anonymous else {}
    return {name: value for name, value in options.items() if value} | anonymous
