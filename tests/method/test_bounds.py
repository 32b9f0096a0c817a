"""Sample sizes: the paper's theorem, forwards and backwards."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.method.bounds import sample_size, separation

ells = st.integers(0, 24)
deltas = st.floats(1e-6, 0.5)
epsilons = st.floats(1e-3, 1.0)


@given(epsilons, ells, deltas)
def test_a_sample_size_is_the_least_whole_number_that_the_theorem_allows(epsilon, ell, delta):
    bound = 2 * math.log(2 ** (ell + 1) / delta) / epsilon**2
    assert sample_size(epsilon, ell, delta) == pytest.approx(math.ceil(bound), abs=1e-9 * bound)
    assert bound * (1 - 1e-12) <= sample_size(epsilon, ell, delta) < bound * (1 + 1e-12) + 1


@given(epsilons, ells, deltas)
def test_the_separation_of_a_sample_of_that_size_is_at_most_what_was_asked(epsilon, ell, delta):
    n = sample_size(epsilon, ell, delta)
    assert separation(n, ell, delta) <= epsilon * (1 + 1e-9)
    assert separation(n - 1, ell, delta) > epsilon * (1 - 1e-9)


def test_the_papers_example_has_these_sizes():
    # The theorem with |tau| = 3, delta = 0.01, epsilon = 0.05; the corollary asks for it with epsilon / 2**|tau|.
    assert sample_size(0.05, 3, 0.01) == 5903
    assert sample_size(0.05 / 2**3, 3, 0.01) == 377_742


@given(ells, deltas, st.integers(1, 10**9))
def test_more_rows_separate_more_and_more_attributes_less(ell, delta, n_rows):
    assert separation(n_rows + 1, ell, delta) < separation(n_rows, ell, delta) < separation(n_rows, ell + 1, delta)


def test_no_rows_separate_nothing():
    assert separation(0, 3, 0.01) == math.inf
