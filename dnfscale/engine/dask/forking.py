"""The forkserver: the process that local workers are forked from, with the libraries that all of
them need.

It loads them once, and early: at the same time as the runner loads its own. A worker that replaces
a dead one is forked from it too, and has nothing to load.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Sequence
from multiprocessing import forkserver

from dnfscale.engine.dask.settings import LOCAL

TASKS = "dnfscale.engine.dask.tasks"
"""The module of our task functions, which every worker needs."""


def prepare_workers(loaded: Sequence[str]) -> bool:
    """Start the forkserver, unless it runs, and say whether it does; this does not wait until it
    has loaded anything.

    It loads these modules; one that runs already has those of the call that started it. It cannot
    be started where the path of the folder for temporary files is too long for a socket.
    """
    multiprocessing.get_context("forkserver").set_forkserver_preload(
        ["distributed.nanny", TASKS, *loaded]
    )
    added = LOCAL.libraries.keys() - os.environ.keys()
    os.environ.update({name: LOCAL.libraries[name] for name in added})
    try:
        forkserver.ensure_running()
    except OSError:
        return False
    finally:
        for name in added:
            del os.environ[name]
    return True
