from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from dnfscale import IdealClassifier
from dnfscale.errors import DataError, DnfscaleError, SpecError
from tests.jobs.running import Desk, keeping_signals, surroundings

N_ROWS = 400


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        yield Desk(tmp_path, capsys)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    random = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "a": random.normal(size=N_ROWS),
            "b": random.integers(0, 9, N_ROWS),
            "c": random.choice(["u", "v", "w"], N_ROWS),
            "d": random.random(N_ROWS) < 0.5,
        }
    )


@pytest.fixture(scope="module")
def labels(frame: pd.DataFrame) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(6)
    signal = ((frame["a"] > 0) & (frame["c"] == "u") | (frame["b"] > 4)).to_numpy()
    return signal ^ (random.random(N_ROWS) < 0.05)


def truths(model: IdealClassifier, frame: pd.DataFrame) -> list[list[bool]]:
    """Which attributes of the model hold in each row, in plain pandas."""
    columns = []
    for attribute in model.model_.tau.attributes:
        values = frame[attribute.column]
        kind = type(attribute).__name__
        columns.append(values > attribute.value if kind == "Above" else values == attribute.value)
    return np.column_stack(columns).astype(bool).tolist()


def by_hand(model: IdealClassifier, frame: pd.DataFrame) -> list[bool]:
    """What the terms of the formula say of each row."""
    terms = [term.literals for term in model.model_.dnf.terms]
    return [any(all(row[i] == value for i, value in term) for term in terms) for row in truths(model, frame)]


def test_a_prediction_is_the_formula_evaluated(frame, labels):
    model = IdealClassifier().fit(frame, labels)
    assert model.predict(frame).tolist() == by_hand(model, frame)
    other = frame.assign(a=-frame["a"], b=8 - frame["b"])
    assert model.predict(other).tolist() == by_hand(model, other)
    assert model.score(frame, labels) > 0.9


def test_the_formula_names_only_the_attributes_of_the_model(frame, labels):
    model = IdealClassifier(max_ell=3).fit(frame, labels)
    words = model.formula_.replace("(", " ").replace(")", " ").split()
    assert set(words) - {"and", "or", "not"} <= set(model.attributes_)
    assert len(model.attributes_) <= 3


def test_a_probability_is_the_smoothed_share_of_the_rows_type(frame, labels):
    model = IdealClassifier().fit(frame, labels)
    rows = truths(model, frame)
    counts: dict[tuple[bool, ...], list[int]] = {}
    for row, label in zip(map(tuple, rows), labels, strict=True):
        cell = counts.setdefault(row, [0, 0])
        cell[0] += 1
        cell[1] += int(label)
    expected = [(counts[tuple(row)][1] + 1) / (counts[tuple(row)][0] + 2) for row in rows]
    found = model.predict_proba(frame)
    assert found.shape == (N_ROWS, 2)
    assert found[:, 1].tolist() == expected
    assert found.sum(axis=1) == pytest.approx(np.ones(N_ROWS))


def test_a_type_that_was_never_seen_has_even_odds():
    rows = [(False, False, False)] * 40 + [(False, True, True)] * 30 + [(True, True, False)] * 30
    train = pd.DataFrame(rows, columns=["a", "b", "y"])
    model = IdealClassifier().fit(train[["a", "b"]], train["y"])
    assert sorted(model.attributes_) == ["a", "b"]
    unseen = pd.DataFrame({"a": [True], "b": [False]})
    assert model.predict_proba(unseen).tolist() == [[0.5, 0.5]]
    assert model.predict(unseen).tolist() == [False]


@pytest.mark.parametrize(
    ("negative", "positive"), [(0, 1), (-1, 1), ("no", "yes"), (False, True), (1.5, 2.5), ("2", "10")]
)
def test_the_larger_label_is_positive_and_predictions_are_labels(frame, labels, negative, positive):
    low, high = sorted([negative, positive])
    y = np.where(labels, high, low)
    model = IdealClassifier().fit(frame, y)
    assert model.classes_.tolist() == [low, high]
    assert model.formula_ == IdealClassifier().fit(frame, labels).formula_
    assert model.predict(frame).dtype == y.dtype
    assert set(model.predict(frame).tolist()) <= {low, high}


def test_pandas_arrow_and_numpy_give_the_same_formula(frame, labels):
    numbers = frame[["a", "b"]].rename(columns={"a": "x0", "b": "x1"}).astype(float)
    inputs = [
        numbers,
        pa.Table.from_pandas(numbers, preserve_index=False),
        numbers.to_numpy(),
        numbers.to_numpy().tolist(),
        np.asfortranarray(numbers.to_numpy()),
    ]
    models = [IdealClassifier().fit(given, labels) for given in inputs]
    assert len({model.formula_ for model in models}) == 1
    for model, given in zip(models, inputs, strict=True):
        assert model.predict(given).tolist() == models[0].predict(numbers).tolist()
        assert model.n_features_in_ == 2


