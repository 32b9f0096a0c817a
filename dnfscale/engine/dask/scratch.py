"""Where schedulers and workers of this machine keep files: in a folder that no other account can
enter.

Dask's own folder is the same for all accounts, below /tmp. It takes one that somebody else has
made, loads Python modules from it, and unpickles what it has written there: so whoever makes it
first, open to all, could run code as everybody who starts a cluster later.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import dask


@contextmanager
def private_scratch(parent: str | None) -> Iterator[None]:
    """Have Dask keep its files in a folder of this account below this one, or below that of
    temporary files.

    The folder stays, so that the next cluster can remove what killed workers have left in it.
    """
    parent = parent or dask.config.get("temporary-directory") or tempfile.gettempdir()
    os.makedirs(parent, exist_ok=True)
    name = f"dnfscale-{_account()}"
    # It is that of another cluster of this process already, where one is started beside it.
    folder = parent if os.path.basename(parent) == name else os.path.join(parent, name)
    ours = _is_ours(folder)
    if not ours:
        folder = tempfile.mkdtemp(prefix="dnfscale-", dir=parent)
    try:
        with dask.config.set({"temporary-directory": folder}):
            yield
    finally:
        if not ours:
            shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: str) -> bool:
    """Make a folder that nobody else can enter, unless it is there, and say whether it is one."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        found = os.lstat(folder)
        return (
            stat.S_ISDIR(found.st_mode) and found.st_uid == _account() and not found.st_mode & 0o077
        )
    return True


def _account() -> int:
    """Return the number of this account; 0 on Windows, where the folder of temporary files is that
    of one account, and st_uid is always 0.
    """
    return os.getuid() if hasattr(os, "getuid") else 0
