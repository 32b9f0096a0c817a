"""Lists the files that a path means.

A path is a file, a directory (with hive-style `key=value` folders), or a glob, on this machine or
in an object store. A folder, also one that a glob matches, means everything in and below it,
whatever its name, except names that begin with a dot or an underscore, which are side files of
other tools (Spark's rule: `_key=value` is data). What is meant and cannot be followed, such as a
link to a disk that is not mounted, is an error that names it: no row is passed over without a word.
Whether a file is Parquet is left to its own bytes.

Files come in the order of their paths.
"""

from __future__ import annotations

import fnmatch
import os
import re
import stat
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.fs as pafs

from dnfscale.data.storage import is_within, located, spelled, told
from dnfscale.errors import DataError
from dnfscale.spec.storage import DEFAULT_ACCESS, Access, check_path, is_remote

_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


def check_place(path: str) -> None:
    """Raise DataError for a URL of an unknown kind, or with credentials, which are not repeated."""
    try:
        check_path(path)
    except ValueError as error:
        raise DataError(
            f"data.path {error}" if "must not" in str(error) else f"{path}: expected {error}"
        ) from error


def list_files(path: str, access: Access) -> list[str]:
    """Return the files that a path means, at least one."""
    check_place(path)
    try:
        if is_remote(path):
            return _list_remote(path, access)
        files = _list_local(path)
        _check_loose(path, files)
    except (pa.ArrowException, OSError) as error:
        raise _unlisted(path, error) from error
    return files


def hive_keys(file: str, root: str) -> dict[str, str | None]:
    """Return the keys and values in the folders of a file's path; only those below the root if the
    file is in it.
    """
    inside = file.startswith(root.rstrip("/") + "/")
    folders = PurePosixPath(file[len(root.rstrip("/")) + 1 :] if inside else file).parts[:-1]
    pairs = (folder.split("=", 1) for folder in folders if "=" in folder)
    return {unquote(key): None if value == _HIVE_NULL else unquote(value) for key, value in pairs}


def typed_keys(
    files: Sequence[tuple[str, Mapping[str, str | None], Container[str]]],
) -> dict[str, tuple[pa.DataType, list[Any]]]:
    """Return the type of each hive key and its value per file, given each file with its keys and
    columns: whole numbers where all values read as such.
    """
    typed: dict[str, tuple[pa.DataType, list[Any]]] = {}
    for key in dict.fromkeys(key for _, keys, _ in files for key in keys):
        twice = next(
            (path for path, keys, columns in files if key in keys and key in columns), None
        )
        if twice is not None:
            raise DataError(
                f"{twice}: expected {key!r} to be a column of the files or a folder "
                f"{key}=..., but it is both; "
                "rename the folders, or write the files without the column"
            )
        outside = [path for path, keys, _ in files if key not in keys]
        if outside:
            raise DataError(
                f"{outside[0]}: expected a folder named {key}=... as the other files have; "
                "lay out all files alike"
            )
        values: list[Any] = [keys[key] for _, keys, _ in files]
        numbers = [None if value is None else _whole_number(value) for value in values]
        if all(
            number is not None
            for number, value in zip(numbers, values, strict=True)
            if value is not None
        ):
            typed[key] = pa.int64(), numbers
        else:
            typed[key] = pa.string(), values
    return typed


def _whole_number(text: str) -> int | None:
    """Return the number that a text spells, if it is one of 64 bits and spelled the usual way."""
    if re.fullmatch(r"0|-?[1-9][0-9]{0,18}", text) and -(1 << 63) <= int(text) < 1 << 63:
        return int(text)
    return None


def means(folder: str, path: str) -> bool:
    """Say whether a folder of data means what is, or will be, at another path."""
    if not is_within(path, folder):
        return False
    root, name = (
        place.rstrip("/") if is_remote(place) else os.path.realpath(place)
        for place in (folder, path)
    )
    return not _is_aside(name, root)


