"""From the description of a cluster to an engine that runs on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dnfscale.engine.api import Engine, Notice, Tell, Watch, untold, unwatched
from dnfscale.engine.forking import prepare_workers
from dnfscale.engine.kinds import ClusterSpec
from dnfscale.engine.limits import cores, room_for
from dnfscale.engine.preflight import check_cluster, check_performance_report
from dnfscale.engine.serial import SerialEngine

if TYPE_CHECKING:
    from dnfscale.engine.cluster import ClusterEngine

__all__ = ["ClusterSpec", "check_cluster", "check_limits", "check_performance_report", "cores", "launch"]


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
    check_limits(spec)
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


def check_limits(spec: ClusterSpec) -> None:
    """Raise LimitError if the operating system does not leave this process what such a cluster takes."""
    workers = spec.adaptive.maximum if spec.adaptive else spec.workers
    room_for(workers if spec.kind == "local" else 0).check()


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
