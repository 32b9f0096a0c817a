"""Weights of rows: how often each counts, in whole numbers, so that weighted counts are as exact as
plain ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core.arrays import Ints, Values
from dnfscale.core.columns import Numbers
from dnfscale.errors import DataError

MOST_WEIGHT = 1 << 53
"""Weights are added as floats, which represent all whole numbers up to this one exactly."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """The weights of some rows in brief: how many are above 0, the heaviest, and whether all are
    whole numbers.
    """

    rows: int
    heaviest: float
    whole: bool


def checked_weights(weights: Numbers, *, name: str) -> Values:
    """Return weights as they are stored; one that is missing, below zero or too large is
    an error.
    """
    values = weights.values
    if weights.present is not None:
        raise DataError(
            f"column {name!r}: expected a weight for every row, got rows without one; fill "
            "them, with 0 for rows that "
            "are not to count",
            "data.weight",
        )
    if len(values) and not (values.min() >= 0 and values.max() < MOST_WEIGHT):
        worst = values.min() if values.min() < 0 else values.max()
        raise DataError(
            (
                f"column {name!r}: expected weights of at least 0 and less than "
                f"{MOST_WEIGHT:,}, got {worst}; mend them"
            ),
            "data.weight",
        )
    return values


def counted_weights(weights: Numbers, unit: int, *, name: str) -> Ints:
    """Return how often each row counts: whole weights as they are, floats in units, at least 1 if
    above 0.
    """
    values = checked_weights(weights, name=name)
    if values.dtype.kind == "f":
        values = np.maximum(np.rint(values.astype(np.float64) * unit), values > 0)
    return values.astype(np.int64)


def weigh(weights: Numbers, *, name: str) -> Weighed:
    """Weigh some rows."""
    values = checked_weights(weights, name=name)
    whole = bool((values == np.rint(values)).all())
    return Weighed(int(np.count_nonzero(values)), float(values.max(initial=0)), whole)


def merge(parts: Sequence[Weighed]) -> Weighed:
    """Merge the results of disjoint rows."""
    return Weighed(
        sum(part.rows for part in parts),
        max((part.heaviest for part in parts), default=0.0),
        all(part.whole for part in parts),
    )


def as_weight(counted: int, unit: int) -> int | float:
    """Return a count in units as a weight; with unit 1 it is a number of rows already."""
    return counted if unit == 1 else counted / unit


def amount(number: float) -> str:
    """Write a number of rows, or what rows weigh."""
    if isinstance(number, int):
        return f"{number:,}"
    return f"{number:,.1f}" if abs(number) >= 10 else f"{number:.3g}"
