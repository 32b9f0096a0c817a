"""LightGBM as a competitor: one module of compare/ and this one."""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dnfscale.compare.lightgbm import learn, suggest
from dnfscale.compare.trial import Fit, Known, TrialTimeoutError
from tests.compare.recorder import Recorder
from tests.jobs.running import Desk, essence, small_table

lightgbm = pytest.importorskip(
    "lightgbm", reason="LightGBM is not installed: pip install 'dnfscale[lightgbm]'"
)

PARAMS = {"n_estimators": 36, "num_leaves": 8, "subsample": 0.6, "colsample_bytree": 0.6}
FIT = Fit("lightgbm", 0, PARAMS, seed=5, final=False)
TUNED = {"baselines.lightgbm": {"trials": 2}, "baselines.decision_tree": {}}


def known_rows(n_rows: int = 600, seed: int = 0) -> Known:
    """Rows of two numbers and a category of seven values, of different frequency, some missing."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(n_rows, 3)).astype(np.float32)
    features[:, 2] = random.choice(7, n_rows, p=np.arange(1, 8) / 28)
    target = (features[:, 0] > 0) ^ np.isin(features[:, 2], [1, 4, 6])
    features[random.random(n_rows) < 0.1, 0] = np.nan
    features[random.random(n_rows) < 0.1, 2] = np.nan
    return Known(features, target.astype(np.int64), None, (False, False, True))


def test_the_space_is_the_published_one() -> None:
    recorder = Recorder()
    suggest(recorder)
    assert recorder.asked == {
        "num_leaves": ("int", 5, 49, 1, False),
        "max_depth": ("int", 3, 19, 1, False),
        "learning_rate": ("float", math.exp(-3), 1.0, True),
        "n_estimators": ("int", 50, 1999, 1, False),
        "min_child_weight": ("one of", 1e-5, 1e-3, 0.01, 0.1, 1, 10, 100, 1000, 10000),
        "subsample": ("float", 0.2, 0.8, False),
        "colsample_bytree": ("float", 0.2, 0.8, False),
        "reg_alpha": ("one of", 0, 0.1, 1, 2, 5, 7, 10, 50, 100),
        "reg_lambda": ("one of", 0, 0.1, 1, 5, 10, 20, 50, 100),
    }


def test_it_learns_from_numbers_categories_and_missing_values() -> None:
    known, others = known_rows(), known_rows(seed=1)
    answers = learn(known, FIT, None)(others.features)
    assert np.mean(answers.argmax(axis=1) == others.target) > 0.85
    assert answers.tolist() == learn(known, FIT, None)(others.features).tolist()


def test_categories_are_names_not_quantities() -> None:
    known, others = known_rows(), known_rows(seed=1).features
    renamed = np.array([3, 0, 6, 1, 5, 2, 4], dtype=np.float32)

    def with_other_codes(features: Any) -> Any:
        codes = features[:, 2]
        missing = np.isnan(codes)
        codes = np.where(missing, np.nan, renamed[np.where(missing, 0, codes).astype(int)])
        return np.column_stack([features[:, :2], codes]).astype(np.float32)

    renamed_known = replace(known, features=with_other_codes(known.features))
    same = learn(renamed_known, FIT, None)(with_other_codes(others))
    here = learn(known, FIT, None)(others)
    assert same.argmax(axis=1).tolist() == here.argmax(axis=1).tolist()


def test_rows_count_by_their_weight() -> None:
    features = np.zeros((200, 1), dtype=np.float32)
    target = np.repeat([0, 1], [150, 50])
    known = Known(features, target, None, (False,))
    heavy = replace(known, weights=np.where(target == 1, 9.0, 1.0))
    answers = [learn(rows, FIT, None)(features[:1]).argmax() for rows in (known, heavy)]
    assert answers == [0, 1]


def test_the_first_trees_are_those_of_the_whole_model() -> None:
    known = known_rows()
    few = replace(FIT, share=Fraction(1, 9))
    same = replace(FIT, params={**PARAMS, "n_estimators": 4})
    answers = [learn(known, fit, None)(known.features).tolist() for fit in (few, same)]
    assert answers[0] == answers[1]
    assert answers[0] != learn(known, FIT, None)(known.features).tolist()


def test_a_trial_ends_at_its_deadline() -> None:
    long = replace(FIT, params={**PARAMS, "n_estimators": 100_000})
    with pytest.raises(TrialTimeoutError, match="longer than its timeout_s"):
        learn(known_rows(), long, time.monotonic() + 0.05)


def study(desk: Desk, tables: Mapping[str, Any] = TUNED, **more: Any) -> dict[str, Any]:
    """Run a study with LightGBM in this process and return its result."""
    spec = desk.spec(kind="study", folds={"outer": 2}, **tables, **more)
    ended = desk.here("run", spec, "--force")
    assert ended.code == 0, ended.err
    return desk.result()


def test_a_study_tunes_it_alike_on_a_cluster_and_without(laid_desk: Desk) -> None:
    result = study(laid_desk)
    assert list(result["methods"]) == [
        "ideal",
        "majority",
        "one_rule",
        "lightgbm",
        "decision_tree",
    ]
    method = result["methods"]["lightgbm"]
    assert method["failed_folds"] == 0
    assert [fold["tuning"]["trials"] for fold in method["folds"]] == [2, 2]
    assert all(0 < fold["accuracy"] <= 1 for fold in method["folds"])
    serial = essence(laid_desk.folder() / "result.json")
    page = (laid_desk.folder() / "report.html").read_text("utf-8")
    assert 'class="bar m-red"' in page
    assert "LightGBM: what was chosen in each fold" in page
    spec = laid_desk.spec(
        kind="study", folds={"outer": 2}, cluster={"kind": "local", "workers": 2}, **TUNED
    )
    ended = laid_desk.apart("run", spec, "--force")
    assert ended.code == 0, ended.err
    assert "LightGBM" in ended.out
    assert essence(laid_desk.folder() / "result.json") == serial


def test_it_takes_several_labels_weights_and_missing_values(desk: Desk) -> None:
    table = small_table()
    table["w"] = np.arange(len(table["x"])) % 3
    table["x"] = [None if i % 11 == 0 else x for i, x in enumerate(table["x"])]
    table["k"] = np.where(table["b"], "c", np.where(table["y"], "a", "b")).tolist()
    desk.table(pa.table(table))
    one = {"baselines.lightgbm": {"trials": 1}}
    roles: dict[str, Any] = {"drop": ["k", "b"], "weight": "w", "missing": "indicator"}
    weighed = study(desk, one, data={**roles, "target": "y"})
    whole = weighed["methods"]["lightgbm"]["folds"]
    assert sum(fold["tested"] for fold in whole) == sum(table["w"])
    roles = {"drop": ["w", "y"], "missing": "indicator", "classes": "all"}
    several = study(desk, one, data={**roles, "target": "k"})["methods"]["lightgbm"]["folds"]
    assert all(len(fold["confusion_matrix"]) == 3 for fold in several)
    assert sum(fold["tested"] for fold in several) == len(table["x"])


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("trials=0", "baselines.lightgbm.trials must be a whole number of at least 1, got 0"),
        ("pruner=often", "baselines.lightgbm.pruner must be one of"),
        ("timeout_s=0", "baselines.lightgbm.timeout_s must be a number of seconds greater than 0"),
        ("leaves=3", "unknown key baselines.lightgbm.leaves"),
    ],
)
def test_what_it_cannot_do_is_told(laid_desk: Desk, key: str, told: str) -> None:
    spec = laid_desk.spec(kind="study")
    ended = laid_desk.here("validate", spec, "--set", f"baselines.lightgbm.{key}")
    assert ended.code == 2
    assert told in ended.message


def test_without_its_library_the_extra_is_named(
    laid_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "lightgbm" else known(name)
    )
    ended = laid_desk.here("run", laid_desk.spec(kind="study", **TUNED))
    assert ended.code == 2
    assert "job.toml:" in ended.message
    assert (
        "lightgbm needs lightgbm, which is not installed; install it with: "
        "pip install 'dnfscale[lightgbm]'" in ended.message
    )
