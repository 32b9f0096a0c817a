"""Accuracies and their summary over folds, exact until they are written down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dnfscale.core.counts import TypeCounts
from dnfscale.learn import LearnedFold
from dnfscale.method.ideal import correct_rows, ideal_correct


def formula_accuracy(fold: LearnedFold) -> Fraction:
    """Return the share of the test part that the fold's formula gets right."""
    return Fraction(correct_rows(fold.dnf.accepts(fold.test.codes), fold.test), fold.test_rows)


def single_accuracy(fold: LearnedFold) -> Fraction:
    """Return the share of the test part that the fold's best single attribute gets right."""
    return Fraction(ideal_correct(fold.single.whole, fold.single.test), fold.test_rows)


def majority_accuracy(fold: LearnedFold) -> Fraction:
    """Return the share of the test part that has the class more frequent in W_0; a tie is true."""
    positive = 2 * int(fold.whole.c.sum()) >= fold.whole.n_rows
    return Fraction(_positives(fold.test) if positive else fold.test_rows - _positives(fold.test), fold.test_rows)


def mean(values: Sequence[Fraction]) -> float | None:
    """Return the mean of exact values; None where there are none."""
    return float(sum(values) / len(values)) if values else None


def deviation(values: Sequence[Fraction]) -> float | None:
    """Return the population standard deviation of exact values; None where there are none."""
    if not values:
        return None
    centre = sum(values) / len(values)
    return math.sqrt(sum((value - centre) ** 2 for value in values) / len(values))


def _positives(counts: TypeCounts) -> int:
    return int(counts.c.sum())
