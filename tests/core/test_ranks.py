"""Values of ranks, beside sorting the rows of each union."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.ranks import NOWHERE, Ranked


@given(
    st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 7, 1023, 1024, 1025, 5000]), st.integers(1, 6)
)
def test_a_rank_is_found_where_sorting_finds_it(seed, n_values, n_arcs):
    random = np.random.default_rng(seed)
    values = random.integers(0, max(1, n_values // 2), n_values).astype(np.float32)
    arcs = random.integers(0, n_arcs, n_values).astype(np.uint8)
    counts = random.integers(1, 4, n_values)
    members = random.random((5, n_arcs)) < 0.6
    ranks = random.integers(-2, 3 * n_values + 2, (5, 4))
    ranked = Ranked(values, arcs, counts, n_arcs)
    places = ranked.places(members, ranks)
    for member, asked, found in zip(members, ranks, places, strict=True):
        rows = np.sort(np.repeat(values, np.where(member[arcs], counts, 0)))
        for rank, place in zip(asked, found, strict=True):
            if 0 <= rank < len(rows):
                assert ranked.values[place] == rows[rank]
            else:
                assert place == NOWHERE
