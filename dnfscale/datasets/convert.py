"""Files that are not Parquet become Parquet once: CSV, lines of JSON and Arrow files, of any size.

A folder beside the runs, or in the cache, keeps what was converted, with a record of the files it
was made of; it is used again while they are as they were. Each block of a file is a task and a
file of its own, so that an interrupted conversion goes on. All blocks must agree on the kind of
each column: those that were written before one of them asked for a wider kind are written again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from dnfscale.data.blocks import (
    BLOCK_BYTES,
    Block,
    OpenQuoteError,
    Text,
    arrow_file,
    arrow_stream,
    csv_table,
    exact_cuts,
    is_arrow_stream,
    json_table,
    merged_kinds,
    merged_types,
    range_block,
    stream_blocks,
    told_with,
    types_in,
)
from dnfscale.data.csv import (
    Format,
    Look,
    as_read,
    check_is_lines,
    header_length,
    header_line,
    of_file,
    recognized,
)
from dnfscale.data.identity import contents_of, opened, stamp_of
from dnfscale.data.listing import hive_keys, list_files, typed_keys
from dnfscale.data.source import Source, open_source
from dnfscale.data.storage import located, told
from dnfscale.datasets.turns import in_turn
from dnfscale.engine.api import Engine
from dnfscale.engine.limits import cores
from dnfscale.errors import DataError, DnfscaleError, LimitError, SpecError, visible
from dnfscale.spec.csv import AS_RECOGNIZED, CsvOptions
from dnfscale.spec.storage import DEFAULT_ACCESS, Access, is_named, is_remote, joined

GROUP_ROWS = 1 << 17
"""A row group of a converted file has at most so many rows."""
_LOOK_BYTES, _PLACE_BYTES, _PLACES = 1 << 20, 1 << 16, 8
_LOOK_LINES, _LONGEST_LOOK_BYTES = 4, 1 << 26
"""Rows may be so long that there are not even some of them in the bytes that are looked at."""
_ENDINGS: Mapping[str, str] = {
    **dict.fromkeys(("csv", "tsv", "tab", "psv", "txt", "data", "dat"), "csv"),
    **dict.fromkeys(("jsonl", "ndjson", "json"), "json"),
    **dict.fromkeys(("arrow", "feather", "ipc", "arrows"), "arrow"),
}
_CODECS = {"gz": "gzip", "zst": "zstd", "bz2": "bz2"}
_FIRST_PART = "part-00000-000000000000000.parquet"
_BEGUN, _WHOLE = "_begun.json", "_whole.json"
_VERSION = 3
"""Of what a conversion makes of the same files: another version does not use what this one made."""


Identity = dict[str, Any]
"""What is known of each file, by name."""


def _tell(line: str) -> None:
    print(f"dnfscale: {visible(line)}", file=sys.stderr)


def _unwatched(rows: int) -> None:
    """Watch nothing."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """What is asked of a conversion, besides the files."""

    csv: CsvOptions = AS_RECOGNIZED
    version: int | None = None
    """Of a table of a lake; its current one where it is not said."""
    places: tuple[str, ...] = ()
    """Folders that keep what is converted: all are looked in, the first is written to. Without any
    it is the cache.
    """
    access: Access = DEFAULT_ACCESS
    """How the folders are reached."""
    tell: Callable[[str], None] = _tell
    progress: Callable[[int], None] = _unwatched
    """Called with the rows that are written."""
    launch: Callable[[], Engine] | None = None
    """Starts or joins the workers that convert; without it, threads of this process do."""
    block_bytes: int = BLOCK_BYTES


AS_USUAL = Conversion()


@dataclass(frozen=True, slots=True)
class Converted:
    """What files were turned into."""

    folder: str
    rows: int
    files: int
    types: dict[str, pa.DataType]
    missing: dict[str, int]
    """Missing values of each column that has some."""
    recognized: str


def file_kind(path: str) -> tuple[str | None, str | None]:
    """Return what a file is by its name, csv, json or arrow, and how it is compressed."""
    stem, _, ending = path.rpartition("/")[2].lower().rpartition(".")
    codec = _CODECS.get(ending)
    if codec is not None:
        ending = stem.rpartition(".")[2]
    return _ENDINGS.get(ending), codec


def to_convert(path: str, access: Access) -> list[str]:
    """Return the files that a path means if they are of a kind to convert, else none."""
    if is_remote(path) and file_kind(path)[0] is None:
        return []
    if not is_remote(path) and os.path.isfile(path) and file_kind(path)[0] is None:
        return []
    files = list_files(path, access)
    kinds = {file_kind(file)[0] for file in files}
    if None in kinds or _begins_with(files[0], access, b"PAR1"):
        return []
    if len(kinds) > 1:
        raise DataError(
            f"{path}: expected files of one kind, got {' and '.join(sorted(map(str, kinds)))}; "
            "name those of one kind by a glob"
        )
    return files


def _begins_with(file: str, access: Access, sign: bytes) -> bool:
    with told_with(file), opened(file, access) as handle:
        return bool(handle.read_at(len(sign), 0) == sign)


def converted(path: str, files: Sequence[str], access: Access, asked: Conversion) -> str:
    """Return a folder with the rows of some files as Parquet; it is made unless it is there."""
    now = _identity(files, access)

    def make(folder: str) -> str:
        found = convert_files(files, access, folder, asked, root=path)
        if not _is_same(now, _identity(files, access)):
            raise DataError(
                f"{path}: expected files that do not change while they are read, but one did; "
                "run again"
            )
        return f"{found.recognized}; {found.rows:,} rows"

    return kept_once(path, folder_name(path, access, asked.csv), now, make, asked)


def kept_once(
    path: str, name: str, now: Identity, make: Callable[[str], str], asked: Conversion
) -> str:
    """Return the folder that keeps what is made of something of this identity; it is made unless
    it is there.
    """
    places = asked.places or (str(tables_folder()),)
    store, *others = (Store(joined(place, name), asked.access) for place in places)
    if _is_same(store.read(_WHOLE), now):
        return store.folder
    try:
        with in_turn(store.folder, lambda: asked.progress(0), asked.tell):
            said = _made(store, others, now, make)
    except OSError as error:
        raise _unwritable(store.folder, error) from error
    if said is not None:
        asked.tell(f"{path}: {said}, kept as Parquet in {store.folder}")
    return store.folder


def _made(
    store: Store, others: Sequence[Store], now: Identity, make: Callable[[str], str]
) -> str | None:
    """Fill a folder; return what was recognized, or None if that was made elsewhere."""
    if _is_same(store.read(_WHOLE), now):
        # By the process that was waited for.
        return None
    for other in others:
        if _is_same(other.read(_WHOLE), now):
            store.taken_from(other)
            return None
    if not _is_same(store.read(_BEGUN), now):
        store.clear()
        store.write(_BEGUN, json.dumps(now).encode())
    try:
        said = make(store.folder)
    except DataError:
        # Files that must change: nothing that was made of them will be used.
        store.discard()
        raise
    store.write(_WHOLE, json.dumps(now).encode())
    return said


def is_kept(name: str, now: Identity, asked: Conversion) -> bool:
    """Say whether what is made of something of this identity is there already."""
    places = asked.places or (str(tables_folder()),)
    stores = (Store(joined(place, name), asked.access) for place in places)
    return any(_is_same(store.read(_WHOLE), now) for store in stores)


def open_kept(path: str, folder: str, asked: Conversion) -> Source:
    """Open the folder that keeps what a path holds; people see the path."""
    return replace(open_source(folder, asked.access), path=path, folder=folder)


def tables_folder() -> Path:
    """Return the folder in the cache that keeps what was converted."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~")) / ".cache"
    return root / "dnfscale" / "tables"


