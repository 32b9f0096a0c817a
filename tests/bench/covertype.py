"""Case `covertype`: the paper's largest dataset, as a command, and per split against careful
pandas.

dnfscale learns ten splits and the model of all rows at once; a tenth of that time is what a split
costs. The pandas version does one split, with plain random parts of the same sizes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dnfscale.datasets.named import FOLDER_VARIABLE
from dnfscale.jobs.runner import open_data
from dnfscale.spec.job import read_spec
from tests.bench.case import (
    Case,
    Contender,
    DisagreementError,
    Figure,
    Measured,
    NotReadyError,
    Outcome,
    timed,
)
from tests.bench.jobspecs import measure_command
from tests.bench.setting import Setting

if TYPE_CHECKING:
    from tests.bench.careful_pandas import Score

SPLITS = 10
_CLOSE = 0.03
"""How far the accuracy of another random split may lie from the mean, unless ours spread more than
that.
"""


def measure_study_command(setting: Setting) -> Outcome:
    """Measure the whole command; its answer is the accuracy of each split."""
    outcome = measure_command(setting.paper_spec, setting, {"folds.outer": SPLITS})
    return replace(outcome, answer=[fold["accuracy"] for fold in outcome.answer["folds"]])


def measure_pandas(setting: Setting) -> Outcome:
    """Measure one split, every SelectKBest fitted anew."""
    return _measure_pandas(setting, lambda score: score)


def measure_pandas_sharing(setting: Setting) -> Outcome:
    """Measure one split, scores computed once a ranking."""
    from tests.bench.careful_pandas import ShareScores

    return _measure_pandas(setting, ShareScores)


def figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Time the command, and compare the time per split."""
    if "command" not in measured:
        return []
    command = measured["command"].outcome
    found = [Figure("command to result.json in seconds", command.wall_s, at_most=5.0)]
    split_s = command.parts_s["learn"] / SPLITS
    for name, goal in (("pandas", 200.0), ("pandas sharing scores", None)):
        if name in measured:
            ratio = measured[name].outcome.wall_s / split_s
            found.append(Figure(f"{name} / dnfscale, wall time per split", ratio, at_least=goal))
    return found


def close_accuracies(outcomes: Mapping[str, Outcome]) -> None:
    """Raise DisagreementError where an accuracy is further from the others than random splits make
    it.
    """
    accuracies = {name: np.mean(outcome.answer) for name, outcome in outcomes.items()}
    spread = max(_CLOSE, *(4 * np.std(outcome.answer) for outcome in outcomes.values()))
    if max(accuracies.values()) - min(accuracies.values()) > spread:
        raise DisagreementError(
            f"accuracies should be within {spread:.3f} of each other, got {accuracies}"
        )


def check_data(setting: Setting) -> None:
    """Raise NotReadyError where the spec's dataset is the paper's and nobody said where that is."""
    spec = read_spec(setting.paper_spec)
    if spec.data_path.startswith("paper:") and not os.environ.get(FOLDER_VARIABLE):
        raise NotReadyError(
            f"the environment variable {FOLDER_VARIABLE} does not name a folder with the "
            "paper's datasets"
        )


def _measure_pandas(setting: Setting, remember: Callable[[Score], Score]) -> Outcome:
    from tests.bench.careful_pandas import frame_of, learn_split, random_split, table_of

    spec = read_spec(setting.paper_spec)
    source, to_learn = open_data(spec)
    table = table_of(frame_of(source), to_learn)
    split = random_split(len(table.positive), SPLITS, to_learn.validation, setting.seed)
    found, wall_s, cpu_s = timed(lambda: learn_split(table, split, to_learn, remember=remember))
    return Outcome(wall_s, cpu_s, len(table.positive), [found.correct / len(split.test)])


CASE = Case(
    name="covertype",
    about=(
        "the ten-fold study of the paper's Covertype as a command, and per split against "
        "pandas and scikit-learn"
    ),
    contenders=(
        Contender("command", measure_study_command),
        Contender("pandas", measure_pandas, needs=("pandas",)),
        Contender("pandas sharing scores", measure_pandas_sharing, needs=("pandas",)),
    ),
    figures=figures,
    prepare=check_data,
    check=close_accuracies,
)
