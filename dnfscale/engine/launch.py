"""From the description of a cluster to an engine that runs on it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dnfscale.engine.api import Engine, Notice, Tell, Watch, untold, unwatched
from dnfscale.engine.preflight import check_cluster
from dnfscale.spec.cluster import ClusterSpec

if TYPE_CHECKING:
    from dnfscale.engine.cluster import ClusterEngine


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
    # Dask takes half a second to import, which a serial run, a plan and a validation do without.
    engine: Engine = spec.facts.launch(spec, loaded=loaded, watch=watch, tell=tell)
    if performance_report is not None:
        from dnfscale.engine.performance import record_performance

        try:
            # check_performance_report has refused kinds that are not of Dask.
            record_performance(cast("ClusterEngine", engine), Path(performance_report), tell)
        except BaseException:
            engine.close()
            raise
    return engine


def cores() -> int:
    """Return how many processors this process may use; those of the machine where the system does not say."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
