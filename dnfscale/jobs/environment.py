"""What a run depended on besides its spec and data: software, workers, cores."""

from __future__ import annotations

import os
import platform

import dnfscale
from dnfscale.engine.api import RunsOn
from dnfscale.jobs.version import installed
from dnfscale.results.result import Environment
from dnfscale.spec.registry import COMPETITORS

_PACKAGES = (
    "numpy",
    "scipy",
    "pyarrow",
    "dask",
    "distributed",
    "scikit-learn",
    "xgboost",
    "optuna",
    "sympy",
)


def environment_of(
    runs_on: RunsOn, *, cluster: str | None = None, dataset: str | None = None
) -> Environment:
    """Return what a run depended on, for the record."""
    compared = {competitor.package for competitor in COMPETITORS.values() if competitor.package}
    return Environment(
        **runs_on,
        cluster=cluster,
        dnfscale=dnfscale.__version__,
        python=platform.python_version(),
        packages={
            package: found
            for package in (*_PACKAGES, *sorted(compared))
            if (found := installed(package)) is not None
        },
        machine=platform.machine(),
        system=platform.system(),
        cores=os.cpu_count(),
        dataset=dataset,
    )
