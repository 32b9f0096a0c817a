"""Where a local worker keeps results: in memory up to a share of its limit, beyond that on disk for
good.

Dask moves a result that is used from disk back to memory, and writes another out to make room. A
scan uses all rows, one partition after the other; so every scan would read and write every
partition, even if nearly all fit in memory. Here a result on disk stays there and is memory-mapped
when it is used: nothing is copied or allocated, and as long as the machine has memory to spare for
its page cache, the disk itself is not touched.

A disk that takes no more is reported once; results then stay in memory, as long as that lasts
(roll_call.py ends a job whose workers have no memory left).
"""

from __future__ import annotations

import errno
import mmap
import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from distributed import Worker
from distributed.spill import AnyKeyFile, SpillBuffer

from dnfscale.engine.dask.internals import replace_spill_file
from dnfscale.engine.dask.settings import LOCAL_KEPT_SHARE

REFUSED = "dnfscale-refused"
"""The action of the event that says that a result could not be written."""
_RETRY_S = 5.0
"""How long a full disk is left alone: Dask would try again ten times a second, in the thread that
answers others.
"""


class MappedFile(AnyKeyFile):  # type: ignore[misc]
    """Results on disk, returned as mapped memory; writes into that memory do not reach the disk."""

    def __init__(self, directory: str) -> None:
        super().__init__(directory)
        self._closed_until = 0.0
        self.report: Callable[[str], None] = lambda _reason: None
        """Called with the reason where a result could not be written."""

    def __getitem__(self, key: Any) -> memoryview:
        with self.lock, open(os.path.join(self.directory, self.filenames[key]), "rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))

    def __setitem__(self, key: Any, value: Any) -> None:
        if time.monotonic() < self._closed_until:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.directory)
        try:
            super().__setitem__(key, value)
        except OSError as error:
            self._closed_until = time.monotonic() + _RETRY_S
            self._remove_torn()
            self.report(error.strerror or str(error))
            raise

    def _remove_torn(self) -> None:
        """Remove what was written of a result before there was no more room."""
        for name in set(os.listdir(self.directory)) - set(self.filenames.values()):
            with suppress(OSError):
                os.remove(os.path.join(self.directory, name))


class SteadyBuffer(SpillBuffer):  # type: ignore[misc]
    """Dask's buffer of results, except that results on disk stay there when they are used."""

    def __init__(self, folder: str, *, target: int) -> None:
        super().__init__(folder, target=target)
        self.file = MappedFile(folder)
        replace_spill_file(self, self.file)

    def slow_to_fast(self, key: Any) -> Any:
        with self.unlock():
            return self.slow[key]


def steady_buffer(worker_local_directory: str, memory_bytes: int) -> SteadyBuffer:
    """Return the buffer for the results of a worker with this memory limit."""
    folder = os.path.join(worker_local_directory, "storage")
    return SteadyBuffer(folder, target=int(LOCAL_KEPT_SHARE * memory_bytes))


def shared_folder(worker: Worker) -> str:
    """Return the folder in which all workers of a machine have one for their results."""
    return os.path.dirname(str(worker.local_directory))


def report_refusals(worker: Worker) -> None:
    """Have a worker tell its scheduler of results that it could not write, if it keeps them in our
    buffer.
    """

    def report(reason: str) -> None:
        worker.log_event(
            "all", {"action": REFUSED, "folder": shared_folder(worker), "reason": reason}
        )

    if isinstance(worker.data, SteadyBuffer):
        worker.data.file.report = report
