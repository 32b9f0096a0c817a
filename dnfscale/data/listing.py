"""Lists the files that a path means, and recognizes a file that has changed since.

A path is a file, a directory (with hive-style `key=value` folders), or a glob, on this machine or in an object store.
Files come in the order of their paths.
"""

from __future__ import annotations

import fnmatch
import glob
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.fs as pafs

from dnfscale.data.storage import located, spelled, told
from dnfscale.errors import DataError
from dnfscale.spec.storage import Access, check_path, is_remote

_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
_VERSION_KEYS = {"etag", "generation", "versionid", "last-modified", "updated"}


@dataclass(frozen=True, slots=True)
class Stamp:
    """What changes when a file is written again."""

    n_bytes: int
    version: str
    """The time of its last change, in nanoseconds; in an object store its etag."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as it was when the job began."""

    path: str
    access: Access
    stamp: Stamp
    footer: str
    """A digest of its Parquet footer, which has the sizes, offsets and statistics of all columns."""

    def check(self, handle: Any = None) -> None:
        """Raise DataError if the file is gone or has changed; an open handle of a store saves a request."""
        known = handle is not None and is_remote(self.path)
        now = _stamp_in_store(handle) if known else stamp_of(self.path, self.access)
        if now != self.stamp:
            raise self.changed(f"one of {now.n_bytes:,} bytes that was written since")

    def check_footer(self, metadata: Any) -> None:
        """Raise DataError if the footer has changed, although size and time have not."""
        if footer_digest(metadata) != self.footer:
            raise self.changed("one with another footer")

    def changed(self, found: str) -> DataError:
        return DataError(
            f"{self.path}: expected the file that the job began with, of {self.stamp.n_bytes:,} bytes, got {found}; "
            "run again on data that does not change meanwhile"
        )


