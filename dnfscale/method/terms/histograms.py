"""Histograms of many groups of rows at once: positive and negative rows by code.

Columns of few codes are counted together: six Boolean columns are one of 64 cells, from whose
counts those of each column follow by addition. So a row costs one step for each column of numbers,
and for every six Boolean ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from dnfscale.core.arrays import Codes, Ints, narrowest, tally_cells
from dnfscale.method.terms.codes import ByColumn, CodeColumn

_MOST_JOINT_CELLS = 64
_MOST_KEYS = 1 << 16
"""How many cells are looked up at a time: as many as stay in the cache."""


@dataclass(frozen=True)
class Layout:
    """Where the codes of each column are counted, and where the bins of its values are found
    afterwards."""

    columns: tuple[CodeColumn, ...]

    @cached_property
    def joints(self) -> tuple[tuple[int, ...], ...]:
        """The columns that are counted together, those of few codes first."""
        joints: list[list[int]] = []
        cells = _MOST_JOINT_CELLS + 1
        for column in sorted(range(len(self.columns)), key=lambda c: (self.columns[c].n_codes, c)):
            cells *= self.columns[column].n_codes
            if cells > _MOST_JOINT_CELLS:
                joints.append([])
                cells = self.columns[column].n_codes
            joints[-1].append(column)
        return tuple(map(tuple, joints))

    @cached_property
    def starts(self) -> Ints:
        """The first bin of each column, and the end of all."""
        return np.concatenate([[0], np.cumsum([column.n_codes for column in self.columns])])

    @cached_property
    def joint_starts(self) -> Ints:
        """The first cell of each joint column, and the end of all."""
        sizes = [prod(self.columns[c].n_codes for c in joint) for joint in self.joints]
        return np.concatenate([[0], np.cumsum(sizes)])

    @cached_property
    def _marginal(self) -> tuple[Ints, Ints]:
        """The cells that add up to each bin, one bin after the other, and where each bin begins."""
        bins: list[Ints] = [np.empty(0, dtype=np.int64)] * int(self.starts[-1])
        for joint, start in zip(self.joints, self.joint_starts.tolist(), strict=False):
            sizes = [self.columns[c].n_codes for c in joint]
            cells = start + np.arange(prod(sizes)).reshape(sizes)
            for axis, c in enumerate(joint):
                for code in range(sizes[axis]):
                    bins[int(self.starts[c]) + code] = cells.take(code, axis=axis).ravel()
        begins = np.cumsum([0, *(len(cells) for cells in bins[:-1])])
        return np.concatenate(bins), begins

    def cells_of(self, codes: ByColumn, n_rows: int) -> Codes:
        """Return the cell of each row in each joint column, cells[row, joint]."""
        dtype = narrowest(int(self.joint_starts[-1]))
        cells = np.empty((n_rows, len(self.joints)), dtype=dtype)
        for place, joint in enumerate(self.joints):
            joined = np.zeros(n_rows, dtype=np.int64)
            for c in joint:
                joined *= self.columns[c].n_codes
                joined += codes[c]
            cells[:, place] = joined + self.joint_starts[place]
        return cells

    def bins_of(self, counts: Ints) -> Ints:
        """Return counts by bin, given counts by cell along the last axis."""
        if all(len(joint) == 1 for joint in self.joints) and self._is_sorted:
            return counts
        cells, begins = self._marginal
        return np.asarray(np.add.reduceat(counts[..., cells], begins, axis=-1))

    @cached_property
    def _is_sorted(self) -> bool:
        return self.joints == tuple((c,) for c in range(len(self.columns)))


class CountedRows:
    """Rows that are ready to be counted in groups: by their cells, their sign, and how much they
    weigh."""

    def __init__(self, layout: Layout, codes: ByColumn, gains: Ints) -> None:
        """Prepare some rows; gains[row] is what a «yes» gains: above 0 for a positive row, below 0
        for a negative."""
        self._layout = layout
        self._cells = layout.cells_of(codes, len(gains))
        self._signs = (gains < 0).astype(np.int64)
        sizes = np.abs(gains)
        self._weights = None if (sizes == 1).all() else sizes
        # Taking memory anew for each part costs more than the counting.
        n_joints = self._cells.shape[1]
        self._step = max(1, _MOST_KEYS // n_joints)
        self._taken = np.empty((self._step, n_joints), dtype=self._cells.dtype)
        self._keys = np.empty((self._step, n_joints), dtype=np.int64)

    def histograms(self, groups: Sequence[Ints]) -> Ints:
        """Return counts[group, sign, bin] of groups of rows, positives first; a row may be in
        several."""
        n_cells = int(self._layout.joint_starts[-1])
        sizes = [len(group) for group in groups]
        if 0 < sum(sizes) <= self._step:
            numbers = np.repeat(np.arange(len(groups)), sizes)
            found = self._count(np.concatenate(groups), numbers, len(groups))
            return self._layout.bins_of(found.reshape(len(groups), 2, n_cells))
        counts = np.zeros((len(groups), 2 * n_cells), dtype=np.int64)
        rows = np.concatenate([np.empty(0, dtype=np.int64), *groups])
        ends = np.cumsum(sizes, dtype=np.int64)
        for start in range(0, len(rows), self._step):
            part = rows[start : start + self._step]
            stop = start + len(part)
            first, last = np.searchsorted(ends, [start, stop - 1], side="right").tolist()
            own = np.searchsorted(ends[first : last + 1], np.arange(start, stop), side="right")
            found = self._count(part, own, last + 1 - first)
            counts[first : last + 1] += found.reshape(-1, 2 * n_cells)
        return self._layout.bins_of(counts.reshape(len(groups), 2, n_cells))

    def _count(self, rows: Ints, groups: Ints, n_groups: int) -> Ints:
        n_cells = int(self._layout.joint_starts[-1])
        taken, keys = self._taken[: len(rows)], self._keys[: len(rows)]
        np.take(self._cells, rows, axis=0, out=taken, mode="clip")
        np.add(taken, ((2 * groups + self._signs[rows]) * n_cells)[:, None], out=keys)
        weights = None if self._weights is None else np.repeat(self._weights[rows], keys.shape[1])
        return tally_cells(keys.ravel(), weights, n_groups * 2 * n_cells)
