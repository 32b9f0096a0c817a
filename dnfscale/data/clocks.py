"""Clocks: the dates and times of a column as the clock of a zone shows them, and the parts that
follow from that.

The rules of zones are those of the time zone database that Python finds on the system. Arrow could
convert times too, but it knows no changes to summer time after 2037.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from dnfscale.core.arrays import Bools, Ints
from dnfscale.core.columns import Categories, Column, Numbers, Role
from dnfscale.core.parts import NAMES, UNITS_OF, Part, Unit, is_zone, offset_s, parts_of
from dnfscale.core.quantities import DAY_S, Kind
from dnfscale.data.measures import measure_of
from dnfscale.errors import DataError

_CYCLE_S = 146_097 * DAY_S
"""The calendar repeats itself every 400 years, weekdays included."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOURS = np.dtype(np.int8)
"""The dtype of a column of hours."""


class Clock:
    """What the clock of a zone shows in each row of a column; all parts of the column are read from
    it.
    """

    def __init__(self, moments: Numbers, zone: str | None) -> None:
        self._present: Bools | None = moments.present
        self._seconds = _local(_seconds(moments), zone)

    def part(self, unit: Unit) -> Numbers | Categories:
        """Return a part of each moment; missing where the moment is missing."""
        found = parts_of(self._seconds, unit)
        if unit is Unit.HOUR:
            return Numbers(found.astype(HOURS), self._present)
        return Categories(
            found if self._present is None else np.where(self._present, found, -1), NAMES[unit]
        )


def parts_in(name: str, kind: pa.DataType) -> tuple[Part, ...]:
    """Return the parts that a column of this type has; an unknown zone is a DataError."""
    measure = measure_of(kind)
    units = UNITS_OF.get(measure.kind, ()) if measure is not None else ()
    zone = kind.tz if measure is not None and measure.kind is Kind.INSTANT else None
    if zone is not None:
        check_zone(name, zone)
    return tuple(Part(name, unit, zone) for unit in units)


def check_zone(name: str, zone: str) -> None:
    """Raise DataError if the clock of a zone is not known on this machine."""
    try:
        if not is_zone(zone):
            raise ValueError(zone)
        _local(np.zeros(1, dtype=np.int64), zone)
    except (KeyError, ValueError, OSError) as error:
        raise DataError(
            f"expected column {name!r} to have a zone of the time zone database, or an "
            "offset such as +02:00, got "
            f"{zone!r}; convert it, install the system's time zone database, or leave the "
            "column out of "
            "booleanize.parts",
            "booleanize.parts",
        ) from error


def has_part(kind: pa.DataType, part: Part) -> bool:
    """Return whether a column of this type has a part as a model asks for it: of instants, or of
    times without zone.
    """
    measure = measure_of(kind)
    if measure is None or part.unit not in UNITS_OF.get(measure.kind, ()):
        return False
    return (measure.kind is Kind.INSTANT) == (part.zone is not None)


def part_column(part: Part) -> Column:
    """Return a part as a column to learn from."""
    return Column(part, Role.NUMBER if part.unit is Unit.HOUR else Role.CATEGORY)


def _seconds(moments: Numbers) -> Ints:
    """Return whole seconds from 1970-01-01, or from midnight; fractions of a second change no
    part.
    """
    measure, values = moments.measure, moments.values
    if measure is None:
        # A column without any value has no measure.
        return np.zeros(len(values), dtype=np.int64)
    if measure.kind is Kind.DATE:
        return values.astype(np.int64) * DAY_S
    return np.asarray(values // measure.steps, dtype=np.int64)


def _local(seconds: Ints, zone: str | None) -> Ints:
    """Return what the clock of a zone shows at some instants."""
    ahead = 0 if zone is None else offset_s(zone)
    if ahead is not None or not len(seconds):
        return seconds + (ahead or 0)
    years = np.unique(seconds.astype("M8[s]").astype("M8[Y]").astype(np.int64)) + 1970
    known = [_offsets(str(zone), year) for year in years.tolist()]
    starts = np.array([start for year in known for start, _ in year], dtype=np.int64)
    offsets = np.array([offset for year in known for _, offset in year], dtype=np.int64)
    return seconds + offsets[np.searchsorted(starts, seconds, side="right") - 1]


@lru_cache(maxsize=4096)
def _offsets(zone: str, year: int) -> tuple[tuple[int, int], ...]:
    """Return the first instant of a year, and each at which a zone's offset changes, with the
    offset from then on.

    Python's calendar has a first and a last year; beyond them, the rules of the nearest 400 years
    are assumed to hold.
    """
    cycles = 0 if 2 <= year <= 9998 else ((9998 if year > 9998 else 401) - year) // 400
    clock, shift = ZoneInfo(zone), 400 * cycles

    def ahead(second: int) -> int:
        offset = (_EPOCH + timedelta(seconds=second)).astimezone(clock).utcoffset()
        return 0 if offset is None else round(offset.total_seconds())

    first, last = (
        int(datetime(year + shift + more, 1, 1, tzinfo=UTC).timestamp()) for more in (0, 1)
    )
    found = [(first, ahead(first))]
    # No clock is changed forth and back within a day, so comparing the ends of each day finds every
    # change.
    for day in range(first + DAY_S, last + 1, DAY_S):
        low, high = day - DAY_S, day
        if ahead(high) == found[-1][1]:
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if ahead(middle) == found[-1][1] else (low, middle)
        found.append((high, ahead(high)))
    back = cycles * _CYCLE_S
    return tuple((start - back, offset) for start, offset in found if start < last)
