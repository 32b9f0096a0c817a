"""Sample sizes: the paper's theorem and corollary and the finite class, forwards, backwards, and by
simulation.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.arrays import Bools, Floats
from dnfscale.method.bounds import (
    class_error,
    class_rows,
    corollary_error,
    corollary_rows,
    least_error,
    least_rows,
    separation,
    separation_rows,
)

ells = st.integers(0, 24)
deltas = st.floats(1e-6, 0.5)
epsilons = st.floats(1e-3, 1.0)

PAIRS = [
    (separation_rows, separation),
    (corollary_rows, corollary_error),
    (class_rows, class_error),
    (least_rows, least_error),
]
"""Each bound in its two directions."""


def test_the_papers_example_has_these_sizes():
    # |tau| = 3, delta = 0.01, epsilon = 0.05.
    assert separation_rows(0.05, 3, 0.01) == 5903
    assert corollary_rows(0.05, 3, 0.01) == 377_742
    assert class_rows(0.05, 3, 0.01) == least_rows(0.05, 3, 0.01) == 8675


def test_the_papers_text_divides_by_epsilon_where_its_corollary_divides_by_epsilon_squared():
    assert math.floor(2 ** (2 * 3 + 1) * math.log(2 ** (3 + 1) / 0.01) / 0.05) == 18_887
    assert math.ceil(2 ** (2 * 3 + 1) * math.log(2 ** (3 + 1) / 0.01) / 0.05**2) == corollary_rows(
        0.05, 3, 0.01
    )


@pytest.mark.parametrize(
    ("rows", "formula"),
    [
        (separation_rows, lambda types, delta: 2 * math.log(2 * types / delta)),
        (corollary_rows, lambda types, delta: 2 * types**2 * math.log(2 * types / delta)),
        (class_rows, lambda types, delta: 2 * (math.log(2) * (types + 1) + math.log(1 / delta))),
    ],
)
@given(epsilons, ells, deltas)
def test_a_sample_size_is_the_least_whole_number_that_the_bound_allows(
    rows, formula, epsilon, ell, delta
):
    bound = formula(2**ell, delta) / epsilon**2
    assert bound * (1 - 1e-12) <= rows(epsilon, ell, delta) < bound * (1 + 1e-12) + 1


@pytest.mark.parametrize(("rows", "error"), PAIRS)
@given(epsilons, ells, deltas)
def test_the_two_directions_of_a_bound_are_inverse(rows, error, epsilon, ell, delta):
    n = rows(epsilon, ell, delta)
    assert error(n, ell, delta) <= epsilon * (1 + 1e-9)
    assert error(n - 1, ell, delta) > epsilon * (1 - 1e-9)


@pytest.mark.parametrize(("rows", "error"), PAIRS)
@given(epsilons, ells, deltas, st.integers(1, 10**9))
def test_more_is_promised_by_more_rows_and_less_for_more_attributes_or_more_certainty(
    rows, error, epsilon, ell, delta, n_rows
):
    assert error(n_rows + 1, ell, delta) < error(n_rows, ell, delta) < error(n_rows, ell + 1, delta)
    assert error(n_rows, ell, delta) < error(n_rows, ell, delta / 2)
    assert rows(epsilon / 2, ell, delta) > rows(epsilon, ell, delta)
    assert (
        rows(epsilon, ell, delta)
        <= rows(epsilon, ell, delta / 2)
        <= rows(epsilon, ell + 1, delta / 2)
    )


@given(epsilons, st.integers(1, 60), st.floats(1e-6, 0.999), st.integers(1, 10**9))
def test_the_finite_class_asks_for_fewer_rows_than_the_corollary_as_soon_as_there_is_an_attribute(
    epsilon, ell, delta, n_rows
):
    assert (
        least_rows(epsilon, ell, delta)
        == class_rows(epsilon, ell, delta)
        <= corollary_rows(epsilon, ell, delta)
    )
    assert least_error(n_rows, ell, delta) == class_error(n_rows, ell, delta)


def test_without_attributes_the_corollary_asks_for_fewer_rows():
    assert least_rows(0.1, 0, 0.05) == corollary_rows(0.1, 0, 0.05) < class_rows(0.1, 0, 0.05)


@pytest.mark.parametrize("error", [error for _, error in PAIRS])
def test_no_rows_promise_nothing(error):
    assert error(0, 3, 0.01) == math.inf


# By simulation: 1,000 samples of known distributions over four types, delta = 0.1, epsilon = 0.2.

DELTA, EPSILON = 0.1, 0.2
ONE_TYPE = (np.array([1.0, 0, 0, 0]), np.array([0.4, 0, 0, 0]))
"""All mass on one type, just epsilon-separated: where Hoeffding's inequality is nearest to the
truth.
"""
FOUR_TYPES = (np.full(4, 0.25), np.array([0.9, 0.1, 0.9, 0.1]))
"""Every type just epsilon-separated."""
NEAR_TIES = (np.full(4, 0.25), np.array([0.7, 0.3, 0.7, 0.3]))
"""Two wrong answers are an excess error of epsilon."""


def disagreements(distribution: tuple[Floats, Floats], n_rows: int, draws: int = 1000) -> Bools:
    """Draw samples; say on which types the empirical ideal classifier of each disagrees with the
    ideal one.
    """
    mass, chance = distribution
    rng = np.random.default_rng(0)
    n = rng.multinomial(n_rows, mass, size=draws)
    c = rng.binomial(n, chance)
    return ((n > 0) & (2 * c >= n)) != (chance >= 0.5)


def error_rate(distribution: tuple[Floats, Floats], n_rows: int) -> float:
    """Return the share of samples whose empirical ideal classifier has an excess error of epsilon
    or more.
    """
    mass, chance = distribution
    excess = disagreements(distribution, n_rows) @ (mass * abs(2 * chance - 1))
    return float((excess >= EPSILON - 1e-12).mean())


def separation_rate(distribution: tuple[Floats, Floats], n_rows: int) -> float:
    """Return the share of samples whose empirical ideal classifier is wrong on some
    epsilon-separated type.
    """
    mass, chance = distribution
    separated = mass * abs(2 * chance - 1) >= EPSILON - 1e-12
    return float(disagreements(distribution, n_rows)[:, separated].any(axis=1).mean())


@pytest.mark.parametrize("distribution", [ONE_TYPE, FOUR_TYPES])
def test_the_theorem_fails_less_often_than_it_may_and_a_twentieth_of_its_rows_would_not_do(
    distribution,
):
    n_rows = separation_rows(EPSILON, 2, DELTA)
    assert separation_rate(distribution, n_rows) <= DELTA / 20
    assert separation_rate(distribution, n_rows // 20) > DELTA
    assert separation_rate(ONE_TYPE, n_rows // 8) > DELTA


@pytest.mark.parametrize("distribution", [ONE_TYPE, FOUR_TYPES, NEAR_TIES])
def test_the_finite_class_fails_less_often_than_it_may_and_a_sixteenth_of_its_rows_would_not_do(
    distribution,
):
    n_rows = class_rows(EPSILON, 2, DELTA)
    assert error_rate(distribution, n_rows) <= DELTA / 20
    assert error_rate(distribution, n_rows // 16) > DELTA


@pytest.mark.parametrize("distribution", [ONE_TYPE, FOUR_TYPES, NEAR_TIES])
def test_the_corollary_is_so_loose_that_an_eighth_of_its_rows_never_failed(distribution):
    n_rows = corollary_rows(EPSILON, 2, DELTA)
    assert error_rate(distribution, n_rows) == error_rate(distribution, n_rows // 8) == 0
    assert error_rate(distribution, n_rows // 256) > DELTA
