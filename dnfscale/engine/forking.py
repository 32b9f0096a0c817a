"""The process that workers of this machine are forked from: what all of them need is loaded once, and loaded early.

While it loads libraries, the runner loads its own. A worker that has died is back without loading anything.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Sequence
from multiprocessing import forkserver

from dnfscale.engine.settings import LOCAL

TASKS = "dnfscale.engine.tasks"
"""What every task uses, whatever it does."""


def prepare_workers(loaded: Sequence[str]) -> bool:
    """Start the process, unless it is there, and say whether there is one; this does not wait for what it loads.

    It loads these modules, or those of an earlier call. There is none where the path of the folder for temporary files
    is too long for a socket.
    """
    multiprocessing.get_context("forkserver").set_forkserver_preload(["distributed.nanny", TASKS, *loaded])
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
