"""Clusters elsewhere: those that are running, which a job joins, and those that it starts on other
hosts, in the queue of a batch system, or as pods.

Everything that is started goes on one stack, so that an error, a signal and the end of the job take
down the same. A cluster that was joined is left as it was: results go with the client, and the
scheduler forgets our phases and gets its own clock back.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import dask
from distributed import Client
from distributed.utils import silence_logging_cmgr

from dnfscale.engine.api import Notice, Tell, Watch, untold, unwatched
from dnfscale.engine.dask.client import connected, wait_for_workers
from dnfscale.engine.dask.engine import ClusterEngine, take_down
from dnfscale.engine.dask.settings import ELSEWHERE, pages
from dnfscale.engine.steady_clock import keep_scheduler_steady, let_scheduler_go, steady_clock
from dnfscale.engine.versions import check_versions
from dnfscale.errors import ClusterError, DnfscaleError
from dnfscale.spec.cluster import ClusterSpec


@dataclass(frozen=True, slots=True)
class Started:
    """A cluster that was requested: how to connect, its name in messages, and how to see that
    waiting is futile.
    """

    connect: Callable[[], Client]
    where: str
    advice: str
    look: Callable[[], Any] = lambda: None


Start = Callable[[ClusterSpec, ExitStack], Started]
"""Requests a cluster; what is to be taken down again goes on the stack."""


def join(
    spec: ClusterSpec, address: str, *, watch: Watch = unwatched, tell: Tell = untold
) -> ClusterEngine:
    """Run on a cluster that somebody else started; closing the engine leaves it as it was."""

    def find(spec: ClusterSpec, _stack: ExitStack) -> Started:
        return Started(
            lambda: connected(address, spec.tls), f"the scheduler {address}", "start one"
        )

    stack = ExitStack()
    try:
        engine = _opened(spec, find, stack, watch=watch, tell=tell)
    except BaseException:
        take_down(stack, tell)
        raise
    engine.at_close(engine.forget_phases)
    return engine


def start_remote(
    spec: ClusterSpec, start: Start, *, watch: Watch = unwatched, tell: Tell = untold
) -> ClusterEngine:
    """Start a cluster and run on it; closing the engine takes it down."""
    stack = ExitStack()
    stack.enter_context(dask.config.set({**ELSEWHERE.as_config(), **pages(spec.dashboard)}))
    try:
        return _opened(spec, start, stack, watch=watch, tell=tell)
    except BaseException as error:
        take_down(stack, tell)
        if isinstance(error, DnfscaleError) or not isinstance(error, Exception):
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ClusterError(
            f"expected to start a cluster of kind {spec.kind}, but that failed: {reason}"
        ) from error


def _opened(
    spec: ClusterSpec, start: Start, stack: ExitStack, *, watch: Watch, tell: Tell
) -> ClusterEngine:
    """Request a cluster, connect to it, and wait for its first worker."""
    stack.enter_context(steady_clock())
    # We report what happens ourselves; Dask's log would put tracebacks between our lines.
    stack.enter_context(silence_logging_cmgr(logging.CRITICAL))
    started = start(spec, stack)
    client = stack.enter_context(started.connect())
    wait_for_workers(client, spec, tell, started.where, advice=started.advice, look=started.look)
    for difference in check_versions(client):
        tell(Notice.warning(difference))
    keep_scheduler_steady(client)
    engine = ClusterEngine.opened(client, stack, spec, watch=watch, tell=tell)
    # Where the scheduler is in this process, or is not ours, it goes on after the job.
    engine.at_close(partial(let_scheduler_go, client))
    return engine
