"""Parts of dates and times: the weekday, the hour and the month, each a column that is computed
when rows are read.

The parts of an instant are read off the clock of its zone. A weekday and a month are categories, an
hour is a number to cut.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dnfscale.core.arrays import Ints
from dnfscale.core.concepts import Concept
from dnfscale.core.quantities import DAY_S, Kind

_HOUR_S = 3_600


class Unit(StrEnum):
    """Which part of a date or time."""

    WEEKDAY = "weekday"
    HOUR = "hour"
    MONTH = "month"


NAMES: Mapping[Unit, tuple[str, ...]] = {
    Unit.WEEKDAY: ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    Unit.MONTH: (
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ),
}
"""The categories of the units that are categorical, in the order of the calendar."""
UNITS_OF: Mapping[Kind, tuple[Unit, ...]] = {
    Kind.DATE: (Unit.WEEKDAY, Unit.MONTH),
    Kind.TIME: (Unit.HOUR,),
    Kind.TIMESTAMP: tuple(Unit),
    Kind.INSTANT: tuple(Unit),
}
"""The parts that a column of each kind has."""


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """A part of the dates or times in a column."""

    of: str
    """The column."""
    unit: Unit
    zone: str | None = None
    """The zone whose clock an instant is read on; None for dates and times without a zone."""

    def __str__(self) -> str:
        return f"{self.unit} of {self.of}"

    @property
    def label(self) -> str:
        """What the names of its attributes begin with."""
        return f"{self.of}_{self.unit}"

    def place(self, name: str) -> int:
        """Return the place of a category in the calendar: 0 for Monday and for January."""
        return NAMES[self.unit].index(name)


ColumnName = str | Part | Concept
"""A column of the dataset, a part of one, or what related rows say."""


def stored_column(name: ColumnName) -> str:
    """Return the column of the dataset that a column, or a part of one, is read from."""
    if isinstance(name, Concept):
        return name.name
    return name.of if isinstance(name, Part) else name


def label_of(name: ColumnName) -> str:
    """Return what the names of a column's attributes begin with."""
    return name.label if isinstance(name, Part) else stored_column(name)


def is_zone(text: str) -> bool:
    """Return whether a text has the form of a zone in the time zone database, or of an offset such
    as +02:00.
    """
    return bool(re.fullmatch(r"[A-Za-z][A-Za-z0-9_+/-]{0,63}", text)) or offset_s(text) is not None


def offset_s(zone: str) -> int | None:
    """Return how many seconds the clock of a zone is ahead of UTC, or None if its name does not
    say.
    """
    if zone in ("UTC", "Etc/UTC"):
        return 0
    match = re.fullmatch(r"([+-])([01][0-9]|2[0-3]):([0-5][0-9])", zone, re.ASCII)
    if match is None:
        return None
    seconds = _HOUR_S * int(match[2]) + 60 * int(match[3])
    return -seconds if match[1] == "-" else seconds


def parts_of(seconds: Ints, unit: Unit) -> Ints:
    """Return the hour, or the place in the calendar, of moments in seconds from 1970-01-01 on a
    local clock.
    """
    if unit is Unit.HOUR:
        return seconds % DAY_S // _HOUR_S
    days = seconds // DAY_S
    if unit is Unit.WEEKDAY:
        # 1970-01-01 was a Thursday.
        return (days + 3) % 7
    months: Ints = days.astype("M8[D]").astype("M8[M]").astype(np.int64)
    return months % 12
