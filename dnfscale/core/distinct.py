"""Distinct rows over many attributes: rows that no attribute tells apart are kept as one row, with
their counts.

A row's truth values are packed as bits, attribute 0 as the highest bit of the first byte. Counts of
distinct rows add, as counts of types do, but there are too many types for a dense table: rows are
sorted, and equal ones summed up. Counting stops once a limit is passed. More rows never make fewer
distinct ones, so it does not matter which part of the rows passed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dnfscale.core.arrays import Bools, Codes, Ints, frozen, tally_cells
from dnfscale.core.bins import BinnedTable, Bins, Span

Bytes = npt.NDArray[np.uint8]

_BLOCK = 1 << 16
"""Rows per block: what a scan holds besides its distinct rows stays small."""
DROPPED = 4
"""The cell of rows that are not counted."""


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRequest:
    """Attributes whose distinct rows are to be counted, and the cell in which each row counts."""

    spans: tuple[Span, ...]
    cells: Codes
    """cells[label]: 2 * group + target for two groups of rows, or DROPPED."""


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRows:
    """The distinct rows over m attributes in increasing order of their bits, with their counts by
    cell.
    """

    n_attributes: int
    bits: Bytes
    """bits[t]: the truth values of row t, packed."""
    counts: Ints
    """counts[t, 2 * group + target]."""

    def __post_init__(self) -> None:
        frozen(self.bits)
        frozen(self.counts)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DistinctRows)
            and self.n_attributes == other.n_attributes
            and np.array_equal(self.bits, other.bits)
            and np.array_equal(self.counts, other.counts)
        )

    def __len__(self) -> int:
        return len(self.bits)


@dataclass(frozen=True, slots=True, eq=False)
class PackedTypes:
    """The distinct rows of one group, small enough to send between processes."""

    n_attributes: int
    bits: Bytes
    n: Ints
    """n_t: rows that are equal to row t."""
    c: Ints
    """c_t: those of them whose target is true."""

    def holds(self) -> Bools:
        """Return holds[t, attribute]."""
        return np.unpackbits(self.bits, axis=1, count=self.n_attributes).view(np.bool_)


Distinct = tuple[DistinctRows | None, ...]
"""For each request its distinct rows; None where there are more than the limit."""


def distinct_rows(
    table: BinnedTable, requests: Sequence[DistinctRequest], *, bins: Sequence[Bins], most: int
) -> Distinct:
    """Count the distinct rows of all requests in a binned table; None for a request with more than
    `most`.
    """
    found: list[DistinctRows | None] = [_nothing(request) for request in requests]
    for start in range(0, table.n_rows, _BLOCK):
        rows = slice(start, start + _BLOCK)
        columns = {number: codes[rows] for number, codes in table.columns.items()}
        labels = table.labels[rows].astype(np.intp)
        weights = None if table.weights is None else table.weights[rows]
        # Rows with the same code in every column are alike in every fold, so all requests look at
        # them once.
        first, which = _sorted_out(
            np.column_stack([_as_bytes(codes) for codes in columns.values()])
        )
        columns = {number: codes[first] for number, codes in columns.items()}
        for number, (request, before) in enumerate(zip(requests, found, strict=True)):
            if before is not None:
                cells = which * (DROPPED + 1) + request.cells[labels]
                counts = tally_cells(cells, weights, len(first) * (DROPPED + 1)).reshape(
                    -1, DROPPED + 1
                )[:, :DROPPED]
                holds = [
                    span.holds(columns[span.column], bins[span.column].n_codes)
                    for span in request.spans
                ]
                packed = np.packbits(np.column_stack(holds), axis=1)
                block = _summed(len(request.spans), packed, counts)
                found[number] = _limited([before, block], most)
    return tuple(found)


def merge_distinct(parts: Sequence[Distinct], *, most: int) -> Distinct:
    """Merge the distinct rows of disjoint rows, request by request."""
    return tuple(_limited(of_request, most) for of_request in zip(*parts, strict=True))


def group(rows: DistinctRows, number: int) -> PackedTypes:
    """Return the distinct rows that occur in one of the two groups."""
    false, true = rows.counts[:, 2 * number], rows.counts[:, 2 * number + 1]
    occurs = np.flatnonzero(false + true)
    return PackedTypes(rows.n_attributes, rows.bits[occurs], (false + true)[occurs], true[occurs])


def _nothing(request: DistinctRequest) -> DistinctRows:
    n_bytes = -(-len(request.spans) // 8)
    return DistinctRows(
        len(request.spans), np.empty((0, n_bytes), np.uint8), np.empty((0, DROPPED), np.int64)
    )


def _limited(parts: Sequence[DistinctRows | None], most: int) -> DistinctRows | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or max(map(len, known)) > most:
        return None
    filled = [part for part in known if len(part)] or known[:1]
    if len(filled) == 1:
        return filled[0]
    bits, counts = (
        np.concatenate([getattr(part, name) for part in filled]) for name in ("bits", "counts")
    )
    merged = _summed(known[0].n_attributes, bits, counts)
    return merged if len(merged) <= most else None


def _summed(n_attributes: int, bits: Bytes, counts: Ints) -> DistinctRows:
    """Add up the counts of equal rows, and drop rows whose counts are all zero."""
    counted = np.flatnonzero(counts.any(axis=1))
    bits, counts = bits[counted], counts[counted]
    first, which = _sorted_out(bits)
    total = np.zeros((len(first), counts.shape[1]), dtype=np.int64)
    np.add.at(total, which, counts)
    return DistinctRows(n_attributes, bits[first], total)


def _sorted_out(rows: Bytes) -> tuple[Ints, Ints]:
    """Return where each distinct row of bytes first occurs, in increasing order, and which of them
    each row equals.
    """
    if not len(rows):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    # One item of bytes per row sorts several times as fast as a row of numbers.
    items = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()
    _, first, which = np.unique(items, return_index=True, return_inverse=True)
    return first, which


def _as_bytes(codes: Codes) -> Bytes:
    return np.ascontiguousarray(codes).view(np.uint8).reshape(len(codes), codes.dtype.itemsize)
