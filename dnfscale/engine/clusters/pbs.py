"""Workers as jobs of PBS."""

from __future__ import annotations

from dataclasses import dataclass

from dnfscale.engine.dask.batch import BatchSystem, Queue, directives, register_batch
from dnfscale.spec.keys import key


@dataclass(frozen=True, slots=True)
class PbsQueue(Queue):
    """How workers are asked of PBS."""

    directives: tuple[str, ...] = key(
        directives("pbs", "-l", "-p", "-P"),
        (),
        "further options of qsub",
        example=["-l place=scatter"],
    )


PBS = BatchSystem(
    name="pbs",
    title="PBS",
    submit="qsub",
    cluster="PBSCluster",
    ask=lambda ids: ["qstat", *ids],
)
register_batch(PBS, PbsQueue)
