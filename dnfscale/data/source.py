"""A dataset seen through its Parquet footers: columns, partitions, sizes; no row is read.

Files are taken in the order of their paths; rows keep the order of files, row groups and rows.
Partitions are runs of row groups of about as many rows each, so that neither one huge file nor
thousands of small ones decides how many tasks there are.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from dnfscale.core.columns import Rows
from dnfscale.core.concepts import Concept
from dnfscale.data.footer import Chunk, chunks_of, read_tail, sum_of
from dnfscale.data.identity import (
    KnownFile,
    footer_digest,
    opened,
    parsed,
    places_per_file,
    sampled,
    stamp_of,
)
from dnfscale.data.listing import hive_keys, list_files, typed_keys
from dnfscale.data.read import FileRows, ParquetPartition
from dnfscale.data.signs import seems_text, sign_of
from dnfscale.data.storage import told
from dnfscale.errors import DataError
from dnfscale.spec.storage import DEFAULT_ACCESS, Access, is_remote

_WAITING_BYTES = 16 << 20
"""So much of footers may wait to be asked what they say of columns."""
_PARTITION_ROWS = 1 << 16
_PARTITION_BYTES = 32 << 20
"""A partition is closed when it has so many rows, or so many bytes before compression."""


@dataclass(frozen=True, slots=True)
class Footer:
    """What the footer of one file says."""

    file: KnownFile
    schema: pa.Schema
    leaves: tuple[str, ...]
    """The columns that are stored, of which several may belong to one of the schema."""
    group_rows: tuple[int, ...]
    group_bytes: tuple[int, ...]
    keys: dict[str, str | None]
    """The hive keys in the file's path."""
    summed: tuple[Chunk, ...]
    """The sums of all chunks of each stored column, if they were looked at."""
    stored: bytes
    """Otherwise all of it: what it says of a chunk takes some 17 microseconds to read, and a scan
    needs none.
    """

    @property
    def path(self) -> str:
        return self.file.path

    def without(self, names: Container[str]) -> Footer:
        """Return the footer with a schema that lacks some columns."""
        fields = [field for field in self.schema if field.name not in names]
        return self if len(fields) == len(self.schema) else replace(self, schema=pa.schema(fields))

    def chunks(self) -> Iterator[tuple[str, Chunk]]:
        """Yield every column chunk, or sum of chunks, and the column that it belongs to."""
        known = set(self.schema.names)
        names = [leaf if leaf in known else leaf.split(".")[0] for leaf in self.leaves]
        try:
            for group in [self.summed] if self.summed else chunks_of(self.stored):
                yield from zip(names, group, strict=True)
        except ValueError as error:
            raise _unreadable(self.path, self.file.access, error) from error


class _FooterFacts:
    """What footers say of each column, found when it is first asked for; they are kept until then,
    unless large.
    """

    def __init__(
        self, footers: Sequence[Footer], keys: dict[str, tuple[pa.DataType, list[Any]]]
    ) -> None:
        self._footers, self._keys = footers, keys
        self._sizes: tuple[dict[str, int], dict[str, int]] | None = None
        if sum(len(footer.stored) for footer in footers) > _WAITING_BYTES:
            self.sizes()

    def sizes(self) -> tuple[dict[str, int], dict[str, int]]:
        """Return the bytes and the nulls of each column."""
        if self._sizes is None:
            self._sizes = _sizes(self._footers, self._keys)
            self._footers = ()
        return self._sizes


@dataclass(frozen=True, slots=True, eq=False)
class _Sizes(Mapping[str, int]):
    """A number of each column."""

    facts: _FooterFacts
    which: int
    """0 for the bytes, 1 for the nulls."""

    def __getitem__(self, name: str) -> int:
        return self.facts.sizes()[self.which][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.facts.sizes()[self.which])

    def __len__(self) -> int:
        return len(self.facts.sizes()[self.which])

    def __repr__(self) -> str:
        return repr(dict(self))


