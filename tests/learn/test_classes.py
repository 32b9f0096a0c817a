"""More than two classes, against a judge of the documented rule: the most probable type, the first
of several.
"""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dnfscale import IdealClassifier
from dnfscale.apply.predict import predict
from dnfscale.core.model import Model, relative_tables
from dnfscale.core.splits import TEST
from dnfscale.core.vocabulary import Above, IsMissing, Vocabulary
from dnfscale.data.models import read_models
from dnfscale.data.source import open_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DataError, LimitError
from dnfscale.learn.classes import learn_classes
from dnfscale.learn.line import fold_model
from dnfscale.spec.learn import LearnSpec

LABELS = ("high", "low", "middle")


def rows(n_rows: int = 260, *, gaps: float = 0.0, seed: int = 4) -> pd.DataFrame:
    """Rows of three classes, in the order of their classes, as real files are."""
    random = np.random.default_rng(seed)
    x, z = random.normal(size=n_rows), random.integers(0, 20, n_rows)
    s = random.choice(["red", "green", "blue"], n_rows)
    y = np.where(x > 0.6, "high", np.where((s == "red") | (z > 14), "middle", "low"))
    y = np.where(random.random(n_rows) < 0.1, random.choice(LABELS, n_rows), y)
    frame = pd.DataFrame({"x": x, "z": z, "s": s, "b": random.random(n_rows) < 0.5, "y": y})
    frame = frame.astype({"z": "Int64", "b": "boolean"})
    for name in "xzsb":
        frame.loc[random.random(n_rows) < gaps, name] = None
    return frame.sort_values("y", kind="stable", ignore_index=True)


def types(tau: Vocabulary, frame: pd.DataFrame) -> list[int]:
    """The type of each row, in plain pandas."""
    codes = np.zeros(len(frame), dtype=int)
    for place, attribute in enumerate(tau.attributes):
        values = frame[attribute.column]
        if isinstance(attribute, IsMissing):
            true = values.isna()
        else:
            true = (
                values > attribute.value
                if isinstance(attribute, Above)
                else values == attribute.value
            )
        codes += true.fillna(False).to_numpy(dtype=bool).astype(int) << place
    return codes.tolist()


def given_by(
    tau: Vocabulary, learned_from: pd.DataFrame, label: Any, asked: pd.DataFrame
) -> list[Fraction]:
    """The probability of a label for each row asked, from the rows learned from; a type on the
    threshold tips over.

    Half a step beside 1/2 stands for the smallest step that a float can take.
    """
    n: Counter[int] = Counter(types(tau, learned_from))
    c: Counter[int] = Counter(types(tau, learned_from[learned_from["y"] == label]))
    step = Fraction(1, 10**12)
    found = []
    for code in types(tau, asked):
        accepted = n[code] > 0 and 2 * c[code] >= n[code]
        smoothed = Fraction(c[code] + 1, n[code] + 2)
        half = Fraction(1, 2)
        found.append(max(smoothed, half + step) if accepted else min(smoothed, half - step))
    return found


def most_probable(given: list[list[Fraction]]) -> list[int]:
    return [
        max(range(len(of_row)), key=lambda i: (of_row[i], -i))
        for of_row in zip(*given, strict=True)
    ]


