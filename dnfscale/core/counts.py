"""Type counts: how often each truth assignment to tau occurs, and how often with a true target.

A type t over ell attributes is an integer whose bit i is the truth value of attribute i. Counts of
disjoint rows add, counts of fewer attributes are sums of counts of more, and everything the method
decides follows from them.

Two forms hold them. A *tally* is a dense array over (group of rows, target, type): it is what
workers fill and merge, because adding arrays costs nothing. TypeCounts keeps the types that occur:
it is what the method reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints, frozen, tally_cells
from dnfscale.core.bins import TWO_CLASSES, BinnedTable, Bins, RowTest, Span

_BLOCK = 1 << 16
"""Rows per block: ten binned columns of it stay in the cache while all folds are counted."""
_MOST_CELLS = 1 << 21
"""The largest histogram that several requests share: 16 MiB."""


@dataclass(frozen=True, slots=True, eq=False)
class TypeCounts:
    """How often each type over ell attributes occurs, and how often with a true target.

    Only types that occur are stored, in increasing order of code.
    """

    ell: int
    codes: Ints
    """t, as an integer whose bit i is the truth value of attribute i."""
    n: Ints
    """n_t: rows of type t."""
    c: Ints
    """c_t: rows of type t whose target is true; 0 <= c_t <= n_t."""

    def __post_init__(self) -> None:
        for array in (self.codes, self.n, self.c):
            frozen(array)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TypeCounts)
            and self.ell == other.ell
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.n, other.n)
            and np.array_equal(self.c, other.c)
        )

    @property
    def n_rows(self) -> int:
        return int(self.n.sum())


def from_dense(negative: Ints, positive: Ints) -> TypeCounts:
    """Return the counts of two dense tables over all 2**ell types: rows with a false and with a
    true target.
    """
    n = negative + positive
    codes = np.flatnonzero(n)
    return TypeCounts(len(n).bit_length() - 1, codes, n[codes], positive[codes].astype(np.int64))


def to_dense(counts: TypeCounts) -> tuple[Ints, Ints]:
    """Return n_t and c_t over all 2**ell types."""
    n = np.zeros(1 << counts.ell, dtype=np.int64)
    c = np.zeros(1 << counts.ell, dtype=np.int64)
    n[counts.codes] = counts.n
    c[counts.codes] = counts.c
    return n, c


def tally_types(types: Ints, target: Bools, ell: int, weights: Ints | None = None) -> TypeCounts:
    """Return the counts of the types of some rows, or what they weigh; types without weight do not
    occur.
    """
    codes, places = np.unique(np.asarray(types, dtype=np.int64), return_inverse=True)
    weigh = np.ones(len(places), dtype=np.int64) if weights is None else weights
    return _added(ell, codes, places, weigh, np.where(target, weigh, 0))


def merge_counts(parts: Sequence[TypeCounts]) -> TypeCounts:
    """Merge the counts of disjoint rows, at least one part, over the same attributes or lines."""
    codes, places = np.unique(np.concatenate([part.codes for part in parts]), return_inverse=True)
    n, c = (np.concatenate([getattr(part, of) for part in parts]) for of in ("n", "c"))
    return _added(parts[0].ell, codes, places, n, c)


def _added(ell: int, codes: Ints, places: Ints, n: Ints, c: Ints) -> TypeCounts:
    added = np.zeros((2, len(codes)), dtype=np.int64)
    np.add.at(added[0], places, n)
    np.add.at(added[1], places, c)
    there = added[0] > 0
    return TypeCounts(ell, codes[there], added[0, there], added[1, there])


def project(counts: TypeCounts, attributes: Sequence[int]) -> TypeCounts:
    """Return the counts over the given attributes, in the given order, by summing out
    the others.
    """
    codes = np.zeros_like(counts.codes)
    for place, attribute in enumerate(attributes):
        codes |= ((counts.codes >> attribute) & 1) << place
    size = 1 << len(attributes)
    n, c = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    np.add.at(n, codes, counts.n)
    np.add.at(c, codes, counts.c)
    return from_dense(n - c, c)


@dataclass(frozen=True, slots=True)
class TypeRequest:
    """Which types to count in one fold: bit i of a type says whether question i is true."""

    fold: int
    """Or one of its inner splits: where it stands among the groups."""
    tests: tuple[RowTest, ...]
    attributes: tuple[int, ...] | None
    """The numbers of the attributes whose spans the questions are: an attribute's span has the same
    column in all folds, and perhaps another cut. None if they are other questions.
    """
    target: int = 0
    """Which of the targets is counted as true or false."""


Tallies = tuple[Ints, ...]
"""For each request a dense array over (group, target, type)."""


def tally_requests(
    table: BinnedTable,
    requests: Sequence[TypeRequest],
    *,
    bins: Sequence[Bins],
    groups: Codes,
    targets: Bools = TWO_CLASSES,
) -> Tallies:
    """Count the types of all requests in one pass over a binned table.

    groups[fold, arc] says which group of rows an arc belongs to in a fold: 0, 1 or 2; group 2 is
    not kept. targets[target, class] says for which classes a target is true.
    """
    # cells_of[target, fold, label]: a row's group in the fold and its truth value.
    cells_of = (2 * groups[None, :, :, None] + targets[:, None, None, :]).reshape(
        len(targets), len(groups), -1
    )
    totals: dict[int, Ints] = {}
    for kin in _kin(requests):
        if len(kin) > 1 and cells_of.shape[2] << len(requests[kin[0]].tests) <= _MOST_CELLS:
            totals |= _tally_kin(
                table, {number: requests[number] for number in kin}, bins=bins, cells_of=cells_of
            )
        else:
            totals |= {
                number: _tally_alone(table, requests[number], bins=bins, cells_of=cells_of)
                for number in kin
            }
    return tuple(totals[number].reshape(3, 2, -1)[:2] for number in range(len(requests)))


def _kin(requests: Sequence[TypeRequest]) -> list[list[int]]:
    """Group the requests that ask for the same attributes, cut perhaps a little differently from
    fold to fold.
    """
    kin: dict[tuple[int, ...] | int, list[int]] = {}
    for number, request in enumerate(requests):
        alike = number if request.attributes is None else request.attributes
        kin.setdefault(alike, []).append(number)
    return list(kin.values())


def _tally_alone(
    table: BinnedTable, request: TypeRequest, *, bins: Sequence[Bins], cells_of: Codes
) -> Ints:
    """Count the types of one request."""
    total = np.zeros(6 << len(request.tests), dtype=np.int64)
    cells = cells_of[request.target, request.fold]
    for columns, labels, weights in _blocks(table, request.tests):
        total += _count(
            binned_planes(columns, request.tests, bins),
            cells.take(labels),
            len(request.tests),
            weights,
        )
    return total


def _tally_kin(
    table: BinnedTable,
    requests: Mapping[int, TypeRequest],
    *,
    bins: Sequence[Bins],
    cells_of: Codes,
) -> dict[int, Ints]:
    """Count the types of requests for the same attributes in one histogram over (label, type).

    Labels tell the folds and targets apart, so one histogram serves them all, as far as they agree
    on a row's type. They do unless a value lies between the cuts of two folds, about one row in
    thirty: those rows are taken out and counted again for each request.
    """
    first = next(iter(requests.values()))
    ell, n_labels = len(first.tests), cells_of.shape[2]
    moving = [
        (spans[0].column, min(ends), max(ends))
        for spans in zip(*(_spans(request) for request in requests.values()), strict=True)
        for ends in ({span.first for span in spans}, {span.last + 1 for span in spans})
        if len(ends) > 1
    ]
    histogram = np.zeros(n_labels << ell, dtype=np.int64)
    unsure: list[Ints] = []
    for number, (columns, labels, weights) in enumerate(_blocks(table, first.tests)):
        histogram += _count(
            binned_planes(columns, first.tests, bins), labels, ell, weights, n_cells=n_labels
        )
        between = np.zeros(len(labels), dtype=np.bool_)
        for column, low, high in moving:
            codes = columns[column]
            np.logical_or(between, (codes >= low) & (codes < high), out=between)
        unsure.append(np.flatnonzero(between) + number * _BLOCK)
    rows = np.concatenate(unsure) if unsure else np.empty(0, dtype=np.int64)
    columns = {span.column: table.columns[span.column][rows] for span in _spans(first)}
    labels = table.labels[rows].astype(np.intp)
    weights = None if table.weights is None else table.weights[rows]
    as_first = binned_planes(columns, first.tests, bins)
    totals = {}
    for number, request in requests.items():
        cells = cells_of[request.target, request.fold]
        total = np.zeros((6, 1 << ell), dtype=np.int64)
        np.add.at(total, cells, histogram.reshape(n_labels, 1 << ell))
        totals[number] = total.reshape(-1)
        if request.tests != first.tests and len(rows):
            kept = cells.take(labels)
            totals[number] += _count(
                binned_planes(columns, request.tests, bins), kept, ell, weights
            )
            totals[number] -= _count(as_first, kept, ell, weights)
    return totals


def _spans(request: TypeRequest) -> list[Span]:
    """Return the questions of a request for attributes, which are spans."""
    return [test for test in request.tests if isinstance(test, Span)]


def _blocks(
    table: BinnedTable, tests: Sequence[RowTest]
) -> Iterator[tuple[dict[int, Codes], Ints, Ints | None]]:
    """Yield the binned columns of some questions, the labels and the weights, one block of rows at
    a time.
    """
    asked = {column for test in tests for column in test.columns}
    for start in range(0, table.n_rows, _BLOCK):
        rows = slice(start, start + _BLOCK)
        weights = None if table.weights is None else table.weights[rows]
        columns = {column: table.columns[column][rows] for column in asked}
        yield columns, table.labels[rows].astype(np.intp), weights


def merge_tallies(parts: Sequence[Tallies]) -> Tallies:
    """Merge the tallies of disjoint rows."""
    return tuple(np.sum(arrays, axis=0) for arrays in zip(*parts, strict=True))


def binned_planes(
    columns: Mapping[int, Codes], tests: Sequence[RowTest], bins: Sequence[Bins]
) -> list[Codes]:
    """Return the answers to some questions about each row of binned columns, as planes."""
    planes: list[Codes] = []
    for place in range(0, len(tests), 8):
        plane, *bits = (
            test.true_in(columns, bins).view(np.uint8)
            for test in reversed(tests[place : place + 8])
        )
        for bit in bits:
            # Doubling a byte takes a tenth of the time of shifting one.
            np.add(plane, plane, out=plane)
            np.bitwise_or(plane, bit, out=plane)
        planes.append(plane)
    return planes


def _count(
    planes: Sequence[Codes], rows: Codes | Ints, ell: int, weights: Ints | None, n_cells: int = 6
) -> Ints:
    """Count the rows of each (cell, type); a row's cell is its group and truth value, or its
    label.
    """
    cells: Codes = rows.astype(np.uint16 if n_cells << ell <= 1 << 16 else np.uint32)
    np.left_shift(cells, ell, out=cells)
    for place, plane in enumerate(planes):
        byte = plane if place == 0 else np.left_shift(plane, 8 * place, dtype=cells.dtype)
        np.bitwise_or(cells, byte, out=cells)
    return tally_cells(cells, weights, n_cells << ell)
