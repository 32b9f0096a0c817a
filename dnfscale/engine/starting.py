"""Clusters that a job starts elsewhere: on hosts by ssh, in the queue of a batch system, as pods.

Whatever is started goes on one stack, so that an error, a signal and the end of the job take down the same things.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import dask
from distributed import Client, SSHCluster
from distributed.utils import silence_logging_cmgr

from dnfscale.engine.api import Notice, Tell, Watch, untold, unwatched
from dnfscale.engine.budget import KEPT_SHARE
from dnfscale.engine.client import OneConnectionClient
from dnfscale.engine.cluster import ALLOWED_FAILURES, ClusterEngine
from dnfscale.engine.credentials import security_of
from dnfscale.engine.joining import connected, wait_for_workers
from dnfscale.engine.kinds import ClusterSpec
from dnfscale.engine.moving import BANDWIDTH
from dnfscale.engine.versions import check_versions
from dnfscale.errors import ClusterError, DnfscaleError

_SETTINGS = {
    "distributed.scheduler.bandwidth": BANDWIDTH,
    "distributed.scheduler.allowed-failures": ALLOWED_FAILURES,
    "distributed.comm.timeouts.connect": "60s",
    # A worker that is slow to come back is waited for; how long, attendance says.
    "distributed.deploy.lost-worker-timeout": "1 hour",
    # Scans go before tuning, see cluster.py.
    "distributed.scheduler.worker-saturation": float("inf"),
    "distributed.worker.memory.target": KEPT_SHARE,
    "distributed.worker.memory.spill": 0.55,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 64 << 20,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 64 << 20,
}


@dataclass(frozen=True, slots=True)
class Started:
    """A cluster that has been asked for: how to connect, what it is called, and how to see that waiting is futile."""

    connect: Callable[[], Client]
    where: str
    advice: str
    look: Callable[[], Any] = lambda: None


def start(spec: ClusterSpec, *, watch: Watch = unwatched, tell: Tell = untold) -> ClusterEngine:
    """Start a cluster and run on it; closing the engine takes it down."""
    stack = ExitStack()
    stack.enter_context(dask.config.set(_SETTINGS))
    stack.enter_context(silence_logging_cmgr(logging.CRITICAL))
    try:
        started = _STARTERS[spec.kind](spec, stack)
        client = stack.enter_context(started.connect())
        wait_for_workers(client, spec, tell, started.where, advice=started.advice, look=started.look)
        for difference in check_versions(client):
            tell(Notice("warning", f"warning: {difference}", {"message": difference}))
        return ClusterEngine.opened(client, stack, spec, watch=watch, tell=tell)
    except BaseException as error:
        stack.close()
        if isinstance(error, DnfscaleError) or not isinstance(error, Exception):
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ClusterError(f"expected to start a cluster of kind {spec.kind}, but that failed: {reason}") from error


def _start_ssh(spec: ClusterSpec, stack: ExitStack) -> Started:
    security = security_of(spec.tls)
    files = {} if spec.tls is None else {"protocol": "tls://", "security": _by_role(spec)}
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


def _by_role(spec: ClusterSpec) -> dict[str, Any]:
    """Return the files of TLS as a scheduler or worker on another host gets them: paths, never their contents."""
    assert spec.tls is not None
    roles = {f"tls_{role}_cert": spec.tls.cert_file for role in ("client", "scheduler", "worker")}
    keys = {f"tls_{role}_key": spec.tls.key_file for role in ("client", "scheduler", "worker")}
    return {"tls_ca_file": spec.tls.ca_file, "require_encryption": True, **roles, **keys}


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
