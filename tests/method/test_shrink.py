"""Types of few rows: what they go by, against a version that looks at one type at a time."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.counts import TypeCounts
from dnfscale.method.shrink import Shrink, accepted_by_each, accepted_types, shares
from dnfscale.spec.learn import parameters
from tests.judges import ideal_types, tally
from tests.strategies import boolean_rows

HALF = Fraction(1, 2)

SHRINK = parameters()["shrink"].check.choices


def rows_of(counts: TypeCounts, code: int, ell: int) -> tuple[int, int]:
    """n and c of the rows that agree with a type on the first ell attributes."""
    mask = (1 << ell) - 1
    same = (counts.codes & mask) == (code & mask)
    return int(counts.n[same].sum()), int(counts.c[same].sum())


@given(
    boolean_rows(min_rows=1, max_attributes=4),
    st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=10),
)
def test_without_shrinking_a_type_goes_by_its_own_rows(rows, threshold):
    counts = tally(*rows)
    found = accepted_types(counts, Shrink(), threshold)
    for code in range(1 << counts.ell):
        n, c = rows_of(counts, code, counts.ell)
        assert found[code] == (n > 0 and Fraction(c, n) >= threshold)
    assert np.flatnonzero(accepted_types(counts, Shrink(), HALF)).tolist() == ideal_types(counts)


@given(boolean_rows(min_rows=1, max_attributes=4), st.integers(1, 6))
def test_a_type_of_little_support_answers_as_its_parent(rows, least):
    counts = tally(*rows)

    def judged(code: int, ell: int) -> bool:
        n, c = rows_of(counts, code, ell)
        return 2 * c >= n if n >= least or ell == 0 else judged(code, ell - 1)

    found = accepted_types(counts, Shrink("support", least), HALF)
    assert found.tolist() == [judged(code, counts.ell) for code in range(1 << counts.ell)]


@given(boolean_rows(min_rows=1, max_attributes=4), st.sampled_from([0.5, 2.0, 8.0]))
def test_a_share_is_shrunk_to_that_of_the_parent(rows, m):
    counts = tally(*rows)

    def share(code: int, ell: int) -> Fraction:
        n, c = rows_of(counts, code, ell)
        return (
            Fraction(c, n)
            if ell == 0
            else (c + Fraction(m) * share(code, ell - 1)) / (n + Fraction(m))
        )

    found = accepted_types(counts, Shrink("parent", m), HALF)
    assert found.tolist() == [
        share(code, counts.ell) >= HALF - Fraction(1, 10**9) for code in range(1 << counts.ell)
    ]


def test_many_rows_speak_for_themselves_and_few_as_their_attributes_do_one_by_one():
    # Each of three attributes makes a yes more likely; the type 0b111 has many rows that say no,
    # 0b011 has none.
    rng = np.random.default_rng(0)
    holds = rng.random((4000, 3)) < 0.5
    target = rng.random(4000) < 0.1 + 0.28 * holds.sum(axis=1)
    kept = ~((holds == [True, True, False]).all(axis=1))
    target[holds.all(axis=1)] = False
    counts = tally(holds[kept], target[kept])
    assert not accepted_types(counts, Shrink("none"), HALF)[0b011]
    shrunk = accepted_types(counts, Shrink("linear", 8), HALF)
    assert not shrunk[0b111]
    assert not shrunk[0]


@pytest.mark.parametrize("rule", ["support", "parent", "linear"])
def test_counts_of_one_class_and_of_no_attribute_have_an_answer(rule):
    for target in (np.ones(5, bool), np.zeros(5, bool)):
        counts = tally(np.ones((5, 2), bool), target)
        assert accepted_types(counts, Shrink(rule), HALF)[0b11] == target[0]
    counts = tally(np.ones((5, 0), bool), np.array([1, 1, 1, 0, 0], bool))
    assert accepted_types(counts, Shrink(rule, 1), HALF).tolist() == [True]


@given(
    boolean_rows(min_rows=1, max_attributes=4),
    st.lists(st.sampled_from(SHRINK), min_size=1),
    st.data(),
)
def test_several_rules_answer_as_each_does_alone(rows, rules, choice):
    counts = tally(*rows)
    shrinks = [Shrink(rule, choice.draw(st.sampled_from([0.5, 8.0, 32.0]))) for rule in rules]
    found = accepted_by_each(counts, shrinks, HALF)
    assert [each.tolist() for each in found] == [
        accepted_types(counts, each, HALF).tolist() for each in shrinks
    ]


@pytest.mark.parametrize("rule", SHRINK)
@given(rows=boolean_rows(min_rows=1, max_attributes=4), m=st.sampled_from([1.0, 8.0]))
def test_a_type_is_accepted_when_its_share_reaches_the_threshold(rule, rows, m):
    counts = tally(*rows)
    found = shares(counts, Shrink(rule, m))
    assert accepted_types(counts, Shrink(rule, m), HALF).tolist() == (found >= 0.5 - 1e-9).tolist()
