"""Files that are not Parquet, read in blocks: what a piece of a file holds, as a table.

A text is cut at line ends. Where a cell has a line end in it, a cut may lie in quotes: a block
whose quotes do not pair is therefore parsed together with one row more, which must be found again.
If it is not, all blocks are cut anew where the quotes before pair.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.ipc as paipc
import pyarrow.json as pajson

from dnfscale.data.csv import Format
from dnfscale.data.identity import opened
from dnfscale.data.kinds import (
    is_spelled,
    read_as,
    stored_as,
    values_of,
    wider,
    widest,
)
from dnfscale.data.storage import told
from dnfscale.errors import DataError, first_line, visible
from dnfscale.spec.storage import Access

BLOCK_BYTES = 16 << 20
_PIECE_BYTES = 1 << 20
_STEP_BYTES = 1 << 16
_LONGEST_BYTES = 256 << 20
"""A row, or a cell in quotes, may be so long."""
_DEEPEST = 64
"""Values of JSON may be nested so deep: with 10,000 Arrow takes minutes, with 100,000 it ends the
process.
"""
Kinds = Mapping[str, str]
Types = Mapping[str, pa.DataType]


@dataclass(frozen=True, slots=True)
class Text:
    """A file of lines."""

    path: str
    access: Access
    codec: str | None
    layout: Format | None
    """How a CSV is written; None for JSON lines."""
    names: tuple[str, ...]
    """The columns of this very file, in order."""
    begin: int
    """Where its first row begins."""
    size: int
    header: bytes = b""
    """The line of its names as it stands there, in UTF-8; empty if it has none."""

    @property
    def line_end(self) -> bytes:
        return b"\n" if self.layout is None else self.layout.line_end

    @property
    def is_stream(self) -> bool:
        """Whether the file can only be read from its beginning."""
        return self.codec is not None or self.is_wide

    @property
    def is_wide(self) -> bool:
        """Whether signs have two bytes; such a text is read as UTF-8."""
        return self.layout is not None and self.layout.is_wide

    @property
    def has_quotes(self) -> bool:
        return self.layout is not None


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole lines of a text."""

    text: Text
    begin: int
    """Where it begins in the file, or in what the file unpacks to."""
    end: int
    content: bytes
    lines_before: int | None = None
    """How many lines stand before it, if that is known."""

    def line(self, row: int) -> str:
        """Say on which line of the file a row of the block stands."""
        before = self.lines_before
        if before is None:
            before = _lines_before(self.text, self.begin)
        return f"line {before + row:,}: "


class OpenQuoteError(Exception):
    """A block ends within quotes, which open in its last row."""

    def __init__(self, block: Block, row: int) -> None:
        super().__init__(block, row)
        self.block, self.row = block, row

    def told(self) -> DataError:
        """Return the error if no later line closes the quotes."""
        return DataError(
            f"{self.block.text.path}: {self.block.line(self.row)}expected a quote to be closed, "
            "but this one never is; correct the file"
        )


@contextmanager
def told_with(path: str) -> Iterator[None]:
    """Turn a failure to read a file into one of ours."""
    try:
        yield
    except (pa.ArrowException, OSError, EOFError) as error:
        raise DataError(
            f"{path}: expected to read the file, but that failed ({told(error, path)}); "
            "write it again"
        ) from error


def range_block(text: Text, begin: int, end: int, *, exact: bool) -> Block:
    """Read the lines that begin in a range of bytes; an exact range is cut at line ends already."""
    with told_with(text.path), opened(text.path, text.access) as handle:
        cut = exact or begin == text.begin
        start = begin if cut else _next_line(handle, text, begin - 1)
        stop = end if exact or end >= text.size else _next_line(handle, text, end - 1)
        content = handle.read_at(stop - start, start) if stop > start else b""
    return Block(text, start, max(start, stop), content)


def _next_line(handle: Any, text: Text, at: int) -> int:
    """Return where the first line begins after a byte."""
    first = at
    while at < text.size:
        piece = handle.read_at(_STEP_BYTES, at)
        found = piece.find(text.line_end)
        if found >= 0:
            return at + int(found) + 1
        at += len(piece)
        if not piece or at - first > _LONGEST_BYTES:
            break
    if at < text.size:
        raise _line_error(text)
    return text.size


