"""A sample of binned rows, drawn by row number: the same rows wherever they lie, and however they
are partitioned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints
from dnfscale.core.bins import BinnedTable
from dnfscale.core.splits import Permutation


@dataclass(frozen=True, slots=True, eq=False)
class SampledRows:
    """Some binned rows and their numbers."""

    numbers: Ints
    columns: Mapping[int, Codes]
    labels: Codes
    weights: Ints | None


def is_drawn(first_row: int, n_rows: int, *, of: int, drawn: int, seed: int) -> Bools:
    """Return which of the rows first_row, first_row + 1, ... belong to a sample of `drawn` out of
    `of` rows.
    """
    if drawn >= of:
        return np.ones(n_rows, dtype=np.bool_)
    # A key of its own, because folds and inner splits are drawn with the seed itself.
    places = Permutation(of, -1 - seed)(np.arange(first_row, first_row + n_rows, dtype=np.uint64))
    return np.asarray(places < drawn)


def fewer(rows: SampledRows, *, of: int, drawn: int, seed: int) -> SampledRows:
    """Return a sample of `drawn` out of `of` rows, given a larger one that was drawn alike."""
    if drawn >= len(rows.numbers):
        return rows
    places = Permutation(of, -1 - seed)(rows.numbers.astype(np.uint64))
    own = np.flatnonzero(places < drawn)
    return SampledRows(
        rows.numbers[own],
        {column: codes[own] for column, codes in rows.columns.items()},
        rows.labels[own],
        None if rows.weights is None else rows.weights[own],
    )


def numbered(table: BinnedTable, numbers: Ints) -> SampledRows:
    """Return binned rows as a sample, given their numbers."""
    return SampledRows(numbers, table.columns, table.labels, table.weights)


def merge(parts: Sequence[SampledRows]) -> SampledRows:
    """Merge samples of disjoint rows, in the order of their numbers."""
    some = [part for part in parts if len(part.numbers)]
    if not some:
        return parts[0]
    numbers = np.concatenate([part.numbers for part in some])
    order = np.argsort(numbers, kind="stable")
    weights = [part.weights for part in some if part.weights is not None]
    return SampledRows(
        numbers[order],
        {i: np.concatenate([part.columns[i] for part in some])[order] for i in some[0].columns},
        np.concatenate([part.labels for part in some])[order],
        np.concatenate(weights)[order] if weights else None,
    )
