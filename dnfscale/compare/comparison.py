"""Whether one method is better than another: compared pairwise over folds, allowing for the overlap
of folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec.structs import replace as changed

from dnfscale.method.metrics import resampled_t
from dnfscale.results.confusion import Answers, Confusion
from dnfscale.results.method import Comparison, Fold, Method, Objective
from dnfscale.results.result import IDEAL


def comparisons(methods: Mapping[str, Method]) -> tuple[Comparison, ...]:
    """Compare the ideal method with every other method that finished all folds, by what its
    formulas were learned for.
    """
    ideal = methods[IDEAL]
    trained = sum((fold.train_rows or 0) + (fold.validation_rows or 0) for fold in ideal.folds)
    test_share = sum(fold.test_rows or 0 for fold in ideal.folds) / max(1, trained)
    found = (
        _by_objective(other, ideal, method, ideal.objective, test_share)
        if ideal.objective is not None
        else _by_accuracy(other, ideal, method, test_share)
        for other, method in methods.items()
        if other != IDEAL
    )
    return tuple(comparison for comparison in found if comparison is not None)


def _by_accuracy(other: str, ideal: Method, method: Method, test_share: float) -> Comparison | None:
    ours, theirs = _shares(ideal), _shares(method)
    if ours is None or theirs is None:
        return None
    return compare(IDEAL, other, ours, theirs, test_share=test_share)


def _by_objective(
    other: str, ideal: Method, method: Method, goal: Objective, test_share: float
) -> Comparison | None:
    """Compare by an objective, over the folds in which both have it."""
    if len(ideal.folds) != len(method.folds) or method.failed_folds:
        return None
    pairs = [
        (reached(goal, ours), reached(goal, theirs))
        for ours, theirs in zip(ideal.folds, method.folds, strict=True)
    ]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    first, second = [a for a, _ in known], [b for _, b in known]
    found = compare(IDEAL, other, first, second, test_share=test_share)
    if found is None:
        return None
    mean = abs(float(sum(second, start=Fraction()) / len(second)))
    return changed(found, metric=goal.name, mean=mean)


def reached(goal: Objective, fold: Fold) -> Fraction | None:
    """Return what a fold's answers come to, more being better; None where the fold leaves it
    undefined.
    """
    if fold.confusion is not None:
        return _of_two(goal, fold.confusion)
    if fold.confusion_matrix is not None:
        return _of_labels(goal, fold.confusion_matrix)
    return None


def _of_two(goal: Objective, answers: Confusion) -> Fraction | None:
    tp, fp, tn, fn = answers.tp, answers.fp, answers.tn, answers.fn
    if goal.name == "cost":
        threshold = Fraction(str(goal.threshold))
        cost = threshold * fp + (1 - threshold) * fn
        return -cost / answers.counted if answers.counted else None
    if goal.name == "balanced_accuracy":
        if not tp + fn or not tn + fp:
            return None
        return (Fraction(tp, tp + fn) + Fraction(tn, tn + fp)) / 2
    return _f_beta(tp, fp, fn, goal)


def _of_labels(goal: Objective, answers: Answers) -> Fraction | None:
    """Return the mean over the labels; of costs, which each label has its own of, nothing."""
    if goal.name == "cost":
        return None
    given = [sum(column) for column in zip(*answers, strict=True)]
    values = []
    for i, row in enumerate(answers):
        hits, of = row[i], sum(row)
        if goal.name == "balanced_accuracy":
            values.append(Fraction(hits, of) if of else None)
        else:
            values.append(_f_beta(hits, given[i] - hits, of - hits, goal))
    known = [value for value in values if value is not None]
    return sum(known, start=Fraction()) / len(known) if known else None


def _f_beta(tp: int, fp: int, fn: int, goal: Objective) -> Fraction | None:
    square = Fraction(str(goal.beta or 1)) ** 2
    whole = (1 + square) * tp + square * fn + fp
    return (1 + square) * tp / whole if whole else None


def compare(
    method: str,
    other: str,
    first: Sequence[Fraction],
    second: Sequence[Fraction],
    *,
    test_share: float,
    level: float = 0.95,
) -> Comparison | None:
    """Compare two methods' figures in the same folds by the corrected resampled t-interval; None
    for fewer than two.
    """
    k = len(first)
    if k < 2 or k != len(second):
        return None
    differences = [a - b for a, b in zip(first, second, strict=True)]
    interval = resampled_t(differences, test_share=test_share, level=level)
    assert interval is not None
    low, high = interval
    return Comparison(
        method=method,
        other=other,
        difference_mean=float(sum(differences, start=Fraction()) / k),
        low=low,
        high=high,
        level=level,
        folds=k,
    )


def _shares(method: Method) -> list[Fraction] | None:
    """Return the exact accuracy of each fold; None if one is not known."""
    shares = [fold.share for fold in method.folds if fold.share is not None]
    return shares if len(shares) == len(method.folds) else None
