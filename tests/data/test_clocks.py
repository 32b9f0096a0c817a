"""Parts of dates and times are those that pandas finds, for every unit and zone."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dnfscale.core.columns import Categories, Numbers, Reading
from dnfscale.core.parts import NAMES, Part, Unit
from dnfscale.core.quantities import STEPS
from dnfscale.data.clocks import part_column, parts_in
from dnfscale.data.read import TablePartition, wanted
from dnfscale.errors import DataError

ZONES = (
    None,
    "UTC",
    "+05:30",
    "-03:30",
    "Europe/Helsinki",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kolkata",
)
EDGES = (
    *(0, -1, 1, -86_400, -86_401, 86_399),
    # The leap day of 2000, and the day after the one that 1900 and 2100 do not have.
    *(951_782_400, -2_203_891_200, 4_107_542_400),
    # An hour before, at and after the clocks go forward and back in Helsinki in 2024.
    *(
        change + step
        for change in (1_711_846_800, 1_729_990_800)
        for step in (-3600, -1, 0, 1, 3599, 3600)
    ),
)


YEARS = (1880, 1915, 1942, 1969, 1970, 1996, 2024, 2037, 2038, 2100, 2199)


def moments(unit: str, zone: str | None) -> pa.Array:
    """Moments from 1880 to 2200, every unit with its own last digits, and some that are missing."""
    random = np.random.default_rng(len(unit))
    first = np.array([f"{year}-01-01" for year in YEARS], dtype="M8[s]").astype(np.int64)
    seconds = np.concatenate(
        [EDGES, random.choice(first, 3000) + random.integers(0, 31_536_000, 3000)]
    )
    ticks = seconds * STEPS[unit] + random.integers(0, STEPS[unit], len(seconds))
    return pa.array(ticks, mask=random.random(len(ticks)) < 0.05).cast(pa.timestamp(unit, zone))


def parts_read(column: pa.Array, zone: str | None = None) -> dict[str, list[object]]:
    """The parts of a column as rows are read."""
    found = [Part("when", part.unit, zone or part.zone) for part in parts_in("when", column.type)]
    reading = Reading(tuple(part_column(part) for part in found), None, keep_missing=True)
    [block] = TablePartition(0, pa.table({"when": column})).blocks(reading)
    return {str(part.unit): values(data) for part, data in zip(found, block.columns, strict=True)}


def values(data: Numbers | Categories) -> list[object]:
    present = ~data.missing()
    if isinstance(data, Numbers):
        return [
            int(value) if there else None for value, there in zip(data.values, present, strict=True)
        ]
    return [
        data.values[code] if there else None
        for code, there in zip(data.codes, present, strict=True)
    ]


def judged(column: pa.Array) -> dict[str, list[object]]:
    """What pandas says, with names in place of numbers."""
    clock = pd.Series(column.to_pandas()).dt

    def told(numbers: pd.Series, names: tuple[str, ...] | None, first: int = 0) -> list[object]:
        whole = [None if number != number else int(number) - first for number in numbers]
        return [None if i is None else i if names is None else names[i] for i in whole]

    return {
        "weekday": told(clock.day_of_week, NAMES[Unit.WEEKDAY]),
        "hour": told(clock.hour, None),
        "month": told(clock.month, NAMES[Unit.MONTH], 1),
    }


@pytest.mark.parametrize("unit", STEPS)
@pytest.mark.parametrize("zone", ZONES)
def test_parts_are_those_of_pandas(unit, zone):
    column = moments(unit, zone)
    assert parts_read(column) == judged(column)


def test_parts_do_not_depend_on_the_zone_that_a_file_tells_instants_in():
    here, there = moments("us", "America/New_York"), moments("us", "UTC")
    assert parts_read(there, zone="America/New_York") == judged(here)


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()])
def test_dates_have_a_weekday_and_a_month(kind):
    days = pa.array(
        [moment and moment.date() for moment in moments("s", None).to_pylist()], pa.date32()
    )
    expected = judged(days.cast(pa.timestamp("s")))
    assert parts_read(days.cast(kind)) == {unit: expected[unit] for unit in ("weekday", "month")}


@pytest.mark.parametrize(
    "kind", [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
)
def test_times_have_an_hour(kind):
    times = [datetime.time(0), datetime.time(23, 59, 59), None, datetime.time(7, 30)]
    assert parts_read(pa.array(times, kind)) == {"hour": [0, 23, None, 7]}


@pytest.mark.parametrize(
    "kind", [pa.duration("s"), pa.int64(), pa.string(), pa.bool_(), pa.decimal128(9, 2)]
)
def test_nothing_else_has_parts(kind):
    assert parts_in("x", kind) == ()


def test_a_year_beyond_all_calendars_has_a_month_too():
    for seconds in (-(1 << 62), 1 << 62):
        [month] = parts_read(pa.array([seconds], pa.timestamp("s")))["month"]
        assert month in NAMES[Unit.MONTH]


@pytest.mark.parametrize("years", [-4000, 400, 12_000])
def test_clocks_go_on_beyond_the_calendar_of_python(years):
    """After a multiple of 400 years all days come again; before 1800 clocks were never changed."""
    near = np.arange(0, 366 * 24, 5) * 3600 + (4_102_444_800 if years > 0 else -30_000_000_000)
    far = near + years // 400 * 146_097 * 86_400
    column, other = (pa.array(s).cast(pa.timestamp("s", "Europe/Helsinki")) for s in (near, far))
    assert parts_read(column) == parts_read(other)


def test_the_column_is_read_once_for_all_its_parts():
    columns = tuple(part_column(part) for part in parts_in("when", pa.timestamp("us")))
    assert wanted(Reading(columns, "y")) == (["when"], ["y"])


@pytest.mark.parametrize("zone", ["Nowhere/Town", "Europe/Helsinki'; DROP TABLE t; --", "+25:00"])
def test_a_zone_that_is_not_known_is_told(zone):
    with pytest.raises(
        DataError, match="expected column 'when' to have a zone of the time zone database"
    ):
        parts_in("when", pa.timestamp("us", zone))