@pytest.mark.filterwarnings("ignore:fit left out")
@pytest.mark.parametrize("missing", ["drop", "indicator"])
def test_a_row_gets_the_label_of_its_most_probable_type(missing):
    frame = rows(gaps=0.08)
    model = IdealClassifier(profile="paper", missing=missing, max_dropped=1, max_ell=5).fit(
        frame.drop(columns="y"), frame["y"]
    )
    kept = frame if missing == "indicator" else frame.dropna()
    assert model.classes_.tolist() == list(LABELS)
    given = [
        given_by(m.tau, kept, label, frame) for m, label in zip(model.models_, LABELS, strict=True)
    ]
    assert model.predict(frame.drop(columns="y")).tolist() == [
        LABELS[i] for i in most_probable(given)
    ]
    found = model.predict_proba(frame.drop(columns="y"))
    totals = [sum(of_row) for of_row in zip(*given, strict=True)]
    for k, of_label in enumerate(given):
        expected = [float(p / total) for p, total in zip(of_label, totals, strict=True)]
        assert found[:, k].tolist() == pytest.approx(expected, abs=1e-9)
    assert found.sum(axis=1).tolist() == pytest.approx([1.0] * len(frame))
    assert [LABELS[i] for i in found.argmax(axis=1)] == model.predict(
        frame.drop(columns="y")
    ).tolist()


@pytest.mark.slow
@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 3)), min_size=8, max_size=40),
    st.sampled_from([0.5, 0.3]),
)
def test_the_probabilities_and_the_prediction_always_agree(listed, threshold):
    frame = pd.DataFrame(listed, columns=["a", "b", "y"])
    frame.loc[:3, "y"] = [0, 1, 2, 3]
    model = IdealClassifier(profile="paper", threshold=threshold).fit(frame[["a", "b"]], frame["y"])
    everything = pd.DataFrame({"a": [False, False, True, True], "b": [False, True, False, True]})
    given_to = model.predict_proba(everything)
    assert model.classes_[given_to.argmax(axis=1)].tolist() == model.predict(everything).tolist()
    assert given_to.sum(axis=1) == pytest.approx(np.ones(4))
    # A class whose formula says yes goes before all that say no.
    decided = model.decision(everything)["accepted"]
    for row in range(4):
        if decided[row].any():
            assert decided[row, given_to[row].argmax()]


def test_a_formula_of_each_label_is_that_of_the_label_against_all_others():
    frame = rows()
    features = frame.drop(columns="y")
    model = IdealClassifier(profile="paper").fit(features, frame["y"])
    for label, of_label in zip(LABELS, model.models_, strict=True):
        truth = (frame["y"] == label).tolist()
        assert of_label.positive == (label,)
        assert model.formula_[label] == of_label.formula
        codes = types(of_label.tau, features)
        n, c = (
            Counter(codes),
            Counter(code for code, true in zip(codes, truth, strict=True) if true),
        )
        assert (
            dict(zip(of_label.counts.codes.tolist(), of_label.counts.n.tolist(), strict=True)) == n
        )
        assert {code: c[code] for code in n} == dict(
            zip(of_label.counts.codes.tolist(), of_label.counts.c.tolist(), strict=True)
        )
        assert all(of_label.table().accepted[code] == (2 * c[code] >= n[code]) for code in n)
    assert list(model.sweep_) == list(model.certificate_) == list(LABELS)
    assert model.attributes_ == list(
        dict.fromkeys(name for m in model.models_ for name in m.tau.names)
    )


def test_what_is_said_of_a_row_is_about_the_label_that_it_gets():
    frame = rows(80)
    features = frame.drop(columns="y")
    model = IdealClassifier(profile="paper", max_ell=3).fit(features, frame["y"])
    decided, answers = model.decision(features), model.predict(features)
    assert decided.shape == (80, 3)
    for row, text, answer, cells in zip(
        model.explain(features), model.explain(features, text=True), answers, decided, strict=True
    ):
        place = LABELS.index(answer)
        assert (row["n"], row["c"]) == (cells[place]["n"], cells[place]["c"])
        assert row["accepted"] == cells[place]["accepted"]
        assert text
    html, latex = model._repr_html_(), model._repr_latex_()
    assert html.count('class="of-label"') == latex.count(r"\begin{align*}") == 3
    with duckdb.connect() as connection:
        connection.register("rows", pa.Table.from_pandas(features))
        for place, label in enumerate(LABELS):
            found = connection.execute(f"SELECT {model.to_sql(label=label)} FROM rows").fetchall()
            assert [row[0] for row in found] == decided[:, place]["accepted"].tolist()
    with pytest.raises(DataError, match="expected label to be one of"):
        model.to_sql(label="nosuch")


