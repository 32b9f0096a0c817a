"""A cluster that somebody else started: connect, wait for workers, compare versions, and run on it.

It is left as it was: results go with the client, and the scheduler forgets our phases and gets its
own clock back.
"""

from __future__ import annotations

import logging
from contextlib import ExitStack
from functools import partial

from distributed.utils import silence_logging_cmgr

from dnfscale.engine.api import Notice, Tell, Watch, untold, unwatched
from dnfscale.engine.dask.client import connected, wait_for_workers
from dnfscale.engine.dask.engine import ClusterEngine, take_down
from dnfscale.engine.steady_clock import keep_scheduler_steady, let_scheduler_go, steady_clock
from dnfscale.engine.versions import check_versions
from dnfscale.spec.cluster import ClusterSpec


def join(
    spec: ClusterSpec, address: str, *, watch: Watch = unwatched, tell: Tell = untold
) -> ClusterEngine:
    """Run on a cluster that somebody else started; closing the engine leaves it as it was."""
    stack = ExitStack()
    stack.enter_context(steady_clock())
    # We report what happens ourselves; Dask's log would put tracebacks between our lines.
    stack.enter_context(silence_logging_cmgr(logging.CRITICAL))
    try:
        client = stack.enter_context(connected(address, spec.tls))
        wait_for_workers(client, spec, tell, f"the scheduler {address}", advice="start one")
        for difference in check_versions(client):
            tell(Notice.warning(difference))
        keep_scheduler_steady(client)
        engine = ClusterEngine.opened(client, stack, spec, watch=watch, tell=tell)
    except BaseException:
        take_down(stack, tell)
        raise
    engine.at_close(partial(let_scheduler_go, client))
    engine.at_close(engine.forget_phases)
    return engine
