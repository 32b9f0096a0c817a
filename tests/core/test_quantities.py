"""A quantity is written exactly, in one way, and read back as the same."""

from __future__ import annotations

import datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.quantities import (
    STEPS,
    Kind,
    Measure,
    Quantity,
    edge_among,
    parse_measure,
    parse_quantity,
    year_of,
)

MEASURES = [
    Measure(Kind.DATE, 1),
    *(Measure(Kind.DECIMAL, 10**digits) for digits in (1, 2, 18, 38)),
    *(
        Measure(kind, steps)
        for kind in Kind
        if kind not in (Kind.DATE, Kind.DECIMAL)
        for steps in STEPS.values()
    ),
]
TICKS = st.integers(-(1 << 63), (1 << 63) - 1)


@given(st.sampled_from(MEASURES), TICKS)
def test_what_is_written_reads_back_as_the_same(measure, ticks):
    quantity = Quantity(measure, ticks)
    assert parse_measure(str(measure)) == measure
    assert parse_quantity(str(quantity), measure) == quantity


@given(st.dates())
def test_a_date_is_written_as_python_writes_it(date):
    quantity = Quantity(Measure(Kind.DATE, 1), (date - datetime.date(1970, 1, 1)).days)
    assert str(quantity) == date.isoformat()
    assert year_of(quantity) == date.year


@given(st.datetimes())
def test_a_timestamp_is_written_as_python_writes_it(moment):
    ticks = (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
    written = moment.isoformat()
    assert str(Quantity(Measure(Kind.TIMESTAMP, 10**6), ticks)) == (
        written.rstrip("0") if moment.microsecond else written
    )
    assert str(Quantity(Measure(Kind.INSTANT, 10**6), ticks)).endswith("Z")


@pytest.mark.parametrize(
    ("measure", "ticks", "text"),
    [
        (Measure(Kind.DATE, 1), 0, "1970-01-01"),
        (Measure(Kind.DATE, 1), -719_529, "-0001-12-31"),
        (Measure(Kind.DATE, 1), 2_932_897, "+10000-01-01"),
        (Measure(Kind.TIMESTAMP, 10**9), 1, "1970-01-01T00:00:00.000000001"),
        (Measure(Kind.INSTANT, 1), -1, "1969-12-31T23:59:59Z"),
        (Measure(Kind.TIME, 10**3), 45_296_700, "12:34:56.7"),
        (Measure(Kind.DURATION, 1), -90_061, "-P1DT1H1M1S"),
        (Measure(Kind.DECIMAL, 100), -5, "-0.05"),
        (Measure(Kind.DECIMAL, 100), 1250, "12.5"),
    ],
)
def test_it_is_written_for_people(measure, ticks, text):
    assert str(Quantity(measure, ticks)) == text


@pytest.mark.parametrize(
    ("measure", "text"),
    [
        ("date", "2024-02-30"),
        ("date", "2024-2-3"),
        ("date", "２０２４-01-01"),
        ("date", "2024-01-01T00:00:00"),
        ("date", "9" * 90 + "-01-01"),
        ("timestamp[s]", "2024-01-01T00:00:00.5"),
        ("timestamp[s]", "2024-01-01T24:00:00"),
        ("timestamp[s]", "2024-01-01T00:00:00Z"),
        ("instant[s]", "2024-01-01T00:00:00"),
        ("decimal[2]", "1.005"),
        ("decimal[2]", "1.50"),
        ("decimal[2]", "-0"),
        ("decimal[2]", "1e5"),
        ("decimal[2]", "9" * 30),
        ("duration[s]", "P1D"),
    ],
)
def test_what_is_no_quantity_of_the_measure_is_not_read(measure, text):
    found = parse_measure(measure)
    assert found is not None
    assert parse_quantity(text, found) is None


@pytest.mark.parametrize(
    "text", ["", "date[s]", "time", "time[m]", "decimal[0]", "decimal[77]", "decimal[1", "inf"]
)
def test_what_is_no_measure_is_not_read(text):
    assert parse_measure(text) is None


@given(st.sampled_from(MEASURES), TICKS, st.sampled_from(MEASURES), TICKS)
def test_a_value_lies_above_the_edge_exactly_when_it_lies_above_the_cut(measure, cut, other, ticks):
    edge = edge_among(Quantity(measure, cut), other, whole=True)
    assert (ticks > edge) == (Quantity(other, ticks).amount > Quantity(measure, cut).amount)


@given(TICKS, st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_lies_above_the_edge_exactly_when_it_lies_above_the_decimal(ticks, value):
    cut = Quantity(Measure(Kind.DECIMAL, 10**7), ticks)
    assert (value > edge_among(cut, None, whole=False)) == (Fraction(value) > cut.amount)
