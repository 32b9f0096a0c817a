"""Case `study`: the ten-fold study of the synthetic dataset, beside one bare scan of all its
columns.

A study is done once, on workers that have only just started, so it has no pass to warm up; the scan
has one. How long that first pass of the scan took stands beside it, as a fairer measure.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.bench.case import Case, Contender, Figure, Measured, Outcome, wall_ratio
from tests.bench.datasets import NUMBERS, STRINGS, TARGET, make_synthetic, synthetic_folder
from tests.bench.jobspecs import measure_command, measure_learn
from tests.bench.peers import FIRST_PASS, measure_bare_scan
from tests.bench.setting import ROOT, Setting

SPEC = ROOT / "jobs" / "bench" / "study.toml"


def measure_study(setting: Setting) -> Outcome:
    """Measure the study once the cluster is up."""
    return measure_learn(SPEC, setting, _data(setting))


def measure_study_command(setting: Setting) -> Outcome:
    """Measure the whole command."""
    return measure_command(SPEC, setting, _data(setting))


def measure_scan(setting: Setting) -> Outcome:
    """Measure the bare scan of all columns."""
    return measure_bare_scan(
        synthetic_folder(setting, setting.rows), (*NUMBERS, *STRINGS, TARGET), setting
    )


def figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Count the study in bare scans."""
    found = wall_ratio(measured, "learn", "bare scan", at_most=5.0) + wall_ratio(
        measured, "command", "bare scan"
    )
    if {"learn", "bare scan"} <= set(measured):
        first_pass_s = measured["bare scan"].outcome.parts_s[FIRST_PASS]
        found.append(
            Figure(
                "learn / first bare scan, wall time",
                measured["learn"].outcome.wall_s / first_pass_s,
            )
        )
    return found


def _data(setting: Setting) -> dict[str, str]:
    return {"data.path": str(synthetic_folder(setting, setting.rows))}


CASE = Case(
    name="study",
    about="the ten-fold study of all columns, after the cluster is up, and as a command",
    contenders=(
        Contender("learn", measure_study),
        Contender("command", measure_study_command),
        Contender("bare scan", measure_scan),
    ),
    figures=figures,
    prepare=lambda setting: make_synthetic(setting, setting.rows),
)
