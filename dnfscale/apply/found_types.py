"""The types that the rows of a dataset have, found in one scan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.apply.evaluate import columns_of, evaluate
from dnfscale.core.arrays import Ints, frozen
from dnfscale.core.columns import Reading, Rows
from dnfscale.core.model import Model


@dataclass(frozen=True, slots=True, eq=False)
class FoundTypes:
    """How many rows have each type that occurs, in increasing order of code."""

    codes: Ints
    rows: Ints

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
        parts = []
        for block in rows.blocks(reading):
            [planes] = evaluate(block, reading.columns, [self.model.tau]).planes
            types = self.model.types_in(planes).astype(np.int64)
            parts.append(FoundTypes(*np.unique(types, return_counts=True)))
        return merge_found(parts)


def merge_found(parts: Sequence[FoundTypes]) -> FoundTypes:
    """Merge the types of disjoint rows."""
    none = np.empty(0, dtype=np.int64)
    codes, places = np.unique(
        np.concatenate([none, *(part.codes for part in parts)]), return_inverse=True
    )
    rows = np.zeros(len(codes), dtype=np.int64)
    np.add.at(rows, places, np.concatenate([none, *(part.rows for part in parts)]))
    return FoundTypes(codes, rows)
