"""From the description of a cluster to an engine that runs on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dnfscale.engine.api import Engine, Notice, Tell, Watch, untold, unwatched
from dnfscale.engine.limits import cores, room_for
from dnfscale.engine.preflight import check_cluster
from dnfscale.spec.cluster import ClusterSpec

if TYPE_CHECKING:
    from dnfscale.engine.dask.engine import ClusterEngine

__all__ = ["check_limits", "cores", "launch"]


def launch(
    spec: ClusterSpec,
    watch: Watch = unwatched,
    tell: Tell = untold,
    *,
    loaded: Sequence[str] = (),
    performance_report: str | None = None,
) -> Engine:
    """Start or join the cluster that the spec describes; Dask's report of the whole is written when
    it is closed.

    Workers of this machine begin with these modules loaded.
    """
    for warning in check_cluster(spec):
        tell(Notice.warning(warning))
    check_limits(spec)
    # Dask takes half a second to import, which a serial run, a plan and a validation do without.
    engine: Engine = spec.facts.launch(spec, loaded=loaded, watch=watch, tell=tell)
    if performance_report is not None:
        from dnfscale.engine.dask.performance import record_performance

        try:
            # check_performance_report has refused kinds that are not of Dask.
            record_performance(cast("ClusterEngine", engine), Path(performance_report), tell)
        except BaseException:
            engine.close()
            raise
    return engine


def check_limits(spec: ClusterSpec) -> None:
    """Raise LimitError if the operating system does not leave this process what such a cluster
    takes.
    """
    workers = spec.adaptive.maximum if spec.adaptive else spec.workers
    room_for(workers if spec.kind == "local" else 0).check()
