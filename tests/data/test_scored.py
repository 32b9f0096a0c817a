from __future__ import annotations

import json
import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xgboost

from dnfscale.core.columns import Column, Reading, Role
from dnfscale.data.frames import table_source
from dnfscale.data.scored import (
    AGREED,
    ANSWERED_YES,
    TRULY_YES,
    ScoredPartition,
    open_xgboost,
    scored_source,
)
from dnfscale.data.source import open_source
from dnfscale.errors import DataError, SpecError


def rows(n_rows: int = 300, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": random.normal(size=n_rows),
            "b": random.integers(0, 9, n_rows),
            "f": random.random(n_rows) < 0.5,
        }
    )
    noise = random.normal(size=n_rows)
    return frame.assign(
        s=random.choice(["u", "v"], n_rows), y=(frame["a"] + 0.3 * frame["b"] + noise > 1.2)
    )


def trained(frame: pd.DataFrame, file: Path, **how: Any) -> xgboost.XGBClassifier:
    """A classifier of the columns a, b and f, saved to a file."""
    how = {"n_estimators": 8, "max_depth": 3, "n_jobs": 1, **how}
    model = xgboost.XGBClassifier(**how).fit(frame[["a", "b", "f"]], frame["y"])
    model.save_model(file)
    return model


def batch(frame: pd.DataFrame) -> pa.RecordBatch:
    return pa.RecordBatch.from_pandas(frame, preserve_index=False)


def test_the_answers_are_those_of_the_classifier_itself(tmp_path):
    frame = rows()
    model = trained(frame, tmp_path / "m.json")
    scorer = open_xgboost(str(tmp_path / "m.json"))
    assert scorer.columns == ("a", "b", "f")
    found = scorer.answers(batch(frame))
    assert found.dtype == np.bool_
    assert found.tolist() == model.predict(frame[["a", "b", "f"]]).astype(bool).tolist()
    assert 0 < found.sum() < 300


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.9])
def test_a_row_is_answered_yes_above_the_threshold(tmp_path, threshold):
    frame = rows()
    model = trained(frame, tmp_path / "m.json")
    found = open_xgboost(str(tmp_path / "m.json"), threshold).answers(batch(frame))
    assert (
        found.tolist() == (model.predict_proba(frame[["a", "b", "f"]])[:, 1] > threshold).tolist()
    )


def test_even_odds_are_answered_as_the_classifier_does(tmp_path):
    """Leaves without evidence give exactly one half, which XGBoost's classifier takes for no."""
    frame = pd.DataFrame(
        {"a": [0.0, 0.0, 1.0, 1.0], "b": 0, "f": False, "y": [True, False, True, False]}
    )
    model = trained(frame, tmp_path / "m.json")
    assert set(model.predict_proba(frame[["a", "b", "f"]])[:, 1].tolist()) == {0.5}
    found = open_xgboost(str(tmp_path / "m.json")).answers(batch(frame))
    assert found.tolist() == model.predict(frame[["a", "b", "f"]]).astype(bool).tolist()


def test_missing_values_are_missing_to_the_classifier(tmp_path):
    frame = rows()
    model = trained(frame, tmp_path / "m.json")
    gaps = frame.astype({"b": "Int64", "f": "boolean"})
    for i, name in enumerate("abf"):
        gaps.loc[np.arange(300) % 7 == i, name] = None
    expected = model.predict(gaps[["a", "b", "f"]].astype("float64")).astype(bool)
    assert open_xgboost(str(tmp_path / "m.json")).answers(batch(gaps)).tolist() == expected.tolist()


def test_a_classifier_that_was_stopped_early_answers_with_its_best_rounds(tmp_path):
    frame, held_out = rows(), rows(200, seed=1)
    model = xgboost.XGBClassifier(
        n_estimators=200, early_stopping_rounds=8, n_jobs=1, learning_rate=1.0
    )
    features = ["a", "b", "f"]
    model.fit(
        frame[features], frame["y"], eval_set=[(held_out[features], held_out["y"])], verbose=False
    )
    model.save_model(tmp_path / "m.json")
    matrix = xgboost.DMatrix(held_out[features].astype(float))
    every_round = xgboost.Booster(model_file=tmp_path / "m.json").predict(matrix) > 0.5
    expected = model.predict(held_out[features]).astype(bool)
    assert every_round.tolist() != expected.tolist()
    assert (
        open_xgboost(str(tmp_path / "m.json")).answers(batch(held_out)).tolist()
        == expected.tolist()
    )


