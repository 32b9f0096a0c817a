"""Metrics by the values of columns in a study, against its folds: where each site is a fold of its
own, the rows of a site are those of its fold.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dnfscale.results.result import read_result
from tests.jobs.running import small_table

N = 300
RANDOM = np.random.default_rng(4)
TABLE = {
    **small_table(N),
    "site": RANDOM.choice(["east", "north", "west"], N),
    "sex": RANDOM.choice(["f", "m"], N),
    "times": RANDOM.integers(1, 4, N),
}
SLICED = {"report": {"slices": ["site"]}, "data": {"protected": ["sex"], "drop": ["times"]}}


def study(desk, **tables):
    desk.table(TABLE, row_group_size=tables.pop("rows", 37))
    ended = desk.run(kind="study", **tables)
    assert ended.code == 0, ended.err
    return read_result(next(Path().rglob("result.json")).read_bytes()), ended


@pytest.mark.parametrize("weight", [None, "times"])
def test_the_rows_of_a_value_are_answered_as_in_the_folds_that_test_them(desk, weight):
    data = SLICED["data"] if weight is None else {"protected": ["sex"], "weight": weight}
    result, ended = study(desk, **{**SLICED, "data": data}, folds={"by": "site"})
    ideal = result.ideal
    site, sex = ideal.slices
    assert [part.column for part in (site, sex)] == ["site", "sex"]
    assert [v.confusion for v in site.values] == [fold.confusion for fold in ideal.folds]
    for value, fold in zip(site.values, ideal.folds, strict=True):
        assert {k: v for k, v in value.metrics.items() if k in fold.metrics} == fold.metrics
    for key in ("tp", "fp", "tn", "fn"):
        whole = getattr(ideal.confusion, key)
        assert sum(getattr(value.confusion, key) for value in sex.values) == whole
    assert (site.values[0].intervals == {}) == (weight is not None)
    assert "by sex: " in ended.out


@pytest.mark.parametrize("gaps", ["null", "nan"])
def test_rows_dropped_for_what_no_formula_asks_are_in_no_slice(desk, gaps):
    missing = RANDOM.random(N) < 0.1
    own = pa.array(RANDOM.normal(size=N), mask=missing)
    desk.table({**TABLE, "own": own if gaps == "null" else pc.fill_null(own, float("nan"))})
    data = {**SLICED["data"], "missing": "drop"}
    ended = desk.run(kind="study", profile="paper", **{**SLICED, "data": data})
    assert ended.code == 0, ended.err
    result = read_result(next(Path().rglob("result.json")).read_bytes())
    assert result.data.rows == N - missing.sum()
    for part in result.ideal.slices:
        assert sum(value.rows for value in part.values) == result.data.rows


def test_protected_columns_are_in_no_formula(desk):
    result, _ = study(desk, **SLICED)
    named = {a.column for fold in result.ideal.folds for f in fold.formulas for a in f.attributes}
    assert "sex" not in named
    assert result.data.columns == len(small_table(N)) - 1 + 1


def test_slices_do_not_depend_on_how_rows_are_split(desk):
    whole, _ = study(desk, **SLICED, rows=N, folds={"outer": 4})
    parts, _ = study(desk, **SLICED, rows=23, folds={"outer": 4})
    assert whole.ideal.slices == parts.ideal.slices


def test_the_page_and_the_tables_have_them(desk):
    study(desk, **SLICED)
    page = next(Path().rglob("report.html")).read_text(encoding="utf-8")
    assert "Is it as good for everyone?" in page
    assert "What the answers are worth" in page
    slices = next(Path().rglob("slices.csv")).read_text(encoding="utf-8").splitlines()
    assert slices[0] == "column,value,rows,metric,figure,low,high"
    metrics = next(Path().rglob("metrics.csv")).read_text(encoding="utf-8")
    assert "ideal,sensitivity,pooled," in metrics


def test_several_labels_have_their_answers_by_value(desk):
    table = {
        **TABLE,
        "y": np.where(np.array(TABLE["x"]) > 0.7, "high", np.where(TABLE["y"], "yes", "no")),
    }
    desk.table(table)
    ended = desk.run(
        kind="study",
        **{**SLICED, "data": {**SLICED["data"], "classes": "all"}},
        folds={"by": "site"},
    )
    assert ended.code == 0, ended.err
    ideal = read_result(next(Path().rglob("result.json")).read_bytes()).ideal
    matrices = [value.confusion_matrix for value in ideal.slices[0].values]
    assert matrices == [fold.confusion_matrix for fold in ideal.folds]
    hits = [Fraction(sum(row[i] for i, row in enumerate(m)), sum(map(sum, m))) for m in matrices]
    assert [value.metrics["accuracy"] for value in ideal.slices[0].values] == list(map(float, hits))


@pytest.mark.parametrize(
    ("tables", "code", "said"),
    [
        ({"report": {"slices": ["colour"]}}, 2, "report.slices must name columns of"),
        ({"report": {"slices": ["y"]}}, 2, "report.slices must list columns besides data.target"),
        ({"report": {"slices": ["many"]}}, 2, "'many': expected at most 250 values"),
    ],
)
def test_bad_columns_are_told(desk, tables, code, said):
    desk.table({**TABLE, "many": np.arange(N)})
    ended = desk.run(kind="study", **tables)
    assert ended.code == code
    assert said in ended.err
