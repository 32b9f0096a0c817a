"""Evaluations against scikit-learn's metrics on predictions of the same model, and data that were
made to drift in one thing.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import metrics as judge

from dnfscale import IdealClassifier
from dnfscale.apply.evaluation import Asked, evaluate_models
from dnfscale.data.frames import table_source
from dnfscale.data.source import open_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DataError, SpecError
from dnfscale.report.evaluated import evaluation_lines
from dnfscale.results.evaluation import evaluation_text, read_evaluation

N = 3_000


def people(n: int, seed: int, *, older: float = 0.0, missing: float = 0.0) -> pd.DataFrame:
    """Patients whose illness depends on age and ward; `older` adds years that do no harm."""
    random = np.random.default_rng(seed)
    age, bmi = random.normal(50, 15, n), random.normal(27, 4, n)
    ward, sex = random.choice(["a", "b", "c"], n), random.choice(["f", "m"], n)
    risk = ((age > 50) & (ward != "c")) | (bmi > 32)
    ill = random.random(n) < np.where(risk, 0.85, 0.1)
    age = np.where(random.random(n) < missing, np.nan, age + older)
    return pd.DataFrame(
        {"age": age, "bmi": bmi, "ward": ward, "sex": sex, "y": np.where(ill, "ill", "well")}
    )


@pytest.fixture(scope="module", name="learned")
def _learned():
    frame = people(2 * N, 0)
    return IdealClassifier(profile="paper", max_ell=4).fit(
        frame.drop(columns=["y", "sex"]), frame["y"]
    )


def evaluated(model, frame: pd.DataFrame, **asked):
    frame = frame.rename(columns={"y": model.models_[0].target})
    source = table_source(pa.Table.from_pandas(frame, preserve_index=False), "t")
    return evaluate_models(model.models_, source, SerialEngine(), Asked(**asked))


def judged(model, frame: pd.DataFrame) -> dict[str, float]:
    """What scikit-learn says of the model's answers; the greater label is «yes»."""
    rows, yes = frame.drop(columns=["y", "sex"]), frame["y"] == model.classes_[1]
    answer = model.predict(rows) == model.classes_[1]
    probability = model.predict_proba(rows)[:, 1]
    return {
        "accuracy": judge.accuracy_score(yes, answer),
        "sensitivity": judge.recall_score(yes, answer, zero_division=0),
        "specificity": judge.recall_score(~yes, ~answer, zero_division=0),
        "balanced_accuracy": judge.balanced_accuracy_score(yes, answer),
        "f1": judge.f1_score(yes, answer, zero_division=0),
        "mcc": judge.matthews_corrcoef(yes, answer),
        "auc": judge.roc_auc_score(yes, probability),
        "average_precision": judge.average_precision_score(yes, probability),
        "brier": judge.brier_score_loss(yes, probability),
        "log_loss": judge.log_loss(yes, probability),
    }


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_metrics_are_those_of_scikit_learn_for_all_rows_and_for_each_slice(learned, missing):
    frame = people(N, 1, missing=missing)
    found = evaluated(learned, frame, slices=("ward", "sex"))
    for name, value in judged(learned, frame).items():
        assert found.metrics[name] == pytest.approx(value, abs=1e-12), name
    for part in found.slices:
        for value in part.values:
            own = frame[frame[part.column] == value.value]
            assert value.rows == len(own)
            for name, expected in judged(learned, own).items():
                assert value.metrics[name] == pytest.approx(expected, abs=1e-12), name
    rates = [value.selection_rate for value in found.slices[0].values]
    gap = found.slices[0].gaps[0]
    assert (gap.metric, gap.difference) == ("selection_rate", max(rates) - min(rates))
    assert gap.certain


def test_it_does_not_depend_on_how_rows_are_split(learned, tmp_path):
    frame = people(N, 1, missing=0.1).rename(columns={"y": learned.models_[0].target})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    texts = set()
    for rows in (50, 700, N):
        folder = tmp_path / str(rows)
        folder.mkdir()
        for start in range(0, N, 1000):
            part = table.slice(start, 1000)
            pq.write_table(part, folder / f"{start}.parquet", row_group_size=rows)
        source = open_source(str(folder))
        asked = Asked(slices=("ward", "sex"))
        found = evaluate_models(learned.models_, source, SerialEngine(), asked)
        texts.add(evaluation_text(found))
        assert read_evaluation(evaluation_text(found).encode()) == found
    assert len(texts) == 1


def named(found) -> list[tuple[str, str]]:
    """What differs by itself; that lines are no longer as right may follow from it."""
    return [(f.kind, f.about) for f in found.findings if f.kind != "confidence"]


def test_data_like_those_learned_from_are_no_drift(learned):
    found = evaluated(learned, people(N, 1))
    assert found.findings == ()
    assert found.drift.greatest < 0.02


def test_data_made_to_drift_in_one_column_name_that_column(learned):
    found = evaluated(learned, people(N, 1, older=12))
    assert named(found) == [("column", "age")]
    assert found.drift.greatest > 0.1