def test_models_of_several_labels_are_saved_and_read_again(tmp_path):
    frame = rows()
    features = frame.drop(columns="y")
    for labels in (frame["y"], frame["y"].map({"high": 3, "low": 1, "middle": 2})):
        model = IdealClassifier(profile="paper", max_ell=4).fit(features, labels)
        model.save(tmp_path / "m.json")
        again = read_models(tmp_path / "m.json")
        for one, other in zip(again, model.models_, strict=True):
            assert (one.tau, one.dnf, one.counts, one.positive) == (
                other.tau,
                other.dnf,
                other.counts,
                other.positive,
            )
        assert json.loads((tmp_path / "m.json").read_text())["schema"] == "dnfscale.classes/1"


def test_weights_count_in_every_formula():
    frame = rows(60)
    features, y = frame.drop(columns="y"), frame["y"].to_numpy()
    weights = np.arange(60) % 3
    often = np.repeat(np.arange(60), weights)
    weighed = IdealClassifier(profile="paper").fit(features, y, sample_weight=weights)
    plain = IdealClassifier(profile="paper").fit(features.iloc[often], y[often])
    for one, other in zip(weighed.models_, plain.models_, strict=True):
        assert (one.tau, one.dnf, one.counts) == (other.tau, other.dnf, other.counts)
    assert weighed.certificate_ == dict.fromkeys(LABELS)
    balanced = IdealClassifier(profile="paper", class_weight="balanced").fit(features, y)
    sizes = [int(m.counts.c.sum()) for m in balanced.models_]
    assert max(sizes) - min(sizes) <= max(sizes) / 10**6


def spec(**how: Any) -> LearnSpec:
    return LearnSpec(
        **{
            "target": "y",
            "classes": "all",
            "max_dropped": 1,
            "max_ell": 4,
            "outer": 5,
            "seed": 2,
            **how,
        }
    )


def written(folder: Path, frame: pd.DataFrame) -> str:
    pq.write_table(
        pa.Table.from_pandas(frame, preserve_index=False), folder / "t.parquet", row_group_size=31
    )
    return str(folder / "t.parquet")


@pytest.mark.parametrize("missing", ["drop", "indicator"])
def test_the_confusion_of_a_fold_is_that_of_its_test_rows(tmp_path, missing):
    frame = rows(gaps=0.05)
    learned = learn_classes(
        open_source(written(tmp_path, frame)), spec(missing=missing), SerialEngine()
    )
    kept = (
        frame.reset_index(drop=True)
        if missing == "indicator"
        else frame.dropna().reset_index(drop=True)
    )
    splits = learned.classes[0].table.splits
    assert learned.labels == LABELS
    assert splits.n_rows == len(kept)
    parts = splits.parts[:, splits.arcs(0, len(kept))]
    for fold in range(5):
        test, whole = kept[parts[fold] == TEST], kept[parts[fold] != TEST]
        taus = [of_class.folds[fold].tau for of_class in learned.classes]
        given = [given_by(tau, whole, label, test) for tau, label in zip(taus, LABELS, strict=True)]
        judged = np.zeros((3, 3), dtype=int)
        for label, answer in zip(test["y"], most_probable(given), strict=True):
            judged[LABELS.index(label), answer] += 1
        assert learned.confusion[fold].tolist() == judged.tolist()
        assert judged.sum() == learned.classes[0].folds[fold].test_rows
    assert int(learned.confusion.sum()) == len(kept)


