"""The scans: what one task does with a partition's rows, by the functions of core.

Each scan is a frozen value with a `__call__`: it is sent to a worker once and called with every
partition there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import add

import numpy as np

from dnfscale.core import associations, columns, counts, medians, narrowing
from dnfscale.core.arrays import Bools, Codes, Ints, Scalar, Values
from dnfscale.core.associations import Associations
from dnfscale.core.bins import Bins, Spans
from dnfscale.core.columns import Block, Numbers, Reading, Rows, TableSummary
from dnfscale.core.counts import Tallies, TypeRequest
from dnfscale.core.medians import Bracket, Brackets, Located, Zoned
from dnfscale.core.narrowing import Stepped
from dnfscale.core.rough import Gathering, RoughTable
from dnfscale.core.splits import LabelArcs, Splits
from dnfscale.errors import DataError


@dataclass(frozen=True, slots=True)
class SummarizeColumns:
    """A scan that counts the kept rows, missing values and categories, and samples the numbers."""

    reading: Reading
    sampled_share: float
    max_values: int

    def __call__(self, rows: Rows) -> TableSummary:
        return columns.summarize(
            rows, self.reading, sampled_share=self.sampled_share, max_values=self.max_values
        )

    def merge(self, parts: Sequence[TableSummary]) -> TableSummary:
        return columns.merge(parts, reading=self.reading, max_values=self.max_values)


@dataclass(frozen=True, slots=True)
class SampleNumbers:
    """A sample of the number columns, from the first rows of a partition or from all of them."""

    reading: Reading
    share: float
    """The share of those rows to draw."""

    def __call__(self, rows: Rows) -> tuple[Values, ...]:
        random = columns.sampling(rows.ordinal)
        samples: list[tuple[Values, ...]] = []
        for block in islice(rows.blocks(self.reading), 1 if self.reading.first_only else None):
            drawn = columns.draw(block.n_rows, self.share, random)
            samples.append(
                tuple(
                    columns.sample(data, drawn)
                    for data in block.columns
                    if isinstance(data, Numbers)
                )
            )
        return tuple(np.concatenate(parts) for parts in zip(*samples, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """What the read of a partition leaves on its worker: rough rows, and its share of the summary
    of the table.
    """

    rough: RoughTable
    zone_rows: Mapping[int, Ints]
    """The number of rows in each zone per arc, for each number column; empty if there are no rows.
    """
    summary: TableSummary
    first_row: int
    """The number of the first row."""

    def __sizeof__(self) -> int:
        """Count the arrays: an engine that keeps tables decides by this when to move them
        to disk.
        """
        return (
            object.__sizeof__(self)
            + self.rough.nbytes
            + sum(rows.nbytes for rows in self.zone_rows.values())
        )

    def zoned(self, column: int) -> Zoned:
        """Return how the rows of a column of numbers lie relative to its brackets."""
        return self.rough.zoned(column, self.zone_rows[column])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReadRows:
    """The one full read of the dataset: it keeps where numbers lie relative to the brackets around
    the cuts.
    """

    reading: Reading
    brackets: Mapping[int, Brackets]
    """The brackets of the number columns, by their place in the reading."""
    row_numbers: Mapping[int, range]
    splits: Splits
    max_values: int
    counted: bool
    """Whether the kept rows were counted before: then a partition must have exactly as many, else
    it may have fewer.
    """

    def __call__(self, rows: Rows) -> Read:
        gathering = Gathering(len(self.reading.columns))
        summaries: list[TableSummary] = []
        zone_rows: dict[int, Ints] = {}
        random = np.random.default_rng(0)
        deal = self.splits.dealer(rows.ordinal)
        for first_row, block in numbered(
            rows, self.reading, self.row_numbers, exactly=self.counted
        ):
            summaries.append(
                columns.summarize_block(
                    block,
                    self.reading,
                    rows.ordinal,
                    sampled_share=0.0,
                    random=random,
                    max_values=self.max_values,
                )
            )
            arcs = deal(first_row, block)
            for column, counted in self._gather(block, arcs, gathering).items():
                zone_rows[column] = zone_rows[column] + counted if column in zone_rows else counted
        summary = columns.merge(summaries, reading=self.reading, max_values=self.max_values)
        summary = replace(summary, kept=((rows.ordinal, summary.n_rows),))
        return Read(gathering.table(), zone_rows, summary, self.row_numbers[rows.ordinal].start)

    def _gather(self, block: Block, arcs: Codes, gathering: Gathering) -> dict[int, Ints]:
        """Add a block, and return the number of its rows in each zone per arc, for each number
        column.
        """
        counted: dict[int, Ints] = {}
        for number, data in enumerate(block.columns):
            if isinstance(data, Numbers):
                brackets = self.brackets[number]
                zones = medians.zones(data, brackets)
                gathering.add_numbers(number, data.values, zones, brackets)
                counted[number] = medians.zone_rows(
                    zones,
                    arcs,
                    block.weights,
                    n_brackets=len(brackets.parts),
                    n_arcs=self.splits.n_arcs,
                )
            else:
                gathering.add_categories(number, data)
        gathering.add_rows(block.target, arcs, block.weights)
        return counted


ReadSummary = tuple[TableSummary, tuple[Stepped, ...], LabelArcs]


@dataclass(frozen=True, slots=True, eq=False)
class SummarizeRead:
    """A scan that summarizes the whole table from the partitions as they were read."""

    reading: Reading
    max_values: int
    steps: Mapping[int, Sequence[Values]]
    """The values that divide every bracket of each number column."""
    n_arcs: int | None = None
    """The number of arcs, if it is to be counted which rows are in each."""

    def __call__(self, read: Read) -> ReadSummary:
        counted = (
            narrowing.climb(read.zoned(column), self.steps[column]) for column in read.zone_rows
        )
        arcs = {} if self.n_arcs is None else read.rough.label_arcs(self.n_arcs)
        return read.summary, tuple(chain.from_iterable(counted)), arcs

    def merge(self, parts: Sequence[ReadSummary]) -> ReadSummary:
        summary = columns.merge(
            [part for part, _, _ in parts], reading=self.reading, max_values=self.max_values
        )
        counted = zip(*(stepped for _, stepped, _ in parts if stepped), strict=True)
        arcs: LabelArcs = {}
        for _, _, of_labels in parts:
            for label, rows in of_labels.items():
                arcs[label] = tuple(map(add, arcs[label], rows)) if label in arcs else rows
        return summary, tuple(narrowing.merge(bracket) for bracket in counted), arcs


@dataclass(frozen=True, slots=True)
class CollectInside:
    """A scan that collects the values inside brackets that are narrower than those of the read."""

    wanted: Mapping[int, tuple[Sequence[Bracket], Sequence[int]]]
    """For each number column the brackets, and for each of them the number of the bracket of the
    read around it.
    """

    def __call__(self, read: Read) -> tuple[Located, ...]:
        found = (
            medians.located(read.zoned(column), *self.wanted[column]) for column in read.zone_rows
        )
        return tuple(chain.from_iterable(found))


def merge_located(parts: Sequence[tuple[Located, ...]]) -> tuple[Located, ...]:
    """Merge the values located in disjoint rows, bracket by bracket; a part without rows
    is empty.
    """
    return tuple(
        medians.merge(column) for column in zip(*(part for part in parts if part), strict=True)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Associate:
    """A scan that counts the 2 x 2 tables of every attribute in some parts of the rows, each with
    its fold's cuts.
    """

    bins: tuple[Bins, ...]
    classes: tuple[tuple[Scalar, ...], ...]
    spans: Spans
    members: Bools
    folds: tuple[int, ...]
    targets: Bools

    def __call__(self, read: Read) -> tuple[Associations, ...]:
        table = read.rough.binned(self.bins, self.classes, n_arcs=self.members.shape[1])
        return associations.associate(
            table,
            bins=self.bins,
            spans=self.spans,
            members=self.members,
            folds=self.folds,
            targets=self.targets,
        )


@dataclass(frozen=True, slots=True, eq=False)
class CountTypes:
    """A scan that counts the types of every request."""

    bins: tuple[Bins, ...]
    classes: tuple[tuple[Scalar, ...], ...]
    requests: tuple[TypeRequest, ...]
    groups: Codes
    targets: Bools

    def __call__(self, read: Read) -> Tallies:
        needed = {
            column for request in self.requests for test in request.tests for column in test.columns
        }
        table = read.rough.binned(self.bins, self.classes, n_arcs=self.groups.shape[1], only=needed)
        return counts.tally_requests(
            table, self.requests, bins=self.bins, groups=self.groups, targets=self.targets
        )


def numbered(
    rows: Rows, reading: Reading, row_numbers: Mapping[int, range], *, exactly: bool = True
) -> Iterator[tuple[int, Block]]:
    """Yield the blocks of a partition with the number of their first row.

    There must be as many rows as were counted; unless `exactly`, there may be fewer.
    """
    numbers = row_numbers[rows.ordinal]
    first_row = numbers.start
    for block in rows.blocks(reading):
        # Checked before the block is used: a number beyond the last row has no place in the splits.
        if first_row + block.n_rows > numbers.stop:
            raise _changed(rows, numbers, f"at least {first_row + block.n_rows - numbers.start:,}")
        yield first_row, block
        first_row += block.n_rows
    if exactly and first_row != numbers.stop:
        raise _changed(rows, numbers, f"{first_row - numbers.start:,}")


def _changed(rows: Rows, numbers: range, found: str) -> DataError:
    return DataError(
        f"expected {len(numbers):,} rows in partition {rows.ordinal} as in the first scan, "
        f"got {found}; "
        "run again on data that does not change meanwhile"
    )