def folder_name(path: str, access: Access, options: Any) -> str:
    """Return a name for what is made of a path with some options."""
    place = path if is_remote(path) or is_named(path) else os.path.realpath(path)
    said = repr((_VERSION, place, access.endpoint if is_remote(path) else None, options))
    stem = path.rstrip("/").rpartition("/")[2].partition(".")[0]
    plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in stem).strip("-")[:40]
    return f"{plain or 'table'}-{hashlib.blake2b(said.encode(), digest_size=8).hexdigest()}"


def _identity(files: Sequence[str], access: Access) -> Identity:
    with ThreadPoolExecutor(max_workers=8) as pool:
        stamps = pool.map(lambda file: stamp_of(file, access), files)
        return {
            file: {**asdict(stamp), "contents": contents_of(file, access)}
            for file, stamp in zip(files, stamps, strict=True)
        }


def _is_same(earlier: Identity | bytes | None, now: Identity) -> bool:
    """Say whether files are those of an earlier conversion: written at the same time, and either
    in the same place or with the same contents.
    """
    if isinstance(earlier, bytes):
        try:
            earlier = json.loads(earlier)
        except ValueError:
            return False
    if not isinstance(earlier, dict) or list(earlier) != list(now):
        return False
    return all(
        {**known, "place": ""} == {**now[file], "place": ""} for file, known in earlier.items()
    )


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of converted files, on this machine or in an object store."""

    folder: str
    access: Access

    def read(self, name: str) -> bytes | None:
        filesystem, inner = located(joined(self.folder, name), self.access)
        try:
            with filesystem.open_input_file(inner) as handle:
                return bytes(handle.read())
        except (OSError, pa.ArrowException):
            return None

    def write(self, name: str, content: Any) -> None:
        """Write a file whole or not at all."""
        try:
            if is_remote(self.folder):
                filesystem, inner = located(joined(self.folder, name), self.access)
                with filesystem.open_output_stream(inner) as stream:
                    stream.write(content)
                return
            os.makedirs(self.folder, exist_ok=True)
            # Not by tempfile, whose files are for their owner alone: they follow the umask.
            draft = os.path.join(self.folder, f".draft-{secrets.token_hex(8)}")
            try:
                with open(draft, "xb") as file:
                    file.write(content)
                os.replace(draft, os.path.join(self.folder, name))
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(draft)
                raise
        except (OSError, pa.ArrowException) as error:
            raise _unwritable(self.folder, error) from error

    def footer(self, name: str) -> Any:
        """Return the footer of a part, if it is there and whole."""
        filesystem, inner = located(joined(self.folder, name), self.access)
        try:
            with filesystem.open_input_file(inner) as handle:
                return pq.ParquetFile(handle).metadata
        except (OSError, pa.ArrowException):
            return None

    def handle(self, name: str) -> Any:
        """Open a file for reading anywhere in it; the caller closes it."""
        filesystem, inner = located(joined(self.folder, name), self.access)
        return filesystem.open_input_file(inner)

    def has(self, name: str) -> bool:
        """Say whether a file is there; files are written whole."""
        filesystem, inner = located(joined(self.folder, name), self.access)
        found: bool = filesystem.get_file_info(inner).is_file
        return found

    def parts(self) -> list[str]:
        filesystem, inner = located(self.folder, self.access)
        selector = pafs.FileSelector(inner, allow_not_found=True)
        entries = filesystem.get_file_info(selector)
        return sorted(entry.base_name for entry in entries)

    def remove(self, names: Iterable[str]) -> None:
        filesystem, inner = located(self.folder, self.access)
        for name in names:
            filesystem.delete_file(f"{inner}/{name}")

    def taken_from(self, other: Store) -> None:
        """Take what another folder keeps."""
        self.clear()
        names = other.parts()
        for name in sorted(names, key=lambda name: name == _WHOLE):
            content = other.read(name)
            if content is not None:
                self.write(name, content)

    def clear(self) -> None:
        # What says that the folder is whole goes first.
        self.remove(sorted(self.parts(), key=lambda name: name != _WHOLE))

    def discard(self) -> None:
        """Remove what is kept, with its folder."""
        self.clear()
        if not is_remote(self.folder):
            with contextlib.suppress(OSError):
                os.rmdir(self.folder)


def _unwritable(folder: str, error: Exception) -> DnfscaleError:
    why = told(error, folder)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return LimitError(f"{folder} cannot be written: {why}; free some room, and run again")
    return DataError(
        f"{folder} cannot be written: {why}; choose another folder by output.dir, --tables, or "
        "XDG_CACHE_HOME"
    )


def as_parquet(table: pa.Table) -> Any:
    """Return rows as a file of Parquet."""
    sink = pa.BufferOutputStream()
    with parquet_writer(sink, table.schema) as writer:
        writer.write_table(table, row_group_size=GROUP_ROWS)
    return sink.getvalue()


def parquet_writer(sink: Any, schema: pa.Schema) -> pq.ParquetWriter:
    """Return what writes rows as they are kept."""
    # A dictionary of numbers takes three times the time and, where they differ, more room.
    texts = [column.name for column in schema if not pa.types.is_primitive(column.type)]
    return pq.ParquetWriter(sink, schema, compression="zstd", use_dictionary=texts)


class _Reader(Protocol):
    """How the blocks of some kind of text become tables; `types` is what is known of columns."""

    def parse(self, block: Block, types: Any) -> tuple[pa.Table, Any]:
        """Return the rows of a block, and the types that they needed."""
        ...

    def merged(self, known: Any, found: Any, path: str) -> Any:
        """Return types that hold the values of both."""
        ...

    def written(self, types: Any) -> bytes: ...

    def read(self, text: bytes) -> Any: ...


@dataclass(frozen=True, slots=True)
class _Csv:
    threads: bool = False

    def parse(self, block: Block, types: Any) -> tuple[pa.Table, Any]:
        return csv_table(block, types, threads=self.threads)

    def merged(self, known: Any, found: Any, path: str) -> Any:  # noqa: ARG002
        return merged_kinds(known, found)

    def written(self, types: Any) -> bytes:
        return json.dumps(types).encode()

    def read(self, text: bytes) -> Any:
        return json.loads(text)


@dataclass(frozen=True, slots=True)
class _Json:
    def parse(self, block: Block, types: Any) -> tuple[pa.Table, Any]:
        table = json_table(block, types)
        return table, types_in(table)

    def merged(self, known: Any, found: Any, path: str) -> Any:
        return merged_types(known, found, path)

    def written(self, types: Any) -> bytes:
        return bytes(pa.schema(list(types.items())).serialize())

    def read(self, text: bytes) -> Any:
        schema = pa.ipc.read_schema(pa.py_buffer(text))
        return {column.name: column.type for column in schema}


@dataclass(frozen=True, slots=True)
class _Piece:
    """What one task converts: lines that begin in a range of bytes, or a whole file."""

    number: int
    """Of the file."""
    begin: int
    end: int
    exact: bool = False
    is_stream: bool = False
    """Whether an Arrow file can only be read from its beginning."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a task made of a piece."""

    types: Any
    """What all of its parts together need."""
    parts: tuple[str, ...] = ()
    rows: int = 0
    is_uniform: bool = True
    """Whether all parts have these types."""
    is_open: bool = False
    """Whether the piece may begin or end in quotes."""


