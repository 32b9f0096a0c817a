"""The places, sizes and null counts of column chunks, read from a Parquet footer by ourselves.

Arrow reads footers too, but with a damaged one its accessors of column chunks abort the whole
process: the exception is thrown where nothing can catch it. Only little is needed of a chunk, and
Thrift's compact protocol is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

_TRUE, _FALSE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 8, 9, 10, 11, 12
_INTEGERS = (4, 5, 6)
_SIZES = {_TRUE: 0, _FALSE: 0, 3: 1, 7: 8, 13: 16}
"""Bytes of the types of fixed size: truth values, bytes, doubles, UUIDs."""
_PAGE_OFFSETS = (9, 11)
"""The fields of a chunk that say where its data pages and its dictionary begin."""
_TAIL_BYTES = 8
"""The length of the footer, in four bytes, and the letters PAR1."""
_FIRST_READ_BYTES = 1 << 16
"""What is read of the end of a file at once: most footers, and all of a small file."""


class Chunk(NamedTuple):
    """What a footer says about one column in one row group."""

    compressed_bytes: int
    nulls: int | None
    """None if the footer does not say."""
    start: int = 0
    """Where its first page begins in the file."""


class Opened(Protocol):
    """A file that can be read at any offset."""

    def size(self) -> int: ...

    def read_at(self, nbytes: int, offset: int) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a file: its footer, and what was read with it."""

    n_bytes: int
    """The size of the file."""
    content: bytes
    footer_bytes: int

    @property
    def is_all(self) -> bool:
        """Whether this is the whole file."""
        return len(self.content) == self.n_bytes

    @property
    def footer(self) -> bytes:
        """The footer as it is stored."""
        return self.footer_at_end[:-_TAIL_BYTES]

    @property
    def footer_at_end(self) -> bytes:
        """The footer with its length and the letters after it."""
        return self.content[-(self.footer_bytes + _TAIL_BYTES) :]

    def chunks(self) -> list[list[Chunk]]:
        """Return the column chunks of each row group; none if the file was read as a whole, and
        need not be found.
        """
        return [] if self.is_all else chunks_of(self.footer)


def read_tail(file: Opened) -> Tail:
    """Return the end of a file, with its footer; raise ValueError for a file without one."""
    size = file.size()
    if not size:
        raise ValueError("it is empty")
    content = _last(file, size, _FIRST_READ_BYTES)
    length = int.from_bytes(content[-_TAIL_BYTES:-4], "little")
    if content[-4:] != b"PAR1" or length > size - _TAIL_BYTES:
        raise ValueError("no footer at its end")
    if length + _TAIL_BYTES > len(content):
        content = _last(file, size, length + _TAIL_BYTES)
    return Tail(size, content, length)


def _last(file: Opened, size: int, n_bytes: int) -> bytes:
    return file.read_at(min(size, n_bytes), max(0, size - n_bytes))


def chunks_of(footer: bytes) -> list[list[Chunk]]:
    """Return the column chunks of each row group; raise ValueError for a damaged footer."""
    try:
        return _row_groups(footer)
    except (IndexError, RecursionError) as error:
        raise ValueError("its footer is damaged") from error


def sum_of(chunks: Sequence[Chunk]) -> Chunk:
    """Return the sizes of several chunks together; their nulls are known if those of each are."""
    nulls = [chunk.nulls for chunk in chunks if chunk.nulls is not None]
    return Chunk(
        sum(chunk.compressed_bytes for chunk in chunks),
        sum(nulls) if len(nulls) == len(chunks) else None,
    )


def _row_groups(data: bytes) -> list[list[Chunk]]:
    groups: list[list[Chunk]] = []
    number = at = 0
    while data[at]:
        number, kind, at = _field(data, at, number)
        if number == 4 and kind == _LIST:
            n_items, at = _structs(data, at)
            for _ in range(n_items):
                group, at = _row_group(data, at)
                groups.append(group)
        else:
            at = _skip(data, at, kind)
    return groups


def _row_group(data: bytes, at: int) -> tuple[list[Chunk], int]:
    chunks: list[Chunk] = []
    number = 0
    while data[at]:
        number, kind, at = _field(data, at, number)
        if number == 1 and kind == _LIST:
            n_items, at = _structs(data, at)
            for _ in range(n_items):
                chunk, at = _chunk(data, at)
                chunks.append(chunk)
        else:
            at = _skip(data, at, kind)
    return chunks, at + 1