def test_a_plain_booster_answers_with_all_rounds(tmp_path):
    frame = rows()
    names = ["a", "b", "f"]
    matrix = xgboost.DMatrix(frame[names].astype(float), label=frame["y"])
    booster = xgboost.train({"objective": "binary:logistic", "nthread": 1}, matrix, 12)
    booster.save_model(tmp_path / "m.json")
    expected = booster.predict(matrix) > 0.5
    assert (
        open_xgboost(str(tmp_path / "m.json")).answers(batch(frame)).tolist() == expected.tolist()
    )


def test_a_file_that_is_written_anew_is_another_classifier(tmp_path):
    """Also for a process that has loaded the one before, as workers of a cluster that lives
    on do.
    """
    frame, file = rows(), tmp_path / "m.json"
    trained(frame, file)
    before = open_xgboost(str(file))
    before.answers(batch(frame))
    other = trained(frame.assign(y=~frame["y"]), file)
    after = open_xgboost(str(file))
    assert after != before
    assert (
        after.answers(batch(frame)).tolist()
        == other.predict(frame[["a", "b", "f"]]).astype(bool).tolist()
    )
    file.unlink()
    with pytest.raises(
        DataError, match="the classifier that the job began with, but the file is not there"
    ):
        replace(after, stamp=(1, 2)).answers(batch(frame))


class Exploding:
    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.target}",)