def _line_error(text: Text) -> DataError:
    return DataError(
        f"{text.path}: expected lines of less than {_LONGEST_BYTES >> 20} MiB, got a longer "
        "one; is the file a table of lines?"
    )


def exact_cuts(text: Text, block_bytes: int) -> list[int]:
    """Return where blocks begin, and the end of the last: at line ends before which quotes pair."""
    cuts = [text.begin]
    inside = 0
    with told_with(text.path), opened(text.path, text.access) as handle:
        at, aim = text.begin, text.begin + block_bytes
        while at < text.size:
            piece = handle.read_at(1 << 20, at)
            signs = np.frombuffer(piece, dtype=np.uint8)
            depth = np.cumsum(signs == ord('"')) + inside
            if at + len(piece) > aim:
                ends = np.flatnonzero((signs == text.line_end[0]) & (depth % 2 == 0))
                ends = ends[ends + at + 1 >= aim]
                if len(ends):
                    cuts.append(at + int(ends[0]) + 1)
                    aim = cuts[-1] + block_bytes
                elif at - aim > _LONGEST_BYTES:
                    raise OpenQuoteError(Block(text, cuts[-1], at, b""), 1).told()
            inside = int(depth[-1]) % 2
            at += len(piece)
    return [*cuts, text.size] if cuts[-1] < text.size else cuts


def stream_blocks(text: Text, block_bytes: int) -> Iterator[Block]:
    """Read a text from its beginning, cut where quotes pair."""
    with told_with(text.path), opened(text.path, text.access) as handle:
        unpacked = handle if text.codec is None else pa.CompressedInputStream(handle, text.codec)
        reader = (
            _recoded(unpacked, text)
            if text.is_wide
            else iter(lambda: unpacked.read(block_bytes), b"")
        )
        at, lines, kept, skip = 0, 0, b"", text.begin
        for piece in reader:
            content = kept + bytes(piece)
            if skip:
                if len(content) < skip:
                    kept = content
                    continue
                lines = content.count(text.line_end, 0, skip)
                content, at, skip = content[skip:], skip, 0
            cut = _last_pairing_end(content, text)
            if not cut and len(content) > _LONGEST_BYTES:
                if not text.has_quotes or b'"' not in content:
                    raise _line_error(text)
                raise OpenQuoteError(Block(text, at, at, b"", lines), 1).told()
            if cut:
                yield Block(text, at, at + cut, content[:cut], lines)
                lines, at = lines + content.count(text.line_end, 0, cut), at + cut
            kept = content[cut:]
        if kept and not skip:
            yield Block(text, at, at + len(kept), kept, lines)


def _recoded(handle: Any, text: Text) -> Iterator[bytes]:
    """Read UTF-16 as UTF-8."""
    assert text.layout is not None
    decoder = codecs.getincrementaldecoder(text.layout.encoding)()
    try:
        while piece := bytes(handle.read(BLOCK_BYTES)):
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        raise DataError(
            f"{text.path}: expected text in {text.layout.encoding}, got other bytes; write the "
            "file in one encoding, or say data.csv.encoding"
        ) from error


def _last_pairing_end(content: bytes, text: Text) -> int:
    """Return the length of the longest whole lines that the quotes of pair."""
    end = content.rfind(text.line_end) + 1
    while end and text.has_quotes and content.count(b'"', 0, end) % 2:
        # The line end lies in quotes, or some quote is no more than a sign.
        end = content.rfind(text.line_end, 0, content.rfind(b'"', 0, end)) + 1
    return end


def _lines_before(text: Text, at: int) -> int:
    with opened(text.path, text.access) as handle:
        return sum(
            handle.read_at(min(BLOCK_BYTES, at - start), start).count(text.line_end)
            for start in range(0, at, BLOCK_BYTES)
        )


# CSV


