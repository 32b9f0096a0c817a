"""Always the most frequent answer: a competitor."""

from __future__ import annotations

import numpy as np

from dnfscale.compare.counted import CountedCompetitor
from dnfscale.compare.measure import Measuring, measured
from dnfscale.compare.records import LearnedLabels
from dnfscale.learn.line import LearnedFold
from dnfscale.method.ideal import confusion_of
from dnfscale.method.metrics import scores_of_types
from dnfscale.results.confusion import Confusion
from dnfscale.results.method import Fold, Method
from dnfscale.results.metrics import Scores
from dnfscale.spec.registry import COMPETITORS


def majority_method(learned: LearnedLabels, measuring: Measuring) -> Method:
    """Return what always giving the most frequent answer of W_0 comes to; its probability is the
    share of positives.

    In a tie of two classes the answer is positive, in one of several labels the first of them.
    """
    if learned.labels:
        folds = [_majority_of_labels(n, learned) for n in range(len(learned.answers))]
        return measured(Method.over(folds), measuring)
    folds = [Fold(fold=n, confusion=_majority(fold)) for n, fold in enumerate(learned.first.folds)]
    scores = {number: _scores(fold) for number, fold in enumerate(learned.first.folds)}
    return measured(Method.over(folds), measuring, scores)


def _scores(fold: LearnedFold) -> Scores:
    share = int(fold.whole.c.sum()) / max(1, fold.whole.n_rows)
    return scores_of_types(np.full(len(fold.test.codes), share), fold.test.n, fold.test.c)


def _majority(fold: LearnedFold) -> Confusion:
    says_yes = 2 * int(fold.whole.c.sum()) >= fold.whole.n_rows
    return confusion_of(np.full(len(fold.test.codes), says_yes), fold.test)


def _majority_of_labels(number: int, learned: LearnedLabels) -> Fold:
    sizes = [int(target.folds[number].whole.c.sum()) for target in learned.targets]
    answer = sizes.index(max(sizes))
    tested = [sum(row) for row in learned.answers[number]]
    given = tuple(tuple(n if j == answer else 0 for j in range(len(tested))) for n in tested)
    return Fold(fold=number, confusion_matrix=given)


COMPETITORS.register(
    CountedCompetitor(
        name="majority",
        title="Majority",
        colour="grey",
        place=80,
        is_constant=True,
        count=majority_method,
    )
)
