"""A cluster that somebody else started, by the file that its scheduler wrote."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dnfscale.engine.api import Tell, Watch
from dnfscale.engine.preflight import found_address, reach_warnings
from dnfscale.errors import ClusterError
from dnfscale.spec.checks import text
from dnfscale.spec.cluster import ClusterSpec, check_given
from dnfscale.spec.keys import key
from dnfscale.spec.registry import CLUSTERS, ClusterKind


@dataclass(frozen=True, slots=True)
class SchedulerFile:
    """The file that `dask scheduler --scheduler-file` writes."""

    scheduler_file: str | None = key(
        text, None, 'for kind = "scheduler_file"', example="scheduler.json"
    )


def _address(spec: ClusterSpec) -> str:
    file = str(spec.own(SchedulerFile).scheduler_file)
    try:
        written = str(json.loads(Path(file).read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ClusterError(
            f"expected the file that a Dask scheduler writes at {file}, but it cannot be read "
            f"({type(error).__name__}: {error}); start the scheduler with --scheduler-file"
        ) from error
    return found_address(written, spec.tls)


def _check(spec: ClusterSpec) -> list[str]:
    address = _address(spec)
    return reach_warnings(spec, address, f"the scheduler at {address}", "cluster.scheduler_file")


def _launch(spec: ClusterSpec, *, loaded: Sequence[str], watch: Watch, tell: Tell) -> Any:  # noqa: ARG001
    from dnfscale.engine.dask.joined import join

    return join(spec, _address(spec), watch=watch, tell=tell)


CLUSTERS.register(
    ClusterKind(
        name="scheduler_file",
        title="a cluster that is running, by the file of its scheduler",
        launch=_launch,
        options=SchedulerFile,
        table="cluster",
        check_keys=lambda spec: check_given(spec, SchedulerFile, "scheduler_file", "a path"),
        check=_check,
        address=_address,
    )
)