def csv_table(block: Block, kinds: Kinds, *, threads: bool) -> tuple[pa.Table, dict[str, str]]:
    """Parse a block; the kinds returned are those that its values needed, at least those given."""
    layout = block.text.layout
    assert layout is not None
    content = _utf8(block, layout)
    _check_content(block, content, layout)
    if layout.is_spaced:
        content = _unspaced(content, layout.delimiter.encode())
    kinds = dict(kinds)
    while True:
        try:
            table = _read_csv(content, block.text, layout, kinds, threads=threads)
            break
        except (pa.ArrowException, UnicodeDecodeError) as error:
            if threads:
                # Only one thread knows the row.
                threads = False
            else:
                _widen(block, layout, kinds, error)
                _widen_alike(content, block.text, layout, kinds)
    if content.count(b'"') % 2:
        _check_closed(block, content, layout, table.num_rows)
    columns = {}
    for name, kind in list(kinds.items()):
        column = table.column(name)
        if kind == "null":
            kinds[name] = str(column.type)
        while is_spelled(kinds[name]):
            try:
                column = _spelled(table.column(name), kinds[name], layout)
                break
            except pa.ArrowInvalid as error:
                further = wider(kinds[name], free=False)
                if further is None:
                    row = _odd_row(table.column(name), kinds[name], layout)
                    raise DataError(
                        f"{block.text.path}: {block.line(row)}expected numbers in column "
                        f"{name!r} as in the rows before, got {first_line(error)}; correct it, or "
                        "let data.csv.text name the column"
                    ) from error
                kinds[name] = further
        if kinds[name] == "string":
            column = column.cast(pa.string())
        columns[name] = column
    return pa.table(columns), kinds


def _spelled(column: pa.ChunkedArray, kind: str, layout: Format) -> pa.ChunkedArray:
    return pa.chunked_array(
        [
            values_of(chunk, kind, month_first=bool(layout.month_first), decimal=layout.decimal)
            for chunk in column.chunks
        ],
        type=stored_as(kind),
    )


def _odd_row(column: pa.ChunkedArray, kind: str, layout: Format) -> int:
    """Return the number of the first row, from 1, whose text spells no value."""
    texts = column.cast(pa.string())
    first, last = 0, len(texts)
    while last - first > 1:
        middle = (first + last) // 2
        try:
            _spelled(texts.slice(first, middle - first).dictionary_encode(), kind, layout)
            first = middle
        except pa.ArrowInvalid:
            last = middle
    return last


def _read_csv(
    content: bytes, text: Text, layout: Format, kinds: Kinds, *, threads: bool
) -> pa.Table:
    if not content:
        return pa.table({name: pa.array([], read_as(kinds[name])) for name in text.names})
    whole = len(content) // 4 if threads else len(content)
    # Pieces that fit in a cache are parsed a third faster, but a kind that is not said would be
    # told from the first of them alone.
    small = whole if "null" in kinds.values() else _PIECE_BYTES
    try:
        return _parsed(content, text, layout, kinds, threads=threads, piece_bytes=small)
    except pa.ArrowInvalid as error:
        if "straddling" not in str(error):
            raise
        # A row is longer than a piece.
        return _parsed(content, text, layout, kinds, threads=threads, piece_bytes=whole)


def _parsed(
    content: bytes,
    text: Text,
    layout: Format,
    kinds: Kinds,
    *,
    threads: bool,
    piece_bytes: int,
) -> pa.Table:
    return pacsv.read_csv(
        pa.BufferReader(content),
        pacsv.ReadOptions(
            column_names=list(text.names),
            use_threads=threads,
            block_size=max(_PIECE_BYTES, piece_bytes),
        ),
        pacsv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=b'"' in content),
        pacsv.ConvertOptions(
            column_types={name: read_as(kind) for name, kind in kinds.items() if kind != "null"},
            null_values=["", *layout.missing],
            strings_can_be_null=True,
            check_utf8=True,
            decimal_point=layout.decimal,
        ),
    )


def _utf8(block: Block, layout: Format) -> bytes:
    """Return a block as UTF-8."""
    content = block.content
    if layout.encoding in ("utf-8", "utf_8", "ascii") or layout.is_wide:
        return content
    if content.isascii():
        return content
    other = re.search(rb"[\xc2-\xf4][\x80-\xbf]", content) if layout.is_guess else None
    if other is not None and len(other[0].decode("utf-8", "ignore")) == 1:
        row = content.count(layout.line_end, 0, other.start()) + 1
        raise DataError(
            f"{block.text.path}: {block.line(row)}expected text in {layout.encoding} as "
            "elsewhere, got what looks like UTF-8; write the file in one encoding, or say "
            "data.csv.encoding"
        )
    try:
        found = content.decode(layout.encoding)
    except UnicodeDecodeError as error:
        row = content.count(layout.line_end, 0, error.start) + 1
        raise DataError(
            f"{block.text.path}: {block.line(row)}expected text in {layout.encoding}, got other "
            "bytes; write the file in one encoding, or say data.csv.encoding"
        ) from error
    return found.encode()


