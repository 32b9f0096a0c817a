"""Suites: several jobs as one plan."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from dnfscale.errors import SpecError
from dnfscale.jobs.suite_spec import read_suite
from tests.jobs.running import Desk, command, essence, read_json, small_table, surroundings


def suite(desk: Desk, jobs: str, more: str = "") -> Path:
    return desk.spec(
        f'schema_version = 1\nname = "all"\nkind = "suite"\njobs = {jobs}\n{more}\n[cluster]\nkind = "serial"\n',
        file="all.toml",
    )


@pytest.fixture
def two_jobs(laid_desk: Desk) -> Desk:
    laid_desk.table(small_table(seed=8), name="u.parquet")
    laid_desk.spec(kind="study", name="first", file="first.toml")
    laid_desk.spec(kind="study", name="second", file="second.toml", data={"path": "u.parquet"})
    return laid_desk


def test_each_job_of_a_suite_has_the_result_it_has_by_itself(two_jobs: Desk) -> None:
    ended = two_jobs.here("run", suite(two_jobs, '["first.toml", "second.toml"]'))
    assert ended.code == 0, ended.err
    assert "| first |" in ended.out
    assert "| second |" in ended.out
    folder = two_jobs.path / "runs" / "all"
    for name in ("first", "second"):
        assert two_jobs.here("run", f"{name}.toml").code == 0
        assert essence(folder / "jobs" / name / "result.json") == essence(two_jobs.folder(name) / "result.json")
    result = read_json(folder / "result.json")
    assert result["schema"] == "dnfscale.suite/1"
    assert [(job["name"], job["status"], job["error"]) for job in result["jobs"]] == [
        ("first", "done", None),
        ("second", "done", None),
    ]
    assert (folder / "report.html").is_file()
    assert {file.suffix for file in (folder / "tables").iterdir()} == {".csv", ".md", ".tex"}


def test_a_suite_on_a_cluster_has_the_results_of_a_serial_one(two_jobs: Desk) -> None:
    spec = suite(two_jobs, '["first.toml", "second.toml"]')
    assert two_jobs.here("run", spec).code == 0
    ended = two_jobs.apart("run", spec, "--set", "cluster.kind=local", "--output", "elsewhere")
    assert ended.code == 0, ended.err
    for name in ("first", "second"):
        job = Path("all") / "jobs" / name / "result.json"
        assert essence(two_jobs.path / "elsewhere" / job) == essence(two_jobs.path / "runs" / job)


def test_a_job_that_fails_fails_its_row_only(two_jobs: Desk) -> None:
    (two_jobs.path / "u.parquet").write_bytes(b"not Parquet")
    ended = two_jobs.here("run", suite(two_jobs, '["first.toml", "second.toml"]'))
    assert ended.code == 1
    assert "1 of 2 jobs failed, the rest is done: second: " in ended.message
    folder = two_jobs.path / "runs" / "all"
    statuses = {job["name"]: job["status"] for job in read_json(folder / "result.json")["jobs"]}
    assert statuses == {"first": "done", "second": "failed"}
    assert (folder / "jobs" / "first" / "result.json").is_file()


def test_a_resumed_suite_leaves_finished_jobs_as_they_are(two_jobs: Desk) -> None:
    spec = suite(two_jobs, '["first.toml", "second.toml"]')
    assert two_jobs.here("run", spec).code == 0
    first = two_jobs.path / "runs" / "all" / "jobs" / "first" / "result.json"
    before = first.stat().st_mtime_ns
    (two_jobs.path / "runs" / "all" / "jobs" / "second" / "result.json").unlink()
    assert two_jobs.here("run", spec, "--resume").code == 0
    assert first.stat().st_mtime_ns == before
    assert (two_jobs.path / "runs" / "all" / "jobs" / "second" / "result.json").is_file()


def test_a_suite_killed_while_tuning_is_resumed_to_the_same_table_without_repeating_a_trial(two_jobs: Desk) -> None:
    two_jobs.spec(kind="study", name="first", file="first.toml", folds={"outer": 2})
    two_jobs.spec(kind="study", name="second", file="second.toml", folds={"outer": 2}, data={"path": "u.parquet"})
    tuned = "[baselines.random_forest]\ntrials = 2\n[baselines.xgboost]\ntrials = 2\n"
    spec = suite(two_jobs, '["first.toml", "second.toml"]', tuned)
    run = [*command("run", spec), "--set", "cluster.kind=local"]
    subprocess.run([*run, "--output", "quiet"], cwd=two_jobs.path, env=surroundings(), check=True, capture_output=True)
    running = subprocess.Popen(
        run, cwd=two_jobs.path, env=surroundings(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    folder = two_jobs.path / "runs" / "all"
    deadline = time.monotonic() + 60
    while len(list(folder.glob("jobs/*/tasks/*-fold*.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    assert not (folder / "result.json").exists(), "the suite was over before it could be killed"
    noted = {file: read_json(file)["entries"] for file in folder.glob("jobs/*/tasks/*.json")}
    assert len(noted) >= 2
    ended = two_jobs.here("run", spec, "--resume")
    assert ended.code == 0, ended.err
    for file, entries in noted.items():
        # The seconds of a trial that ran again would differ.
        assert read_json(file)["entries"][: len(entries)] == entries
    for table in ("accuracies.md", "accuracies.csv", "formulas.md"):
        quiet = two_jobs.path / "quiet" / "all" / "tables" / table
        assert (folder / "tables" / table).read_text(encoding="utf-8") == quiet.read_text(encoding="utf-8")


def test_what_a_job_is_told_goes_before_the_suite_and_the_command_line_before_all(two_jobs: Desk) -> None:
    file = suite(
        two_jobs, '["first.toml", {spec = "second.toml", select = {max_ell = 2}}]', more="[select]\nmax_ell = 3"
    )
    ells = [job["select.max_ell"] for job in read_suite(file).jobs]
    assert ells == [3, 2]
    assert [job["select.max_ell"] for job in read_suite(file, {"select.max_ell": 1}).jobs] == [1, 1]


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ("[]", r"all\.toml:4: jobs must be a list of job specs"),
        ("[3]", r"all\.toml:4: jobs must be paths, or tables with a spec"),
        ('["first.toml", "first.toml"]', r"all\.toml:4: jobs of a suite must have different names, but 'first'"),
        ('["nowhere.toml"]', r"nowhere\.toml: expected a job spec in TOML"),
        ('[{spec = "first.toml", selct = 3}]', r"all\.toml:4: unknown key selct"),
    ],
)
def test_a_suite_that_cannot_be_read_says_why(two_jobs: Desk, jobs: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        read_suite(suite(two_jobs, jobs))


def test_a_suite_cannot_take_a_key_that_makes_no_sense_for_all_its_jobs(two_jobs: Desk) -> None:
    with pytest.raises(SpecError, match="unknown key data"):
        read_suite(suite(two_jobs, '["first.toml"]', more='data.path = "t.parquet"'))