@dataclass(frozen=True, slots=True)
class Source:
    """A dataset: its columns and where its rows are."""

    path: str
    types: dict[str, pa.DataType]
    """The columns, in order, hive keys last."""
    partitions: tuple[Rows, ...]
    n_rows: int
    column_bytes: Mapping[str, int]
    """Compressed bytes of each column, over all files."""
    null_counts: Mapping[str, int] = field(default_factory=dict)
    """Nulls of each column, as far as the footers tell; a nan is none."""
    files: tuple[KnownFile, ...] = ()
    """The files as they were when their footers were read; none for a table in memory."""
    folder: str | None = None
    """Where the files are, unless the path says it: what was converted lies elsewhere."""
    concepts: Mapping[str, Concept] = field(default_factory=dict)
    """The columns that say something of related rows, by name."""
    is_snapshot: bool = False
    """Whether a log says which files there are, whatever else has come into their folder."""
    tested: str | None = None
    """Where the files are that are only tested on, if there are such."""
    first_tested: int | None = None
    """The number of the first partition of these files, which come last."""

    @property
    def identity(self) -> str:
        """A text that changes when the contents of files do, or their paths or partitions; not when
        they are copied.
        """
        described = repr((self.n_rows, dict(self.column_bytes), self.files, self.partitions))
        return hashlib.blake2b(described.encode(), digest_size=16).hexdigest()

    @property
    def state(self) -> str:
        """The identity, and when and where the files were written: what was read of a state is not
        read again.
        """
        stamps = repr([file.stamp for file in self.files])
        return f"{self.identity} {hashlib.blake2b(stamps.encode(), digest_size=16).hexdigest()}"

    def is_empty(self, column: str) -> bool:
        """Say whether a column has no value at all, as far as the footers tell."""
        return pa.types.is_null(self.types[column]) or 0 < self.n_rows == self.null_counts.get(
            column
        )

    def check_unchanged(self) -> None:
        """Raise DataError if some file is gone or was written since, or if there are others by
        now.
        """
        with ThreadPoolExecutor(max_workers=8) as pool:
            list(pool.map(KnownFile.check, self.files))
        if self.files and not self.is_snapshot:
            places = [self.path if self.folder is None else self.folder]
            places += [] if self.tested is None else [self.tested]
            there = {file for place in places for file in list_files(place, self.files[0].access)}
            now = there ^ {file.path for file in self.files}
            if now:
                raise DataError(
                    f"{min(now)}: expected the files that the job began with, but this one "
                    "has come or gone since; "
                    "run again on data that does not change meanwhile"
                )


def open_source(path: str, access: Access = DEFAULT_ACCESS, *, tested: str | None = None) -> Source:
    """Read the footers of a dataset and lay out its partitions; those of files that are only tested
    on come last.
    """
    if tested is None:
        footers = _read_footers(path, access)
        return _laid_out(path, footers, _common_types(footers))
    last = _read_footers(tested, access)
    aside = {footer.path for footer in last}
    first = [footer for footer in _read_footers(path, access) if footer.path not in aside]
    if not first:
        raise nothing_learned(path, tested)
    types = _common_types([*first, *last])
    source = _laid_out(path, [*first, *last], types, apart=len(first))
    learned = _laid_out(path, first, types).partitions
    return replace(source, tested=tested, first_tested=len(learned))


def nothing_learned(path: str, tested: str) -> DataError:
    """Return the error of a table all of whose files are only tested on."""
    return DataError(
        f"expected files to learn from besides those to test, but {tested} means all files of "
        f"{path}; name fewer of them",
        "folds.test",
    )


def open_live(
    path: str,
    files: Mapping[str, Mapping[str, pa.Scalar]],
    access: Access,
    *,
    suits: Callable[[pa.Schema], bool],
    order: Sequence[str],
) -> Source | None:
    """Open given files with the columns of one value that each has besides; None if the schema of
    some does not suit.
    """
    n_places = places_per_file(len(files), remote=is_remote(path))
    with ThreadPoolExecutor(max_workers=8) as pool:
        footers = list(pool.map(lambda file: _read_footer(file, path, access, n_places), files))
    if not all(suits(footer.schema) for footer in footers):
        return None
    first = next(iter(files.values()))
    keys = {
        name: (value.type, [constants[name].as_py() for constants in files.values()])
        for name, value in first.items()
    }
    source = _with_keys(path, footers, _common_types(footers), keys)
    types = {name: source.types[name] for name in order}
    return replace(source, types=types, is_snapshot=True)


def open_shared(
    path: str, access: Access = DEFAULT_ACCESS
) -> tuple[Source, tuple[Difference, ...]]:
    """Open the columns that all files of a dataset have alike, and say how the others differ."""
    footers = _read_footers(path, access)
    differing = tuple(_differences(footers))
    names = {difference.column for difference in differing}
    alike = [footer.without(names) for footer in footers]
    return _laid_out(path, alike, _common_types(alike)), differing


@dataclass(frozen=True, slots=True)
class Difference:
    """A column that is not the same in all files."""

    column: str
    message: str


