"""What a run depended on besides its spec and data: software, workers, cores, memory."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import dnfscale
from dnfscale.engine.api import Engine

_PACKAGES = ("numpy", "scipy", "pyarrow", "dask", "distributed", "scikit-learn", "xgboost", "optuna", "sympy", "numba")


def environment_of(engine: Engine) -> dict[str, Any]:
    """Return what a run depended on, for the record."""
    return {
        **engine.describe(),
        "dnfscale": dnfscale.__version__,
        "python": platform.python_version(),
        **{package: found for package in _PACKAGES if (found := _version(package)) is not None},
        "machine": platform.machine(),
        "system": platform.system(),
        "cores": os.cpu_count(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