HOSTILE: dict[str, tuple[Any, str]] = {
    "nothing": ("", "does not parse"),
    "not JSON": ("{", "does not parse"),
    "deep": ("[" * 100_000, "does not parse"),
    "a list": ("[]", "got other JSON"),
    "other JSON": ('{"a": 1}', "got other JSON"),
    "a learner that is a number": ('{"learner": 3}', "got other JSON"),
    "an empty learner": ('{"learner": {"gradient_booster": {}}}', "cannot be loaded"),
    "a booster that is a list": ('{"learner": {"gradient_booster": []}}', "cannot be loaded"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_file_that_is_no_classifier_is_refused(tmp_path, case):
    text, message = HOSTILE[case]
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        open_xgboost(str(tmp_path / "m.json"))
    assert caught.value.key == "distill.model"


def test_a_pickle_is_never_loaded(tmp_path):
    exploded = tmp_path / "exploded"
    (tmp_path / "m.json").write_bytes(pickle.dumps(Exploding(exploded)))
    (tmp_path / "old.json").write_bytes(pickle.dumps(Exploding(exploded), protocol=0))
    for name in ("m.json", "old.json"):
        with pytest.raises(DataError, match="does not parse"):
            open_xgboost(str(tmp_path / name))
    assert not exploded.exists()


def test_a_file_that_is_not_there_is_a_matter_of_the_spec(tmp_path):
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(SpecError, match="expected a model saved by XGBoost, but"):
            open_xgboost(str(path))


def test_models_of_other_kinds_are_refused(tmp_path):
    frame = rows()
    file = tmp_path / "m.json"
    xgboost.XGBClassifier(n_estimators=2).fit(frame[["a"]], frame["b"] % 3).save_model(file)
    with pytest.raises(
        DataError,
        match="classifier of two classes, objective binary:logistic, got 'multi:softprob'",
    ):
        open_xgboost(str(file))
    xgboost.XGBRegressor(n_estimators=2).fit(frame[["a"]], frame["b"]).save_model(file)
    with pytest.raises(DataError, match="got 'reg:squarederror'"):
        open_xgboost(str(file))
    xgboost.XGBClassifier(n_estimators=2).fit(frame[["a"]].to_numpy(), frame["y"]).save_model(file)
    with pytest.raises(DataError, match="knows the names of its columns"):
        open_xgboost(str(file))


def test_a_file_that_was_cut_or_altered_is_refused(tmp_path):
    trained(rows(), tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text()
    (tmp_path / "m.json").write_text(text[: len(text) // 2])
    with pytest.raises(DataError, match="does not parse"):
        open_xgboost(str(tmp_path / "m.json"))
    record = json.loads(text)
    del record["learner"]["learner_model_param"]
    (tmp_path / "m.json").write_text(json.dumps(record))
    with pytest.raises(DataError, match="cannot be loaded"):
        open_xgboost(str(tmp_path / "m.json"))


def codes(source: Any, target: str, features: tuple[Column, ...] = ()) -> list[Any]:
    """The target of every row as a learner reads it: the code, None where there is none."""
    reading = Reading(features or (Column("s", Role.CATEGORY),), target)
    found = []
    for partition in source.partitions:
        for block in partition.blocks(reading):
            found += [block.target.values[code] for code in block.target.codes.tolist()]
    return found


@pytest.mark.parametrize("truth", ["y", None])
def test_a_target_joins_the_answer_and_the_truth(tmp_path, truth):
    frame = rows()
    model = trained(frame, tmp_path / "m.json")
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "t.parquet", row_group_size=41)
    scorer = open_xgboost(str(tmp_path / "m.json"))
    said = model.predict(frame[["a", "b", "f"]]).tolist()
    expected = [
        2 * answer + (int(true) if truth else 0)
        for answer, true in zip(said, frame["y"], strict=True)
    ]
    for inner in (
        open_source(str(tmp_path / "t.parquet")),
        table_source(pa.Table.from_pandas(frame), "X"),
    ):
        source = scored_source(inner, scorer, target="answer", truth=truth, positive=(True,))
        assert codes(source, "answer") == expected
        assert (
            codes(source, "answer", (Column("a", Role.NUMBER), Column("f", Role.CATEGORY)))
            == expected
        )
        assert all(isinstance(partition, ScoredPartition) for partition in source.partitions)
    for code, answer, true in zip(expected, said, frame["y"], strict=True):
        assert (code in ANSWERED_YES) == bool(answer)
        if truth:
            assert (code in TRULY_YES) == true
            assert (code in AGREED) == (bool(answer) == true)


def test_a_row_whose_truth_is_missing_has_no_target(tmp_path):
    frame = rows(40)
    trained(frame, tmp_path / "m.json")
    gaps = frame.astype({"y": "boolean"})
    gaps.loc[:9, "y"] = None
    inner = table_source(pa.Table.from_pandas(gaps), "X")
    source = scored_source(
        inner, open_xgboost(str(tmp_path / "m.json")), target="t", truth="y", positive=(True,)
    )
    assert len(codes(source, "t")) == 30


def test_a_classifier_may_have_seen_the_target(tmp_path):
    frame = rows(60)
    model = xgboost.XGBClassifier(n_estimators=3, n_jobs=1).fit(frame[["a", "y"]], frame["f"])
    model.save_model(tmp_path / "m.json")
    inner = table_source(pa.Table.from_pandas(frame), "X")
    source = scored_source(
        inner, open_xgboost(str(tmp_path / "m.json")), target="t", truth="y", positive=(True,)
    )
    said = model.predict(frame[["a", "y"]])
    assert codes(source, "t") == [
        2 * int(a) + int(true) for a, true in zip(said, frame["y"], strict=True)
    ]


def test_columns_that_the_classifier_needs_must_be_there_and_hold_numbers(tmp_path):
    frame = rows(30)
    trained(frame, tmp_path / "m.json")
    scorer = open_xgboost(str(tmp_path / "m.json"))
    inner = table_source(pa.Table.from_pandas(frame.drop(columns="b")), "X")
    with pytest.raises(
        DataError, match="columns that the classifier was trained on, but 'b' is not there"
    ):
        scored_source(inner, scorer, target="t", truth=None, positive=())
    wrong = table_source(pa.Table.from_pandas(frame.astype({"b": str})), "X")
    source = scored_source(wrong, scorer, target="t", truth=None, positive=())
    with pytest.raises(
        DataError,
        match="column 'b': expected numbers, because the classifier was trained on numbers",
    ):
        codes(source, "t")
