"""Studies with the formula-size method: the same as the library on plain columns, on any engine,
and after a kill.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dnfscale import FormulaSizeClassifier
from dnfscale.core.splits import TEST, TRAIN, VALIDATION, Splits
from dnfscale.formula_size import (
    Formula,
    Limits,
    choose,
    errors_of,
    evaluate,
    render,
    search,
    symbols,
    tabulate,
)
from tests.jobs.judging import accepts, recount
from tests.jobs.running import (
    Desk,
    command,
    essence,
    read_json,
    small_table,
    surprising,
    surroundings,
)
from tests.judges import booleans

NAMES = ["x_above_median", "n_above_median", "s_blue", "s_green", "s_red", "b"]


def study(desk: Desk, file: str = "job.toml", **keys: object) -> Path:
    sized = {"max_size": 7, **keys}
    return desk.spec(
        kind="study", file=file, folds={"outer": 3}, **{"baselines.formula_size": sized}
    )


def hard_table(n_rows: int = 300, n_columns: int = 40) -> dict[str, Any]:
    """A table in which every size takes its time: nothing predicts the target."""
    random = np.random.default_rng(1)
    columns: dict[str, Any] = {
        f"a{number}": random.random(n_rows) < 0.5 for number in range(n_columns)
    }
    return {**columns, "y": random.random(n_rows) < 0.5}


def judged(table: dict[str, Any], *, max_size: int, outer: int) -> list[dict[str, Any]]:
    """Carry out the method on a pandas table, fold by fold, with the library's search on plain
    matrices.
    """
    frame = pd.DataFrame(table)
    target, features = frame["y"].to_numpy(), frame.drop(columns="y")
    splits = Splits(len(frame), outer, 0.3, 0)
    parts = splits.parts[:, splits.arcs(0, len(frame))]
    found = []
    for part in parts:
        train, validation, test = (part == kind for kind in (TRAIN, VALIDATION, TEST))
        inner, whole = booleans(features, train), booleans(features, ~test)
        validating = tabulate(inner[validation], target[validation])
        choice = choose(search(tabulate(inner[train], target[train]), Limits(max_size)), validating)
        *_, final = search(tabulate(whole[~test], target[~test]), Limits(choice.chosen.size))
        wrong = errors_of(final.formula, tabulate(whole[test], target[test]))
        found.append(
            {
                "accuracy": 1 - wrong / test.sum() if test.any() else None,
                "formula": render(final.formula, NAMES),
                "size": final.formula_size,
                "attributes": [NAMES[place] for place in dict.fromkeys(symbols(final.formula))],
                "errors": final.errors,
                "chosen_size": choice.chosen.size,
                "path": [
                    {
                        "size": result.size,
                        "formula_size": result.formula_size,
                        "errors": result.errors,
                        "validation_accuracy": correct / validation.sum(),
                        "proved": True,
                    }
                    for result, correct in zip(choice.path, choice.correct, strict=True)
                ],
            }
        )
    return found


def test_a_study_finds_what_the_library_finds_on_plain_columns(laid_desk: Desk) -> None:
    ended = laid_desk.here("run", study(laid_desk))
    assert ended.code == 0
    result = laid_desk.result()
    assert list(result["methods"]) == ["ideal", "majority", "one_rule", "formula_size"]
    method = result["methods"]["formula_size"]
    *folds, model = judged(small_table(), max_size=7, outer=3)
    for expected, fold in zip([*folds, model], [*method["folds"], method["model"]], strict=True):
        accuracy = expected.pop("accuracy")
        assert fold.get("accuracy") == (None if accuracy is None else pytest.approx(accuracy))
        [sized] = fold["sized"]
        told = {**sized, "attributes": [attribute["name"] for attribute in sized["attributes"]]}
        assert {key: told[key] for key in expected} == expected
        assert sized["proved"]
        assert sized["exact_over_all_attributes"]
        assert sized["attributes_searched"] == 6
    assert method["accuracy_mean"] == pytest.approx(
        np.mean([fold["accuracy"] for fold in method["folds"]])
    )
    assert method["size_mean"] == pytest.approx(np.mean([fold["size"] for fold in folds]))
    assert method["failed_folds"] == 0
    [whole] = method["model"]["sized"]
    assert method["model"]["training_accuracy"] == (240 - whole["errors"]) / 240
    timing = result["timing"]
    assert timing["methods_s"]["formula_size"] >= timing["phases_s"]["count distinct rows"] > 0
    for fold in method["folds"]:
        certificate = fold["sized"][0]["certificate"]
        assert certificate["rows"] == fold["test_rows"]
        assert not certificate["chosen_on_the_same_rows"]
    assert "by size " in ended.out
    assert whole["conditions"] in ended.out
    steps = pd.read_csv(laid_desk.folder() / "tables" / "sizes.csv")
    assert len(steps) == sum(
        len(part["sized"][0]["path"]) for part in [*method["folds"], method["model"]]
    )
    assert surprising(laid_desk.folder()) == []
    assert "formula_size" in [pair["other"] for pair in result["comparisons"]]


def test_a_study_on_a_cluster_searches_as_a_serial_one(laid_desk: Desk) -> None:
    assert laid_desk.here("run", study(laid_desk)).code == 0
    serial = essence(laid_desk.folder() / "result.json")
    ended = laid_desk.apart(
        "run",
        study(laid_desk),
        "--set",
        "cluster.kind=local",
        "--set",
        "cluster.workers=2",
        "--force",
    )
    assert ended.code == 0, ended.err
    assert essence(laid_desk.folder() / "result.json") == serial


def test_a_runner_killed_in_the_middle_of_a_search_keeps_the_proved_sizes(desk: Desk) -> None:
    desk.table(hard_table())
    spec = study(desk, max_size=8, patience=8)
    note = desk.folder() / "tasks" / "formula_size-fold0.json"
    running = subprocess.Popen(
        command("run", spec),
        cwd=desk.path,
        env=surroundings(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not note.exists() and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    assert not (desk.folder() / "result.json").exists(), (
        "the run was over before it could be killed"
    )
    noted = json.loads(note.read_text())["entries"]
    assert noted
    assert all(entry["part"] == "train" and entry["proved"] for entry in noted)
    assert desk.here("run", spec, "--resume").code == 0
    after = json.loads(note.read_text())["entries"]
    # The seconds of a size that was searched again would differ.
    assert after[: len(noted)] == noted
    assert len(after) > len(noted)
    resumed = essence(desk.folder() / "result.json")
    assert desk.here("run", spec).code == 0
    assert essence(desk.folder() / "result.json") == resumed


def test_a_cluster_killed_in_the_middle_of_a_search_keeps_the_proved_sizes(desk: Desk) -> None:
    """The runner, its scheduler and its workers are killed outright; what was proved is not
    repeated.
    """
    desk.table(hard_table())
    spec = study(desk, max_size=8, patience=8)
    local = ("--set", "cluster.kind=local", "--set", "cluster.workers=2")
    tasks = desk.folder() / "tasks"
    running = subprocess.Popen(
        command("run", spec, *local),
        cwd=desk.path,
        env=surroundings(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 180
    try:
        while time.monotonic() < deadline and not notes_of(tasks):
            assert running.poll() is None, "the run ended before it could be killed"
            time.sleep(0.005)
    finally:
        # The workers are processes of the same session: all die as if the machine had.
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    assert not (desk.folder() / "result.json").exists(), (
        "the run was over before it could be killed"
    )
    noted = notes_of(tasks)
    assert noted
    assert all(entry["proved"] for entries in noted.values() for entry in entries)
    ended = desk.apart("run", spec, *local, "--resume", timeout_s=180)
    assert ended.code == 0, ended.err
    after = notes_of(tasks)
    for name, entries in noted.items():
        # The seconds of a size that was searched again would differ.
        assert after[name][: len(entries)] == entries
    assert sum(map(len, after.values())) > sum(map(len, noted.values()))
    resumed = essence(desk.folder() / "result.json")
    file = (desk.folder() / "model_formula_size.json").read_bytes()
    assert desk.here("run", spec).code == 0
    assert essence(desk.folder() / "result.json") == resumed
    assert (desk.folder() / "model_formula_size.json").read_bytes() == file


def notes_of(tasks: Path) -> dict[str, list[dict[str, Any]]]:
    return {
        file.name: json.loads(file.read_text())["entries"]
        for file in tasks.glob("formula_size-*.json")
    }


def test_the_formula_of_all_rows_is_a_model_that_the_verbs_take(laid_desk: Desk) -> None:
    assert laid_desk.here("run", study(laid_desk)).code == 0
    file = laid_desk.folder() / "model_formula_size.json"
    found = laid_desk.result()["methods"]["formula_size"]["model"]
    model = read_json(file)
    assert (model["schema"], model["formula"]) == ("dnfscale.model/1", found["sized"][0]["formula"])
    rows = pd.DataFrame(small_table()).to_dict("records")
    assert model["counts"] == recount(rows, model)
    assert model["certificate"]["rows"] == 240
    answers = [accepts(model, row) for row in rows]
    assert (
        np.mean([answer == row["y"] for answer, row in zip(answers, rows, strict=True)])
        == found["training_accuracy"]
    )
    assert laid_desk.here("predict", file, "t.parquet", "--output", "answers").code == 0
    assert pd.read_parquet("answers")["prediction"].tolist() == answers
    assert "This settles it" in laid_desk.here("explain", file, "t.parquet", "--row", "0").out
    assert "That is, when" in laid_desk.here("explain", file).out
    space: dict[str, Any] = {}
    exec(laid_desk.here("export", file, "--to", "python").out, space)
    assert [space["predict"](row) for row in rows] == answers
    # A run that does not search by size leaves none of it behind.
    ended = laid_desk.here("run", study(laid_desk), "--set", 'methods=["ideal"]', "--force")
    assert ended.code == 0
    assert not file.exists()


@pytest.mark.parametrize("threshold", [0.2, 0.75])
def test_a_threshold_weighs_the_errors(laid_desk: Desk, threshold: float) -> None:
    ended = laid_desk.here("run", study(laid_desk), "--set", f"formula.threshold={threshold}")
    assert ended.code == 0, ended.err
    method = laid_desk.result()["methods"]["formula_size"]
    for [fold] in [part["sized"] for part in (*method["folds"], method["model"])]:
        assert all(step["cost"] <= 2 * step["errors"] for step in fold["path"])
        costs = [step["cost"] for step in fold["path"]]
        assert costs == sorted(costs, reverse=True)
        assert any(step["validation_score"] != step["validation_accuracy"] for step in fold["path"])
    for fold in method["folds"]:
        for step in fold["sized"][0]["path"]:
            right = step["validation_accuracy"] * fold["validation_rows"]
            assert right == pytest.approx(round(right))
    same = FormulaSizeClassifier(max_size=7, threshold=threshold).fit(
        laid_desk.path / "t.parquet", "y"
    )
    assert method["model"]["sized"][0]["formula"] == same.formula_
    assert read_json(laid_desk.folder() / "model_formula_size.json")["threshold"] == str(
        Fraction(str(threshold))
    )


def test_every_label_has_a_formula_and_their_joint_answers_are_counted(desk: Desk) -> None:
    """Judged row by row: in each fold the label whose formula finds a test row most probable, the
    first of several.
    """
    table = {**small_table(), "y": labels_of(small_table())}
    desk.table(table, row_group_size=31)
    spec = study(desk, max_size=5)
    text = spec.read_text().replace('target = "y"', 'target = "y"\nclasses = "all"')
    spec.write_text(text)
    ended = desk.here("run", spec)
    assert ended.code == 0, ended.err
    result = desk.result()
    method = result["methods"]["formula_size"]
    frame = pd.DataFrame(table)
    target, features = frame["y"].to_numpy(), frame.drop(columns="y")
    names = sorted(set(target))
    splits = Splits(len(frame), 3, 0.3, 0)
    parts = splits.parts[:, splits.arcs(0, len(frame))]
    for fold, part in zip(method["folds"], parts, strict=False):
        train, validation, test = (part == kind for kind in (TRAIN, VALIDATION, TEST))
        inner, whole = booleans(features, train), booleans(features, ~test)
        given = []
        for label, told in zip(names, fold["sized"], strict=True):
            positive = target == label
            choice = choose(
                search(tabulate(inner[train], positive[train]), Limits(5)),
                tabulate(inner[validation], positive[validation]),
            )
            *_, final = search(tabulate(whole[~test], positive[~test]), Limits(choice.chosen.size))
            assert (told["label"], told["formula"]) == (label, render(final.formula, NAMES))
            given.append(probable(final.formula, whole, positive, ~test))
        answers = np.argmax(given, axis=0)[test]
        judged = [
            [int(((target[test] == own) & (answers == i)).sum()) for i in range(3)] for own in names
        ]
        assert fold["confusion_matrix"] == judged
        assert fold["accuracy"] == np.trace(judged) / test.sum()
    model = read_json(desk.folder() / "model_formula_size.json")
    assert model["schema"] == "dnfscale.classes/1"
    assert [entry["formula"] for entry in model["classes"]] == [
        entry["formula"] for entry in method["model"]["sized"]
    ]
    assert (
        desk.here(
            "predict", desk.folder() / "model_formula_size.json", "t.parquet", "--output", "a"
        ).code
        == 0
    )
    assert set(pd.read_parquet("a")["prediction"]) <= set(names)
    assert "of all rows, high: " in ended.out
    assert set(pd.read_csv(desk.folder() / "tables" / "sizes.csv")["label"]) == set(names)
    assert "Two families of formulas" in (desk.folder() / "report.html").read_text()
    assert surprising(desk.folder()) == []
    serial = essence(desk.folder() / "result.json")
    local = ("--set", "cluster.kind=local", "--set", "cluster.workers=2")
    ended = desk.apart("run", spec, *local, "--force", timeout_s=180)
    assert ended.code == 0, ended.err
    assert essence(desk.folder() / "result.json") == serial


def labels_of(table: dict[str, Any]) -> list[str]:
    middle = np.median(table["x"])
    return [
        "low" if x <= middle else "high" if s == "red" else "other"
        for x, s in zip(table["x"], table["s"], strict=True)
    ]


def probable(
    formula: Formula, holds: np.ndarray, positive: np.ndarray, learned: np.ndarray
) -> np.ndarray:
    """The judge: (c + 1) / (n + 2) of the rows learned from that agree in the formula's attributes,
    on its side.
    """
    used = list(dict.fromkeys(symbols(formula)))
    types = ["".join(map(str, row.astype(int))) for row in holds[:, used]]
    found = []
    for type_, accepted in zip(types, evaluate(formula, holds.T), strict=True):
        like = np.array([other == type_ for other in types]) & learned
        share = (positive[like].sum() + 1) / (like.sum() + 2)
        found.append(
            max(share, np.nextafter(0.5, 1)) if accepted else min(share, np.nextafter(0.5, 0))
        )
    return np.array(found)


def test_a_time_limit_is_told_in_the_result(desk: Desk) -> None:
    desk.table(hard_table())
    assert desk.here("run", study(desk, max_size=30, patience=30, time_limit_s=0.1)).code == 0
    for fold in desk.result()["methods"]["formula_size"]["folds"]:
        [sized] = fold["sized"]
        *before, last = sized["path"]
        assert not sized["proved"]
        assert not last["proved"]
        assert last["size"] < 30
        assert all(step["proved"] for step in before)


def test_too_many_distinct_rows_are_told_in_the_result(laid_desk: Desk) -> None:
    assert laid_desk.here("run", study(laid_desk, max_types=10)).code == 0
    for fold in laid_desk.result()["methods"]["formula_size"]["folds"]:
        [sized] = fold["sized"]
        assert not sized["exact_over_all_attributes"]
        assert sized["attributes_searched"] == 3
        assert sized["distinct_rows"] <= 10


def test_the_method_runs_only_if_it_is_asked_for(laid_desk: Desk) -> None:
    plain = laid_desk.spec(kind="study", folds={"outer": 2})
    assert laid_desk.here("run", plain).code == 0
    assert "formula_size" not in laid_desk.result()["methods"]
    assert laid_desk.here("run", plain, "--set", 'methods=["formula_size"]', "--force").code == 0
    assert list(laid_desk.result()["methods"]) == ["ideal", "formula_size"]
    empty = laid_desk.spec(
        kind="study", file="empty.toml", name="empty", **{"baselines.formula_size": {}}
    )
    shown = laid_desk.here("plan", empty)
    assert shown.code == 0
    assert "count distinct rows" in shown.out
    assert "search formulas by size" in shown.out


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"max_size": 0},
            "baselines.formula_size.max_size must be a whole number between 1 and 47, got 0",
        ),
        (
            {"patience": 3},
            "baselines.formula_size.patience must be a whole number of at least 4, got 3",
        ),
        (
            {"time_limit_s": 0},
            "baselines.formula_size.time_limit_s must be a number of seconds greater than 0",
        ),
        (
            {"max_types": 1},
            "baselines.formula_size.max_types must be a whole number of at least 2, got 1",
        ),
        (
            {"size": 4},
            (
                "unknown key baselines.formula_size.size; did you mean "
                "baselines.formula_size.max_size?"
            ),
        ),
    ],
)
def test_a_bad_key_is_named(laid_desk: Desk, keys: dict[str, object], message: str) -> None:
    ended = laid_desk.here("validate", study(laid_desk, **keys))
    assert ended.code == 2
    assert message in ended.message


def test_what_cannot_be_combined_is_told(laid_desk: Desk) -> None:
    table = {"baselines.formula_size": {"max_size": 3}}
    ended = laid_desk.here("validate", laid_desk.spec(kind="fit", **table))
    assert ended.code == 2
    assert 'but formula_size is to be compared; use kind = "study"' in ended.message


def test_without_numba_the_extra_is_named(laid_desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    known = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "numba" else known(name)
    )
    ended = laid_desk.here("validate", study(laid_desk))
    assert ended.code == 2
    assert "job.toml:" in ended.message
    assert "pip install 'dnfscale[formula-size]'" in ended.message


def test_a_suite_runs_the_method_in_all_its_jobs(laid_desk: Desk) -> None:
    laid_desk.spec(kind="study", name="one", file="one.toml", folds={"outer": 2})
    laid_desk.spec(kind="study", name="two", file="two.toml", folds={"outer": 3})
    suite = laid_desk.path / "suite.toml"
    suite.write_text(
        'schema_version = 1\nname = "suite"\nkind = "suite"\njobs = ["one.toml", "two.toml"]\n'
        "[baselines.formula_size]\nmax_size = 4\n[cluster]\nkind = 'serial'\n"
    )
    ended = laid_desk.here("run", suite)
    assert ended.code == 0, ended.err
    assert "Formula size" in ended.out
    for name, n_folds in (("one", 2), ("two", 3)):
        result = json.loads((laid_desk.folder("suite") / "jobs" / name / "result.json").read_text())
        assert len(result["methods"]["formula_size"]["folds"]) == n_folds


def test_a_distillation_compares_nothing(laid_desk: Desk) -> None:
    spec = laid_desk.spec(
        kind="distill", distill={"model": "m.json"}, **{"baselines.formula_size": {"max_size": 3}}
    )
    ended = laid_desk.here("validate", spec)
    assert ended.code == 2
    assert "leave out baselines.formula_size" in ended.message


def test_rankings_of_attributes_together_leave_the_choice_of_the_best_ones_to_a_score(desk):
    random = np.random.default_rng(4)
    desk.table(
        {**{f"x{i}": random.normal(size=120) for i in range(8)}, "y": random.random(120) < 0.5}
    )
    ended = desk.run(
        kind="study",
        profile="best",
        folds={"outer": 2},
        select={"max_ell": 2},
        **{"baselines.formula_size": {"max_size": 2, "max_types": 20}},
    )
    assert ended.code == 0, ended.err
    folds = desk.result()["methods"]["formula_size"]["folds"]
    assert [fold["sized"][0]["exact_over_all_attributes"] for fold in folds] == [False, False]