@dataclass(frozen=True, slots=True)
class ConvertText:
    """The task: write the parts of a piece of text."""

    texts: tuple[Text, ...]
    reader: _Reader
    types: Any
    store: Store
    block_bytes: int
    keys: Keys

    def __call__(self, piece: _Piece) -> _Outcome:
        text = self.texts[piece.number]
        outcome = _Outcome(self.types)
        if text.is_stream:
            for block in stream_blocks(text, self.block_bytes):
                outcome = self._with(outcome, block, piece)
            return outcome
        block = range_block(text, piece.begin, piece.end, exact=piece.exact)
        try:
            return self._with(outcome, block, piece)
        except DataError:
            if (
                not text.has_quotes
                or piece.exact
                or (block.begin == text.begin and b'"' not in block.content)
            ):
                raise
        except OpenQuoteError as error:
            if piece.exact:
                raise error.told() from error
        return replace(outcome, is_open=True)

    def _with(self, outcome: _Outcome, block: Block, piece: _Piece) -> _Outcome:
        """Write the part of a block; it is left as it is if an earlier conversion wrote it."""
        name = f"part-{piece.number:05d}-{block.begin:015d}.parquet"
        described = self._described(name, block)
        if described is None:
            try:
                table, types = self.reader.parse(block, outcome.types)
            except OpenQuoteError as error:
                if block.text.is_stream:
                    raise error.told() from error
                raise
            rows = table.num_rows
            if rows:
                self._write(name, table, block, types)
        else:
            rows, types = described
        merged = self.reader.merged(outcome.types, types, block.text.path)
        same = not outcome.parts or merged == outcome.types
        return _Outcome(
            merged,
            (*outcome.parts, name) if rows else outcome.parts,
            outcome.rows + rows,
            is_uniform=outcome.is_uniform and same and types == merged,
        )

    def _described(self, name: str, block: Block) -> tuple[int, Any] | None:
        """Return the rows and types of a part that is there, unless its types are not enough."""
        footer = self.store.footer(name)
        known = (footer.metadata or {}).get(b"dnfscale") if footer is not None else None
        if known is None or not known.startswith(b"%d " % block.end):
            return None
        types = self.reader.read(known.partition(b" ")[2])
        enough = self.reader.merged(self.types, types, block.text.path) == types
        return (footer.num_rows, types) if enough else None

    def _write(self, name: str, table: pa.Table, block: Block, types: Any) -> None:
        table = _with_keys(table, self.keys, block.text.path)
        told_of = b"%d %s" % (block.end, self.reader.written(types))
        self.store.write(name, as_parquet(table.replace_schema_metadata({b"dnfscale": told_of})))


