"""Conditions that recur in formulas learned from other draws of the same rows."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dnfscale.method.terms.recurring import _UNIT, agreement, is_as_good


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), min_size=1, max_size=6))
def test_agreement_is_the_share_of_the_conditions_of_both_that_match(formulas):
    found = agreement(formulas)
    for i, one in enumerate(formulas):
        for j, other in enumerate(formulas):
            matched = (Counter(one) & Counter(other)).total()
            assert found[i, j] == 2 * _UNIT * matched // max(1, len(one) + len(other))


def test_a_share_is_as_good_up_to_half_a_standard_error():
    best = Fraction(9, 10)
    assert is_as_good(Fraction(87, 100), best, 25)
    assert not is_as_good(Fraction(86, 100), best, 25)
    assert is_as_good(Fraction(95, 100), best, 25)
    assert not is_as_good(Fraction(87, 100), best, 26)
