"""Starts a cluster of worker processes on this machine, forked from one that has loaded what they
need.

Other accounts of the machine reach its ports too. So every connection must show the certificate of
the cluster, which is made for this run unless the spec names one; there are no web pages without a
dashboard; and what workers write to disk is in a folder that nobody else can enter.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from contextlib import ExitStack

import dask
from dask.utils import parse_bytes
from distributed import LocalCluster
from distributed.utils import TimeoutError as DaskTimeoutError

from dnfscale.engine.api import Tell, Watch, untold, unwatched
from dnfscale.engine.dask.credentials import security_of, temporary_security
from dnfscale.engine.dask.engine import ClusterEngine, take_down
from dnfscale.engine.dask.forking import TASKS, prepare_workers
from dnfscale.engine.dask.internals import OneConnectionClient, keep_own_preloads
from dnfscale.engine.dask.scratch import private_scratch
from dnfscale.engine.dask.settings import LOCAL, pages
from dnfscale.engine.dask.spilling import steady_buffer
from dnfscale.engine.limits import limit_behind
from dnfscale.engine.steady_clock import steady_clock
from dnfscale.errors import ClusterError
from dnfscale.spec.cluster import ClusterSpec


def start_local(
    spec: ClusterSpec, *, loaded: Sequence[str] = (), watch: Watch = unwatched, tell: Tell = untold
) -> ClusterEngine:
    """Start worker processes on this machine, which load these modules, and run on them; close()
    ends them.
    """
    started = ExitStack()
    try:
        started.enter_context(steady_clock())
        _configure(started, spec, loaded)
        with dask.config.set(pages(spec.dashboard)):
            cluster = started.enter_context(_cluster(spec))
        if spec.adaptive is not None:
            cluster.adapt(minimum=spec.adaptive.minimum, maximum=spec.adaptive.maximum)
        client = started.enter_context(OneConnectionClient(cluster, set_as_default=False))
        return ClusterEngine.opened(client, started, spec, watch=watch, tell=tell)
    except (OSError, RuntimeError, DaskTimeoutError) as error:
        take_down(started, tell)
        raise limit_behind(error) or ClusterError(
            f"expected to start {spec.workers} worker processes, but that failed: {error}; "
            "a script that starts "
            'some needs its own lines under if __name__ == "__main__"'
        ) from error
    except BaseException:
        take_down(started, tell)
        raise


def _configure(started: ExitStack, spec: ClusterSpec, loaded: Sequence[str]) -> None:
    """Configure Dask until the stack is closed: some settings are read only when a lost worker is
    replaced.
    """
    started.enter_context(dask.config.set(LOCAL.as_config()))
    started.enter_context(private_scratch(spec.local_directory))
    method = "forkserver" if prepare_workers(loaded) else "spawn"
    start = {
        "multiprocessing-method": method,
        "preload": ["dnfscale.engine.dask.quiet_worker", TASKS, *loaded],
    }
    started.enter_context(
        dask.config.set({f"distributed.worker.{name}": value for name, value in start.items()})
    )
    keep_own_preloads()


def _cluster(spec: ClusterSpec) -> LocalCluster:
    return LocalCluster(
        n_workers=spec.adaptive.minimum if spec.adaptive else spec.workers,
        threads_per_worker=1,
        processes=True,
        memory_limit=spec.memory_limit,
        data=(steady_buffer, {"memory_bytes": parse_bytes(spec.memory_limit)}),
        # The environment of now: the forkserver may have been started long ago, with another.
        env=dict(os.environ),
        host="127.0.0.1",
        protocol="tls://",
        security=security_of(spec.tls) or temporary_security(),
        # Any free port of this machine alone. Without the dashboard's pages, and those that Dask
        # would give every worker, the start is a second shorter.
        dashboard_address=spec.dashboard or "127.0.0.1:0",
        scheduler_kwargs={"dashboard": spec.dashboard is not None},
        silence_logs=logging.CRITICAL,
    )
