"""Case `figures`: the study with the formulas of every length tested and five slices, beside the
same study without either; on the synthetic dataset and on the paper's Covertype.

What `run` adds to a study for those who decide by it must cost little: metrics come from counts
that are there, the formulas of all lengths and the slices each take a scan. Processor seconds stand
beside wall time, as they say more on a busy machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from dnfscale.jobs.runner import open_data
from dnfscale.spec.job import read_spec
from tests.bench.case import Case, Contender, Figure, Measured, Outcome, wall_ratio
from tests.bench.covertype import check_data
from tests.bench.datasets import STRINGS, make_synthetic, synthetic_folder
from tests.bench.jobspecs import Overrides, measure_learn
from tests.bench.memory import any_answers
from tests.bench.setting import Setting
from tests.bench.study import SPEC

_OF_COVERTYPE = (*(f"Wilderness_Area{number}" for number in range(1, 5)), "Soil_Type10")
_WITHOUT: Overrides = {"folds.frontier": False}


def measure_study(setting: Setting, *, has_all: bool) -> Outcome:
    """Measure the study of the synthetic dataset."""
    folder = str(synthetic_folder(setting, setting.rows))
    more: Overrides = {"report.slices": [*STRINGS[:5]]} if has_all else _WITHOUT
    return measure_learn(SPEC, setting, {"data.path": folder, **more})


def measure_covertype(setting: Setting, *, has_all: bool) -> Outcome:
    """Measure the study of the paper's largest dataset."""
    source, _ = open_data(read_spec(setting.paper_spec, {}))
    slices = [name for name in _OF_COVERTYPE if name in source.types]
    more: Overrides = {"report.slices": slices} if has_all else _WITHOUT
    return measure_learn(setting.paper_spec, setting, more)


def figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Compare wall times, which have the goal, and processor seconds."""
    found = []
    for whole, plain in (("study", "study, plain"), ("covertype", "covertype, plain")):
        found += wall_ratio(measured, whole, plain, at_most=1.3)
        if {whole, plain} <= set(measured):
            cpu = measured[whole].outcome.cpu_s / measured[plain].outcome.cpu_s
            found.append(Figure(f"{whole} / {plain}, processor time", cpu))
    return found


def _prepare(setting: Setting) -> None:
    make_synthetic(setting, setting.rows)
    check_data(setting)


CASE = Case(
    name="figures",
    about="the study with all formulas of its frontier tested and five slices, and without",
    contenders=(
        Contender("study", partial(measure_study, has_all=True)),
        Contender("study, plain", partial(measure_study, has_all=False)),
        Contender("covertype", partial(measure_covertype, has_all=True)),
        Contender("covertype, plain", partial(measure_covertype, has_all=False)),
    ),
    figures=figures,
    prepare=_prepare,
    check=any_answers,
)
