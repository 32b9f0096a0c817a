"""Dates, times, durations and decimals in other languages: exact for every value that the language
can hold.

For a language whose clock has microseconds, a cut is written as the last microsecond that is not
after it: every value that the language can hold lies above both or above neither. A duration is
written as the whole number of steps that Parquet stores, which is what databases read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from dnfscale.core.quantities import DAY_S, STEPS, Kind, Measure, Quantity, year_of
from dnfscale.core.vocabulary import Above, Attribute, Between, cuts_of
from dnfscale.errors import DataError


def duckdb_quantity(quantity: Quantity) -> str:
    """Write a quantity for DuckDB, which has nanoseconds too, as types of their own."""
    exact = quantity == _to_microseconds(quantity)
    names = {Kind.DATE: "DATE", Kind.TIMESTAMP: "TIMESTAMP" if exact else "TIMESTAMP_NS"}
    # DuckDB cannot compare times of the two types with each other, nor instants.
    own = "_NS" if quantity.measure.steps == STEPS["ns"] else ""
    names |= {Kind.INSTANT: f"TIMESTAMPTZ{own}", Kind.TIME: f"TIME{own}"}
    return _standard(quantity, names, "DuckDB")


def postgres_quantity(quantity: Quantity) -> str:
    """Write a quantity for PostgreSQL."""
    names = {
        Kind.DATE: "DATE",
        Kind.TIME: "TIME",
        Kind.TIMESTAMP: "TIMESTAMP",
        Kind.INSTANT: "TIMESTAMPTZ",
    }
    return _standard(_to_microseconds(quantity), names, "PostgreSQL")


def bigquery_quantity(quantity: Quantity) -> str:
    """Write a quantity for BigQuery, where a plain number with a point is a float."""
    if quantity.measure.kind is Kind.DECIMAL:
        return f"{'NUMERIC' if quantity.measure.steps <= 10**9 else 'BIGNUMERIC'} '{quantity}'"
    names = {
        Kind.DATE: "DATE",
        Kind.TIME: "TIME",
        Kind.TIMESTAMP: "DATETIME",
        Kind.INSTANT: "TIMESTAMP",
    }
    return _standard(_to_microseconds(quantity), names, "BigQuery")


def snowflake_quantity(quantity: Quantity) -> str:
    """Write a quantity for Snowflake."""
    names = {
        Kind.DATE: "DATE",
        Kind.TIME: "TIME",
        Kind.TIMESTAMP: "TIMESTAMP_NTZ",
        Kind.INSTANT: "TIMESTAMP_TZ",
    }
    kind, written = quantity.measure.kind, _standard(_to_microseconds(quantity), names, "Snowflake")
    if kind in (Kind.DECIMAL, Kind.DURATION):
        return written
    # Only dates, times and plain timestamps have literals of their own.
    name, _, value = written.partition(" ")
    return f"{value}::{name}"


def spark_quantity(quantity: Quantity) -> str:
    """Write a quantity for Spark, which has no times of day."""
    if quantity.measure.kind is Kind.TIME:
        raise DataError(
            f"Spark has no times of day, but the model cuts at {quantity}; export to another "
            "dialect, or learn without that column"
        )
    names = {Kind.DATE: "DATE", Kind.TIMESTAMP: "TIMESTAMP_NTZ", Kind.INSTANT: "TIMESTAMP"}
    return _standard(_to_microseconds(quantity), names, "Spark")


def python_amount(variable: str, kind: Kind) -> str:
    """Write the value of a variable so that it compares with quantities as python_quantity writes
    them.
    """
    if kind is Kind.DECIMAL:
        return variable
    if kind is Kind.DATE:
        return f"({variable} - datetime.date(1970, 1, 1)).days"
    zone = ", tzinfo=datetime.timezone.utc" if kind is Kind.INSTANT else ""
    span = {
        Kind.DURATION: variable,
        Kind.TIME: (
            f"datetime.datetime.combine(datetime.date(1970, 1, 1), {variable}) - "
            "datetime.datetime(1970, 1, 1)"
        ),
    }.get(kind, f"{variable} - datetime.datetime(1970, 1, 1{zone})")
    return f"_nanoseconds({span})"


def python_quantity(quantity: Quantity) -> str:
    """Write a quantity for Python; see python_needs for the imports and functions that it needs."""
    kind = quantity.measure.kind
    if kind is Kind.DECIMAL:
        return f'decimal.Decimal("{quantity}")'
    return str(quantity.ticks if kind is Kind.DATE else math.floor(quantity.amount * STEPS["ns"]))


def python_needs(attributes: Iterable[Attribute]) -> tuple[list[str], list[str]]:
    """Return the imports and the functions that the module of some attributes needs."""
    cuts = (cut for a in attributes if isinstance(a, Above | Between) for cut in cuts_of(a))
    used = {cut.measure.kind for cut in cuts if isinstance(cut, Quantity)}
    imports = ["import datetime"] if used - {Kind.DECIMAL} else []
    imports += ["import decimal"] if Kind.DECIMAL in used else []
    return imports, [_NANOSECONDS] if used - {Kind.DECIMAL, Kind.DATE} else []


_NANOSECONDS = '''\
def _nanoseconds(span):
    """Return a timedelta as a whole number; that of pandas has nanoseconds of its own."""
    seconds = span.days * 86400 + span.seconds
    return (seconds * 1000000 + span.microseconds) * 1000 + getattr(span, "nanoseconds", 0)'''


def _to_microseconds(quantity: Quantity) -> Quantity:
    """Return the last whole microsecond that is not after a time; other quantities as they are."""
    if (
        quantity.measure.kind in (Kind.DATE, Kind.DURATION, Kind.DECIMAL)
        or quantity.amount * STEPS["us"] % 1 == 0
    ):
        return quantity
    return Quantity(
        Measure(quantity.measure.kind, STEPS["us"]), math.floor(quantity.amount * STEPS["us"])
    )


def _standard(quantity: Quantity, names: dict[Kind, str], title: str) -> str:
    kind = quantity.measure.kind
    if kind is Kind.DECIMAL:
        return str(quantity)
    if kind is Kind.DURATION:
        return str(quantity.ticks)
    year = year_of(quantity)
    if not 1 <= (1 if year is None else year) <= 9999 or (
        kind is Kind.TIME and not 0 <= quantity.amount < DAY_S
    ):
        raise DataError(
            f"{title} can be told years from 1 to 9999 and times within a day, but the "
            f"model cuts at {quantity}; "
            "learn without that column, or correct its values"
        )
    return f"{names[kind]} '{str(quantity).replace('T', ' ').replace('Z', '+00')}'"
