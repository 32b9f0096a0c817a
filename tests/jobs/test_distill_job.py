"""Jobs that explain a classifier of XGBoost, seen from outside and judged by asking the classifier
itself.
"""

from __future__ import annotations

import os
import pickle
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import xgboost

from dnfscale.core.splits import TEST, Splits
from dnfscale.core.vocabulary import Above
from dnfscale.data.scored import open_xgboost, scored_source
from dnfscale.data.source import open_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.learn.line import learn
from dnfscale.spec.learn import LearnSpec
from tests.jobs.judging import accepts, recount
from tests.jobs.running import Desk, essence, surprising

FEATURES = ["a", "b", "n"]
DISTILL = {"model": "box.json"}


def rows(n_rows: int = 240) -> pd.DataFrame:
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "a": random.normal(size=n_rows),
            "b": random.normal(size=n_rows),
            "n": random.integers(0, 40, n_rows),
        }
    )
    truth = (frame["a"] > 0) & (frame["n"] > 12) | (frame["b"] > 1)
    return frame.assign(y=np.where(truth ^ (random.random(n_rows) < 0.1), "good", "bad"))


def box(frame: pd.DataFrame, file: Path) -> xgboost.XGBClassifier:
    model = xgboost.XGBClassifier(n_estimators=12, max_depth=3, n_jobs=1)
    model.fit(frame[FEATURES], frame["y"] == "good")
    model.save_model(file)
    return model


@pytest.fixture
def boxed(desk: Desk) -> Desk:
    """A desk with a table and a classifier of it."""
    desk.table(pa.Table.from_pandas(rows(), preserve_index=False), row_group_size=37)
    box(rows(), desk.path / "box.json")
    return desk


def said(desk: Desk, frame: pd.DataFrame) -> list[bool]:
    """What the classifier itself answers, asked through XGBoost alone."""
    model = xgboost.XGBClassifier()
    model.load_model(desk.path / "box.json")
    return model.predict(frame[FEATURES]).astype(bool).tolist()


def distilled(desk: Desk, *, target: str | None = "y", **tables: Any) -> dict[str, Any]:
    data = {"path": "t.parquet", "target": target, "positive": ["good"] if target else None}
    common: dict[str, Any] = {
        "kind": "distill",
        "seed": 4,
        "data": data,
        "distill": DISTILL,
        "select": {"max_ell": 4},
    }
    ended = desk.run(**{**common, "folds": {"outer": 5}, **tables})
    assert ended.code == 0, ended.err
    return desk.result(tables.get("name", "job"))


def test_the_answers_have_a_name_that_no_column_is_taken_for(desk):
    frame = rows().rename(columns={"a": "Answer"})
    desk.table(pa.Table.from_pandas(frame, preserve_index=False))
    model = xgboost.XGBClassifier(n_estimators=12, max_depth=3, n_jobs=1)
    model.fit(frame[["Answer"]], frame["Answer"] > 0).save_model(desk.path / "box.json")
    distilled(desk)
    assert desk.model()["attributes"][0]["column"] == "Answer"
    assert "lookalikes" not in desk.model()
    assert desk.here("export", desk.folder() / "model.json", "--to", "sql").code == 0


def test_fidelity_and_accuracies_are_those_of_every_test_row(boxed):
    """The formulas of the folds are learned again for their cuts; every answer is then judged by
    hand.
    """
    result = distilled(boxed)
    frame = rows()
    answers, truth = said(boxed, frame), (frame["y"] == "good").tolist()
    scorer = open_xgboost(str(boxed.path / "box.json"))
    source = scored_source(
        open_source(str(boxed.path / "t.parquet")),
        scorer,
        target="answer",
        truth="y",
        positive=("good",),
    )
    spec = LearnSpec(target="answer", positive=(2, 3), drop=("y",), max_ell=4, outer=5, seed=4)
    folds = learn(source, spec, SerialEngine()).folds
    splits = Splits(len(frame), 5, 0.3, 4)
    parts = splits.parts[:, splits.arcs(0, len(frame))]
    ideal, black_box = result["methods"]["ideal"], result["methods"]["black_box"]
    for fold, ours, theirs in zip(folds, ideal["folds"], black_box["folds"], strict=True):
        assert fold.dnf.render(fold.tau.names) == ours["formula"]
        faithful = correct = right = 0
        test = np.flatnonzero(parts[fold.fold] == TEST).tolist()
        for i in test:
            assert all(isinstance(attribute, Above) for attribute in fold.tau.attributes)
            holds = [
                frame.loc[i, attribute.column] > attribute.value
                for attribute in fold.tau.attributes
            ]
            answer = any(
                all(holds[k] == value for k, value in term.literals) for term in fold.dnf.terms
            )
            faithful += answer == answers[i]
            correct += answer == truth[i]
            right += answers[i] == truth[i]
        assert ours["test_rows"] == len(test)
        assert ours["fidelity"] == faithful / len(test)
        assert ours["accuracy"] == correct / len(test)
        assert theirs["accuracy"] == right / len(test)
    assert ideal["fidelity_mean"] == pytest.approx(
        statistics.mean(fold["fidelity"] for fold in ideal["folds"])
    )
    assert ideal["fidelity_std"] == pytest.approx(
        statistics.pstdev(fold["fidelity"] for fold in ideal["folds"])
    )
    assert ideal["accuracy_mean"] == pytest.approx(
        statistics.mean(fold["accuracy"] for fold in ideal["folds"])
    )
    assert black_box["accuracy_mean"] == pytest.approx(
        np.mean(np.array(answers) == np.array(truth)), abs=0.02
    )
    assert [entry["other"] for entry in result["comparisons"]] == ["black_box"]


