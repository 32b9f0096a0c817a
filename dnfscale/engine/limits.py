"""Limits of the operating system on open files, on processes and threads, and on the address space
of a process.

Native libraries do not survive them: OpenBLAS interrupts its own process if it cannot start a
thread, and waits for ever for address space; a worker that cannot start says nothing. So a command
looks whether there is room for what it needs before it begins. A limit that is reached later is
recognised behind the error that it causes.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from dnfscale.errors import DnfscaleError, LimitError

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Room:
    """What a command takes from the operating system, as measured with some to spare."""

    files: int
    threads: int
    """Processes count as well: Linux has one limit for both."""
    address_bytes: int
    """Of each process, in all: allocators take what they get, so that what is left says nothing."""

    def check(self) -> None:
        """Raise LimitError if there is not so much room."""
        if resource is None:
            return
        address_bytes = _limit("RLIMIT_AS")
        if address_bytes is not None and address_bytes < self.address_bytes:
            raise _address_error(address_bytes)
        ended = threading.Event()
        with ExitStack() as taken:
            try:
                for _ in range(self.files):
                    taken.callback(os.close, os.open(os.devnull, os.O_RDONLY))
                # Where address space is scarce these would take it themselves: malloc reserves 64
                # MiB for a thread.
                for _ in range(self.threads if address_bytes is None else 0):
                    thread = threading.Thread(target=ended.wait, daemon=True)
                    thread.start()
                    taken.callback(thread.join)
            except (OSError, RuntimeError) as error:
                raise limit_behind(error) or error from error
            finally:
                ended.set()


def room_to_start() -> Room:
    """Return what it takes to load NumPy and pyarrow."""
    return Room(files=8, threads=cores(), address_bytes=288 << 20)


def room_for(workers: int) -> Room:
    """Return what a job takes with so many local workers; 0 for one in this process alone.

    With two workers a job had 42 files open and 25 processes and threads, and ran in an address
    space of 2,150 MiB but not of 1,950; with four, 64 files and 36 threads. Without workers it ran
    in 780 MiB, but not in 680.
    """
    if not workers:
        return Room(files=8, threads=8 + cores(), address_bytes=832 << 20)
    return Room(
        files=12 * (workers + 2),
        threads=6 * workers + 16 + cores(),
        address_bytes=(2048 + 128 * workers) << 20,
    )


def cores() -> int:
    """Return how many processors this process may use; those of the machine where the system does
    not say.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def limit_behind(error: BaseException) -> LimitError | None:
    """Return the error that names the limit which caused this one, if a limit did."""
    if isinstance(error, LimitError):
        return error
    causes = list(_causes(error))
    numbers = {cause.errno for cause in causes if isinstance(cause, OSError)}
    if numbers & {errno.EMFILE, errno.ENFILE}:
        return LimitError(
            f"expected to open more files, but {_limit('RLIMIT_NOFILE') or 'no more'} may "
            "be open at once; raise that, "
            "such as with ulimit -n 4096, or lower cluster.workers"
        )
    if isinstance(error, DnfscaleError):
        # Of the rest our own message knows more: a damaged file may ask for too much memory.
        return None
    address_bytes = _limit("RLIMIT_AS")
    threadless = any(
        "can't start new thread" in str(cause)
        for cause in causes
        if isinstance(cause, RuntimeError)
    )
    if errno.EAGAIN in numbers or (threadless and address_bytes is None):
        return LimitError(
            "expected to start more processes and threads, but "
            f"{_limit('RLIMIT_NPROC') or 'no more'} are allowed; "
            "raise that, such as with ulimit -u 4096 or by the limit of the container, or "
            "lower cluster.workers"
        )
    if not (threadless or errno.ENOMEM in numbers or any(map(_is_of_memory, causes))):
        return None
    if address_bytes is None:
        return LimitError(
            "expected to fit in memory, but there is no more; give a smaller table or model"
        )
    return _address_error(address_bytes)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _is_of_memory(error: BaseException) -> bool:
    unmapped = isinstance(error, ImportError) and "failed to map segment" in str(error)
    return unmapped or isinstance(error, MemoryError)


def _address_error(address_bytes: int) -> LimitError:
    return LimitError(
        "expected more memory, but the address space of a process is limited to "
        f"{address_bytes >> 20:,} MiB; raise "
        "that, such as with ulimit -v unlimited, and limit the memory of workers by "
        "cluster.memory_limit"
    )


def _limit(name: str) -> int | None:
    """Return a limit of this process, if there is one."""
    if resource is None:
        return None
    limit = resource.getrlimit(getattr(resource, name))[0]
    return None if limit == resource.RLIM_INFINITY else int(limit)
