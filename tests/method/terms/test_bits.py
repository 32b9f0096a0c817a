"""Sets of rows as bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dnfscale.method.terms.bits import pack, rows_of


@given(hnp.arrays(np.bool_, st.integers(0, 200)))
def test_rows_come_back_from_their_bits(holds):
    words = pack(holds)
    assert len(words) == -(-len(holds) // 64)
    assert np.array_equal(rows_of(words), np.flatnonzero(holds))
