"""`dnfscale.evaluate`: any table in memory, or a path, and an object that shows itself."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dnfscale
from dnfscale import IdealClassifier
from dnfscale.errors import DataError, SpecError

RANDOM = np.random.default_rng(0)
X = pd.DataFrame({"x": RANDOM.normal(size=400), "site": RANDOM.choice(["a", "b"], 400)})
Y = np.where((X["x"] > 0) == (RANDOM.random(400) < 0.9), "yes", "no")


@pytest.fixture(scope="module", name="model")
def _model():
    return IdealClassifier(profile="paper", max_ell=1).fit(X, Y)


def test_a_frame_is_evaluated_and_shows_itself(model, tmp_path):
    found = dnfscale.evaluate(model, X, Y, slices=["site"])
    assert found.metrics["accuracy"] == pytest.approx(model.score(X, Y))
    assert "accuracy" in repr(found)
    assert "<caption><span>By site</span></caption>" in found._repr_html_()
    assert json.loads(found.to_json())["schema"] == "dnfscale.evaluation/1"
    assert found.findings == ()
    found.to_html(tmp_path / "e.html")
    assert "</html>" in (tmp_path / "e.html").read_text(encoding="utf-8")


def test_all_kinds_of_models_and_tables_are_evaluated_alike(model, tmp_path):
    model.save(tmp_path / "model.json")
    target = model.models_[0].target
    table = pa.Table.from_pandas(X.assign(**{target: Y}), preserve_index=False)
    pq.write_table(table, tmp_path / "t.parquet")
    whole = dnfscale.evaluate(model, X, Y).to_json()
    for own in (model, tmp_path / "model.json", model.model_of()):
        for data in (table, tmp_path / "t.parquet"):
            assert dnfscale.evaluate(own, data).to_json() == whole
    assert dnfscale.evaluate(model, X).metrics == {}


def test_what_cannot_be_evaluated_is_told(model):
    with pytest.raises(SpecError, match="takes a fitted classifier"):
        dnfscale.evaluate(IdealClassifier(profile="paper"), X, Y)
    with pytest.raises(
        SpecError, match=r"^slices must list columns of the table, but 'no' is none"
    ):
        dnfscale.evaluate(model, X, Y, slices=["no"])
    with pytest.raises(DataError, match="as many labels as rows, got 3 and 400"):
        dnfscale.evaluate(model, X, Y[:3])
    with pytest.raises(DataError, match="expected labels of which some are 'yes'"):
        dnfscale.evaluate(model, X, np.full(400, "maybe"))


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA])
def test_labels_that_pandas_takes_for_missing_are_not_known(model, nothing):
    given = pd.Series(Y, dtype=object)
    given[:7] = nothing
    assert dnfscale.evaluate(model, X, given).record.known == len(X) - 7


def test_labels_of_several_kinds_are_told(model):
    given = pd.Series(Y, dtype=object)
    given[0] = 1.5
    with pytest.raises(DataError, match="expected labels of one type in y"):
        dnfscale.evaluate(model, X, given)
