"""What the rows that a model was learned from held in its columns, and which values of other rows
are unlike them.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dnfscale.core.arrays import Bools, Scalar, Values
from dnfscale.core.columns import Categories, Numbers
from dnfscale.core.quantities import Measure, Quantity, edge_among

_EXAMPLES = 3
_SINGLE = ("float", "halffloat")
"""Arrow's names of the types whose values are single precision."""


@dataclass(frozen=True, slots=True)
class SeenColumn:
    """What a column held in the rows learned from."""

    name: str
    type: str
    """Arrow's name of its type."""
    missing: float
    """The share of the rows without a value, among those that have a target and count."""
    least: int | float | Quantity | None = None
    greatest: int | float | Quantity | None = None
    """The ends of a column of numbers; None where it has other values, or none."""
    values: tuple[Scalar, ...] | None = None
    """The values of a column of categories that enough rows had, in increasing order."""
    unlisted: int = 0
    """How many more values it had, each in too few rows to be listed."""


@dataclass(frozen=True, slots=True)
class Unfamiliar:
    """How many rows hold in a column what the rows learned from did not."""

    new: int = 0
    """Rows with a value that is not listed."""
    examples: tuple[Scalar, ...] = ()
    """The first of these values in their order."""
    below: int = 0
    above: int = 0
    missing: int = 0
    """Rows without a value, where all rows learned from had one."""

    def __bool__(self) -> bool:
        return bool(self.new or self.below or self.above or self.missing)


def merge(parts: Iterable[Unfamiliar]) -> Unfamiliar:
    """Merge what was found in disjoint rows of one column."""
    found = [part for part in parts if part]
    return Unfamiliar(
        new=sum(part.new for part in found),
        examples=_first({value for part in found for value in part.examples}),
        below=sum(part.below for part in found),
        above=sum(part.above for part in found),
        missing=sum(part.missing for part in found),
    )


def unlike(data: Numbers | Categories, seen: SeenColumn) -> tuple[Unfamiliar, Bools | None]:
    """Return how many rows hold what the rows learned from did not, and which do; None if none."""
    gaps = data.missing() if data.has_missing and not seen.missing else None
    missing = 0 if gaps is None else int(gaps.sum())
    if isinstance(data, Numbers):
        rows, below, above = _outside(data, seen)
        return Unfamiliar(below=below, above=above, missing=missing), _either(rows, gaps)
    rows, examples = _not_listed(data, seen)
    new = 0 if rows is None else int(rows.sum())
    return Unfamiliar(new=new, examples=examples, missing=missing), _either(rows, gaps)


def _outside(data: Numbers, seen: SeenColumn) -> tuple[Bools | None, int, int]:
    """Return which rows lie outside the ends of a column, and how many below and above."""
    values = data.values if data.present is None else data.values[data.present]
    if seen.least is None or seen.greatest is None or not len(values):
        return None, 0, 0
    if seen.type in _SINGLE and values.dtype == np.float64:
        # The same number in double precision lies beside the one in single precision.
        values = values.astype(np.float32)
    is_whole = values.dtype.kind in "iu"
    least = _in_dtype(_least_among(seen.least, data.measure, whole=is_whole), values)
    greatest = _in_dtype(edge_among(seen.greatest, data.measure, whole=is_whole), values)
    if values.min() >= least and values.max() <= greatest:
        return None, 0, 0
    below, above = values < least, values > greatest
    outside = below | above
    if data.present is not None:
        spread = np.zeros(len(data.present), dtype=np.bool_)
        spread[data.present] = outside
        outside = spread
    return outside, int(below.sum()), int(above.sum())


def _least_among(
    least: int | float | Quantity, measure: Measure | None, *, whole: bool
) -> int | float:
    """Return the least value in the column's own numbers: a value lies below it exactly when it
    lies below the least.
    """
    if isinstance(least, float) and not math.isfinite(least):
        return least
    exact = least.amount if isinstance(least, Quantity) else Fraction(least)
    if measure is not None:
        return math.ceil(exact * measure.steps)
    return math.ceil(exact) if whole else float(exact)


def _in_dtype(end: int | float, values: Values) -> int | float | np.float32:
    """Return an end as it is compared with values: of those of single precision, the nearest."""
    if values.dtype != np.float32:
        return end
    with np.errstate(over="ignore"):
        return np.float32(end)


def _not_listed(data: Categories, seen: SeenColumn) -> tuple[Bools | None, tuple[Scalar, ...]]:
    """Return which rows have a value that is not listed, and some of these values."""
    if seen.values is None:
        return None, ()
    listed = frozenset(seen.values)
    new = np.array([value not in listed for value in data.values] + [False], dtype=np.bool_)
    if not new.any():
        return None, ()
    # The code -1, a missing value, picks the last entry.
    rows = new.take(data.codes)
    if not rows.any():
        return None, ()
    used = np.unique(data.codes[rows]).tolist()
    return rows, _first({data.values[code] for code in used})


def _first(values: set[Scalar]) -> tuple[Scalar, ...]:
    return tuple(heapq.nsmallest(_EXAMPLES, values, key=lambda value: (str(type(value)), value)))


def _either(first: Bools | None, second: Bools | None) -> Bools | None:
    if first is None or second is None:
        return second if first is None else first
    return np.asarray(first | second)