@pytest.mark.parametrize("target", ["y", None])
def test_the_model_is_the_ideal_classifier_of_the_answers(boxed, target):
    table = rows() if target else rows().drop(columns="y")
    boxed.table(pa.Table.from_pandas(table, preserve_index=False))
    result = distilled(boxed, target=target)
    model = boxed.model()
    assert model["positive"] == [True]
    answers = said(boxed, rows())
    judged = [
        {**row, model["target"]: answer}
        for row, answer in zip(table.to_dict("records"), answers, strict=True)
    ]
    assert model["counts"] == recount(judged, model)
    cells = {tuple(cell["type"]): cell for cell in model["counts"]}
    for row in judged:
        cell = cells[tuple(recount([row], model)[0]["type"])]
        assert accepts(model, row) == (2 * cell["c"] >= cell["n"])
    assert result["data"]["positive_rows"] == sum(answers)
    assert {attribute["column"] for attribute in model["attributes"]} <= set(FEATURES)
    assert surprising(boxed.folder()) == []
    assert "idelity" in (boxed.folder() / "report.html").read_text(encoding="utf-8")


def test_without_a_target_there_is_fidelity_and_no_accuracy(boxed):
    boxed.table(pa.Table.from_pandas(rows().drop(columns="y"), preserve_index=False))
    result = distilled(boxed, target=None)
    ideal, black_box = result["methods"]["ideal"], result["methods"]["black_box"]
    assert 0.7 < ideal["fidelity_mean"] <= 1
    assert ideal["accuracy_mean"] is None
    assert black_box["accuracy_mean"] is None
    assert {fold["accuracy"] for fold in (*ideal["folds"], *black_box["folds"])} == {None}
    assert "comparisons" not in result


def test_the_formula_is_the_same_with_and_without_the_truth(boxed):
    known = distilled(boxed)
    boxed.table(
        pa.Table.from_pandas(rows().drop(columns="y"), preserve_index=False), "bare.parquet"
    )
    unknown = distilled(boxed, name="bare", data={"path": "bare.parquet", "target": None})
    for ours, theirs in zip(
        known["methods"]["ideal"]["folds"], unknown["methods"]["ideal"]["folds"], strict=True
    ):
        assert (ours["formula"], ours["fidelity"]) == (theirs["formula"], theirs["fidelity"])


def test_a_target_of_truth_values_needs_no_positive_labels(boxed):
    frame = rows()
    boxed.table(pa.Table.from_pandas(frame.assign(y=frame["y"] == "good"), preserve_index=False))
    plain = distilled(boxed, data={"path": "t.parquet", "target": "y"})
    boxed.table(pa.Table.from_pandas(frame, preserve_index=False))
    assert distilled(boxed, name="words")["methods"] == plain["methods"]


def test_a_threshold_decides_what_the_classifier_answers(boxed):
    strict = distilled(boxed, distill={"model": "box.json", "threshold": 0.8})
    model = xgboost.XGBClassifier()
    model.load_model(boxed.path / "box.json")
    assert strict["data"]["positive_rows"] == int(
        (model.predict_proba(rows()[FEATURES])[:, 1] > 0.8).sum()
    )


def test_rows_whose_truth_is_missing_are_left_out(boxed):
    frame = rows()
    frame.loc[:19, "y"] = None
    boxed.table(pa.Table.from_pandas(frame, preserve_index=False))
    result = distilled(boxed)
    assert result["data"]["rows"] == 220
    assert result["data"]["rows_dropped"] == 20


def test_files_and_workers_change_nothing(boxed):
    table = pa.Table.from_pandas(rows(), preserve_index=False)
    for i, (start, stop) in enumerate([(0, 1), (1, 1), (1, 120), (120, 240)]):
        boxed.table(table[start:stop], f"four/{i}.parquet", row_group_size=19)
    for folder, path, cluster in (
        ("one", "t.parquet", {"kind": "serial"}),
        ("four", "four", {"kind": "serial"}),
        ("workers", "four", {"kind": "local", "workers": 2}),
    ):
        data = {"path": path, "target": "y", "positive": ["good"]}
        tables = {"data": data, "distill": DISTILL, "cluster": cluster, "folds": {"outer": 3}}
        spec = boxed.spec(file=f"{folder}.toml", kind="distill", **tables)
        ended = (boxed.apart if folder == "workers" else boxed.here)(
            "run", spec, "--output", f"of-{folder}"
        )
        assert ended.code == 0, ended.err
    folders = ("of-one", "of-four", "of-workers")
    assert len({essence(boxed.path / folder / "job" / "result.json") for folder in folders}) == 1
    assert (
        len({(boxed.path / folder / "job" / "model.json").read_bytes() for folder in folders}) == 1
    )


