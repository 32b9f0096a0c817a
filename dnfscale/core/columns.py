"""Columns of a table: what a block of rows looks like, and what one scan learns about each column.

A *block* is a run of rows as the data layer hands it over: rows with missing values already dropped
(unless they are kept on purpose), numbers in their own dtype, everything else as codes into a local
list of values. A *summary* is what the first scan keeps: how many rows there are, which values
occur, and a sample of the numbers from which the medians are bracketed. Summaries merge in any
order.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

import numpy as np

from dnfscale.core.arrays import AnyInts, Bools, Codes, Ints, Scalar, Values, narrowest
from dnfscale.core.parts import ColumnName
from dnfscale.core.quantities import Measure
from dnfscale.errors import LimitError

MOST_CATEGORIES = 60_000
"""The most different values that a column of categories may be allowed to have."""
_DROP_COLUMN = "add the column to data.drop"
_OTHER_TARGET = "choose another data.target"


class Role(StrEnum):
    """How a column becomes attributes."""

    NUMBER = "number"
    """One attribute per cut, or one for the median: above the cut."""
    CATEGORY = "category"
    """One attribute per value."""
    FLAG = "boolean"
    """One attribute: has the larger of the column's two values."""


@dataclass(frozen=True, slots=True)
class Column:
    """A feature column and its role."""

    name: ColumnName
    role: Role
    measure: Measure | None = None
    """What the numbers count, such as days; None for plain numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The values of a number column in a block."""

    values: Values
    present: Bools | None
    """Which rows have a value; None if all have."""
    measure: Measure | None = None
    """What the values count, such as days; None for plain numbers."""

    @property
    def has_missing(self) -> bool:
        return self.present is not None

    def missing(self) -> Bools:
        """Say which rows have no value."""
        return np.zeros(len(self.values), dtype=np.bool_) if self.present is None else ~self.present


@dataclass(frozen=True, slots=True, eq=False)
class Categories:
    """The values of any other column in a block, as codes into the block's own list of values."""

    codes: AnyInts
    """Indexes into values; -1 if the value is missing."""
    values: tuple[Scalar, ...]

    @property
    def has_missing(self) -> bool:
        return bool(len(self.codes)) and int(self.codes.min()) < 0

    def missing(self) -> Bools:
        """Say which rows have no value."""
        return self.codes < 0


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A run of rows, in the order of the dataset."""

    n_read: int
    """Rows read, dropped ones included."""
    n_rows: int
    """Rows kept; every column has as many."""
    columns: Sequence[Numbers | Categories]
    target: Categories
    """Empty if the reading names no target."""
    missing: Sequence[int]
    """Missing values of each column among the rows that have a target and count; among the rows
    kept, if missing values are kept.
    """
    missing_targets: int = 0
    """Rows read that have no target."""
    weights: Ints | None = None
    """How often each row counts, at least once; None if each counts once."""
    weightless: int = 0
    """Rows read that count zero times."""
    beside: Sequence[Numbers | Categories] = ()
    """The columns beside the features, by which rows are dealt into folds."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a scan wants to read: the feature columns to deliver, and which rows to keep.

    A row without a target is dropped, if there is a target. So is a row that counts zero times, and
    one with a missing value in a delivered column, unless missing values are kept.
    """

    columns: tuple[Column, ...]
    target: str | None
    keep_missing: bool = False
    weight: str | None = None
    """The column that says how often a row counts."""
    unit: int = 1
    """What a weight of one is counted as; more than 1 if weights are not whole numbers."""
    first_only: bool = False
    """Whether only the first block is wanted, so that nothing need be read beyond it."""
    beside: tuple[Column, ...] = ()
    """Columns to deliver besides the features; no row is dropped for what it misses there."""

    @property
    def keeps_all(self) -> bool:
        """Whether no row is dropped, whatever its values are, and features are all there is."""
        dropped = self.target is not None or self.weight is not None or bool(self.beside)
        return self.keep_missing and not dropped


class Rows(Protocol):
    """A description of where some rows are, able to fetch them; it is what crosses to a worker."""

    @property
    def ordinal(self) -> int: ...

    @property
    def n_rows(self) -> int: ...

    def blocks(self, reading: Reading) -> Iterator[Block]:
        """Fetch the rows, one block at a time; the arrays of a block may be valid only until the
        next is fetched.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class NumberSummary:
    """What a scan learns about a number column."""

    missing: int
    sample: Values
    """Values of rows drawn at random; it decides how fast the medians are found, never what they
    are.
    """
    extent: tuple[int | float, int | float] | None = None
    """The least and the greatest value of the kept rows; None where none has a value."""

    def __eq__(self, other: object) -> bool:
        # Another sample of the same rows says the same.
        return isinstance(other, NumberSummary) and (self.missing, self.extent) == (
            other.missing,
            other.extent,
        )


