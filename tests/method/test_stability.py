"""How much formulas say the same: what matches, one to one, and what does not."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.method.literals import Among, Gap, Missing, Range, Said
from dnfscale.method.stability import MOST_BETWEEN, Conditions, matched, stability

ROWS = 640
"""So ten rows are a 64th."""


def formula(*said: Said) -> Conditions:
    """Conditions over columns in which each number up to 640 occurs once."""
    cuts = {
        (one.column, end): Fraction(ROWS - end, ROWS)
        for one in said
        if isinstance(one, Range | Gap)
        for end in (one.low, one.high)
        if end is not None
    }
    return Conditions(said, cuts)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (Range("a", 100, None), Range("a", 110, None), True),
        (Range("a", 100, None), Range("a", 111, None), False),
        (Range("a", 100, None), Range("a", None, 100), False),
        (Range("a", 100, None), Range("b", 100, None), False),
        (Range("a", 100, 300), Range("a", 95, 305), True),
        (Range("a", 100, 300), Range("a", 100, None), False),
        (Range("a", 100, 300), Gap("a", 100, 300), False),
        (Among("c", ("x", "y"), True), Among("c", ("x", "y"), True), True),
        (Among("c", ("x", "y"), True), Among("c", ("x",), True), False),
        (Among("c", ("x",), True), Among("c", ("x",), False), False),
        (Missing("a", True), Missing("a", True), True),
    ],
)
def test_conditions_match_by_column_direction_and_the_rows_between_their_cuts(one, other, same):
    assert matched(formula(one), formula(other)) == same
    assert matched(formula(other), formula(one)) == same


def test_a_condition_matches_one_other_at_most():
    twice = formula(Range("a", 100, None), Range("a", 105, None))
    once = formula(Range("a", 102, None))
    assert matched(twice, once) == 1
    assert stability([twice, once]).index == Fraction(2, 3)


def test_formulas_that_are_all_the_same_are_stable():
    found = stability([formula(Range("a", 1, None), Missing("b", True))] * 4)
    assert (found.index, found.columns_shared) == (1, 1)


def test_constant_answers_say_the_same_and_nothing_that_others_say():
    assert stability([formula(), formula()]).index == 1
    assert stability([formula(), formula(Missing("a", True))]).index == 0
    assert stability([formula()]) is None


def test_columns_are_shared_whatever_is_said_about_them():
    one = formula(Range("a", 1, None), Range("b", 1, None))
    other = formula(Range("a", None, 600), Range("c", 1, None))
    found = stability([one, other])
    assert (found.index, found.columns_shared) == (0, Fraction(1, 3))


said = st.builds(Range, st.sampled_from("ab"), st.integers(1, 40), st.none())


@given(st.lists(st.lists(said, max_size=4), min_size=2, max_size=4))
def test_it_is_the_best_pairing_of_every_pair(formulas):
    """The judge tries every pairing."""

    def by_hand(one: list[Range], other: list[Range]) -> Fraction:
        short, long = sorted([one, other], key=len)
        best = max(
            sum(
                a.column == b.column and abs(a.low - b.low) <= MOST_BETWEEN * ROWS
                for a, b in zip(short, order, strict=False)
            )
            for order in permutations(long)
        )
        return Fraction(2 * best, len(one) + len(other)) if one or other else Fraction(1)

    pairs = [by_hand(*pair) for pair in combinations(formulas, 2)]
    found = stability([formula(*own) for own in formulas])
    assert found.index == sum(pairs, start=Fraction()) / len(pairs)