def test_a_class_that_a_fold_has_no_rows_of_to_learn_from_is_never_its_answer(tmp_path):
    frame = rows(60)
    frame.loc[0, "y"] = "alone"
    learned = learn_classes(open_source(written(tmp_path, frame)), spec(outer=10), SerialEngine())
    assert learned.labels == ("alone", *LABELS)
    folds = learned.classes[0].folds
    [without] = [fold.fold for fold in folds if not fold.whole.c.sum()]
    assert learned.confusion[without][:, 0].tolist() == [0, 0, 0, 0]
    assert learned.confusion[without][0].sum() == 1
    assert learned.classes[0].folds[without].dnf.terms == ()


def test_two_classes_are_as_good_as_more(tmp_path):
    frame = rows(100)
    frame["y"] = np.where(frame["y"] == "low", "low", "other")
    learned = learn_classes(open_source(written(tmp_path, frame)), spec(), SerialEngine())
    assert learned.labels == ("low", "other")
    assert int(learned.confusion.sum()) == 100


def test_a_fit_has_formulas_and_no_confusion(tmp_path):
    learned = learn_classes(open_source(written(tmp_path, rows())), spec(outer=0), SerialEngine())
    assert learned.confusion.shape == (0, 3, 3)
    assert all(isinstance(of_class.model.tau, Vocabulary) for of_class in learned.classes)
    assert [len(of_class.folds) for of_class in learned.classes] == [0, 0, 0]


def test_how_rows_are_cut_and_who_counts_them_changes_nothing(tmp_path, cluster):
    frame = rows(gaps=0.05)
    one = open_source(written(tmp_path, frame))
    table = pa.Table.from_pandas(frame, preserve_index=False)
    (tmp_path / "five").mkdir()
    for i, (start, stop) in enumerate([(0, 1), (1, 1), (1, 100), (100, 103), (103, 260)]):
        pq.write_table(table[start:stop], tmp_path / "five" / f"{i}.parquet")
    five = open_source(str(tmp_path / "five"))
    expected = learn_classes(one, spec(), SerialEngine())
    for source, engine in ((five, SerialEngine()), (one, cluster), (five, cluster)):
        found = learn_classes(source, spec(), engine)
        assert found.confusion.tolist() == expected.confusion.tolist()
        for mine, theirs in zip(found.classes, expected.classes, strict=True):
            assert [fold.dnf for fold in mine.folds] == [fold.dnf for fold in theirs.folds]
            assert [fold.whole for fold in mine.folds] == [fold.whole for fold in theirs.folds]


def test_too_many_labels_and_a_single_one_are_refused(tmp_path):
    frame = rows(300)
    frame["y"] = [f"l{i % 251}" for i in range(300)]
    with pytest.raises(LimitError, match="takes at most 250 labels, but the target 'y' has 251"):
        learn_classes(open_source(written(tmp_path, frame)), spec(), SerialEngine())
    frame["y"] = "same"
    with pytest.raises(
        DataError, match="expected two classes to tell apart, but the target 'y' has only the value"
    ):
        learn_classes(open_source(written(tmp_path, frame)), spec(), SerialEngine())


