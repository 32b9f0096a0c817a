"""Cuts and intervals of dates, times, durations and decimals mean the same in every language."""

from __future__ import annotations

import json
from contextlib import nullcontext, suppress
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from dnfscale.core.model import Model
from dnfscale.core.quantities import Quantity
from dnfscale.core.vocabulary import Above, Attribute, Between
from dnfscale.data.measures import measure_of
from dnfscale.data.models import model_text, parse_model
from dnfscale.errors import DataError
from dnfscale.export.dialects import DIALECTS
from dnfscale.export.latex import export_latex
from dnfscale.export.pmml import export_pmml
from dnfscale.export.python import export_python
from dnfscale.export.sql import export_sql
from dnfscale.export.text import export_text
from tests.export.examples import expected, formula
from tests.export.postgres import Postgres
from tests.jobs.judging import accepts, exact_rows
from tests.quantities import COLUMNS, with_nulls


def model_of(column: pa.Array) -> Model:
    """A cut and two intervals that overlap, as they are and negated; their ends are values of the
    column.
    """
    measure = measure_of(column.type)
    assert measure is not None
    numbers = [int(row["x"] * measure.steps) for row in exact_rows(pa.table({"x": column}))]
    cuts = [
        Quantity(measure, number)
        for number in np.array(sorted(numbers), dtype=object)[[20, 80, 120, 200]]
    ]
    assert cuts == sorted(set(cuts))
    attributes: list[Attribute] = [
        Above("above", "when", cuts[1]),
        Between("low", "when", cuts[0], cuts[2]),
        Between("high", "when", cuts[1], cuts[3]),
    ]
    return formula(
        attributes, [[(0, False), (1, True)], [(1, False), (2, True)], [(0, False), (1, False)]]
    )


@pytest.fixture(params=COLUMNS)
def case(request: pytest.FixtureRequest) -> tuple[Model, pa.Table]:
    column = COLUMNS[request.param]
    return model_of(column), pa.table({"when": with_nulls(column)})


def test_predict_says_what_fractions_say(case: tuple[Model, pa.Table]) -> None:
    model, table = case
    record = json.loads(model_text(model))
    assert parse_model(record).tau == model.tau
    assert expected(model, table) == [accepts(record, row) for row in exact_rows(table)]
    assert 0 < sum(expected(model, table)) < table.num_rows


def test_duckdb_says_what_predict_says(
    case: tuple[Model, pa.Table], connection: duckdb.DuckDBPyConnection
) -> None:
    model, table = case
    if pa.types.is_duration(table["when"].type):
        # Databases read what Parquet stores of a duration, a whole number.
        table = pa.table({"when": table["when"].cast(pa.int64())})
    connection.register("t", table)
    found = connection.sql(export_sql(model, table="t")).project("prediction").fetchall()
    assert [answer for (answer,) in found] == expected(*case)


def test_postgres_says_what_predict_says(case: tuple[Model, pa.Table], postgres: Postgres) -> None:
    model, table = case
    kind = table["when"].type
    if pa.types.is_duration(kind) or getattr(kind, "unit", "") == "ns":
        pytest.skip("PostgreSQL has no nanoseconds, and durations of its own")
    postgres.load(table, "t")
    answers = postgres.answers(export_sql(model, "postgres", "t"))
    assert [answer == "t" for answer in answers] == expected(model, table)


def test_python_says_what_predict_says(case: tuple[Model, pa.Table]) -> None:
    model, table = case
    if table["when"].type == pa.time64("ns"):
        pytest.skip("Python's own times have no nanoseconds")
    scope: dict[str, Any] = {}
    exec(export_python(model), scope)
    assert [scope["predict"](row) for row in table.to_pylist()] == expected(model, table)


def test_people_read_the_values_and_pmml_refuses_them(case: tuple[Model, pa.Table]) -> None:
    model, _ = case
    low = model.tau.attributes[1]
    assert isinstance(low, Between)
    assert f"{low.low} < when ≤ {low.high}" in export_text(formula([low], [[(0, True)]]))
    assert r"\text{when} \le " in export_latex(model)
    for dialect in DIALECTS:
        # SQLite has none of them, and Spark has no times of day.
        with suppress(DataError) if dialect in ("spark", "sqlite") else nullcontext():
            assert export_sql(model, dialect)
    with pytest.raises(
        DataError,
        match=r"^PMML has no exact .*s that its readers agree on, but the model cuts 'when'",
    ):
        export_pmml(formula([low], [[(0, True)]]))
