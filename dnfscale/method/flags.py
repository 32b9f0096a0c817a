"""Flags: attributes that hold in a row or not, counted in all cells of a table at once.

Flags that hold in many rows are counted by one product of a sparse matrix (which rows lie in which
cell) with the rows that they hold in; flags that hold in few rows, as most categories do, by a list
of those rows. Counts are whole numbers, exact in floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dnfscale.core.arrays import AnyInts, Bools, Ints, narrowest, tally_cells

_LISTED = 8
"""A flag is listed if it holds in at most one row in this many, because that is then faster."""
_ALL_LISTED = 1 << 15
"""All flags are listed if they hold in fewer rows than this in sum: making a matrix takes 0.1 ms.
"""
_SINGLE = 1 << 24
"""Below this, sums of whole numbers are exact in single precision."""


@dataclass(frozen=True, slots=True, eq=False)
class Flags:
    """Rows by the flags that hold in them."""

    holds: Bools
    """holds[flag, row]."""
    many: Ints
    """The flags that hold in many rows."""
    by_row: npt.NDArray[np.floating[Any]]
    """by_row[row, place in many]: 0 or 1, in single precision where that is enough for sums."""
    few: Ints
    """The other flags."""
    listed: Ints
    """The rows in which they hold, flag by flag."""
    place: Ints
    """The place in few of each listed row's flag."""

    @classmethod
    def of(cls, holds: Bools, weights: Ints | None = None) -> Flags:
        """Return flags, given holds[flag, row] and what the rows will weigh."""
        n_held = np.count_nonzero(holds, axis=1)
        in_few = (_LISTED * n_held <= holds.shape[1]) | (n_held.sum() < _ALL_LISTED)
        many, few = np.flatnonzero(~in_few), np.flatnonzero(in_few)
        total = holds.shape[1] if weights is None else int(weights.sum())
        precision: type[np.floating[Any]] = np.float32 if total < _SINGLE else np.float64
        by_row = np.ascontiguousarray(holds[many].T, dtype=precision)
        place, listed = np.nonzero(holds[few])
        return cls(holds, many, by_row, few, listed, place)

    def count(
        self, cells: Ints, n_cells: int, weights: Ints | None, dtype: np.dtype[Any]
    ) -> AnyInts:
        """Return counted[flag, cell]: the rows of each cell in which each flag holds, or what they
        weigh.
        """
        counted = np.empty((len(self.holds), n_cells), dtype=dtype)
        if len(self.few):
            own = None if weights is None else weights[self.listed]
            tallied = tally_cells(
                self.place * n_cells + cells[self.listed], own, len(self.few) * n_cells
            )
            counted[self.few] = tallied.reshape(len(self.few), n_cells)
        if len(self.many):
            counted[self.many] = self._product(cells, n_cells, weights)
        return counted

    def _product(
        self, cells: Ints, n_cells: int, weights: Ints | None
    ) -> npt.NDArray[np.floating[Any]]:
        # SciPy's sparse matrices take 0.1 s to import, and only some rankings need them.
        from scipy.sparse import csr_array

        n_rows = len(cells)
        # NumPy sorts narrow integers by radix, wide ones by comparison, which is slower.
        order = np.argsort(cells.astype(narrowest(n_cells - 1)), kind="stable")
        starts = np.searchsorted(cells[order], np.arange(n_cells + 1))
        weigh = (np.ones(n_rows) if weights is None else weights[order]).astype(self.by_row.dtype)
        in_cells = csr_array((weigh, order, starts), shape=(n_cells, n_rows))
        return np.asarray(in_cells @ self.by_row).T
