"""The ideal classifier has the least training error of all Boolean functions of tau."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.counts import TypeCounts, project
from dnfscale.method.ideal import correct_rows, ideal_correct, weighed
from tests.judges import ideal_types, row_types, tally
from tests.strategies import boolean_rows


def counts_of(n: dict[int, int], c: dict[int, int], ell: int) -> TypeCounts:
    codes = sorted(n)
    arrays = ([n[t] for t in codes], [c[t] for t in codes])
    return TypeCounts(
        ell, np.array(codes, dtype=np.int64), *(np.array(a, dtype=np.int64) for a in arrays)
    )


def accepted_types(counts: TypeCounts) -> list[int]:
    """Return the types of which a positive row is right."""
    return [
        t
        for t in range(1 << counts.ell)
        if ideal_correct(counts, counts_of({t: 1}, {t: 1}, counts.ell))
    ]


def errors(counts: TypeCounts) -> int:
    """Return how many of its own rows the ideal classifier gets wrong."""
    return counts.n_rows - ideal_correct(counts, counts)


@given(boolean_rows(max_rows=30, max_attributes=3))
def test_no_boolean_function_of_tau_has_fewer_training_errors(rows):
    holds, target = rows
    counts = tally(holds, target)
    types, truth = row_types(holds), target.tolist()
    least = min(
        sum(function[t] != q for t, q in zip(types, truth, strict=True))
        for function in itertools.product([False, True], repeat=1 << counts.ell)
    )
    assert errors(counts) == least


@given(boolean_rows())
def test_a_type_is_accepted_when_at_least_half_of_its_rows_are_positive(rows):
    counts = tally(*rows)
    assert accepted_types(counts) == ideal_types(counts)


def test_a_tie_is_true_and_a_type_that_never_occurs_is_false():
    counts = counts_of({0: 2, 1: 3, 3: 1}, {0: 1, 1: 1, 3: 1}, ell=2)
    assert accepted_types(counts) == [0, 3]


def test_ties_are_told_apart_where_floats_cannot():
    huge = 2**60
    counts = counts_of({0: 2 * huge, 1: 2 * huge + 1}, {0: huge, 1: huge}, ell=1)
    assert accepted_types(counts) == [0]


def test_a_threshold_is_compared_in_whole_numbers():
    third = 10**17
    counts = counts_of({0: 3 * third, 1: 3 * third}, {0: third, 1: third - 1}, ell=1)
    assert accepted_types(weighed(counts, Fraction(1, 3))) == [0]


@given(boolean_rows(max_attributes=6))
def test_the_ideal_error_never_rises_with_ell(rows):
    counts = tally(*rows)
    by_ell = [errors(project(counts, range(ell))) for ell in range(counts.ell + 1)]
    assert by_ell == sorted(by_ell, reverse=True)


@given(boolean_rows(max_attributes=4), st.data())
def test_held_out_rows_are_right_when_their_type_is_judged_as_in_the_fitted_rows(rows, choice):
    holds, target = rows
    cut = choice.draw(st.integers(0, len(target)))
    accepted = ideal_types(tally(holds[:cut], target[:cut]))
    right = sum(
        (t in accepted) == q
        for t, q in zip(row_types(holds[cut:]), target[cut:].tolist(), strict=True)
    )
    assert (
        ideal_correct(tally(holds[:cut], target[:cut]), tally(holds[cut:], target[cut:])) == right
    )


@given(boolean_rows())
def test_on_its_own_rows_the_ideal_classifier_is_right_except_for_the_minority_of_each_type(rows):
    counts = tally(*rows)
    assert errors(counts) == np.minimum(counts.c, counts.n - counts.c).sum()


@pytest.mark.parametrize(
    ("accepted", "right"),
    [([True, True], 4), ([True, False], 5), ([False, True], 5), ([False, False], 6)],
)
def test_correct_rows_are_the_positive_ones_where_accepted_and_the_others_where_not(
    accepted, right
):
    counts = counts_of({0: 5, 2: 5}, {0: 2, 2: 2}, ell=2)
    assert correct_rows(np.array(accepted), counts) == right


def test_no_rows_are_no_errors():
    nothing = tally(np.zeros((0, 2), bool), np.zeros(0, bool))
    assert accepted_types(nothing) == []
    assert ideal_correct(nothing, nothing) == 0
