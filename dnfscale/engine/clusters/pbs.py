"""Workers as jobs of PBS."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from dnfscale.engine.dask.batch import (
    QUEUE_S,
    BatchSystem,
    Queue,
    check_plain,
    directives,
    launch_queue,
)
from dnfscale.spec.keys import key
from dnfscale.spec.registry import CLUSTERS, ClusterKind

_PBS = BatchSystem(submit="qsub", cluster="PBSCluster", ask=lambda ids: ["qstat", *ids])


@dataclass(frozen=True, slots=True)
class PbsQueue(Queue):
    """How workers are asked of PBS."""

    directives: tuple[str, ...] = key(
        directives("pbs", "-l", "-p", "-P"),
        (),
        "further options of qsub",
        example=["-l place=scatter"],
    )


CLUSTERS.register(
    ClusterKind(
        name="pbs",
        title="jobs of PBS",
        launch=partial(launch_queue, system=_PBS),
        options=PbsQueue,
        check=check_plain,
        adapts=True,
        start_timeout_s=QUEUE_S,
        package="dask_jobqueue",
        extra="pbs",
    )
)
