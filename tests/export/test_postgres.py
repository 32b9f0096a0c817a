"""The SQL for PostgreSQL, carried out by a server: it says of every row what predict says."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings

from dnfscale.core.vocabulary import Above, Between, Equals, IsMissing, IsTrue
from dnfscale.errors import DataError
from dnfscale.export.sql import export_sql
from tests.export import examples
from tests.export.examples import TEXTS, expected, probabilities, single, used


def test_postgresql_says_what_predict_says(case, postgres):
    postgres.load(used(case), "it's a table")
    select = export_sql(case.model, "postgres", "it's a table", probability=True)
    answers = postgres.answers(select, "concat(prediction, ' ', probability)")
    answered = [
        (said == "t", float(number)) for said, number in (answer.split() for answer in answers)
    ]
    assert answered == list(zip(expected(case.model, case.table), probabilities(case), strict=True))


@given(made=examples.cases())
@settings(max_examples=40)
def test_postgresql_agrees_on_any_model_and_any_rows(made, postgres):
    postgres.load(made.table, "t")
    answers = postgres.answers(export_sql(made.model, "postgres", "t"))
    assert answers == ["t" if answer else "f" for answer in expected(made.model, made.table)]


def test_every_hostile_text_is_told_from_all_others(postgres):
    table = pa.table({"c": [*TEXTS, None]})
    postgres.load(table, "t")
    listed = ",\n".join(
        f"{export_sql(single(Equals('a', 'c', text)), 'postgres')}::int" for text in TEXTS
    )
    rows = postgres.run(f'SELECT {listed} FROM t ORDER BY "row number";').splitlines()
    assert [row.split("|") for row in rows] == [
        ["1" if text == value else "0" for text in TEXTS] for value in (*TEXTS, None)
    ]


@pytest.mark.parametrize(
    "attribute",
    [
        Equals("a", "c", "1"),
        Equals("a", "c", 1),
        Above("a", "c", 0),
        Between("a", "c", 0, 2),
        IsTrue("a", "c", True),
    ],
)
def test_a_column_of_another_type_is_refused(postgres, attribute):
    other = pa.array([1]) if attribute == Equals("a", "c", "1") else pa.array(["1"])
    postgres.load(pa.table({"c": other}), "t")
    ended = postgres.try_run(export_sql(single(attribute), "postgres", "t") + ";")
    assert ended.returncode != 0
    assert "ERROR" in ended.stderr


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize(
    "column", [pa.array([1.5, float("nan"), None], pa.float32()), pa.array(["NaN", "x", None])]
)
def test_what_is_only_asked_for_its_absence_may_be_of_any_type(postgres, column, holds):
    postgres.load(pa.table({"c": column}), "t")
    model = single(IsMissing("a", "c"), holds)
    answers = postgres.answers(export_sql(model, "postgres", "t"))
    assert [answer == "t" for answer in answers] == expected(model, pa.table({"c": column}))


def test_a_text_with_nul_cannot_be_there():
    with pytest.raises(
        DataError,
        match=r"^PostgreSQL has no texts with the character NUL, but the model compares with",
    ):
        export_sql(single(Equals("a", "c", "x\0y")), "postgres")


def test_names_that_are_cut_to_the_same_are_refused():
    long = "x" * 63
    model = examples.formula(
        [Above("a", long + "1", 0), Above("b", long + "2", 0)], [[(0, True), (1, True)]]
    )
    with pytest.raises(
        DataError, match=r"^PostgreSQL takes the columns 'x+1' and 'x+2' for the same"
    ):
        export_sql(model, "postgres")
    assert export_sql(model, "duckdb")
