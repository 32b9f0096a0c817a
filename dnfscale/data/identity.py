"""Which file it is: whether a path still holds what the job began with, however it came to be
there.

    stamp     size, time, and where the file is stored: costs nothing, and changes whenever a file
              is written, replaced, copied or put back
    contents  its footer and a sample of its pages: costs a few reads, and is the same for every
              copy

A job that is under way asks for the stamp. A file of another size or time was written since, which
is an error; one that only lies elsewhere (another inode, another etag) was replaced, and its
contents decide. A run that is resumed, perhaps days later and from a backup, goes by the contents
alone.

The sample reads a bounded number of places, so it recognizes another dataset but not every single
changed value; rows that are read again are therefore counted again (see jobs/checkpoints.py).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dnfscale.data.footer import Chunk, Opened, Tail, read_tail
from dnfscale.data.storage import located, told
from dnfscale.errors import DataError
from dnfscale.spec.storage import Access, is_remote

_TIME_KEYS = {"last-modified", "updated"}
_PLACE_KEYS = {"etag", "generation", "versionid"}
_PLACE_BYTES = 1 << 10
_ALL_PLACES, _STORE_PLACES = 1 << 12, 1 << 6
"""How many places are sampled in all files together; in a store each is a request."""
_MOST_PLACES, _MOST_STORE_PLACES = 1 << 8, 1 << 3
_FEWEST_PLACES, _FEWEST_STORE_PLACES = 8, 2
"""How many are sampled in one file, at most and at least."""
_APART = 0.6180339887498949
"""The golden ratio's fraction: its multiples spread evenly over a chunk, however many there are."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What changes when a file is written or replaced."""

    n_bytes: int
    written: str
    """The time of its last change, in nanoseconds, or as a store tells it."""
    place: str
    """What a copy with the same time does not share: inode and time of the inode's change; in a
    store its etag.
    """


@dataclass(frozen=True, slots=True)
class Sample:
    """A digest of the bytes at some places in the pages of a file."""

    n_places: int
    digest: str


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as it was when the job began."""

    path: str
    access: Access
    stamp: Stamp = field(repr=False)
    """Not part of what a file is: a copy has another."""
    footer: str
    """A digest of its Parquet footer, which has the sizes, offsets and statistics of all columns.
    """
    sample: Sample

    @property
    def contents(self) -> str:
        """A text that is the same for a copy of the file."""
        return f"{self.stamp.n_bytes} {self.footer} {self.sample.digest}"

    def check(self, handle: Any = None) -> None:
        """Raise DataError if the file is gone or has changed; an open handle of a store saves a
        request.
        """
        known = handle is not None and is_remote(self.path)
        now = _stamp_in_store(handle) if known else stamp_of(self.path, self.access)
        if (now.n_bytes, now.written) != (self.stamp.n_bytes, self.stamp.written):
            raise self.changed(f"one of {now.n_bytes:,} bytes that was written since")
        if now != self.stamp:
            _check_contents(self, now)

    def check_footer(self, metadata: Any) -> None:
        """Raise DataError if the footer has changed, although size and time have not."""
        if footer_digest(metadata) != self.footer:
            raise self.changed("one with another footer")

    def changed(self, found: str) -> DataError:
        return DataError(
            f"{self.path}: expected the file that the job began with, of "
            f"{self.stamp.n_bytes:,} bytes, got {found}; "
            "run again on data that does not change meanwhile"
        )


def stamp_of(path: str, access: Access) -> Stamp:
    """Return the stamp of a file; a file that is missing or not accessible is an error."""
    try:
        if not is_remote(path):
            found = os.stat(path)
            return Stamp(
                found.st_size, str(found.st_mtime_ns), f"{found.st_ino} {found.st_ctime_ns}"
            )
        with opened(path, access) as handle:
            return _stamp_in_store(handle)
    except FileNotFoundError as error:
        raise DataError(
            f"{path}: expected the file that the job began with, but it is gone; run again "
            "on data that does not "
            "change meanwhile"
        ) from error
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: expected to read the file, but {told(error, path)}") from error


def contents_of(path: str, access: Access) -> str:
    """Return a digest of the bytes at some places of any file: the same for every copy of it."""
    try:
        with opened(path, access) as handle:
            n_bytes = handle.size()
            n_places = _MOST_STORE_PLACES if is_remote(path) else _MOST_PLACES
            step = max(_PLACE_BYTES, n_bytes // n_places)
            places = [*range(0, n_bytes, step), max(0, n_bytes - _PLACE_BYTES)]
            return _digest(b"".join(bytes(handle.read_at(_PLACE_BYTES, at)) for at in places))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: expected to read the file, but {told(error, path)}") from error


@contextmanager
def opened(path: str, access: Access) -> Iterator[Any]:
    """Open a file for random access."""
    filesystem, inner = located(path, access)
    with filesystem.open_input_file(inner) as handle:
        yield handle


def parsed(tail: Tail) -> pq.ParquetFile:
    """Return what Arrow makes of a footer; no row can be read from it."""
    return pq.ParquetFile(pa.BufferReader(tail.footer_at_end))


def footer_digest(metadata: Any) -> str:
    """Return a short text for a Parquet footer."""
    sink = pa.BufferOutputStream()
    metadata.write_metadata_file(sink)
    return _digest(sink.getvalue())


def places_per_file(n_files: int, *, remote: bool) -> int:
    """Return how many places to sample in each of some files, so that opening many is not slowed
    down by it.
    """
    if remote:
        return max(_FEWEST_STORE_PLACES, min(_MOST_STORE_PLACES, _STORE_PLACES // n_files))
    return max(_FEWEST_PLACES, min(_MOST_PLACES, _ALL_PLACES // n_files))


def sampled(file: Opened, tail: Tail, groups: Sequence[Sequence[Chunk]], n_places: int) -> Sample:
    """Sample a file: all of it, if it is small, else places that spread over its column chunks and
    within each.
    """
    if tail.is_all:
        return Sample(n_places, _digest(tail.content))
    chunks = [chunk for group in groups for chunk in group]
    pages = hashlib.blake2b(digest_size=16)
    for i in range(n_places if chunks else 0):
        chunk = chunks[i * len(chunks) // n_places]
        span = max(0, chunk.compressed_bytes - _PLACE_BYTES)
        pages.update(
            file.read_at(_PLACE_BYTES, min(tail.n_bytes, chunk.start + int(i * _APART % 1 * span)))
        )
    return Sample(n_places, pages.hexdigest())


@lru_cache(maxsize=1 << 12)
def _check_contents(file: KnownFile, now: Stamp) -> None:  # noqa: ARG001
    """Raise DataError if a file was replaced by one that holds something else; looked at once for
    each stamp.
    """
    try:
        with opened(file.path, file.access) as handle:
            tail = read_tail(handle)
            metadata = parsed(tail).metadata
            sample = sampled(handle, tail, tail.chunks(), file.sample.n_places)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise file.changed(f"one that cannot be read ({told(error, file.path)})") from error
    file.check_footer(metadata)
    if sample != file.sample:
        raise file.changed("another of the same size, time and footer, but with other values")


def _digest(content: Any) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _stamp_in_store(handle: Any) -> Stamp:
    told_of = {key.lower(): _text(value) for key, value in handle.metadata().items()}
    written, place = (
        " ".join(f"{key}={told_of[key]}" for key in sorted(keys & set(told_of)))
        for keys in (_TIME_KEYS, _PLACE_KEYS)
    )
    return Stamp(handle.size(), written, place)


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
