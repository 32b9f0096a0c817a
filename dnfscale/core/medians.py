"""Exact medians, and other quantiles, of every part of every fold, in bounded memory.

All parts are random subsets of the same rows, so their medians lie close together. A random sample
*brackets* them: two values between which all of them lie almost surely. Per arc, the rows below the
bracket are counted, and only what lies inside it, about one row in a hundred, is collected as
(value, arc, count) triples. From these the two middle values of any union of arcs follow exactly.
When a median falls outside the bracket, the column is bracketed again, wider, and scanned once
more: the sample decides how much work there is, never the result.

Several quantiles of a column have a bracket each; those that touch become one. A value then lies in
a *zone*: below the first bracket, inside it, between it and the second, inside that, and so on. Odd
zones are inside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints, Values, narrowest, tally_cells
from dnfscale.core.columns import Numbers

_DEVIATIONS = 4.0
"""Half-width of a first bracket, in standard deviations of the sample's median: 1 column in 16,000
misses it.
"""
_DENSE_VALUES = 1 << 12
"""Whole numbers in a bracket up to this wide are counted in a table; sorting them took six times as
long.
"""
_RUN = 1024
"""Consecutive values, in order, that are counted together."""

MEDIAN = Fraction(1, 2)
NOWHERE = -1
"""The place of a rank that falls outside the values."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """The closed interval of values among which a cut of a column is looked for."""

    low: Any
    high: Any


@dataclass(frozen=True, slots=True)
class Brackets:
    """The disjoint brackets of a column, increasing, and which of them holds each of the cuts
    looked for.
    """

    parts: tuple[Bracket, ...]
    of_cut: tuple[int, ...]

    @property
    def missing_zone(self) -> int:
        """The zone of a missing value: even, because it is not inside."""
        return 2 * len(self.parts) + 2


def joined(wanted: Sequence[Bracket]) -> Brackets:
    """Return the brackets of several cuts as disjoint ones: those that touch or overlap become
    one.
    """
    parts: list[Bracket] = []
    of_cut = [0] * len(wanted)
    for i in sorted(range(len(wanted)), key=lambda i: (wanted[i].low, wanted[i].high)):
        if parts and wanted[i].low <= parts[-1].high:
            parts[-1] = Bracket(parts[-1].low, max(parts[-1].high, wanted[i].high))
        else:
            parts.append(wanted[i])
        of_cut[i] = len(parts) - 1
    return Brackets(tuple(parts), tuple(of_cut))


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
    """Inside the bracket: counts[i] rows of arc arcs[i] have the value values[i]; in no particular
    order.
    """


@dataclass(frozen=True, slots=True)
class Cut:
    """A threshold between values: a row is above it or not."""

    value: int | float | None
    """The threshold as it is written down; None where there was no row to take a median of."""
    edge: Any
    """The same threshold in the column's own dtype: x > value exactly when x > edge, for every x of
    that dtype.
    """


def bracket(
    sample: Values, *, n_rows: int, widening: int, spread: float = 0.0, share: Fraction = MEDIAN
) -> Bracket:
    """Bracket the medians of large random subsets of n_rows values, given a random sample of these.

    `spread` is the standard deviation of the share of rows below the sample's median, if it exceeds
    what the sample's size implies. With another `share` than one half, the bracket is for that
    quantile.
    """
    dtype = sample.dtype
    lowest, highest = (
        (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.kind in "iu" else (-np.inf, np.inf)
    )
    if not len(sample):
        return Bracket(dtype.type(lowest), dtype.type(highest))
    # A stable sort of a sample that is sorted already is a single pass.
    ordered = np.sort(sample, kind="stable")
    margin = inside_share(len(sample), n_rows, spread=spread) / 2 * 2.0**widening
    low = int(np.floor((float(share) - margin) * len(ordered)))
    high = int(np.ceil((float(share) + margin) * len(ordered)))
    return Bracket(
        ordered[low] if low >= 0 else dtype.type(lowest),
        ordered[high] if high < len(ordered) else dtype.type(highest),
    )


def inside_share(n_sample: int, n_rows: int, *, spread: float = 0.0) -> float:
    """Return the share of the rows that a bracket from a sample of this size holds."""
    deviation = max(0.5 / math.sqrt(max(1, n_sample)), spread) + 0.5 / math.sqrt(max(1, n_rows))
    return 2 * _DEVIATIONS * deviation


def zones(numbers: Numbers, brackets: Brackets) -> Codes:
    """Return the zone that each value lies in."""
    first = brackets.parts[0]
    zone: Codes = (numbers.values >= first.low).view(np.uint8)
    np.add(zone, numbers.values > first.high, out=zone)
    for other in brackets.parts[1:]:
        np.add(zone, numbers.values >= other.low, out=zone)
        np.add(zone, numbers.values > other.high, out=zone)
    if numbers.present is not None:
        zone[~numbers.present] = brackets.missing_zone
    return zone


@dataclass(frozen=True, slots=True, eq=False)
class Zoned:
    """How the rows of a column lie relative to its brackets."""

    rows: Ints
    """rows[zone, arc]."""
    part: Codes
    """The bracket of each value that lies inside one."""
    values: Values
    arcs: Codes
    weights: Ints | None

    @property
    def n_arcs(self) -> int:
        return int(self.rows.shape[1])

    @property
    def present(self) -> Ints:
        """Rows of each arc that have a value."""
        return np.asarray(self.rows[:-1].sum(axis=0))


def zone_rows(
    zone: Codes, arcs: Codes, weights: Ints | None, *, n_brackets: int, n_arcs: int
) -> Ints:
    """Count the rows of each zone per arc; a row counts as often as it weighs."""
    n_zones = 2 * n_brackets + 3
    # The narrowest dtype that fits: an eighth of the memory moves.
    cells = np.multiply(zone, n_arcs, dtype=narrowest(n_zones * n_arcs - 1))
    np.add(cells, arcs, out=cells, casting="unsafe")
    return tally_cells(cells, weights, n_zones * n_arcs).reshape(n_zones, n_arcs)


def zoned(rows: Ints, zone: Codes, inside: Values, arcs: Codes, weights: Ints | None) -> Zoned:
    """Return how rows lie relative to brackets, given the rows per zone and arc and the values
    inside brackets.
    """
    places = np.flatnonzero(zone & 1)
    part = np.asarray(zone[places] >> 1, dtype=zone.dtype)
    return Zoned(rows, part, inside, arcs[places], None if weights is None else weights[places])


def located(zoned: Zoned, parts: Sequence[Bracket], part_of: Sequence[int]) -> list[Located]:
    """Collect the rows inside each of `parts`: increasing brackets, parts[i] within bracket
    part_of[i] of `zoned`.
    """
    lows = np.array([part.low for part in parts], dtype=zoned.values.dtype)
    highs = np.array([part.high for part in parts], dtype=zoned.values.dtype)
    if list(part_of) == list(range(len(zoned.rows) // 2 - 1)):
        # Each part lies in a bracket of its own, so one comparison places a value and no search is
        # needed.
        place = np.asarray(zoned.part + (zoned.values >= lows.take(zoned.part)), dtype=np.int64)
    else:
        place = np.searchsorted(lows, zoned.values, side="right")
    cells = place * zoned.n_arcs + zoned.arcs
    passed = tally_cells(cells, zoned.weights, (len(parts) + 1) * zoned.n_arcs).reshape(
        -1, zoned.n_arcs
    )
    # Below a part are the rows of all zones between brackets up to its own bracket, and the rows
    # inside brackets that lie below the part.
    below = np.cumsum(zoned.rows[::2], axis=0)[list(part_of)] + np.cumsum(passed, axis=0)[:-1]
    inside = np.flatnonzero((place > 0) & (zoned.values <= highs.take(place - 1, mode="clip")))
    inside = inside[np.argsort(place[inside], kind="stable")]
    starts = np.searchsorted(place[inside], np.arange(1, len(parts) + 2)).tolist()
    found = []
    for number, (start, stop) in enumerate(pairwise(starts)):
        own = inside[start:stop]
        counts = None if zoned.weights is None else zoned.weights[own]
        collected = _coalesce(zoned.values[own], zoned.arcs[own], counts, zoned.n_arcs)
        found.append(Located(below[number], zoned.present, *collected))
    return found


def merge(parts: Sequence[Located]) -> Located:
    """Merge the locations of disjoint rows."""
    below = np.sum([part.below for part in parts], axis=0)
    present = np.sum([part.present for part in parts], axis=0)
    values = np.concatenate([part.values for part in parts])
    arcs = np.concatenate([part.arcs for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    # Coalescing sorts, which pays only if values repeat often; if none repeats within a part, few
    # repeat between parts.
    if any((part.counts > 1).any() for part in parts):
        values, arcs, counts = _coalesce(values, arcs, counts, len(below))
    return Located(below, present, values, arcs, counts)


def quantile_cuts(
    located: Located, members: Bools, shares: Sequence[Fraction]
) -> list[list[Cut | None]]:
    """Return, for each share, the quantile of each subset of arcs, members[subset, arc]; None
    outside the bracket.

    A quantile is the midpoint of the last value up to the share and the first from there on, as in
    `numpy.quantile` with the method "averaged_inverted_cdf"; for one half it is the median.
    """
    ranked = Ranked(located.values, located.arcs, located.counts, len(located.below))
    n, below = members @ located.present, members @ located.below
    upto, from_on = zip(*(middle_ranks(n, share) for share in shares), strict=True)
    places = ranked.places(members, np.stack([*upto, *from_on], axis=1) - below[:, None])
    found: list[list[Cut | None]] = []
    known: dict[tuple[int, int], Cut] = {}
    for number in range(len(shares)):
        pairs = places[:, [number, len(shares) + number]].tolist()
        found.append([])
        for rows, (low, high) in zip(n.tolist(), pairs, strict=True):
            if rows == 0:
                found[-1].append(Cut(None, None))
            elif NOWHERE in (low, high):
                found[-1].append(None)
            else:
                if (low, high) not in known:
                    known[low, high] = midpoint(ranked.values[low], ranked.values[high])
                found[-1].append(known[low, high])
    return found


def middle_ranks(n: Ints, share: Fraction) -> tuple[Ints, Ints]:
    """Return the ranks, among n values, of the two whose midpoint is the quantile: equal unless n *
    share is whole.
    """
    return -(
        -n * share.numerator // share.denominator
    ) - 1, n * share.numerator // share.denominator


def midpoint(low: Any, high: Any) -> Cut:
    """Return the cut halfway between the two middle values of a column.

    For floats it is numpy.median's own arithmetic, in the column's precision, except that it
    neither overflows nor turns the pair -inf, inf into a nan. For whole numbers it is exact, also
    beyond 2**53.
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


