"""Clusters that a job starts elsewhere: on hosts by ssh, in the queue of a batch system, as pods.

Everything that is started goes on one stack, so that an error, a signal and the end of the job take down the same.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import dask
from distributed import Client, SSHCluster
from distributed.utils import silence_logging_cmgr

from dnfscale.engine.api import Notice, Tell, Watch, untold, unwatched
from dnfscale.engine.client import connected, wait_for_workers
from dnfscale.engine.cluster import ClusterEngine, take_down
from dnfscale.engine.credentials import by_role, security_of
from dnfscale.engine.dask_internals import OneConnectionClient
from dnfscale.engine.kinds import ClusterSpec
from dnfscale.engine.settings import ELSEWHERE, pages
from dnfscale.engine.steady_clock import keep_scheduler_steady, let_scheduler_go, steady_clock
from dnfscale.engine.versions import check_versions
from dnfscale.errors import ClusterError, DnfscaleError


@dataclass(frozen=True, slots=True)
class Started:
    """A cluster that was requested: how to connect, its name in messages, and how to see that waiting is futile."""

    connect: Callable[[], Client]
    where: str
    advice: str
    look: Callable[[], Any] = lambda: None


def start_remote(spec: ClusterSpec, *, watch: Watch = unwatched, tell: Tell = untold) -> ClusterEngine:
    """Start a cluster and run on it; closing the engine takes it down."""
    stack = ExitStack()
    stack.enter_context(steady_clock())
    stack.enter_context(dask.config.set({**ELSEWHERE.as_config(), **pages(spec.dashboard)}))
    stack.enter_context(silence_logging_cmgr(logging.CRITICAL))
    try:
        started = _STARTERS[spec.kind](spec, stack)
        client = stack.enter_context(started.connect())
        wait_for_workers(client, spec, tell, started.where, advice=started.advice, look=started.look)
        for difference in check_versions(client):
            tell(Notice.warning(difference))
        keep_scheduler_steady(client)
        engine = ClusterEngine.opened(client, stack, spec, watch=watch, tell=tell)
    except BaseException as error:
        take_down(stack, tell)
        if isinstance(error, DnfscaleError) or not isinstance(error, Exception):
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ClusterError(f"expected to start a cluster of kind {spec.kind}, but that failed: {reason}") from error
    # The scheduler of a batch system's cluster is in this process, which goes on after the job.
    engine.at_close(partial(let_scheduler_go, client))
    return engine


def _start_ssh(spec: ClusterSpec, stack: ExitStack) -> Started:
    security = security_of(spec.tls)
    files = {} if spec.tls is None else {"protocol": "tls://", "security": by_role(spec.tls)}
    login = {
        "username": spec.ssh.username,
        "port": spec.ssh.port,
        "client_keys": spec.ssh.key_file,
        "known_hosts": spec.ssh.known_hosts,
    }
    hosts = spec.ssh.hosts
    cluster = stack.enter_context(
        SSHCluster(
            [hosts[0], *hosts],
            connect_options={key: value for key, value in login.items() if value is not None},
            worker_options={
                "nthreads": 1,
                "n_workers": -(-spec.workers // len(hosts)),
                "memory_limit": spec.memory_limit,
                "dashboard_address": "127.0.0.1:0",
                **({} if spec.local_directory is None else {"local_directory": spec.local_directory}),
                **files,
            },
            scheduler_options={
                "port": 0,
                "dashboard_address": spec.dashboard or "127.0.0.1:0",
                "dashboard": spec.dashboard is not None,
                **files,
            },
            security=security,
        )
    )
    return Started(
        lambda: OneConnectionClient(cluster, set_as_default=False),
        "the hosts " + ", ".join(hosts),
        "look whether dnfscale is installed at the same path on every host",
    )


def _start_queue(spec: ClusterSpec, stack: ExitStack) -> Started:
    from dnfscale.engine.queues import QueueJobs

    jobs = QueueJobs(spec, stack)
    return Started(
        lambda: OneConnectionClient(jobs.cluster, set_as_default=False),
        f"the queue of {spec.kind}",
        jobs.advice,
        jobs.check_alive,
    )


def _start_pods(spec: ClusterSpec, stack: ExitStack) -> Started:
    from dnfscale.engine.kubernetes import DaskPods

    pods = stack.enter_context(DaskPods(spec))
    return Started(
        lambda: connected(pods.address(stack), spec.tls),
        f"the cluster {pods.name} in Kubernetes",
        f"look at: kubectl describe pods --selector dask.org/cluster-name={pods.name}",
    )


_STARTERS: dict[str, Callable[[ClusterSpec, ExitStack], Started]] = {
    "ssh": _start_ssh,
    "slurm": _start_queue,
    "pbs": _start_queue,
    "kubernetes": _start_pods,
}
