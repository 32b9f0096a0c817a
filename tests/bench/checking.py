"""Case `check`: a look at every column of the synthetic dataset, beside the bare scan of all of
them and a look at a quarter of its rows, and `validate` as a command, which reads footers and a
bounded sample.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from statistics import median

import pyarrow as pa

from dnfscale.data.source import open_source
from dnfscale.engine.launch import launch
from dnfscale.learn.check import check_source
from dnfscale.spec.cluster import ClusterSpec
from tests.bench.case import Case, Contender, Figure, Measured, Outcome, timed
from tests.bench.datasets import NUMBERS, STRINGS, TARGET, make_synthetic, synthetic_folder
from tests.bench.memory import any_answers
from tests.bench.peers import bare_scan
from tests.bench.setting import ROOT, Setting
from tests.bench.study import SPEC

_TURNS = 3
_PART = "check of rows / 4"


def measure_in_turn(setting: Setting, divisor: int = 1) -> Outcome:
    """Measure the check on a cluster that is up, and the bare scan, in turn; of all rows, or of a
    part of them.
    """
    folder = synthetic_folder(setting, setting.rows // divisor)
    source = open_source(str(folder))
    pa.set_cpu_count(setting.workers)
    engine = launch(
        ClusterSpec(kind=setting.cluster, workers=setting.workers),
        loaded=[check_source.__module__],
    )
    try:
        rows = check_source(source, TARGET, engine).rows
        turns = [
            (
                timed(lambda: check_source(source, TARGET, engine)),
                timed(lambda: bare_scan(folder, [*NUMBERS, *STRINGS, TARGET])),
            )
            for _ in range(_TURNS)
        ]
    finally:
        engine.close()
    check_s, scan_s = (median(turn[i][1] for turn in turns) for i in range(2))
    cpu_s = median(checked[2] for checked, _ in turns)
    return Outcome(check_s, cpu_s, rows, parts_s={"bare scan": scan_s})


def measure_validate(setting: Setting) -> Outcome:
    """Measure the whole command."""
    path = str(synthetic_folder(setting, setting.rows))
    command = [sys.executable, "-m", "dnfscale.jobs", "validate", str(SPEC)]
    command += ["--set", f"data.path={json.dumps(path)}"]
    _, wall_s, cpu_s = timed(
        lambda: subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    )
    return Outcome(wall_s, cpu_s, 0)


def figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Count the check in bare scans, compare the peaks of a worker, and count the validation in
    seconds: those of the processor say more on a busy machine.
    """
    found = []
    if "check" in measured:
        outcome = measured["check"].outcome
        scans = outcome.wall_s / outcome.parts_s["bare scan"]
        found.append(Figure("check / bare scan, wall time", scans, at_most=3.0))
    if {"check", _PART} <= set(measured):
        growth = measured["check"].worker_peak_bytes / measured[_PART].worker_peak_bytes
        found.append(Figure(f"check / {_PART}, peak memory of a worker", growth, at_most=1.1))
    if "validate" in measured:
        outcome = measured["validate"].outcome
        found.append(Figure("validate, seconds", outcome.wall_s, at_most=2.0))
        found.append(Figure("validate, seconds of the processor", outcome.cpu_s))
    return found


def _make_both(setting: Setting) -> None:
    make_synthetic(setting, setting.rows)
    make_synthetic(setting, setting.rows // 4)


CASE = Case(
    name="check",
    about="a look at every column in one scan, and a validation of the study's spec",
    contenders=(
        Contender("check", measure_in_turn),
        Contender(_PART, partial(measure_in_turn, divisor=4)),
        Contender("validate", measure_validate),
    ),
    figures=figures,
    prepare=_make_both,
    check=any_answers,
)