def test_arrow_dictionaries_pandas_categories_and_strings_are_the_same(frame, labels):
    plain = IdealClassifier().fit(frame, labels)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    coded = table.set_column(2, "c", table["c"].dictionary_encode())
    for given in (frame.assign(c=frame["c"].astype("category")), coded):
        assert IdealClassifier().fit(given, labels).formula_ == plain.formula_
        assert plain.predict(given).tolist() == plain.predict(frame).tolist()


def test_the_index_of_a_frame_is_not_a_column(frame, labels):
    shuffled = frame.set_index(np.arange(N_ROWS)[::-1])
    assert IdealClassifier().fit(shuffled, labels).formula_ == IdealClassifier().fit(frame, labels).formula_


def test_labels_may_be_a_series_with_any_index(frame, labels):
    y = pd.Series(labels, index=np.arange(N_ROWS)[::-1])
    assert IdealClassifier().fit(frame, y).formula_ == IdealClassifier().fit(frame, labels).formula_


@pytest.mark.parametrize("seed", [0, 1, 17])
@pytest.mark.parametrize("missing", [False, True])
def test_a_job_with_the_same_seed_on_the_same_rows_gives_the_same_model(desk, frame, labels, seed, missing):
    given = frame.copy()
    if missing:
        given.loc[::17, "a"] = np.nan
        given.loc[::23, "c"] = None
    desk.table(pa.Table.from_pandas(given.assign(y=labels), preserve_index=False))
    assert desk.run(kind="fit", seed=seed, select={"max_ell": 6}).code == 0
    model = IdealClassifier(max_ell=6, random_state=seed).fit(given, labels)
    assert model.formula_ == desk.model()["formula"]
    assert model.attributes_ == [attribute["name"] for attribute in desk.model()["attributes"]]
    values = [attribute["value"] for attribute in desk.model()["attributes"]]
    assert [attribute.value for attribute in model.model_.tau.attributes] == values
    assert model.model_.whole.n.tolist() == [cell["n"] for cell in desk.model()["counts"]]


def test_a_missing_value_makes_its_attributes_false(frame, labels):
    model = IdealClassifier().fit(frame, labels)
    empty = frame.assign(a=np.nan, c=None)
    expected = frame.assign(a=-np.inf, c="none of them")
    assert model.predict(empty).tolist() == model.predict(expected).tolist()


def test_a_single_row_with_a_missing_value_can_be_predicted(frame, labels):
    model = IdealClassifier().fit(frame, labels)
    for column in frame.columns:
        row = frame[:1].astype({column: object})
        row[column] = [None]
        assert len(model.predict(row)) == 1


def test_a_category_that_was_never_seen_makes_its_attributes_false(frame, labels):
    model = IdealClassifier().fit(frame, labels)
    assert model.predict(frame.assign(c="new")).tolist() == by_hand(model, frame.assign(c="new"))


def test_columns_that_the_formula_does_not_need_may_be_left_out(frame, labels):
    model = IdealClassifier(max_ell=1).fit(frame, labels)
    needed = [attribute.column for attribute in model.model_.tau.attributes]
    assert model.predict(frame[needed]).tolist() == model.predict(frame).tolist()


def test_no_rows_give_no_predictions(frame, labels):
    model = IdealClassifier().fit(frame, labels)
    assert model.predict(frame[:0]).tolist() == []
    assert model.predict_proba(frame[:0]).shape == (0, 2)


def test_columns_may_be_given_roles(frame, labels):
    model = IdealClassifier(categorical=("b",), max_ell=24, tolerance=0.0, validation=0.5).fit(frame, labels)
    assert model.model_.sweep.steps[-1].ell == 9 + 1 + 3 + 1
    two = frame.assign(b=frame["b"] > 4).astype({"b": int})
    assert "b" in IdealClassifier(boolean=("b",), max_ell=2).fit(two, labels).attributes_


def test_an_estimator_can_be_cloned_and_keeps_its_parameters():
    given = IdealClassifier(max_ell=3, rank=("chi2",), tolerance=0.5, unseen="dont_care", boolean=("b",))
    copied = clone(given)
    assert copied.get_params() == given.get_params()
    assert copied is not given
    assert clone(given.set_params(max_ell=7)).max_ell == 7


def test_a_pickled_model_predicts_the_same(frame, labels):
    model = IdealClassifier().fit(frame, labels)
    again = pickle.loads(pickle.dumps(model))
    assert again.formula_ == model.formula_
    assert again.predict_proba(frame).tolist() == model.predict_proba(frame).tolist()


def test_an_estimator_works_in_a_pipeline_and_in_cross_validation(frame, labels):
    scores = cross_val_score(make_pipeline(IdealClassifier(max_ell=4)), frame, labels, cv=3)
    assert scores.min() > 0.8


def test_fitting_again_forgets_what_was_learned_before(frame, labels):
    model = IdealClassifier().fit(frame, labels)
    model.fit(frame[["d"]], frame["d"])
    assert model.formula_ == "d"
    assert model.n_features_in_ == 1


def test_an_estimator_that_is_not_fitted_says_so(frame):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        IdealClassifier().predict(frame)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        IdealClassifier().predict_proba(frame)


