"""FormulaSizeClassifier: what scikit-learn asks of a classifier, and the same answers in every language."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import check_estimator

from dnfscale import FormulaSizeClassifier
from dnfscale.core.vocabulary import Above, Equals, IsMissing, IsTrue, Vocabulary
from dnfscale.errors import DataError, SpecError
from dnfscale.method.export.trees import tree_to_latex, tree_to_python, tree_to_sql, tree_to_text, without_negations
from dnfscale.method.formula_size import And, Formula, Limits, Not, Or, Symbol, evaluate, search, tabulate
from dnfscale.method.formula_size.model import SizedModel, Support
from tests.jobs.running import Desk, keeping_signals, small_table, surroundings
from tests.test_check_estimator import ARRAY_API

VARIANTS: list[dict[str, Any]] = [{"max_size": 6}, {"missing": "indicator", "max_size": 4}, {"max_types": 4}]
TAU = Vocabulary(
    (
        Above("age_above_median", "age", 38.5),
        Equals("town_O'Hara", "town", "O'Hara"),
        IsTrue("smoker", "smoker", True),
        IsMissing("age_missing", "age"),
    )
)
TREES: list[Formula] = [
    Symbol(0),
    Not(Symbol(0)),
    Not(And(Symbol(0), Or(Symbol(1), Not(Symbol(2))))),
    Or(Not(Or(Symbol(0), Symbol(1))), And(Symbol(2), Not(Symbol(3)))),
    And(Not(And(Symbol(1), Symbol(2))), Not(Not(Symbol(0)))),
    Not(Or(Symbol(3), And(Not(Symbol(0)), Not(Symbol(1))))),
]


@pytest.fixture
def laid_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    """A folder with a small table in t.parquet, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        desk = Desk(tmp_path, capsys)
        desk.table(small_table())
        yield desk


def frame(n_rows: int = 240) -> tuple[pd.DataFrame, pd.Series]:
    table = pd.DataFrame(small_table(n_rows))
    return table.drop(columns="y"), table["y"]


@pytest.mark.parametrize("parameters", VARIANTS, ids=lambda given: "-".join(map(str, given.values())))
def test_scikit_learn_finds_no_fault(parameters: dict[str, Any]) -> None:
    results = check_estimator(FormulaSizeClassifier(**parameters), on_skip=None, on_fail=None)
    assert len(results) >= 60
    faults = {(found["check_name"], found["status"], str(found["exception"])) for found in results}
    assert {(name, status) for name, status, _ in faults if status != "passed"} <= {(ARRAY_API, "skipped")}


def test_the_formula_of_a_planted_rule_is_found() -> None:
    features, target = frame(1000)
    model = FormulaSizeClassifier().fit(features, target)
    assert sorted(model.attributes_) == ["s_red", "x_above_median"]
    assert sorted(model.formula_.split(" and ")) == ["s_red", "x_above_median"]
    assert model.size_ == 3
    assert model.proved_
    assert model.score(features, target) > 0.9
    assert [step["size"] for step in model.path_] == list(range(1, len(model.path_) + 1))
    assert all(step["proved"] for step in model.path_)


def test_the_formula_is_the_best_of_its_size_on_all_rows() -> None:
    features, target = frame()
    model = FormulaSizeClassifier(max_size=8, patience=8, random_state=3).fit(features, target)
    holds = np.column_stack(
        [
            *(features[name] > np.median(features[name]) for name in ("x", "n")),
            *(features["s"] == value for value in ("blue", "green", "red")),
            features["b"],
        ]
    )
    *_, best = search(tabulate(holds, target.to_numpy()), Limits(model.size_))
    assert (model.predict(features) != target).sum() == best.errors
    assert best.formula_size == model.size_


def test_probabilities_are_smoothed_shares_of_the_rows_with_the_same_answer() -> None:
    features, target = frame()
    model = FormulaSizeClassifier().fit(features, target)
    answers, given = model.predict(features), model.predict_proba(features)[:, 1]
    for answer in (False, True):
        rows = answers == answer
        assert given[rows] == pytest.approx((target[rows].sum() + 1) / (rows.sum() + 2))
    assert ((given > 0.5) == answers).all()


def test_several_labels_have_a_formula_each() -> None:
    features, _ = frame(400)
    target = np.where(features["x"] > np.median(features["x"]), np.where(features["s"] == "red", 2, 1), 0)
    model = FormulaSizeClassifier().fit(features, target)
    assert set(model.formula_) == set(model.size_) == set(model.proved_) == set(model.path_) == {0, 1, 2}
    assert model.score(features, target) > 0.95
    assert model.predict_proba(features).sum(axis=1) == pytest.approx(1)
    assert model.to_text(label=2).startswith("target is 2 if")
    with pytest.raises(DataError, match=r"expected label to be one of \[0, 1, 2\], got None"):
        model.to_sql()


