"""The figures of related rows by main row, added up over blocks of rows in any order.

What is kept is a few numbers for each main row and concept, however many related rows it has. Sums
are of whole numbers: floats are counted in steps of a power of two, fine enough for the largest, so
no order of rows changes a sum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dnfscale.core.arrays import Bools, Ints, Values
from dnfscale.core.concepts import Concept, Figure, RowTest, Sign

_STEP_BITS = 50
"""The largest number of a column has about so many bits in its steps."""
_LOW_BITS = 25
_LOW = (1 << _LOW_BITS) - 1
_DAY_S = 86_400


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


@dataclass(eq=False)
class RelatedBlock:
    """Some related rows that are seen, each with its main row."""

    main: Ints
    columns: Mapping[str, Cells]
    age: Ints | None
    """How long before the main row's moment, in ticks."""
    time: Ints | None
    ticks: int
    """In a second."""
    _masks: dict[object, Any] = field(default_factory=dict)

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
        self._concepts, self._n = concepts, n_rows
        self._scales = scales
        """The bits after the point of the steps in which floats are added; None for whole numbers.
        """
        self._counts: dict[_Meant, Ints] = {}
        for concept in concepts:
            self._counts.setdefault(rows_meant(concept), np.zeros(n_rows, dtype=np.int64))
        self._sums: dict[_Numbers, _Sum] = {}
        self._ends: dict[tuple[_Numbers, Figure], _End] = {}
        self._latest: dict[_Numbers, _Latest] = {}
        for concept in concepts:
            if concept.of is None:
                continue
            asked, bits = (concept.of, concept.days), scales[concept.of]
            if concept.figure in (Figure.SUM, Figure.MEAN):
                self._sums.setdefault(asked, _Sum(n_rows, bits))
            elif concept.figure is Figure.LATEST:
                self._latest[asked] = _Latest(n_rows, bits is None)
            else:
                greatest = concept.figure is Figure.GREATEST
                self._ends[asked, concept.figure] = _End(n_rows, greatest, bits is None)

    def add(self, block: RelatedBlock) -> None:
        """Add some related rows."""
        for (column, where, days), counts in self._counts.items():
            mask = block.meant(column, where, days)
            main = block.main if mask is None else block.main[mask]
            counts += np.bincount(main, minlength=self._n)
        kept: dict[_Numbers, tuple[Ints, Values, Ints | None]] = {}
        states: list[tuple[_Numbers, _Sum | _End | _Latest]] = [
            *self._sums.items(),
            *((numbers, end) for (numbers, _), end in self._ends.items()),
            *self._latest.items(),
        ]
        for numbers, state in states:
            if numbers not in kept:
                kept[numbers] = _present(block, *numbers)
            state.add(*kept[numbers])

    def column(self, concept: Concept) -> Any:
        """Return the column of a concept."""
        counts = self._counts[rows_meant(concept)]
        if concept.figure is Figure.SOME:
            return pa.array(counts > 0)
        if concept.figure is Figure.COUNT:
            return pa.array(counts)
        assert concept.of is not None
        asked, none = (concept.of, concept.days), counts == 0
        if concept.figure is Figure.SUM:
            total = self._sums[asked]
            return pa.array(total.whole if concept.digits is None else _rounded(total, concept))
        if concept.figure is Figure.MEAN:
            total = self._sums[asked]
            mean = total.floats / np.maximum(counts, 1)
            return pa.array(np.round(mean, concept.digits or 0), mask=none)
        if concept.figure is Figure.LATEST:
            return pa.array(self._latest[asked].values, mask=none)
        return pa.array(self._ends[asked, concept.figure].values, mask=none)


def rows_meant(concept: Concept) -> _Meant:
    """Return what the rows that a concept counts, or is of, follow from."""
    return concept.of, concept.where, concept.days


def _rounded(total: _Sum, concept: Concept) -> Any:
    return np.round(total.floats, concept.digits or 0)


def _present(
    block: RelatedBlock, column: str, days: int | None
) -> tuple[Ints, Values, Ints | None]:
    """Return the main rows, the values and the times of the rows that have a value."""
    cells, mask = block.columns[column], block.meant(column, (), days)
    if mask is None:
        return block.main, cells.values, block.time
    return block.main[mask], cells.values[mask], None if block.time is None else block.time[mask]


def scale_of(most: float) -> int:
    """Return the bits after the point of the steps in which floats up to some size are added."""
    return _STEP_BITS - (math.frexp(most)[1] if most else 0)


class _Sum:
    """Sums by main row."""

    def __init__(self, n_rows: int, bits: int | None) -> None:
        self._bits = bits
        self._high, self._low = np.zeros((2, n_rows), dtype=np.int64)

    def add(self, main: Ints, values: Values, time: Ints | None) -> None:
        del time
        if self._bits is None:
            np.add.at(self._low, main, values)
            return
        steps = np.rint(np.ldexp(values, self._bits)).astype(np.int64)
        # In two parts, none of which overflows before there are 2**37 rows.
        np.add.at(self._high, main, steps >> _LOW_BITS)
        np.add.at(self._low, main, steps & _LOW)

    @cached_property
    def whole(self) -> Ints:
        return self._low

    @cached_property
    def floats(self) -> Any:
        if self._bits is None:
            return self._low.astype(np.float64)
        joined = np.ldexp(self._high.astype(np.float64), _LOW_BITS) + self._low
        return np.ldexp(joined, -self._bits)


class _End:
    """The least or greatest values by main row; where there is none, any."""

    def __init__(self, n_rows: int, greatest: bool, whole: bool) -> None:
        self._update = np.maximum if greatest else np.minimum
        self.values: Values
        if whole:
            bounds = np.iinfo(np.int64)
            self.values = np.full(n_rows, bounds.min if greatest else bounds.max, dtype=np.int64)
        else:
            self.values = np.full(n_rows, -math.inf if greatest else math.inf)

    def add(self, main: Ints, values: Values, time: Ints | None) -> None:
        del time
        self._update.at(self.values, main, values)


class _Latest:
    """The values at the greatest times by main row; of several the greatest."""

    def __init__(self, n_rows: int, whole: bool) -> None:
        self.values: Values = np.zeros(n_rows, dtype=np.int64 if whole else np.float64)
        self._times = np.full(n_rows, np.iinfo(np.int64).min)
        self._known = np.zeros(n_rows, dtype=np.bool_)

    def add(self, main: Ints, values: Values, time: Ints | None) -> None:
        assert time is not None
        order = np.lexsort((values, time, main))
        main, values, time = main[order], values[order], time[order]
        last = np.append(main[1:] != main[:-1], True) if len(main) else np.zeros(0, np.bool_)
        main, values, time = main[last], values[last], time[last]
        before = self._times[main]
        later = (time > before) | ((time == before) & (values > self.values[main]))
        better = later | ~self._known[main]
        where = main[better]
        self.values[where], self._times[where] = values[better], time[better]
        self._known[where] = True
