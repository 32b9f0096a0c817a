"""Rows with values that are unlike those a model was learned from, counted over a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dnfscale.apply.evaluate import Evaluated
from dnfscale.core import seen
from dnfscale.core.columns import Column
from dnfscale.core.parts import stored_column
from dnfscale.core.seen import Unfamiliar


@dataclass(frozen=True, slots=True)
class UnfamiliarRows:
    """How many rows have unfamiliar values, and in which columns."""

    rows: int = 0
    columns: Mapping[str, Unfamiliar] = field(default_factory=dict)


def unfamiliar_in(found: Evaluated, columns: Sequence[Column]) -> UnfamiliarRows:
    """Return the unfamiliar values of a block that was evaluated with these columns."""
    if found.strange is None:
        return UnfamiliarRows()
    return UnfamiliarRows(
        int(found.strange.sum()),
        {
            stored_column(column.name): own
            for column, own in zip(columns, found.unfamiliar, strict=True)
            if own
        },
    )


def merge_unfamiliar(parts: Sequence[UnfamiliarRows]) -> UnfamiliarRows:
    """Merge what disjoint rows have."""
    names = sorted({name for part in parts for name in part.columns})
    return UnfamiliarRows(
        sum(part.rows for part in parts),
        {
            name: seen.merge([part.columns[name] for part in parts if name in part.columns])
            for name in names
        },
    )
