"""Explaining black boxes: fidelity and accuracy against a judge that asks the formula of every
fold, row by row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xgboost
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from dnfscale import IdealClassifier, distill
from dnfscale.core.splits import TEST, Splits
from dnfscale.core.vocabulary import Above
from dnfscale.data.frames import in_own_order, table_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DataError, SpecError
from dnfscale.learn.line import learn

N_ROWS = 220


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    random = np.random.default_rng(1)
    return pd.DataFrame(random.normal(size=(N_ROWS, 3)), columns=["a", "b", "c"])


@pytest.fixture(scope="module")
def truth(frame: pd.DataFrame) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(2)
    return ((frame["a"] > 0) | (frame["b"] > 0.5)).to_numpy() ^ (random.random(N_ROWS) < 0.1)


def judged(
    frame: pd.DataFrame, answers: Any, truth: Any, folds: int, **how: Any
) -> tuple[float, float, float]:
    """Fidelity and the accuracy of the formula and of the classifier, fold by fold, from the values
    of the rows.

    The rows are in the order of the joined codes of answer and truth, which is what the folds are
    dealt by.
    """
    codes = 2 * np.asarray(answers, dtype=int) + np.asarray(truth, dtype=int)
    table = in_own_order(
        pa.Table.from_pandas(frame, preserve_index=False).append_column(
            "answer", pa.array(codes, pa.int8())
        )
    )
    spec = IdealClassifier(profile="paper", **how).learn_spec(
        "answer", positive=(2, 3), outer=folds, others=((1, 3),)
    )
    learned = learn(table_source(table, "X"), spec, SerialEngine())
    rows = table.to_pandas()
    splits = Splits(len(rows), folds, spec.validation, spec.seed)
    parts = splits.parts[:, splits.arcs(0, len(rows))]
    faithful = correct = box = 0
    for fold in learned.folds:
        test = rows[parts[fold.fold] == TEST]
        for _, row in test.iterrows():
            assert all(isinstance(attribute, Above) for attribute in fold.tau.attributes)
            holds = [row[attribute.column] > attribute.value for attribute in fold.tau.attributes]
            said = any(
                all(holds[i] == value for i, value in term.literals) for term in fold.dnf.terms
            )
            answer, true = divmod(int(row["answer"]), 2)
            faithful += said == bool(answer)
            correct += said == bool(true)
            box += answer == true
    return faithful / len(rows), correct / len(rows), box / len(rows)


BOXES: dict[str, Any] = {
    "forest": lambda rows, y: RandomForestClassifier(20, random_state=0).fit(rows, y),
    "pipeline": lambda rows, y: make_pipeline(StandardScaler(), SVC()).fit(rows, y),
    "xgboost": lambda rows, y: xgboost.XGBClassifier(n_estimators=10, n_jobs=1).fit(rows, y),
    "function": lambda _rows, _y: lambda rows: (rows["a"] + rows["b"] > 0).to_numpy(),
}


@pytest.mark.parametrize("kind", BOXES)
def test_fidelity_and_accuracies_are_those_of_the_test_folds(frame, truth, kind):
    box = BOXES[kind](frame, truth)
    answers = np.asarray(box(frame) if kind == "function" else box.predict(frame)).astype(bool)
    found = distill(box, frame, truth, folds=5, max_ell=3, profile="paper")
    fidelity, accuracy, box_accuracy = judged(frame, answers, truth, 5, max_ell=3)
    assert found.fidelity == pytest.approx(fidelity, abs=1e-12)
    assert found.accuracy == pytest.approx(accuracy, abs=1e-12)
    assert found.black_box_accuracy == pytest.approx(box_accuracy, abs=1e-12)
    assert found.black_box_accuracy == pytest.approx((answers == truth).mean())
    assert (
        found.formula
        == IdealClassifier(profile="paper", max_ell=3).fit(frame, answers).formula_
        == found.classifier.formula_
    )


def test_without_the_truth_there_is_fidelity_alone(frame, truth):
    box = RandomForestClassifier(20, random_state=0).fit(frame, truth)
    found = distill(box, frame, profile="paper")
    assert 0.7 < found.fidelity <= 1
    assert found.accuracy is None
    assert found.black_box_accuracy is None


def test_a_formula_is_its_own_explanation(frame):
    box = IdealClassifier(profile="paper", max_ell=2).fit(frame, frame["a"] > frame["a"].median())
    found = distill(box, frame, box.predict(frame), max_ell=2, profile="paper")
    assert found.fidelity == found.accuracy
    assert found.fidelity > 0.97
    assert found.black_box_accuracy == 1.0
    assert found.formula == "a_above_median"


def test_labels_may_be_texts_and_the_order_of_rows_changes_nothing(frame, truth):
    words = np.where(truth, "yes", "no")
    box = RandomForestClassifier(20, random_state=0).fit(frame, words)
    found = distill(box, frame, words, folds=4, profile="paper")
    order = np.random.default_rng(0).permutation(N_ROWS)
    again = distill(box, frame.iloc[order], words[order], folds=4, profile="paper")
    assert (again.fidelity, again.accuracy, again.formula) == (
        found.fidelity,
        found.accuracy,
        found.formula,
    )
    assert found.classifier.classes_.tolist() == ["no", "yes"]


def test_other_kinds_of_tables_give_the_same(frame, truth):
    expected = distill(lambda _: truth, frame, truth, folds=3, profile="paper")
    for given in (pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        found = distill(lambda _: truth, given, truth, folds=3, profile="paper")
        assert (found.fidelity, found.accuracy, found.formula) == (
            expected.fidelity,
            expected.accuracy,
            expected.formula,
        )
    assert expected.accuracy == expected.fidelity


def test_a_column_may_have_the_name_of_the_answer(frame, truth):
    renamed = frame.rename(columns={"a": "answer", "b": "target"})
    found = distill(lambda _: truth, renamed, truth, folds=3, profile="paper")
    assert "answer_above_median" in found.formula
    assert found.fidelity > 0.6


def in_turn(rows: pd.DataFrame) -> Any:
    return np.arange(len(rows)) % 2


WRONG: dict[str, tuple[Any, Any, dict[str, Any], str]] = {
    "one answer": (lambda rows: np.ones(len(rows)), None, {}, "answers with two labels, got 1"),
    "three answers": (
        lambda rows: np.arange(len(rows)) % 3,
        None,
        {},
        "answers with two labels, got 3",
    ),
    "too few answers": (lambda _: np.array([0, 1]), None, {}, "as many labels as rows"),
    "too few labels": (in_turn, [0, 1], {}, "as many labels as rows"),
    "other labels": (in_turn, ["no", "yes"] * 110, {}, "expected y to hold the labels"),
    "labels as text": (in_turn, ["0", "1"] * 110, {}, r"\[0, 1\], got '0'"),
    "a label missing": (in_turn, [np.nan, 1.0] * 110, {}, "expected y to hold the labels"),
    "weights": (in_turn, None, {"class_weight": "balanced"}, "class_weight must be None"),
    "too many folds": (in_turn, None, {"folds": 500}, "folds.outer must be at most"),
    "one fold": (
        in_turn,
        None,
        {"folds": 1},
        'folds must be a whole number of at least 2, or "leave-one-out", got 1',
    ),
    "no folds": (in_turn, None, {"folds": 0}, "folds must be .* got 0"),
    "a truth value as folds": (in_turn, None, {"folds": True}, "folds must be .* got True"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_explained_is_refused(frame, case):
    box, y, parameters, message = WRONG[case]
    with pytest.raises((DataError, SpecError), match=message):
        distill(box, frame, y, **parameters, profile="paper")
