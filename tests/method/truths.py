"""What a formula has to say, made at random, and whether it does."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dnfscale.core.formula import Dnf
from dnfscale.method.minimize.minimal import Truth


@st.composite
def truths(draw: st.DrawFn, *, max_ell: int, with_free: bool) -> Truth:
    """Types to accept, and some to answer at will, over a few attributes."""
    ell = draw(st.integers(1, max_ell))
    kinds = st.sampled_from([0, 1, 2] if with_free else [0, 1])
    kind = draw(st.lists(kinds, min_size=1 << ell, max_size=1 << ell))
    return Truth(
        ell,
        tuple(t for t, k in enumerate(kind) if k == 1),
        tuple(t for t, k in enumerate(kind) if k == 2),
    )


def random_truth(ell: int, n_required: int, n_free: int = 0, seed: int = 0) -> Truth:
    """So many types to accept, and to answer at will."""
    order = np.random.default_rng(seed).permutation(1 << ell).tolist()
    return Truth(
        ell,
        tuple(sorted(order[:n_required])),
        tuple(sorted(order[n_required : n_required + n_free])),
    )


def assert_agrees(dnf: Dnf, truth: Truth) -> None:
    """The formula accepts every required type, and besides these none but free ones."""
    accepted = set(np.flatnonzero(dnf.accepts(np.arange(1 << truth.ell))).tolist())
    assert accepted >= set(truth.required)
    assert accepted <= {*truth.required, *truth.free}
