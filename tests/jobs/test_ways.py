"""Where the baselines of a job are fitted: settled before it runs, and told."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pyarrow as pa
import pytest

from dnfscale.compare import families
from dnfscale.compare.ways import Workers
from tests.jobs.running import Desk, essence

_TUNED = {"trials": 1}
_LEARNERS = ("xgboost", "random_forest", "decision_tree")


def large(desk: Desk, **tables: object) -> object:
    """Write a spec for two million rows of six columns, and small workers."""
    rows = 2_000_000
    flat = pa.array(np.zeros(rows))
    labels = pa.array(np.arange(rows) % 2 == 0)
    desk.table(pa.table({**{f"x{i}": flat for i in range(6)}, "y": labels}))
    cluster = {"kind": "local", "workers": 2, "memory_limit": "500MiB"}
    return desk.spec(kind="study", folds={"outer": 2}, cluster=cluster, **tables)


def test_a_plan_says_how_each_baseline_will_be_fitted(desk: Desk) -> None:
    spec = large(desk, **{"baselines.random_forest": _TUNED})
    planned = desk.here("plan", spec)
    assert planned.code == 0, planned.err
    [line] = [line for line in planned.out.splitlines() if line.startswith("Random forest")]
    assert "on a sample of 728,177 of 2,000,000 rows, about 400.0 MiB per worker" in line
    whole = desk.here("plan", spec, "--set", 'cluster.memory_limit="4GiB"')
    assert "on all rows in each worker, about 574.7 MiB per worker" in whole.out


@pytest.mark.parametrize("verb", ["validate", "plan", "run"])
def test_an_explicit_way_that_cannot_fit_is_refused_before_anything_runs(
    desk: Desk, verb: str
) -> None:
    spec = large(desk, **{"baselines.random_forest": {"where": "worker"}})
    ended = desk.here(verb, spec)
    assert ended.code == 5
    assert "Random forest holds all rows in each worker, which may need 575 MiB" in ended.message
    assert not desk.folder().exists()


def test_a_way_that_a_method_has_not_is_refused(laid_desk: Desk) -> None:
    spec = laid_desk.spec(kind="study", **{"baselines.ripper": {"where": "cluster"}})
    ended = laid_desk.here("validate", spec)
    assert ended.code == 2
    assert "baselines.ripper.where must be one of" in ended.message


def test_the_way_is_written_into_the_spec_and_the_result(laid_desk: Desk) -> None:
    tables = {f"baselines.{name}": {} for name in _LEARNERS}
    tables["baselines.xgboost"] = tables["baselines.random_forest"] = _TUNED
    assert laid_desk.run(kind="study", folds={"outer": 2}, **tables).code == 0
    spec = tomllib.loads((laid_desk.folder() / "spec.toml").read_text())
    methods = laid_desk.result()["methods"]
    for name in _LEARNERS:
        assert spec["baselines"][name]["where"] == "worker"
        assert methods[name]["where"] == "worker"
        assert "sample_rows" not in methods[name]
    assert "where" not in methods["ideal"]


def test_a_sample_of_all_rows_gives_what_all_rows_give(laid_desk: Desk) -> None:
    def study(name: str, where: str) -> dict[str, object]:
        tables = {f"baselines.{each}": {"where": where} for each in _LEARNERS}
        for each in ("xgboost", "random_forest"):
            tables[f"baselines.{each}"] |= {"trials": 2}
        ended = laid_desk.run(kind="study", name=name, folds={"outer": 2}, **tables)
        assert ended.code == 0, ended.err
        methods: dict[str, object] = json.loads(essence(laid_desk.folder(name) / "result.json"))[
            "methods"
        ]
        for each in _LEARNERS:
            method = methods[each]
            assert isinstance(method, dict)
            assert method.pop("where") == where
            assert method.pop("sample_rows", None) == (240 if where == "sample" else None)
        return methods

    assert study("whole", "worker") == study("sampled", "sample")


def test_a_sample_is_told_with_its_size_and_tested_on_all_test_rows(
    laid_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So little memory that the sample would be empty, if it did not have a least size.
    monkeypatch.setattr(families, "Workers", lambda *_: Workers(2, 1))
    monkeypatch.setattr("dnfscale.compare.ways._LEAST_ROWS", 100)
    tables = {"baselines.decision_tree": {"where": "sample"}}
    ended = laid_desk.run(kind="study", folds={"outer": 2}, **tables)
    assert ended.code == 0, ended.err
    method = laid_desk.result()["methods"]["decision_tree"]
    assert method["sample_rows"] == 100
    assert [fold["tested"] for fold in method["folds"]] == [120, 120]
    told = "fitted to a sample of 100 of 240 rows"
    assert told in " ".join(ended.out.split())
    assert told in (laid_desk.folder() / "report.html").read_text()


def test_fits_of_all_workers_are_planned_run_told_and_marked(laid_desk: Desk) -> None:
    tables = {"baselines.xgboost": {**_TUNED, "where": "cluster"}}
    ended = laid_desk.run(kind="study", folds={"outer": 2}, **tables)
    assert ended.code == 0, ended.err
    method = laid_desk.result()["methods"]["xgboost"]
    assert method["where"] == "cluster"
    assert method["reproducible"] is False
    assert method["accuracy_mean"] > 0.5
    assert "fitted by all workers together" in " ".join(ended.out.split())
    planned = laid_desk.here("plan", "job.toml").out
    [line] = [line for line in planned.splitlines() if line.startswith("fit together")]
    assert "tune baselines" not in planned
    assert line.split()[-3:][0] == "4"
    events = (laid_desk.folder() / "events.jsonl").read_text()
    assert '"fit together"' in events
    notes = json.loads((laid_desk.folder() / "tasks" / "xgboost-fold0.json").read_text())
    assert [note["step"] for note in notes["entries"]] == ["trial 0 together", "final together"]


def test_tuning_that_is_cut_short_is_told_and_marked(laid_desk: Desk) -> None:
    tables = {"baselines": {"time_limit_s": 0.001}, "baselines.random_forest": {"trials": 3}}
    ended = laid_desk.run(kind="study", folds={"outer": 2}, **tables)
    assert ended.code == 0, ended.err
    for fold in laid_desk.result()["methods"]["random_forest"]["folds"]:
        assert fold["tuning"]["trials"] == 1
        assert fold["tuning"]["cut_short"] is True
    told = "the time limit left 2 trials in 2 folds"
    assert told in " ".join(ended.out.split())