class Glob:
    """A pattern of paths, matched name by name.

    `**` by itself stands for any number of folders; `*`, `?`, `[abc]` and `[!abc]` stay within a
    name. Side files match only if the pattern has their dot or underscore too.
    """

    def __init__(self, pattern: str) -> None:
        self._parts = pattern.split("/")
        if self._parts[-1] == "**":
            self._parts.append("*")
        self.begin = self._skipping({0})
        """The possible numbers of parts that match no name at all."""

    def after(self, used: set[int], name: str) -> set[int]:
        """Return the possible numbers of parts that match the names so far and one more."""
        parts = self._parts
        stayed = {i for i in used if i < len(parts) and parts[i] == "**" and not is_side_file(name)}
        return self._skipping(
            stayed | {i + 1 for i in used if i < len(parts) and _is_named(name, parts[i])}
        )

    def is_whole(self, used: set[int]) -> bool:
        """Say whether the names so far match all of the pattern."""
        return len(self._parts) in used

    def means(self, path: str) -> bool:
        """Say whether the pattern matches a file, or a folder that it is in."""
        used, names = self.begin, path.split("/")
        for place, name in enumerate(names):
            used = self.after(used, name)
            if self.is_whole(used) and not any(map(is_side_file, names[place + 1 :])):
                return True
        return False

    def _skipping(self, used: set[int]) -> set[int]:
        """Return the numbers of used parts, with those that follow if a ** stands for no folder at
        all.
        """
        reached = set(used)
        for i, part in enumerate(self._parts):
            if i in reached and part == "**":
                reached.add(i + 1)
        return reached


