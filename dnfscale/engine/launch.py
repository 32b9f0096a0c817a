"""From the description of a cluster to an engine that runs on it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dnfscale.engine.api import Engine, Notice, Tell, Watch, untold, unwatched
from dnfscale.engine.forking import prepare_workers
from dnfscale.engine.kinds import ClusterSpec
from dnfscale.engine.preflight import check_cluster, check_performance_report
from dnfscale.engine.serial import SerialEngine

if TYPE_CHECKING:
    from dnfscale.engine.cluster import ClusterEngine

__all__ = ["ClusterSpec", "check_cluster", "check_performance_report", "cores", "launch"]


def launch(
    spec: ClusterSpec,
    watch: Watch = unwatched,
    tell: Tell = untold,
    *,
    loaded: Sequence[str] = (),
    performance_report: str | None = None,
) -> Engine:
    """Start or join the cluster that the spec describes; Dask's report of the whole is written when it is closed.

    Workers of this machine begin with these modules loaded.
    """
    for warning in check_cluster(spec):
        tell(Notice.warning(warning))
    if spec.kind == "serial":
        return SerialEngine(watch)
    # Dask takes half a second to import, which a serial run, a plan and a validation do without.
    engine = _opened(spec, loaded, watch, tell)
    if performance_report is not None:
        from dnfscale.engine.performance import record_performance

        try:
            record_performance(engine, Path(performance_report), tell)
        except BaseException:
            engine.close()
            raise
    return engine


def cores() -> int:
    """Return how many processors this process may use; those of the machine where the system does not say."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _opened(spec: ClusterSpec, loaded: Sequence[str], watch: Watch, tell: Tell) -> ClusterEngine:
    """Start or join a cluster of Dask."""
    if spec.kind == "local":
        prepare_workers(loaded)
        from dnfscale.engine.local_cluster import start_local

        return start_local(spec, loaded=loaded, watch=watch, tell=tell)
    if spec.kind in ("address", "scheduler_file"):
        from dnfscale.engine.joined_cluster import join

        return join(spec, watch=watch, tell=tell)
    from dnfscale.engine.remote_cluster import start_remote

    return start_remote(spec, watch=watch, tell=tell)
