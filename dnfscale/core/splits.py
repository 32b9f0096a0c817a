"""Splits: a row's number decides its fold and its place in every inner split, wherever the row is.

A keyed permutation sends the N row numbers to N positions on a circle. Everything else is arcs of
that circle:

    fold f's test part        the f-th of K arcs whose lengths differ by at most one
    fold f's validation part  the int(validation * |W_0|) positions that follow its test part
    fold f's W_train          the rest

The product is that of the decimal as it is written, without the rounding error of a float. Each
fold's three parts are thus a uniformly random partition of the rows with exact sizes, no list of
row numbers is ever made, and the ends of all these arcs cut the circle into at most 2K + 2
elementary *arcs*. A count kept per arc serves every part of every fold by addition, so one pass
over the rows fills the tables of all folds.

There may be several inner splits: the validation parts of a fold then begin at evenly spaced places
of its W_0, which is taken as a circle of its own, so that every row is in a validation part about
equally often. R splits make up to about 2KR arcs.

The last fold has an empty test part: it learns the model of all rows. It is the only fold of a
plain fit, and because the permutation depends on N and the seed alone, it is the same in a fit and
in a study.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints, frozen, narrowest

TRAIN, VALIDATION, TEST = 0, 1, 2
"""The parts of a fold; W_0 is TRAIN and VALIDATION together."""

_BLOCK = 1 << 15
"""Rows per block: a block's working arrays stay in a core's L2 cache (three times faster at a
million rows).
"""


@dataclass(frozen=True, slots=True)
class Permutation:
    """A keyed permutation of 0..size-1.

    Rounds of invertible steps (add, multiply by an odd number, fold the high half onto the low one)
    permute the next power of two; a number that lands at `size` or above is permuted again until it
    lands below.
    """

    size: int
    seed: int

    def __call__(self, rows: Codes) -> Codes:
        """Return the position of each row number."""
        dtype = np.dtype(np.uint32 if self.size <= 1 << 32 else np.uint64)
        keys = self._round_keys(dtype)
        positions = self._mix(rows.astype(dtype), keys)
        # The power of two is less than twice the size, so each turn leaves less than half of them
        # on average.
        outside = np.flatnonzero(positions >= self.size)
        while outside.size:
            walked = self._mix(positions[outside], keys)
            positions[outside] = walked
            outside = outside[walked >= self.size]
        return positions

    def _mix(self, numbers: Codes, keys: Codes) -> Codes:
        kind = numbers.dtype.type
        bits = max(2, (self.size - 1).bit_length())
        mask, half = kind((1 << bits) - 1), kind((bits + 1) // 2)
        folded = np.empty_like(numbers)
        for addend, odd in keys:
            np.add(numbers, addend, out=numbers)
            np.multiply(numbers, odd, out=numbers)
            np.bitwise_and(numbers, mask, out=numbers)
            np.right_shift(numbers, half, out=folded)
            np.bitwise_xor(numbers, folded, out=numbers)
        return numbers

    def _round_keys(self, dtype: np.dtype[Any]) -> Codes:
        # Small numbers need more rounds: 12 make all 8! orders of eight rows equally likely, 6 do
        # not.
        rounds = 12 if self.size <= 1 << 16 else 6
        digest = hashlib.shake_256(f"dnfscale splits {self.seed} {self.size}".encode()).digest(
            16 * rounds
        )
        keys = np.frombuffer(digest, dtype="<u8").astype(dtype).reshape(rounds, 2)
        keys[:, 1] |= dtype.type(1)
        return keys


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """How N rows are dealt into the parts of K test folds and of the fold of all rows."""

    n_rows: int
    outer: int
    """K: the number of folds with a test part; 0 for a plain fit."""
    validation: float
    seed: int
    inner: int = 1
    """R: how many inner splits each fold has."""
    ends: Ints = field(init=False)
    """The position on the circle at which each arc ends, in increasing order; the last is N."""
    parts: Codes = field(init=False)
    """parts[fold, arc] is TRAIN, VALIDATION or TEST, in the first inner split."""

    def __post_init__(self) -> None:
        if not (self.outer == 0 or 2 <= self.outer <= max(2, self.n_rows)):
            raise ValueError(
                f"outer must be 0 or between 2 and {self.n_rows} rows, got {self.outer}"
            )
        parts_of = [
            self._ranges(fold, split) for fold in range(self.n_folds) for split in range(self.inner)
        ]
        bounds = [
            bound for test, validation in parts_of for arc in (test, *validation) for bound in arc
        ]
        ends = {self.n_rows} | {bound % self.n_rows for bound in bounds} - {0}
        object.__setattr__(self, "ends", frozen(np.array(sorted(ends), dtype=np.int64)))
        object.__setattr__(self, "parts", frozen(self.inner_parts(0)))

    def inner_parts(self, split: int) -> Codes:
        """Return parts[fold, arc] of one of the inner splits."""
        starts = np.concatenate([[0], self.ends[:-1]])
        parts = np.full((self.n_folds, len(starts)), TRAIN, dtype=np.uint8)
        for fold in range(self.n_folds):
            test, validation = self._ranges(fold, split)
            for arc in validation:
                parts[fold, _inside(starts, *arc, self.n_rows)] = VALIDATION
            parts[fold, _inside(starts, *test, self.n_rows)] = TEST
        return parts

    def _ranges(self, fold: int, split: int) -> tuple[tuple[int, int], list[tuple[int, int]]]:
        """Return the positions of a fold's test part and of its validation part, which may be in
        two pieces.
        """
        test = (0, 0)
        if fold < self.outer:
            test = (fold * self.n_rows // self.outer, (fold + 1) * self.n_rows // self.outer)
        n_learned = self.n_rows - (test[1] - test[0])
        first = split * n_learned // self.inner
        last = first + int(Fraction(str(self.validation)) * n_learned)
        pieces = [(first, min(last, n_learned)), (0, max(0, last - n_learned))]
        return test, [
            (test[1] + start, test[1] + stop) for start, stop in pieces if stop > start or not start
        ]

    @property
    def n_folds(self) -> int:
        """K + 1: the test folds, then the fold of all rows."""
        return self.outer + 1

    @property
    def n_arcs(self) -> int:
        return len(self.ends)

    @property
    def arc_rows(self) -> Ints:
        """The number of rows in each arc."""
        return np.diff(self.ends, prepend=0)

    def rows_of(self, fold: int, parts: Sequence[int]) -> int:
        """Return how many rows of a fold are in any of the given parts."""
        return int(self.arc_rows[np.isin(self.parts[fold], parts)].sum())

    def members(self, parts: Sequence[int]) -> Bools:
        """Return members[fold, arc]: whether the arc belongs to one of the given parts of the
        fold.
        """
        return np.isin(self.parts, parts)

    def arcs(self, first_row: int, n_rows: int) -> Codes:
        """Return the arc of each of the rows first_row, first_row + 1, ...: all their folds and
        splits at once.
        """
        permutation = Permutation(self.n_rows, self.seed)
        shift = max(0, (self.n_rows - 1).bit_length() - 12)
        cells, crossed = self._cells(shift)
        arcs = np.empty(n_rows, dtype=narrowest(self.n_arcs - 1))
        for start in range(0, n_rows, _BLOCK):
            stop = min(start + _BLOCK, n_rows)
            positions = permutation(np.arange(first_row + start, first_row + stop, dtype=np.uint64))
            cell = positions >> positions.dtype.type(shift)
            arcs[start:stop] = cells.take(cell)
            unsure = np.flatnonzero(crossed.take(cell))
            arcs[start + unsure] = np.searchsorted(self.ends, positions[unsure], side="right")
        return arcs

    def _cells(self, shift: int) -> tuple[Codes, Bools]:
        """Return the arc in which each cell of 2**shift positions begins, and whether the cell
        reaches into another.

        Most cells lie in one arc, so most rows need one look-up instead of a search: 25 ns a row
        less with ten folds.
        """
        starts = np.arange(0, self.n_rows, 1 << shift, dtype=np.int64)
        begins = np.searchsorted(self.ends, starts, side="right")
        lasts = np.minimum(starts + (1 << shift), self.n_rows) - 1
        ends = np.searchsorted(self.ends, lasts, side="right")
        return begins.astype(narrowest(self.n_arcs - 1)), begins != ends


def _inside(starts: Ints, start: int, stop: int, n_rows: int) -> Bools:
    """Return which arcs, given by their first positions, lie in start..stop on the circle; both
    ends may exceed N.
    """
    if start >= n_rows:
        start, stop = start - n_rows, stop - n_rows
    return ((starts >= start) & (starts < stop)) | (starts + n_rows < stop)
