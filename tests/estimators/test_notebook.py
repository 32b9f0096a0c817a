"""What a notebook has of a fitted classifier: its card, its axes, its page, other lengths."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError

from dnfscale import FormulaSizeClassifier, IdealClassifier, distill
from dnfscale.errors import DataError, SpecError
from dnfscale.method.words import model_lines
from dnfscale.report.page import render_report


@pytest.fixture(scope="module")
def tumours():
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def fitted(tumours):
    return IdealClassifier(profile="paper", max_ell=4).fit(*tumours)


def words(markup: str) -> str:
    text = re.sub(r"<style>.*?</style>", "", markup, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", text.replace("<wbr>", "")).split())


def test_a_notebook_shows_the_card_of_the_page(fitted):
    shown, page = fitted._repr_html_(), render_report([fitted._run()])
    lines = re.findall(r'<ol class="terms">.*?</ol>', shown)
    assert len(lines) == 1
    assert lines[0] in page
    assert lines[0].count("<li>") == len(model_lines(fitted.models_[0]))
    assert words(shown).endswith("study measures it.")
    assert "Otherwise predict target ≠ 1 ." in words(shown)


def test_the_style_of_a_card_touches_nothing_outside_of_it(fitted):
    [style] = re.findall(r"<style>(.*?)</style>", fitted._repr_html_(), flags=re.DOTALL)
    selectors = re.findall(r"([^{}]+)\{[^{}]*\}", style)
    assert len(selectors) > 20
    for several in selectors:
        for one in re.split(r",(?![^(]*\))", several):
            assert re.match(r"\.dnfscale(?![\w-])", one.strip()), one
    assert re.findall(r"@", style) == []
    assert style.count("{") == style.count("}")


@pytest.mark.slow
def test_three_labels_and_a_formula_of_bounded_size_have_a_card_too(tumours):
    flowers = IdealClassifier(profile="paper", max_ell=2).fit(
        *load_iris(return_X_y=True, as_frame=True)
    )
    shown = words(flowers._repr_html_())
    assert all(f"target = {label}" in shown for label in (0, 1, 2))
    short = FormulaSizeClassifier(max_size=3).fit(*tumours)
    assert "Predict target is 1 when" in words(short._repr_html_())
    assert "<h1>" in render_report([short._run()])


def test_a_distillation_and_explanations_show_themselves(fitted, tumours):
    rows, _ = tumours
    found = distill(fitted, rows, folds=3, max_ell=2, profile="paper")
    shown = words(found._repr_html_())
    assert f"agrees with the classifier on {found.fidelity:.1%} of the rows" in shown
    assert "Predict" not in shown
    explained = fitted.explain(rows.head(25))
    assert len(explained) == 25
    text = words(explained._repr_html_())
    assert text.startswith("Row 0 The formula says")
    assert "Row 19" in text
    assert "Row 20" not in text
    assert text.endswith("and 5 more rows")


def test_the_page_of_a_classifier_is_written_as_a_job_writes_it(fitted, tmp_path):
    fitted.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Content-Security-Policy" in page
    assert "569 rows · 30 columns" in words(page)
    assert "What if?" in page


def test_every_length_has_a_formula_and_any_can_be_taken(fitted, tumours):
    rows, y = tumours
    points = fitted.frontier_
    assert [point["ell"] for point in points] == [1, 2, 3, 4]
    assert [point["shown"] for point in points].count(True) == 1
    for point in points:
        other = fitted.at(ell=point["ell"])
        assert len(other.models_[0].tau) == point["ell"]
        assert other.score(rows, y) == pytest.approx(point["accuracy"])
        assert other.frontier_[point["ell"] - 1]["shown"]
        # One formula, in the words of people, is one line of text.
        assert "\n" not in point["formula"]
    shortest = fitted.at(literals=1)
    assert len(model_lines(shortest.models_[0])) == 1
    assert fitted.at(accuracy=0).formula_ == shortest.formula_
    [chosen] = [point for point in points if point["shown"]]
    assert fitted.at(ell=chosen["ell"]).formula_ == fitted.formula_
    assert "_above_median" not in points[0]["formula"]


def test_a_formula_of_another_length_takes_nothing_along_that_is_not_its_own(fitted):
    [chosen] = [point for point in fitted.frontier_ if point["shown"]]
    other = fitted.at(ell=1 if chosen["ell"] > 1 else 2)
    assert other.certificate_ != fitted.certificate_
    assert fitted.frontier_[chosen["ell"] - 1]["shown"]
    assert "learning rows" not in words(render_report([other._run()]))
    assert clone(other).get_params() == fitted.get_params()


@pytest.mark.parametrize("asked", [{}, {"ell": 1, "literals": 3}])
def test_one_wish_is_needed_and_no_more(fitted, asked):
    with pytest.raises(SpecError, match=r"^at needs one of literals, ell and accuracy, got"):
        fitted.at(**asked)


def test_what_no_formula_has_cannot_be_taken(fitted):
    with pytest.raises(SpecError, match="literals must be at least 1"):
        fitted.at(literals=0)
    with pytest.raises(SpecError, match="ell must be between 1 and 4"):
        fitted.at(ell=9)
    flowers = IdealClassifier(profile="paper", max_ell=1).fit(*load_iris(return_X_y=True))
    assert flowers.frontier_ == []
    with pytest.raises(SpecError, match="there are 3 formulas"):
        flowers.at(literals=2)


def test_columns_have_importances_in_their_order(fitted, tumours):
    rows, _ = tumours
    found = fitted.feature_importances_
    assert found.shape == (30,)
    assert (found >= 0).all()
    used = {attribute.column for attribute in fitted.models_[0].tau.attributes}
    assert {rows.columns[place] for place in np.flatnonzero(found)} <= used
    assert found.max() > 0
    flowers = IdealClassifier(profile="paper", max_ell=2).fit(*load_iris(return_X_y=True))
    assert flowers.feature_importances_.shape == (4,)
    with pytest.raises(NotFittedError):
        _ = IdealClassifier(profile="paper").feature_importances_


def test_axes_say_what_the_formula_says(fitted, tumours):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    axes = fitted.plot()
    drawn = [tick.get_text() for tick in axes.get_yticklabels()]
    assert len(drawn) == len(model_lines(fitted.models_[0])) + 1
    assert drawn[-1] == "otherwise"
    assert "worst" in drawn[0]
    _, given = pyplot.subplots()
    assert fitted.plot_frontier(ax=given) is given
    calibration = fitted.plot_calibration(*tumours)
    [dots] = calibration.collections
    assert len(dots.get_offsets()) == len(np.unique(fitted.predict_proba(tumours[0])[:, 1]))
    assert calibration.get_xlabel() == "probability by predict_proba"
    for figure in pyplot.get_fignums():
        pyplot.figure(figure).canvas.draw()
    pyplot.close("all")


def test_a_label_to_plot_must_be_one_that_is_there(fitted, tumours):
    with pytest.raises(DataError, match="expected label to be one of"):
        fitted.plot_calibration(*tumours, label=7)


def test_rows_that_fit_leaves_out_are_told(tumours):
    rows, y = tumours
    gaps = rows.copy()
    gaps.iloc[:3, 0] = np.nan
    with pytest.warns(UserWarning, match=r'^fit left out 3 of 569 rows .*missing="indicator"'):
        IdealClassifier(profile="paper", max_ell=1).fit(gaps, y)
    IdealClassifier(profile="paper", max_ell=1, missing="indicator").fit(gaps, y)


def test_messages_speak_of_parameters_not_of_keys_of_a_spec():
    frame = pd.DataFrame({"a": [None, 1.0, None, 2.0], "b": [1.0, None, 2.0, None]})
    with pytest.raises(DataError) as caught:
        IdealClassifier(profile="paper").fit(frame, [0, 1, 0, 1])
    assert 'set missing="indicator"' in str(caught.value)
    assert "data.missing" not in str(caught.value)
    assert "max_dropped=0.5" in str(caught.value)
    assert caught.value.key == "data.max_dropped"
