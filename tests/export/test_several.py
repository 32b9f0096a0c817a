"""Formulas of several labels leave the house together: each label's by itself, and the label that a
row gets, as `predict` says it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dnfscale import IdealClassifier
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import by_signs
from dnfscale.errors import DataError, SpecError
from dnfscale.estimators.saved import classifier_of
from tests.examples import adult_like
from tests.export.postgres import Postgres
from tests.export.test_warehouses import by_sqlite
from tests.judges import by_lines
from tests.learn.test_classes import LABELS, rows

KINDS = ("attributes", "lines", "checklists", "thresholds", "few", "adults")


@cache
def learned(kind: str) -> tuple[IdealClassifier, pd.DataFrame]:
    """A classifier of three labels, and rows with gaps and values that nobody has seen."""
    frame = _adults() if kind == "adults" else rows(300, gaps=0.05)
    options = {"objective": "balanced_accuracy"} if kind == "thresholds" else {}
    n_rows = 40 if kind == "few" else 300
    seen = frame.sample(n_rows, random_state=1)
    model = IdealClassifier(profile="paper", missing="indicator", max_ell=5, tolerance=0, **options)
    model.fit(seen.drop(columns="y"), seen["y"])
    if kind == "lines":
        model = classifier_of([by_lines(own) for own in model.models_])
    if kind == "checklists":
        model = classifier_of([_as_checklist(own) for own in model.models_])
    return model, frame.drop(columns="y")


def _adults() -> pd.DataFrame:
    """Adults with three labels: who earns much, and of the others who works long."""
    frame = adult_like().select(["age", "hours", "gain", "job", "sex", "income"]).to_pandas()
    others = np.where(frame["hours"] > 42, "middle", "low")
    frame["y"] = np.where(frame["income"] == ">50K", "high", others)
    return frame.drop(columns="income").iloc[:900]


def _as_checklist(model):
    ell = len(model.tau)
    if ell < 3:
        return model
    checklist = Term((1 << ell) - 1, (1 << ell) - 1, 2)
    counts = by_signs(model.counts)
    return replace(model, dnf=Dnf((checklist,)), types="signs", counts=counts)


@pytest.fixture(params=KINDS)
def case(request):
    return learned(request.param)


def holds(model, frame):
    """What the formula of each label says of each row."""
    decided = model.decision(frame)
    return [decided[:, place]["accepted"].tolist() for place in range(len(LABELS))]


def test_duckdb_gives_the_label_of_predict_and_the_formula_of_each_label(case):
    model, frame = case
    with duckdb.connect() as connection:
        connection.register("t", pa.Table.from_pandas(frame, preserve_index=False))
        found = connection.sql(model.to_sql(table="t"))
        assert found.columns[-4:] == [*(f"is {label}" for label in LABELS), "prediction"]
        answers = found.fetchall()
    assert [row[-1] for row in answers] == model.predict(frame).tolist()
    for place, of_label in enumerate(holds(model, frame)):
        assert [row[place - 4] for row in answers] == of_label


def test_sqlite_gives_the_same(case):
    model, frame = case
    table = pa.Table.from_pandas(frame, preserve_index=False)
    found = by_sqlite(table, model.to_sql("sqlite", "t"))
    assert [row[-1] for row in found] == model.predict(frame).tolist()


@pytest.mark.slow
def test_postgresql_gives_the_same(case, postgres: Postgres):
    model, frame = case
    postgres.load(pa.Table.from_pandas(frame, preserve_index=False), "t")
    assert postgres.answers(model.to_sql("postgres", "t")) == model.predict(frame).tolist()


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark"])
def test_what_other_engines_are_told_comes_to_the_same(case, dialect):
    sqlglot = pytest.importorskip("sqlglot")
    model, frame = case
    [sql] = sqlglot.transpile(model.to_sql(dialect, "t"), read=dialect, write="duckdb")
    with duckdb.connect() as connection:
        connection.register("t", pa.Table.from_pandas(frame, preserve_index=False))
        assert [row[-1] for row in connection.sql(sql).fetchall()] == model.predict(frame).tolist()


def test_python_gives_the_label_and_what_each_formula_says(case):
    model, frame = case
    scope: dict = {}
    exec(model.to_python(), scope)
    listed = pa.Table.from_pandas(frame, preserve_index=False).to_pylist()
    assert [scope["predict"](row) for row in listed] == model.predict(frame).tolist()
    said = [scope["accepts"](row) for row in listed]
    for label, of_label in zip(LABELS, holds(model, frame), strict=True):
        assert [row[label] for row in said] == of_label
    assert scope["LABELS"] == LABELS


def test_each_expression_of_the_text_of_sql_is_one_of_a_row(case):
    model, frame = case
    parts = model.to_sql("sqlite").split("\n\n")
    assert [part.splitlines()[0] for part in parts] == [
        *(f"-- y is {label}" for label in LABELS),
        "-- the answer: the label whose formula finds the row most probable",
    ]
    table = pa.Table.from_pandas(frame, preserve_index=False)
    listed = ",\n".join(f"({part}\n)" for part in parts)
    found = by_sqlite(table, f"SELECT {listed} FROM t")
    assert [row[-1] for row in found] == model.predict(frame).tolist()


def test_people_read_every_formula_and_how_they_are_weighed():
    model, _ = learned("attributes")
    text = model.to_text()
    assert all(f"y is {label} if" in text for label in LABELS)
    assert text.endswith("among the rows learned from that are like this one")
    assert model.to_latex().count(r"\begin{align*}") == 3


def test_a_probability_and_pmml_are_of_one_label():
    model, _ = learned("attributes")
    with pytest.raises(SpecError, match="pass a label too"):
        model.to_sql(table="t", probability=True)
    assert "probability" in model.to_sql(table="t", probability=True, label="low")
    with pytest.raises(DataError, match="expected label to be one of"):
        model.to_pmml()
