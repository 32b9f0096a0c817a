"""The dialects of Snowflake, Spark and SQLite.

Snowflake and Spark take NaN for the greatest of all numbers, as DuckDB does; SQLite stores NaN as
NULL. Spark compares names of columns without regard to case, Snowflake compares quoted names
exactly. SQLite has no dates, and reads a number of more than fifteen digits inexactly, so such a
number is written as a fraction.
"""

from __future__ import annotations

import math
import re
import string

from dnfscale.core.parts import Part, Unit
from dnfscale.core.quantities import Kind, Quantity
from dnfscale.errors import DataError
from dnfscale.export.clocks import standard_place
from dnfscale.export.dialect import Dialect, backslashed, exact_number, quoted_name, written_number
from dnfscale.export.moments import snowflake_quantity, spark_quantity

_LOWER_ASCII = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_MOST_DIGITS = 15
_SMALL = 1e-15
_LARGE = 1e15


def _snowflake_number(value: int | float) -> str:
    return written_number(
        value,
        infinite=lambda sign: f"'{sign}inf'::FLOAT",
        finite=lambda number: f"'{number!r}'::FLOAT",
    )


def _snowflake_truth(column: str, truth: str, holds: bool) -> str:
    return f"{column} {'IS NOT' if holds else 'IS'} DISTINCT FROM {truth}"


def _snowflake_part(column: str, part: Part) -> str:
    field = {Unit.WEEKDAY: "DAYOFWEEKISO", Unit.HOUR: "HOUR", Unit.MONTH: "MONTH"}[part.unit]
    local = column if part.zone is None else f"CONVERT_TIMEZONE('{part.zone}', {column})"
    return f"{field}({local})"


def _spark_name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _spark_number(value: int | float) -> str:
    return written_number(
        value,
        infinite=lambda sign: f"DOUBLE('{sign}Infinity')",
        finite=lambda number: f"{number!r}D",
    )


def _spark_part(column: str, part: Part) -> str:
    if part.zone is not None:
        raise DataError(
            f"Spark reads a {part.unit} by the clock of its session, but the model asks for that "
            f"of {part.zone}; export to another dialect, or learn from local times"
        )
    field = {Unit.WEEKDAY: "DAYOFWEEK_ISO", Unit.HOUR: "HOUR", Unit.MONTH: "MONTH"}[part.unit]
    return f"EXTRACT({field} FROM {column})"


def _sqlite_text(value: str) -> str:
    if "\0" in value:
        raise DataError(
            f"SQLite ends a text at the character NUL, but the model compares with {value!r}; "
            "export to another dialect, or learn without that category"
        )
    pieces = [
        f"char({ord(piece)})" if re.fullmatch(r"[\x01-\x1f\x7f]", piece) else _sqlite_quoted(piece)
        for piece in re.split(r"([\x01-\x1f\x7f])", value)
        if piece
    ]
    return f"({' || '.join(pieces)})" if len(pieces) > 1 else "".join(pieces) or "''"


def _sqlite_quoted(value: str) -> str:
    doubled = value.replace("'", "''")
    return f"'{doubled}'"


def _sqlite_number(value: int | float) -> str:
    whole = exact_number(value)
    if whole is not None and -(1 << 63) < int(whole) < 1 << 63:
        return whole
    if math.isinf(value):
        return "9e999" if value > 0 else "-9e999"
    number = float(value)
    written = repr(number)
    digits = sum(map(str.isdigit, written.partition("e")[0].lstrip("-0.")))
    if digits <= _MOST_DIGITS and _SMALL < abs(number) < _LARGE:
        return written
    return _sqlite_fraction(number)


def _sqlite_fraction(number: float) -> str:
    """Write a number by whole numbers and powers of two, which are read exactly, and whose products
    and quotients are exact.
    """
    top, bottom = number.as_integer_ratio()
    shift = max(0, top.bit_length() - 53)
    written = f"{top >> shift}.0"
    for power, sign in ((shift, "*"), (bottom.bit_length() - 1, "/")):
        while power:
            step = min(power, 62)
            written += f" {sign} {1 << step}.0"
            power -= step
    return f"({written})"


def _sqlite_quantity(quantity: Quantity) -> str:
    if quantity.measure.kind is Kind.DURATION:
        return str(quantity.ticks)
    raise DataError(
        f"SQLite has no {quantity.measure.kind}s, but the model cuts at {quantity}; export to "
        "another dialect, or learn without that column"
    )


def _sqlite_part(_column: str, part: Part) -> str:
    raise DataError(
        f"SQLite has no dates and times, but the model asks for the {part}; export to another "
        "dialect, or learn without that column"
    )


SNOWFLAKE = Dialect(
    title="Snowflake",
    name=quoted_name,
    text=lambda value: backslashed(value, "'"),
    number=_snowflake_number,
    quantity=snowflake_quantity,
    below_nan=lambda column: f"{column} < 'NaN'::FLOAT",
    is_nan=lambda column: f"{column} = 'NaN'::FLOAT",
    any_is_nan=lambda column: (
        f"TYPEOF(TO_VARIANT({column})) = 'DOUBLE' AND {column}::VARCHAR = 'NaN'"
    ),
    same_name=str,
    part=_snowflake_part,
    place=standard_place,
    double="DOUBLE",
    nan_note="'NaN': no condition holds for NaN, which Snowflake takes for the greatest number.",
    is_truth=_snowflake_truth,
)
SPARK = Dialect(
    title="Spark",
    name=_spark_name,
    text=lambda value: backslashed(value, "'"),
    number=_spark_number,
    quantity=spark_quantity,
    below_nan=lambda column: f"NOT ISNAN({column})",
    is_nan=lambda column: f"ISNAN({column})",
    any_is_nan=lambda column: (
        f"TYPEOF({column}) IN ('float', 'double') AND CAST({column} AS STRING) = 'NaN'"
    ),
    same_name=str.lower,
    part=_spark_part,
    place=standard_place,
    double="DOUBLE",
    nan_note="ISNAN: no condition holds for NaN, which Spark takes for the greatest number.",
)
SQLITE = Dialect(
    title="SQLite",
    name=quoted_name,
    text=_sqlite_text,
    number=_sqlite_number,
    quantity=_sqlite_quantity,
    below_nan=None,
    is_nan=None,
    any_is_nan=None,
    same_name=lambda name: name.translate(_LOWER_ASCII),
    part=_sqlite_part,
    place=standard_place,
    double="REAL",
    distinct="IS NOT",
    greatest="MAX",
    # It takes TRUE and FALSE for columns of these names, if there are some.
    truths=("0", "1"),
)
