"""Folders of Parquet or CSV files that appear only when all of their files are written.

On a file system the files are written to a folder beside the output, which is then renamed. A store
cannot rename: files, each whole, appear one by one, those of a failed run are removed, and an
object named _SUCCESS is written last.

An existing output is replaced only by force, and only if it is an earlier prediction and nothing
else. In a store the new files are first written below _NEW. When all are there, _SUCCESS is
removed, the files are copied to their places, old files that none of them has replaced are removed,
and _SUCCESS is written again.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
from pyarrow import csv

from dnfscale.data.cells import defused_table
from dnfscale.data.storage import located, told
from dnfscale.errors import LimitError, SpecError
from dnfscale.spec.storage import Access, is_remote, joined

_STARTED, _NEW, _COMPLETE = "_STARTED", "_NEW", "_SUCCESS"
_PART = re.compile(rf"(?:{_NEW}/)?part-[0-9]{{5,}}\.(?:parquet|csv)")


@contextmanager
def new_folder(
    output: str, access: Access, *, columns: Sequence[Sequence[str]], force: bool
) -> Iterator[str]:
    """Yield a folder to write into; when the block ends, all of its files are at the output, or
    none after an error.

    By force they replace existing files, if the last columns of these are one of some lists and
    there is nothing else.
    """
    earlier = _Earlier(output, tuple(map(tuple, columns)))
    place = (
        _in_store(output, access, earlier, force)
        if is_remote(output)
        else _on_disk(Path(output), earlier, force)
    )
    try:
        with place as folder:
            yield folder
    except (pa.ArrowException, OSError) as error:
        advice = "check the object store" if is_remote(output) else "make room"
        raise LimitError(
            f"{output}: expected to write predictions, but {told(error, output)}; {advice}"
        ) from error


def write_part(table: pa.Table, folder: str, number: int, form: str, access: Access) -> None:
    """Write a table as a file of a folder, "parquet" or "csv", in one piece."""
    path = joined(folder, f"part-{number:05d}.{form}")
    write = pq.write_table
    if form == "csv":
        table, write = defused_table(table), csv.write_csv
    if not is_remote(path):
        write(table, path)
        return
    # In memory first: a stream to a store that is closed half-way leaves half a file as an object.
    sink = pa.BufferOutputStream()
    write(table, sink)
    try:
        _put(path, access, sink.getvalue())
    except (pa.ArrowException, OSError) as error:
        raise LimitError(
            f"{path}: expected to write predictions, but {told(error, path)}"
        ) from error


@dataclass(frozen=True, slots=True)
class _Earlier:
    """What may be replaced by force: an earlier prediction, complete or not."""

    output: str
    columns: tuple[tuple[str, ...], ...]

    def check(self, name: str, opened: Callable[[], Any]) -> None:
        """Raise SpecError if a file, named relative to the folder, does not belong to a
        prediction.
        """
        if name in (_STARTED, _COMPLETE):
            return
        if not _PART.fullmatch(name):
            raise self.refusal(repr(name))
        try:
            with opened() as handle:
                found = _columns_of(name, handle)
        except (pa.ArrowException, OSError) as error:
            raise self.refusal(f"{name!r}, which cannot be read as one") from error
        if not any(tuple(found[-len(columns) :]) == columns for columns in self.columns):
            raise self.refusal(f"{name!r} with the columns {', '.join(found[:5])}")

    def check_folder(self, folder: Path) -> None:
        """Raise SpecError if a local path is neither a link nor the folder of a prediction."""
        if folder.is_symlink():
            # Only the link is replaced; what it points to stays.
            return
        if not folder.is_dir():
            raise self.refusal("a file")
        for entry in sorted(folder.iterdir()):
            if entry.is_symlink() or not entry.is_file():
                raise self.refusal(repr(entry.name))
            self.check(entry.name, partial(entry.open, "rb"))

    def refusal(self, found: str) -> SpecError:
        return SpecError(
            f"{self.output}: expected nothing but an earlier prediction for --force to "
            f"replace, but there is {found}; "
            "choose another --output"
        )


def _columns_of(name: str, handle: Any) -> list[str]:
    """Return the columns of a file that is open."""
    if name.endswith(".csv"):
        with csv.open_csv(handle) as reader:
            return list(reader.schema.names)
    return list(pq.read_schema(handle).names)


@contextmanager
def _on_disk(output: Path, earlier: _Earlier, force: bool) -> Iterator[str]:
    # Workers may have another working directory.
    output = Path(os.path.abspath(output))
    if os.path.lexists(output):
        if not force:
            raise _is_there(str(output))
        earlier.check_folder(output)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        # Not by tempfile, whose folders are for their owner alone: what becomes the output follows
        # the umask.
        draft = output.with_name(f".{output.name}.{secrets.token_hex(4)}")
        draft.mkdir()
    except OSError as error:
        raise SpecError(
            f"{output}: expected a folder that can be written, but {error.strerror}"
        ) from error
    try:
        yield str(draft)
        if os.path.lexists(output):
            # Somebody may have written there in the meantime.
            earlier.check_folder(output)
        _move(draft, output)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _move(draft: Path, output: Path) -> None:
    """Move a finished folder to its place; what was there is removed only when the new one is
    complete.
    """
    if not os.path.lexists(output):
        os.replace(draft, output)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{output.name}.old.", dir=output.parent))
    try:
        os.replace(output, old / "was")
    except OSError:
        old.rmdir()
        raise
    try:
        os.replace(draft, output)
    except OSError:
        os.replace(old / "was", output)
        old.rmdir()
        raise
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _in_store(output: str, access: Access, earlier: _Earlier, force: bool) -> Iterator[str]:
    filesystem, inner = located(output, access)
    if "/" not in inner:
        raise SpecError(
            f"--output must be a folder in a bucket, got the bucket {output}; add the name "
            "of a folder"
        )
    try:
        there = _names(filesystem, inner)
        if there and not force:
            raise _is_there(output)
        for name in there:
            earlier.check(name, partial(filesystem.open_input_file, f"{inner}/{name}"))
        # Files that a killed run has left.
        _remove(filesystem, inner, [name for name in there if name.startswith(f"{_NEW}/")])
        # This shows at once whether the place can be written to, and reserves it.
        _put(joined(output, _STARTED), access, b"")
    except (pa.ArrowException, OSError) as error:
        raise SpecError(
            f"{output}: expected a folder that can be written, but {told(error, output)}"
        ) from error
    # If there are older files, the new ones are written apart, so that the older stay as they are
    # if this fails.
    apart = f"{_NEW}/" if there else ""
    try:
        yield joined(output, _NEW) if apart else output
        if apart:
            _replace(filesystem, inner)
        _put(joined(output, _COMPLETE), access, b"")
    except BaseException:
        with suppress(OSError):
            mine = [
                name
                for name in _names(filesystem, inner)
                if _PART.fullmatch(name) and name.startswith(apart)
            ]
            _remove(filesystem, inner, [*mine, _STARTED])
        raise
    with suppress(OSError):
        _remove(filesystem, inner, [_STARTED])


def _replace(filesystem: pafs.FileSystem, inner: str) -> None:
    """Move the new files of a store to the places of the old ones."""
    there = [
        name for name in _names(filesystem, inner) if _PART.fullmatch(name) or name == _COMPLETE
    ]
    new = [name for name in there if name.startswith(f"{_NEW}/")]
    _remove(filesystem, inner, [name for name in there if name == _COMPLETE])
    for name in new:
        filesystem.copy_file(f"{inner}/{name}", f"{inner}/{name.removeprefix(f'{_NEW}/')}")
    placed = {name.removeprefix(f"{_NEW}/") for name in new}
    _remove(filesystem, inner, [name for name in there if name not in placed and name != _COMPLETE])


def _names(filesystem: pafs.FileSystem, inner: str) -> list[str]:
    """Return the objects in and below a folder, by their names relative to it."""
    found = filesystem.get_file_info(pafs.FileSelector(inner, recursive=True, allow_not_found=True))
    return sorted(
        entry.path.removeprefix(f"{inner}/") for entry in found if entry.type == pafs.FileType.File
    )


def _remove(filesystem: pafs.FileSystem, inner: str, names: Sequence[str]) -> None:
    for name in names:
        filesystem.delete_file(f"{inner}/{name}")


def _put(path: str, access: Access, content: bytes | pa.Buffer) -> None:
    filesystem, inner = located(path, access)
    stream = filesystem.open_output_stream(inner)
    stream.write(content)
    stream.close()


def _is_there(output: str) -> SpecError:
    return SpecError(
        f"{output} is already there; choose another --output, or pass --force to replace it"
    )
