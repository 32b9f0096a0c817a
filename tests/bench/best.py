"""Case `best`: the study with the recommended profile, of more and more rows, beside the paper's.

The profile cuts each number at 31 places instead of one, and ranks attributes together on a sample:
neither may make memory grow with the rows, and time may grow no faster than they do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tests.bench.case import Case, Contender, Figure, Measured, plan_figures, wall_ratio
from tests.bench.growth import make_parts, measure_study
from tests.bench.memory import any_answers

DIVISOR = 4


def figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Compare the profiles, and four times the rows with once."""
    found = wall_ratio(measured, "best", "paper", at_most=5.0) + wall_ratio(
        measured, "best", "best, rows / 4", at_most=1.05 * DIVISOR
    )
    if {"best", "best, rows / 4"} <= set(measured):
        growth = measured["best"].worker_peak_bytes / max(
            1, measured["best, rows / 4"].worker_peak_bytes
        )
        found.append(
            Figure("best / (best, rows / 4), peak memory of a worker", growth, at_most=1.1)
        )
    return found + plan_figures(measured)


CASE = Case(
    name="best",
    about='the study with profile = "best" on a quarter and all of the rows, beside the paper\'s',
    contenders=(
        Contender("paper", measure_study),
        Contender(
            "best, rows / 4", partial(measure_study, divisor=DIVISOR, overrides={"profile": "best"})
        ),
        Contender("best", partial(measure_study, overrides={"profile": "best"})),
    ),
    figures=figures,
    prepare=partial(make_parts, divisors=(1, DIVISOR)),
    check=any_answers,
)
