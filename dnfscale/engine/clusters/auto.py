"""The kind of a job whose spec says nothing of a cluster: its size chooses, once it is known."""

from __future__ import annotations

from dnfscale.spec.registry import CLUSTERS, ClusterKind

CLUSTERS.register(
    ClusterKind(
        name="auto",
        title="in this process, or on workers of this machine where they pay",
        launch=lambda spec, **how: CLUSTERS["local"].launch(spec, **how),  # type: ignore[misc]
    )
)
