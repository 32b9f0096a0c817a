"""Arrays by meaning: names for dtypes, and the small conversions that every layer above shares."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.unsignedinteger[Any]]
"""Small whole numbers in the narrowest unsigned dtype that holds them."""
AnyInts = npt.NDArray[np.integer[Any]]
"""Whole numbers of either sign, in the dtype they came in or the narrowest that holds them."""
Exact = npt.NDArray[Any]
"""Whole numbers of any size: in 64 bits where they fit, else as Python's own."""
Values = npt.NDArray[Any]
"""The values of one column of numbers, in the column's own dtype."""

Scalar = bool | int | float | str
"""A value as it stands in a spec, in a category, or in a model file."""


def is_whole(value: Any, low: float = -math.inf, high: float = math.inf) -> bool:
    """Return whether a value is a whole number within bounds; True and False are none, though
    Python counts them.
    """
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def is_real(value: Any, low: float = -math.inf, high: float = math.inf) -> bool:
    """Return whether a value is a number within bounds; True, False and nan are none."""
    return isinstance(value, Real) and not isinstance(value, bool) and low <= value <= high  # type: ignore[operator]


def narrowest(largest: int) -> np.dtype[Any]:
    """Return the narrowest unsigned dtype that holds 0..largest."""
    return np.min_scalar_type(largest)


def tally_cells(cells: Any, weights: Ints | None, n_cells: int) -> Ints:
    """Count the rows of each cell, or add up their weights.

    NumPy adds weights as floats, in which sums of whole numbers below 2**53 are exact.
    """
    if weights is None:
        return np.bincount(cells, minlength=n_cells)
    return np.bincount(cells, weights=weights, minlength=n_cells).astype(np.int64)


def scaled(counts: Ints, factor: int) -> Exact:
    """Return counts times a whole number, exact whatever its size, so that their sum is
    exact too.
    """
    # With weights, even the sum of the counts times the denominator of a share may not fit in 64
    # bits.
    fits = max(1, int(counts.sum())) * factor < 1 << 62
    return factor * (counts if fits else counts.astype(object))


def frozen(array: Any) -> Any:
    """Return the array marked read-only, so that a value that travels cannot change under its
    users.
    """
    array.flags.writeable = False
    return array
