"""Models of related tables: in files, in words, and in languages."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from dnfscale.core.concepts import Concept, Figure, Relation, RowTest, Sign
from dnfscale.core.model import Model
from dnfscale.core.vocabulary import Above, Between, IsMissing, IsTrue
from dnfscale.data.models import model_text
from dnfscale.data.models.parsing import parse_model
from dnfscale.errors import DataError, SpecError
from dnfscale.export.python import READER, export_python
from dnfscale.export.related_python import HELPERS, NEEDS, figure_expression
from dnfscale.export.sql import export_sql
from dnfscale.method.words import condition, formula_lines
from dnfscale.spec.registry import EXPORTS
from tests.export.examples import formula, single
from tests.relations.made import joined, rows_of, tables, written

ORDERS = Relation("orders", "customer_id", "id", "at", "now", id="order_id")
DEAR = RowTest("amount", Sign.ABOVE, 120)
BACK = RowTest("returned", Sign.IS, True)
SOME = Concept("bad_orders", ORDERS, Figure.SOME, (DEAR, BACK))
RECENT = Concept("recent orders", ORDERS, Figure.COUNT, days=30)
MEAN = Concept("mean", ORDERS, Figure.MEAN, of="amount", digits=3)


def churn() -> Model:
    attributes: list[Any] = [IsTrue("bad", SOME, True), Above("recent", RECENT, 2, True, 0)]
    return formula(
        [*attributes, Above("mean", MEAN, 54.25)], [[(0, True)], [(1, False), (2, True)]]
    )


@pytest.mark.parametrize(
    ("attribute", "yes", "no"),
    [
        (
            IsTrue("", SOME, True),
            "some order has amount > 120 and returned",
            "no order has amount > 120 and returned",
        ),
        (
            Above("", RECENT, 2, True, 0),
            "at least 3 orders in the 30 days before",
            "at most 2 orders in the 30 days before",
        ),
        (Above("", RECENT, 1.5), "at least 2 orders in the 30 days before", None),
        (
            Above("", RECENT, 0, True, 0),
            "some order in the 30 days before",
            "no order in the 30 days before",
        ),
        (Between("", RECENT, 2, 5, True, 0), "3 to 5 orders in the 30 days before", None),
        (Between("", RECENT, 2, 3, True, 0), "exactly 3 orders in the 30 days before", None),
        (Above("", MEAN, 54.25), "mean amount of orders > 54.25", "mean amount of orders ≤ 54.25"),
        (
            IsMissing("", MEAN),
            "mean amount of orders is missing",
            "mean amount of orders is not missing",
        ),
        (
            Above("", Concept("c", ORDERS, Figure.COUNT, (DEAR,), days=1), 0, True, 1),
            "some order in the day before has amount > 120",
            None,
        ),
        (
            Above("", Concept("c", ORDERS, Figure.COUNT, (DEAR,)), 1, True, 0),
            "at least 2 orders with amount > 120",
            "at most 1 order with amount > 120",
        ),
        (
            IsTrue("", Concept("c", Relation("log", "k", "k"), Figure.SOME, (BACK,)), True),
            "some row of log has returned",
            "no row of log has returned",
        ),
    ],
)
def test_conditions_are_written_in_words(attribute, yes, no):
    assert condition(attribute, True) == yes
    assert no is None or condition(attribute, False) == no


def test_a_model_file_says_what_it_asks_of_related_rows():
    text = model_text(churn())
    record = json.loads(text)
    assert record["schema"] == "dnfscale.model/2"
    assert [each["test"] for each in record["attributes"]] == ["related"] * 3
    read = parse_model(record)
    assert read.tau == churn().tau
    assert model_text(read) == text
    assert formula_lines(read) == [
        "some order has amount > 120 and returned",
        "at most 2 orders in the 30 days before and mean amount of orders > 54.25",
    ]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"figure": "median"}, "figure must be one of some, count"),
        ({"of": "amount"}, "of must be a column where the figure is of numbers"),
        ({"days": 0}, "days must be between 1 and 36,500, got 0"),
        ({"as_of": None, "time": None, "days": 30}, "must have time, and as_of"),
        ({"where": [{"column": "a", "test": "below", "value": 1}]}, "test must be one of above"),
        ({"where": [{"column": "a", "test": "above", "value": "x"}]}, "value must be a number"),
        ({"main_key": "other"}, "one column of the main table"),
        ({"key": "other"}, "relate each table in one way"),
    ],
)
def test_a_damaged_concept_is_told(change, told):
    record = json.loads(model_text(churn()))
    record["attributes"][0]["related"] |= change
    with pytest.raises(DataError, match=told):
        parse_model(record)


@pytest.mark.parametrize(
    ("place", "change", "told"),
    [
        (0, {"asks": "above", "value": 1}, "must ask whether the figure 'some' is true or false"),
        (1, {"measure": "date", "value": "2024-01-01"}, "measure must be left out for the figure"),
        (1, {"value": "inf"}, "value must be finite for a count"),
        (1, {"asks": "equals", "value": "2"}, "value must be a number for the figure 'count'"),
    ],
)
def test_what_cannot_be_asked_of_related_rows_is_told(place, change, told):
    record = json.loads(model_text(churn()))
    record["attributes"][place] |= change
    with pytest.raises(DataError, match=told):
        parse_model(record)


def test_a_module_of_python_takes_the_related_rows():
    scope: dict[str, Any] = {}
    exec(export_python(churn()), scope)
    orders = [
        {"customer_id": 1, "at": 90, "amount": 130.0, "returned": True},
        {"customer_id": 2, "at": 90, "amount": 130.0, "returned": None},
        {"customer_id": 3, "at": 110, "amount": 130.0, "returned": True},
    ]
    orders = [{**order, "at": _day(order["at"])} for order in orders]
    related = {"orders": orders}
    assert scope["COLUMNS"] == ("id", "now")
    found = [scope["predict"]({"id": i, "now": _day(100)}, related) for i in (1, 2, 3, 4)]
    # The first by the first line, the second by the other; the third has only a later order.
    assert found == [True, True, False, False]
    with pytest.raises(KeyError, match="expected the rows of 'orders' in related"):
        scope["predict"]({"id": 1, "now": _day(100)}, {})


def _day(number: int) -> Any:
    return pa.scalar(number, pa.date32()).as_py()


def test_sql_is_one_select_over_the_tables():
    people = pa.table({"id": [1, 2, 3, 4], "now": [_day(100)] * 4})
    orders = pa.table(
        {
            "customer_id": [1, 2, 3],
            "at": [_day(90), _day(90), _day(110)],
            "amount": [130.0, 130.0, 130.0],
            "returned": [True, None, True],
        }
    )
    with duckdb.connect() as connection:
        connection.register("people", people)
        connection.register("bought", orders)
        query = export_sql(churn(), table="people", related=["orders=bought"], probability=True)
        found = connection.sql(f"{query} ORDER BY id").fetchall()
    assert [row[2] for row in found] == [True, True, False, False]
    assert all((row[3] > 0.5) is row[2] for row in found)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "a model of related tables is a whole SELECT"),
        ({"table": "people", "dialect": "bigquery"}, "is written for duckdb, postgres, not for"),
        ({"table": "people", "related": ["visits=v"]}, r"asks about \(orders\), got 'visits=v'"),
    ],
)
def test_sql_that_cannot_be_written_is_told(options, told):
    with pytest.raises(SpecError, match=told):
        export_sql(churn(), **options)


def test_formats_of_one_table_say_so():
    for name in ("pmml", "rules", "onnx"):
        with pytest.raises(DataError, match="knows the columns of one table, but the model asks"):
            EXPORTS[name].write(churn())


def test_formats_for_people_say_it_in_words():
    assert "at most 2 orders in the 30 days before" in EXPORTS["text"].write(churn())
    latex = EXPORTS["latex"].write(single(IsTrue("", SOME, True)))
    # What is not a name is text, too.
    assert r"\text{some\ }\text{order}\text{\ has\ }\text{amount} > 120" in latex


@pytest.mark.parametrize("as_of", [None, "seen_at"])
def test_every_figure_in_python_is_that_of_the_joined_table(tmp_path, as_of):
    people, visits = tables(6, n=25, m=200)
    main, other = written(people, tmp_path / "people"), written(visits, tmp_path / "visits")
    source = joined(main, other, tmp_path / "kept", most=150, as_of=as_of).source
    module: dict[str, Any] = {}
    exec("\n\n".join([*NEEDS, READER, HELPERS]), module)
    figures = {
        name: eval(f"lambda row, related: {figure_expression(concept)}", module)
        for name, concept in source.concepts.items()
    }
    related = {"visits": visits.to_pylist()}
    wrong = [
        (name, row[name], figure(row, related))
        for row in rows_of(source).to_pylist()
        for name, figure in figures.items()
        if figure(row, related) != row[name]
    ]
    assert wrong == []
