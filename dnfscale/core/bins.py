"""Binned columns: each value as one small code, from which every fold's Boolean column is one
comparison.

A number's code is how many edges lie below it, where the edges are the cuts of all folds; a
category's code is its place among the values that occur. An attribute is then a *span* of codes:
«above the third edge» is codes 3 and up, «equals red» is one code. So one byte per value serves
every fold. A scan bins the columns that it needs, and forgets them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints, Scalar, Values, frozen, narrowest
from dnfscale.core.columns import Categories
from dnfscale.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class NumberBins:
    """How a number becomes a code: the number of edges below it; missing values, if there are any,
    come last.
    """

    edges: Values
    """Distinct and increasing."""
    has_missing: bool

    @property
    def missing_code(self) -> int:
        return len(self.edges) + 1

    @property
    def n_codes(self) -> int:
        return len(self.edges) + 1 + self.has_missing


@dataclass(frozen=True, slots=True, eq=False)
class CategoryBins:
    """How a category becomes a code: its place among the values; then missing values, then values
    never seen.
    """

    values: tuple[Scalar, ...]

    @property
    def missing_code(self) -> int:
        return len(self.values)

    @property
    def n_codes(self) -> int:
        return len(self.values) + 2

    def encode(self, data: Categories) -> Codes:
        """Return the code of each value."""
        place = {value: code for code, value in enumerate(self.values)}
        unknown = self.missing_code + 1
        # The last entry is what the code -1, a missing value, picks.
        codes = [place.get(value, unknown) for value in data.values] + [self.missing_code]
        return np.array(codes, dtype=narrowest(self.n_codes - 1)).take(data.codes)


Bins = NumberBins | CategoryBins


@dataclass(frozen=True, slots=True, eq=False)
class BinnedTable:
    """The rows of a partition, a byte or two per value."""

    columns: Mapping[int, Codes]
    """The codes of each column, by its number; a scan that needs only some has only those."""
    labels: Codes
    """n_classes * arc + class: a row's parts in all folds, and its class."""
    weights: Ints | None = None
    """How often each row counts; None where each counts once."""

    @property
    def n_rows(self) -> int:
        return len(self.labels)


TWO_CLASSES: Bools = frozen(np.array([[False, True]]))
"""targets[target, class] of a table of two classes: the second is the positive one."""


class RowTest(Protocol):
    """A Boolean question about a binned row: an attribute, or a line of a formula."""

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that it asks."""

    def true_in(self, codes: Mapping[int, Codes], bins: Sequence[Bins]) -> Bools:
        """Return for which rows it is true, given the codes of these columns."""


@dataclass(frozen=True, slots=True)
class Span:
    """A Boolean attribute of binned rows: the code of a column lies in first..last."""

    column: int
    first: int
    last: int

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.column,)

    def true_in(self, codes: Mapping[int, Codes], bins: Sequence[Bins]) -> Bools:
        return self.holds(codes[self.column], bins[self.column].n_codes)

    def holds(self, codes: Codes, n_codes: int) -> Bools:
        """Return for which of the column's codes the attribute is true."""
        holds: Bools
        if self.first == self.last:
            holds = codes == self.first
        elif self.last == n_codes - 1:
            holds = codes >= self.first
        else:
            holds = (codes >= self.first) & (codes <= self.last)
        return holds


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """The span of every attribute in every fold; the column is the same in all folds, the cut is
    not.
    """

    column: Ints
    """column[attribute]."""
    first: Ints
    last: Ints
    """first[fold, attribute] and last[fold, attribute]."""

    @property
    def n_folds(self) -> int:
        return len(self.first)

    def of(self, fold: int, attributes: Sequence[int]) -> tuple[Span, ...]:
        """Return the spans of some attributes in a fold."""
        return tuple(
            Span(int(self.column[a]), int(self.first[fold, a]), int(self.last[fold, a]))
            for a in attributes
        )


def check_known(table: BinnedTable, bins: Sequence[Bins]) -> None:
    """Raise DataError where a value occurs that the first scan did not see: the data changed in
    between.
    """
    for number, codes in table.columns.items():
        column = bins[number]
        if (
            isinstance(column, CategoryBins)
            and len(codes)
            and int(codes.max()) > column.missing_code
        ):
            raise changed_value()


def changed_value() -> DataError:
    """Return the error for a value, or a label, that the first scan did not see."""
    return DataError(
        "expected the same rows in every scan, got a value that was not there before; "
        "run again on data that does not change meanwhile"
    )
