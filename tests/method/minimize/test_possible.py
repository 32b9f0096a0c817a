"""Which types a row can have: those of rows made of the values that a column can take."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from dnfscale.core.parts import Part, Unit
from dnfscale.core.quantities import Kind, Measure, Quantity
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    Equals,
    IsMissing,
    IsTrue,
    Vocabulary,
)
from dnfscale.method.minimize.possible import are_possible, row_states
from tests.method.models import vocabularies
from tests.method.rows import Rows


def possible(*attributes: Attribute) -> set[str]:
    """Return the types that a row can have, each as the truth values of the attributes in their
    order.
    """
    tau = Vocabulary(attributes)
    codes = np.arange(1 << len(tau))
    found = codes[are_possible(codes, row_states(tau))].tolist()
    return {"".join(str(code >> i & 1) for i in range(len(tau))) for code in found}


@pytest.mark.slow
@given(vocabularies())
@settings(max_examples=40)
def test_the_types_that_a_row_can_have_are_those_of_all_rows(tau):
    codes = np.arange(1 << len(tau))
    assert set(codes[are_possible(codes, row_states(tau))].tolist()) == set(
        Rows(tau).types().tolist()
    )


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ([Above("a", "x", 1), Above("b", "x", 5)], {"00", "10", "11"}),
        ([Above("a", "x", 1), Above("b", "x", 1.0)], {"00", "11"}),
        ([Above("a", "x", None), Above("b", "x", 5)], {"00", "01"}),
        ([Above("a", "x", 5), Between("b", "x", 1, 5)], {"00", "01", "10"}),
        ([Above("a", "x", 3), IsMissing("b", "x")], {"00", "10", "01"}),
        ([Equals("a", "c", "red"), Equals("b", "c", "blue")], {"00", "10", "01"}),
        ([Equals("a", "c", True), Equals("b", "c", False)], {"00", "10", "01"}),
        (
            [Equals("a", "c", True), Equals("b", "c", False), IsMissing("m", "c")],
            {"100", "010", "001"},
        ),
        ([IsTrue("a", "c", "yes"), IsMissing("m", "c")], {"00", "10", "01"}),
    ],
)
def test_a_column_is_in_one_state_at_a_time_and_a_missing_value_is_one(attributes, expected):
    assert possible(*attributes) == expected


def date(day: int) -> Quantity:
    return Quantity(Measure(Kind.DATE, 1), day)


MARCH = 18_322
"""2020-03-01, a Sunday."""


def test_a_stretch_of_dates_has_the_months_and_weekdays_of_the_calendar():
    within = Between("within", "d", date(MARCH), date(MARCH + 6))
    month, weekday = Part("d", Unit.MONTH), Part("d", Unit.WEEKDAY)
    april, sunday = Equals("april", month, "April"), Equals("sunday", weekday, "Sunday")
    # From Monday the second to Saturday the seventh of March.
    assert possible(within, april, sunday) == {"000", "010", "001", "011", "100"}


def test_a_time_of_day_and_its_hour_go_together():
    noon = Quantity(Measure(Kind.TIME, 1), 12 * 3600)
    after, hour = Above("after", "t", noon), Above("hour", Part("t", Unit.HOUR), 11)
    later = Above("later", Part("t", Unit.HOUR), 12)
    # At noon sharp the hour is twelve, and the time is not after noon.
    assert possible(after, hour, later) == {"000", "010", "110", "111"}


def test_an_instant_has_the_hours_of_the_clock_of_its_zone():
    cut = Quantity(Measure(Kind.INSTANT, 1), 0)
    end = Quantity(Measure(Kind.INSTANT, 1), 3599)
    within = Between("within", "t", cut, end)
    for zone, hours in (("UTC", {0}), ("+02:00", {2}), ("+00:30", {0, 1})):
        for hour in range(4):
            own = Part("t", Unit.HOUR, zone)
            types = possible(within, Above("from", own, hour - 1), Above("after", own, hour))
            assert ("110" in types) == (hour in hours), (zone, hour)
    # The offset of this one changes, and nothing is claimed.
    helsinki = Part("t", Unit.HOUR, "Europe/Helsinki")
    assert possible(within, Above("late", helsinki, 20)) == {"00", "01", "10", "11"}


def test_a_missing_date_has_no_parts():
    monday = Equals("monday", Part("d", Unit.WEEKDAY), "Monday")
    assert possible(monday, IsMissing("d_missing", "d")) == {"00", "10", "01"}


def test_a_date_that_is_not_missing_has_one_of_the_seven_weekdays():
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    attributes = [Equals(day, Part("d", Unit.WEEKDAY), day) for day in days]
    assert "0" * 7 in possible(*attributes)
    assert "0" * 8 not in possible(*attributes, IsMissing("missing", "d"))