Keys = Mapping[str, tuple[tuple[str, pa.Scalar], ...]]
"""What the folders `key=value` of each file's path say of all of its rows."""


def _keys_of(files: Sequence[str], root: str) -> Keys:
    root = root if is_remote(root) else os.path.abspath(root)
    typed = typed_keys([(file, hive_keys(file, root), ()) for file in files])
    return {
        file: tuple((key, pa.scalar(values[i], kind)) for key, (kind, values) in typed.items())
        for i, file in enumerate(files)
    }


def _with_keys(table: pa.Table, keys: Keys, path: str) -> pa.Table:
    """Return rows with the columns that the path of their file says, last."""
    typed_keys([(path, dict.fromkeys(key for key, _ in keys[path]), table.column_names)])
    for key, value in keys[path]:
        table = table.append_column(key, pa.repeat(value, table.num_rows))
    return table


@dataclass(frozen=True, slots=True)
class ConvertBatches:
    """The task: write a record batch of an Arrow file, or all of a stream."""

    files: tuple[str, ...]
    access: Access
    store: Store
    keys: Keys

    def __call__(self, piece: _Piece) -> _Outcome:
        path = self.files[piece.number]
        if not piece.is_stream:
            with arrow_file(path, self.access) as file:
                return self._written(path, piece, piece.begin, file.get_batch(piece.begin))
        outcome = _Outcome(None)
        with arrow_stream(path, self.access) as stream:
            for number, batch in enumerate(stream):
                part = self._written(path, piece, number, batch)
                outcome = _Outcome(None, outcome.parts + part.parts, outcome.rows + part.rows)
        return outcome

    def _written(self, path: str, piece: _Piece, number: int, batch: pa.RecordBatch) -> _Outcome:
        name = f"part-{piece.number:05d}-{number:015d}.parquet"
        table = _with_keys(pa.Table.from_batches([batch]), self.keys, path)
        try:
            content = as_parquet(table)
        except pa.ArrowException as error:
            raise DataError(
                f"{path}: expected columns that Parquet can hold, but {told(error, path)}; "
                "leave out that column"
            ) from error
        self.store.write(name, content)
        return _Outcome(None, (name,), table.num_rows)


