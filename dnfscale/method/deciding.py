"""The fewest truth values of a row that settle a formula's answer, whatever the others are."""

from __future__ import annotations

import numpy as np

from dnfscale.core.formula import Dnf


def deciding_literals(dnf: Dnf, ell: int, code: int) -> tuple[tuple[int, bool], ...]:
    """Return the fewest literals of a type that settle its answer; of several such sets the best
    ranked.

    A set of attributes is free if flipping any subset of it leaves the answer unchanged: an «and»
    over all subsets, computed attribute by attribute. The attributes outside a largest free set
    settle the answer.
    """
    sets = np.arange(1 << ell)
    accepted = dnf.accepts(sets)
    free = accepted[sets ^ code] == accepted[code]
    for i in range(ell):
        halves = free.reshape(-1, 2, 1 << i)
        halves[:, 1] &= halves[:, 0]
    n_free = np.zeros(1 << ell, dtype=np.int64)
    for i in range(ell):
        n_free += sets >> i & 1
    most = np.flatnonzero(free & (n_free == n_free[free].max()))
    kept = min(tuple(i for i in range(ell) if not settled >> i & 1) for settled in most.tolist())
    return tuple((i, bool(code >> i & 1)) for i in kept)
