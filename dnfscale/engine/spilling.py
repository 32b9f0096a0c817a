"""Where a worker of this machine keeps results: in memory up to a share of its own, beyond that on disk for good.

Dask brings what it takes from disk back to memory, and writes something else out for it. A scan takes all rows, one
partition after the other; so every one of them would be read and written in every scan, even if nearly all had room.
Here what lies on disk stays there, and is mapped when it is used: nothing is copied, nothing is allocated, and while
the machine has memory to spare, its disk is not touched.
"""

from __future__ import annotations

import mmap
import os
from typing import Any

from distributed.spill import AnyKeyFile, SpillBuffer

from dnfscale.engine.dask_internals import replace_spill_file
from dnfscale.engine.settings import LOCAL_KEPT_SHARE


class SteadyBuffer(SpillBuffer):  # type: ignore[misc]
    """Results in memory, and those on disk, which stay there when they are used."""

    def slow_to_fast(self, key: Any) -> Any:
        with self.unlock():
            return self.slow[key]


class MappedFile(AnyKeyFile):  # type: ignore[misc]
    """Results on disk as memory that is read when it is used; what is written into it is never on disk."""

    def __getitem__(self, key: Any) -> memoryview:
        with self.lock, open(os.path.join(self.directory, self.filenames[key]), "rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))


def steady_buffer(worker_local_directory: str, memory_bytes: int) -> SteadyBuffer:
    """Return the place for the results of a worker with so much memory."""
    folder = os.path.join(worker_local_directory, "storage")
    buffer = SteadyBuffer(folder, target=int(LOCAL_KEPT_SHARE * memory_bytes))
    replace_spill_file(buffer, MappedFile(folder))
    return buffer