@dataclass(frozen=True, slots=True)
class CategorySummary:
    """What a scan learns about a column of categories or flags."""

    missing: int
    counts: dict[Scalar, int]
    """How many kept rows have each value."""

    @property
    def values(self) -> tuple[Scalar, ...]:
        """The values that occur, in increasing order."""
        return tuple(sorted(self.counts))


@dataclass(frozen=True, slots=True, eq=False)
class TableSummary:
    """What a scan learns about the whole table."""

    rows_read: int
    kept: tuple[tuple[int, int], ...]
    """Pairs (ordinal of a partition, rows kept in it)."""
    columns: tuple[NumberSummary | CategorySummary, ...]
    target: CategorySummary
    weight: int = 0
    """The total weight of the kept rows, if they have weights."""
    weightless: int = 0
    """Rows read that were dropped because they count zero times."""

    @property
    def n_rows(self) -> int:
        """Rows kept: N."""
        return sum(rows for _, rows in self.kept)

    @property
    def rows_of_interest(self) -> int:
        """Rows read that have a target and count: those that can be learned from, unless a value is
        missing.
        """
        return self.rows_read - self.weightless - self.target.missing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableSummary) and self._told() == other._told()

    def _told(self) -> tuple[object, ...]:
        """Return all that it says, whatever the order in which its parts were merged."""
        return (
            self.rows_read,
            sorted(self.kept),
            self.columns,
            self.target,
            self.weight,
            self.weightless,
        )

    def row_numbers(self) -> dict[int, range]:
        """Return the row numbers of each partition, which count kept rows only."""
        return row_numbers(sorted(self.kept))


def unused_name(wanted: str, taken: Container[str]) -> str:
    """Return a name for one more column: the wanted one, with underscores appended until it is not
    taken.
    """
    while wanted in taken:
        wanted += "_"
    return wanted


def row_numbers(rows: Iterable[tuple[int, int]]) -> dict[int, range]:
    """Return the row numbers of each partition, given pairs (ordinal, number of rows) in the order
    of the rows.
    """
    numbers: dict[int, range] = {}
    start = 0
    for ordinal, n_rows in rows:
        numbers[ordinal] = range(start, start + n_rows)
        start += n_rows
    return numbers


def classes_of(target: Categories, classes: Sequence[Sequence[Scalar]]) -> Codes:
    """Return the class of each row: the first that lists its label, or the number of classes if
    none does.
    """
    places = [
        next((i for i, labels in enumerate(classes) if value in labels), len(classes))
        for value in target.values
    ]
    # The code -1, a missing label, picks the last entry.
    return np.array([*places, len(classes)], dtype=narrowest(len(classes))).take(target.codes)


def sampling(ordinal: int) -> np.random.Generator:
    """Return the random generator for the sample of a partition, seeded by its ordinal alone."""
    return np.random.default_rng([ordinal, 20240208])


def summarize(
    rows: Rows, reading: Reading, *, sampled_share: float, max_values: int
) -> TableSummary:
    """Summarize the columns of some rows; a column of more than max_values categories is a
    LimitError.
    """
    random = sampling(rows.ordinal)
    parts = [
        summarize_block(
            block,
            reading,
            rows.ordinal,
            sampled_share=sampled_share,
            random=random,
            max_values=max_values,
        )
        for block in rows.blocks(reading)
    ]
    summary = merge(parts, reading=reading, max_values=max_values)
    kept = ((rows.ordinal, summary.n_rows),)
    return replace(summary, kept=kept)


def merge(parts: Sequence[TableSummary], *, reading: Reading, max_values: int) -> TableSummary:
    """Merge summaries of disjoint rows; the summary of a partition without blocks lists no
    columns.
    """
    telling = [part for part in parts if part.columns]
    columns = tuple(
        _merge_numbers([part.columns[i] for part in telling])  # type: ignore[misc]
        if column.role is Role.NUMBER
        else _merge_categories([part.columns[i] for part in telling], str(column.name), max_values)  # type: ignore[misc]
        for i, column in enumerate(reading.columns if telling else ())
    )
    target = _merge_categories(
        [part.target for part in parts], str(reading.target), max_values, advice=_OTHER_TARGET
    )
    return TableSummary(
        rows_read=sum(part.rows_read for part in parts),
        kept=tuple(pair for part in parts for pair in part.kept),
        columns=columns,
        target=target,
        weight=sum(part.weight for part in parts),
        weightless=sum(part.weightless for part in parts),
    )