def _coalesce(
    values: Values, arcs: Codes, counts: Ints | None, n_arcs: int
) -> tuple[Values, Codes, Ints]:
    """Give every pair (value, arc) one entry with its count."""
    if not len(values):
        return values, arcs, np.empty(0, dtype=np.int64)
    lowest = values.min()
    if values.dtype.kind in "iu" and int(values.max()) - int(lowest) < _DENSE_VALUES:
        # Differences of narrow integers may wrap around; read as unsigned numbers they are right.
        distances = np.subtract(values, lowest).view(f"u{values.dtype.itemsize}")
        offsets = distances.astype(np.intp) * n_arcs + arcs
        table = np.bincount(offsets) if counts is None else _sums(offsets, counts)
        found = np.flatnonzero(table)
        offset_values = (found // n_arcs).astype(values.dtype) + lowest
        return offset_values, (found % n_arcs).astype(arcs.dtype), table[found]
    order = np.lexsort((arcs, values))
    values, arcs = values[order], arcs[order]
    first = np.flatnonzero(
        np.concatenate([[True], (values[1:] != values[:-1]) | (arcs[1:] != arcs[:-1])])
    )
    ordered = np.ones(len(values), dtype=np.int64) if counts is None else counts[order]
    return values[first], arcs[first], np.add.reduceat(ordered, first)


def _sums(offsets: Ints, counts: Ints) -> Ints:
    table = np.zeros(int(offsets.max()) + 1, dtype=np.int64)
    np.add.at(table, offsets, counts)
    return table


class Ranked:
    """The values of given ranks among the rows of some arcs, for many unions of arcs at once;
    counts[i] rows of arc arcs[i] have the value values[i].

    Values are sorted once. The counts of every arc in each *run* of about a thousand values tell
    which run a rank falls into, and only that run is searched, so the cost hardly grows with the
    number of unions.
    """

    def __init__(self, values: Values, arcs: Codes, counts: Ints, n_arcs: int) -> None:
        order = np.argsort(values, kind="stable")
        self.values: Values = values[order]
        self._arcs, self._counts = arcs[order], counts[order]
        n_runs = -(-len(order) // _RUN)
        cells = np.arange(len(order)) // _RUN * n_arcs + self._arcs
        self._runs = tally_cells(cells, self._counts, n_runs * n_arcs).reshape(n_runs, n_arcs)

    def places(self, members: Bools, ranks: Ints) -> Ints:
        """Return, for each rank in each union, the place of the value that has that many of the
        union's rows before it.

        members[union, arc] says which arcs a union consists of, and ranks[union, i] are the ranks
        to find; NOWHERE marks a rank that falls outside these values.
        """
        if not len(self.values):
            return np.full(ranks.shape, NOWHERE)
        ends = np.cumsum(members.astype(np.int64) @ self._runs.T, axis=1)
        known = (ranks >= 0) & (ranks < ends[:, -1:])
        asked = np.where(known, ranks, 0)
        run = np.where(known, (ends[:, None, :] <= asked[:, :, None]).sum(axis=2), 0)
        before = np.where(run > 0, np.take_along_axis(ends, np.maximum(run - 1, 0), axis=1), 0)
        rows = run[:, :, None] * _RUN + np.arange(_RUN)
        inside = rows < len(self.values)
        rows[~inside] = 0
        member = members[np.arange(len(members))[:, None, None], self._arcs[rows]]
        upto = np.cumsum(np.where(member & inside, self._counts[rows], 0), axis=2)
        place = run * _RUN + (upto <= (asked - before)[:, :, None]).sum(axis=2)
        return np.where(known, place, NOWHERE)