def convert_files(
    files: Sequence[str], access: Access, folder: str, asked: Conversion, *, root: str
) -> Converted:
    """Write the rows of files of one kind as Parquet; parts that are in the folder are used.

    The root is the path that means the files: folders `key=value` below it are columns.
    """
    kind, _ = file_kind(files[0])
    keys = _keys_of(files, root)
    store = Store(folder, asked.access)
    with mapping("convert", asked) as mapped:
        if kind == "arrow":
            outcomes, said = _convert_arrow(files, access, store, mapped, keys)
        else:
            texts, types, said = _opened_texts(files, access, asked, kind == "csv")
            outcomes = _convert_texts(texts, types, store, asked, mapped, keys)
    parts = [part for outcome in outcomes for part in outcome.parts]
    wanted = {*parts, _BEGUN, _WHOLE}
    store.remove(name for name in store.parts() if name not in wanted)
    return _described(store, parts, said, elsewhere=asked.launch is not None)


def _described(store: Store, parts: Sequence[str], said: str, *, elsewhere: bool) -> Converted:
    rows, missing = 0, dict[str, int]()
    types: dict[str, pa.DataType] = {}
    for part in parts:
        footer = store.footer(part)
        if footer is None:
            why = (
                "the workers wrote it, but it is not here; let output.dir, or --tables, be a "
                "folder that they share with this machine, or a URL"
                if elsewhere
                else "it is gone; run again"
            )
            raise DataError(f"{store.folder}: expected {part}, but {why}")
        types = types or {column.name: column.type for column in footer.schema.to_arrow_schema()}
        rows += footer.num_rows
        for i in range(footer.num_row_groups):
            group = footer.row_group(i)
            for j in range(group.num_columns):
                chunk = group.column(j)
                nulls = chunk.statistics.null_count if chunk.statistics else 0
                if nulls:
                    missing[chunk.path_in_schema] = missing.get(chunk.path_in_schema, 0) + nulls
    missing |= {name: rows for name, kind in types.items() if pa.types.is_null(kind) and rows}
    return Converted(store.folder, rows, len(parts), types, missing, said)


