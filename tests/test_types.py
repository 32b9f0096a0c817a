"""Dates, times, durations and decimals are cut exactly, written readably, and mean the same in
every language.
"""

from __future__ import annotations

import decimal
import itertools
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dnfscale import FormulaSizeClassifier, IdealClassifier
from tests.jobs.judging import accepts, exact, exact_rows, middle, recount, used
from tests.jobs.running import Desk, keeping_signals
from tests.quantities import COLUMNS, N_ROWS, Y, decimals, spread, with_nulls


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        yield Desk(tmp_path, capsys)


@pytest.mark.parametrize(
    ("kind", "missing"), list(zip(COLUMNS, itertools.cycle(("drop", "indicator"))))
)
def test_it_is_cut_at_its_median_and_says_the_same_in_every_language(desk, kind, missing):
    file = desk.table(
        {"when": with_nulls(COLUMNS[kind]), "s": ["a", "b", "c"] * (N_ROWS // 3), "y": Y}
    )
    assert desk.run(data={"missing": missing}).code == 0, kind
    model, rows = desk.model(), exact_rows(pq.read_table(file))
    kept = used(rows, ["when", "s"], "y", keep_missing=missing == "indicator")
    [cut] = [
        attribute for attribute in model["attributes"] if attribute["name"] == "when_above_median"
    ]
    assert model["counts"] == recount(kept, model)
    values = [row["when"] for row in kept if row["when"] is not None]
    below = max(value for value in (*values, exact(cut["value"])) if value <= middle(values))
    assert sum(value > exact(cut["value"]) for value in values) == sum(
        value > below for value in values
    )
    assert middle(values) - 1 < exact(cut["value"]) <= middle(values)

    expected = [accepts(model, row) for row in rows]
    assert 0 < sum(expected) < N_ROWS
    assert answers(desk, file) == expected
    assert in_duckdb(desk, file) == expected
    assert in_python(desk, file) == expected
    assert cut["value"] in desk.here("export", desk.folder() / "model.json", "--to", "text").out
    assert cut["value"] in (desk.folder() / "report.html").read_text(encoding="utf-8")
    assert desk.here("export", desk.folder() / "model.json", "--to", "latex").code == 0
    refused = desk.here("export", desk.folder() / "model.json", "--to", "pmml")
    assert refused.code == 3
    assert "export to SQL or Python" in refused.message
    for dialect in ("postgres", "bigquery"):
        assert (
            desk.here(
                "export", desk.folder() / "model.json", "--to", "sql", "--dialect", dialect
            ).code
            == 0
        )


def answers(desk: Desk, file: Path) -> list[bool]:
    ended = desk.here("predict", desk.folder() / "model.json", file, "--output", "answers")
    assert ended.code == 0, ended.err
    return pq.read_table(desk.path / "answers").column("prediction").to_pylist()


def in_duckdb(desk: Desk, file: Path) -> list[bool]:
    ended = desk.here("export", desk.folder() / "model.json", "--to", "sql", "--table", str(file))
    assert ended.code == 0, ended.err
    with duckdb.connect() as connection:
        return [answer for (answer,) in connection.sql(ended.out).project("prediction").fetchall()]


def in_python(desk: Desk, file: Path) -> list[bool]:
    ended = desk.here("export", desk.folder() / "model.json", "--to", "python")
    assert ended.code == 0, ended.err
    scope: dict[str, Any] = {}
    exec(ended.out, scope)
    # Python's own times have no nanoseconds; Arrow hands them over as those of pandas, where they
    # can.
    read = pq.read_table(file)
    if pa.types.is_time(read.column("when").type) and read.column("when").type.unit == "ns":
        return [accepts(desk.model(), row) for row in exact_rows(read)]
    return [scope["predict"](row) for row in read.to_pylist()]


def test_the_value_of_a_row_is_told_as_it_is(desk):
    file = desk.table({"when": COLUMNS["instants a nanosecond apart"], "y": Y})
    assert desk.run().code == 0
    told = desk.here("explain", desk.folder() / "model.json", file, "--row", "3", "--json")
    values = json.loads(told.out)["values"]
    assert exact(values["when"]) == exact_rows(pq.read_table(file))[3]["when"]
    assert (
        f"when = {values['when']}"
        in desk.here("explain", desk.folder() / "model.json", file, "--row", "3").out
    )


def test_a_model_of_one_unit_answers_for_rows_of_another(desk):
    ticks = spread(0, 10**6)
    file = desk.table({"when": pa.array(ticks, pa.timestamp("ms")), "y": Y})
    assert desk.run().code == 0
    before = answers(desk, file)
    desk.table({"when": pa.array([10**6 * tick for tick in ticks], pa.timestamp("ns")), "y": Y})
    ended = desk.here("predict", desk.folder() / "model.json", file, "--output", "again")
    assert ended.code == 0
    assert pq.read_table(desk.path / "again").column("prediction").to_pylist() == before


@pytest.mark.parametrize(
    ("learned", "asked", "message"),
    [
        ("date", "timestamp of milliseconds", "to hold dates"),
        ("timestamp of microseconds", "instant of microseconds", "to hold timestamps"),
        ("duration", "time of seconds", "to hold durations"),
        ("date", "decimal", "to hold dates"),
        ("decimal", "date", "to hold numbers"),
    ],
)
def test_a_model_is_not_asked_about_a_column_of_another_kind(desk, learned, asked, message):
    desk.table({"when": COLUMNS[learned], "y": Y})
    assert desk.run().code == 0
    other = desk.table({"when": COLUMNS[asked], "y": Y}, "other.parquet")
    ended = desk.here("predict", desk.folder() / "model.json", other, "--output", "answers")
    assert ended.code == 3
    assert (
        f"expected column 'when' {message} as in the data that the model was learned from"
        in ended.message
    )


@pytest.mark.parametrize(
    "kind", [pa.float64(), pa.int64(), pa.decimal128(20, 5), pa.decimal128(7, 1)]
)
def test_numbers_of_all_sorts_are_compared_exactly_with_a_decimal(desk, kind):
    desk.table(
        {
            "when": pa.array(decimals([11, 13] * (N_ROWS // 2), 1)),
            "y": [False, True] * (N_ROWS // 2),
        }
    )
    assert desk.run().code == 0
    assert desk.model()["attributes"][0]["value"] == "1.2"
    asked = (
        pa.array([1, 2, None], kind)
        if kind != pa.float64()
        else pa.array([1.2, np.nextafter(1.2, 2), None])
    )
    file = desk.table({"when": asked}, "asked.parquet")
    assert answers(desk, file) == [
        False,
        kind != pa.float64() or Fraction(float(np.nextafter(1.2, 2))) > 1,
        False,
    ]


def test_a_decimal_without_a_fraction_is_a_whole_number_in_every_role(desk):
    whole = pa.array([decimal.Decimal(int(y)) for y in Y], pa.decimal128(38, 0))
    desk.table(
        {
            "n": pa.array(spread(0, 10**15), pa.int64()).cast(pa.decimal128(19, 0)),
            "c": whole,
            "y": whole,
        }
    )
    assert desk.run(data={"positive": [1], "categorical": ["c"]}, select={"max_ell": 3}).code == 0
    model = desk.model()
    assert model["positive"] == [1]
    assert {attribute["test"] for attribute in model["attributes"]} <= {"above", "equals"}
    assert not any("measure" in attribute for attribute in model["attributes"])


def test_decimals_of_more_than_64_bits_are_refused(desk):
    desk.table(
        {
            "d": pa.array(decimals([2**63 + i for i in range(N_ROWS)], 2), pa.decimal128(38, 2)),
            "y": Y,
        }
    )
    ended = desk.run()
    assert ended.code == 3
    assert "column 'd': expected decimals of at most 64 bits" in ended.message


def test_a_year_that_a_database_cannot_be_told_is_refused_there_and_exact_elsewhere(desk):
    file = desk.table(
        {"when": pa.array(spread(10**15, 10**15 + 10**10), pa.timestamp("ms")), "y": Y}
    )
    assert desk.run().code == 0
    [attribute] = desk.model()["attributes"]
    assert attribute["value"].startswith("+33658-")
    assert answers(desk, file) == [
        accepts(desk.model(), row) for row in exact_rows(pq.read_table(file))
    ]
    ended = desk.here("export", desk.folder() / "model.json", "--to", "sql")
    assert ended.code == 3
    assert "DuckDB can be told years from 1 to 9999" in ended.message


@pytest.mark.slow
def test_the_estimator_takes_dates_of_pandas():
    frame = pd.DataFrame(
        {
            "when": pd.to_datetime(spread(10**18, 2 * 10**18)),
            "gap": pd.to_timedelta(spread(0, 10**9)),
        }
    )
    for classifier in (IdealClassifier(profile="paper"), FormulaSizeClassifier(max_size=3)):
        fitted = classifier.fit(frame, Y)
        assert fitted.score(frame, Y) > 0.85
        scope: dict[str, Any] = {}
        exec(fitted.to_python(), scope)
        assert [scope["predict"](row) for row in frame.to_dict("records")] == fitted.predict(
            frame
        ).tolist()
        with duckdb.connect() as connection:
            connection.register(
                "t", pa.Table.from_pandas(frame).set_column(1, "gap", pa.array(spread(0, 10**9)))
            )
            found = connection.sql(fitted.to_sql(table="t")).fetchall()
        assert [row[-1] for row in found] == fitted.predict(frame).tolist()
