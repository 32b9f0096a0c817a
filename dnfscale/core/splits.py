"""Splits: what is known of a row by itself decides its fold and its part in every inner split,
wherever the row is.

By default that is its number. A keyed permutation sends the N row numbers to N positions on a
circle. Everything else is arcs of that circle:

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

Where data demand it, rows lie on another circle, such as that of their groups, or are in *stages*,
such as their sites or spans of time, or both (core/dealing.py). A stage is tested or learned from
as a whole; an elementary arc is then what an arc of the circle and a stage have in common. A row
may have no part in a fold, if it comes after the test part, or if its group has rows on both sides:
it is UNUSED. It may be learned from at last but have no part in the inner split: it is ASIDE. How
many rows such arcs have is counted when the rows are read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints, Scalar, frozen, narrowest
from dnfscale.core.columns import Block

TRAIN, VALIDATION, TEST, UNUSED, ASIDE = range(5)
"""The parts of a fold: those that an inner split deals with, and rows that have no part in the
fold, or only in its W_0.
"""
WHOLE = (TRAIN, VALIDATION, ASIDE)
"""The parts that W_0 consists of."""
LEARNED, TESTED, NEVER, EARLY, LATE = range(5)
"""What a stage is in a fold: learned from and dealt by the circle; tested; neither; or learned
from, the early rows as W_train and the late ones as W_val.
"""
_BY_STAGE = np.array(
    [[TRAIN, VALIDATION, TEST], [TEST] * 3, [UNUSED] * 3, [TRAIN] * 3, [VALIDATION] * 3],
    dtype=np.uint8,
)
"""The part of a row by its stage, and by where it is on the circle: TRAIN, VALIDATION or TEST."""
_BY_STAGE_AND_GROUP = np.array(
    [
        [TRAIN, VALIDATION, UNUSED],
        [UNUSED, UNUSED, TEST],
        [UNUSED] * 3,
        [TRAIN, ASIDE, UNUSED],
        [ASIDE, VALIDATION, UNUSED],
    ],
    dtype=np.uint8,
)
"""The same where groups lie on the circle: a row has a part only where both agree."""
_TESTED_GROUPS = 5
"""One group in so many is tested, and the others are learned from, where stages decide too."""

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


LabelArcs = dict[Scalar, tuple[int, ...]]
"""How many rows of each label are in each arc."""
Deal = Callable[[int, Block], Codes]
"""Returns the arc of each row of a block, given the number of its first row; the blocks of a
partition come in their order.
"""


class Circle(Protocol):
    """A circle that rows lie on, of positions other than their numbers."""

    @property
    def size(self) -> int:
        """The number of positions."""
        ...

    @property
    def of_groups(self) -> bool:
        """Whether rows of a group lie together."""
        ...

    def dealer(self, ordinal: int, ends: Ints) -> Deal:
        """Return what deals the rows of a partition into arcs that end there."""
        ...


class Stages(Protocol):
    """Stages that rows are in."""

    @property
    def n_stages(self) -> int: ...

    @property
    def hold_out(self) -> bool:
        """Whether what is tested is not even learned from by the fold of all rows."""
        ...

    def roles(self) -> Codes:
        """Return roles[fold, stage]: what each stage is in each fold."""
        ...

    def __call__(self, first_row: int, block: Block) -> Codes:
        """Return the stage of each row of a block."""
        ...


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
    circle: Circle | None = None
    """The circle, if rows are not dealt by their numbers."""
    stages: Stages | None = None
    holdout: float | None = None
    """The share of the circle that the only fold tests, and that nothing is ever learned from."""
    label_arcs: LabelArcs | None = None
    """Where rows were counted when they were read."""
    ends: Ints = field(init=False)
    """The position on the circle at which each of its arcs ends, in increasing order; the last is
    its size.
    """
    parts: Codes = field(init=False)
    """parts[fold, arc] is the part of each arc in the first inner split."""

    def __post_init__(self) -> None:
        if self.is_plain and not (self.outer == 0 or 2 <= self.outer <= max(2, self.n_rows)):
            raise ValueError(
                f"outer must be 0 or between 2 and {self.n_rows} rows, got {self.outer}"
            )
        parts_of = [
            self._ranges(fold, split) for fold in range(self.n_folds) for split in range(self.inner)
        ]
        bounds = [
            bound for test, validation in parts_of for arc in (test, *validation) for bound in arc
        ]
        ends = {self.size} | {bound % self.size for bound in bounds} - {0}
        object.__setattr__(self, "ends", frozen(np.array(sorted(ends), dtype=np.int64)))
        object.__setattr__(self, "parts", frozen(self.inner_parts(0)))

    def inner_parts(self, split: int) -> Codes:
        """Return parts[fold, arc] of one of the inner splits."""
        starts = np.concatenate([[0], self.ends[:-1]])
        parts = np.full((self.n_folds, len(starts)), TRAIN, dtype=np.uint8)
        for fold in range(self.n_folds):
            test, validation = self._ranges(fold, split)
            for arc in validation:
                parts[fold, _inside(starts, *arc, self.size)] = VALIDATION
            parts[fold, _inside(starts, *test, self.size)] = TEST
        if self.stages is not None:
            table = _BY_STAGE_AND_GROUP if self._of_groups else _BY_STAGE
            dealt = zip(self.stages.roles(), parts, strict=True)
            return np.array([table[roles][:, on_circle].ravel() for roles, on_circle in dealt])
        if self.holdout is not None:
            parts[-1, parts[-1] == TEST] = UNUSED
        return parts

    def _ranges(self, fold: int, split: int) -> tuple[tuple[int, int], list[tuple[int, int]]]:
        """Return the positions of a fold's test part and of its validation part, which may be in
        two pieces.
        """
        test = self._tested(fold)
        n_learned = self.size - (test[1] - test[0])
        first = split * n_learned // self.inner
        n_validated = int(Fraction(str(self.validation)) * n_learned)
        if self.circle is not None and n_learned > 1:
            n_validated = max(1, n_validated)
        last = first + n_validated
        pieces = [(first, min(last, n_learned)), (0, max(0, last - n_learned))]
        return test, [
            (test[1] + start, test[1] + stop) for start, stop in pieces if stop > start or not start
        ]

    def _tested(self, fold: int) -> tuple[int, int]:
        """Return the positions that are for testing alone in a fold."""
        size = self.size
        if fold == self.outer and not self.hold_out:
            return 0, 0
        if self.holdout is not None:
            return 0, max(1, int(Fraction(str(self.holdout)) * size))
        if self.stages is not None:
            return 0, max(1, size // _TESTED_GROUPS) if self._of_groups else 0
        return fold * size // self.outer, (fold + 1) * size // self.outer

    @property
    def size(self) -> int:
        """The number of positions on the circle."""
        return self.n_rows if self.circle is None else self.circle.size

    @property
    def hold_out(self) -> bool:
        """Whether the test part of the only fold is not even learned from by the fold of all
        rows.
        """
        return self.holdout is not None or (self.stages is not None and self.stages.hold_out)

    @property
    def _of_groups(self) -> bool:
        return self.circle is not None and self.circle.of_groups

    @property
    def n_folds(self) -> int:
        """K + 1: the test folds, then the fold of all rows."""
        return self.outer + 1

    @property
    def n_arcs(self) -> int:
        return len(self.ends) * (1 if self.stages is None else self.stages.n_stages)

    @property
    def by_number(self) -> bool:
        """Whether rows are dealt by their numbers alone, so that the size of each part follows."""
        return self.circle is None and self.stages is None

    @property
    def is_plain(self) -> bool:
        """Whether rows are dealt by their numbers, and each is tested by one fold."""
        return self.by_number and self.holdout is None

    @property
    def arc_rows(self) -> Ints:
        """The number of rows in each arc."""
        if self.by_number:
            return np.diff(self.ends, prepend=0)
        assert self.label_arcs is not None, "rows that are dealt by their values must be counted"
        return np.asarray(np.array(list(self.label_arcs.values())).sum(axis=0))

    def rows_of(self, fold: int, parts: Sequence[int]) -> int:
        """Return how many rows of a fold are in any of the given parts."""
        return int(self.arc_rows[np.isin(self.parts[fold], parts)].sum())

    def members(self, parts: Sequence[int]) -> Bools:
        """Return members[fold, arc]: whether the arc belongs to one of the given parts of the
        fold.
        """
        return np.isin(self.parts, parts)

    def dealer(self, ordinal: int) -> Deal:
        """Return what deals the rows of a partition: the arc of a row gives all its folds and
        splits at once.
        """
        stages = self.stages
        on_circle = (
            self._by_number if self.circle is None else self.circle.dealer(ordinal, self.ends)
        )
        if stages is None:
            return on_circle

        def in_stages(first_row: int, block: Block) -> Codes:
            arcs = stages(first_row, block).astype(narrowest(self.n_arcs))
            np.multiply(arcs, len(self.ends), out=arcs, casting="unsafe")
            np.add(arcs, on_circle(first_row, block), out=arcs, casting="unsafe")
            return arcs

        return in_stages

    def _by_number(self, first_row: int, block: Block) -> Codes:
        return self.arcs(first_row, block.n_rows)

    def arcs(self, first_row: int, n_rows: int) -> Codes:
        """Return the arc of each of the rows first_row, first_row + 1, ... on the circle of row
        numbers.
        """
        permutation = Permutation(self.n_rows, self.seed)
        shift = max(0, (self.n_rows - 1).bit_length() - 12)
        cells, crossed = self._cells(shift)
        arcs = np.empty(n_rows, dtype=narrowest(len(self.ends) - 1))
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
        return begins.astype(narrowest(len(self.ends) - 1)), begins != ends


def _inside(starts: Ints, start: int, stop: int, n_rows: int) -> Bools:
    """Return which arcs, given by their first positions, lie in start..stop on the circle; both
    ends may exceed N.
    """
    if start >= n_rows:
        start, stop = start - n_rows, stop - n_rows
    return ((starts >= start) & (starts < stop)) | (starts + n_rows < stop)
