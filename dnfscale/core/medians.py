"""Exact medians of every part of every fold, in bounded memory.

All parts are random subsets of the same rows, so their medians lie close together. A random sample *brackets* them:
two values between which all of them lie almost surely. One scan then counts, per arc, the rows below the bracket and
collects only what lies inside it, about one row in a hundred, as (value, arc, count) triples. From these the two
middle values of any union of arcs follow exactly. When a median falls outside the bracket, the column is bracketed
again, wider, and scanned once more: the sample decides how much work there is, never the result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints, Values, narrowest, tally_cells
from dnfscale.core.columns import Numbers

_DEVIATIONS = 4.0
"""Half-width of a first bracket, in standard deviations of the sample's median: 1 column in 16,000 misses it."""
_DENSE_VALUES = 1 << 12
"""Whole numbers in a bracket up to this wide are counted in a table; sorting them took six times as long."""


BELOW, INSIDE, ABOVE, MISSING = range(4)
"""Where a value lies relative to its column's bracket."""

_RUN = 1024
"""Values in a row that are counted together."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """The closed interval of values among which the medians of a column are looked for."""

    low: Any
    high: Any


@dataclass(frozen=True, slots=True, eq=False)
class Located:
    """Where the values of a column lie relative to its bracket."""

    below: Ints
    """Rows of each arc below the bracket."""
    present: Ints
    """Rows of each arc that have a value."""
    values: Values
    arcs: Codes
    counts: Ints
    """Inside the bracket: counts[i] rows of arc arcs[i] have the value values[i]; in no particular order."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A threshold between values: a row is above it or not."""

    value: int | float | None
    """The threshold as it is written down; None where there was no row to take a median of."""
    edge: Any
    """The same threshold in the column's own dtype: x > value exactly when x > edge, for every x of that dtype."""


def bracket(sample: Values, *, n_rows: int, widening: int, spread: float = 0.0) -> Bracket:
    """Bracket the medians of large random subsets of n_rows values, given a random sample of these.

    The spread is how uncertain the share below the sample's median is, beyond what its size says.
    """
    dtype = sample.dtype
    lowest, highest = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.kind in "iu" else (-np.inf, np.inf)
    if not len(sample):
        return Bracket(dtype.type(lowest), dtype.type(highest))
    ordered = np.sort(sample)
    margin = inside_share(len(sample), n_rows, spread=spread) / 2 * 2.0**widening
    low = int(np.floor((0.5 - margin) * len(ordered)))
    high = int(np.ceil((0.5 + margin) * len(ordered)))
    return Bracket(
        ordered[low] if low >= 0 else dtype.type(lowest),
        ordered[high] if high < len(ordered) else dtype.type(highest),
    )


def inside_share(n_sample: int, n_rows: int, *, spread: float = 0.0) -> float:
    """Return the share of the rows that a bracket from a sample of this size holds."""
    deviation = max(0.5 / math.sqrt(max(1, n_sample)), spread) + 0.5 / math.sqrt(max(1, n_rows))
    return 2 * _DEVIATIONS * deviation


def sides(numbers: Numbers, bracket: Bracket) -> Codes:
    """Say of each value whether it is BELOW, INSIDE or ABOVE the bracket, or MISSING."""
    side: Codes = (numbers.values >= bracket.low).view(np.uint8)
    np.add(side, numbers.values > bracket.high, out=side)
    if numbers.present is not None:
        side[~numbers.present] = MISSING
    return side


def locate(
    numbers: Numbers, side: Codes, inside: Ints, arcs: Codes, n_arcs: int, weights: Ints | None = None
) -> Located:
    """Count the values below the bracket per arc, and collect those inside it; a row counts as often as it weighs."""
    # Small numbers as long as they last: an eighth of the memory moves.
    cells = np.multiply(side, n_arcs, dtype=narrowest(4 * n_arcs - 1))
    np.add(cells, arcs, out=cells, casting="unsafe")
    table = tally_cells(cells, weights, 4 * n_arcs).reshape(4, n_arcs)
    counts = None if weights is None else weights[inside]
    values = _coalesce(numbers.values[inside], arcs[inside], counts, n_arcs)
    return Located(table[BELOW], table[:MISSING].sum(axis=0), *values)


