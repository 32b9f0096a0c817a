"""The ideal classifier has the least training error of all Boolean functions of tau."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.arrays import Bools
from dnfscale.core.counts import TypeCounts, project, tally
from dnfscale.method.ideal import correct_rows, ideal_correct, ideal_errors, ideal_types
from tests.strategies import boolean_rows


def counts_of(n: dict[int, int], c: dict[int, int], ell: int) -> TypeCounts:
    codes = sorted(n)
    arrays = ([n[t] for t in codes], [c[t] for t in codes])
    return TypeCounts(ell, np.array(codes, dtype=np.int64), *(np.array(a, dtype=np.int64) for a in arrays))


def row_types(holds: Bools) -> list[int]:
    return [sum(1 << i for i, value in enumerate(row) if value) for row in holds.tolist()]


@given(boolean_rows(max_rows=30, max_attributes=3))
def test_no_boolean_function_of_tau_has_fewer_training_errors(rows):
    holds, target = rows
    counts = tally(holds, target)
    types, truth = row_types(holds), target.tolist()
    least = min(
        sum(function[t] != q for t, q in zip(types, truth, strict=True))
        for function in itertools.product([False, True], repeat=1 << counts.ell)
    )
    accepted = set(ideal_types(counts).tolist())
    mine = sum((t in accepted) != q for t, q in zip(types, truth, strict=True))
    assert mine == ideal_errors(counts) == least


@given(boolean_rows())
def test_a_type_is_accepted_when_at_least_half_of_its_rows_are_positive(rows):
    holds, target = rows
    types = np.array(row_types(holds), dtype=np.int64)
    expected = [t for t in sorted(set(types.tolist())) if target[types == t].mean() >= 0.5]
    assert ideal_types(tally(holds, target)).tolist() == expected


def test_a_tie_is_true_and_a_type_that_never_occurs_is_false():
    counts = counts_of({0: 2, 1: 3, 3: 1}, {0: 1, 1: 1, 3: 1}, ell=2)
    assert ideal_types(counts).tolist() == [0, 3]


def test_ties_are_told_apart_where_floats_cannot():
    huge = 2**60
    counts = counts_of({0: 2 * huge, 1: 2 * huge + 1}, {0: huge, 1: huge}, ell=1)
    assert ideal_types(counts).tolist() == [0]


@given(boolean_rows(max_attributes=6))
def test_the_ideal_error_never_rises_with_ell(rows):
    counts = tally(*rows)
    errors = [ideal_errors(project(counts, range(ell))) for ell in range(counts.ell + 1)]
    assert errors == sorted(errors, reverse=True)


@given(boolean_rows(max_attributes=4), st.data())
def test_held_out_rows_are_right_when_their_type_is_judged_as_in_the_fitted_rows(rows, choice):
    holds, target = rows
    cut = choice.draw(st.integers(0, len(target)))
    accepted = set(ideal_types(tally(holds[:cut], target[:cut])).tolist())
    right = sum((t in accepted) == q for t, q in zip(row_types(holds[cut:]), target[cut:].tolist(), strict=True))
    assert ideal_correct(tally(holds[:cut], target[:cut]), tally(holds[cut:], target[cut:])) == right


@given(boolean_rows())
def test_on_its_own_rows_the_ideal_classifier_is_right_except_for_its_errors(rows):
    counts = tally(*rows)
    assert ideal_correct(counts, counts) == counts.n_rows - ideal_errors(counts)


@pytest.mark.parametrize(
    ("accepted", "right"), [([True, True], 4), ([True, False], 5), ([False, True], 5), ([False, False], 6)]
)
def test_correct_rows_are_the_positive_ones_where_accepted_and_the_others_where_not(accepted, right):
    counts = counts_of({0: 5, 2: 5}, {0: 2, 2: 2}, ell=2)
    assert correct_rows(np.array(accepted), counts) == right


def test_no_rows_are_no_errors():
    nothing = tally(np.zeros((0, 2), bool), np.zeros(0, bool))
    assert ideal_types(nothing).tolist() == []
    assert ideal_errors(nothing) == ideal_correct(nothing, nothing) == 0