def _convert_arrow(
    files: Sequence[str], access: Access, store: Store, mapped: Mapped, keys: Keys
) -> tuple[list[_Outcome], str]:
    pieces = []
    for number, path in enumerate(files):
        if is_arrow_stream(path, access):
            pieces.append(_Piece(number, 0, 0, is_stream=True))
            with arrow_stream(path, access) as stream:
                schema = stream.schema
            continue
        with arrow_file(path, access) as file:
            pieces += [_Piece(number, i, i) for i in range(file.num_record_batches)]
            schema = file.schema
    task = ConvertBatches(tuple(files), access, store, keys)
    outcomes = mapped(pieces, task) if pieces else []
    if not any(outcome.parts for outcome in outcomes):
        store.write(_FIRST_PART, as_parquet(_with_keys(schema.empty_table(), keys, files[-1])))
        return [_Outcome(None, (_FIRST_PART,))], "Arrow, no rows"
    return outcomes, f"Arrow, {len(schema):,} columns"


def _convert_texts(
    texts: Sequence[Text],
    types: Any,
    store: Store,
    asked: Conversion,
    mapped: Mapped,
    keys: Keys,
) -> list[_Outcome]:
    is_csv = texts[0].layout is not None
    pieces = [piece for number, text in enumerate(texts) for piece in _pieces(number, text, asked)]
    alone = len(pieces) == 1 and not texts[0].is_stream
    reader: _Reader = _Csv(threads=alone) if is_csv else _Json()
    outcomes: dict[_Piece, _Outcome] = {}
    waiting = pieces
    while waiting:
        task = ConvertText(tuple(texts), reader, types, store, asked.block_bytes, keys)
        outcomes |= dict(zip(waiting, mapped(waiting, task), strict=True))
        opened_in = {piece.number for piece in waiting if outcomes[piece].is_open}
        if opened_in:
            pieces, outcomes = _cut_anew(pieces, outcomes, texts, opened_in, asked.block_bytes)
            waiting = [piece for piece in pieces if piece not in outcomes]
            continue
        for piece in pieces:
            types = reader.merged(types, outcomes[piece].types, texts[piece.number].path)
        waiting = [
            piece
            for piece in pieces
            if outcomes[piece].types != types or not outcomes[piece].is_uniform
        ]
    found = [outcomes[piece] for piece in pieces]
    if any(outcome.parts for outcome in found):
        return found
    nothing = reader.parse(Block(texts[0], 0, 0, b"", 0), types)[0]
    store.write(_FIRST_PART, as_parquet(_with_keys(nothing, keys, texts[0].path)))
    return [_Outcome(types, (_FIRST_PART,))]


