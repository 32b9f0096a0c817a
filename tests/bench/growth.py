"""Cases `rows`, `folds`, `ell` and `workers`: how the time of the study grows when one thing about
it does.

All are the study of study.toml on the synthetic dataset, after the cluster is up. Workers have 1
GiB, so that `--rows 100000000` measures what is larger than their memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from tests.bench.case import Case, Contender, Figure, Measured, Outcome, plan_figures, wall_ratio
from tests.bench.datasets import NUMBERS, STRINGS, TARGET, make_synthetic, synthetic_folder
from tests.bench.jobspecs import Overrides, measure_learn
from tests.bench.memory import any_answers
from tests.bench.peers import measure_bare_scan
from tests.bench.setting import ROOT, Setting

SPEC = ROOT / "jobs" / "bench" / "study.toml"
DIVISORS = {"rows / 25": 25, "rows / 10": 10, "rows": 1}
FOLDS = (2, 10, 50)
ELLS = (5, 10, 15)


def measure_study(
    setting: Setting, *, divisor: int = 1, overrides: Overrides | None = None
) -> Outcome:
    """Measure the study of a part of the rows, changed in one way."""
    folder = synthetic_folder(setting, setting.rows // divisor)
    everywhere: Overrides = {
        "data.path": str(folder),
        "cluster.memory_limit": "1GiB",
        "folds.outer": setting.folds,
    }
    return measure_learn(SPEC, setting, {**everywhere, **(overrides or {})})


def measure_with(setting: Setting, *, cluster: str | None, workers: int) -> Outcome:
    """Measure the study on a cluster of its own kind; None is the setting's."""
    return measure_study(replace(setting, cluster=cluster or setting.cluster, workers=workers))


def measure_scan(setting: Setting) -> Outcome:
    """Measure the bare scan of all columns of all rows."""
    return measure_bare_scan(
        synthetic_folder(setting, setting.rows), (*NUMBERS, *STRINGS, TARGET), setting
    )


def rows_figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Compare ten times the rows with once, in time and memory."""
    found = wall_ratio(measured, "rows", "rows / 10", at_most=10.5) + wall_ratio(
        measured, "rows", "bare scan"
    )
    peaks = {name: run.worker_peak_bytes for name, run in measured.items()}
    if {"rows", "rows / 10"} <= set(peaks):
        growth = peaks["rows"] / peaks["rows / 10"]
        found.append(Figure("rows / (rows / 10), peak memory of a worker", growth, at_most=1.1))
    for name, run in measured.items():
        if run.outcome.workers is not None:
            found.append(
                Figure(f"{name}, workers restarted", run.outcome.workers.restarted, at_most=0)
            )
    return found + plan_figures(measured)


def ratios(*pairs: tuple[str, str, float]) -> Callable[[Mapping[str, Measured]], list[Figure]]:
    """Return figures that compare the times of some contenders; each ratio is to be at most so
    much.
    """

    def figures(measured: Mapping[str, Measured]) -> list[Figure]:
        found = [
            figure
            for slow, fast, goal in pairs
            for figure in wall_ratio(measured, slow, fast, at_most=goal)
        ]
        return found + plan_figures(measured)

    return figures


def worker_figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Compare one worker with two, and with none."""
    return [
        *wall_ratio(measured, "1 worker", "2 workers", at_least=1.8),
        *wall_ratio(measured, "serial", "1 worker"),
        *plan_figures(measured),
    ]


def make_parts(setting: Setting, divisors: Sequence[int]) -> None:
    """Make the datasets of some sizes."""
    for divisor in divisors:
        make_synthetic(setting, setting.rows // divisor)


def _varied(key: str, values: Sequence[int], name: str) -> tuple[Contender, ...]:
    return tuple(
        Contender(f"{name} {value}", partial(measure_study, overrides={key: value}))
        for value in values
    )


CASES = (
    Case(
        name="rows",
        about="the study of more and more rows, with workers of 1 GiB",
        contenders=(
            *(
                Contender(name, partial(measure_study, divisor=divisor))
                for name, divisor in DIVISORS.items()
            ),
            Contender("bare scan", measure_scan),
        ),
        figures=rows_figures,
        prepare=partial(make_parts, divisors=tuple(DIVISORS.values())),
        check=any_answers,
    ),
    Case(
        name="folds",
        about="the study with more and more folds",
        contenders=_varied("folds.outer", FOLDS, "folds"),
        figures=ratios(("folds 50", "folds 10", 2.5)),
        prepare=partial(make_parts, divisors=(1,)),
        check=any_answers,
    ),
    Case(
        name="ell",
        about="the study with longer and longer formulas",
        contenders=_varied("select.max_ell", ELLS, "ell"),
        figures=ratios(("ell 10", "ell 5", 1.3)),
        prepare=partial(make_parts, divisors=(1,)),
        check=any_answers,
    ),
    Case(
        name="workers",
        about="the study on one worker, on two, and without a cluster",
        contenders=(
            Contender("1 worker", partial(measure_with, cluster=None, workers=1)),
            Contender("2 workers", partial(measure_with, cluster=None, workers=2)),
            Contender("serial", partial(measure_with, cluster="serial", workers=1)),
        ),
        figures=worker_figures,
        prepare=partial(make_parts, divisors=(1,)),
    ),
)