def test_data_made_to_drift_in_one_class_name_the_class(learned):
    frame = people(3 * N, 1)
    ill = frame[frame["y"] == "ill"]
    found = evaluated(learned, pd.concat([ill, frame[frame["y"] == "well"][: len(ill) // 2]]))
    assert named(found) == [("class", "the classes")]


def test_a_line_that_is_no_longer_right_is_told(learned):
    frame = people(N, 1)
    frame["y"] = np.random.default_rng(0).permutation(frame["y"])
    found = evaluated(learned, frame)
    assert named(found) == []
    assert {f.kind for f in found.findings} == {"confidence"}
    assert any(line.outside is not None for line in found.drift.lines)


def test_without_the_truth_answers_and_drift_are_told(learned):
    found = evaluated(learned, people(N, 1, older=12).drop(columns="y"), slices=("sex",))
    assert (found.known, found.metrics, found.confusion) == (0, {}, None)
    assert sum(answer.rows for answer in found.answers) == N
    assert named(found) == [("column", "age")]
    assert [value.selection_rate is None for value in found.slices[0].values] == [False, False]


def test_rows_without_a_label_are_left_out_of_the_metrics(learned):
    frame = people(N, 1)
    frame.loc[::3, "y"] = None
    found = evaluated(learned, frame)
    known = frame[frame["y"].notna()]
    assert found.known == len(known)
    assert found.metrics["accuracy"] == pytest.approx(judged(learned, known)["accuracy"])
    assert "rows without a truth too" not in evaluation_lines(found, "t")
    frame.loc[::3, "ward"] = "d"
    assert "rows without a truth too" in evaluation_lines(evaluated(learned, frame), "t")


def test_several_labels_have_the_metrics_of_their_joint_answers():
    frame = people(N, 1)
    frame["y"] = np.where(frame["bmi"] > 31, "heavy", frame["y"])
    rows = frame.drop(columns=["y", "sex"])
    model = IdealClassifier(profile="paper", max_ell=3).fit(rows, frame["y"])
    found = evaluated(model, frame, slices=("ward",))
    answer = model.predict(rows)
    assert found.metrics["accuracy"] == pytest.approx(judge.accuracy_score(frame["y"], answer))
    assert found.metrics["mcc"] == pytest.approx(judge.matthews_corrcoef(frame["y"], answer))
    matrix = judge.confusion_matrix(frame["y"], answer, labels=list(model.classes_))
    assert np.array_equal(found.confusion_matrix, matrix)
    for value in found.slices[0].values:
        own = frame["ward"] == value.value
        assert value.metrics["accuracy"] == pytest.approx(
            judge.accuracy_score(frame["y"][own], answer[own])
        )
    assert named(found) == []


@pytest.mark.parametrize(
    ("change", "asked", "error", "message"),
    [
        (
            {},
            {"positive": ("maybe",)},
            SpecError,
            "--positive must list labels of 'y', got 'maybe'",
        ),
        ({"y": "sick"}, {}, DataError, "got 'sick'; convert them, or say with --positive"),
        ({}, {"target": "z"}, SpecError, "--target must name a column of t, got 'z'"),
        ({}, {"slices": ("z",)}, SpecError, "--slices must list columns of t, but 'z' is none"),
        ({}, {"slices": ("bmi",)}, SpecError, "'bmi': expected at most 250 values"),
        ({"ward": 1}, {}, DataError, "expected column 'ward' to hold text"),
    ],
)
def test_bad_input_is_told(learned, change, asked, error, message):
    with pytest.raises(error, match=message):
        evaluated(learned, people(N, 1).assign(**change), **asked)


def test_other_labels_may_be_said_to_mean_yes(learned):
    frame = people(N, 1)
    yes = learned.classes_[1]
    other = frame.assign(y=np.where(frame["y"] == yes, "1", "0"))
    assert evaluated(learned, other, positive=("1",)).metrics == evaluated(learned, frame).metrics


def test_data_made_to_drift_in_one_category_name_its_column_and_the_category(learned):
    frame = people(N, 1)
    frame["ward"] = frame["ward"].replace("a", "A")
    found = evaluated(learned, frame)
    assert named(found) == [("category", "ward")]
    [ward] = [column for column in found.drift.columns if column.name == "ward"]
    assert (ward.new, ward.new_values) == ((frame["ward"] == "A").sum(), ("A",))


def test_values_that_came_to_be_missing_are_told_with_their_column(learned):
    found = evaluated(learned, people(N, 1, missing=0.2))
    assert named(found) == [("missing", "age")]
    assert "were (" in found.findings[0].evidence


def test_values_that_came_to_be_missing_explain_the_drift_of_their_column():
    frame = people(2 * N, 0)
    rows, truth = frame.drop(columns=["y", "sex"]), frame["y"]
    model = IdealClassifier(profile="paper", max_ell=4, missing="indicator").fit(rows, truth)
    found = evaluated(model, people(N, 1, missing=0.3))
    assert named(found) == [("missing", "age")]
    assert found.findings[0].evidence.count("PSI") == 2


def test_numbers_out_of_range_are_told(learned):
    frame = people(N, 1)
    frame.loc[:99, "age"] = 999.0
    [(kind, column)] = named(evaluated(learned, frame))
    assert (kind, column) == ("range", "age")


def test_weights_that_are_no_whole_numbers_make_no_drift_and_no_interval():
    frame = people(2 * N, 0)
    weights = np.random.default_rng(0).uniform(0.1, 2, len(frame))
    model = IdealClassifier(profile="paper", max_ell=4).fit(
        frame.drop(columns=["y", "sex"]), frame["y"], sample_weight=weights
    )
    same = evaluated(model, people(40, 1))
    assert same.findings == ()
    assert "learned from rows with weights, and here each row counts once" in evaluation_lines(
        same, "t"
    )
    assert same.drift.learned_rows == round(float(weights.sum()))
    assert {(line.low, line.high, line.outside) for line in same.drift.lines} == {
        (None, None, None)
    }
    older = evaluated(model, people(N, 1, older=14.0))
    assert named(older) == [("column", "age")]
    assert read_evaluation(evaluation_text(older).encode()) == older
