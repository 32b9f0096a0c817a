"""From the description of a cluster to an engine that runs on it."""

from __future__ import annotations

from dataclasses import dataclass

from dnfscale.engine.api import Engine, Watch, unwatched
from dnfscale.engine.serial import SerialEngine


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """Where a job runs."""

    kind: str = "local"
    """serial, local, address or scheduler_file."""
    workers: int = 2
    memory_limit: str = "4GiB"
    fan_in: int = 8
    address: str | None = None
    scheduler_file: str | None = None
    mixed_versions: bool = False
    """Whether a cluster that was found may run other software than this machine."""


def launch(spec: ClusterSpec, watch: Watch = unwatched) -> Engine:
    """Start or join the cluster that the spec describes."""
    if spec.kind == "serial":
        return SerialEngine(watch)
    # Dask takes half a second to import, which a serial run, a plan and a validation do without.
    from dnfscale.engine.cluster import ClusterEngine

    if spec.kind == "local":
        return ClusterEngine.local(
            workers=spec.workers, memory_limit=spec.memory_limit, fan_in=spec.fan_in, watch=watch
        )
    return ClusterEngine.connect(
        address=spec.address,
        scheduler_file=spec.scheduler_file,
        fan_in=spec.fan_in,
        mixed_versions=spec.mixed_versions,
        watch=watch,
    )