def test_an_explanation_names_the_fewest_attributes_that_decide() -> None:
    features, target = frame(1000)
    model = FormulaSizeClassifier().fit(features, target)
    for row, told in zip(features.head(50).itertuples(), model.explain(features.head(50)), strict=True):
        above, red = bool(row.x > np.median(features["x"])), row.s == "red"
        assert told["holds"] == {"x_above_median": above, "s_red": red}
        assert told["prediction"] == told["accepted"] == (above and red)
        if above and red:
            assert told["because"] == told["holds"]
        else:
            [(name, value)] = told["because"].items()
            assert value is False
            assert told["holds"][name] is False


def test_a_time_limit_ends_the_path_with_a_size_that_is_not_proved() -> None:
    random = np.random.default_rng(0)
    model = FormulaSizeClassifier(max_size=30, patience=30, time_limit_s=0.2)
    model.fit(random.random((400, 40)), random.random(400) < 0.5)
    *before, last = model.path_
    assert last["size"] < 30
    assert not last["proved"]
    assert all(step["proved"] for step in before)


def test_parameters_out_of_range_are_told() -> None:
    features, target = frame()
    with pytest.raises(SpecError, match="patience must be at least 4 sizes, got 1"):
        FormulaSizeClassifier(patience=1).fit(features, target)
    with pytest.raises(SpecError, match="max_size must be at least 1, got 0"):
        FormulaSizeClassifier(max_size=0).fit(features, target)


def rows() -> list[dict[str, Any]]:
    """Return every combination of values, missing ones too."""
    ages, towns, flags = (None, 38.0, 38.5, 39.0), (None, "O'Hara", "Bonn"), (None, True, False)
    return [{"age": age, "town": town, "smoker": flag} for age, town, flag in itertools.product(ages, towns, flags)]


def truth(tree: Formula) -> list[bool]:
    columns = np.array(
        [
            [row["age"] is not None and row["age"] > 38.5 for row in rows()],
            [row["town"] == "O'Hara" for row in rows()],
            [row["smoker"] is True for row in rows()],
            [row["age"] is None for row in rows()],
        ]
    )
    return list(evaluate(tree, columns).tolist())


def model_of(tree: Formula) -> SizedModel:
    return SizedModel("y", (True,), TAU, tree, Support(3, 2), Support(3, 1))


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_python_says_what_the_tree_says(tree: Formula) -> None:
    space: dict[str, Any] = {}
    exec(tree_to_python(model_of(tree)), space)
    assert [space["predict"](row) for row in rows()] == truth(tree)


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_sql_says_what_the_tree_says(tree: Formula) -> None:
    table = pd.DataFrame(rows()).astype({"smoker": "boolean"})
    with duckdb.connect() as connection:
        connection.register("people", table)
        found = connection.sql(tree_to_sql(model_of(tree), table="people")).fetchall()
        chosen = connection.sql(f"SELECT count(*) FROM people WHERE {tree_to_sql(model_of(tree))}").fetchall()
    assert [row[-1] for row in found] == truth(tree)
    assert chosen == [(sum(truth(tree)),)]


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_moving_negations_down_changes_nothing(tree: Formula) -> None:
    assert truth(without_negations(tree)) == truth(tree)
    assert truth(without_negations(tree, holds=False)) == [not value for value in truth(tree)]


def test_text_and_latex_follow_the_tree() -> None:
    model = model_of(TREES[2])
    assert tree_to_text(model) == 'y is true if\n   not (age > 38.5 and (town = "O\'Hara" or not smoker))'
    assert tree_to_latex(model) == (
        "\\begin{align*}\n\\text{y} = \\text{true} \\iff {} & \\lnot (\\text{age} > 38.5 \\land (\\text{town} = "
        "\\text{O\\textquotesingle{}Hara} \\lor \\lnot \\text{smoker}))\n\\end{align*}"
    )


def test_a_path_gives_the_formula_of_all_rows_of_a_study(laid_desk: Desk) -> None:
    spec = laid_desk.spec(kind="study", folds={"outer": 2}, **{"baselines.formula_size": {"max_size": 7}})
    assert laid_desk.here("run", spec).code == 0
    found = laid_desk.result()["methods"]["formula_size"]["model"]
    model = FormulaSizeClassifier(max_size=7).fit(laid_desk.path / "t.parquet", "y")
    assert model.formula_ == found["formula"]
    assert [step["errors"] for step in model.path_] == [step["errors"] for step in found["path"]]
    features, target = frame()
    assert model.score(features, target) == found["training_accuracy"]
    assert (model.predict(laid_desk.path / "t.parquet") == model.predict(features)).all()


def test_without_numba_everything_else_works_and_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import dnfscale.jobs.cli\n"
        "from dnfscale import FormulaSizeClassifier, IdealClassifier\n"
        "from dnfscale.errors import SpecError\n"
        "rows, labels = [[0], [1], [2], [3]] * 5, [0, 0, 1, 1] * 5\n"
        "print(IdealClassifier().fit(rows, labels).formula_)\n"
        "try:\n    FormulaSizeClassifier().fit(rows, labels)\n"
        "except SpecError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=surroundings(), capture_output=True, text=True, check=True)
    ideal, told = done.stdout.splitlines()
    assert ideal == "x0_above_median"
    assert "pip install 'dnfscale[formula-size]'" in told
