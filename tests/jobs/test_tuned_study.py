"""Studies with tuned baselines: the same on any engine, and the same after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from dnfscale.compare import families
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import ClusterError, LimitError
from tests.jobs.running import Desk, command, essence, spec_text, surroundings

_TRIALS = {"baselines.random_forest": {"trials": 2}, "baselines.xgboost": {"trials": 2}}


def study(desk: Desk, *, name: str = "job", **tables: object) -> Path:
    return desk.spec(
        kind="study", name=name, file=f"{name}.toml", folds={"outer": 2}, **_TRIALS, **tables
    )


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What an undisturbed serial run of the study comes to."""
    from tests.jobs.running import small_table, write_table

    folder = tmp_path_factory.mktemp("quiet")
    write_table(folder / "t.parquet", small_table())
    (folder / "job.toml").write_text(spec_text(kind="study", folds={"outer": 2}, **_TRIALS))
    subprocess.run(
        command("run", "job.toml"), cwd=folder, env=surroundings(), check=True, capture_output=True
    )
    return essence(folder / "runs" / "job" / "result.json")


@pytest.mark.portable
def test_every_method_is_tested_in_every_fold(quiet: str) -> None:
    result = json.loads(quiet)
    assert list(result["methods"]) == ["ideal", "majority", "one_rule", "random_forest", "xgboost"]
    for method in result["methods"].values():
        assert [fold["fold"] for fold in method["folds"]] == [0, 1]
        assert all(0 <= fold["accuracy"] <= 1 for fold in method["folds"])
    for name in ("random_forest", "xgboost"):
        tuned = [fold["tuning"] for fold in result["methods"][name]["folds"]]
        assert all(each["trials"] == 2 and each["failed_trials"] == 0 for each in tuned)
    assert [pair["other"] for pair in result["comparisons"]] == [
        "majority",
        "one_rule",
        "random_forest",
        "xgboost",
    ]


def test_a_study_on_a_cluster_tunes_as_a_serial_one(laid_desk: Desk, quiet: str) -> None:
    ended = laid_desk.apart("run", study(laid_desk, cluster={"kind": "local", "workers": 2}))
    assert ended.code == 0, ended.err
    assert essence(laid_desk.folder() / "result.json") == quiet


def test_a_runner_killed_while_tuning_is_resumed_without_repeating_a_trial(
    laid_desk: Desk, quiet: str
) -> None:
    spec = study(laid_desk)
    tasks = laid_desk.folder() / "tasks"
    running = subprocess.Popen(
        command("run", spec),
        cwd=laid_desk.path,
        env=surroundings(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not (tasks / "random_forest-fold0.json").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    assert not (laid_desk.folder() / "result.json").exists(), (
        "the run was over before it could be killed"
    )
    noted = {file.name: json.loads(file.read_text())["entries"] for file in tasks.glob("*.json")}
    assert noted["ideal.json"]
    ended = laid_desk.here("run", spec, "--resume")
    assert ended.code == 0, ended.err
    assert essence(laid_desk.folder() / "result.json") == quiet
    for name, entries in noted.items():
        after = json.loads((tasks / name).read_text())["entries"]
        # The seconds of a trial that ran again would differ.
        assert after[: len(entries)] == entries


def test_a_run_by_force_forgets_the_notes_of_an_earlier_one(laid_desk: Desk) -> None:
    spec = study(laid_desk)
    assert laid_desk.here("run", spec).code == 0
    tasks = laid_desk.folder() / "tasks"
    (tasks / "ideal.json").write_text("{}")
    (tasks / "left-over.json").write_text("{}")
    assert laid_desk.here("run", spec, "--force").code == 0
    assert not (tasks / "left-over.json").exists()


def test_methods_of_a_spec_restrict_what_a_study_runs(laid_desk: Desk) -> None:
    spec = study(laid_desk)
    assert laid_desk.here("run", spec, "--set", 'methods=["ideal", "one_rule"]').code == 0
    assert list(laid_desk.result()["methods"]) == ["ideal", "one_rule"]


def test_trials_that_take_too_long_fail_their_fold_and_the_exit_code_says_so(
    laid_desk: Desk,
) -> None:
    spec = study(laid_desk)
    ended = laid_desk.here("run", spec, "--set", "baselines.xgboost.timeout_s=0.000001")
    assert ended.code == 1
    assert "xgboost fold 0: no trial succeeded; the last said: TrialTimeoutError" in ended.message
    methods = laid_desk.result()["methods"]
    assert methods["xgboost"]["failed_folds"] == 2
    assert methods["random_forest"]["failed_folds"] == 0


def test_a_fit_cannot_be_compared(laid_desk: Desk) -> None:
    ended = laid_desk.here("run", laid_desk.spec(kind="fit", **_TRIALS))
    assert ended.code == 2
    assert 'use kind = "study"' in ended.message


def test_without_validation_rows_every_method_still_answers(desk):
    desk.table({"x": [1.0, 2.0, 3.0, 4.0], "y": [False, True, False, True]})
    tables = {"baselines.random_forest": {"trials": 1}, "baselines.decision_tree": {}}
    ended = desk.run(kind="study", folds={"outer": 2}, select={"validation": 0.1}, **tables)
    assert ended.code == 0, ended.err
    methods = desk.result()["methods"]
    assert methods["ideal"]["folds"][0]["validation_rows"] == 0
    assert all("error" not in fold for method in methods.values() for fold in method["folds"])


def test_a_study_ends_with_its_formula_when_a_baseline_has_not_the_memory(
    laid_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = LimitError("XGBoost holds all rows in each worker")
    monkeypatch.setattr(
        families,
        "shortage",
        lambda learner, *_: short if learner.name == "xgboost" else None,
    )
    ended = laid_desk.here("run", study(laid_desk))
    assert ended.code == 1
    assert "2 folds failed, the rest is done; the first was xgboost fold 0: XGBoost holds" in (
        ended.message
    )
    reason = "XGBoost: no result, as it failed: XGBoost holds all rows in each worker."
    assert reason in " ".join(ended.out.split())
    assert reason in (laid_desk.folder() / "report.html").read_text()
    assert (laid_desk.folder() / "model.json").exists()
    methods = laid_desk.result()["methods"]
    assert methods["xgboost"]["accuracy_mean"] is None
    assert [fold["error"] for fold in methods["xgboost"]["folds"]] == [short.message] * 2
    assert methods["random_forest"]["accuracy_mean"] is not None
    again = laid_desk.here("run", study(laid_desk))
    assert again.code == 1
    assert "nothing was done" in again.out


def test_a_study_that_lost_its_cluster_while_tuning_goes_on_when_run_again(
    laid_desk: Desk, quiet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*_given: object, **_named: object) -> None:
        raise ClusterError("expected workers, but the cluster has had none for 60 s")

    with monkeypatch.context() as patched:
        patched.setattr(SerialEngine, "chain", lose)
        ended = laid_desk.here("run", study(laid_desk))
    assert ended.code == 1
    methods = laid_desk.result()["methods"]
    assert methods["ideal"]["accuracy_mean"] is not None
    assert "has had none" in methods["xgboost"]["folds"][0]["error"]
    assert laid_desk.here("run", study(laid_desk)).code == 0
    assert essence(laid_desk.folder() / "result.json") == quiet
