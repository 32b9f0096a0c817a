"""Case `memory`: the study with small workers on a quarter, a half and all of the rows.

A worker's memory must be bounded by its partition, not by the dataset: the peak does not grow with
the rows, no worker is killed, and none is paused for long.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tests.bench.case import Case, Contender, Figure, Measured, Outcome
from tests.bench.datasets import make_synthetic, synthetic_folder
from tests.bench.jobspecs import measure_learn
from tests.bench.setting import ROOT, Setting

SPEC = ROOT / "jobs" / "bench" / "memory.toml"
SHARES = {"rows / 4": 4, "rows / 2": 2, "rows": 1}
"""What the rows are divided by, for each contender."""


def measure_part(setting: Setting, divisor: int) -> Outcome:
    """Measure the study of a part of the rows on workers with little memory."""
    folder = synthetic_folder(setting, setting.rows // divisor)
    return measure_learn(SPEC, setting, {"data.path": str(folder)})


def make_parts(setting: Setting) -> None:
    """Make the datasets of all sizes."""
    for divisor in SHARES.values():
        make_synthetic(setting, setting.rows // divisor)


def figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Compare the peaks of a worker, and say what happened to workers."""
    found = []
    if {"rows", "rows / 4"} <= set(measured):
        peaks = {name: run.worker_peak_bytes for name, run in measured.items()}
        growth = peaks["rows"] / peaks["rows / 4"]
        found.append(Figure("rows / (rows / 4), peak memory of a worker", growth, at_most=1.1))
    for name, run in measured.items():
        found.append(
            Figure(f"{name}, peak memory of a worker in MiB", run.worker_peak_bytes / 2**20)
        )
        if run.outcome.workers is not None:
            found.append(
                Figure(f"{name}, workers restarted", run.outcome.workers.restarted, at_most=0)
            )
            found.append(Figure(f"{name}, seconds paused", run.outcome.workers.paused_s, at_most=1))
    return found


def any_answers(outcomes: Mapping[str, Outcome]) -> None:
    """Contradict nothing: the contenders see different rows."""


CASE = Case(
    name="memory",
    about="the study with workers of 700 MiB on a quarter, a half and all of the rows",
    contenders=tuple(
        Contender(name, partial(measure_part, divisor=divisor)) for name, divisor in SHARES.items()
    ),
    figures=figures,
    prepare=make_parts,
    check=any_answers,
)