@pytest.mark.slow
def test_many_labels_are_learned_side_by_side(tmp_path):
    """The largest number of labels, with more than one byte of arcs and classes."""
    random = np.random.default_rng(0)
    codes = np.concatenate([np.arange(250), random.integers(0, 250, 750)])
    frame = pd.DataFrame(
        {"a": codes // 16, "b": codes % 16, "y": [f"l{code:03}" for code in codes]}
    )
    learned = learn_classes(
        open_source(written(tmp_path, frame)), spec(max_ell=2, outer=3), SerialEngine()
    )
    assert len(learned.labels) == 250
    assert int(learned.confusion.sum()) == 1000
    rows_of = learned.confusion.sum(axis=(0, 2)).tolist()
    assert rows_of == np.bincount(codes, minlength=250).tolist()


def test_a_model_of_a_class_says_which_it_is(tmp_path):
    model = IdealClassifier(profile="paper").fit(written(tmp_path, rows()), "y")
    assert [m.positive for m in model.models_] == [(label,) for label in LABELS]
    assert {m.target for m in model.models_} == {"y"}
    assert all(isinstance(m, Model) for m in model.models_)
    assert model.classes_.tolist() == list(LABELS)


def uneven(n_rows: int = 600) -> pd.DataFrame:
    """Rows of three classes, one of them rare: never more than half of any type, but far more than
    elsewhere.
    """
    random = np.random.default_rng(11)
    a, b = random.random(n_rows) < 0.2, random.random(n_rows) < 0.5
    y = np.where(b, "low", "middle")
    y = np.where(a & (random.random(n_rows) < 0.35), "high", y)
    return pd.DataFrame({"a": a, "b": b, "y": y})


@pytest.mark.parametrize("objective", ["balanced_accuracy", "f_beta"])
def test_a_label_whose_formula_says_yes_goes_before_all_that_say_no_whatever_their_thresholds(
    tmp_path, objective
):
    frame = uneven()
    features = frame[["a", "b"]]
    model = IdealClassifier(profile="paper", max_ell=2, objective=objective).fit(
        features, frame["y"]
    )
    assert len({m.threshold for m in model.models_}) == 3
    answers, decided = model.predict(features), model.decision(features)["accepted"]
    places = np.searchsorted(LABELS, answers)
    assert decided[np.arange(len(frame)), places].tolist() == decided.any(axis=1).tolist()
    assert (answers == "high").any()
    told = model.predict_proba(features)
    assert told.sum(axis=1) == pytest.approx(np.ones(len(frame)))
    assert told.argmax(axis=1).tolist() == places.tolist()
    model.save(tmp_path / "m.json")
    predict(
        read_models(tmp_path / "m.json"),
        open_source(written(tmp_path, frame)),
        SerialEngine(),
        tmp_path / "p",
    )
    given_to = pq.read_table(tmp_path / "p")
    assert given_to["prediction"].to_pylist() == answers.tolist()
    assert given_to["probability"].to_pylist() == pytest.approx(told.max(axis=1).tolist())
    assert [row["accepted"] for row in model.explain(features)] == decided.any(axis=1).tolist()


@pytest.mark.parametrize("objective", ["balanced_accuracy", "f_beta"])
def test_the_confusion_of_a_fold_goes_by_the_thresholds_of_its_formulas(tmp_path, objective):
    frame = uneven()
    learned = learn_classes(
        open_source(written(tmp_path, frame)), spec(objective=objective), SerialEngine()
    )
    splits = learned.classes[0].table.splits
    parts = splits.parts[:, splits.arcs(0, len(frame))]
    for fold in range(5):
        test = frame[parts[fold] == TEST]
        scores = []
        for of_class in learned.classes:
            found = of_class.folds[fold]
            model = fold_model(found, of_class, spec(objective=objective))
            codes = types(found.tau, test)
            exact = [
                Fraction(float(p)) / Fraction(float(found.threshold))
                for p in model.table().probability
            ]
            assert [score > 1 for score in exact] == model.table().accepted.tolist()
            scores.append([exact[code] for code in codes])
        judged = np.zeros((3, 3), dtype=int)
        for label, answer in zip(test["y"], most_probable(scores), strict=True):
            judged[LABELS.index(label), answer] += 1
        assert learned.confusion[fold].tolist() == judged.tolist()
    assert learned.confusion[:, :, LABELS.index("high")].sum() > 0


@pytest.mark.parametrize("threshold", [0.5, 0.3, 0.1])
def test_equal_thresholds_leave_probabilities_as_they_are(threshold):
    frame = uneven(60)
    models = (
        IdealClassifier(profile="paper", max_ell=2, threshold=threshold)
        .fit(frame[["a", "b"]], frame["y"])
        .models_
    )
    for model, table in zip(models, relative_tables(models), strict=True):
        assert table.probability.tolist() == model.table().probability.tolist()
