"""2 x 2 tables of every attribute with the target, in every fold, from one histogram a column.

A column's histogram over (code, label), with label = 2 * arc + target, has a few hundred cells and is filled in one
pass. Summed over the arcs of a fold's W_train and over the span of an attribute it gives that fold's 2 x 2 table, so
the cost of a pass does not grow with the number of folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints, frozen
from dnfscale.core.bins import BinnedTable, Bins, Spans

_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Associations:
    """How often attributes hold, and how often together with a true target, per fold."""

    n: Ints
    """n[fold]: rows."""
    positive: Ints
    """positive[fold]: rows whose target is true."""
    holds: Ints
    """holds[fold, attribute]: rows where the attribute is true."""
    holds_positive: Ints
    """holds_positive[fold, attribute]: rows where both are true."""

    def __post_init__(self) -> None:
        for array in (self.n, self.positive, self.holds, self.holds_positive):
            frozen(array)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Associations) and all(
            np.array_equal(mine, theirs)
            for mine, theirs in (
                (self.n, other.n),
                (self.positive, other.positive),
                (self.holds, other.holds),
                (self.holds_positive, other.holds_positive),
            )
        )


def associate(table: BinnedTable, *, bins: Sequence[Bins], spans: Spans, members: Bools) -> Associations:
    """Associate every attribute with the target over members[fold, arc]."""
    weights = members.astype(np.int64)
    n_folds, n_arcs = members.shape
    totals = weights @ np.bincount(table.labels, minlength=2 * n_arcs).reshape(n_arcs, 2)
    holds = np.zeros((2, *spans.first.shape), dtype=np.int64)
    by_column = np.argsort(spans.column, kind="stable")
    starts = np.searchsorted(spans.column[by_column], np.arange(len(bins) + 1))
    folds = np.arange(n_folds)[:, None]
    for column, (codes, column_bins) in enumerate(zip(table.columns, bins, strict=True)):
        attributes = by_column[starts[column] : starts[column + 1]]
        if not attributes.size:
            continue
        cells = _histogram(codes, table.labels, n_codes=column_bins.n_codes, n_labels=2 * n_arcs)
        # below[fold, code, target]: rows of the fold whose code is less than this one.
        per_fold = np.tensordot(weights, cells.reshape(-1, n_arcs, 2), axes=(1, 1))
        below = np.zeros((n_folds, column_bins.n_codes + 1, 2), dtype=np.int64)
        np.cumsum(per_fold, axis=1, out=below[:, 1:])
        inside = below[folds, spans.last[:, attributes] + 1] - below[folds, spans.first[:, attributes]]
        holds[:, :, attributes] = np.moveaxis(inside, 2, 0)
    return Associations(totals.sum(axis=1), totals[:, 1], holds.sum(axis=0), holds[1])


def merge(parts: Sequence[Associations]) -> Associations:
    """Merge the associations of disjoint rows."""
    return Associations(
        np.sum([part.n for part in parts], axis=0),
        np.sum([part.positive for part in parts], axis=0),
        np.sum([part.holds for part in parts], axis=0),
        np.sum([part.holds_positive for part in parts], axis=0),
    )


def _histogram(codes: Codes, labels: Codes, *, n_codes: int, n_labels: int) -> Ints:
    """Count the rows of every (code, label)."""
    n_cells = n_codes * n_labels
    dtype = np.uint16 if n_cells <= 1 << 16 else np.uint32
    cells = np.zeros(n_cells, dtype=np.int64)
    for start in range(0, len(codes), _BLOCK):
        place = np.multiply(codes[start : start + _BLOCK], n_labels, dtype=dtype)
        np.add(place, labels[start : start + _BLOCK], out=place)
        cells += np.bincount(place, minlength=n_cells)
    return cells
