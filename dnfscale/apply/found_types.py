"""The types that the rows of a dataset have, found in one scan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.apply.evaluate import columns_of, evaluate, seen_in
from dnfscale.apply.unfamiliar import UnfamiliarRows, merge_unfamiliar, unfamiliar_in
from dnfscale.core.arrays import Ints, frozen
from dnfscale.core.columns import Reading, Rows
from dnfscale.core.model import Model


@dataclass(frozen=True, slots=True, eq=False)
class FoundTypes:
    """How many rows have each type that occurs, in increasing order of code."""

    codes: Ints
    rows: Ints
    unfamiliar: UnfamiliarRows

    def __post_init__(self) -> None:
        frozen(self.codes)
        frozen(self.rows)


@dataclass(frozen=True, slots=True)
class FindTypes:
    """The scan: the types of a partition's rows, including rows with missing values."""

    model: Model

    @property
    def reading(self) -> Reading:
        return Reading(columns_of(self.model.tau), None, keep_missing=True)

    def __call__(self, rows: Rows) -> FoundTypes:
        reading = self.reading
        seen = seen_in([self.model], reading.columns)
        parts = []
        for block in rows.blocks(reading):
            found = evaluate(block, reading.columns, [self.model.tau], seen)
            [planes] = found.planes
            types = self.model.types_in(planes).astype(np.int64)
            unfamiliar = unfamiliar_in(found, reading.columns)
            parts.append(FoundTypes(*np.unique(types, return_counts=True), unfamiliar))
        return merge_found(parts)


def merge_found(parts: Sequence[FoundTypes]) -> FoundTypes:
    """Merge the types of disjoint rows."""
    none = np.empty(0, dtype=np.int64)
    codes, places = np.unique(
        np.concatenate([none, *(part.codes for part in parts)]), return_inverse=True
    )
    rows = np.zeros(len(codes), dtype=np.int64)
    np.add.at(rows, places, np.concatenate([none, *(part.rows for part in parts)]))
    return FoundTypes(codes, rows, merge_unfamiliar([part.unfamiliar for part in parts]))
