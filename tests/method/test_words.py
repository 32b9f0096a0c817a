from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.vocabulary import Above, Between, Equals, IsIn, IsMissing, IsTrue
from dnfscale.method.words import (
    Gap,
    Range,
    condition,
    conditions,
    holds_where_missing,
    in_ranges,
    number_text,
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
        (Between("a", "bmi", 12.5, 30.0), "12.5 < bmi ≤ 30", "not (12.5 < bmi ≤ 30)"),
        (
            Between("a", "mean radius", -np.inf, 1),
            '-inf < "mean radius" ≤ 1',
            'not (-inf < "mean radius" ≤ 1)',
        ),
        (Between("a", "x", None, None), "x > nothing", "x ≤ nothing"),
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
        (
            IsIn("a", "ward", ("surgery", "day care")),
            'ward in {surgery, "day care"}',
            'ward not in {surgery, "day care"}',
        ),
        (IsIn("a", "code", (4, 2.5)), "code in {4, 2.5}", "code not in {4, 2.5}"),
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
    assert (
        float(number_text(number)) == number
        if isinstance(number, float)
        else int(number_text(number)) == number
    )


@given(st.text())
def test_a_text_is_one_line_that_shows(text):
    assert value_text(text).isprintable()


def test_negations_hold_where_the_value_is_missing():
    assert not holds_where_missing(Above("a", "x", 1), True)
    assert holds_where_missing(Above("a", "x", 1), False)
    assert not holds_where_missing(Between("a", "x", 1, 2), True)
    assert holds_where_missing(Between("a", "x", 1, 2), False)
    assert holds_where_missing(IsMissing("a", "x"), True)
    assert not holds_where_missing(IsMissing("a", "x"), False)


# Several cuts of one column.

CUTS = (
    Above("bmi_above_p20", "bmi", 12.5),
    IsTrue("smoker", "smoker", True),
    Above("bmi_above_p80", "bmi", 30.0),
    Above("age_above_median", "age", 40),
    Above("never", "bmi", None),
    Between("bmi_p10_to_p50", "bmi", 10, 20),
    Between("bmi_p40_to_p90", "bmi", 18, 35),
    Between("bmi_p80_to_p90", "bmi", 30, 35),
)


@pytest.mark.parametrize(
    ("literals", "expected"),
    [
        ([(0, True), (2, False)], ["12.5 < bmi ≤ 30"]),
        ([(0, True), (1, True), (2, False), (3, False)], ["12.5 < bmi ≤ 30", "smoker", "age ≤ 40"]),
        ([(0, True), (2, True)], ["bmi > 30"]),
        ([(0, False), (2, False)], ["bmi ≤ 12.5"]),
        ([(2, False), (4, False)], ["bmi ≤ 30", "bmi ≤ nothing"]),
        ([(5, True)], ["10 < bmi ≤ 20"]),
        ([(5, True), (1, True), (6, True)], ["18 < bmi ≤ 20", "smoker"]),
        ([(0, True), (5, True)], ["12.5 < bmi ≤ 20"]),
        ([(2, False), (6, True)], ["18 < bmi ≤ 30"]),
        ([(0, False), (5, False)], ["bmi ≤ 10"]),
        ([(5, False), (6, True), (0, True)], ["20 < bmi ≤ 35"]),
        ([(0, True), (6, False)], ["bmi > 12.5", "not (18 < bmi ≤ 35)"]),
        ([(2, True), (5, False)], ["bmi > 30"]),
        ([(0, True), (6, False), (5, False)], ["bmi > 35"]),
        ([(5, False), (6, False)], ["not (10 < bmi ≤ 35)"]),
        ([(5, False), (1, True), (6, False)], ["not (10 < bmi ≤ 35)", "smoker"]),
        ([(5, False), (7, False)], ["not (10 < bmi ≤ 20)", "not (30 < bmi ≤ 35)"]),
        ([(5, False), (7, False), (6, False)], ["not (10 < bmi ≤ 35)"]),
        ([], []),
    ],
)
def test_cuts_of_one_column_are_written_as_one_interval(literals, expected):
    assert conditions(CUTS, literals) == expected


CUT = st.builds(Above, st.just("x"), st.just("x"), st.integers(-3, 3))
INTERVAL = st.builds(Between, st.just("x"), st.just("x"), st.integers(-3, 3), st.integers(-3, 3))


@given(st.lists(st.tuples(st.one_of(CUT, INTERVAL), st.booleans()), min_size=1, max_size=5))
def test_a_range_says_what_its_cuts_say_together(asked):
    literals = [(i, holds) for i, (_, holds) in enumerate(asked)]
    gathered = in_ranges([attribute for attribute, _ in asked], literals)
    assert sum(isinstance(part, Range) for part in gathered) <= 1
    for x in (None, *np.arange(-4, 4.5, 0.5)):
        said = [
            is_so(*asked[part[0]], x) if isinstance(part, tuple) else within(part, x)
            for part in gathered
        ]
        assert all(said) == all(is_so(attribute, holds, x) for attribute, holds in asked)


def within(asked, x):
    if isinstance(asked, Gap):
        return x is None or not asked.low < x <= asked.high
    if x is None:
        return asked.low is None
    return (asked.low is None or x > asked.low) and (asked.high is None or x <= asked.high)


def is_so(attribute, holds, x):
    low, high = (
        (attribute.value, np.inf)
        if isinstance(attribute, Above)
        else (attribute.low, attribute.high)
    )
    return (x is not None and low < x <= high) == holds
