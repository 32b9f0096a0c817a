"""The SQL for BigQuery, read by a parser of its dialect and carried out by DuckDB after
translation.

DuckDB orders NaN otherwise than BigQuery does, so these rows have none.
"""

from __future__ import annotations

import re

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings

from dnfscale.core.vocabulary import Above, Equals, IsMissing
from dnfscale.errors import DataError
from dnfscale.export.sql import export_sql
from tests.export import examples
from tests.export.examples import NAMES, TEXTS, Case, expected, formula, single, used

sqlglot = pytest.importorskip(
    "sqlglot", reason="sqlglot, which reads BigQuery's SQL, is not installed"
)


def test_bigquery_says_what_predict_says(case):
    table = without_nan(used(case))
    assert translated(Case(case.model, table)) == expected(case.model, table)


@pytest.mark.slow
@given(made=examples.cases())
@settings(max_examples=60)
def test_any_model_is_sql_that_bigquery_would_read(made):
    [statement] = sqlglot.parse(
        export_sql(made.model, "bigquery", "my-project.d.t"), read="bigquery"
    )
    assert [part.name for part in statement.find(sqlglot.exp.Table).parts] == [
        "my-project",
        "d",
        "t",
    ]
    assert [select.alias for select in statement.selects] == ["", "prediction"]


@pytest.mark.parametrize("text", [*TEXTS, "x\0y"])
def test_a_text_reads_back_as_itself_from_one_line(text):
    sql = export_sql(single(Equals("a", "c", text)), "bigquery")
    assert "\n" not in sql
    assert [token.token_type.name for token in sqlglot.tokenize(sql, read="bigquery")].count(
        "STRING"
    ) == 1
    assert read_back(sql.removeprefix("COALESCE(`c` = ").removesuffix(", FALSE)"), "'") == text


@pytest.mark.portable
@pytest.mark.parametrize("name", NAMES)
def test_a_name_reads_back_as_itself_from_one_line(name):
    sql = export_sql(single(Above("a", name, 1)), "bigquery")
    assert "\n" not in sql
    assert [token.token_type.name for token in sqlglot.tokenize(sql, read="bigquery")].count(
        "IDENTIFIER"
    ) == 1
    assert read_back(sql.removeprefix("COALESCE(").removesuffix(" > 1, FALSE)"), "`") == name


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (5, "5"),
        (-5.0, "-5"),
        (686.5, "686.5"),
        (2**63, "BIGNUMERIC '9223372036854775808'"),
        (-(2**63), "-9223372036854775808"),
        (float("inf"), "CAST('inf' AS FLOAT64)"),
        (1e300, "1e+300"),
    ],
)
def test_numbers_are_written_exactly(value, written):
    assert (
        export_sql(single(Above("a", "x", value)), "bigquery")
        == f"COALESCE(`x` > {written}, FALSE)"
    )


def test_an_absence_is_null_or_nan():
    assert export_sql(single(IsMissing("a", "x")), "bigquery") == (
        """((`x` IS NULL OR FORMAT('%T', `x`) = 'CAST("nan" AS FLOAT64)'))"""
    )
    model = formula([IsMissing("m", "x"), Above("a", "x", 1)], [[(0, True)], [(1, True)]])
    assert "(`x` IS NULL OR IS_NAN(`x`))" in export_sql(model, "bigquery")


def test_names_that_differ_in_case_only_are_refused():
    model = formula([Above("a", "Ä", 1), Above("b", "ä", 1)], [[(0, True), (1, True)]])
    with pytest.raises(DataError, match=r"^BigQuery takes the columns 'Ä' and 'ä' for the same"):
        export_sql(model, "bigquery")


def translated(case: Case) -> list[bool]:
    """What DuckDB says, asked in its own words."""
    [sql] = sqlglot.transpile(
        export_sql(case.model, "bigquery", "t"), read="bigquery", write="duckdb"
    )
    with duckdb.connect() as connection:
        connection.register("t", case.table)
        return [row[-1] for row in connection.sql(sql).fetchall()]


def without_nan(table: pa.Table) -> pa.Table:
    columns = {
        name: pa.array(
            [None if value != value else value for value in table.column(name).to_pylist()], kind
        )
        for name, kind in zip(table.column_names, table.schema.types, strict=True)
    }
    return pa.table(columns)


def read_back(quoted: str, delimiter: str) -> str:
    """What BigQuery reads between two delimiters, by its rules for escapes."""
    assert quoted[0] == quoted[-1] == delimiter
    parts = re.findall(r"\\u([0-9a-f]{4})|\\U([0-9a-f]{8})|\\(.)|(.)", quoted[1:-1])
    assert delimiter not in {plain for *_, plain in parts}
    named = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", "`": "`"}
    return "".join(
        chr(int(short or long, 16)) if short or long else named[escaped] if escaped else plain
        for short, long, escaped, plain in parts
    )
