"""Weights of rows as whole numbers, so that weighted counts are as exact as plain ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dnfscale.core.arrays import Floats, Ints, is_real
from dnfscale.errors import DataError, SpecError

MOST_WEIGHT = 1 << 50
"""The largest sum of weights: sums stay exact in floats with room to spare."""


def sample_weights(given: Any, n_rows: int) -> Floats | None:
    """Return the weight of each row; None if no weights are given."""
    if given is None:
        return None
    weights = (
        np.full(n_rows, given, dtype=np.float64)
        if np.isscalar(given)
        else np.asarray(given, dtype=np.float64)
    )
    if weights.ndim != 1:
        raise DataError(
            f"Sample weights must be 1D array or scalar, got an array of {weights.ndim} dimensions"
        )
    if len(weights) != n_rows:
        raise DataError(f"expected as many weights as rows, got {len(weights):,} and {n_rows:,}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise DataError(
            "expected weights that are finite numbers of at least 0; mend sample_weight"
        )
    if not weights.any():
        raise DataError(
            "expected some row to weigh more than zero, but every weight is zero, which "
            "leaves no class"
        )
    return weights


def repeats(weights: Floats, *, most: int) -> Ints | None:
    """Return how often to repeat each row instead of weighing it; None if weights are not whole, or
    above `most`.
    """
    if (weights > most).any() or weights.sum() > most or (weights != np.rint(weights)).any():
        return None
    return weights.astype(np.int64)


def whole_weights(weights: Floats, *, most: int = MOST_WEIGHT) -> tuple[Ints, int]:
    """Return weights as whole numbers, and what a weight of one became: a power of two, at most
    2**60.

    Whole weights stay as they are if they add up to no more than `most`; others are scaled by a
    power of two and rounded, so that they add up to about `most`: with 2**50 the error is less than
    one part in a million million.
    """
    whole = repeats(weights, most=most)
    if whole is not None:
        return whole, 1
    # Weights are taken as shares of a power of two no less than the largest: no sum and no scale
    # can overflow.
    _, exponent = math.frexp(float(weights.max()))
    shares = np.ldexp(weights, -exponent)
    shift = math.floor(math.log2(most / float(shares.sum())))
    return np.rint(np.ldexp(shares, shift)).astype(np.int64), 2 ** min(max(shift - exponent, 0), 60)


def products(weights: Floats, factors: Floats) -> Floats:
    """Return the weights of rows times the factors of their classes; an overflow of floats is an
    error.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        weighed = weights * factors
    if not np.isfinite(weighed).all():
        raise DataError(
            "expected weights that stay finite when the class weights are multiplied in; "
            "scale them down"
        )
    return weighed


def class_factors(
    class_weight: Any, classes: npt.NDArray[Any], labels: Ints, weights: Floats | None
) -> Floats | None:
    """Return the factor of each class; None if there are no class weights.

    "balanced" gives every class of positive weight the same total weight. Of two such classes, the
    factor of one is the total weight of the other, which is a whole number if the weights of rows
    are.
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise SpecError(
                f"class_weight must be a dict of labels, 'balanced' or None, got {class_weight!r}"
            )
        totals: Floats = np.bincount(labels, weights=weights, minlength=len(classes)).astype(
            np.float64
        )
        present = np.flatnonzero(totals)
        factors = np.zeros(len(classes))
        factors[present] = (
            totals[present[::-1]]
            if len(present) == 2
            else totals.sum() / (len(present) * totals[present])
        )
        return factors
    if not isinstance(class_weight, dict):
        raise SpecError(
            f"class_weight must be a dict of labels, 'balanced' or None, got {class_weight!r}"
        )
    known = classes.tolist()
    for label, weight in class_weight.items():
        if label not in known:
            raise SpecError(
                f"class_weight must name labels of y, which are {known!r}, got {label!r}"
            )
        if not (is_real(weight, 0) and weight < math.inf):
            raise SpecError(
                f"class_weight must give finite numbers of at least 0, got {weight!r} for {label!r}"
            )
    return np.array([float(class_weight.get(label, 1.0)) for label in known])
