"""Where a local worker keeps results: in memory up to a share of its limit, beyond that on disk for good.

Dask moves a result that is used from disk back to memory, and writes another out to make room. A scan uses all rows,
one partition after the other; so every scan would read and write every partition, even if nearly all fit in memory.
Here a result on disk stays there and is memory-mapped when it is used: nothing is copied or allocated, and as long as
the machine has memory to spare for its page cache, the disk itself is not touched.
"""

from __future__ import annotations

import mmap
import os
from typing import Any

from distributed.spill import AnyKeyFile, SpillBuffer

from dnfscale.engine.dask_internals import replace_spill_file
from dnfscale.engine.settings import LOCAL_KEPT_SHARE


class SteadyBuffer(SpillBuffer):  # type: ignore[misc]
    """Dask's buffer of results, except that results on disk stay there when they are used."""

    def slow_to_fast(self, key: Any) -> Any:
        with self.unlock():
            return self.slow[key]


class MappedFile(AnyKeyFile):  # type: ignore[misc]
    """Results on disk, returned as mapped memory; writes into that memory do not reach the disk."""

    def __getitem__(self, key: Any) -> memoryview:
        with self.lock, open(os.path.join(self.directory, self.filenames[key]), "rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))


def steady_buffer(worker_local_directory: str, memory_bytes: int) -> SteadyBuffer:
    """Return the buffer for the results of a worker with this memory limit."""
    folder = os.path.join(worker_local_directory, "storage")
    buffer = SteadyBuffer(folder, target=int(LOCAL_KEPT_SHARE * memory_bytes))
    replace_spill_file(buffer, MappedFile(folder))
    return buffer
