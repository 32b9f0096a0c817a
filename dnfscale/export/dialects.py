"""SQL dialects: how each engine spells names, texts, numbers and comparisons, so that none is
silently misread.

Three things differ between engines and would be wrong in silence. DuckDB and PostgreSQL take NaN
for the greatest of all numbers, BigQuery compares it with nothing. DuckDB compares the text '1'
with the number 1 by turning one into the other, so its comparisons are spelled in ways that refuse
a column of another type. And an engine may take two names for the same: DuckDB and BigQuery where
only the case differs, PostgreSQL where they differ after 63 bytes.
"""

from __future__ import annotations

import math
import string
from collections.abc import Mapping

from dnfscale.errors import DataError
from dnfscale.export.clocks import (
    bigquery_part,
    bigquery_place,
    duckdb_part,
    postgres_part,
    standard_place,
)
from dnfscale.export.dialect import (
    Dialect,
    backslashed,
    castable,
    exact_number,
    quoted_name,
    standard_text,
    written_number,
)
from dnfscale.export.moments import bigquery_quantity, duckdb_quantity, postgres_quantity
from dnfscale.export.warehouses import SNOWFLAKE, SPARK, SQLITE

_LOWER_ASCII = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def _duckdb_looked_up(number: list[str], known: Mapping[int, str], others: list[str]) -> list[str]:
    # DuckDB compares by a copy of the number for each case: 113 cases of a number of 20 lines take
    # 200 s, and lists of them 0.1 s.
    found = [
        f"list_extract([{', '.join(known.values())}],",
        f"list_position([{', '.join(map(str, known))}],",
        *number,
        "))",
    ]
    return ["COALESCE(", *found, ",", *others, ")"] if others else found


def _duckdb_text(value: str) -> str:
    if "\0" not in value:
        return standard_text(value, r"[\x00-\x1f\x7f]")
    # A literal cannot hold NUL, a text can.
    return (
        "("
        + " || chr(0) || ".join(
            standard_text(part, r"[\x00-\x1f\x7f]") for part in value.split("\0")
        )
        + ")"
    )


def _duckdb_number(value: int | float) -> str:
    return written_number(
        value, infinite=lambda sign: f"'{sign}Infinity'::DOUBLE", finite=_duckdb_double
    )


def _duckdb_double(value: float) -> str:
    # Without an exponent it would be a DECIMAL, which becomes a DOUBLE with two roundings.
    written = repr(value)
    return written if "e" in written else f"{written}e0"


def _postgres_text(value: str) -> str:
    if "\0" in value:
        raise DataError(
            "PostgreSQL has no texts with the character NUL, but the model compares with "
            f"{value!r}; "
            "export to another dialect, or learn without that category"
        )
    written = standard_text(value, r"[\x00-\x1f\x7f\\]")
    # A bare literal takes the column's type, and '1' would equal the number 1.
    return f"{written}::text" if castable(value) else written


def _postgres_number(value: int | float) -> str:
    return written_number(value, infinite=lambda sign: f"'{sign}Infinity'::float8")


def _bigquery_text(value: str) -> str:
    return backslashed(value, "'")


def _bigquery_number(value: int | float) -> str:
    whole = exact_number(value)
    if whole is not None:
        return whole if -(1 << 63) <= int(value) < 1 << 63 else f"BIGNUMERIC '{whole}'"
    if math.isinf(value):
        return "CAST('inf' AS FLOAT64)" if value > 0 else "CAST('-inf' AS FLOAT64)"
    return repr(value)


DIALECTS: dict[str, Dialect] = {
    "duckdb": Dialect(
        title="DuckDB",
        name=quoted_name,
        text=_duckdb_text,
        number=_duckdb_number,
        quantity=duckdb_quantity,
        # Nothing is greater than NaN. Parquet's statistics of the least and greatest number leave
        # NaN out, and DuckDB 2.0 decides comparisons with NaN by them; it has no statistics of a
        # function's result, hence least().
        below_nan=lambda column: f"{column} = least({column}, 'inf'::DOUBLE)",
        is_nan=lambda column: f"{column} > least({column}, 'inf'::DOUBLE)",
        any_is_nan=lambda column: (
            f"typeof({column}) IN ('FLOAT', 'DOUBLE') AND {column}::VARCHAR IN ('nan', '-nan')"
        ),
        same_name=lambda name: name.translate(_LOWER_ASCII),
        part=duckdb_part,
        place=standard_place,
        double="DOUBLE",
        sign="+",
        compared_by_like=castable,
        nan_note=(
            "least(x, 'inf'): no condition holds for NaN, which DuckDB takes for the greatest "
            "number."
        ),
        looked_up=_duckdb_looked_up,
        rounded=lambda number, digits: f"ROUND({number}, {digits})",
    ),
    "postgres": Dialect(
        title="PostgreSQL",
        name=quoted_name,
        text=_postgres_text,
        number=_postgres_number,
        quantity=postgres_quantity,
        below_nan=lambda column: f"{column} < 'NaN'::float8",
        is_nan=lambda column: f"{column} = 'NaN'::float8",
        any_is_nan=lambda column: (
            f"pg_typeof({column})::text IN ('real', 'double precision', 'numeric') AND "
            f"{column}::text = 'NaN'"
        ),
        same_name=lambda name: name.encode("utf-8", "surrogatepass")[:63].decode("utf-8", "ignore"),
        part=postgres_part,
        place=standard_place,
        double="DOUBLE PRECISION",
        # As a float again: a cut is written as the whole number that a float is.
        rounded=lambda number, digits: (
            f"CAST(ROUND(CAST({number} AS NUMERIC), {digits}) AS DOUBLE PRECISION)"
        ),
        nan_note=(
            "'NaN': no condition holds for NaN, which PostgreSQL takes for the greatest number."
        ),
    ),
    "bigquery": Dialect(
        title="BigQuery",
        name=lambda name: backslashed(name, "`"),
        text=_bigquery_text,
        number=_bigquery_number,
        quantity=bigquery_quantity,
        below_nan=None,
        is_nan=lambda column: f"IS_NAN({column})",
        any_is_nan=lambda column: f"""FORMAT('%T', {column}) = 'CAST("nan" AS FLOAT64)'""",
        same_name=str.lower,
        part=bigquery_part,
        place=bigquery_place,
        double="FLOAT64",
        nan_note="IS_NAN: a comparison with NaN does not hold, so its negation must.",
        remainder=lambda number, divisor: f"MOD({number}, {divisor})",
    ),
    "snowflake": SNOWFLAKE,
    "spark": SPARK,
    "sqlite": SQLITE,
}
