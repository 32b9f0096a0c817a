"""The types that the rows of a dataset have, found in one scan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.apply.evaluate import columns_of, types_of
from dnfscale.core.arrays import Ints, frozen
from dnfscale.core.columns import Reading, Rows
from dnfscale.core.vocabulary import Vocabulary


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

    tau: Vocabulary

    @property
    def reading(self) -> Reading:
        return Reading(columns_of(self.tau), None, keep_missing=True)

    def __call__(self, rows: Rows) -> FoundTypes:
        reading = self.reading
        blocks = (types_of(block, reading.columns, self.tau) for block in rows.blocks(reading))
        return merge_found([FoundTypes(*np.unique(codes, return_counts=True)) for codes in blocks])


def merge_found(parts: Sequence[FoundTypes]) -> FoundTypes:
    """Merge the types of disjoint rows."""
    none = np.empty(0, dtype=np.int64)
    codes, places = np.unique(
        np.concatenate([none, *(part.codes for part in parts)]), return_inverse=True
    )
    rows = np.zeros(len(codes), dtype=np.int64)
    np.add.at(rows, places, np.concatenate([none, *(part.rows for part in parts)]))
    return FoundTypes(codes, rows)
