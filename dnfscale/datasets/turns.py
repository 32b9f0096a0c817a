"""One process at a time in a folder of this machine that keeps what was converted.

Two jobs of one output folder may want the same file at the same time. The second waits for the
first, and finds what that has made; a process that dies frees its place.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator

from dnfscale.spec.storage import is_remote

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LOOK_S = 0.1


@contextlib.contextmanager
def in_turn(
    folder: str, watch: Callable[[], object], tell: Callable[[str], None]
) -> Iterator[None]:
    """Wait until no other process is at work in a folder, and keep others away meanwhile; a store
    has no such turns, and neither has Windows.

    The watch is called while it waits, and may end that by an exception.
    """
    if fcntl is None or is_remote(folder):
        yield
        return
    lock = f"{folder}.lock"
    os.makedirs(os.path.dirname(lock), exist_ok=True)
    handle = _held(lock, watch, tell)
    try:
        yield
    finally:
        # Whoever waits for it sees that it is gone, and makes another.
        with contextlib.suppress(OSError):
            os.unlink(lock)
        os.close(handle)
        with contextlib.suppress(OSError):
            # Nothing is left of a conversion that failed.
            os.rmdir(os.path.dirname(lock))


def _held(lock: str, watch: Callable[[], object], tell: Callable[[str], None]) -> int:
    is_told = False
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_there(lock, handle):
                return handle
        except BlockingIOError:
            pass
        os.close(handle)
        if not is_told:
            tell(f"waits for another process that converts to {lock.removesuffix('.lock')}")
            is_told = True
        watch()
        time.sleep(_LOOK_S)


def _is_there(lock: str, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(lock), os.fstat(handle))
    except FileNotFoundError:
        return False