def test_importing_the_package_does_not_import_scikit_learn():
    seen = "print('sklearn' in sys.modules)"
    code = f"import sys, dnfscale; {seen}; dnfscale.IdealClassifier; {seen}"
    done = subprocess.run([sys.executable, "-c", code], env=surroundings(), capture_output=True, text=True, check=True)
    assert done.stdout == "False\nTrue\n"


def mixed(n_rows: int) -> list[object]:
    return [1, "a"] * (n_rows // 2)


WRONG_ROWS = {
    "one dimension": (lambda frame: frame["a"].to_numpy(), "expected a table of rows and columns"),
    "three dimensions": (lambda _: np.zeros((N_ROWS, 2, 2)), "expected a table of rows and columns"),
    "no columns": (lambda frame: frame[[]], "column"),
    "a date": (lambda frame: frame.assign(t=pd.Timestamp("2024-01-01")), "'t' has the type timestamp"),
    "nothing but nulls": (lambda frame: frame.assign(a=np.nan), "no value at all"),
    "numbers and strings mixed": (lambda frame: frame.assign(m=mixed(len(frame))), "m"),
    "complex numbers": (lambda frame: frame[["a"]].to_numpy().astype(complex), "complex"),
    "two columns of one name": (lambda frame: frame.set_axis(["a", "b", "c", "a"], axis=1), "a"),
    "too few rows": (lambda frame: frame[:-1], "expected as many labels as rows, got 400 and 399"),
}


@pytest.mark.parametrize("case", WRONG_ROWS)
def test_rows_that_cannot_be_learned_from_are_a_data_error(frame, labels, case):
    spoil, message = WRONG_ROWS[case]
    with pytest.raises(DataError, match=message):
        IdealClassifier().fit(spoil(frame), labels)


WRONG_LABELS = {
    "one class": (lambda labels: np.ones(len(labels)), "expected two classes to tell apart, got 1"),
    "three classes": (lambda labels: np.arange(len(labels)) % 3, "expected two classes to tell apart, got 3"),
    "nan beside one class": (lambda labels: np.where(labels, 1.0, np.nan), "label"),
    "nan beside two classes": (lambda labels: np.where(np.arange(len(labels)) == 0, np.nan, labels), "label"),
    "none": (lambda labels: np.array([None, *map(str, labels[1:])], dtype=object), "label"),
    "a table": (lambda labels: np.column_stack([labels, ~labels]), "label"),
    "strings and numbers": (lambda labels: np.array([1 if x else "no" for x in labels], dtype=object), "label"),
}


@pytest.mark.parametrize("case", WRONG_LABELS)
def test_labels_that_cannot_be_learned_are_a_data_error(frame, labels, case):
    spoil, message = WRONG_LABELS[case]
    with pytest.raises(DataError, match=message):
        IdealClassifier().fit(frame, spoil(labels))


def test_an_empty_table_is_a_data_error(frame, labels):
    with pytest.raises(DataError, match="expected two classes to tell apart, got 0"):
        IdealClassifier().fit(frame[:0], labels[:0])


WRONG_LATER = {
    "a column is missing": lambda frame: frame.drop(columns="b"),
    "a column is called otherwise": lambda frame: frame.rename(columns={"b": "B"}),
    "a number has become a string": lambda frame: frame.assign(b="many"),
    "an array without names": lambda frame: frame.to_numpy(),
}


@pytest.mark.parametrize("case", WRONG_LATER)
def test_rows_that_the_formula_cannot_be_applied_to_are_a_data_error(frame, labels, case):
    model = IdealClassifier().fit(frame, labels)
    assert "b_above_median" in model.attributes_
    with pytest.raises(DataError, match="b"):
        model.predict(WRONG_LATER[case](frame))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_ell", 0),
        ("max_ell", 25),
        ("max_ell", "ten"),
        ("rank", ("anova",)),
        ("rank", ()),
        ("rank", "chi2"),
        ("validation", 2.0),
        ("validation", -0.1),
        ("tolerance", -0.1),
        ("unseen", "dontcare"),
        ("minimize", "shortest"),
    ],
)
def test_a_parameter_out_of_range_is_refused_by_name(frame, labels, name, value):
    with pytest.raises(DnfscaleError, match=name):
        IdealClassifier(**{name: value}).fit(frame, labels)


@pytest.mark.parametrize("name", ["categorical", "boolean"])
def test_a_role_for_a_column_that_is_not_there_names_the_columns_that_are(frame, labels, name):
    with pytest.raises(SpecError, match="got 'z'") as caught:
        IdealClassifier(**{name: ("z",)}).fit(frame, labels)
    assert "'a', 'b', 'c', 'd'" in str(caught.value)
    assert "__target__" not in str(caught.value)


def test_a_column_may_have_any_name(frame, labels):
    for name in ("__target__", "y", "", "a b", "and"):
        renamed = frame.rename(columns={"b": name})
        model = IdealClassifier().fit(renamed, labels)
        assert model.predict(renamed).tolist() == IdealClassifier().fit(frame, labels).predict(frame).tolist()


def test_fitting_warns_of_nothing(frame, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        IdealClassifier().fit(frame.assign(e=1.0), labels).predict(frame)
