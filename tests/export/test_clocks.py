"""Parts of dates and times mean the same in every language, whatever zone a session is in."""

from __future__ import annotations

import datetime
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from dnfscale.apply.evaluate import check_columns
from dnfscale.core.model import Model
from dnfscale.core.parts import Part, Unit
from dnfscale.core.vocabulary import Above, Attribute, Between, Equals
from dnfscale.data.models import model_record, parse_model
from dnfscale.errors import DataError
from dnfscale.export.latex import export_latex
from dnfscale.export.pmml import export_pmml
from dnfscale.export.python import export_python
from dnfscale.export.sql import export_sql
from dnfscale.export.text import export_text
from tests.export.examples import expected, formula
from tests.export.postgres import Postgres

SESSION_ZONE = "Pacific/Auckland"
KINDS = {
    "timestamp": pa.timestamp("us"),
    "timestamp of seconds": pa.timestamp("s"),
    "instant in UTC": pa.timestamp("us", "UTC"),
    "instant with an offset": pa.timestamp("ms", "-03:30"),
    "instant in Helsinki": pa.timestamp("us", "Europe/Helsinki"),
    "instant in New York": pa.timestamp("us", "America/New_York"),
    "date": pa.date32(),
    "time": pa.time64("us"),
}


YEARS = (-2_208_988_800, -978_307_200, -31_536_000, 0, 1_704_067_200, 2_145_916_800, 4_102_444_800)
"""When 1900, 1939, 1969, 1970, 2024, 2038 and 2100 begin."""


