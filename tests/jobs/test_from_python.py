"""A study called from Python comes to what a job of the same keys writes, byte for byte."""

from __future__ import annotations

import json
import re

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_iris

from dnfscale import load, study
from dnfscale.errors import SpecError
from dnfscale.results.result import Result, read_result, result_text
from tests.examples import adult_like
from tests.jobs.running import Desk, keeping_signals

pytestmark = pytest.mark.slow

KEYS = {"max_ell": 4, "outer": 2, "missing": "indicator", "positive": [">50K"], "seed": 5}
SPEC = """
schema_version = 1
name = "study"
seed = 5
methods = ["ideal", "decision_tree"]
[data]
path = "rows.parquet"
target = "income"
positive = [">50K"]
missing = "indicator"
[select]
max_ell = 4
[folds]
outer = 2
[baselines.decision_tree]
[cluster]
kind = "serial"
"""


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rows = adult_like().slice(0, 900)
    finite = [name for name in rows.column_names if "inf" not in map(str, rows[name].to_pylist())]
    return rows.select(finite)


@pytest.fixture(scope="module")
def found(table):
    return study(table, "income", methods=["ideal", "decision_tree"], **KEYS)


def comparable(result: Result) -> dict:
    record = json.loads(result_text(result))
    return {key: value for key, value in record.items() if key not in ("timing", "environment")}


@pytest.fixture
def desk(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        yield Desk(tmp_path, capsys)


def test_a_study_called_from_python_is_that_of_a_job(table, found, desk):
    pq.write_table(table, desk.path / "rows.parquet")
    ended = desk.here("run", str(desk.spec(SPEC)))
    assert ended.code == 0, ended.err
    folder = desk.path / "runs" / "study"
    written = read_result((folder / "result.json").read_bytes())
    assert comparable(found) == comparable(written)
    again = load(folder)
    rows = table.drop_columns(["income"])
    assert found.model.predict(rows).tolist() == [
        ">50K" if answer else "<=50K" for answer in again.predict(rows).tolist()
    ]
    assert found.model.frontier_ == again.frontier_
    assert found.model.at(literals=2).to_text() == again.at(literals=2).to_text()


def test_the_result_is_read_back_from_its_own_text(found):
    assert isinstance(found, Result)
    assert comparable(read_result(found.to_json().encode())) == comparable(found)
    assert found.timing.total_s > 0
    assert found.environment.engine == "serial"


def test_it_shows_itself_as_text_as_a_card_and_as_a_page(found, tmp_path):
    assert repr(found).startswith('income is ">50K" if at least 2 of these 4 hold\n')
    assert "tested on rows it had not seen" in repr(found)
    assert '<ol class="terms">' in found._repr_html_()
    found.report(tmp_path / "page.html")
    assert "Decision tree" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_method_that_fails_is_told_and_costs_nothing_else():
    rows = adult_like().slice(0, 300)
    with pytest.warns(UserWarning, match="decision_tree fold 0: .*contains infinity"):
        found = study(rows, "income", methods=["ideal", "decision_tree"], **KEYS)
    assert found.ideal.accuracy_mean > 0.5


def test_any_kind_of_table_and_a_dataset_by_its_name_will_do(table, found):
    again = study(pl.from_arrow(table), "income", methods=["ideal", "decision_tree"], **KEYS)
    assert comparable(again) == comparable(found)
    named = study("builtin:breast_cancer", max_ell=1, outer=2, methods=["ideal"])
    assert named.data.rows == 569


def test_three_labels_have_a_formula_each():
    table = load_iris(as_frame=True).frame
    flowers = study(table, "target", classes="all", max_ell=1, outer=2)
    assert flowers.model.predict(table.drop(columns="target")).tolist()[0] == 0
    assert len(flowers.model.models_) == 3
    assert repr(flowers).count(" if\n") == 3


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        ({"max_literal": 3}, "unknown key max_literal; did you mean max_literals?"),
        ({"max_ell": 99}, "study: max_ell must be"),
        ({"keys": {"select.maxell": 3}}, "did you mean select.max_ell"),
        ({"positive": ["rich"]}, "positive"),
    ],
)
def test_a_wrong_choice_is_told_by_its_name_in_python(table, choices, told):
    given = {"missing": "indicator", "outer": 2, "max_ell": 1, **choices}
    with pytest.raises(SpecError, match=re.escape(told)):
        study(table, "income", **given)
