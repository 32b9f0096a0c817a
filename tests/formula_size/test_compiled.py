"""Compiled parts: popcounts and weights are exact, and what cannot be kept on disk is compiled all
the same.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba", reason="the formula-size method is an extra")

from dnfscale.formula_size.compiled import entry, weigh

WORDS = st.lists(st.tuples(*[st.integers(0, 2**64 - 1)] * 2, st.integers(0, 2**40)), max_size=9)


@given(WORDS, st.data())
def test_shared_bits_are_weighed_word_by_word(words, choice):
    low, middle, high = sorted(choice.draw(st.integers(0, len(words))) for _ in range(3))
    a, b = (np.array([word[side] for word in words], dtype=np.uint64) for side in (0, 1))
    weights = np.array([word[2] for word in words], dtype=np.int64)
    expected = sum(
        (x & y).bit_count() * (weight if place >= middle else 1)
        for place, (x, y, weight) in enumerate(words)
        if low <= place < high
    )
    assert weigh(a, b, low, middle, high, weights) == expected


def test_a_kernel_that_cannot_be_kept_on_disk_is_compiled_in_memory():
    namespace: dict[str, object] = {}
    exec("def add(x, y):\n    return x + y\n", namespace)
    assert entry(namespace["add"])(2, 3) == 5