def column(kind: pa.DataType) -> pa.Array:
    """Dates and times of several years, among them every hour around changes of the clock, and some
    missing.
    """
    random = np.random.default_rng(5)
    hours = [
        change + 1800 * step
        for change in (1_711_846_800, 1_729_990_800, 1_730_613_600)
        for step in range(-30, 30)
    ]
    seconds = np.concatenate(
        [hours, random.choice(YEARS, 700) + random.integers(0, 31_536_000, 700)]
    )
    if pa.types.is_date(kind):
        values = pa.array((seconds // 86_400).astype(np.int32), pa.int32()).cast(kind)
    elif pa.types.is_time(kind):
        values = pa.array(seconds % 86_400 * 10**6).cast(kind)
    else:
        values = pa.array(seconds).cast(pa.timestamp("s", kind.tz)).cast(kind)
    return pa.array([None if i % 23 == 0 else values[i] for i in range(len(values))], kind)


def model_of(kind: pa.DataType) -> Model:
    """Every part that a column of the kind has, as it is and negated."""
    zone = getattr(kind, "tz", None)
    attributes: list[Attribute] = []
    if not pa.types.is_date(kind):
        hour = Part("when", Unit.HOUR, zone)
        attributes += [Above("late", hour, 17), Above("early", hour, 8.5)]
    if not pa.types.is_time(kind):
        weekday, month = Part("when", Unit.WEEKDAY, zone), Part("when", Unit.MONTH, zone)
        attributes += [Equals("sunday", weekday, "Sunday"), Equals("monday", weekday, "Monday")]
        attributes.append(Equals("march", month, "March"))
    terms = [[(0, True), (1, False)], [(0, False), (1, True)]]
    if len(attributes) > 2:
        terms = [
            [(0, True), (len(attributes) - 1, False)],
            [(2, True)],
            [(1, False), (len(attributes) - 1, True)],
        ]
    if not pa.types.is_date(kind):
        noon, lunch = len(attributes), len(attributes) + 1
        attributes += [Between("noon", hour, 10, 13.5), Between("lunch", hour, -float("inf"), 12)]
        terms += [[(noon, True), (lunch, False)], [(0, False), (noon, False), (lunch, False)]]
    return formula(attributes, terms)


@pytest.fixture(params=KINDS)
def case(request: pytest.FixtureRequest) -> tuple[Model, pa.Table]:
    kind = KINDS[request.param]
    return model_of(kind), pa.table({"when": column(kind)})


@pytest.mark.slow
def test_duckdb_says_what_predict_says(
    case: tuple[Model, pa.Table], connection: duckdb.DuckDBPyConnection
) -> None:
    model, table = case
    connection.execute(f"SET TimeZone = '{SESSION_ZONE}'")
    connection.register("t", table)
    found = (
        connection.sql(export_sql(model, table="t", probability=True))
        .project("prediction, probability")
        .fetchall()
    )
    assert [answer for answer, _ in found] == expected(model, table)
    assert 0 < sum(expected(model, table)) < table.num_rows


def test_postgres_says_what_predict_says(case: tuple[Model, pa.Table], postgres: Postgres) -> None:
    model, table = case
    postgres.load(table, "t")
    zone = f"SET TimeZone = '{SESSION_ZONE}';\n"
    select = export_sql(model, "postgres", "t")
    answers = postgres.run(
        f'{zone}SELECT prediction FROM (\n{select}\n) AS s ORDER BY "row number";'
    ).splitlines()
    assert [answer == "t" for answer in answers] == expected(model, table)


def test_python_says_what_predict_says(case: tuple[Model, pa.Table]) -> None:
    model, table = case
    scope: dict[str, Any] = {}
    exec(export_python(model), scope)
    assert [scope["predict"](row) for row in table.to_pylist()] == expected(model, table)
    part = model.tau.attributes[0].column
    assert isinstance(part, Part)
    wrong = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC if part.zone is None else None)
    for value in ("2024-01-01", wrong):
        with pytest.raises(TypeError, match="expected a date or time with"):
            scope["predict"]({"when": value})


def test_bigquery_counts_weekdays_from_sunday() -> None:
    told = export_sql(model_of(KINDS["instant in Helsinki"]), "bigquery")
    assert "EXTRACT(DAYOFWEEK FROM `when` AT TIME ZONE 'Europe/Helsinki') = 1" in told
    assert "EXTRACT(HOUR FROM `when` AT TIME ZONE 'Europe/Helsinki') > 17" in told
    assert "IS DISTINCT FROM 3" in told
    assert "EXTRACT(MONTH FROM `when`) = 3" in export_sql(model_of(KINDS["date"]), "bigquery")


def test_a_model_file_keeps_parts_and_zones(case: tuple[Model, pa.Table]) -> None:
    model, _ = case
    assert parse_model(model_record(model)).tau == model.tau


def test_people_read_which_part_of_what_on_which_clock() -> None:
    attributes: list[Attribute] = [
        Equals("d", Part("seen at", Unit.WEEKDAY), "Monday"),
        *(Above(f"h{cut}", Part("t", Unit.HOUR, "Europe/Helsinki"), cut) for cut in (8, 17)),
    ]
    model = formula(attributes, [[(0, False), (1, True), (2, False)]])
    assert export_text(model).endswith(
        'weekday of "seen at" ≠ Monday and 8 < hour of t (Europe/Helsinki) ≤ 17'
    )
    assert r"8 < \text{hour of t (Europe/Helsinki)} \le 17" in export_latex(model)
    with pytest.raises(
        DataError, match=r"PMML has no parts of dates.*weekday of seen at; export to SQL or Python"
    ):
        export_pmml(model)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"part": "minute"},
            r"attributes\[0\]\.part must be one of weekday, hour, month, got 'minute'",
        ),
        ({"zone": "'; DROP TABLE t; --"}, r"attributes\[0\]\.zone must be the name of a time zone"),
        ({"zone": 3}, r"attributes\[0\]\.zone must be text"),
        (
            {"test": "equals", "value": "Monday"},
            r"attributes\[0\]\.test must be 'above' or 'between' for the part 'hour'",
        ),
        (
            {"part": "weekday"},
            r"attributes\[0\]\.test must be 'equals' or 'in' for the part 'weekday'",
        ),
        (
            {"part": "month", "test": "equals", "value": "Monday"},
            r"attributes\[0\]\.value must be one of January, ",
        ),
        ({"value": "17"}, r"attributes\[0\]\.value must be a number"),
        (
            {"test": "between"},
            r"attributes\[0\]\.value must be a list of two ends for the test 'between', got 17",
        ),
        (
            {"part": "month", "test": "between", "value": [1, 2]},
            r"\.test must be 'equals' or 'in' for the part 'month'",
        ),
    ],
)
def test_a_model_file_with_a_part_that_there_is_not_is_refused(
    changes: dict[str, Any], message: str
) -> None:
    record = model_record(
        formula([Above("late", Part("when", Unit.HOUR, "UTC"), 17)], [[(0, True)]])
    )
    record["attributes"][0] |= changes
    with pytest.raises(DataError, match=message):
        parse_model(record)


@pytest.mark.parametrize(
    ("unit", "zone", "kind", "fits"),
    [
        (Unit.HOUR, None, pa.timestamp("ns"), True),
        (Unit.HOUR, None, pa.time32("s"), True),
        (Unit.WEEKDAY, None, pa.date64(), True),
        (Unit.HOUR, "UTC", pa.timestamp("s", "Asia/Kolkata"), True),
        (Unit.HOUR, None, pa.date32(), False),
        (Unit.HOUR, None, pa.timestamp("s", "UTC"), False),
        (Unit.HOUR, "UTC", pa.timestamp("s"), False),
        (Unit.MONTH, None, pa.time32("s"), False),
        (Unit.MONTH, None, pa.string(), False),
    ],
)
def test_a_model_is_asked_only_about_columns_that_have_the_part(unit, zone, kind, fits) -> None:
    tau = formula([Above("a", Part("when", unit, zone), 3)], [[(0, True)]]).tau
    if fits:
        check_columns([tau], {"when": kind}, "t.parquet")
        return
    with pytest.raises(DataError, match="expected column 'when' to hold dates or times with"):
        check_columns([tau], {"when": kind}, "t.parquet")
