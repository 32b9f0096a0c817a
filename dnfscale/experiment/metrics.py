"""Accuracies and their summaries over folds, as exact fractions until they are written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dnfscale.learn.line import LearnedFold
from dnfscale.method.ideal import correct_rows, ideal_correct


def formula_accuracy(fold: LearnedFold) -> Fraction:
    """Return the share of the test part that the fold's formula gets right."""
    return Fraction(correct_rows(fold.dnf.accepts(fold.test.codes), fold.test), fold.test.n_rows)


def single_accuracy(fold: LearnedFold) -> Fraction:
    """Return the share of the test part that the fold's best single attribute gets right."""
    return Fraction(ideal_correct(fold.single.whole, fold.single.test), fold.test.n_rows)


def majority_accuracy(fold: LearnedFold) -> Fraction:
    """Return the share of the test part that is of the more frequent class of W_0; a tie is true."""
    positive = 2 * int(fold.whole.c.sum()) >= fold.whole.n_rows
    n_rows, n_positive = fold.test.n_rows, int(fold.test.c.sum())
    return Fraction(n_positive if positive else n_rows - n_positive, n_rows)


def mean(values: Sequence[Fraction]) -> float | None:
    """Return the mean of exact values; None if there are none."""
    return float(sum(values) / len(values)) if values else None


def deviation(values: Sequence[Fraction]) -> float | None:
    """Return the population standard deviation of exact values; None if there are none."""
    if not values:
        return None
    centre = sum(values) / len(values)
    return math.sqrt(sum((value - centre) ** 2 for value in values) / len(values))
