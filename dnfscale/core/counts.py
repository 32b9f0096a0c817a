"""Type counts: how often each truth assignment to tau occurs, and how often with a true target.

A type t over ell attributes is an integer whose bit i is the truth value of attribute i. Counts of disjoint rows add,
counts of fewer attributes are sums of counts of more, and everything the method decides follows from them.

Two forms hold them. A *tally* is a dense array over (group of rows, target, type): it is what workers fill and merge,
because adding arrays costs nothing. TypeCounts keeps the types that occur: it is what the method reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints, frozen
from dnfscale.core.bins import BinnedTable, Bins, Span

_BLOCK = 1 << 16
"""Rows per block: ten binned columns of it stay in the cache while all folds are counted."""


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


def tally(holds: Bools, target: Bools) -> TypeCounts:
    """Count the types of some rows; holds[row, attribute] says which attributes are true."""
    ell = holds.shape[1]
    codes = holds.astype(np.int64) @ (np.int64(1) << np.arange(ell, dtype=np.int64))
    size = 1 << ell
    return from_dense(np.bincount(codes[~target], minlength=size), np.bincount(codes[target], minlength=size))


def from_dense(negative: Ints, positive: Ints) -> TypeCounts:
    """Return the counts of two dense tables over all 2**ell types: rows with a false and with a true target."""
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


def merge(parts: Sequence[TypeCounts]) -> TypeCounts:
    """Merge the counts of disjoint rows over the same attributes."""
    dense = [to_dense(part) for part in parts]
    n, c = np.sum([n for n, _ in dense], axis=0), np.sum([c for _, c in dense], axis=0)
    return from_dense(n - c, c)


def without(total: TypeCounts, part: TypeCounts) -> TypeCounts:
    """Return the counts of the rows of total that are not in part."""
    (n, c), (part_n, part_c) = to_dense(total), to_dense(part)
    n, c = n - part_n, c - part_c
    return from_dense(n - c, c)


def project(counts: TypeCounts, attributes: Sequence[int]) -> TypeCounts:
    """Return the counts over the given attributes, in the given order, by summing out the others."""
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
    """Which types to count in one fold, as spans of binned columns."""

    fold: int
    spans: tuple[Span, ...]


Tallies = tuple[Ints, ...]
"""For each request a dense array over (group, target, type)."""


def tally_requests(
    table: BinnedTable, requests: Sequence[TypeRequest], *, bins: Sequence[Bins], groups: Codes
) -> Tallies:
    """Count the types of all requests in one pass over a binned table.

    groups[fold, arc] says which group of rows an arc belongs to in a fold: 0, 1 or 2; group 2 is not kept.
    """
    n_labels = 2 * groups.shape[1]
    label_groups = (2 * groups[:, :, None] + np.arange(2, dtype=np.uint8)).reshape(len(groups), n_labels)
    folds_of: dict[tuple[Span, ...], list[int]] = {}
    for number, request in enumerate(requests):
        folds_of.setdefault(request.spans, []).append(number)
    totals = [np.zeros(6 << len(request.spans), dtype=np.int64) for request in requests]
    for start in range(0, table.n_rows, _BLOCK):
        columns = [codes[start : start + _BLOCK] for codes in table.columns]
        labels = table.labels[start : start + _BLOCK].astype(np.intp)
        rows_of: dict[int, Codes] = {}
        for spans, numbers in folds_of.items():
            types = _types(columns, spans, bins)
            for number in numbers:
                fold = requests[number].fold
                if fold not in rows_of:
                    rows_of[fold] = label_groups[fold].take(labels)
                totals[number] += _count(types, rows_of[fold], len(spans))
    return tuple(total.reshape(3, 2, -1)[:2] for total in totals)


def merge_tallies(parts: Sequence[Tallies]) -> Tallies:
    """Merge the tallies of disjoint rows."""
    return tuple(np.sum(arrays, axis=0) for arrays in zip(*parts, strict=True))


def _types(columns: Sequence[Codes], spans: Sequence[Span], bins: Sequence[Bins]) -> list[Codes]:
    """Return the type of each row as bytes, lowest first: byte arithmetic moves eight times as many rows at once."""
    planes: list[Codes] = []
    for place, span in enumerate(spans):
        bit = span.holds(columns[span.column], bins[span.column].n_codes).view(np.uint8)
        if place % 8 == 0:
            planes.append(bit)
        else:
            np.left_shift(bit, place % 8, out=bit)
            np.bitwise_or(planes[-1], bit, out=planes[-1])
    return planes


def _count(planes: Sequence[Codes], group_and_target: Codes, ell: int) -> Ints:
    """Count the rows of each (group, target, type)."""
    cells: Codes = group_and_target.astype(np.uint16 if ell <= 13 else np.uint32)
    np.left_shift(cells, ell, out=cells)
    for place, plane in enumerate(planes):
        byte = plane if place == 0 else np.left_shift(plane, 8 * place, dtype=cells.dtype)
        np.bitwise_or(cells, byte, out=cells)
    return np.bincount(cells, minlength=6 << ell)
