"""The process that workers of this machine are forked from: what all of them need is loaded once, and loaded early.

While it loads libraries, the runner loads its own. A worker that has died is back without loading anything.
"""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing import forkserver

LOADED = ["dnfscale.engine.applying", "dnfscale.learn", "scipy.optimize"]
"""What tasks use. SciPy's optimizers alone would delay the first formula by half a second."""

ENVIRONMENT = {
    # Dask makes malloc give back every freed array at once, and the page faults of taking memory anew double the time
    # of a scan. Blocks are small, so that what is held instead stays below this; rows that come back from disk are not,
    # and would leave holes.
    "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
    "MALLOC_MMAP_THRESHOLD_": str(4 << 20),
    # As Dask starts workers.
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "6640",
}
"""What libraries look at when they are loaded, unless it is set already."""


def prepare_workers() -> bool:
    """Start the process, unless it is there, and say whether there is one; this does not wait for what it loads.

    There is none where the path of the folder for temporary files is too long for a socket.
    """
    multiprocessing.get_context("forkserver").set_forkserver_preload(["distributed.nanny", *LOADED])
    added = ENVIRONMENT.keys() - os.environ.keys()
    os.environ.update({name: ENVIRONMENT[name] for name in added})
    try:
        forkserver.ensure_running()
    except OSError:
        return False
    finally:
        for name in added:
            del os.environ[name]
    return True
