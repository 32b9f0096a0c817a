"""Formulas of bounded size in every language, on every combination of values; random ones are in
test_agreement.
"""

from __future__ import annotations

import itertools
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from dnfscale.core.counts import TypeCounts
from dnfscale.core.model import Model
from dnfscale.core.tree import And, Formula, Not, Or, Symbol, evaluate, renumbered, symbols, to_dnf
from dnfscale.core.vocabulary import Above, Attribute, Equals, IsMissing, IsTrue, Vocabulary
from dnfscale.export.latex import export_latex
from dnfscale.export.pmml import export_pmml
from dnfscale.export.python import export_python
from dnfscale.export.sql import export_sql
from dnfscale.export.text import export_text
from tests.export.rule_sets import SCHEMA, RuleSet

ATTRIBUTES: tuple[Attribute, ...] = (
    Above("age_above_median", "age", 38.5),
    Equals("town_O'Hara", "town", "O'Hara"),
    IsTrue("smoker", "smoker", True),
    IsMissing("age_missing", "age"),
)
TREES: list[Formula] = [
    Symbol(0),
    Not(Symbol(0)),
    Not(And(Symbol(0), Or(Symbol(1), Not(Symbol(2))))),
    Or(Not(Or(Symbol(0), Symbol(1))), And(Symbol(2), Not(Symbol(3)))),
    And(Not(And(Symbol(1), Symbol(2))), Not(Not(Symbol(0)))),
    Not(Or(Symbol(3), And(Not(Symbol(0)), Not(Symbol(1))))),
    And(Symbol(0), Not(Symbol(0))),
    Or(Symbol(1), Not(Symbol(1))),
]
"""The last two are constant: there are no shorter ones, because formulas have no symbol for true
and false.
"""


def rows() -> list[dict[str, Any]]:
    """Return every combination of values, missing ones too."""
    ages, towns, flags = (None, 38.0, 38.5, 39.0), (None, "O'Hara", "Bonn"), (None, True, False)
    return [
        {"age": age, "town": town, "smoker": flag}
        for age, town, flag in itertools.product(ages, towns, flags)
    ]


def truth(tree: Formula) -> list[bool]:
    """The judge: attributes in plain Python, and the tree over them."""
    columns = np.array(
        [
            [row["age"] is not None and row["age"] > 38.5 for row in rows()],
            [row["town"] == "O'Hara" for row in rows()],
            [row["smoker"] is True for row in rows()],
            [row["age"] is None for row in rows()],
        ]
    )
    return list(evaluate(tree, columns).tolist())


def model_of(tree: Formula, **more: Any) -> Model:
    used = list(dict.fromkeys(symbols(tree)))
    tau = Vocabulary(tuple(ATTRIBUTES[place] for place in used))
    own = renumbered(tree, {place: number for number, place in enumerate(used)})
    codes = np.arange(1 << len(used))
    counts = TypeCounts(len(used), codes, codes + 2, codes + 1)
    return Model("y", (True,), tau, to_dnf(own), counts, tree=own, **more)


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_python_says_what_the_tree_says(tree: Formula) -> None:
    space: dict[str, Any] = {}
    exec(export_python(model_of(tree)), space)
    assert [space["predict"](row) for row in rows()] == truth(tree)


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_sql_says_what_the_tree_says(tree: Formula) -> None:
    table = pd.DataFrame(rows()).astype({"smoker": "boolean"})
    with duckdb.connect() as connection:
        connection.register("people", table)
        found = connection.sql(export_sql(model_of(tree), table="people")).fetchall()
        chosen = connection.sql(
            f"SELECT count(*) FROM people WHERE {export_sql(model_of(tree))}"
        ).fetchall()
    assert [row[-1] for row in found] == truth(tree)
    assert chosen == [(sum(truth(tree)),)]


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_pmml_is_one_valid_rule_that_says_what_the_tree_says(tree: Formula) -> None:
    etree = pytest.importorskip(
        "lxml.etree", reason="lxml, which checks XML by a schema, is not installed"
    )
    document = export_pmml(model_of(tree))
    etree.XMLSchema(etree.parse(str(SCHEMA))).assertValid(etree.fromstring(document.encode()))
    assert document.count("<SimpleRule") == 1
    assert 'algorithmName="formula size"' in document
    assert RuleSet(document).answers(rows()) == truth(tree)


def test_the_rule_of_a_tree_has_the_rows_that_it_accepts() -> None:
    assert 'recordCount="5" nbCorrect="4" confidence="0.8"' in export_pmml(
        model_of(And(Symbol(0), Symbol(1)))
    )


def test_text_and_latex_follow_the_tree() -> None:
    model = model_of(TREES[2])
    assert (
        export_text(model)
        == 'y is true if\n   not (age > 38.5 and (town = "O\'Hara" or not smoker))'
    )
    assert export_latex(model) == (
        "\\begin{align*}\n\\text{y} = \\text{true} \\iff {} & \\lnot (\\text{age} > 38.5 "
        "\\land (\\text{town} = "
        "\\text{O\\textquotesingle{}Hara} \\lor \\lnot \\text{smoker}))\n\\end{align*}"
    )
    assert export_text(model_of(TREES[6])) == "y is true for no row"
    assert export_text(model_of(TREES[7])) == "y is true for every row"


def test_a_negation_over_values_that_may_be_missing_has_a_note() -> None:
    assert "where a value is missing" in export_text(model_of(TREES[2], missing="indicator"))
    assert "where a value is missing" not in export_text(model_of(TREES[0], missing="indicator"))
    assert "where a value is missing" not in export_text(
        model_of(Not(Symbol(3)), missing="indicator")
    )
