"""The choice of a length from the curves of several searches."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dnfscale.method.sweep import Judging
from dnfscale.method.terms.choice import CurvePoint, choose_length, curve

shares = st.integers(0, 100).map(lambda percent: Fraction(percent, 100))


def chosen(points, tolerance=0.01, rule="tolerance"):
    judging = Judging(tolerance=tolerance, rule=rule)
    return choose_length(points, judging, distinct_rows=100, validation_per_train=Fraction(3, 7))


@given(st.lists(st.dictionaries(st.integers(0, 12), shares, min_size=1), min_size=1, max_size=3))
def test_a_split_is_judged_by_its_longest_formula_of_at_most_a_length(splits):
    points = curve(splits, search="terms")
    for point in points:
        for split, score in zip(splits, point.by_split, strict=True):
            length = point.literals
            while length not in split:
                length -= 1
            assert score == split[length]
        assert point.score == sum(point.by_split) / len(splits)
    assert [point.literals for point in points] == sorted({point.literals for point in points})
    assert points[-1].literals == max(max(split) for split in splits)


@given(
    st.lists(
        st.builds(
            CurvePoint,
            st.integers(0, 9),
            st.sampled_from(["terms", "f"]),
            st.just("lines"),
            st.tuples(shares),
        ),
        min_size=1,
        max_size=12,
    ),
    st.integers(0, 30),
)
def test_the_shortest_within_the_tolerance_is_chosen_and_of_one_length_the_best(points, percent):
    found = chosen(points, tolerance=percent / 100)
    best = max(point.score for point in points)
    close = [point for point in points if best - point.score <= Fraction(percent, 100)]
    assert found.literals == min(point.literals for point in close)
    of_length = [point for point in close if point.literals == found.literals]
    assert found == max(of_length, key=lambda point: point.score)


def test_between_searches_that_tie_the_first_is_chosen():
    points = [
        CurvePoint(3, search, "lines", (Fraction(1, 2),)) for search in ("attributes", "terms")
    ]
    assert chosen(points).search == "attributes"
    assert chosen(points[::-1]).search == "terms"


def test_no_formulas_have_no_curve():
    assert curve([], search="terms") == ()
    assert curve([{}, {1: Fraction(1)}], search="terms") == ()
