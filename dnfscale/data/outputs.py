"""Folders of Parquet files that appear when all of them are written.

On a file system the files are written beside the folder's place, which is then renamed. A store cannot rename: files,
each whole, appear one by one, those of a run that failed are removed, and an object named _SUCCESS comes last.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from dnfscale.data.storage import Access, is_remote, joined, located, told
from dnfscale.errors import LimitError, SpecError

_COMPLETE = "_SUCCESS"


@contextmanager
def new_folder(output: str, access: Access, *, force: bool) -> Iterator[str]:
    """Give a folder to write into; when the block ends its files are at the output, all of them or none."""
    try:
        with _in_store(output, access, force) if is_remote(output) else _on_disk(Path(output), force) as folder:
            yield folder
    except (pa.ArrowException, OSError) as error:
        advice = "look after the store" if is_remote(output) else "make room"
        raise LimitError(f"{output}: expected to write predictions, but {told(error, output)}; {advice}") from error


def write_parquet(table: pa.Table, folder: str, name: str, access: Access) -> None:
    """Write a table as a file of a folder, whole."""
    path = joined(folder, name)
    if not is_remote(path):
        pq.write_table(table, path)
        return
    # In memory first: a stream to a store that is closed half-way leaves an object of half a file.
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    try:
        _put(path, access, sink.getvalue())
    except (pa.ArrowException, OSError) as error:
        raise LimitError(f"{path}: expected to write predictions, but {told(error, path)}") from error


@contextmanager
def _on_disk(output: Path, force: bool) -> Iterator[str]:
    # Workers may have another working directory.
    output = Path(os.path.abspath(output))
    if os.path.lexists(output) and not force:
        raise _is_there(str(output))
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
    except OSError as error:
        raise SpecError(f"{output}: expected a folder that can be written, but {error.strerror}") from error
    try:
        yield str(draft)
        _move(draft, output)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _move(draft: Path, output: Path) -> None:
    """Put a finished folder in its place; what was there is removed only when the new one is whole."""
    os.chmod(draft, 0o755)
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
def _in_store(output: str, access: Access, force: bool) -> Iterator[str]:
    filesystem, inner = located(output, access)
    try:
        earlier = _objects(filesystem, inner)
        if earlier and not force:
            raise _is_there(output)
        for name in earlier:
            filesystem.delete_file(name)
        # Shows at once whether the place can be written to, and holds it.
        _put(joined(output, "_STARTED"), access, b"")
    except (pa.ArrowException, OSError) as error:
        raise SpecError(f"{output}: expected a folder that can be written, but {told(error, output)}") from error
    try:
        yield output
        _put(joined(output, _COMPLETE), access, b"")
    except BaseException:
        with suppress(OSError):
            for name in _objects(filesystem, inner):
                filesystem.delete_file(name)
        raise
    with suppress(OSError):
        filesystem.delete_file(f"{inner}/_STARTED")


def _objects(filesystem: pafs.FileSystem, inner: str) -> list[str]:
    found = filesystem.get_file_info(pafs.FileSelector(inner, recursive=True, allow_not_found=True))
    return [entry.path for entry in found if entry.type == pafs.FileType.File]


def _put(path: str, access: Access, content: bytes | pa.Buffer) -> None:
    filesystem, inner = located(path, access)
    stream = filesystem.open_output_stream(inner)
    stream.write(content)
    stream.close()


def _is_there(output: str) -> SpecError:
    return SpecError(f"{output} is already there; choose another --output, or pass --force to replace it")
