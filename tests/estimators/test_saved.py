"""A classifier out of a file answers as the one that wrote it, or as the job that did."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import dnfscale
from dnfscale import FormulaSizeClassifier, IdealClassifier, load
from dnfscale.errors import DataError


@pytest.fixture(scope="module")
def tumours():
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.mark.parametrize("labels", [(0, 1), ("benign", "malignant"), (False, True), (1.5, 2.5)])
def test_a_saved_classifier_comes_back_with_its_labels_and_columns(tumours, labels, tmp_path):
    rows, y = tumours
    model = IdealClassifier(profile="paper", max_ell=3).fit(rows, np.array(labels)[y])
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.classes_.tolist() == list(labels)
    assert again.predict(rows).tolist() == model.predict(rows).tolist()
    assert again.predict_proba(rows).tolist() == model.predict_proba(rows).tolist()
    assert again.feature_names_in_.tolist() == rows.columns.tolist()
    assert again.feature_importances_.tolist() == model.feature_importances_.tolist()
    assert again.to_text() == model.to_text()
    assert again.frontier_ == []
    used = rows[list(model.models_[0].columns)]
    assert again.predict(used).tolist() == model.predict(rows).tolist()


def test_three_labels_and_a_formula_of_bounded_size_come_back_too(tumours, tmp_path):
    flowers, y = load_iris(return_X_y=True, as_frame=True)
    several = IdealClassifier(profile="paper", max_ell=2).fit(flowers, y)
    short = FormulaSizeClassifier(max_size=3).fit(*tumours)
    for model, rows in ((several, flowers), (short, tumours[0])):
        model.save(tmp_path / "model.json")
        again = load(str(tmp_path / "model.json"))
        assert type(again) is type(model)
        assert again.classes_.tolist() == model.classes_.tolist()
        assert again.predict(rows).tolist() == model.predict(rows).tolist()
        assert "class=" in again._repr_html_()
        again.report(tmp_path / "page.html")


def test_a_file_that_no_classifier_wrote_answers_whether_the_row_is_positive(tumours, tmp_path):
    rows, y = tumours
    model = IdealClassifier(profile="paper", max_ell=2).fit(rows, np.array(["b", "m"])[y])
    (tmp_path / "model.json").write_text(model.to_json(), encoding="utf-8")
    again = load(tmp_path / "model.json")
    assert again.classes_.tolist() == [False, True]
    assert again.predict(rows).tolist() == (model.predict(rows) == "m").tolist()
    assert again.feature_names_in_.tolist() == list(
        dict.fromkeys(attribute.column for attribute in model.models_[0].tau.attributes)
    )


def test_what_a_file_says_of_its_classifier_is_not_trusted(tumours, tmp_path):
    rows, y = tumours
    IdealClassifier(profile="paper", max_ell=2).fit(rows, y).save(tmp_path / "model.json")
    record = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    for fit in (None, [], {"columns": "x", "labels": [1]}, {"columns": [], "labels": [0, 7]}):
        record["provenance"]["fit"] = fit
        (tmp_path / "other.json").write_text(json.dumps(record), encoding="utf-8")
        assert load(tmp_path / "other.json").classes_.tolist() == [False, True]


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"give the model\.json of a run"):
        load(tmp_path / "nothing.json")
    with pytest.raises(DataError, match=r"model\.json: expected a model file"):
        load(tmp_path)


def test_the_package_lists_what_it_offers_and_nothing_else():
    offered = {"FormulaSizeClassifier", "IdealClassifier", "check", "distill", "load", "study"}
    assert offered <= set(dir(dnfscale)) == {*dnfscale.__all__, "__doc__", "__version__"}
    for name in dnfscale.__all__:
        assert getattr(dnfscale, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dnfscale.nothing
