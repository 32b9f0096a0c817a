"""2 x 2 tables of every attribute with the target, in every fold, from one histogram per column.

A column's histogram over (code, label), with label = n_classes * arc + class, has a few hundred
cells and is filled in one pass. Summed over the arcs of a fold's W_train, over the span of an
attribute and over the classes of a target it gives the 2 x 2 table of that fold and target, so the
cost of a pass does not grow with the number of either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints, frozen, tally_cells
from dnfscale.core.bins import TWO_CLASSES, BinnedTable, Bins, Spans

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


def associate(
    table: BinnedTable,
    *,
    bins: Sequence[Bins],
    spans: Spans,
    members: Bools,
    folds: Sequence[int] | None = None,
    targets: Bools = TWO_CLASSES,
) -> tuple[Associations, ...]:
    """Return, for each target, the associations of every attribute over members[part, arc].

    targets[target, class] says for which classes a target is true. folds[part] is the fold whose
    spans cut the attributes of a part; by default there is one part for each fold, in order.
    """
    in_part = members.astype(np.int64)
    n_parts, n_arcs = members.shape
    n_classes = targets.shape[1]
    n_labels = n_classes * n_arcs
    totals = in_part @ tally_cells(table.labels, table.weights, n_labels).reshape(n_arcs, n_classes)
    holds = np.zeros((n_classes, n_parts, spans.first.shape[1]), dtype=np.int64)
    by_column = np.argsort(spans.column, kind="stable")
    starts = np.searchsorted(spans.column[by_column], np.arange(len(bins) + 1))
    parts = np.arange(n_parts)[:, None]
    fold_of = np.arange(n_parts) if folds is None else np.array(folds)
    for column, codes in table.columns.items():
        column_bins = bins[column]
        attributes = by_column[starts[column] : starts[column + 1]]
        if not attributes.size:
            continue
        cells = _histogram(codes, table, n_codes=column_bins.n_codes, n_labels=n_labels)
        # below[part, code, class]: rows of the part whose code is less than this one.
        per_part = np.tensordot(in_part, cells.reshape(-1, n_arcs, n_classes), axes=(1, 1))
        below = np.zeros((n_parts, column_bins.n_codes + 1, n_classes), dtype=np.int64)
        np.cumsum(per_part, axis=1, out=below[:, 1:])
        first, last = (ends[:, attributes][fold_of] for ends in (spans.first, spans.last))
        inside = below[parts, last + 1] - below[parts, first]
        holds[:, :, attributes] = np.moveaxis(inside, 2, 0)
    n, holds_at_all = totals.sum(axis=1), holds.sum(axis=0)
    return tuple(
        Associations(n, totals[:, classes].sum(axis=1), holds_at_all, holds[classes].sum(axis=0))
        for classes in targets
    )


def merge(parts: Sequence[tuple[Associations, ...]]) -> tuple[Associations, ...]:
    """Merge the associations of disjoint rows, target by target."""
    return tuple(_merge(of_target) for of_target in zip(*parts, strict=True))


def _merge(parts: Sequence[Associations]) -> Associations:
    return Associations(
        np.sum([part.n for part in parts], axis=0),
        np.sum([part.positive for part in parts], axis=0),
        np.sum([part.holds for part in parts], axis=0),
        np.sum([part.holds_positive for part in parts], axis=0),
    )


def _histogram(codes: Codes, table: BinnedTable, *, n_codes: int, n_labels: int) -> Ints:
    """Count the rows of every (code, label)."""
    n_cells = n_codes * n_labels
    dtype = np.uint16 if n_cells <= 1 << 16 else np.uint32
    cells = np.zeros(n_cells, dtype=np.int64)
    for start in range(0, len(codes), _BLOCK):
        place = np.multiply(codes[start : start + _BLOCK], n_labels, dtype=dtype)
        np.add(place, table.labels[start : start + _BLOCK], out=place)
        weights = None if table.weights is None else table.weights[start : start + _BLOCK]
        cells += tally_cells(place, weights, n_cells)
    return cells
