"""Quantities: dates, times, durations and decimals, as whole numbers of the smallest step their
column can take.

A column of them is a column of whole numbers, so medians and comparisons are exact to the last
nanosecond and digit. What the numbers count is the column's *measure*; with it, a number can be
written for people and read back.
"""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

DAY_S = 86_400
_EPOCH = datetime.datetime(1970, 1, 1)
_MOST_TICKS = 1 << 63
STEPS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""Steps in a second."""


class Kind(StrEnum):
    """What a quantity counts, and from where."""

    DATE = "date"
    """Days from 1970-01-01."""
    TIME = "time"
    """Seconds from midnight."""
    TIMESTAMP = "timestamp"
    """Seconds from 1970-01-01 on a clock of no known zone."""
    INSTANT = "instant"
    """Seconds from 1970-01-01 in UTC."""
    DURATION = "duration"
    """Seconds."""
    DECIMAL = "decimal"
    """Ones: the number itself."""


@dataclass(frozen=True, slots=True, order=True)
class Measure:
    """What the whole numbers of a column count: a kind, and how many steps make a day, a second or
    a one.
    """

    kind: Kind
    steps: int

    def __str__(self) -> str:
        if self.kind is Kind.DATE:
            return str(self.kind)
        if self.kind is Kind.DECIMAL:
            return f"decimal[{len(str(self.steps)) - 1}]"
        return f"{self.kind}[{next(unit for unit, steps in STEPS.items() if steps == self.steps)}]"


@dataclass(frozen=True, slots=True, order=True)
class Quantity:
    """A date, time, duration or decimal."""

    measure: Measure
    ticks: int

    @property
    def amount(self) -> Fraction:
        """The quantity in days, seconds or ones."""
        return Fraction(self.ticks, self.measure.steps)

    def __str__(self) -> str:
        """Write it exactly: a date and time as ISO 8601 has it, a duration such as P1DT2H0M3.5S, a
        decimal.
        """
        kind = self.measure.kind
        if kind is Kind.DATE:
            return _date_text(self.ticks)
        if kind is Kind.DECIMAL:
            return _decimal_text(self.amount)
        sign = "-" if self.ticks < 0 else ""
        if kind is Kind.TIME:
            return sign + _clock_text(abs(self.amount))
        if kind is Kind.DURATION:
            return sign + _duration_text(abs(self.amount))
        days, seconds = divmod(self.amount, DAY_S)
        return f"{_date_text(days)}T{_clock_text(seconds)}" + ("Z" if kind is Kind.INSTANT else "")


def parse_measure(text: str) -> Measure | None:
    """Return the measure that a text names; None where it names none."""
    name, _, step = text.rstrip("]").partition("[")
    if text == Kind.DATE:
        return Measure(Kind.DATE, 1)
    if name not in set(Kind) - {Kind.DATE} or not text.endswith("]"):
        return None
    if name == Kind.DECIMAL:
        return (
            Measure(Kind.DECIMAL, 10 ** int(step))
            if re.fullmatch(r"[1-9]|[1-6][0-9]|7[0-6]", step)
            else None
        )
    return Measure(Kind(name), STEPS[step]) if step in STEPS else None


def parse_quantity(text: str, measure: Measure) -> Quantity | None:
    """Return the quantity that a text spells; None where it spells none that a column of the
    measure can hold.
    """
    pattern = _PATTERNS[measure.kind]
    match = re.fullmatch(pattern, text, re.ASCII)
    if match is None or len(text) > 100:
        return None
    found = match.groupdict()
    ticks = _amount(found) * measure.steps
    if ticks.denominator != 1 or not -_MOST_TICKS <= ticks < _MOST_TICKS:
        return None
    quantity = Quantity(measure, int(ticks))
    # A quantity has only one spelling, and a date that does not exist, such as the 31st of April,
    # has none.
    return quantity if str(quantity) == text else None


def amount_of(value: int | float | str, measure: Measure) -> Fraction | None:
    """Return the amount that a user wrote for a column of this measure, or None if it is of another
    kind.

    Decimals may be numbers. Dates and times are texts, as Quantity writes them or in another form
    of ISO 8601.
    """
    if not isinstance(value, str):
        return Fraction(str(value)) if measure.kind is Kind.DECIMAL else None
    if measure.kind in (Kind.DECIMAL, Kind.DURATION):
        match = re.fullmatch(_PATTERNS[measure.kind], value, re.ASCII)
        return None if match is None else _amount(match.groupdict())
    known = parse_quantity(value, measure)
    try:
        return known.amount if known is not None else _iso_amount(value, measure.kind)
    except ValueError:
        return None


def _iso_amount(text: str, kind: Kind) -> Fraction | None:
    if kind is Kind.DATE:
        return Fraction((datetime.date.fromisoformat(text) - _EPOCH.date()).days)
    if kind is Kind.TIME:
        clock = datetime.time.fromisoformat(text)
        since = (
            None if clock.tzinfo is not None else datetime.datetime.combine(_EPOCH, clock) - _EPOCH
        )
    else:
        moment = datetime.datetime.fromisoformat(text)
        if kind is Kind.INSTANT:
            since = None if moment.tzinfo is None else moment - _EPOCH.replace(tzinfo=datetime.UTC)
        else:
            since = None if moment.tzinfo is not None else moment - _EPOCH
    return None if since is None else Fraction(since // datetime.timedelta(microseconds=1), 10**6)


def edge_among(cut: int | float | Quantity, measure: Measure | None, *, whole: bool) -> int | float:
    """Return the cut in the column's own numbers: a value lies above it exactly when it lies above
    the cut.

    For whole numbers, and for those that count steps of a measure, it is whole; for others, the
    greatest float up to the cut.
    """
    if isinstance(cut, float) and not math.isfinite(cut):
        return cut
    exact = cut.amount if isinstance(cut, Quantity) else Fraction(cut)
    if measure is not None:
        return math.floor(exact * measure.steps)
    if whole:
        return math.floor(exact)
    near = float(exact)
    if not isinstance(cut, Quantity) and near == cut:
        return cut
    return math.nextafter(near, -math.inf) if Fraction(near) > exact else near


def year_of(quantity: Quantity) -> int | None:
    """Return the year of a date or timestamp; None for other kinds."""
    if quantity.measure.kind not in (Kind.DATE, Kind.TIMESTAMP, Kind.INSTANT):
        return None
    days = quantity.amount if quantity.measure.kind is Kind.DATE else quantity.amount / DAY_S
    return _civil(math.floor(days))[0]


_SECONDS = r"(?P<seconds>[0-9]+)(?:\.(?P<fraction>[0-9]+))?"
_DATE = r"(?P<year>[+-]?[0-9]{4,})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12][0-9]|3[01])"
_CLOCK = rf"(?P<hours>[0-9]{{2,}}):(?P<minutes>[0-9]{{2}}):{_SECONDS}"
_PATTERNS = {
    Kind.DATE: _DATE,
    Kind.TIME: rf"(?P<sign>-?){_CLOCK}",
    Kind.TIMESTAMP: rf"{_DATE}T{_CLOCK}",
    Kind.INSTANT: rf"{_DATE}T{_CLOCK}Z",
    Kind.DURATION: (
        r"(?P<sign>-?)P(?P<days>[0-9]+)D"
        rf"T(?P<hours>[0-9]+)H(?P<minutes>[0-9]+)M{_SECONDS}S"
    ),
    Kind.DECIMAL: r"(?P<sign>-?)(?P<seconds>[0-9]+)(?:\.(?P<fraction>[0-9]+))?",
}


def _amount(found: dict[str, str | None]) -> Fraction:
    """Return the sum of the parts of a text: in days for a date, else in seconds or ones."""

    def whole(name: str) -> int:
        return int(found.get(name) or 0)

    fraction = found.get("fraction") or ""
    amount = Fraction(whole("seconds")) + Fraction(int(fraction or 0), 10 ** len(fraction))
    amount += 60 * whole("minutes") + 3600 * whole("hours") + DAY_S * whole("days")
    if found.get("year") is not None:
        date = _days(whole("year"), whole("month"), whole("day"))
        amount = Fraction(date) if found.get("hours") is None else amount + DAY_S * date
    return -amount if found.get("sign") else amount


def _date_text(days: int) -> str:
    year, month, day = _civil(days)
    written = f"{year:04d}" if 0 <= year <= 9999 else f"{year:+05d}"
    return f"{written}-{month:02d}-{day:02d}"


def _clock_text(seconds: Fraction) -> str:
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    return f"{hours:02d}:{minutes:02d}:{int(rest):02d}{_fraction_text(rest % 1)}"


def _duration_text(seconds: Fraction) -> str:
    days, rest = divmod(seconds, DAY_S)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    return f"P{days}DT{hours}H{minutes}M{int(rest)}{_fraction_text(rest % 1)}S"


def _decimal_text(amount: Fraction) -> str:
    return f"{'-' * (amount < 0)}{int(abs(amount))}{_fraction_text(abs(amount) % 1)}"


def _fraction_text(part: Fraction) -> str:
    """Write a proper fraction's decimal point and digits, or nothing for 0; its denominator divides
    a power of ten.
    """
    digits = 0
    while 10**digits % part.denominator:
        digits += 1
    return f".{int(part * 10**digits):0{digits}d}" if digits else ""


def _days(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to a date of the Gregorian calendar, extended both ways.

    Years are taken to begin in March, so that the leap day is the last of its year.
    """
    year -= month <= 2
    since_march = (153 * ((month - 3) % 12) + 2) // 5 + day - 1
    return 365 * year + year // 4 - year // 100 + year // 400 + since_march - 719_468


def _civil(days: int) -> tuple[int, int, int]:
    """Return the year, month and day of a number of days from 1970-01-01; the inverse of _days."""
    days += 719_468
    cycle, day_of_cycle = divmod(days, 146_097)
    year = (
        day_of_cycle - day_of_cycle // 1460 + day_of_cycle // 36_524 - day_of_cycle // 146_096
    ) // 365
    day_of_year = day_of_cycle - (365 * year + year // 4 - year // 100)
    place = (5 * day_of_year + 2) // 153
    month = (place + 2) % 12 + 1
    return year + 400 * cycle + (month <= 2), month, day_of_year - (153 * place + 2) // 5 + 1
