"""The best conditions of every column, read from histograms.

What a condition is worth is a sum over codes: of what a «yes» gains for the rows of each code. A
cut or a value is the best of such sums, an interval the largest difference of two prefix sums, a
set all values whose sum is above zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dnfscale.core.arrays import Bools, Floats, Ints
from dnfscale.method.terms.codes import CodeTerm, Condition, above, one_of
from dnfscale.method.terms.histograms import Layout

Sums = npt.NDArray[Any]
"""Whole numbers, or floats where negatives count a share."""


@dataclass(frozen=True, slots=True, eq=False)
class Arranged:
    """Sums by code, arranged for the search of conditions; the first axis is the group of rows."""

    total: Sums
    """total[group]."""
    known: Sums
    """known[group, number column]: the sum of all its values."""
    below: Sums
    """below[group, number column, cut]: the sum of the values up to a cut; columns of fewer cuts
    repeat the last."""
    values: Sums
    """values[group, category column, value]; columns of fewer values end in zeros."""
    missing: Sums
    """missing[group, column that may be missing]."""

    def less(self, negative: Arranged, shares: Floats) -> Arranged:
        """Return these sums less each of some shares of others: all groups for the first share,
        then all for the second, and so on."""

        def part(own: Sums, other: Sums) -> Sums:
            factors = shares.reshape(-1, *[1] * own.ndim)
            return np.asarray(
                (own - factors * other).reshape(len(shares) * len(own), *own.shape[1:])
            )

        return Arranged(
            part(self.total, negative.total),
            part(self.known, negative.known),
            part(self.below, negative.below),
            part(self.values, negative.values),
            part(self.missing, negative.missing),
        )


@dataclass(frozen=True)
class Finder:
    """Finds the best condition of each form and column; a *slot* is such a form of a column.

    Where two slots are equally good the first is taken, so cuts go before intervals, and single
    values before sets.
    """

    layout: Layout
    max_values: int = 1
    """The most values of a set."""
    intervals: bool = True

    @cached_property
    def _numbers(self) -> Ints:
        columns = self.layout.columns
        return np.array(
            [c for c, column in enumerate(columns) if column.ordered and column.size > 1],
            dtype=np.int64,
        )

    @cached_property
    def _wide(self) -> Ints:
        """The places of the number columns that have intervals: those of two cuts and more."""
        return np.flatnonzero([self.layout.columns[c].size > 2 for c in self._numbers])

    @cached_property
    def _is_end(self) -> Bools:
        """For the columns that have intervals, which cuts but the first there are."""
        n_cuts = np.array([self.layout.columns[c].size - 1 for c in self._numbers[self._wide]])
        return np.asarray(np.arange(1, n_cuts.max()) < n_cuts[:, None])

    @cached_property
    def _categories(self) -> Ints:
        columns = self.layout.columns
        return np.array(
            [c for c, column in enumerate(columns) if not column.ordered and column.size],
            dtype=np.int64,
        )

    @cached_property
    def _gaps(self) -> Ints:
        return np.array(
            [c for c, column in enumerate(self.layout.columns) if column.missing], dtype=np.int64
        )

    @cached_property
    def _number_bins(self) -> tuple[Ints, Ints]:
        """The first bin of each number column, and the end of those of its values."""
        first = self.layout.starts[self._numbers]
        sizes = [self.layout.columns[c].size for c in self._numbers]
        return first, first + np.array(sizes, dtype=np.int64)

    @cached_property
    def _gap_bins(self) -> Ints:
        """The bin of the missing values of each column that may have some."""
        sizes = [self.layout.columns[c].size for c in self._gaps]
        return np.asarray(self.layout.starts[self._gaps] + np.array(sizes, dtype=np.int64))

    @cached_property
    def _cut_bins(self) -> Ints:
        """The bin just below each cut of each number column."""
        sizes = [self.layout.columns[c].size for c in self._numbers]
        cuts = np.arange(max(sizes, default=2) - 1)
        below = np.array([np.minimum(cuts, size - 2) for size in sizes], dtype=np.int64)
        return np.asarray(self.layout.starts[self._numbers][:, None] + below)

    @cached_property
    def _value_bins(self) -> Ints:
        """The bin of each value of each category column; the first bin where there is none."""
        values = np.arange(max((self.layout.columns[c].size for c in self._categories), default=1))
        starts = self.layout.starts[self._categories][:, None]
        return np.where(self._is_value, starts + values, 0)

    @cached_property
    def _is_value(self) -> Bools:
        sizes = np.array([self.layout.columns[c].size for c in self._categories], dtype=np.int64)
        return np.asarray(np.arange(sizes.max(initial=1)) < sizes[:, None])

    @cached_property
    def _forms(self) -> tuple[tuple[str, bool, Ints], ...]:
        """The forms of conditions: name, whether not negated, and its columns."""
        forms = [("above", self._numbers), ("equals", self._categories), ("missing", self._gaps)]
        if self.intervals:
            forms.append(("between", self._numbers[self._wide]))
        if self.max_values > 1:
            forms.append(("in", self._categories))
        return tuple(
            (name, holds, columns)
            for name, columns in forms
            for holds in (True, False)
            if len(columns)
        )

    @cached_property
    def slots(self) -> tuple[tuple[str, bool, int, int], ...]:
        """The form of each slot, whether it is not negated, its column, and the place of the column
        in its form."""
        return tuple(
            (name, holds, c, place)
            for name, holds, columns in self._forms
            for place, c in enumerate(columns.tolist())
        )

    def arrange(self, counts: Sums) -> Arranged:
        """Arrange counts[group, bin]."""
        sums = np.zeros((len(counts), counts.shape[1] + 1), dtype=counts.dtype)
        np.cumsum(counts, axis=1, out=sums[:, 1:])
        first, ends = self._number_bins
        before = sums[:, first]
        # Every column counts every row once, so the first has the total.
        total = sums[:, self.layout.starts[1]]
        below = np.zeros((len(counts), 0, 1), dtype=counts.dtype)
        if len(first):
            below = sums[:, self._cut_bins + 1] - before[:, :, None]
        values = np.where(self._is_value, counts[:, self._value_bins], 0)
        return Arranged(total, sums[:, ends] - before, below, values, counts[:, self._gap_bins])

    def scores(self, sums: Arranged) -> Sums:
        """Return the sum of the best condition of each slot, scores[group, slot]."""
        found = [self._best(name, sums) for name, holds, _ in self._forms if holds]
        total = sums.total[:, None]
        return np.concatenate(
            [part for most, least in found for part in (most, total - least)], axis=1
        )

    def _best(self, name: str, sums: Arranged) -> tuple[Sums, Sums]:
        """Return the most and the least that a form of conditions can sum up to, in each group and
        column."""
        match name:
            case "above":
                return sums.known - sums.below.min(axis=2), sums.known - sums.below.max(axis=2)
            case "between":
                below = (
                    sums.below
                    if len(self._wide) == len(self._numbers)
                    else sums.below[:, self._wide]
                )
                most, least = _spans(below)
                if not self._is_end.all():
                    huge = _more_than(sums.below)
                    most, least = (
                        np.where(self._is_end, most, -huge),
                        np.where(self._is_end, least, huge),
                    )
                return most.max(axis=2), least.min(axis=2)
            case "missing":
                return sums.missing, sums.missing
            case "equals":
                huge = _more_than(sums.values)
                most = np.where(self._is_value, sums.values, -huge).max(axis=2)
                return most, np.where(self._is_value, sums.values, huge).min(axis=2)
            case _:
                ordered = np.sort(sums.values, axis=2)
                lowest, highest = (
                    ordered[:, :, : self.max_values],
                    ordered[:, :, -self.max_values :],
                )
                return np.maximum(highest, 0).sum(axis=2), np.minimum(lowest, 0).sum(axis=2)

    def condition(self, sums: Arranged, group: int, slot: int) -> Condition | None:
        """Return the best condition of a slot in a group; None if no value of a set gains
        anything."""
        name, holds, c, place = self.slots[slot]
        column = self.layout.columns[c]
        match name:
            case "above":
                below = sums.below[group, place]
                return above(
                    c, int(below.argmin() if holds else below.argmax()), column.size, holds=holds
                )
            case "between":
                return self._interval(sums.below[group, self._wide[place]], c, holds=holds)
            case "missing":
                return Condition(c, ((column.missing_code, column.missing_code),), holds)
        own = (
            sums.values[group, place, : column.size]
            if holds
            else -sums.values[group, place, : column.size]
        )
        chosen = np.argsort(-own, kind="stable")[: 1 if name == "equals" else self.max_values]
        if name == "in":
            chosen = chosen[own[chosen] > 0]
        return one_of(c, chosen.tolist(), holds=holds) if len(chosen) else None

    def _interval(self, below: Sums, c: int, *, holds: bool) -> Condition:
        below = below[: self.layout.columns[c].size - 1]
        most, least = _spans(below[None, None])
        last = 1 + int(most[0, 0].argmax() if holds else least[0, 0].argmin())
        first = 1 + int(below[:last].argmin() if holds else below[:last].argmax())
        return Condition(c, ((first, last),), holds)

    def banned(self, terms: Sequence[CodeTerm]) -> Bools:
        """Return the slots about which each term says something already: banned[term, slot].

        What it says is about the values of a column, or whether it is missing.
        """
        said = np.zeros((len(terms), 2 * len(self.layout.columns)), dtype=np.bool_)
        rows: list[int] = []
        topics: list[int] = []
        for row, term in enumerate(terms):
            rows += [row] * len(term)
            topics += map(self._topic_of, term)
        said[rows, topics] = True
        return np.asarray(said[:, self._topics])

    def _topic_of(self, condition: Condition) -> int:
        """Return twice the column, and one more for whether it is missing."""
        column = condition.column
        return 2 * column + (condition.runs[0][0] == self.layout.columns[column].size)

    @cached_property
    def _topics(self) -> Ints:
        """What each slot is about: twice its column, and one more for whether it is missing."""
        return np.array(
            [2 * column + (name == "missing") for name, _, column, _ in self.slots], dtype=np.int64
        )


def _spans(below: Sums) -> tuple[Sums, Sums]:
    """Return the largest and the least sum of an interval that ends at each cut but the first, and
    begins at one."""
    ends = below[:, :, 1:]
    lowest = np.minimum.accumulate(below[:, :, :-1], axis=2)
    highest = np.maximum.accumulate(below[:, :, :-1], axis=2)
    return ends - lowest, ends - highest


def _more_than(sums: Sums) -> Any:
    """Return a number that no sum or difference of two reaches."""
    return 2 * np.abs(sums).max(initial=0) + 1