def _pieces(number: int, text: Text, asked: Conversion) -> list[_Piece]:
    if text.is_stream:
        return [_Piece(number, 0, text.size)]
    step = asked.block_bytes
    cuts = [*range(text.begin, text.size, step), text.size] if text.begin < text.size else []
    return [_Piece(number, a, b) for a, b in itertools.pairwise(cuts)]


def _cut_anew(
    pieces: Sequence[_Piece],
    outcomes: Mapping[_Piece, _Outcome],
    texts: Sequence[Text],
    numbers: set[int],
    block_bytes: int,
) -> tuple[list[_Piece], dict[_Piece, _Outcome]]:
    """Cut some files where quotes pair; nothing that was made of them holds."""
    kept = {piece: outcome for piece, outcome in outcomes.items() if piece.number not in numbers}
    again = []
    for number in numbers:
        cuts = exact_cuts(texts[number], block_bytes)
        again += [_Piece(number, a, b, exact=True) for a, b in itertools.pairwise(cuts)]
    others = [piece for piece in pieces if piece.number not in numbers]
    return sorted([*others, *again], key=lambda piece: (piece.number, piece.begin)), kept


def _opened_texts(
    files: Sequence[str], access: Access, asked: Conversion, is_csv: bool
) -> tuple[list[Text], Any, str]:
    """Return the files with what is known of them before they are read."""
    looks = [_look(file, access, asked, whole=number == 0) for number, file in enumerate(files)]
    if not is_csv:
        sample = looks[0]
        check_is_lines(sample)
        text = Text(files[0], access, None, None, (), 0, len(sample.beginning))
        end = len(sample.beginning) if sample.is_all else sample.beginning.rfind(b"\n") + 1
        first = Block(text, 0, end, sample.beginning[:end], 0)
        types = types_in(json_table(first, {}))
        texts = [
            Text(file, access, file_kind(file)[1], None, (), 0, stamp_of(file, access).n_bytes)
            for file in files
        ]
        return texts, types, f"lines of JSON, {len(types):,} columns"
    layout = recognized(_with_places_of(looks), asked.csv)
    if layout.header and asked.csv.names:
        layout = replace(layout, renamed=True)
    texts = [
        _csv_text(file, access, look, *of_file(look, layout, asked.csv), layout.names)
        for file, look in zip(files, looks, strict=True)
    ]
    return texts, dict(layout.kinds), layout.described(asked.csv)


