"""What one task does in each scan: the point where a partition's rows meet the summaries of core.

Each scan is a frozen value with a `__call__`: it is sent to a worker once and called with every partition there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core import associations, columns, counts, medians
from dnfscale.core.arrays import Bools, Codes, Ints, Scalar, narrowest
from dnfscale.core.associations import Associations
from dnfscale.core.bins import BinnedTable, Bins, Spans, changed_value, check_known
from dnfscale.core.columns import Block, Numbers, Reading, Rows, TableSummary
from dnfscale.core.counts import Tallies, TypeRequest
from dnfscale.core.medians import Bracket, Located
from dnfscale.core.splits import Splits
from dnfscale.errors import DataError


@dataclass(frozen=True, slots=True)
class SummarizeColumns:
    """Scan 1: rows, missing values, categories, and a sample of the numbers."""

    reading: Reading
    sampled_share: float
    max_values: int

    def __call__(self, rows: Rows) -> TableSummary:
        return columns.summarize(rows, self.reading, sampled_share=self.sampled_share, max_values=self.max_values)

    def merge(self, parts: Sequence[TableSummary]) -> TableSummary:
        return columns.merge(parts, reading=self.reading, max_values=self.max_values)


@dataclass(frozen=True, slots=True, eq=False)
class LocateMedians:
    """Scan 2: where every number column's values lie relative to the bracket around its medians."""

    reading: Reading
    brackets: tuple[Bracket, ...]
    row_numbers: Mapping[int, range]
    splits: Splits

    def __call__(self, rows: Rows) -> tuple[Located, ...]:
        parts: list[tuple[Located, ...]] = []
        for first_row, block in numbered(rows, self.reading, self.row_numbers):
            arcs = self.splits.arcs(first_row, block.n_rows)
            parts.append(
                tuple(
                    medians.locate(data, arcs, bracket, self.splits.n_arcs, block.weights)
                    for data, bracket in zip(block.columns, self.brackets, strict=True)
                    if isinstance(data, Numbers)
                )
            )
        return merge_located(parts)


def merge_located(parts: Sequence[tuple[Located, ...]]) -> tuple[Located, ...]:
    """Merge what was located in disjoint rows, column by column."""
    return tuple(medians.merge(column) for column in zip(*parts, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class BinRows:
    """Scan 3, first half: the binned table of a partition, which stays where it is."""

    reading: Reading
    classes: tuple[tuple[Scalar, ...], ...]
    bins: tuple[Bins, ...]
    row_numbers: Mapping[int, range]
    splits: Splits

    def __call__(self, rows: Rows) -> BinnedTable:
        n_classes = len(self.classes)
        label_dtype = narrowest(n_classes * self.splits.n_arcs - 1)
        parts: list[list[Codes]] = [[] for _ in self.bins]
        labels: list[Codes] = []
        weights: list[Ints] = []
        for first_row, block in numbered(rows, self.reading, self.row_numbers):
            arcs = self.splits.arcs(first_row, block.n_rows).astype(label_dtype)
            labels.append(n_classes * arcs + self._classes_of(block))
            if block.weights is not None:
                weights.append(block.weights)
            for part, bins, data in zip(parts, self.bins, block.columns, strict=True):
                part.append(bins.encode(data))  # type: ignore[arg-type]
        table = BinnedTable(
            tuple(_joined(part) for part in parts), _joined(labels), np.concatenate(weights) if weights else None
        )
        check_known(table, self.bins)
        return table

    def _classes_of(self, block: Block) -> Codes:
        codes = columns.classes_of(block.target, self.classes)
        if len(codes) and int(codes.max()) == len(self.classes):
            raise changed_value()
        return codes


@dataclass(frozen=True, slots=True, eq=False)
class Associate:
    """Scan 3, second half: the 2 x 2 tables of every attribute on every fold's W_train."""

    bins: tuple[Bins, ...]
    spans: Spans
    members: Bools
    targets: Bools

    def __call__(self, table: BinnedTable) -> tuple[Associations, ...]:
        return associations.associate(
            table, bins=self.bins, spans=self.spans, members=self.members, targets=self.targets
        )


@dataclass(frozen=True, slots=True, eq=False)
class CountTypes:
    """Scan 4: the types of every request."""

    bins: tuple[Bins, ...]
    requests: tuple[TypeRequest, ...]
    groups: Codes
    targets: Bools

    def __call__(self, table: BinnedTable) -> Tallies:
        return counts.tally_requests(table, self.requests, bins=self.bins, groups=self.groups, targets=self.targets)


def numbered(rows: Rows, reading: Reading, row_numbers: Mapping[int, range]) -> Iterator[tuple[int, Block]]:
    """Yield the blocks of a partition with the number of their first row; the rows must be those of the first scan."""
    numbers = row_numbers[rows.ordinal]
    first_row = numbers.start
    for block in rows.blocks(reading):
        # Before the block is handed on: a number beyond the last row has no place in the splits.
        if first_row + block.n_rows > numbers.stop:
            raise _changed(rows, numbers, f"at least {first_row + block.n_rows - numbers.start:,}")
        yield first_row, block
        first_row += block.n_rows
    if first_row != numbers.stop:
        raise _changed(rows, numbers, f"{first_row - numbers.start:,}")


def _changed(rows: Rows, numbers: range, found: str) -> DataError:
    return DataError(
        f"expected {len(numbers):,} rows in partition {rows.ordinal} as in the first scan, got {found}; "
        "run again on data that does not change meanwhile"
    )


def _joined(parts: Sequence[Codes]) -> Codes:
    joined = np.concatenate(parts) if len(parts) != 1 else parts[0]
    return joined.astype(joined.dtype, copy=False)
