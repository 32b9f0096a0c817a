"""Worker processes on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from dnfscale.engine.api import Tell, Watch
from dnfscale.engine.dask.forking import prepare_workers
from dnfscale.errors import SpecError
from dnfscale.spec.cluster import ClusterSpec
from dnfscale.spec.registry import CLUSTERS, ClusterKind

_MOST_WORKERS = 64
"""The most workers on one machine, or four per core if that is more: a spec must not bring down its
machine.
"""


def _check_keys(spec: ClusterSpec) -> None:
    most = max(_MOST_WORKERS, 4 * (os.cpu_count() or 1))
    wanted = max(spec.workers, spec.adaptive.maximum if spec.adaptive else 0)
    if wanted > most:
        raise SpecError(
            (
                f"cluster.workers must be at most {most} on one machine, got "
                f"{str(wanted)[:20]}; lower it"
            ),
            "cluster.workers",
        )


def _launch(spec: ClusterSpec, *, loaded: Sequence[str], watch: Watch, tell: Tell) -> Any:
    # The forkserver loads what workers need while this process loads Dask.
    prepare_workers(loaded)
    from dnfscale.engine.dask.local import start_local

    return start_local(spec, loaded=loaded, watch=watch, tell=tell)


CLUSTERS.register(
    ClusterKind(
        name="local",
        title="worker processes on this machine",
        launch=_launch,
        check_keys=_check_keys,
        adapts=True,
    )
)
