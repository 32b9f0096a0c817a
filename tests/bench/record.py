"""What a run measured, as JSON: every figure, with the date, the machine's shape, the versions and
the commit.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import psutil

from tests.bench.case import Case, Figure, Measured, summarized
from tests.bench.setting import ROOT, Setting

SCHEMA = "dnfscale.bench/1"
_PACKAGES = [
    "dnfscale",
    "dask",
    "distributed",
    "numpy",
    "pyarrow",
    "scipy",
    "scikit-learn",
    "sympy",
    "duckdb",
    "pandas",
    "polars",
    "psutil",
]

Runs = Mapping[str, Sequence[Measured]]
"""Every run of each contender of a case."""


def describe_run(setting: Setting) -> dict[str, Any]:
    """Say when, where and on what commit a run takes place."""
    return {
        "schema": SCHEMA,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "machine": describe_machine(),
        "versions": {"python": platform.python_version(), **_versions()},
        "setting": json.loads(setting.to_json()),
        "cases": {},
    }


def describe_machine() -> dict[str, Any]:
    """Say what shape the machine has."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": cores,
        "memory_bytes": psutil.virtual_memory().total,
    }


def describe_case(case: Case, runs: Runs, figures: Sequence[Figure]) -> dict[str, Any]:
    """Return everything that was measured of a case; of answers, which may be long, only
    a digest.
    """
    return {
        "about": case.about,
        "contenders": {
            name: {
                "summary": _described(summarized(measured)),
                "runs": [_described(run) for run in measured],
            }
            for name, measured in runs.items()
        },
        "figures": [
            {
                "what": f.what,
                "value": f.value,
                "goal": f.goal,
                "reached": f.reached,
                "lower_bound": f.lower_bound,
            }
            for f in figures
        ],
    }


def _described(measured: Measured) -> dict[str, Any]:
    outcome = asdict(measured.outcome)
    answer = json.dumps(outcome.pop("answer"), sort_keys=True)
    peaks = [asdict(peak) for peak in measured.peaks]
    return {**outcome, "answer_sha256": hashlib.sha256(answer.encode()).hexdigest(), "peaks": peaks}


def _commit() -> str:
    """Return the commit that is checked out, marked where files differ from it; empty outside a
    repository.
    """
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return told.stdout.strip()


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
