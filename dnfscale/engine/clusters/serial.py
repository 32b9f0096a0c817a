"""No cluster: the job runs in its own process."""

from __future__ import annotations

from typing import Any

from dnfscale.engine.api import Watch
from dnfscale.engine.serial import SerialEngine
from dnfscale.spec.cluster import ClusterSpec
from dnfscale.spec.registry import CLUSTERS, ClusterKind


def _launch(_spec: ClusterSpec, *, watch: Watch, **_how: Any) -> SerialEngine:
    return SerialEngine(watch)


CLUSTERS.register(
    ClusterKind(name="serial", title="in this process alone", launch=_launch, distributed=False)
)
