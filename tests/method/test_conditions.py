from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.vocabulary import Above, Equals, IsMissing, IsTrue
from dnfscale.method.conditions import (
    condition,
    conditions,
    grouped,
    holds_where_missing,
    number_text,
    placed_cuts,
    value_text,
)


@pytest.mark.parametrize(
    ("attribute", "holds", "negated"),
    [
        (Above("a", "age", 38), "age > 38", "age ≤ 38"),
        (Above("a", "worst_area", 686.5), "worst_area > 686.5", "worst_area ≤ 686.5"),
        (Above("a", "x", 38.0), "x > 38", "x ≤ 38"),
        (Above("a", "x", float("-inf")), "x > -inf", "x ≤ -inf"),
        (Above("a", "x", None), "x > nothing", "x ≤ nothing"),
        (Equals("a", "colour", "red"), "colour = red", "colour ≠ red"),
        (Equals("a", "colour", "dark red"), 'colour = "dark red"', 'colour ≠ "dark red"'),
        (Equals("a", "code", 4), "code = 4", "code ≠ 4"),
        (Equals("a", "code", "4"), 'code = "4"', 'code ≠ "4"'),
        (Equals("a", "code", ""), 'code = ""', 'code ≠ ""'),
        (Equals("a", "code", "true"), 'code = "true"', 'code ≠ "true"'),
        (Equals("a", "flag", False), "flag = false", "flag ≠ false"),
        (Equals("a", "flag", True), "flag", "not flag"),
        (IsTrue("a", "smoker", True), "smoker", "not smoker"),
        (IsTrue("a", "sex", 2), "sex = 2", "sex ≠ 2"),
        (IsMissing("a", "x"), "x is missing", "x is not missing"),
        (Above("a", "mean radius", 1), '"mean radius" > 1', '"mean radius" ≤ 1'),
        (IsTrue("a", "line\nbreak", True), '"line\\nbreak"', 'not "line\\nbreak"'),
        (IsTrue("a", "not", True), '"not"', 'not "not"'),
    ],
)
def test_a_condition_reads_as_people_write_it(attribute, holds, negated):
    assert condition(attribute, True) == holds
    assert condition(attribute, False) == negated


@given(st.one_of(st.integers(), st.floats(allow_nan=False)))
def test_a_number_reads_back_as_itself(number):
    assert float(number_text(number)) == number if isinstance(number, float) else int(number_text(number)) == number


@given(st.text())
def test_a_text_is_one_line_that_shows(text):
    assert value_text(text).isprintable()


def test_negations_hold_where_the_value_is_missing():
    assert not holds_where_missing(Above("a", "x", 1), True)
    assert holds_where_missing(Above("a", "x", 1), False)
    assert holds_where_missing(IsMissing("a", "x"), True)
    assert not holds_where_missing(IsMissing("a", "x"), False)


# Several cuts of one column.

CUTS = (
    Above("bmi_above_p20", "bmi", 12.5),
    IsTrue("smoker", "smoker", True),
    Above("bmi_above_p80", "bmi", 30.0),
    Above("age_above_median", "age", 40),
    Above("never", "bmi", None),
)


@pytest.mark.parametrize(
    ("literals", "expected"),
    [
        ([(0, True), (2, False)], ["12.5 < bmi ≤ 30"]),
        ([(0, True), (1, True), (2, False), (3, False)], ["12.5 < bmi ≤ 30", "smoker", "age ≤ 40"]),
        ([(0, True), (2, True)], ["bmi > 30"]),
        ([(0, False), (2, False)], ["bmi ≤ 12.5"]),
        ([(2, False), (4, False)], ["bmi ≤ 30", "bmi ≤ nothing"]),
        ([], []),
    ],
)
def test_cuts_of_one_column_are_written_as_one_interval(literals, expected):
    assert conditions(CUTS, literals) == expected


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=4, unique=True), st.data())
def test_an_interval_says_what_its_cuts_say_together(values, choice):
    attributes = [Above(f"x{value}", "x", value) for value in values]
    literals = [(i, choice.draw(st.booleans())) for i in range(len(values))]
    kept = [literal for group in grouped(placed_cuts(attributes), literals) for literal in group]
    for x in np.arange(-4, 4.5, 0.5):
        assert all((x > values[i]) == holds for i, holds in kept) == all((x > values[i]) == h for i, h in literals)