def _check_content(block: Block, content: bytes, layout: Format) -> None:
    at = content.find(b"\0")
    if at >= 0:
        row = content.count(layout.line_end, 0, at) + 1
        raise DataError(
            f"{block.text.path}: {block.line(row)}expected text, got a NUL byte; remove it"
        )
    head = block.text.header
    if not head:
        return
    for line in (head, codecs.BOM_UTF8 + head):
        at = 0 if content.startswith(line) else content.find(layout.line_end + line) + 1
        ends = content[at + len(line) :][:1] in (b"\r", b"\n", b"")
        if (at or content.startswith(line)) and ends:
            row = content.count(layout.line_end, 0, at) + 1
            raise DataError(
                f"{block.text.path}: {block.line(row)}expected a row, got the header again; "
                "remove the line"
            )


def _unspaced(content: bytes, delimiter: bytes) -> bytes:
    """Return rows without the spaces after delimiters; those within quotes stay."""
    parts = content.split(b'"')
    # Every other part is within quotes.
    parts[::2] = [re.sub(re.escape(delimiter) + rb" +", delimiter, part) for part in parts[::2]]
    return b'"'.join(parts)


def _widen(block: Block, layout: Format, kinds: dict[str, str], error: Exception) -> None:
    """Give a column the next wider kind, or say what is wrong."""
    said = first_line(error)
    match = re.match(
        r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to ([^:]+): (.*)", said
    )
    where = block.line(int(match[2])) if match and match[2] else ""
    if match is None:
        raise _unparsed(block, said) from error
    name = block.text.names[int(match[1])]
    further = wider(kinds[name], free=name in layout.free)
    if "UTF8" in said:
        raise DataError(
            f"{block.text.path}: {where}expected text in UTF-8 in column {name!r}, got other "
            "bytes; write the file in one encoding, or say data.csv.encoding"
        ) from error
    if further is None:
        raise DataError(
            f"{block.text.path}: {where}expected {kinds[name]} in column {name!r} as in the rows "
            f"before, got {match[4]}; correct it, or say data.csv.missing, or let data.csv.text "
            f"name {name!r}"
        ) from error
    kinds[name] = further


def _is_told(kind: str) -> bool:
    """Say whether Arrow must be told of a kind."""
    return kind == "string" or is_spelled(kind)


def _widen_alike(content: bytes, text: Text, layout: Format, kinds: dict[str, str]) -> None:
    """Give all other columns of whole numbers with a fraction the next wider kind, too: a wide
    table would else be read once for each.
    """
    unasked = {name: kind if _is_told(kind) else "null" for name, kind in kinds.items()}
    for column in _read_csv(content, text, layout, unasked, threads=False).schema:
        if pa.types.is_floating(column.type) and kinds[column.name] == "int64":
            kinds[column.name] = "double"


def _unparsed(block: Block, said: str) -> DataError:
    match = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", said)
    if match is None:
        return DataError(
            f"{block.text.path}: expected rows of {len(block.text.names):,} columns, got "
            f"{visible(said)}; correct the file, or say how it is written in [data.csv]"
        )
    return DataError(
        f"{block.text.path}: {block.line(int(match[1]))}expected {int(match[2]):,} columns, got "
        f"{int(match[3]):,}; check the delimiter and the quotes of that row"
    )


def _check_closed(block: Block, content: bytes, layout: Format, n_rows: int) -> None:
    """Raise OpenQuoteError if a block ends in quotes: then one row more is not found."""
    more = content.rstrip(b"\r\n") + b"\n0"
    more += layout.delimiter.encode() * (len(block.text.names) - 1)
    kinds = dict.fromkeys(block.text.names, "string")
    try:
        found = _read_csv(more + b"\n", block.text, layout, kinds, threads=False).num_rows
    except pa.ArrowException:
        found = -1
    if found != n_rows + 1:
        raise OpenQuoteError(block, n_rows)


def merged_kinds(known: Kinds, found: Kinds) -> dict[str, str]:
    """Return the kinds of columns after another block."""
    return {name: widest(kind, found[name]) for name, kind in known.items()}


# JSON lines


