"""SQLite carries out its SQL; that for Snowflake and Spark is read by a parser of their dialects,
and carried out by DuckDB after translation.

DuckDB orders NaN as these two do, but is told of it in other words, so those rows have none.
"""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dnfscale.core.vocabulary import Above, Equals
from dnfscale.errors import DataError
from dnfscale.export.sql import export_sql
from tests.export import examples
from tests.export.examples import NAMES, TEXTS, expected, formula, probabilities, single, used
from tests.export.test_bigquery import without_nan

sqlglot = pytest.importorskip("sqlglot", reason="sqlglot, which reads dialects, is not installed")


def by_sqlite(table: pa.Table, sql: str) -> list[tuple]:
    """What SQLite gives for a SELECT of the table t."""
    with closing(sqlite3.connect(":memory:")) as connection:
        names = ", ".join(
            f"{quoted(name)} {affinity(table[name].type)}" for name in table.schema.names
        )
        connection.execute(f"CREATE TABLE t ({names})")
        places = ", ".join("?" * table.num_columns)
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        connection.executemany(f"INSERT INTO t VALUES ({places})", map(stored, rows))
        return connection.execute(sql).fetchall()


def stored(row: tuple) -> tuple:
    # SQLite has whole numbers of 64 bits with a sign only.
    return tuple(float(v) if type(v) is int and abs(v) >= 1 << 63 else v for v in row)


def quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def affinity(kind: pa.DataType) -> str:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_floating(kind):
        return "REAL"
    return "TEXT" if pa.types.is_string(kind) or pa.types.is_large_string(kind) else "INTEGER"


@pytest.mark.slow
def test_sqlite_says_what_predict_says(case):
    rows = used(case)
    asked = by_sqlite(rows, export_sql(case.model, "sqlite", "t", probability=True))
    assert [bool(row[-2]) for row in asked] == expected(case.model, case.table)
    assert [row[-1] for row in asked] == probabilities(case)


@pytest.mark.slow
@pytest.mark.portable
@given(made=examples.cases())
@settings(max_examples=80)
def test_sqlite_agrees_on_any_model_and_any_rows(made):
    whole = [c for c in made.table.columns if pa.types.is_uint64(c.type)]
    if any(v is not None and v >= 1 << 63 for column in whole for v in column.to_pylist()):
        return
    found = by_sqlite(made.table, export_sql(made.model, "sqlite", "t"))
    assert [bool(row[-1]) for row in found] == expected(made.model, made.table)


@pytest.mark.slow
@given(value=st.floats(allow_nan=False))
@settings(max_examples=300)
def test_sqlite_reads_every_number_as_it_is(value):
    condition = export_sql(single(Above("a", "x", value)), "sqlite")
    with np.errstate(over="ignore"):
        near = [np.nextafter(value, -math.inf), value, np.nextafter(value, math.inf)]
    table = pa.table({"x": pa.array(near, pa.float64())})
    found = by_sqlite(table, f"SELECT {condition} FROM t")
    assert [bool(row[0]) for row in found] == [number > value for number in near]


@pytest.mark.parametrize("name", NAMES)
def test_sqlite_takes_any_name(name):
    model = formula([Above("a", name, 1.5)], [[(0, True)]])
    found = by_sqlite(pa.table({name: [1.0, 2.0, None]}), export_sql(model, "sqlite", "t"))
    assert [row[-1] for row in found] == [0, 1, 0]


@pytest.mark.parametrize("name", ["FALSE", "true"])
def test_sqlite_takes_no_column_for_a_truth_value(name):
    table = pa.table({name: ["x", None], "flag": [True, False]})
    flag = Equals("a", "flag", True)
    for model in (formula([flag], []), formula([flag], [[]]), single(flag), single(flag, False)):
        found = by_sqlite(table, export_sql(model, "sqlite", "t"))
        assert [bool(row[-1]) for row in found] == expected(model, table)


def test_sqlite_tells_every_hostile_text_from_all_others():
    table = pa.table({"c": [*TEXTS, None]})
    listed = ", ".join(export_sql(single(Equals("a", "c", text)), "sqlite") for text in TEXTS)
    for value, found in zip(
        [*TEXTS, None], by_sqlite(table, f"SELECT {listed} FROM t"), strict=True
    ):
        assert found == tuple(int(text == value) for text in TEXTS)


@pytest.mark.parametrize("dialect", ["snowflake", "spark"])
def test_duckdb_carries_out_what_others_are_told(case, dialect):
    table = without_nan(used(case))
    [sql] = sqlglot.transpile(export_sql(case.model, dialect, "t"), read=dialect, write="duckdb")
    with duckdb.connect() as connection:
        connection.register("t", table)
        answers = [row[-1] for row in connection.sql(sql).fetchall()]
    assert answers == expected(case.model, table)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "snowflake", "spark", "sqlite"])
@given(made=examples.cases())
@settings(max_examples=40)
def test_any_model_is_sql_that_its_engine_would_read(made, dialect):
    try:
        sql = export_sql(made.model, dialect, "t", probability=True)
    except DataError:
        return
    [statement] = sqlglot.parse(sql, read=dialect)
    assert [select.alias for select in statement.selects] == ["", "prediction", "probability"]


@pytest.mark.parametrize("dialect", ["snowflake", "spark"])
@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_one_literal_on_one_line(dialect, text):
    sql = export_sql(single(Equals("a", "c", text)), dialect)
    assert "\n" not in sql
    tokens = [token.token_type.name for token in sqlglot.tokenize(sql, read=dialect)]
    assert tokens.count("STRING") == 1


@pytest.mark.parametrize(
    ("dialect", "above", "at_most"),
    [
        (
            "snowflake",
            """COALESCE("x" > '2.5'::FLOAT AND "x" < 'NaN'::FLOAT, FALSE)""",
            """(("x" <= '2.5'::FLOAT OR "x" IS NULL OR "x" = 'NaN'::FLOAT))""",
        ),
        (
            "spark",
            "COALESCE(`x` > 2.5D AND NOT ISNAN(`x`), FALSE)",
            "((`x` <= 2.5D OR `x` IS NULL OR ISNAN(`x`)))",
        ),
        ("sqlite", 'COALESCE("x" > 2.5, 0)', '(("x" <= 2.5 OR "x" IS NULL))'),
    ],
)
def test_nan_is_above_nothing_in_the_words_of_each_engine(dialect, above, at_most):
    assert export_sql(single(Above("a", "x", 2.5)), dialect) == above
    assert export_sql(single(Above("a", "x", 2.5), False), dialect) == at_most
