"""Rough rows: what one read of a table keeps, before the medians and the categories of the whole
table are known.

A number is below, inside or above a bracket around its column's cuts; only the few inside keep
their values. A category is a code into the partition's own list. When the cuts and the categories
are known, rough rows become binned rows without the dataset being read again: below is code 0,
above is the last, and those inside are looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dnfscale.core.arrays import Codes, Ints, Scalar, Values, narrowest
from dnfscale.core.bins import (
    BinnedTable,
    Bins,
    CategoryBins,
    NumberBins,
    changed_value,
    check_known,
)
from dnfscale.core.columns import Categories, classes_of
from dnfscale.core.medians import Brackets, Zoned, zoned
from dnfscale.core.splits import LabelArcs


@dataclass(frozen=True, slots=True, eq=False)
class RoughNumbers:
    """A column of numbers: the zone that each lies in, and the values of those inside a bracket."""

    zones: Codes
    values: Values
    """The values of the rows inside a bracket, less the base."""
    base: Any
    lows: Values
    """Where each bracket begins."""

    def encode(self, bins: NumberBins) -> Codes:
        """Return the code of each value, given the cuts, all of which lie inside brackets."""
        edges = bins.edges
        below = np.append(np.searchsorted(edges, self.lows, side="left"), len(edges))
        # Between brackets, a code is the number of edges below the next bracket. Inside a bracket
        # it starts as the number of edges below that bracket, and is corrected further down.
        by_zone = np.append(np.repeat(below, 2), bins.missing_code).astype(
            narrowest(bins.missing_code)
        )
        codes = by_zone.take(self.zones)
        inside = np.flatnonzero(self.zones & 1)
        part = self.zones[inside] >> 1
        values = self.inside
        # The edges of a bracket are those of all folds and lie close together, so that most values
        # are on one side of all of them: two comparisons take a third of the time of a search.
        first, last = (self._ends(edges, below, end) for end in (0, -1))
        beyond = values > last.take(part)
        codes[inside[beyond]] = by_zone[2:-1:2].take(part[beyond])
        between = np.flatnonzero((values > first.take(part)) & ~beyond)
        codes[inside[between]] = np.searchsorted(edges, values[between], side="left")
        return codes

    def _ends(self, edges: Values, below: Ints, end: int) -> Values:
        """Return the first or the last edge in each bracket; a value that nothing exceeds where
        there is none.
        """
        nothing = np.iinfo(edges.dtype).max if edges.dtype.kind in "iu" else np.inf
        pairs = zip(below[:-1].tolist(), below[1:].tolist(), strict=True)
        return np.array(
            [edges[start:stop][end] if start < stop else nothing for start, stop in pairs],
            edges.dtype,
        )

    @property
    def inside(self) -> Values:
        """The values of the rows inside a bracket."""
        return np.asarray(self.values.astype(self.lows.dtype) + self.base)

    def take(self, rows: Ints) -> RoughNumbers:
        """Return some rows, in increasing order."""
        zones = self.zones[rows]
        inside = np.searchsorted(np.flatnonzero(self.zones & 1), rows[np.flatnonzero(zones & 1)])
        return replace(self, zones=zones, values=self.values[inside])

    @property
    def nbytes(self) -> int:
        return self.zones.nbytes + self.values.nbytes


@dataclass(frozen=True, slots=True, eq=False)
class RoughCategories:
    """A column of few values, as codes into this table's own list of values."""

    codes: Codes
    """The place of the value, counted from 1; 0 where it is missing."""
    values: tuple[Scalar, ...]

    def encode(self, bins: CategoryBins) -> Codes:
        """Return the code of each value among those of the whole table."""
        return bins.encode(self._places()).take(self.codes)

    def classes(self, classes: Sequence[Sequence[Scalar]]) -> Codes:
        """Return the class of each label, or the number of classes if no class lists it."""
        return classes_of(self._places(), classes).take(self.codes)

    def take(self, rows: Ints) -> RoughCategories:
        """Return some rows."""
        return replace(self, codes=self.codes[rows])

    def _places(self) -> Categories:
        return Categories(np.arange(-1, len(self.values)), self.values)

    @property
    def nbytes(self) -> int:
        return self.codes.nbytes


