"""Exact values summed up over folds; they are rounded when they are written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def mean(values: Sequence[Fraction]) -> float | None:
    """Return the mean of exact values; None if there are none."""
    return float(sum(values) / len(values)) if values else None


def deviation(values: Sequence[Fraction]) -> float | None:
    """Return the population standard deviation of exact values; None if there are none."""
    if not values:
        return None
    centre = sum(values) / len(values)
    return math.sqrt(sum((value - centre) ** 2 for value in values) / len(values))