def _differences(footers: Sequence[Footer]) -> Iterator[Difference]:
    """Yield every column that some file lacks, or has with another type."""
    names = dict.fromkeys(name for footer in footers for name in footer.schema.names)
    for name in names:
        lacks = [footer for footer in footers if footer.schema.get_field_index(name) < 0]
        types = {
            str(footer.schema.field(name).type): footer.path
            for footer in reversed(footers)
            if footer not in lacks and not pa.types.is_null(footer.schema.field(name).type)
        }
        read_as = {
            _read_as(footer.schema.field(name).type) for footer in footers if footer not in lacks
        } - {pa.null()}
        if lacks:
            yield Difference(
                name, f"{len(lacks):,} of {len(footers):,} files lack it, such as {lacks[0].path}"
            )
        elif len(read_as) > 1:
            found = ", ".join(f"{kind} in {file}" for kind, file in sorted(types.items()))
            yield Difference(name, f"its type differs: {found}")


def _read_footers(path: str, access: Access) -> list[Footer]:
    root = path if is_remote(path) else os.path.abspath(path)
    files = list_files(path, access)
    with ThreadPoolExecutor(max_workers=8) as pool:
        n_places = places_per_file(len(files), remote=is_remote(path))
        return list(pool.map(lambda file: _read_footer(file, root, access, n_places), files))


def _laid_out(
    path: str, footers: Sequence[Footer], types: dict[str, pa.DataType], *, apart: int | None = None
) -> Source:
    keys = typed_keys([(footer.path, footer.keys, footer.schema.names) for footer in footers])
    return _with_keys(path, footers, types, keys, apart=apart)


def _with_keys(
    path: str,
    footers: Sequence[Footer],
    types: dict[str, pa.DataType],
    keys: dict[str, tuple[pa.DataType, list[Any]]],
    *,
    apart: int | None = None,
) -> Source:
    of_columns = _FooterFacts(footers, keys)
    return Source(
        path=path,
        types={**types, **{name: kind for name, (kind, _) in keys.items()}},
        partitions=_partitions(footers, types, keys, apart),
        n_rows=sum(sum(footer.group_rows) for footer in footers),
        column_bytes=_Sizes(of_columns, 0),
        null_counts=_Sizes(of_columns, 1),
        files=tuple(footer.file for footer in footers),
    )


def _read_footer(file: str, root: str, access: Access, n_places: int) -> Footer:
    stamp = stamp_of(file, access)
    try:
        with opened(file, access) as handle:
            tail = read_tail(handle)
            chunks = tail.chunks()
            sample = sampled(handle, tail, chunks, n_places)
        summed = tuple(map(sum_of, zip(*chunks, strict=True)))
        with parsed(tail) as parquet:
            metadata, schema = parquet.metadata, parquet.schema_arrow
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(file, access, error) from error
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    if any(group.num_columns != metadata.num_columns for group in groups):
        other = ValueError("its row groups have other columns than its schema")
        raise _unreadable(file, access, other)
    return Footer(
        file=KnownFile(file, access, stamp, footer_digest(metadata), sample),
        schema=schema,
        leaves=tuple(metadata.schema.column(i).path for i in range(metadata.num_columns)),
        group_rows=tuple(group.num_rows for group in groups),
        group_bytes=tuple(group.total_byte_size for group in groups),
        keys=hive_keys(file, root),
        summed=summed,
        stored=b"" if chunks else tail.footer,
    )


def _unreadable(file: str, access: Access, error: Exception) -> DataError:
    return DataError(
        f"{file}: expected a Parquet file, but it cannot be read ({told(error, file)}); "
        f"{_advice(file, access)}"
    )


def _advice(file: str, access: Access) -> str:
    """Say what to do about a file that is not Parquet, by what it seems to be."""
    try:
        with opened(file, access) as handle:
            beginning = bytes(handle.read_at(1 << 10, 0))
    except (pa.ArrowException, OSError):
        beginning = b""
    aside = (
        "move it elsewhere: everything in a folder of data is read, except names that begin with _ "
        "or a dot"
    )
    sign = sign_of(beginning)
    if sign is not None and not beginning.startswith(b"PAR1"):
        return f"it seems to be {sign.what}: {sign.advice}, or {aside}"
    if file.lower().endswith((".csv", ".tsv", ".txt")):
        return "keep files of one kind in a folder, or name them by a glob"
    if seems_text(beginning):
        return f"it seems to be a text: let the name of a CSV end in .csv, or {aside}"
    return f"write it again, or {aside}"