@dataclass(frozen=True, slots=True, eq=False)
class RoughTable:
    """The rows of a partition, as one read leaves them."""

    columns: tuple[RoughNumbers | RoughCategories, ...]
    target: RoughCategories
    arcs: Codes
    weights: Ints | None

    @property
    def n_rows(self) -> int:
        return len(self.arcs)

    @property
    def nbytes(self) -> int:
        weights = 0 if self.weights is None else self.weights.nbytes
        return (
            sum(column.nbytes for column in self.columns)
            + self.target.nbytes
            + self.arcs.nbytes
            + weights
        )

    def take(self, rows: Ints) -> RoughTable:
        """Return some rows, in increasing order."""
        weights = None if self.weights is None else self.weights[rows]
        columns = tuple(column.take(rows) for column in self.columns)
        return RoughTable(columns, self.target.take(rows), self.arcs[rows], weights)

    def zoned(self, column: int, rows: Ints) -> Zoned:
        """Return how the rows of a column of numbers lie relative to its brackets, given how many
        are in each zone.
        """
        numbers = self.columns[column]
        assert isinstance(numbers, RoughNumbers)
        return zoned(rows, numbers.zones, numbers.inside, self.arcs, self.weights)

    def label_arcs(self, n_arcs: int) -> LabelArcs:
        """Count the rows of each label in each arc."""
        cells = self.target.codes.astype(np.int64) * n_arcs + self.arcs
        n_labels = len(self.target.values)
        rows = np.bincount(cells, minlength=(n_labels + 1) * n_arcs).reshape(-1, n_arcs)
        return dict(zip(self.target.values, map(tuple, rows[1:].tolist()), strict=True))

    def binned(
        self,
        bins: Sequence[Bins],
        classes: Sequence[Sequence[Scalar]],
        *,
        n_arcs: int,
        only: Iterable[int] | None = None,
    ) -> BinnedTable:
        """Return the rows as binned rows, with all columns or only some."""
        wanted = range(len(bins)) if only is None else sorted(set(only))
        if not len(self.arcs):
            # A partition without rows does not know what its columns are.
            return BinnedTable(
                {i: np.empty(0, dtype=np.uint8) for i in wanted}, np.empty(0, dtype=np.uint8)
            )
        columns = {i: self.columns[i].encode(bins[i]) for i in wanted}  # type: ignore[arg-type]
        n_classes = len(classes)
        labels = self.arcs.astype(narrowest(n_classes * n_arcs - 1))
        np.multiply(labels, n_classes, out=labels, casting="unsafe")
        codes = self.target.classes(classes)
        if len(codes) and int(codes.max()) == n_classes:
            raise changed_value()
        np.add(labels, codes, out=labels, casting="unsafe")
        table = BinnedTable(columns, labels, self.weights)
        check_known(table, bins)
        return table


class Gathering:
    """Collects the blocks of a partition into a rough table."""

    def __init__(self, n_columns: int) -> None:
        self._columns: list[list[Codes]] = [[] for _ in range(n_columns)]
        self._inside: list[list[Values]] = [[] for _ in range(n_columns)]
        self._lows: dict[int, Values] = {}
        self._values: list[dict[Scalar, int]] = [{} for _ in range(n_columns + 1)]
        self._target: list[Codes] = []
        self._arcs: list[Codes] = []
        self._weights: list[Ints] = []

    def add_numbers(self, column: int, values: Values, zones: Codes, brackets: Brackets) -> None:
        """Add a block's numbers: their zones, and what lies inside a bracket."""
        self._columns[column].append(zones)
        self._lows[column] = np.array([part.low for part in brackets.parts], dtype=values.dtype)
        self._inside[column].append(values[np.flatnonzero(zones & 1)])

    def add_categories(self, column: int, data: Categories) -> None:
        """Add a block's categories."""
        self._columns[column].append(self._coded(column, data))

    def add_rows(self, target: Categories, arcs: Codes, weights: Ints | None) -> None:
        """Add the labels, arcs and weights of a block whose columns have been added."""
        self._target.append(self._coded(len(self._columns), target))
        self._arcs.append(arcs)
        if weights is not None:
            self._weights.append(weights)

    def table(self) -> RoughTable:
        """Return the rows gathered so far."""
        return RoughTable(
            tuple(self._column(i) for i in range(len(self._columns))),
            self._categories(len(self._columns), self._target),
            _joined(self._arcs),
            np.concatenate(self._weights) if self._weights else None,
        )

    def _coded(self, column: int, data: Categories) -> Codes:
        """Return a block's codes as codes into the table's own list, with 0 for what is missing."""
        known = self._values[column]
        places = [known.setdefault(value, len(known) + 1) for value in data.values]
        # The last entry is what the code -1, a missing value, picks.
        return np.array([*places, 0], dtype=narrowest(len(known))).take(data.codes)

    def _column(self, column: int) -> RoughNumbers | RoughCategories:
        if self._inside[column]:
            values, base = _narrowed(np.concatenate(self._inside[column]))
            return RoughNumbers(_joined(self._columns[column]), values, base, self._lows[column])
        return self._categories(column, self._columns[column])

    def _categories(self, column: int, parts: Sequence[Codes]) -> RoughCategories:
        return RoughCategories(_joined(parts), tuple(self._values[column]))


def _narrowed(values: Values) -> tuple[Values, Any]:
    """Return whole numbers that lie close together as small offsets from a base; others unchanged,
    with base 0.

    Where a column has few distinct values, its brackets may contain all rows: this takes a byte a
    row instead of eight.
    """
    nothing = values.dtype.type(0)
    if values.dtype.kind not in "iu" or not len(values):
        return values, nothing
    base = values.min()
    spread = int(values.max()) - int(base)
    if spread >= 1 << 16:
        return values, nothing
    # Differences of narrow integers may wrap around; cast to the unsigned dtype they are right.
    with np.errstate(over="ignore"):
        return np.subtract(values, base).astype(narrowest(spread)), base


def _joined(parts: Sequence[Codes]) -> Codes:
    if not parts:
        return np.empty(0, dtype=np.uint8)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
