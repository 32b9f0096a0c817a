"""SymPy's simplification means the same as the types that it was given."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from dnfscale.core.formula import Dnf, Term
from dnfscale.method.minimize.minimal import Status, Truth, as_types
from dnfscale.method.minimize.simplify import simplify
from tests.method.truths import assert_agrees, random_truth, truths


@given(truths(max_ell=4, with_free=False))
@settings(max_examples=30)
def test_a_simplified_formula_agrees_with_the_truth_on_every_type(truth):
    found = simplify(truth)
    assert found.status is Status.SIMPLIFIED
    assert_agrees(found.dnf, truth)


@given(truths(max_ell=4, with_free=True))
@settings(max_examples=30)
def test_a_simplified_formula_agrees_with_the_truth_on_every_type_that_is_not_free(truth):
    assert_agrees(simplify(truth).dnf, truth)


@given(truths(max_ell=4, with_free=False))
@settings(max_examples=20)
def test_a_simplified_formula_is_not_longer_than_the_types_themselves(truth):
    assert simplify(truth).dnf.n_literals <= as_types(truth).dnf.n_literals


@pytest.mark.parametrize("ell", [1, 2, 4])
def test_nothing_required_is_false_and_everything_required_is_true(ell):
    everything = tuple(range(1 << ell))
    assert simplify(Truth(ell, ())).dnf == simplify(Truth(ell, (), everything)).dnf == Dnf(())
    # SymPy 1.14 leaves «p or not p» as it is.
    always = simplify(Truth(ell, everything)).dnf
    assert always == Dnf((Term(0, 0),)) if ell > 1 else always.accepts(np.arange(2)).all()
    assert simplify(Truth(ell, everything[:1], everything[1:])).dnf == Dnf((Term(0, 0),))


@pytest.mark.slow
def test_above_eight_attributes_a_formula_is_still_simplified():
    # All types of nine attributes with the first one true, and one more type.
    required = (*range(1, 512, 2), 0)
    truth = Truth(9, tuple(sorted(required)))
    found = simplify(truth).dnf
    assert_agrees(found, truth)
    assert found == Dnf((Term(0b1, 0b1), Term(0b111111110, 0)))


def test_free_types_shorten_a_single_conjunction():
    assert simplify(Truth(3, (7,), (3, 5, 1))).dnf == Dnf((Term(0b001, 0b001),))


def test_a_formula_with_many_free_types_agrees_with_the_truth():
    truth = random_truth(6, 10, 40, seed=2)
    assert_agrees(simplify(truth).dnf, truth)


def test_the_same_truth_is_always_written_the_same_way():
    truth = random_truth(5, 12, seed=3)
    assert simplify(truth) == simplify(truth)
    assert np.array_equal(
        simplify(truth).dnf.accepts(np.arange(32)), as_types(truth).dnf.accepts(np.arange(32))
    )