def list_files(path: str, access: Access) -> list[str]:
    """Return the files that a path means, at least one."""
    try:
        check_path(path)
    except ValueError as error:
        raise DataError(f"data.path {error}" if "must not" in str(error) else f"{path}: expected {error}") from error
    try:
        return _list_remote(path, access) if is_remote(path) else _list_local(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: expected to list its files, but {told(error, path)}") from error


def hive_keys(file: str, root: str) -> dict[str, str | None]:
    """Return the keys and values in the folders of a file's path; only those below the root if the file is in it."""
    inside = file.startswith(root.rstrip("/") + "/")
    folders = PurePosixPath(file[len(root.rstrip("/")) + 1 :] if inside else file).parts[:-1]
    pairs = (folder.split("=", 1) for folder in folders if "=" in folder)
    return {unquote(key): None if value == _HIVE_NULL else unquote(value) for key, value in pairs}


def is_meant(path: str, pattern: str) -> bool:
    """Return whether a glob matches a file, by the rules for local files.

    `**` by itself stands for any number of folders; `*`, `?`, `[abc]` and `[!abc]` stay within a name. Names that begin
    with a dot match only if the pattern has the dot too.
    """
    parts = pattern.split("/")
    if parts[-1] == "**":
        parts.append("*")
    # The possible numbers of parts of the pattern that match the names so far.
    used = _skipping(parts, {0})
    for name in path.split("/"):
        stayed = {i for i in used if i < len(parts) and parts[i] == "**" and not name.startswith(".")}
        used = _skipping(parts, stayed | {i + 1 for i in used if i < len(parts) and _is_named(name, parts[i])})
    return len(parts) in used


def stamp_of(path: str, access: Access) -> Stamp:
    """Return the stamp of a file; a file that is missing or not accessible is an error."""
    try:
        if not is_remote(path):
            found = os.stat(path)
            return Stamp(found.st_size, str(found.st_mtime_ns))
        with opened(path, access) as handle:
            return _stamp_in_store(handle)
    except FileNotFoundError as error:
        raise DataError(
            f"{path}: expected the file that the job began with, but it is gone; run again on data that does not "
            "change meanwhile"
        ) from error
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: expected to read the file, but {told(error, path)}") from error


@contextmanager
def opened(path: str, access: Access) -> Iterator[Any]:
    """Open a file for random access."""
    filesystem, inner = located(path, access)
    with filesystem.open_input_file(inner) as handle:
        yield handle


def footer_digest(metadata: Any) -> str:
    """Return a short text for a Parquet footer."""
    sink = pa.BufferOutputStream()
    metadata.write_metadata_file(sink)
    return hashlib.blake2b(sink.getvalue(), digest_size=16).hexdigest()


def _stamp_in_store(handle: Any) -> Stamp:
    told_of = {key.lower(): value for key, value in handle.metadata().items()}
    known = sorted((key, _text(value)) for key, value in told_of.items() if key in _VERSION_KEYS)
    return Stamp(handle.size(), " ".join(f"{key}={value}" for key, value in known))


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _list_local(path: str) -> list[str]:
    # Workers may have another working directory.
    root = os.path.abspath(path)
    if _is_pattern(root) and not os.path.exists(root):
        return _some([name for name in sorted(glob.glob(root, recursive=True)) if os.path.isfile(name)], root)
    return _in_folder(root, *located(root, Access()))


def _list_remote(path: str, access: Access) -> list[str]:
    filesystem, inner = located(path, access)
    if not _is_pattern(inner):
        return _in_folder(path, filesystem, inner)
    folder = inner[: re.search(r"[*?\[]", inner).start()].rpartition("/")[0]  # type: ignore[union-attr]
    if not folder:
        raise DataError(f"{path}: expected a bucket without * or ? in its name; name one bucket")
    names = [entry.path for entry in _entries(filesystem, folder) if is_meant(entry.path, inner)]
    return _some([spelled(name, path) for name in sorted(names)], path)


def _in_folder(path: str, filesystem: Any, inner: str) -> list[str]:
    info = filesystem.get_file_info(inner)
    if info.type == pafs.FileType.NotFound:
        bucket = "; is the name of the bucket right?" if is_remote(path) else ""
        raise DataError(
            f"{path}: expected a Parquet file or a directory of them, but there is nothing at this path{bucket}"
        )
    if info.type == pafs.FileType.File:
        return [spelled(inner, path)]
    found = [entry.path for entry in _entries(filesystem, inner) if _is_data(entry.path, inner)]
    if not found:
        raise DataError(f"{path}: expected at least one file that ends in .parquet, but the directory has none")
    return [spelled(name, path) for name in sorted(found)]


def _entries(filesystem: Any, folder: str) -> list[Any]:
    entries = filesystem.get_file_info(pafs.FileSelector(folder, recursive=True))
    return [entry for entry in entries if entry.type == pafs.FileType.File]


def _some(files: list[str], pattern: str) -> list[str]:
    if not files:
        raise DataError(f"{pattern}: expected at least one Parquet file, but the pattern matches none")
    return files


def _is_pattern(path: str) -> bool:
    return any(c in path for c in "*?[")


def _skipping(parts: list[str], used: set[int]) -> set[int]:
    """Return the numbers of used parts, with those that follow if a ** stands for no folder at all."""
    reached = set(used)
    for i, part in enumerate(parts):
        if i in reached and part == "**":
            reached.add(i + 1)
    return reached


def _is_named(name: str, part: str) -> bool:
    hidden = name.startswith(".") and not part.startswith(".")
    return part != "**" and not hidden and fnmatch.fnmatchcase(name, part)


def _is_data(file: str, root: str) -> bool:
    """Return whether a file is data, not a side file of another tool: those have names that begin with _ or a dot."""
    parts = PurePosixPath(file[len(root) :].lstrip("/")).parts
    hidden = any(part.startswith((".", "_")) and "=" not in part for part in parts)
    return not hidden and parts[-1].endswith((".parquet", ".pq"))
