"""Arithmetic of counts."""

from __future__ import annotations

import numpy as np
import pytest

from dnfscale.core.arrays import scaled


@pytest.mark.parametrize("counts", [[], [0], [3, 0, 5], [2**50, 1, 2**52], [2**62, 2**61 - 1]])
@pytest.mark.parametrize("factor", [0, 1, 7, 2**10, 2**50, 2**70])
def test_counts_times_a_whole_number_are_exact_and_so_is_their_sum(counts, factor):
    found = scaled(np.array(counts, dtype=np.int64), factor)
    assert found.tolist() == [factor * count for count in counts]
    assert int(found.sum()) == factor * sum(counts)
