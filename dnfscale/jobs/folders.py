"""Folders that a run writes to: on this machine, or in an object store; a file in one is there
whole or not at all.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

import pyarrow as pa
import pyarrow.fs as pafs

from dnfscale.data.storage import located, told
from dnfscale.errors import SpecError
from dnfscale.spec.storage import DEFAULT_ACCESS, Access, is_remote

_APPEND_S = 2.0
"""A store cannot append to a file: what is added is written at most this often, and when the folder
is flushed.
"""


class FolderError(OSError):
    """A folder that cannot be written, or a store that does not answer; strerror says why."""


class Folder(Protocol):
    """Named files; a name may have folders in it, such as tables/folds.csv."""

    @property
    def path(self) -> str:
        """The folder as the user wrote it."""
        ...

    def prepare(self) -> None:
        """Make sure that files can be written."""
        ...

    def read(self, name: str) -> bytes:
        """Return the content of a file; FileNotFoundError if there is none."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Write a file whole."""
        ...

    def jot(self, name: str, content: bytes) -> None:
        """Write a file whole without waiting for the disk: it outlives this process, but perhaps
        not the machine.
        """
        ...

    def append(self, name: str, text: str) -> None:
        """Add to the end of a file of text."""
        ...

    def has(self, name: str) -> bool:
        """Return whether there is a file of this name."""
        ...

    def is_link(self, name: str) -> bool:
        """Return whether this name is a link to something elsewhere."""
        ...

    def names(self, below: str, endings: tuple[str, ...]) -> list[str]:
        """Return the names of the files directly in a folder of this one that end in one of the
        endings.
        """
        ...

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        ...

    def flush(self) -> None:
        """Write what was appended and has not been written yet."""
        ...


def open_folder(path: str | Path, access: Access = DEFAULT_ACCESS) -> Folder:
    """Return the folder at a path or URL; nothing is created yet."""
    text = os.fspath(path)
    return StoreFolder(text, access) if is_remote(text) else LocalFolder(Path(text))


class LocalFolder:
    """A folder of this machine's file system."""

    def __init__(self, path: Path) -> None:
        self._shown = str(path)
        # Absolute, because threads write here too and must not be affected when the process changes
        # its directory.
        self._path = path.absolute()

    @property
    def path(self) -> str:
        return self._shown

    def prepare(self) -> None:
        with _told():
            self._path.mkdir(parents=True, exist_ok=True)

    def read(self, name: str) -> bytes:
        return (self._path / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        with _told():
            write_whole(self._path / name, content)

    def jot(self, name: str, content: bytes) -> None:
        with _told(), _drafted(self._path / name) as file:
            file.write(content)

    def append(self, name: str, text: str) -> None:
        with _told(), (self._path / name).open("a", encoding="utf-8") as file:
            file.write(text)

    def has(self, name: str) -> bool:
        return (self._path / name).is_file()

    def is_link(self, name: str) -> bool:
        return (self._path / name).is_symlink()

    def names(self, below: str, endings: tuple[str, ...]) -> list[str]:
        files = (self._path / below).glob("*")
        return sorted(
            f"{below}/{file.name}"
            for file in files
            if file.name.endswith(endings) and file.is_file()
        )

    def remove(self, name: str) -> None:
        with _told():
            (self._path / name).unlink(missing_ok=True)

    def flush(self) -> None:
        pass


class StoreFolder:
    """A folder of an object store: a prefix that the names of its objects share."""

    def __init__(self, path: str, access: Access) -> None:
        self._path = path.rstrip("/")
        self._access = access
        self._added: dict[str, str] = {}
        self._waiting: dict[str, float] = {}

    @property
    def path(self) -> str:
        return self._path

    def prepare(self) -> None:
        """Do nothing: a store needs no folders, and whether it can be written shows with the first
        file.
        """

    def read(self, name: str) -> bytes:
        try:
            filesystem, inner = self._located(name)
            with filesystem.open_input_file(inner) as file:
                return bytes(file.read())
        except FileNotFoundError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise self._failure(error) from error

    def write(self, name: str, content: bytes) -> None:
        try:
            filesystem, inner = self._located(name)
            stream = filesystem.open_output_stream(inner)
            # Written in one piece: a stream that is closed halfway would leave an object with half
            # a file.
            stream.write(content)
            stream.close()
        except (pa.ArrowException, OSError) as error:
            raise self._failure(error) from error

    def jot(self, name: str, content: bytes) -> None:
        self.write(name, content)

    def append(self, name: str, text: str) -> None:
        if name not in self._added:
            self._added[name] = self.read(name).decode("utf-8") if self.has(name) else ""
        self._added[name] += text
        if (
            time.monotonic() - self._waiting.setdefault(name, time.monotonic() - _APPEND_S)
            >= _APPEND_S
        ):
            self._write_added(name)

    def has(self, name: str) -> bool:
        return bool(self._info(name).type == pafs.FileType.File)

    def is_link(self, name: str) -> bool:  # noqa: ARG002 (a store has no links)
        return False

    def names(self, below: str, endings: tuple[str, ...]) -> list[str]:
        try:
            filesystem, inner = self._located(below)
            found = filesystem.get_file_info(pafs.FileSelector(inner, allow_not_found=True))
        except (pa.ArrowException, OSError) as error:
            raise self._failure(error) from error
        return sorted(
            f"{below}/{info.base_name}" for info in found if info.base_name.endswith(endings)
        )

    def remove(self, name: str) -> None:
        try:
            filesystem, inner = self._located(name)
            filesystem.delete_file(inner)
        except FileNotFoundError:
            return
        except (pa.ArrowException, OSError) as error:
            raise self._failure(error) from error

    def flush(self) -> None:
        for name in list(self._added):
            self._write_added(name)

    def _write_added(self, name: str) -> None:
        self.write(name, self._added[name].encode())
        self._waiting[name] = time.monotonic()

    def _located(self, name: str) -> tuple[pafs.FileSystem, str]:
        return located(f"{self._path}/{name}", self._access)

    def _info(self, name: str) -> pafs.FileInfo:
        try:
            filesystem, inner = self._located(name)
            return filesystem.get_file_info(inner)
        except (pa.ArrowException, OSError) as error:
            raise self._failure(error) from error

    def _failure(self, error: BaseException) -> FolderError:
        return FolderError(None, told(error, self._path))


@contextmanager
def _told() -> Iterator[None]:
    """Turn errors of the file system into FolderError."""
    try:
        yield
    except OSError as error:
        raise FolderError(error.errno, error.strerror or str(error)) from error


def write_whole(target: Path, content: str | bytes) -> None:
    """Write a file under another name, then rename it into place: it is there whole or not
    at all.
    """
    with _drafted(target) as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())


def write_asked(target: Path, content: str | bytes, option: str = "--output") -> None:
    """Write the file that an option names, and its folder."""
    try:
        write_whole(target, content)
    except OSError as error:
        raise SpecError(
            f"{target} cannot be written: {error.strerror}; choose another {option}"
        ) from error


@contextmanager
def _drafted(target: Path) -> Iterator[BinaryIO]:
    """Yield a file to write, which replaces the target when the block ends."""
    target.parent.mkdir(parents=True, exist_ok=True)
    # The name is known before the file exists, so that nothing is left behind if a signal comes at
    # any moment.
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with draft.open("xb") as file:
            yield file
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