def test_a_run_with_another_classifier_in_the_same_file_is_another_run(boxed):
    before = distilled(boxed)
    frame = rows()
    box(frame.assign(y=np.where(frame["y"] == "good", "bad", "good")), boxed.path / "box.json")
    spec = boxed.path / "job.toml"
    assert boxed.here("run", spec, "--resume").code == 3
    assert boxed.result() == before
    assert boxed.here("run", spec, "--force").code == 0
    after = boxed.result()
    assert after["data"]["positive_rows"] == sum(said(boxed, frame))
    assert after["data"]["positive_rows"] != before["data"]["positive_rows"]


class Exploding:
    def __reduce__(self) -> Any:
        return os.system, ("touch exploded",)


BAD_BOXES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "does not parse"),
    "not JSON": (b"{", "does not parse"),
    "other JSON": (b'{"a": 1}', "got other JSON"),
    "a pickle": (pickle.dumps(Exploding()), "does not parse"),
    "a pickle in ASCII": (pickle.dumps(Exploding(), protocol=0), "does not parse"),
    "half a model": (b'{"learner": {"gradient_booster": {}}}', "cannot be loaded"),
}


@pytest.mark.parametrize("case", BAD_BOXES)
@pytest.mark.parametrize("verb", ["run", "validate"])
def test_a_file_that_is_no_classifier_is_bad_data(boxed, case, verb):
    content, message = BAD_BOXES[case]
    (boxed.path / "box.json").write_bytes(content)
    spec = boxed.spec(kind="distill", data={"positive": ["good"]}, distill=DISTILL)
    ended = boxed.here(verb, spec)
    assert ended.code == 3
    line = spec.read_text().splitlines().index('model = "box.json"') + 1
    assert ended.message.startswith(f"dnfscale: {spec}:{line}: ")
    assert message in ended.message
    assert "Traceback" not in ended.err
    assert not (boxed.path / "exploded").exists()
    assert not boxed.folder().exists()


def test_classifiers_of_other_kinds_are_bad_data(boxed):
    frame = rows()
    spec = boxed.spec(kind="distill", data={"positive": ["good"]}, distill=DISTILL)
    many = xgboost.XGBClassifier(n_estimators=2).fit(frame[FEATURES], frame["n"] % 3)
    nameless = xgboost.XGBClassifier(n_estimators=2).fit(
        frame[FEATURES].to_numpy(), frame["y"] == "good"
    )
    absent = xgboost.XGBClassifier(n_estimators=2).fit(
        frame[FEATURES].rename(columns={"n": "z"}), frame["y"] == "good"
    )
    for model, message in (
        (many, "got 'multi:softprob'"),
        (nameless, "knows the names of its columns"),
        (absent, "trained on, but 'z' is not there"),
    ):
        model.save_model(boxed.path / "box.json")
        ended = boxed.here("run", spec)
        assert ended.code == 3
        assert message in ended.message


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (
            {"distill": {"model": "none.json"}},
            "expected a model saved by XGBoost, but No such file",
        ),
        ({"distill": {}}, 'kind = "distill" needs distill.model'),
        ({"kind": "study", "distill": DISTILL}, 'distill.model is for kind = "distill"'),
        (
            {"distill": DISTILL, "data": {"positive": None}},
            "data.positive must say which labels of 'y'",
        ),
        (
            {"distill": DISTILL, "data": {"classes": "all", "positive": None}},
            "a classifier of two classes; leave out data.classes",
        ),
        ({"distill": DISTILL, "baselines.xgboost": {"trials": 2}}, "leave out baselines.xgboost"),
        ({"distill": DISTILL, "data": {"target": "z"}}, "'z'"),
        (
            {"distill": {"model": "box.json", "threshold": 1.0}},
            "distill.threshold must be a number above 0 and below 1",
        ),
    ],
)
def test_a_spec_that_cannot_be_obeyed_is_refused(boxed, tables, message):
    given = {"kind": "distill", **tables, "data": {"positive": ["good"], **tables.get("data", {})}}
    ended = boxed.run(**given)
    assert ended.code == 2, ended.err
    assert message in ended.message
    assert "Traceback" not in ended.err


def test_a_classifier_that_always_says_the_same_is_bad_data(boxed):
    frame = rows()
    model = xgboost.XGBClassifier(n_estimators=1, max_depth=1, learning_rate=1e-9, base_score=0.9)
    model.fit(frame[FEATURES], frame["y"] == "good").save_model(boxed.path / "box.json")
    ended = boxed.run(kind="distill", data={"positive": ["good"]}, distill=DISTILL)
    assert ended.code == 3
    assert "expected a target of two answers" in ended.message
