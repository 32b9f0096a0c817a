"""The figures of related rows by main row, added up over blocks of rows in any order.

What is kept is a few numbers for each main row and concept, however many related rows it has. Sums
are of whole numbers: floats are counted in steps of a power of two, fine enough for the largest, so
no order of rows changes a sum. The rows of a block lie in the order of their main rows, so that a
figure is one pass over a column.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dnfscale.core.arrays import Bools, Ints, Values
from dnfscale.core.concepts import Concept, Figure, RowTest, Sign
from dnfscale.errors import DataError

_STEP_BITS = 50
"""The largest number of a column has about so many bits in its steps."""
_LOW_BITS = 25
_LOW = (1 << _LOW_BITS) - 1
_HIGHEST = 1 << (63 - _LOW_BITS)
_DAY_S = 86_400
_BITS = 8
"""Tests of a main row's related rows that share a byte."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The values of a column of related rows."""

    values: Values
    present: Bools | None
    """None if all are there."""
    texts: tuple[str, ...] | None = None
    """Of texts: those that tests ask for; the values are their places, -1 for any other."""

    def at(self, rows: Any) -> Cells:
        present = None if self.present is None else self.present[rows]
        return Cells(self.values[rows], present, self.texts)

    def filled(self, value: int | float) -> Values:
        """Return the values, with another one where they are missing."""
        return self.values if self.present is None else np.where(self.present, self.values, value)


@dataclass(eq=False)
class RelatedBlock:
    """Some related rows that are seen, in the order of their main rows."""

    main: Ints
    """The number of each row's main row, in increasing order."""
    columns: Mapping[str, Cells]
    age: Ints | None
    """How long before the main row's moment, in ticks."""
    time: Ints | None
    ticks: int
    """In a second."""
    _masks: dict[object, Any] = field(default_factory=dict)

    @cached_property
    def starts(self) -> Ints:
        """The first row of each main row that has some."""
        if not len(self.main):
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(np.append(True, self.main[1:] != self.main[:-1]))

    @cached_property
    def mains(self) -> Ints:
        """The main rows that have some."""
        return self.main[self.starts]

    def within(self, days: int | None) -> Bools | None:
        """Say which rows lie in a window; None if all do."""
        if days is None:
            return None
        if days not in self._masks:
            assert self.age is not None
            self._masks[days] = self.age <= days * _DAY_S * self.ticks
        found: Bools = self._masks[days]
        return found

    def holds(self, test: RowTest) -> Bools:
        """Say for which rows a test holds."""
        if test not in self._masks:
            self._masks[test] = _holds(self.columns[test.column], test)
        found: Bools = self._masks[test]
        return found

    def meant(self, column: str | None, where: Sequence[RowTest], days: int | None) -> Bools | None:
        """Say which rows are meant, those with a value in the column, if any; None if all are."""
        mask = self.within(days)
        present = None if column is None else self.columns[column].present
        if present is not None:
            mask = present if mask is None else mask & present
        for test in where:
            held = self.holds(test)
            mask = held if mask is None else mask & held
        return mask

    def counts(self, mask: Bools | None) -> Ints:
        """Count rows by main row, of those that have some."""
        ends = np.append(self.starts, len(self.main))
        if mask is not None:
            # A third of the time of np.add.reduceat.
            ends = np.concatenate([[0], np.cumsum(mask, dtype=np.int32)])[ends]
        found: Ints = np.diff(ends)
        return found

    def of_each(self, update: np.ufunc, values: Values, days: int | None, other: Any) -> Values:
        """Return a figure of values by main row, with another value for rows outside a window."""
        within = self.within(days)
        found: Values = update.reduceat(
            values if within is None else np.where(within, values, other), self.starts
        )
        return found


def _holds(cells: Cells, test: RowTest) -> Bools:
    values = cells.values
    if cells.texts is not None:
        return np.asarray(values == cells.texts.index(str(test.value)))
    if test.sign is Sign.ABOVE:
        held = values > test.value
    elif test.sign is Sign.UP_TO:
        held = values <= test.value
    else:
        held = values == test.value
    found: Bools = held if cells.present is None else held & cells.present
    return found