def merge(parts: Sequence[Located]) -> Located:
    """Merge what was located in disjoint rows."""
    below = np.sum([part.below for part in parts], axis=0)
    present = np.sum([part.present for part in parts], axis=0)
    values = np.concatenate([part.values for part in parts])
    arcs = np.concatenate([part.arcs for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    # Only values that repeat within a part can repeat so often between parts that it is worth the sorting.
    if any((part.counts > 1).any() for part in parts):
        values, arcs, counts = _coalesce(values, arcs, counts, len(below))
    return Located(below, present, values, arcs, counts)


def cuts(located: Located, members: Bools) -> list[Cut | None]:
    """Return the median of each subset of arcs, members[subset, arc]; None where it lies outside the bracket."""
    ordered = _Ordered(located)
    found: list[Cut | None] = []
    for member in members:
        n = int(located.present[member].sum())
        if n == 0:
            found.append(Cut(None, None))
            continue
        below = int(located.below[member].sum())
        low, high = (ordered.value(rank - below, member) for rank in ((n - 1) // 2, n // 2))
        found.append(None if low is None or high is None else midpoint(low, high))
    return found


class _Ordered:
    """Values inside a bracket in their order, in which the value of a rank among some arcs is found by two looks.

    Counts of each arc in every run of values tell which run the rank falls into; only that run is gone through.
    """

    def __init__(self, located: Located) -> None:
        order = np.argsort(located.values, kind="stable")
        self._values, self._arcs, self._counts = located.values[order], located.arcs[order], located.counts[order]
        n_arcs = len(located.below)
        cells = np.arange(len(order)) // _RUN * n_arcs + self._arcs
        n_runs = -(-len(order) // _RUN)
        self._runs = tally_cells(cells, self._counts, n_runs * n_arcs).reshape(n_runs, n_arcs)

    def value(self, rank: int, member: Bools) -> Any:
        """Return the value with so many values of the member arcs before it; None where it is not among them."""
        before = np.concatenate([[0], np.cumsum(self._runs @ member)])
        if not 0 <= rank < before[-1]:
            return None
        run = int(np.searchsorted(before, rank, side="right")) - 1
        rows = slice(run * _RUN, (run + 1) * _RUN)
        counts = np.where(member[self._arcs[rows]], self._counts[rows], 0)
        place = np.searchsorted(np.cumsum(counts), rank - before[run], side="right")
        return self._values[rows][place]


def midpoint(low: Any, high: Any) -> Cut:
    """Return the cut halfway between the two middle values of a column.

    For floats it is numpy.median's own arithmetic, in the column's precision, except that it neither overflows nor
    turns the pair -inf, inf into a nan. For whole numbers it is exact, also beyond 2**53.
    """
    if np.issubdtype(low.dtype, np.integer):
        total = int(low) + int(high)
        floor = total // 2
        half: int | float = total / 2 if total % 2 and 2 * (total / 2) == total else floor
        return Cut(half, low.dtype.type(floor))
    with np.errstate(over="ignore", invalid="ignore"):
        middle = (low + high) / low.dtype.type(2)
    if np.isnan(middle):
        middle = low
    elif np.isinf(middle) and np.isfinite(low) and np.isfinite(high):
        middle = low / low.dtype.type(2) + high / low.dtype.type(2)
    return Cut(float(middle), middle)


def _coalesce(values: Values, arcs: Codes, counts: Ints | None, n_arcs: int) -> tuple[Values, Codes, Ints]:
    """Give every pair (value, arc) one entry with its count."""
    if not len(values):
        return values, arcs, np.empty(0, dtype=np.int64)
    lowest = values.min()
    if values.dtype.kind in "iu" and int(values.max()) - int(lowest) < _DENSE_VALUES:
        # Differences of narrow integers wrap; read without a sign they are right.
        distances = np.subtract(values, lowest).view(f"u{values.dtype.itemsize}")
        offsets = distances.astype(np.intp) * n_arcs + arcs
        table = np.bincount(offsets) if counts is None else _sums(offsets, counts)
        found = np.flatnonzero(table)
        offset_values = (found // n_arcs).astype(values.dtype) + lowest
        return offset_values, (found % n_arcs).astype(arcs.dtype), table[found]
    order = np.lexsort((arcs, values))
    values, arcs = values[order], arcs[order]
    first = np.flatnonzero(np.concatenate([[True], (values[1:] != values[:-1]) | (arcs[1:] != arcs[:-1])]))
    ordered = np.ones(len(values), dtype=np.int64) if counts is None else counts[order]
    return values[first], arcs[first], np.add.reduceat(ordered, first)


def _sums(offsets: Ints, counts: Ints) -> Ints:
    table = np.zeros(int(offsets.max()) + 1, dtype=np.int64)
    np.add.at(table, offsets, counts)
    return table
