"""Brackets made narrow by counting, so that one place never holds more than a few of a column's
values.

The number of values inside a bracket from a sample grows with the rows: 100,000 of 10 million, half
a million of 100 million. *Steps*, which are values of the sample, divide the bracket. The number of
rows of each arc below each step is a small table; summed over all partitions, it shows between
which steps the cuts of all folds lie, and only the values there are collected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from dnfscale.core.arrays import Bools, Ints, Values, tally_cells
from dnfscale.core.medians import Bracket, Brackets, Zoned, joined, middle_ranks

_STEPS = 64
"""Steps of a bracket, at most: the tables of ten folds are then 12 KB a bracket."""
_STEP_ROWS = 1 << 12
"""The fewest values between two steps: collecting this many costs no more than counting them."""


@dataclass(frozen=True, slots=True, eq=False)
class Stepped:
    """How the rows of a column lie relative to the steps of one of its brackets."""

    below: Ints
    """below[i, arc]: rows below the bracket, then below each of its steps, then up to its end."""
    present: Ints
    """Rows of each arc that have a value."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Stepped)
            and np.array_equal(self.below, other.below)
            and np.array_equal(self.present, other.present)
        )


def steps(sample: Values, within: Bracket, *, n_rows: int) -> Values:
    """Return increasing values that divide a bracket of a column of n_rows rows, chosen from a
    sample of the column.
    """
    inside = np.sort(sample[(sample > within.low) & (sample <= within.high)], kind="stable")
    n_steps = min(_STEPS, len(inside) * n_rows // max(1, len(sample)) // _STEP_ROWS)
    return np.unique(inside[len(inside) * np.arange(1, n_steps + 1) // (n_steps + 1)])


def narrowed_rows(inside: int, n_rows: int) -> int:
    """Estimate how many of the values inside a bracket are left after narrowing it, in a column of
    n_rows rows.
    """
    n_steps = min(_STEPS, inside // _STEP_ROWS)
    # The cuts of the folds spread over a few standard deviations, and the bracket reaches to the
    # steps on either side.
    return min(inside, 2 * inside // (n_steps + 1) + 2 * math.isqrt(n_rows))


def climb(zoned: Zoned, steps: Sequence[Values]) -> list[Stepped]:
    """Count the rows of each arc below the steps of each bracket."""
    # Brackets increase, so the steps of all of them, concatenated, increase too.
    place = np.searchsorted(np.concatenate(steps), zoned.values, side="right") + zoned.part
    n_between = [len(own) + 1 for own in steps]
    cells = place * zoned.n_arcs + zoned.arcs
    between = tally_cells(cells, zoned.weights, sum(n_between) * zoned.n_arcs).reshape(
        -1, zoned.n_arcs
    )
    below = np.cumsum(zoned.rows, axis=0)[::2]
    starts = np.cumsum([0, *n_between]).tolist()
    return [
        Stepped(
            np.cumsum(np.concatenate([below[number, None], between[start:stop]]), axis=0),
            zoned.present,
        )
        for number, (start, stop) in enumerate(pairwise(starts))
    ]


def merge(parts: Sequence[Stepped]) -> Stepped:
    """Merge the counts of disjoint rows."""
    return Stepped(
        np.sum([part.below for part in parts], axis=0),
        np.sum([part.present for part in parts], axis=0),
    )


def narrowed(
    brackets: Brackets,
    steps: Sequence[Values],
    found: Sequence[Stepped],
    members: Bools,
    shares: Sequence[Fraction],
) -> Brackets | None:
    """Narrow brackets to the steps around the quantiles of all subsets of arcs; None if a quantile
    lies outside.

    members[subset, arc] says which arcs a subset consists of; shares[i] belongs to the cut that
    brackets.of_cut[i] holds.
    """
    wanted = []
    for share, number in zip(shares, brackets.of_cut, strict=True):
        part = _between(brackets.parts[number], steps[number], found[number], members, share)
        if part is None:
            return None
        wanted.append(part)
    return joined(wanted)


def _between(
    bracket: Bracket, steps: Values, found: Stepped, members: Bools, share: Fraction
) -> Bracket | None:
    """Return the part of a bracket, from step to step, that holds a quantile of all subsets; None
    if one is outside.
    """
    n = members @ found.present
    some = n > 0
    if not some.any():
        return Bracket(bracket.low, bracket.low)
    below = (members @ found.below.T)[some]
    first, last = (((below <= rank[:, None]).sum(axis=1)) for rank in middle_ranks(n[some], share))
    if first.min() == 0 or last.max() == below.shape[1]:
        return None
    ends = [bracket.low, *steps, bracket.high]
    return Bracket(ends[int(first.min()) - 1], ends[int(last.max())])
