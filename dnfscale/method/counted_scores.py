"""Scores counted some rows at a time: the same whatever the blocks, and small however many rows.

While there are few different probabilities, each is counted by itself, and the scores are those of
all rows at once. Beyond that rows are counted in bins, and only the losses are those of the rows
themselves: their sums are kept in whole numbers, so that no order of the blocks rounds them
differently.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from msgspec.structs import replace

from dnfscale.core.arrays import Bools, Floats, Ints
from dnfscale.method.metrics import (
    MOST_SCORES,
    log_losses,
    score_bins,
    scores_in_bins,
    scores_of_types,
)
from dnfscale.results.metrics import Scores

_UNIT = 1 << 30
"""Losses are counted in so many parts of one."""
_HALF = 26
"""The bits of the lower half of a weight."""


@dataclass(frozen=True, slots=True, eq=False)
class _Few:
    """Rows by their different probabilities."""

    value: Floats
    n: Ints
    c: Ints

    def plus(self, value: Floats, n: Ints, c: Ints) -> _Few | None:
        """Return these with other rows; None if there are too many different values."""
        joined = np.concatenate([self.value, value])
        found, place = np.unique(joined, return_inverse=True)
        if len(found) > MOST_SCORES:
            return None
        counts = np.zeros((2, len(found)), dtype=np.int64)
        np.add.at(counts[0], place, np.concatenate([self.n, n]))
        np.add.at(counts[1], place, np.concatenate([self.c, c]))
        return _Few(found, *counts)


def _none() -> _Few:
    nothing = np.zeros(0, dtype=np.int64)
    return _Few(np.zeros(0), nothing, nothing)


def _no_rows() -> Ints:
    return np.zeros((2, MOST_SCORES), dtype=np.int64)


@dataclass(slots=True, eq=False)
class CountedScores:
    """Rows of two classes, counted by the probability that they were given."""

    _few: _Few | None = field(default_factory=_none)
    _bins: Ints = field(default_factory=_no_rows)
    """Rows, and the positive ones, of each bin."""
    _brier: int = 0
    _log_loss: int = 0

    def add(self, probability: Floats, positive: Bools, weights: Ints | None) -> None:
        """Count some more rows, or their weights."""
        value = probability.astype(np.float64)
        n = np.ones(len(positive), dtype=np.int64) if weights is None else weights
        c = np.where(positive, n, 0)
        if self._few is not None:
            self._few = self._few.plus(value, n, c)
        bins = score_bins(value)
        np.add.at(self._bins[0], bins, n)
        np.add.at(self._bins[1], bins, c)
        self._brier += _summed((value - positive) ** 2, n)
        self._log_loss += _summed(log_losses(value, positive), n)

    def merge(self, other: CountedScores) -> None:
        """Count the rows of another as well."""
        if self._few is not None:
            few = other._few
            self._few = None if few is None else self._few.plus(few.value, few.n, few.c)
        self._bins += other._bins
        self._brier += other._brier
        self._log_loss += other._log_loss

    def scores(self) -> Scores:
        """Return the scores of all rows that were counted."""
        if self._few is not None:
            return scores_of_types(self._few.value, self._few.n, self._few.c)
        n, c = self._bins
        rows = int(n.sum())
        return replace(
            scores_in_bins(n, c),
            brier=self._brier / _UNIT / rows,
            log_loss=self._log_loss / _UNIT / rows,
        )


def _summed(losses: Floats, n: Ints) -> int:
    # Losses have up to 36 bits and weights 53: their products fit in halves. Python adds without a
    # bound.
    whole = np.round(losses * _UNIT).astype(np.int64)
    low, high = n & ((1 << _HALF) - 1), n >> _HALF
    of_low: list[int] = (whole * low).tolist()
    of_high: list[int] = (whole * high).tolist()
    return sum(of_low) + (sum(of_high) << _HALF)