def _sizes(
    footers: Sequence[Footer], keys: dict[str, tuple[pa.DataType, list[Any]]]
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the bytes of each column, and the nulls of each key and each column whose chunks all
    say how many.
    """
    column_bytes: dict[str, int] = {}
    null_counts = dict.fromkeys(footers[0].schema.names, 0)
    for footer in footers:
        for name, chunk in footer.chunks():
            column_bytes[name] = column_bytes.get(name, 0) + chunk.compressed_bytes
            if chunk.nulls is None:
                null_counts.pop(name, None)
            elif name in null_counts:
                null_counts[name] += chunk.nulls
    of_keys = {
        name: sum(
            sum(footer.group_rows)
            for footer, value in zip(footers, values, strict=True)
            if value is None
        )
        for name, (_, values) in keys.items()
    }
    return column_bytes, {**null_counts, **of_keys}


def _common_types(footers: Sequence[Footer]) -> dict[str, pa.DataType]:
    """Return the columns that all files share, of the type that the first file says that has a
    value in them.

    Files that disagree are an error. A column of the type null, which pandas writes where all
    values are missing, agrees with any type.
    """
    first = footers[0]
    for footer in footers:
        twice = [name for name, count in Counter(footer.schema.names).items() if count > 1]
        if twice:
            raise DataError(
                f"{footer.path}: column names must differ, but {twice[0]!r} occurs twice; "
                "rename one of them"
            )
    told_by = dict.fromkeys(first.schema.names, first)
    types = {field.name: field.type for field in first.schema}
    for footer in footers[1:]:
        if footer.schema.equals(first.schema):
            continue
        theirs = set(footer.schema.names)
        missing = [n for n in first.schema.names if n not in theirs]
        extra = [n for n in footer.schema.names if n not in types]
        if missing or extra:
            name, has, lacks = (missing[0], first, footer) if missing else (extra[0], footer, first)
            raise DataError(
                f"{lacks.path}: expected the same columns in all files, but {name!r} of "
                f"{has.path} is not in it; "
                "write the files with one schema"
            )
        for name, known in types.items():
            its = footer.schema.field(name).type
            if pa.types.is_null(known):
                types[name], told_by[name] = its, footer
            elif not pa.types.is_null(its) and _read_as(known) != _read_as(its):
                raise DataError(
                    f"{footer.path}: expected column {name!r} to have the type {known} as "
                    f"in {told_by[name].path}, "
                    f"got {its}; write the files with one schema"
                )
    return types


def _read_as(kind: pa.DataType) -> pa.DataType:
    """Types that are read alike may stand beside each other: a dictionary of strings,
    and strings.
    """
    if pa.types.is_dictionary(kind):
        return _read_as(kind.value_type)
    return pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind


def _empty_columns(footer: Footer, types: dict[str, pa.DataType]) -> dict[str, pa.Scalar]:
    """Return a null of the right type for each column of the type null that has another type in
    other files.
    """
    return {
        field.name: pa.scalar(None, _read_as(types[field.name]))
        for field in footer.schema
        if pa.types.is_null(field.type) and not pa.types.is_null(types[field.name])
    }


def _partitions(
    footers: Sequence[Footer],
    types: dict[str, pa.DataType],
    keys: dict[str, tuple[pa.DataType, list[Any]]],
    apart: int | None = None,
) -> tuple[ParquetPartition, ...]:
    """Return partitions of files; none has rows of files before the given one and of others."""
    partitions: list[ParquetPartition] = []
    pieces: list[FileRows] = []
    rows = size = 0
    for number, footer in enumerate(footers):
        if number == apart and pieces:
            partitions.append(ParquetPartition(len(partitions), tuple(pieces)))
            pieces, rows, size = [], 0, 0
        of_keys = {key: pa.scalar(values[number], kind) for key, (kind, values) in keys.items()}
        constants = tuple((of_keys | _empty_columns(footer, types)).items())
        for group, (group_rows, group_bytes) in enumerate(
            zip(footer.group_rows, footer.group_bytes, strict=True)
        ):
            if not group_rows:
                continue
            if pieces and pieces[-1].file is footer.file:
                pieces[-1] = pieces[-1].with_group(group, group_rows)
            else:
                pieces.append(FileRows(footer.file, (group,), group_rows, constants))
            rows, size = rows + group_rows, size + group_bytes
            if rows >= _PARTITION_ROWS or size >= _PARTITION_BYTES:
                partitions.append(ParquetPartition(len(partitions), tuple(pieces)))
                pieces, rows, size = [], 0, 0
    if pieces:
        partitions.append(ParquetPartition(len(partitions), tuple(pieces)))
    return tuple(partitions)