def is_side_file(name: str) -> bool:
    """Say whether a file or folder in a dataset is passed over."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _is_named(name: str, part: str) -> bool:
    spells_mark = not is_side_file(name) or part.startswith(name[0])
    return part != "**" and spells_mark and fnmatch.fnmatchcase(name, part)


def _check_loose(path: str, files: list[str]) -> None:
    """Raise DataError if local files belong to a table whose log says which of them hold its rows:
    some may be of rows that were deleted or updated.
    """
    filesystem, inner = located(path, DEFAULT_ACCESS)
    folders = {inner} if not is_pattern(inner) else set()
    folders |= {str(folder) for file in files for folder in PurePosixPath(file).parents}
    for folder in sorted(folders):
        kind = table_kind(filesystem, folder)
        if kind is not None:
            raise _loose(folder, kind)


def _check_loose_in_store(path: str, filesystem: Any, names: list[str], files: list[str]) -> None:
    """The same in a store, given all names that were listed and those of the files."""
    kinds: dict[str, str | None] = {}
    for name in names:
        folder, is_delta, _ = name.partition("/_delta_log/")
        metadata = re.fullmatch(r"(.*)/metadata/[^/]*\.metadata\.json", name)
        if is_delta:
            kinds[folder] = "Delta"
        elif metadata is not None:
            kinds[metadata[1]] = "Iceberg"
    found = {str(folder) for file in files for folder in PurePosixPath(file).parents}
    kinds = {folder: kind for folder, kind in kinds.items() if folder in found}
    above = PurePosixPath(os.path.commonpath([os.path.dirname(file) for file in files]))
    for folder in map(str, (above, *above.parents[:-1])):
        # Whoever may read files need not be allowed to look at folders above them.
        with suppress(pa.ArrowException, OSError):
            kinds.setdefault(folder, table_kind(filesystem, folder))
    for folder, kind in sorted(kinds.items()):
        if kind is not None:
            raise _loose(spelled(folder, path), kind)


def _loose(folder: str, kind: str) -> DataError:
    return DataError(
        f"{folder}: expected Parquet files, got a table of {kind}, some of "
        "whose files may hold rows that were deleted or updated; name the folder of the "
        "table as data.path, which reads its current rows"
    )


def table_kind(filesystem: Any, folder: str) -> str | None:
    """Say whether a folder is a table that has a log of its own: "Delta" or "Iceberg"."""
    log, metadata = f"{folder}/_delta_log", f"{folder}/metadata"
    found = filesystem.get_file_info([log, metadata])
    if found[0].type == pafs.FileType.Directory:
        # Even where the log is empty: without it, nobody knows which rows live.
        return "Delta"
    if found[1].type == pafs.FileType.Directory and _has(filesystem, metadata, (".metadata.json",)):
        return "Iceberg"
    return None


def _has(filesystem: Any, folder: str, endings: tuple[str, ...]) -> bool:
    """Say whether a folder has a file of such a name."""
    entries = filesystem.get_file_info(pafs.FileSelector(folder))
    return any(entry.base_name.endswith(endings) for entry in entries)


def _list_local(path: str) -> list[str]:
    # Workers may have another working directory.
    root = os.path.abspath(path)
    if os.path.lexists(root):
        return _some(sorted(_files_at(root)), root, "directory has")
    if not is_pattern(root):
        raise _nothing_at(path)
    # The folder before the first name with a wildcard: above it there is nothing to choose.
    *folders, _ = re.split(r"[*?\[]", root)[0].split("/")
    start = "/".join(folders) or "/"
    glob = Glob(os.path.relpath(root, start))
    found = (
        _matched(start, glob, glob.begin, ())
        if os.path.lexists(start) and _is_folder(start)
        else ()
    )
    return _some(sorted(found), root, "pattern matches")


_Folders = tuple[tuple[int, int], ...]
"""The folders that a path leads through, by device and number."""


def _matched(folder: str, glob: Glob, used: set[int], above: _Folders) -> Iterator[str]:
    """Yield the local files below a folder that a pattern means, given how much of it the folder's
    path has used.
    """
    through = _through(folder, above)
    for entry in _entries_of(folder):
        now = glob.after(used, entry.name)
        if glob.is_whole(now):
            yield from _files_at(entry.path, through)
        elif now and not entry.is_file(follow_symlinks=False) and _is_folder(entry.path):
            yield from _matched(entry.path, glob, now, through)


def _files_at(path: str, above: _Folders = ()) -> Iterator[str]:
    """Yield a local file, or those in and below a folder."""
    if not _is_folder(path):
        if not os.path.isfile(path):
            raise DataError(
                f"{path}: expected a file or a folder, got a pipe, a socket or a device; "
                "move it elsewhere"
            )
        yield path
        return
    through = _through(path, above)
    for entry in _entries_of(path):
        if is_side_file(entry.name):
            continue
        if entry.is_file(follow_symlinks=False):
            yield entry.path
        else:
            yield from _files_at(entry.path, through)


def _is_folder(path: str) -> bool:
    """Say whether a local path is a folder; a link that leads nowhere is an error, because it may
    have been one.
    """
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except OSError as error:
        if not (isinstance(error, FileNotFoundError) and os.path.islink(path)):
            raise _unlisted(path, error) from error
        raise DataError(
            f"{path}: expected a file or a folder, but it is a link to "
            f"{os.readlink(path)}, where there is nothing; "
            "mount or restore what it points to, or remove the link"
        ) from error


def _through(folder: str, above: _Folders) -> _Folders:
    """Return the folders that lead to what is in a folder; a link back to one of them is
    an error.
    """
    found = os.stat(folder)
    own = found.st_dev, found.st_ino
    if own in above:
        raise DataError(
            f"{folder}: expected a folder, but it is a link to one that it is in itself; "
            "remove the link"
        )
    return (*above, own)


def _entries_of(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        raise _unlisted(folder, error) from error


def _list_remote(path: str, access: Access) -> list[str]:
    filesystem, inner = located(path, access)
    if not is_pattern(inner):
        names, files = _in_store(path, filesystem, inner)
    else:
        folder = inner[: re.search(r"[*?\[]", inner).start()].rpartition("/")[0]  # type: ignore[union-attr]
        if not folder:
            raise DataError(
                f"{path}: expected a bucket without * or ? in its name; name one bucket"
            )
        glob = Glob(inner)
        names = _objects(filesystem, folder)
        files = _some([name for name in sorted(names) if glob.means(name)], path, "pattern matches")
    _check_loose_in_store(path, filesystem, names, files)
    return [spelled(file, path) for file in files]


def _in_store(path: str, filesystem: Any, inner: str) -> tuple[list[str], list[str]]:
    """Return all names that are there, and those of the files that a path without a pattern
    means.
    """
    info = filesystem.get_file_info(inner)
    if info.type == pafs.FileType.NotFound:
        raise _nothing_at(path)
    if info.type == pafs.FileType.File:
        return [inner], [inner]
    names = _objects(filesystem, inner)
    meant = sorted(name for name in names if not _is_aside(name, inner))
    return names, _some(meant, path, "directory has")


def _objects(filesystem: Any, folder: str) -> list[str]:
    entries = filesystem.get_file_info(pafs.FileSelector(folder, recursive=True))
    return [entry.path for entry in entries if entry.type == pafs.FileType.File]


def _is_aside(name: str, root: str) -> bool:
    return any(map(is_side_file, name[len(root) :].lstrip("/").split("/")))


def _some(files: list[str], path: str, where: str) -> list[str]:
    if not files:
        raise DataError(f"{path}: expected at least one Parquet file, but the {where} none")
    return files


def _nothing_at(path: str) -> DataError:
    bucket = "; is the name of the bucket right?" if is_remote(path) else ""
    return DataError(
        f"{path}: expected a Parquet file or a directory of them, but there is nothing at "
        f"this path{bucket}"
    )


def _unlisted(path: str, error: Exception) -> DataError:
    return DataError(f"{path}: expected to list its files, but {told(error, path)}")


def is_pattern(path: str) -> bool:
    """Say whether a path has a wildcard."""
    return any(c in path for c in "*?[")