def _with_places_of(looks: Sequence[Look]) -> Look:
    """Return the look at the first file, with the beginnings of some others of its header."""
    first, *others = looks
    head = first.beginning.partition(b"\n")[0]
    some = others[:: max(1, -(-len(others) // _PLACES))]
    alike = (look.beginning for look in some if look.beginning.partition(b"\n")[0] == head)
    return replace(first, places=(*first.places, *(text[:_PLACE_BYTES] for text in alike)))


def _csv_text(
    file: str,
    access: Access,
    look: Look,
    layout: Format,
    names: tuple[str, ...],
    expected: tuple[str, ...],
) -> Text:
    if set(names) != set(expected):
        odd = sorted(set(names) ^ set(expected))[0]
        raise DataError(
            f"{file}: expected the columns of the other files, but {odd!r} is only in some; "
            "write the files with one header"
        )
    beginning = as_read(look.beginning, layout)
    begin = header_length(beginning, layout)
    size = stamp_of(file, access).n_bytes
    header = header_line(beginning[:begin], layout)
    return Text(file, access, file_kind(file)[1], layout, names, begin, size, header)


def _look(file: str, access: Access, asked: Conversion, *, whole: bool) -> Look:
    """Read the beginning of a file and, of the first, some places in it; never all of it."""
    del asked
    codec = file_kind(file)[1]
    with told_with(file), opened(file, access) as handle:
        size = handle.size()
        if codec is not None:
            unpacked = pa.CompressedInputStream(handle, codec)
            return Look(file, *_beginning(unpacked))
        beginning, _ = _beginning(handle)
        is_all = len(beginning) == size
        step = (size - len(beginning)) // _PLACES
        places = range(len(beginning), size - _PLACE_BYTES, max(1, step)) if whole else ()
        return Look(
            file,
            beginning,
            is_all,
            tuple(bytes(handle.read_at(_PLACE_BYTES, at)) for at in places),
        )


def _beginning(handle: Any) -> tuple[bytes, bool]:
    """Return the beginning of a file, with some rows if it is wide, and whether that is all."""
    beginning, wanted = b"", _LOOK_BYTES
    while len(beginning) < wanted:
        more = bytes(handle.read(wanted - len(beginning)))
        if not more:
            return beginning, True
        beginning += more
        lines = max(beginning.count(b"\n"), beginning.count(b"\r"))
        if len(beginning) == wanted and lines < _LOOK_LINES and wanted < _LONGEST_LOOK_BYTES:
            wanted *= 4
    return beginning, False


class Written(Protocol):
    """What a task has written."""

    @property
    def rows(self) -> int: ...


P = TypeVar("P")
W = TypeVar("W", bound=Written)


class Mapped(Protocol):
    """Maps a task over pieces: on workers, or in threads of this process."""

    def __call__(self, pieces: Sequence[P], task: Callable[[P], W]) -> list[W]: ...


@contextlib.contextmanager
def mapping(phase: str, asked: Conversion) -> Iterator[Mapped]:
    """Yield what maps a task over pieces: workers, or threads of this process."""
    if asked.launch is not None:
        with closing(asked.launch()) as engine:
            yield _OnEngine(engine, phase)
        return
    with ThreadPoolExecutor(max_workers=cores()) as pool:
        try:
            yield _InThreads(pool, asked.progress)
        finally:
            pool.shutdown(cancel_futures=True)


@dataclass(frozen=True, slots=True)
class _OnEngine:
    engine: Engine
    phase: str

    def __call__(self, pieces: Sequence[P], task: Callable[[P], W]) -> list[W]:
        return self.engine.map(self.phase, pieces, task) if pieces else []


@dataclass(frozen=True, slots=True)
class _InThreads:
    pool: ThreadPoolExecutor
    progress: Callable[[int], None]

    def __call__(self, pieces: Sequence[P], task: Callable[[P], W]) -> list[W]:
        if len(pieces) == 1:
            outcomes = [task(pieces[0])]
            self.progress(outcomes[0].rows)
            return outcomes
        futures: list[Future[W]] = [self.pool.submit(task, piece) for piece in pieces]
        waiting, rows = set(futures), 0
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            if any(future.exception() for future in done):
                for future in waiting:
                    future.cancel()
                wait(waiting)
                # Of several faults the first in the file is told.
                return [future.result() for future in futures if not future.cancelled()]
            rows += sum(future.result().rows for future in done)
            self.progress(rows)
        return [future.result() for future in futures]


def convert_csv(
    csv_path: Path,
    directory: Path,
    options: CsvOptions = AS_RECOGNIZED,
    *,
    block_bytes: int = BLOCK_BYTES,
    progress: Callable[[int], None] = _unwatched,
) -> Converted:
    """Turn a CSV, lines of JSON or an Arrow file into a new or empty directory of Parquet files."""
    if not csv_path.is_file():
        raise DataError(f"{csv_path}: expected a CSV file, but there is none at this path")
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise SpecError(f"{directory} must be an empty or a new folder; choose another")
    made = not directory.exists()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=directory, prefix=".converting-"))
    except OSError as error:
        raise _unwritable(str(directory), error) from error
    asked = Conversion(csv=options, progress=progress, block_bytes=block_bytes)
    try:
        file = str(csv_path.resolve())
        found = convert_files([file], DEFAULT_ACCESS, str(draft), asked, root=file)
        for number, part in enumerate(sorted(draft.iterdir())):
            os.replace(part, directory / f"part-{number:05d}.parquet")
        made = False
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if made:
            directory.rmdir()
    return replace(found, folder=str(directory))