def _chunk(data: bytes, at: int) -> tuple[Chunk, int]:
    found = Chunk(0, None)
    number = 0
    while data[at]:
        number, kind, at = _field(data, at, number)
        if number == 3 and kind == _STRUCT:
            found, at = _column(data, at)
        else:
            at = _skip(data, at, kind)
    return found, at + 1


def _column(data: bytes, at: int) -> tuple[Chunk, int]:
    compressed, nulls, pages, number = 0, None, [], 0
    while data[at]:
        number, kind, at = _field(data, at, number)
        if number == 7 and kind in _INTEGERS:
            compressed, at = _integer(data, at)
        elif number in _PAGE_OFFSETS and kind in _INTEGERS:
            offset, at = _integer(data, at)
            pages.append(offset)
        elif number == 12 and kind == _STRUCT:
            nulls, at = _nulls(data, at)
        else:
            at = _skip(data, at, kind)
    return Chunk(max(0, compressed), nulls, max(0, min(pages, default=0))), at + 1


def _nulls(data: bytes, at: int) -> tuple[int | None, int]:
    nulls, number = None, 0
    while data[at]:
        number, kind, at = _field(data, at, number)
        if number == 3 and kind in _INTEGERS:
            nulls, at = _integer(data, at)
        else:
            at = _skip(data, at, kind)
    return nulls, at + 1


def _field(data: bytes, at: int, number: int) -> tuple[int, int, int]:
    """Return the number and the type of a field, and where its value begins, given the number of
    the one before.
    """
    header = data[at]
    if header > 15:
        return number + (header >> 4), header & 15, at + 1
    number, at = _integer(data, at + 1)
    return number, header & 15, at


def _structs(data: bytes, at: int) -> tuple[int, int]:
    """Return the length of a list of structs, and where the first begins."""
    n_items, kind, at = _list(data, at)
    if n_items and kind != _STRUCT:
        raise ValueError("its footer is damaged: a list holds something else")
    return n_items, at


def _skip(data: bytes, at: int, kind: int) -> int:
    # The most frequent types come first: footers of a thousand columns have a hundred thousand
    # fields.
    if kind in _INTEGERS:
        while data[at] > 127:
            at += 1
        return at + 1
    if kind == _BINARY:
        length, at = _varint(data, at)
        if at + length > len(data):
            raise ValueError("its footer is damaged: it ends too early")
        return at + length
    if kind == _STRUCT:
        while header := data[at]:
            at += 1
            if header < 16:
                _, at = _varint(data, at)
            at = _skip(data, at, header & 15)
        return at + 1
    if kind in (_LIST, _SET):
        n_items, inner, at = _list(data, at)
        for _ in range(n_items):
            at = _skip_item(data, at, inner)
        return at
    if kind == _MAP:
        return _skip_map(data, at)
    if kind not in _SIZES:
        raise ValueError(f"its footer is damaged: no type has the number {kind}")
    return at + _SIZES[kind]


def _skip_map(data: bytes, at: int) -> int:
    n_items, at = _length(data, at)
    if n_items == 0:
        return at
    # One byte holds the type of the keys and that of the values.
    kinds = data[at]
    at += 1
    for _ in range(n_items):
        at = _skip_item(data, at, kinds >> 4)
        at = _skip_item(data, at, kinds & 15)
    return at


def _skip_item(data: bytes, at: int, kind: int) -> int:
    # A truth value is stored in the header of its field; in a list it takes a byte of its own.
    return at + 1 if kind in (_TRUE, _FALSE) else _skip(data, at, kind)


def _list(data: bytes, at: int) -> tuple[int, int, int]:
    """Return the length of a list, the type of its items, and where they begin."""
    header = data[at]
    if header < 0xF0:
        return header >> 4, header & 15, at + 1
    n_items, at = _length(data, at + 1)
    return n_items, header & 15, at


def _length(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of items, each of which takes a byte at least, and where they begin."""
    n_items, at = _varint(data, at)
    if n_items > len(data) - at:
        raise ValueError("its footer is damaged: it ends too early")
    return n_items, at


def _integer(data: bytes, at: int) -> tuple[int, int]:
    raw, at = _varint(data, at)
    return (raw >> 1) ^ -(raw & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("its footer is damaged: a number has no end")
