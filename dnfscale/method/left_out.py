"""Errors of types when each row is judged by the others of its type, for all candidates that might
split the types.

The types of several attributes are counted once, with every candidate. The types of all but one of
the attributes follow: each is the sum of two, or one alone. So a search that tries to replace each
attribute in turn counts rows only after a replacement.

Of types with few rows of either class, both counts of a candidate are kept in one number of 16
bits, and the errors are looked up in a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dnfscale.core.arrays import AnyInts, Floats, Ints

_SMALL = 1 << 8
"""Types with fewer rows of each class than this are looked up."""
_BLOCK = 1 << 16
"""Values processed at once, so that they stay in the cache."""


def left_out_errors(n: AnyInts, c: AnyInts, unit: int = 1) -> AnyInts:
    """Return twice the errors that types with these counts make when each row is judged by the
    others of its type.

    The answer for a row without others is a coin toss. For weighted rows, one unit of weight is
    left out.
    """
    negative = n - c
    # A positive row errs unless the positive rows lead or tie without it; a negative row errs if
    # they do without it.
    errors: AnyInts = c * (c < negative + unit) + negative * (c + unit >= negative)
    errors += errors
    np.copyto(errors, n, where=n <= unit)
    return errors


@dataclass(frozen=True, slots=True, eq=False)
class HeldByClass:
    """Rows of each class, and those of them where each candidate holds, by type."""

    positive: AnyInts
    negative: AnyInts
    positive_held: AnyInts
    negative_held: AnyInts
    """Both are indexed [candidate, type]."""

    def merged(self, first: Ints, second: Ints) -> HeldByClass:
        """Return the counts of types that are each the sum of two."""
        every = (self.positive, self.negative, self.positive_held, self.negative_held)
        return HeldByClass(
            *(counts.take(first, axis=-1) + counts.take(second, axis=-1) for counts in every)
        )

    def between(self, low: Ints | slice, high: Ints | None = None) -> tuple[AnyInts, AnyInts]:
        """Return the counts of some candidates, or of what lies between two."""
        held = (self.positive_held, self.negative_held)
        if high is None:
            return held[0][low], held[1][low]
        return held[0][low] - held[0][high], held[1][low] - held[1][high]


@dataclass(frozen=True, slots=True, eq=False)
class CountedTypes:
    """The types of several attributes, counted with every candidate."""

    codes: Ints
    """The distinct types: bit i is the truth value of attribute i."""
    counts: HeldByClass
    """After the types that occur comes one without rows."""
    packed: npt.NDArray[np.uint16]
    """positive_held * 256 + negative_held; only right where neither is above 255."""
    unit: int

    @classmethod
    def of(cls, codes: Ints, rows: AnyInts, held: AnyInts, unit: int) -> CountedTypes:
        """Return the types, given rows[type or n_types + type] of the negative and the positive
        class, and held[candidate, the same].
        """
        n_types = len(codes)
        none = np.zeros((len(held), 1), dtype=held.dtype)
        positive, negative = (
            np.append(rows[classes], rows.dtype.type(0))
            for classes in (slice(n_types, None), slice(n_types))
        )
        positive_held, negative_held = (
            np.hstack([held[:, classes], none])
            for classes in (slice(n_types, None), slice(n_types))
        )
        packed = positive_held.astype(np.uint16) * np.uint16(_SMALL)
        packed += negative_held.astype(np.uint16)
        counts = HeldByClass(positive, negative, positive_held, negative_held)
        return cls(codes, counts, packed, unit)

    def errors(self) -> float:
        """Return twice the errors of the types as they are."""
        positive = self.counts.positive
        errors = left_out_errors(positive + self.counts.negative, positive, self.unit)
        return float(errors.sum(dtype=np.int64))

    def without(self, place: int) -> SplitErrors:
        """Return the errors when another candidate splits the types instead of an attribute."""
        first, second = self._pairs(1 << place)
        positive, negative = (
            counts[first] + counts[second]
            for counts in (self.counts.positive, self.counts.negative)
        )
        n = positive + negative
        # Whatever splits a type of one row, its answer is a coin toss.
        alone = n <= self.unit
        is_small = (positive < _SMALL) & (negative < _SMALL) & ~alone
        small, large = np.flatnonzero(is_small), np.flatnonzero(~is_small & ~alone)
        packed = self.packed.take(first[small], axis=1) + self.packed.take(second[small], axis=1)
        total = positive[small].astype(np.uint16) * np.uint16(_SMALL)
        total += negative[small].astype(np.uint16)
        return SplitErrors(
            alone=int(n[alone].sum(dtype=np.int64)),
            total=total,
            packed=packed,
            large=self.counts.merged(first[large], second[large]) if len(large) else None,
            unit=self.unit,
        )

    def _pairs(self, bit: int) -> tuple[Ints, Ints]:
        """Return the places of types that differ in nothing but a bit; the second is that of the
        type without rows, if no other type differs in nothing else.
        """
        others = self.codes ^ bit
        places = np.minimum(np.searchsorted(self.codes, others), len(self.codes) - 1)
        paired = self.codes[places] == others
        first = np.flatnonzero(~paired | (self.codes & bit == 0))
        return first, np.where(paired, places, len(self.codes))[first]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SplitErrors:
    """Twice the errors that types leave when a candidate splits them."""

    alone: int
    """The errors of types that nothing can split."""
    total: npt.NDArray[np.uint16]
    """The rows of each small type: 256 times the positive ones, and the negative ones."""
    packed: npt.NDArray[np.uint16]
    """The same where a candidate holds, [candidate, small type]."""
    large: HeldByClass | None
    """All other types."""
    unit: int

    def of(self, low: Ints | None = None, high: Ints | None = None) -> Floats:
        """Return the errors for every candidate; or for each of some; or for each interval between
        two cuts.
        """
        n_candidates = len(self.packed) if low is None else len(low)
        errors = np.full(n_candidates, float(self.alone))
        n_types = len(self.total) + (0 if self.large is None else len(self.large.positive))
        at_once = max(1, _BLOCK // max(1, n_types))
        for start in range(0, n_candidates, at_once):
            block = slice(start, start + at_once)
            lower: Any = block if low is None else low[block]
            higher = None if high is None else high[block]
            errors[block] += self._of_small(lower, higher)
            if self.large is not None:
                errors[block] += self._of_large(self.large, lower, higher)
        return errors

    def _of_small(self, low: Any, high: Ints | None) -> AnyInts:
        looked_up = _looked_up(self.unit)
        held = self.packed[low] if high is None else self.packed[low] - self.packed[high]
        split = looked_up.take(held)
        split += looked_up.take(self.total - held)
        return np.asarray(split.sum(axis=1, dtype=np.int64))

    def _of_large(self, large: HeldByClass, low: Any, high: Ints | None) -> AnyInts:
        positive, negative = large.between(low, high)
        split = left_out_errors(positive + negative, positive, self.unit)
        positive, negative = large.positive - positive, large.negative - negative
        split += left_out_errors(positive + negative, positive, self.unit)
        return np.asarray(split.sum(axis=1, dtype=np.int64))


@cache
def _looked_up(unit: int) -> npt.NDArray[np.uint32]:
    """Return the errors of types of fewer than 256 rows of each class, by their packed counts."""
    positive, negative = np.divmod(np.arange(_SMALL * _SMALL, dtype=np.int64), _SMALL)
    return left_out_errors(positive + negative, positive, unit).astype(np.uint32)