def json_table(block: Block, types: Types) -> pa.Table:
    """Parse lines of JSON; columns have the types given, or wider ones where values ask for it."""
    _check_utf8(block)
    _check_depth(block)
    try:
        return _read_json(block.content, types)
    except pa.ArrowInvalid:
        needed = merged_types(types, _inferred_types(block), block.text.path)
    try:
        return _read_json(block.content, needed)
    except pa.ArrowInvalid as error:
        raise DataError(
            f"{block.text.path}: {block.line(1)}expected lines of JSON with one type for each "
            f"key, got {first_line(error)} in the lines from here; correct them"
        ) from error


def _inferred_types(block: Block) -> Types:
    try:
        return types_in(_read_json(block.content, {}))
    except pa.ArrowInvalid as error:
        match = re.search(r"row (\d+)", str(error))
        where = block.line(int(match[1]) + 1 if match else 1)
        raise DataError(
            f"{block.text.path}: {where}expected an object of JSON on each line, got "
            f"{visible(first_line(error))}; correct it"
        ) from error


def types_in(table: pa.Table) -> dict[str, pa.DataType]:
    """Return the columns of a table."""
    return {column.name: column.type for column in table.schema}


def _check_utf8(block: Block) -> None:
    """Raise DataError for lines that are not UTF-8, which Arrow takes as they are."""
    try:
        block.content.decode()
    except UnicodeDecodeError as error:
        row = block.content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{block.text.path}: {block.line(row)}expected text in UTF-8, as JSON is, got other "
            "bytes; write the file in UTF-8"
        ) from error


def _check_depth(block: Block) -> None:
    """Raise DataError for values of JSON that are nested too deep for Arrow."""
    content = block.content
    if b"[" not in content and content.count(b"{") <= content.count(b"\n") + 1:
        return
    # Without escaped quotes, every second quote ends a string.
    signs = np.frombuffer(content.replace(b"\\\\", b"").replace(b'\\"', b""), dtype=np.uint8)
    in_text = np.bitwise_xor.accumulate(signs == ord('"'))
    steps = np.isin(signs, list(b"[{")).astype(np.int8) - np.isin(signs, list(b"]}"))
    steps[in_text] = 0
    at = np.flatnonzero(steps)
    depths = np.cumsum(steps[at], dtype=np.int64)
    deep = np.flatnonzero(depths > _DEEPEST)
    if len(deep):
        row = int(np.count_nonzero(signs[: at[deep[0]]] == ord("\n"))) + 1
        raise DataError(
            f"{block.text.path}: {block.line(row)}expected values of JSON nested at most "
            f"{_DEEPEST} deep, got deeper ones; write flat objects, one a line"
        )


def _read_json(content: bytes, types: Types) -> pa.Table:
    if not content.strip():
        return pa.table({name: pa.array([], kind) for name, kind in types.items()})
    return pajson.read_json(
        pa.BufferReader(content),
        pajson.ReadOptions(use_threads=False, block_size=max(1 << 20, len(content))),
        pajson.ParseOptions(explicit_schema=pa.schema(list(types.items())) if types else None),
    )


def merged_types(known: Types, found: Types, path: str) -> dict[str, pa.DataType]:
    """Return the columns of two blocks, each of the wider type."""
    types = dict(known)
    for name, kind in found.items():
        before = types.get(name, kind)
        if before == kind or pa.types.is_null(kind):
            types[name] = before
        elif pa.types.is_null(before):
            types[name] = kind
        elif {str(before), str(kind)} == {"int64", "double"}:
            types[name] = pa.float64()
        elif {str(before), str(kind)} == {"timestamp[s]", "string"}:
            types[name] = pa.string()
        else:
            raise DataError(
                f"{path}: expected {before} in {name!r} as in other lines, got {kind}; "
                "write one type for each key"
            )
    return types


# Arrow


@contextmanager
def arrow_file(path: str, access: Access) -> Iterator[Any]:
    """Open a file of Arrow's own format, which Feather is as well."""
    with told_with(path), opened(path, access) as handle, paipc.open_file(handle) as batches:
        yield batches


def is_arrow_stream(path: str, access: Access) -> bool:
    """Say whether an Arrow file lacks the footer that says where its batches are."""
    with told_with(path), opened(path, access) as handle:
        return bytes(handle.read_at(4, 0)) == b"\xff\xff\xff\xff"


@contextmanager
def arrow_stream(path: str, access: Access) -> Iterator[Any]:
    """Open an Arrow file without a footer, which can only be read from its beginning."""
    with told_with(path), opened(path, access) as handle, paipc.open_stream(handle) as batches:
        yield batches
