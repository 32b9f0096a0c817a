"""A cluster that somebody else started, by the file that its scheduler wrote."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from dnfscale.engine.preflight import found_address
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


CLUSTERS.register(
    ClusterKind(
        name="scheduler_file",
        title="a cluster that is running, by the file of its scheduler",
        options=SchedulerFile,
        table="cluster",
        check_keys=lambda spec: check_given(spec, SchedulerFile, "scheduler_file", "a path"),
        address=_address,
    )
)
