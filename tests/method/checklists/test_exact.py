"""The best checklist over a counted table is the best of all, whatever the types gain."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.method.checklists.exact import best_checklists


@st.composite
def gains(draw: st.DrawFn, most_ell: int = 4) -> np.ndarray:
    """What a «yes» gains for each type, in rows or in weights."""
    ell = draw(st.integers(1, most_ell))
    largest = draw(st.sampled_from([1, 3, 1_000_000]))
    values = st.lists(st.integers(-largest, largest), min_size=1 << ell, max_size=1 << ell)
    return np.array(draw(values), dtype=np.int64)


def plain_gain(gains: np.ndarray, asked: dict[int, bool], at_least: int) -> int:
    """What a checklist gains, type by type."""
    signs = [
        sum(bool(type_ >> i & 1) == holds for i, holds in asked.items())
        for type_ in range(len(gains))
    ]
    return sum(int(gain) for gain, n in zip(gains, signs, strict=True) if n >= at_least)


def best_by_hand(gains: np.ndarray, length: int) -> int:
    """The best gain of all subsets, signs and thresholds."""
    ell = len(gains).bit_length() - 1
    return max(
        plain_gain(gains, dict(zip(own, signs, strict=True)), at_least)
        for own in combinations(range(ell), length)
        for signs in product((True, False), repeat=length)
        for at_least in range(1, length + 1)
    )


def asked(found) -> dict[int, bool]:
    return {i: bool(found.value >> i & 1) for i in range(20) if found.care >> i & 1}


@given(gains())
def test_the_best_checklist_of_every_length_is_the_best_of_all(gains):
    found = {one.care.bit_count(): one for one in best_checklists(gains, longest=9)}
    most = max(0, int(gains.sum()))
    for length in range(1, len(gains).bit_length()):
        best = best_by_hand(gains, length)
        assert (length in found) == (best > most)
        if best > most:
            most = found[length].gain
            assert most == best == plain_gain(gains, asked(found[length]), found[length].at_least)


@pytest.mark.parametrize("ell", [5, 6])
def test_it_is_the_best_of_all_over_five_and_six_attributes(ell):
    gains = np.random.default_rng(ell).integers(-9, 10, 1 << ell)
    for one in best_checklists(gains, longest=9):
        length = one.care.bit_count()
        assert one.gain == plain_gain(gains, asked(one), one.at_least)
        if length != 4:  # The others are few enough.
            assert one.gain == best_by_hand(gains, length)


def test_no_checklist_is_longer_than_allowed():
    gains = np.random.default_rng(0).integers(-9, 10, 32)
    assert [one.care.bit_count() for one in best_checklists(gains, longest=2)] == [1, 2]


def test_a_planted_checklist_is_found():
    types = np.arange(64)
    signs = (types >> 1 & 1) + (types >> 3 & 1) + (1 - (types >> 4 & 1))
    last = best_checklists(np.where(signs >= 2, 1, -1), longest=9)[-1]
    assert (asked(last), last.at_least) == ({1: True, 3: True, 4: False}, 2)
