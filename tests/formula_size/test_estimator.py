"""FormulaSizeClassifier: what scikit-learn asks of a classifier, and what the other classifier of
formulas can.
"""

from __future__ import annotations

import html
import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dnfscale import FormulaSizeClassifier
from dnfscale.data.models import read_models
from dnfscale.errors import DataError, SpecError
from dnfscale.formula_size import Limits, search, tabulate
from dnfscale.method.words import formula_lines
from tests.estimator_checks import assert_no_fault
from tests.formula_size.judge import functions_by_size
from tests.jobs.running import Desk, keeping_signals, small_table, surroundings

VARIANTS: list[dict[str, Any]] = [
    {"max_size": 6},
    # One check leaves gaps in 9 of its 30 rows.
    {"missing": "drop", "max_dropped": 1.0, "max_size": 4},
    {"max_types": 4, "threshold": 0.3},
]


@pytest.fixture
def laid_desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    """A folder with a small table in t.parquet, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        desk = Desk(tmp_path, capsys)
        desk.table(small_table())
        yield desk


def frame(n_rows: int = 240) -> tuple[pd.DataFrame, pd.Series]:
    table = pd.DataFrame(small_table(n_rows))
    return table.drop(columns="y"), table["y"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters", VARIANTS, ids=lambda given: "-".join(map(str, given.values()))
)
def test_scikit_learn_finds_no_fault(parameters: dict[str, Any]) -> None:
    assert_no_fault(FormulaSizeClassifier(**parameters))


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    features, target = frame()
    given = {"max_size": 4, "patience": 5, "max_types": 300, "max_categories": 50}
    theirs = FormulaSizeClassifier(**{name: np.int64(value) for name, value in given.items()}).fit(
        features, target
    )
    ours = FormulaSizeClassifier(**given).fit(features, target)
    assert (theirs.formula_, theirs.size_) == (ours.formula_, ours.size_)
    assert json.dumps(theirs.path_) == json.dumps(ours.path_)


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


def test_probabilities_are_smoothed_shares_of_the_rows_of_the_same_type() -> None:
    features, target = frame()
    model = FormulaSizeClassifier().fit(features, target)
    answers, given = model.predict(features), model.predict_proba(features)[:, 1]
    told = model.decision(features)
    assert told.dtype.names == ("type", "n", "c", "accepted")
    assert (told["accepted"] == answers).all()
    for code in np.unique(told["type"]):
        rows = told["type"] == code
        assert set(told["n"][rows]) == {rows.sum()}
        assert set(told["c"][rows]) == {target[rows].sum()}
        share = (target[rows].sum() + 1) / (rows.sum() + 2)
        beside = np.nextafter(0.5, 1.0 if answers[rows].all() else 0.0)
        assert set(given[rows]) == {
            max(share, beside) if answers[rows].all() else min(share, beside)
        }
    assert ((given > 0.5) == answers).all()


def test_several_labels_have_a_formula_each() -> None:
    features, _ = frame(400)
    target = np.where(
        features["x"] > np.median(features["x"]), np.where(features["s"] == "red", 2, 1), 0
    )
    model = FormulaSizeClassifier().fit(features, target)
    assert (
        set(model.formula_)
        == set(model.size_)
        == set(model.proved_)
        == set(model.path_)
        == {0, 1, 2}
    )
    assert model.score(features, target) > 0.95
    assert model.predict_proba(features).sum(axis=1) == pytest.approx(1)
    assert model.to_text(label=2).startswith("target is 2 if")
    with pytest.raises(DataError, match=r"expected label to be one of \[0, 1, 2\], got None"):
        model.to_pmml()
    assert model.to_sql().count("-- target is ") == 3


def test_an_explanation_names_the_fewest_attributes_that_decide_and_the_way_out() -> None:
    features, target = frame(1000)
    model = FormulaSizeClassifier().fit(features, target)
    names = model.models_[0].tau.names
    explained = model.explain(features.head(50))
    for row, told in zip(features.head(50).itertuples(), explained, strict=True):
        truth = {"x_above_median": bool(row.x > np.median(features["x"])), "s_red": row.s == "red"}
        assert dict(zip(names, told["type"], strict=True)) == truth
        assert told["accepted"] == all(truth.values())
        because = {names[literal["attribute"]]: literal["value"] for literal in told["because"]}
        assert because == truth if told["accepted"] else [*because.values()] == [False]
        assert because.items() <= truth.items()
        flipped = {
            names[literal["attribute"]]: literal["value"] for literal in told["flip"]["changes"]
        }
        assert len(flipped) == (1 if told["accepted"] else list(truth.values()).count(False))
        assert all({**truth, **flipped}.values()) != told["accepted"]
    [text] = model.explain(features.head(1), text=True)
    assert "This settles it, whatever else is the case:" in text


@pytest.mark.portable
def test_a_fitted_classifier_has_a_certificate_a_look_and_exports() -> None:
    features, target = frame(1000)
    model = FormulaSizeClassifier().fit(features, target)
    assert model.certificate_["rows"] == 1000
    assert model.certificate_["chosen_on_the_same_rows"]
    assert model.certificate_["types_certified"] == 4
    assert formula_lines(model.models_[0])[0] in html.unescape(model._repr_html_())
    assert "\\land" in model._repr_latex_()
    for written in (model.to_sql(), model.to_python(), model.to_text(), model.to_pmml()):
        assert "red" in written


def test_a_saved_model_is_used_by_the_verbs(laid_desk: Desk) -> None:
    features, target = frame()
    model = FormulaSizeClassifier(threshold=0.3).fit(features, target)
    model.save("m.json")
    [again] = read_models(Path("m.json"))
    assert (again.tree, again.dnf, again.threshold) == (
        model.models_[0].tree,
        model.models_[0].dnf,
        Fraction(3, 10),
    )
    assert laid_desk.here("predict", "m.json", "t.parquet", "--output", "answers").code == 0
    written = pd.read_parquet("answers")
    assert (written["prediction"] == model.predict(features)).all()
    assert (written["probability"] == model.predict_proba(features)[:, 1]).all()
    assert (written["term"].notna() == written["prediction"]).all()
    ended = laid_desk.here("explain", "m.json", "t.parquet", "--row", "3", "--json")
    told = json.loads(ended.out)
    assert {key: told[key] for key in ("because", "flip", "accepted")} == {
        key: model.explain(features.iloc[[3]])[0][key] for key in ("because", "flip", "accepted")
    }
    for language, expected in (
        ("sql", model.to_sql()),
        ("text", model.to_text()),
        ("pmml", model.to_pmml()),
    ):
        assert laid_desk.here("export", "m.json", "--to", language).out == expected + "\n"
    assert laid_desk.here("export", "m.json", "--to", "json").out == Path("m.json").read_text()


def test_several_labels_are_saved_together(laid_desk: Desk) -> None:
    features, _ = frame(400)
    target = np.where(
        features["x"] > np.median(features["x"]), np.where(features["s"] == "red", 2, 1), 0
    )
    model = FormulaSizeClassifier().fit(features, target)
    assert set(model.certificate_) == {0, 1, 2}
    model.save("m.json")
    pd.DataFrame(features).to_parquet("rows.parquet")
    assert laid_desk.here("predict", "m.json", "rows.parquet", "--output", "answers").code == 0
    assert (pd.read_parquet("answers")["prediction"] == model.predict(features)).all()


@pytest.mark.parametrize("threshold", [0.1, 0.25, 1 / 3, 0.6, 0.9])
def test_a_threshold_gives_the_least_cost_of_all_formulas_of_the_size(threshold: float) -> None:
    random = np.random.default_rng(int(100 * threshold))
    holds = random.random((90, 4)) < 0.5
    target = (holds[:, 0] | holds[:, 1] & holds[:, 2]) ^ (random.random(90) < 0.25)
    given = pd.DataFrame(holds, columns=list("abcd"))
    model = FormulaSizeClassifier(threshold=threshold, max_size=7).fit(given, target)
    exact = Fraction(str(threshold)).limit_denominator(1_000_000)
    table = tabulate(holds, target)

    def cost(accepted: np.ndarray, n: np.ndarray, c: np.ndarray) -> Fraction:
        wrong_yes, wrong_no = int((n - c)[accepted].sum()), int(c[~accepted].sum())
        return exact * wrong_yes + (1 - exact) * wrong_no

    every = itertools.chain.from_iterable(functions_by_size(table, model.size_))
    masks = (
        np.array([int(mask) >> t & 1 for t in range(len(table.n))], dtype=bool) for mask in every
    )
    least = min(cost(mask, table.n, table.c) for mask in masks)
    answers = model.predict(given)
    ones = np.ones(len(target), dtype=np.int64)
    assert cost(answers, ones, target.astype(np.int64)) == least
    assert ((model.predict_proba(given)[:, 1] > float(exact)) == answers).all()
    errors = {step["errors"] for step in model.path_}
    assert all(step["cost"] >= 0 and step["proved"] for step in model.path_)
    assert max(errors) <= 90


def test_a_threshold_is_what_a_weight_of_the_positive_rows_is() -> None:
    features, target = frame()
    by_threshold = FormulaSizeClassifier(threshold=0.2, max_size=6).fit(features, target)
    by_weight = FormulaSizeClassifier(class_weight={True: 4, False: 1}, max_size=6).fit(
        features, target
    )
    assert by_threshold.formula_ == by_weight.formula_
    assert by_weight.certificate_ is None
    often = FormulaSizeClassifier(max_size=6).fit(
        features, target, sample_weight=np.full(len(target), 3)
    )
    assert often.models_[0].counts.n_rows == 3 * len(target)


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
    with pytest.raises(
        SpecError, match="patience must be a whole number of at least 4 sizes, got 1"
    ):
        FormulaSizeClassifier(patience=1).fit(features, target)
    for size in (0, 48, True, 2.0, "ten"):
        with pytest.raises(
            SpecError, match=f"max_size must be a whole number between 1 and 47, got {size!r}"
        ):
            FormulaSizeClassifier(max_size=size).fit(features, target)
    for most in (1, True):
        with pytest.raises(
            SpecError, match=f"max_types must be a whole number of at least 2, got {most!r}"
        ):
            FormulaSizeClassifier(max_types=most).fit(features, target)
    for name in ("patience", "time_limit_s", "max_categories", "random_state", "n_jobs"):
        with pytest.raises(SpecError, match=f"{name} must be .*, got True"):
            FormulaSizeClassifier(**{name: True}).fit(features, target)
    for threshold in (0, 1, 1e-9, float("nan"), "half", None):
        with pytest.raises(SpecError, match="threshold must be a number above 0 and below 1"):
            FormulaSizeClassifier(threshold=threshold).fit(features, target)


def test_a_path_gives_the_formula_of_all_rows_of_a_study(laid_desk: Desk) -> None:
    spec = laid_desk.spec(
        kind="study", folds={"outer": 2}, **{"baselines.formula_size": {"max_size": 7}}
    )
    assert laid_desk.here("run", spec).code == 0
    found = laid_desk.result()["methods"]["formula_size"]["model"]
    model = FormulaSizeClassifier(max_size=7).fit(laid_desk.path / "t.parquet", "y")
    [sized] = found["sized"]
    assert model.formula_ == sized["formula"]
    assert model.path_ == sized["path"]
    features, target = frame()
    assert model.score(features, target) == found["training_accuracy"]
    assert (model.predict(laid_desk.path / "t.parquet") == model.predict(features)).all()


@pytest.mark.slow
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
    done = subprocess.run(
        [sys.executable, "-c", code], env=surroundings(), capture_output=True, text=True, check=True
    )
    ideal, told = done.stdout.splitlines()
    assert ideal == "x0_above_median"
    assert "pip install 'dnfscale[formula-size]'" in told
