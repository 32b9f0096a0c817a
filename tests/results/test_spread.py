from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.results import spread

SHARES = st.lists(st.fractions(0, 1, max_denominator=10_000), min_size=1, max_size=30)


@given(SHARES)
def test_the_mean_is_exact_until_it_is_rounded_once(values):
    assert spread.mean(values) == float(Fraction(sum(values), len(values)))


@given(SHARES)
def test_the_deviation_is_that_of_the_population(values):
    assert spread.deviation(values) == pytest.approx(
        np.std([float(value) for value in values]), abs=1e-9
    )


@given(SHARES)
def test_the_order_of_folds_changes_nothing(values):
    assert spread.mean(values) == spread.mean(values[::-1])
    assert spread.deviation(values) == spread.deviation(values[::-1])


def test_equal_values_deviate_by_exactly_nothing():
    assert spread.deviation([Fraction(1, 3)] * 10) == 0.0


def test_no_folds_have_neither_mean_nor_deviation():
    assert spread.mean([]) is None
    assert spread.deviation([]) is None
