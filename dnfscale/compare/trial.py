"""A trial: one model that a worker fits on some rows and scores on others."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dnfscale.compare.rows import Matrix, RowPart, RowsPlan, parts_tested, read_rows
from dnfscale.core.arrays import Codes, Floats, Ints
from dnfscale.core.splits import TEST, TRAIN, VALIDATION, WHOLE
from dnfscale.method.counted_scores import CountedScores
from dnfscale.results.confusion import Answers
from dnfscale.results.metrics import Scores

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
    drawn: int | None = None
    """How many rows are sampled; None: all are learned from."""
    patience: int | None = None
    """After how many trees without a gain on W_val a trial stops; None: it grows all of them."""
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
    scores: Scores | None = None
    """Of test rows of two classes."""
    n_trees: int | None = None
    """How many trees were best on W_val, of a trial that might stop early."""


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
    judged: Known | None = None
    """The rows of W_val, for a trial that may stop early."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a fitted model answers."""

    probability: Callable[[Matrix], Floats]
    """Of each class, for some rows."""
    n_trees: int | None = None
    """How many trees were best on W_val, if the fit might stop early."""

    def __call__(self, features: Matrix) -> Floats:
        return self.probability(features)


Learner = Callable[[Known, Fit, float | None], Answer]
"""Fits on some rows and returns what answers others; the last argument is the time on the monotonic
clock by which it should be done.
"""


def answer_of(model: Any, n_trees: int | None = None) -> Answer:
    """Return what a fitted model answers."""
    return Answer(partial(_probabilities, model), n_trees)


def _probabilities(model: Any, features: Matrix) -> Floats:
    """Return the probability that a fitted model gives each class for some rows."""
    return np.asarray(model.predict_proba(features), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class FitAndScore:
    """Fits and scores models on the worker that has the rows."""

    plan: RowsPlan
    learners: Mapping[str, Learner]
    """By method."""

    def __call__(self, fit: Fit) -> Scored:
        started = time.perf_counter()
        plan = replace(self.plan, drawn=fit.drawn)
        rows = read_rows(plan)
        learned = rows.part(plan.splits, fit.fold, WHOLE if fit.final else (TRAIN,))
        n_classes = len(plan.classes)
        if fit.final and fit.drawn is not None:
            answer = self._learned(fit, learned, rows.categorical)
            answers, scores = tested_by_blocks(plan, fit.fold, answer)
            return Scored(answers, round(time.perf_counter() - started, 3), scores)
        held_out = rows.part(plan.splits, fit.fold, (TEST,) if fit.final else (VALIDATION,))
        # No row to answer for: nothing to learn.
        given, n_trees = np.zeros((0, n_classes)), None
        if len(held_out.target):
            judged = None if fit.final or fit.patience is None else held_out
            answer = self._learned(fit, learned, rows.categorical, judged)
            given, n_trees = answer(held_out.features), answer.n_trees
        answers = held_out.by_answer(given.argmax(axis=1), n_classes)
        scores = held_out.scores(given[:, 1]) if fit.final and n_classes == 2 else None
        return Scored(answers, round(time.perf_counter() - started, 3), scores, n_trees)

    def _learned(
        self,
        fit: Fit,
        learned: RowPart,
        categorical: tuple[bool, ...],
        judged: RowPart | None = None,
    ) -> Answer:
        """Fit to some rows, and return what gives every class its probability."""
        n_classes = len(self.plan.classes)
        # Learners want the classes that occur to be numbered without gaps.
        classes, codes = np.unique(learned.target, return_inverse=True)
        answer: Answer | None = None
        if len(classes) > 1:
            deadline = None if fit.timeout_s is None else time.monotonic() + fit.timeout_s
            known = Known(learned.features, codes, learned.sample_weight, categorical)
            if judged is not None:
                known = replace(known, judged=_judged(judged, classes, categorical))
            answer = self.learners[fit.method](known, fit, deadline)

        def answered(features: Matrix) -> Floats:
            given = np.zeros((len(features), n_classes))
            # One class to learn from: every learner answers with it.
            given[:, classes] = 1.0 if answer is None else answer(features)
            return given

        return Answer(answered, None if answer is None else answer.n_trees)


def _judged(held_out: RowPart, classes: Codes, categorical: tuple[bool, ...]) -> Known | None:
    """Return the held-out rows of the classes that are learned from; None if there are none."""
    rows = np.isin(held_out.target, classes)
    if not rows.any():
        return None
    codes = np.searchsorted(classes, held_out.target[rows])
    weights = held_out.sample_weight
    return Known(
        held_out.features[rows], codes, None if weights is None else weights[rows], categorical
    )


def tested_by_blocks(plan: RowsPlan, fold: int, answer: Answer) -> tuple[Answers, Scores | None]:
    """Return all test rows of a fold by their class and answer, and by their probability if there
    are two classes; the rows are read for it, some at a time.
    """
    n_classes = len(plan.classes)
    counts = np.zeros((n_classes, n_classes), dtype=np.int64)
    counted = CountedScores()
    for part in parts_tested(plan, fold):
        if len(part.target):
            given = answer(part.features)
            counts += np.array(part.by_answer(given.argmax(axis=1), n_classes))
            if n_classes == 2:
                part.count_scores(given[:, 1], counted)
    return tuple(map(tuple, counts.tolist())), counted.scores() if n_classes == 2 else None


def check_deadline(deadline: float | None) -> None:
    """Raise TrialTimeoutError once the time of a fit is over."""
    if deadline is not None and time.monotonic() > deadline:
        raise TrialTimeoutError("the trial took longer than its timeout_s")
