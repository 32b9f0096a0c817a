"""The values of given ranks among the rows of some arcs, for many unions of arcs at once.

Values are sorted once. The counts of every arc in each *run* of about a thousand values tell which
run a rank falls into, and only that run is searched, so the cost hardly grows with the number of
unions.
"""

from __future__ import annotations

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints, Values, tally_cells

_RUN = 1024
"""Consecutive values that are counted together."""

NOWHERE = -1


class Ranked:
    """Values in increasing order; counts[i] rows of arc arcs[i] have the value values[i]."""

    def __init__(self, values: Values, arcs: Codes, counts: Ints, n_arcs: int) -> None:
        order = np.argsort(values, kind="stable")
        self.values: Values = values[order]
        self._arcs, self._counts = arcs[order], counts[order]
        n_runs = -(-len(order) // _RUN)
        cells = np.arange(len(order)) // _RUN * n_arcs + self._arcs
        self._runs = tally_cells(cells, self._counts, n_runs * n_arcs).reshape(n_runs, n_arcs)

    def places(self, members: Bools, ranks: Ints) -> Ints:
        """Return, for each rank in each union, the place of the value that has that many of the
        union's rows before it.

        members[union, arc] says which arcs a union consists of, and ranks[union, i] are the ranks
        to find; NOWHERE marks a rank that falls outside these values.
        """
        if not len(self.values):
            return np.full(ranks.shape, NOWHERE)
        ends = np.cumsum(members.astype(np.int64) @ self._runs.T, axis=1)
        known = (ranks >= 0) & (ranks < ends[:, -1:])
        asked = np.where(known, ranks, 0)
        run = np.where(known, (ends[:, None, :] <= asked[:, :, None]).sum(axis=2), 0)
        before = np.where(run > 0, np.take_along_axis(ends, np.maximum(run - 1, 0), axis=1), 0)
        rows = run[:, :, None] * _RUN + np.arange(_RUN)
        inside = rows < len(self.values)
        rows[~inside] = 0
        member = members[np.arange(len(members))[:, None, None], self._arcs[rows]]
        upto = np.cumsum(np.where(member & inside, self._counts[rows], 0), axis=2)
        place = run * _RUN + (upto <= (asked - before)[:, :, None]).sum(axis=2)
        return np.where(known, place, NOWHERE)
