"""Workers as jobs of Slurm."""

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

_KNOWN = (
    *("--constraint", "--exclude", "--exclusive", "--gres", "--hint", "--licenses", "--nice"),
    *("--nodelist", "--qos", "--reservation", "--switches", "--tmp"),
)
_SLURM = BatchSystem(
    submit="sbatch",
    cluster="SLURMCluster",
    ask=lambda ids: ["squeue", "--noheader", f"--jobs={','.join(ids)}"],
)


@dataclass(frozen=True, slots=True)
class SlurmQueue(Queue):
    """How workers are asked of Slurm."""

    directives: tuple[str, ...] = key(
        directives("slurm", *_KNOWN), (), "further options of sbatch", example=["--qos=long"]
    )


CLUSTERS.register(
    ClusterKind(
        name="slurm",
        title="jobs of Slurm",
        launch=partial(launch_queue, system=_SLURM),
        options=SlurmQueue,
        check=check_plain,
        adapts=True,
        start_timeout_s=QUEUE_S,
        package="dask_jobqueue",
        extra="slurm",
    )
)
