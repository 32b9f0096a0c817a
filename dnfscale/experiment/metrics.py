"""Accuracies and their summary over folds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dnfscale.learn import LearnedFold
from dnfscale.method.ideal import correct_rows


def test_accuracy(fold: LearnedFold) -> Fraction:
    """Return the share of the test part that the fold's formula gets right, exactly."""
    return Fraction(correct_rows(fold.dnf.accepts(fold.test.codes), fold.test), fold.test_rows)


def mean(values: Sequence[Fraction]) -> float | None:
    """Return the mean of exact values; None where there are none."""
    return float(sum(values) / len(values)) if values else None


def deviation(values: Sequence[Fraction]) -> float | None:
    """Return the population standard deviation of exact values; None where there are none."""
    if not values:
        return None
    centre = sum(values) / len(values)
    return math.sqrt(sum((value - centre) ** 2 for value in values) / len(values))
