"""Drift against SciPy's test, and against what the words mean."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, chisquare

from dnfscale.method.drift import Compared, grouped, settled, shift_of


def compared(learned, now, **how) -> Compared:
    return Compared(np.atleast_2d(learned), np.atleast_2d(now), **how)


counts = st.lists(st.integers(0, 500), min_size=2, max_size=6)


@given(counts, st.data())
@settings(max_examples=50)
def test_the_statistic_and_its_chance_are_those_of_scipy(learned, data):
    now = data.draw(st.lists(st.integers(0, 500), min_size=len(learned), max_size=len(learned)))
    shift = shift_of(compared(learned, now))
    if not sum(learned) or not sum(now):
        assert shift is None
        return
    table = np.array([learned, now])
    table = table[:, table.any(axis=0)]
    judged = chi2_contingency(table, correction=False)
    assert shift.chi_squared == pytest.approx(judged.statistic, abs=1e-9)
    assert shift.p == pytest.approx(judged.pvalue, abs=1e-9)


def test_equal_shares_are_no_drift_and_others_are_measured():
    same = shift_of(compared([3000, 7000], [300, 700]))
    assert same.psi == pytest.approx(0, abs=1e-6)
    assert same.effect == pytest.approx(0, abs=1e-3)
    other = shift_of(compared([5000, 5000], [6000, 4000]))
    assert other.psi == pytest.approx(0.1 * np.log(0.6 / 0.4), abs=1e-4)
    assert other.effect == pytest.approx(0.2, abs=1e-4)
    told = settled([same, None, other])
    assert [shift and shift.drifted for shift in told] == [False, None, True]


def test_what_only_follows_its_class_is_no_drift_of_its_own():
    learned = np.array([[800, 200], [100, 900]])
    now = np.array([[80, 20], [1000, 9000]])
    by_class = Compared(learned, now)
    together = Compared(learned.sum(axis=0)[None], now.sum(axis=0)[None])
    [follows] = settled([shift_of(together, by_class)])
    assert follows.effect > 0.5
    assert follows.within_classes == pytest.approx(0, abs=0.01)
    assert not follows.drifted
    [alone] = settled([shift_of(together)])
    assert alone.drifted


def test_a_difference_that_chance_makes_is_no_drift():
    [shift] = settled([shift_of(compared([5000, 5000], [6, 4]))])
    assert shift.effect > 0.1
    assert not shift.drifted


@given(counts, st.data())
@settings(max_examples=50)
def test_weights_are_shares_whatever_their_unit(learned, data):
    now = data.draw(st.lists(st.integers(0, 500), min_size=len(learned), max_size=len(learned)))
    shift = shift_of(compared(learned, now, weighted=True))
    if not sum(learned) or not sum(now):
        assert shift is None
        return
    n = sum(now)
    shares = (np.array(learned) * n / sum(learned) + 0.5) / (n + 0.5 * len(now))
    judged = chisquare(now, n * shares)
    assert shift.chi_squared == pytest.approx(judged.statistic, abs=1e-9)
    assert shift.p == pytest.approx(judged.pvalue, abs=1e-9)
    scaled = shift_of(compared([own << 40 for own in learned], now, weighted=True))
    assert scaled.psi == pytest.approx(shift.psi, abs=1e-9)


def test_what_is_nowhere_is_no_drift_beside_weights_either():
    [shift] = settled([shift_of(compared([1 << 50, 0], [20, 0], weighted=True))])
    assert (shift.psi, shift.effect, shift.drifted) == (pytest.approx(0), pytest.approx(0), False)


def test_rare_cells_are_compared_together():
    learned = np.array([5000, 4000, *[10] * 100])
    now = np.arange(102)
    found = grouped(compared(learned, now))
    assert found.learned.tolist() == [[5000, 4000, 1000]]
    assert found.now.tolist() == [[0, 1, now[2:].sum()]]
