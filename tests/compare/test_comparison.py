"""The corrected resampled t-interval, against its definition and against simulation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dnfscale.compare.comparison import compare


def test_the_interval_is_the_corrected_resampled_t_interval() -> None:
    first = [Fraction(80, 100), Fraction(85, 100), Fraction(90, 100), Fraction(70, 100)]
    second = [Fraction(75, 100), Fraction(85, 100), Fraction(80, 100), Fraction(72, 100)]
    differences = np.array([float(a - b) for a, b in zip(first, second, strict=True)])
    half = stats.t.ppf(0.975, 3) * np.sqrt((1 / 4 + 1 / 3) * differences.var(ddof=1))
    found = compare("ideal", "xgboost", first, second, test_share=1 / 3)
    assert found is not None
    assert found.difference_mean == pytest.approx(differences.mean())
    assert (found.low, found.high) == pytest.approx(
        (differences.mean() - half, differences.mean() + half)
    )
    assert (found.level, found.folds) == (0.95, 4)


def test_equal_accuracies_have_an_interval_of_nothing_around_zero() -> None:
    same = [Fraction(1, 2)] * 10
    found = compare("ideal", "xgboost", same, same, test_share=1 / 9)
    assert found is not None
    assert (found.difference_mean, found.low, found.high) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("folds", [0, 1])
def test_fewer_than_two_folds_cannot_be_compared(folds: int) -> None:
    assert (
        compare(
            "ideal", "xgboost", [Fraction(1, 2)] * folds, [Fraction(1, 2)] * folds, test_share=0.1
        )
        is None
    )


def test_the_interval_of_two_equal_methods_holds_zero_at_least_as_often_as_it_says() -> None:
    random = np.random.default_rng(0)
    held = 0
    for _ in range(1000):
        first = [Fraction(int(right), 50) for right in random.binomial(50, 0.8, 10)]
        second = [Fraction(int(right), 50) for right in random.binomial(50, 0.8, 10)]
        found = compare("ideal", "xgboost", first, second, test_share=1 / 9)
        assert found is not None
        held += found.low <= 0 <= found.high
    assert held >= 950
