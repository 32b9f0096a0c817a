"""A trial: one model that a worker fits on some rows and scores on others."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dnfscale.compare.rows import Matrix, RowsPlan, read_rows
from dnfscale.core.arrays import Floats, Ints
from dnfscale.core.splits import TEST, TRAIN, VALIDATION
from dnfscale.results.confusion import Answers

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fit:
    """One model to fit: on W_train to be scored on W_val, or with the best parameters on W_0 to be
    tested.
    """

    method: str
    fold: int
    params: Params
    seed: int
    final: bool
    timeout_s: float | None = None
    share: Fraction = Fraction(1)
    """The share of the trees to grow: the first of those that the parameters ask for."""

    @property
    def n_trees(self) -> int:
        """The number of trees to grow."""
        return max(1, math.ceil(self.share * int(self.params["n_estimators"])))


@dataclass(frozen=True, slots=True)
class Scored:
    """How a model answered the held-out rows, and how long it took."""

    answers: Answers
    """These rows by their class and by their answer, or their weights."""
    seconds: float


def hard_limit_s(fit: Fit) -> float | None:
    """Return the time after which a trial is given up from outside, if it has not stopped by
    itself.

    A learner checks its deadline between trees only, once the rows are read; what it does in
    between may never end.
    """
    return None if fit.timeout_s is None else 2 * fit.timeout_s + 5


class TrialTimeoutError(Exception):
    """A fit took longer than its time limit."""


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Rows to learn from, in the form that learners expect."""

    features: Matrix
    target: Ints
    weights: Floats | None
    categorical: tuple[bool, ...]


Learner = Callable[[Known, Matrix, Fit, float | None], Ints]
"""Fits on some rows and answers others, each with the number of a class; the last argument is the
time on the monotonic clock by which it should be done.
"""


@dataclass(frozen=True, slots=True, eq=False)
class FitAndScore:
    """Fits and scores models on the worker that has the rows."""

    plan: RowsPlan
    learners: Mapping[str, Learner]
    """By method."""

    def __call__(self, fit: Fit) -> Scored:
        started = time.perf_counter()
        rows = read_rows(self.plan)
        splits = self.plan.splits
        learned = rows.part(splits, fit.fold, (TRAIN, VALIDATION) if fit.final else (TRAIN,))
        held_out = rows.part(splits, fit.fold, (TEST,) if fit.final else (VALIDATION,))
        # Learners want the classes that occur to be numbered without gaps.
        classes, codes = np.unique(learned.target, return_inverse=True)
        if len(classes) == 1 or not len(held_out.target):
            # One class to learn from: every learner answers with it. No row to answer for: nothing
            # to learn.
            answers = np.full(len(held_out.target), classes[0])
        else:
            deadline = None if fit.timeout_s is None else time.monotonic() + fit.timeout_s
            known = Known(learned.features, codes, learned.sample_weight, rows.categorical)
            answers = classes[self.learners[fit.method](known, held_out.features, fit, deadline)]
        by_answer = held_out.by_answer(answers, len(self.plan.classes))
        return Scored(by_answer, round(time.perf_counter() - started, 3))


def check_deadline(deadline: float | None) -> None:
    """Raise TrialTimeoutError once the time of a fit is over."""
    if deadline is not None and time.monotonic() > deadline:
        raise TrialTimeoutError("the trial took longer than its timeout_s")
