"""Clusters that a job starts elsewhere: on other hosts, in the queue of a batch system, as pods.

Everything that is started goes on one stack, so that an error, a signal and the end of the job take
down the same.
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
from dnfscale.engine.dask.client import wait_for_workers
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


def start_remote(
    spec: ClusterSpec, start: Start, *, watch: Watch = unwatched, tell: Tell = untold
) -> ClusterEngine:
    """Start a cluster and run on it; closing the engine takes it down."""
    stack = ExitStack()
    stack.enter_context(steady_clock())
    stack.enter_context(dask.config.set({**ELSEWHERE.as_config(), **pages(spec.dashboard)}))
    stack.enter_context(silence_logging_cmgr(logging.CRITICAL))
    try:
        started = start(spec, stack)
        client = stack.enter_context(started.connect())
        wait_for_workers(
            client, spec, tell, started.where, advice=started.advice, look=started.look
        )
        for difference in check_versions(client):
            tell(Notice.warning(difference))
        keep_scheduler_steady(client)
        engine = ClusterEngine.opened(client, stack, spec, watch=watch, tell=tell)
    except BaseException as error:
        take_down(stack, tell)
        if isinstance(error, DnfscaleError) or not isinstance(error, Exception):
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ClusterError(
            f"expected to start a cluster of kind {spec.kind}, but that failed: {reason}"
        ) from error
    # The scheduler of a batch system's cluster is in this process, which goes on after the job.
    engine.at_close(partial(let_scheduler_go, client))
    return engine
