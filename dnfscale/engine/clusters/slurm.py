"""Workers as jobs of Slurm."""

from __future__ import annotations

from dataclasses import dataclass

from dnfscale.engine.dask.batch import BatchSystem, Queue, directives, register_batch
from dnfscale.spec.keys import key

_KNOWN = (
    *("--constraint", "--exclude", "--exclusive", "--gres", "--hint", "--licenses", "--nice"),
    *("--nodelist", "--qos", "--reservation", "--switches", "--tmp"),
)


@dataclass(frozen=True, slots=True)
class SlurmQueue(Queue):
    """How workers are asked of Slurm."""

    directives: tuple[str, ...] = key(
        directives("slurm", *_KNOWN), (), "further options of sbatch", example=["--qos=long"]
    )


SLURM = BatchSystem(
    name="slurm",
    title="Slurm",
    submit="sbatch",
    cluster="SLURMCluster",
    ask=lambda ids: ["squeue", "--noheader", f"--jobs={','.join(ids)}"],
)
register_batch(SLURM, SlurmQueue)