_Meant = tuple[str | None, tuple[RowTest, ...], int | None]
"""The column that must have a value, if any, the tests and the window of the rows that count."""
_Numbers = tuple[str, int | None]
"""A column of numbers and a window."""


class Figures:
    """The figures of all concepts of a related table, for the main rows of a bucket."""

    def __init__(
        self, concepts: Sequence[Concept], n_rows: int, scales: Mapping[str, int | None]
    ) -> None:
        self._n = n_rows
        self._scales = scales
        """The bits after the point of the steps in which floats are added; None for whole numbers.
        """
        counted = [c for c in concepts if c.figure is not Figure.SOME]
        asked = dict.fromkeys(rows_meant(c) for c in concepts if c.figure is Figure.SOME)
        self._counts: dict[_Meant, Ints] = {
            meant: np.zeros(n_rows, dtype=np.int64) for meant in map(rows_meant, counted)
        }
        self._some = [meant for meant in asked if meant not in self._counts]
        self._bits = np.zeros((-(-len(self._some) // _BITS), n_rows), dtype=np.uint8)
        self._sums: dict[_Numbers, _Sum] = {}
        self._ends: dict[tuple[_Numbers, Figure], Values] = {}
        self._latest: dict[str, _Latest] = {}
        for concept in counted:
            if concept.of is not None:
                self._begin(concept, concept.of)

    def _begin(self, concept: Concept, column: str) -> None:
        bits, numbers = self._scales[column], (column, concept.days)
        if concept.figure in (Figure.SUM, Figure.MEAN):
            self._sums[numbers] = _Sum(self._n, bits)
        elif concept.figure is Figure.LATEST:
            self._latest[column] = _Latest(self._n, bits is None)
        else:
            none = _none(concept.figure, bits is None)
            kind = np.int64 if bits is None else np.float64
            self._ends[numbers, concept.figure] = np.full(self._n, none, dtype=kind)

    def add(self, block: RelatedBlock) -> None:
        """Add some related rows."""
        if not len(block.main):
            return
        mains = block.mains
        for meant, counts in self._counts.items():
            counts[mains] += block.counts(block.meant(*meant))
        for byte, packed in zip(self._bits, _packed(self._some, block), strict=True):
            byte[mains] |= np.bitwise_or.reduceat(packed, block.starts)
        self._add_sums(block)
        for ((column, days), figure), ends in self._ends.items():
            none = _none(figure, self._scales[column] is None)
            update = _UPDATES[figure]
            found = block.of_each(update, block.columns[column].filled(none), days, none)
            ends[mains] = update(ends[mains], found)
        for column, latest in self._latest.items():
            latest.add(block, block.columns[column])

    def _add_sums(self, block: RelatedBlock) -> None:
        parts: dict[str, tuple[Ints, Ints]] = {}
        for (column, days), total in self._sums.items():
            if column not in parts:
                parts[column] = _in_steps(block.columns[column].filled(0), self._scales[column])
            high, low = (block.of_each(np.add, part, days, 0) for part in parts[column])
            total.high[block.mains] += high
            total.low[block.mains] += low

    def column(self, concept: Concept) -> Any:
        """Return the column of a concept."""
        meant = rows_meant(concept)
        if concept.figure is Figure.SOME:
            return pa.array(self._has_some(meant))
        counts = self._counts[meant]
        if concept.figure is Figure.COUNT:
            return pa.array(counts)
        assert concept.of is not None
        asked, none = (concept.of, concept.days), counts == 0
        if concept.figure is Figure.SUM:
            total = self._sums[asked]
            return pa.array(total.whole(concept) if concept.digits is None else total.of(concept))
        if concept.figure is Figure.MEAN:
            mean = self._sums[asked].floats / np.maximum(counts, 1)
            return pa.array(np.round(mean, concept.digits or 0), mask=none)
        if concept.figure is Figure.LATEST:
            return pa.array(self._latest[concept.of].values, mask=none)
        return pa.array(self._ends[asked, concept.figure], mask=none)

    def _has_some(self, meant: _Meant) -> Bools:
        if meant in self._counts:
            return self._counts[meant] > 0
        byte, bit = divmod(self._some.index(meant), _BITS)
        found: Bools = (self._bits[byte] >> bit & 1).astype(np.bool_)
        return found


def rows_meant(concept: Concept) -> _Meant:
    """Return what the rows that a concept counts, or is of, follow from."""
    return concept.of, concept.where, concept.days


def _packed(asked: Sequence[_Meant], block: RelatedBlock) -> Iterator[Any]:
    """Yield which rows are meant, eight questions to a byte."""
    for first in range(0, len(asked), _BITS):
        packed = np.zeros(len(block.main), dtype=np.uint8)
        for bit, meant in enumerate(asked[first : first + _BITS]):
            mask = block.meant(*meant)
            packed |= np.uint8(1 << bit) if mask is None else mask.view(np.uint8) << np.uint8(bit)
        yield packed


_UPDATES = {Figure.LEAST: np.minimum, Figure.GREATEST: np.maximum}


def _none(figure: Figure, whole: bool) -> int | float:
    """Return what changes no least or greatest value."""
    bounds = np.iinfo(np.int64)
    if figure is Figure.GREATEST:
        return int(bounds.min) if whole else -math.inf
    return int(bounds.max) if whole else math.inf


def scale_of(most: float) -> int:
    """Return the bits after the point of the steps in which floats up to some size are added."""
    return _STEP_BITS - (math.frexp(most)[1] if most else 0)


def _in_steps(values: Values, bits: int | None) -> tuple[Ints, Ints]:
    """Return numbers of steps in two parts, whose sums do not overflow before there are 2**37
    rows.
    """
    steps = values if bits is None else np.rint(np.ldexp(values, bits)).astype(np.int64)
    return steps >> _LOW_BITS, steps & _LOW


class _Sum:
    """Sums by main row."""

    def __init__(self, n_rows: int, bits: int | None) -> None:
        self._step_bits = 0 if bits is None else bits
        self.high, self.low = np.zeros((2, n_rows), dtype=np.int64)

    def whole(self, concept: Concept) -> Ints:
        high = self.high + (self.low >> _LOW_BITS)
        if len(high) and not (high.min() >= -_HIGHEST and high.max() < _HIGHEST):
            raise DataError(
                f"expected totals of {concept.of!r} in {concept.relation.table} of at most 64 "
                "bits, got larger ones; write the column as floats"
            )
        return (high << _LOW_BITS) + (self.low & _LOW)

    def of(self, concept: Concept) -> Any:
        return np.round(self.floats, concept.digits or 0)

    @cached_property
    def floats(self) -> Any:
        joined = np.ldexp(self.high.astype(np.float64), _LOW_BITS) + self.low
        return np.ldexp(joined, -self._step_bits)


class _Latest:
    """The values at the greatest times by main row; of several the greatest."""

    def __init__(self, n_rows: int, whole: bool) -> None:
        self._none = _none(Figure.GREATEST, whole)
        self.values: Values = np.full(n_rows, self._none, dtype=np.int64 if whole else np.float64)
        self._times = np.full(n_rows, np.iinfo(np.int64).min)

    def add(self, block: RelatedBlock, cells: Cells) -> None:
        assert block.time is not None
        mains, starts = block.mains, block.starts
        known = Cells(block.time, cells.present).filled(np.iinfo(np.int64).min)
        times = np.maximum.reduceat(known, starts)
        is_last = known == np.repeat(times, block.counts(None))
        last = np.where(is_last, cells.filled(self._none), self._none)
        values = np.maximum.reduceat(last, starts)
        before = self._times[mains]
        together = np.maximum(values, self.values[mains])
        self.values[mains] = np.select(
            [times > before, times == before], [values, together], self.values[mains]
        )
        self._times[mains] = np.maximum(times, before)