def summarize_block(
    block: Block,
    reading: Reading,
    ordinal: int,
    *,
    sampled_share: float,
    random: np.random.Generator,
    max_values: int,
) -> TableSummary:
    """Summarize the columns of one block."""
    drawn = draw(block.n_rows, sampled_share, random)
    columns: list[NumberSummary | CategorySummary] = []
    for column, data, missing in zip(reading.columns, block.columns, block.missing, strict=True):
        if isinstance(data, Numbers):
            columns.append(NumberSummary(missing, sample(data, drawn), extent_of(data)))
        else:
            columns.append(
                CategorySummary(missing, _value_counts(data, str(column.name), max_values))
            )
    labels = _value_counts(block.target, str(reading.target), max_values, advice=_OTHER_TARGET)
    target = CategorySummary(block.missing_targets, labels)
    weight = 0 if block.weights is None else total_weight(block.weights)
    kept = ((ordinal, block.n_rows),)
    return TableSummary(block.n_read, kept, tuple(columns), target, weight, block.weightless)


def total_weight(weights: Ints) -> int:
    """Return what rows weigh together: exactly, or about, where 64 bits do not hold it."""
    about = float(weights.sum(dtype=np.float64))
    return int(weights.sum()) if about < 1 << 62 else int(about)


def draw(n_rows: int, share: float, random: np.random.Generator) -> Ints:
    """Draw a share of the rows, with replacement; all of them, each once, if the share rounds up to
    all.
    """
    n_drawn = min(n_rows, int(np.ceil(share * n_rows)))
    return np.arange(n_rows) if n_drawn == n_rows else random.integers(0, n_rows, n_drawn)


def sample(data: Numbers, drawn: Ints) -> Values:
    """Return the values of the drawn rows that have one."""
    values: Values = data.values[drawn]
    return values if data.present is None else values[data.present[drawn]]


def extent_of(data: Numbers) -> tuple[int | float, int | float] | None:
    """Return the least and the greatest of the numbers; None where there is none."""
    values = data.values if data.present is None else data.values[data.present]
    return (values.min().item(), values.max().item()) if len(values) else None


def _value_counts(
    data: Categories, name: str, max_values: int, *, advice: str = _DROP_COLUMN
) -> dict[Scalar, int]:
    # The codes are copied only if some are missing.
    present = data.codes if data.codes.min(initial=0) >= 0 else data.codes[data.codes >= 0]
    counts = np.bincount(present, minlength=len(data.values))
    totals: dict[Scalar, int] = {}
    for i in np.flatnonzero(counts).tolist():
        # The dictionary of a stored column may list a value twice.
        totals[data.values[i]] = totals.get(data.values[i], 0) + int(counts[i])
    _check_values(len(totals), name, max_values, advice)
    return totals


def _merge_numbers(parts: Sequence[NumberSummary]) -> NumberSummary:
    missing = sum(part.missing for part in parts)
    extents = [part.extent for part in parts if part.extent is not None]
    return NumberSummary(
        missing,
        np.concatenate([part.sample for part in parts]),
        (min(least for least, _ in extents), max(greatest for _, greatest in extents))
        if extents
        else None,
    )


def _merge_categories(
    parts: Sequence[CategorySummary], name: str, max_values: int, *, advice: str = _DROP_COLUMN
) -> CategorySummary:
    counts: dict[Scalar, int] = {}
    for part in parts:
        for value, count in part.counts.items():
            counts[value] = counts.get(value, 0) + count
        _check_values(len(counts), name, max_values, advice)
    return CategorySummary(sum(part.missing for part in parts), counts)


def _check_values(n_values: int, name: str, max_values: int, advice: str) -> None:
    if n_values > max_values:
        higher = " or raise data.max_categories" if max_values < MOST_CATEGORIES else ""
        raise LimitError(
            f"column {name!r}: at most {max_values:,} different values are taken as "
            "categories, got at least "
            f"{n_values:,}; {advice}{higher}",
            "data.max_categories",
        )
