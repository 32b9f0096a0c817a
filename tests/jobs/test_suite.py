"""Suites: several jobs as one plan."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from dnfscale.errors import ClusterError, SpecError
from dnfscale.jobs.runner import NOTHING_DONE, Job, Options
from dnfscale.spec.suite import SuiteSpec, read_suite
from dnfscale.submit.order import order_for, spec_in
from tests.jobs.running import (
    ROOT,
    Desk,
    command,
    essence,
    read_json,
    small_table,
    surroundings,
)


def suite(desk: Desk, jobs: str, more: str = "") -> Path:
    return desk.spec(
        (
            'schema_version = 1\nname = "all"\nkind = "suite"\njobs = '
            f'{jobs}\n{more}\n[cluster]\nkind = "serial"\n'
        ),
        file="all.toml",
    )


@pytest.fixture
def two_jobs(laid_desk: Desk) -> Desk:
    laid_desk.table(small_table(seed=8), name="u.parquet")
    few = {"kind": "study", "folds": {"outer": 3}}
    laid_desk.spec(**few, name="first", file="first.toml")
    laid_desk.spec(**few, name="second", file="second.toml", data={"path": "u.parquet"})
    return laid_desk


def test_each_job_of_a_suite_has_the_result_it_has_by_itself(two_jobs: Desk) -> None:
    ended = two_jobs.here("run", suite(two_jobs, '["first.toml", "second.toml"]'))
    assert ended.code == 0, ended.err
    assert re.search(r"^first +[0-9]", ended.out, flags=re.MULTILINE)
    assert re.search(r"^second +[0-9]", ended.out, flags=re.MULTILINE)
    folder = two_jobs.path / "runs" / "all"
    for name in ("first", "second"):
        assert two_jobs.here("run", f"{name}.toml").code == 0
        assert essence(folder / "jobs" / name / "result.json") == essence(
            two_jobs.folder(name) / "result.json"
        )
    result = read_json(folder / "result.json")
    assert result["schema"] == "dnfscale.suite/1"
    assert [(job["name"], job["status"], job["error"]) for job in result["jobs"]] == [
        ("first", "done", None),
        ("second", "done", None),
    ]
    assert (folder / "report.html").is_file()
    assert {file.suffix for file in (folder / "tables").iterdir()} == {".csv", ".md", ".tex"}


WATCHING_IMPORTS = """\
import sys, threading

def watch(event, details):
    thread = threading.current_thread()
    if event == "import" and thread.name in ("first", "second") and ".so" in str(details[1]):
        with open("loaded.txt", "a") as file:
            file.write(f"{thread.name}: {details[0]}\\n")

sys.addaudithook(watch)
"""
"""What a process does before it runs our code: it writes down which C modules the threads of jobs
load.
"""


def test_a_suite_on_a_cluster_has_the_results_of_a_serial_one(two_jobs: Desk) -> None:
    """And its jobs, which are threads of one process, do not load C modules side by side."""
    spec = suite(two_jobs, '["first.toml", "second.toml"]')
    assert two_jobs.here("run", spec).code == 0
    Path("sitecustomize.py").write_text(WATCHING_IMPORTS, encoding="utf-8")
    ended = two_jobs.apart(
        *("run", spec, "--set", "cluster.kind=local", "--output", "elsewhere"),
        PYTHONPATH=f"{two_jobs.path}{os.pathsep}{ROOT}",
    )
    assert ended.code == 0, ended.err
    assert not Path("loaded.txt").exists(), Path("loaded.txt").read_text(encoding="utf-8")
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


def test_a_job_without_some_of_its_folds_ends_the_suite_as_it_would_end_itself(
    two_jobs: Desk,
) -> None:
    tuned = {"trials": 2, "timeout_s": 0.000001}
    two_jobs.spec(
        kind="study",
        name="third",
        file="third.toml",
        methods=["ideal", "xgboost"],
        **{"baselines.xgboost": tuned},
    )
    assert two_jobs.here("run", "third.toml").code == 1
    ended = two_jobs.here("run", suite(two_jobs, '["first.toml", "third.toml"]'))
    assert ended.code == 1
    assert (
        "1 of 2 jobs miss some folds, the rest is done: third: 10 folds failed, the rest is done"
        in ended.message
    )
    folder = two_jobs.path / "runs" / "all"
    [first, third] = read_json(folder / "result.json")["jobs"]
    assert (first["status"], first["error"]) == ("done", None)
    assert third["status"] == "incomplete"
    assert "xgboost fold 0" in third["error"]
    assert "third" in (folder / "report.html").read_text(encoding="utf-8")
    assert (
        two_jobs.here("run", suite(two_jobs, '["first.toml", "third.toml"]'), "--resume").code == 1
    )


def test_the_resolved_spec_of_a_suite_is_the_same_suite_wherever_it_lies(two_jobs: Desk) -> None:
    jobs = '["first.toml", {spec = "second.toml", select = {max_ell = 2}}]'
    spec = suite(
        two_jobs,
        jobs,
        'profiles = ["paper", "best"]\nseeds = [0, 1]\n[formula]\nunseen = "dont_care"\n'
        "[select]\nvalidation_splits = 2\n",
    )
    assert two_jobs.here("run", spec, "--set", "select.tolerance=0.02").code == 0
    folder = two_jobs.path / "runs" / "all"
    ended = two_jobs.here("run", folder / "spec.toml", "--output", "again")
    assert ended.code == 0, ended.err
    names = [job["name"] for job in read_json(folder / "result.json")["jobs"]]
    assert len(names) == 8
    for name in names:
        job = Path("all") / "jobs" / name / "result.json"
        assert essence(two_jobs.path / "again" / job) == essence(two_jobs.path / "runs" / job)
    resolved = (folder / "spec.toml").read_text(encoding="utf-8")
    again = (two_jobs.path / "again" / "all" / "spec.toml").read_text(encoding="utf-8")
    assert again == resolved.replace('dir = "runs"', 'dir = "again"')


def test_a_reason_that_jobs_share_is_told_once(two_jobs: Desk) -> None:
    spec = suite(
        two_jobs, '["first.toml", "second.toml"]', 'profiles = ["paper", "best"]\nseeds = [0, 1]\n'
    )
    (two_jobs.path / "u.parquet").write_bytes(b"not Parquet")
    ended = two_jobs.here("run", spec)
    assert ended.code == 1
    assert "4 of 8 jobs failed, the rest is done: second-" in ended.message
    assert ended.message.count(" and 1 more: ") == ended.message.count("u.parquet") == 1
    recorded = read_json(two_jobs.path / "runs" / "all" / "result.json")["jobs"]
    assert ["u.parquet" in (job["error"] or "") for job in recorded] == [False] * 4 + [True] * 4


def test_jobs_that_a_lost_cluster_left_undone_are_not_done(
    two_jobs: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*_: object, **__: object) -> None:
        raise ClusterError("the scheduler is gone")

    monkeypatch.setattr(Job, "run", lose)
    ended = two_jobs.here("run", suite(two_jobs, '["first.toml", "second.toml"]'))
    assert (ended.code, ended.message) == (4, "dnfscale: the scheduler is gone")
    recorded = read_json(two_jobs.path / "runs" / "all" / "result.json")["jobs"]
    assert [job["status"] for job in recorded] == ["failed", "failed"]


def test_a_resumed_suite_leaves_finished_jobs_as_they_are(two_jobs: Desk) -> None:
    spec = suite(two_jobs, '["first.toml", "second.toml"]')
    assert two_jobs.here("run", spec).code == 0
    first = two_jobs.path / "runs" / "all" / "jobs" / "first" / "result.json"
    before = first.stat().st_mtime_ns
    (two_jobs.path / "runs" / "all" / "jobs" / "second" / "result.json").unlink()
    assert two_jobs.here("run", spec, "--resume").code == 0
    assert first.stat().st_mtime_ns == before
    assert (two_jobs.path / "runs" / "all" / "jobs" / "second" / "result.json").is_file()


def test_a_finished_suite_that_is_run_again_keeps_its_result_to_the_byte(two_jobs: Desk) -> None:
    spec = suite(two_jobs, '["first.toml", "second.toml"]')
    assert two_jobs.here("run", spec).code == 0
    result = two_jobs.path / "runs" / "all" / "result.json"
    before = result.read_bytes()
    again = two_jobs.here("run", spec)
    assert (again.code, result.read_bytes()) == (0, before)
    assert again.out.splitlines()[-1] == NOTHING_DONE
    result.write_text("{}")
    assert two_jobs.here("run", spec).code == 0
    assert json.loads(result.read_bytes())["jobs"] == json.loads(before)["jobs"]


def test_a_suite_killed_while_tuning_is_resumed_to_the_same_table_without_repeating_a_trial(
    two_jobs: Desk,
) -> None:
    two_jobs.spec(kind="study", name="first", file="first.toml", folds={"outer": 2})
    two_jobs.spec(
        kind="study",
        name="second",
        file="second.toml",
        folds={"outer": 2},
        data={"path": "u.parquet"},
    )
    tuned = "[baselines.random_forest]\ntrials = 2\n[baselines.xgboost]\ntrials = 2\n"
    spec = suite(two_jobs, '["first.toml", "second.toml"]', tuned)
    run = [*command("run", spec), "--set", "cluster.kind=local"]
    subprocess.run(
        [*run, "--output", "quiet"],
        cwd=two_jobs.path,
        env=surroundings(),
        check=True,
        capture_output=True,
    )
    running = subprocess.Popen(
        run,
        cwd=two_jobs.path,
        env=surroundings(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
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
        assert (folder / "tables" / table).read_text(encoding="utf-8") == quiet.read_text(
            encoding="utf-8"
        )


def test_what_a_job_is_told_goes_before_the_suite_and_the_command_line_before_all(
    two_jobs: Desk,
) -> None:
    file = suite(
        two_jobs,
        '["first.toml", {spec = "second.toml", select = {max_ell = 2}}]',
        more="[select]\nmax_ell = 3",
    )
    ells = [job.values["select.max_ell"] for job in read_suite(file).jobs]
    assert ells == [3, 2]
    assert [
        job.values["select.max_ell"] for job in read_suite(file, {"select.max_ell": 1}).jobs
    ] == [1, 1]


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ("[]", r"all\.toml:4: jobs must be a list of job specs"),
        ("[3]", r"all\.toml:4: jobs must be paths, or tables with a spec"),
        (
            '["first.toml", "first.toml"]',
            r"all\.toml:4: jobs of a suite must have different names, but 'first'",
        ),
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


CROSSED = 'profiles = ["paper", "best"]\nseeds = [0, 1]\n'


def test_a_suite_crosses_its_jobs_with_profiles_and_seeds(two_jobs: Desk) -> None:
    file = suite(
        two_jobs,
        '["first.toml", {spec = "second.toml", seed = 7, baselines.xgboost.trials = 3}]',
        CROSSED + "[baselines.xgboost]\ntrials = 2\n[baselines.decision_tree]\nmax_leaves = 4\n",
    )
    jobs = {job.name: job for job in read_suite(file).jobs}
    assert list(jobs) == [
        *("first-paper-0", "first-paper-1", "first-best-0", "first-best-1"),
        *("second-paper", "second-best"),
    ]
    assert [job.values["seed"] for job in jobs.values()] == [0, 1, 0, 1, 7, 7]
    # What knows nothing of profiles runs once for each dataset and seed.
    assert jobs["first-paper-1"].methods == ("ideal", "one_rule", "majority")
    assert jobs["first-best-1"].methods == (
        "ideal",
        "one_rule",
        "majority",
        "xgboost",
        "decision_tree",
    )
    assert jobs["first-best-1"].competitors["xgboost"].trials == 2
    assert jobs["second-best"].competitors["xgboost"].trials == 3
    assert read_suite(file, {"seeds": [4], "profiles": ["best"]}).jobs[0].name == "first-best-4"


def test_a_table_without_keys_asks_for_its_baseline_in_all_jobs_that_do_not_list_others(
    two_jobs: Desk,
) -> None:
    file = suite(
        two_jobs,
        '["first.toml", {spec = "second.toml", methods = ["ideal", "ripper"]}]',
        "[baselines.random_forest]\n[baselines.decision_tree]\n[baselines.ripper]\n[baselines.formula_size]\n",
    )
    first, second = read_suite(file).jobs
    asked = {"random_forest", "decision_tree", "ripper", "formula_size"}
    assert set(first.methods) == {"ideal", "majority", "one_rule", *asked}
    assert first.competitors["random_forest"].trials == 100
    assert second.methods == ("ideal", "ripper")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("seeds = []", r"all\.toml:5: seeds must be a list of different values, got \[\]"),
        ("seeds = [1, 1]", r"seeds must be a list of different values"),
        (
            "seeds = [-1]",
            r"seeds must be a list of which each is a whole number of at least 0, got \[-1\]",
        ),
        (
            'profiles = ["worst"]',
            r"profiles must be a list of which each is one of 'paper', 'best'",
        ),
        (
            "seed = 3\nseeds = [1]",
            r"all\.toml:6: seeds lists what seed would be for all jobs, but both are given",
        ),
    ],
)
def test_what_cannot_be_crossed_is_told(two_jobs: Desk, more: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        read_suite(suite(two_jobs, '["first.toml"]', more))


def test_a_crossed_suite_ends_with_its_runs_averaged_by_dataset_and_profile(two_jobs: Desk) -> None:
    more = CROSSED + (
        "[select]\nmax_ell = 3\n[baselines.xgboost]\ntrials = "
        "1\n[baselines.decision_tree]\nmax_leaves = 4\n"
    )
    for name, table in (("first", "t"), ("second", "u")):
        two_jobs.spec(
            kind="study",
            name=name,
            file=f"{name}.toml",
            folds={"outer": 2},
            data={"path": f"{table}.parquet"},
        )
    spec = suite(two_jobs, '["first.toml", "second.toml"]', more)
    ended = two_jobs.here("run", spec)
    assert ended.code == 0, ended.err
    folder = two_jobs.path / "runs" / "all"
    told = {(job["profile"], job["seed"]) for job in read_json(folder / "result.json")["jobs"]}
    assert told == {("paper", 0), ("paper", 1), ("best", 0), ("best", 1)}
    with (folder / "tables" / "profiles.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["Dataset"] for row in rows] == ["t", "u", "mean of 2"]

    def accuracy(job: str, method: str) -> float:
        return (
            100
            * read_json(folder / "jobs" / job / "result.json")["methods"][method]["accuracy_mean"]
        )

    for row, name in zip(rows, ("first", "second"), strict=False):
        for profile in ("paper", "best"):
            own = [accuracy(f"{name}-{profile}-{seed}", "ideal") for seed in (0, 1)]
            assert float(row[f"{profile}, accuracy"]) == pytest.approx(sum(own) / 2)
        boosted = [accuracy(f"{name}-best-{seed}", "xgboost") for seed in (0, 1)]
        assert float(row["XGBoost, accuracy"]) == pytest.approx(sum(boosted) / 2)
        assert {
            "best, accuracy deviation",
            "best, conditions",
            "best, s",
            "Decision tree, conditions",
        } <= set(row)
    with (folder / "tables" / "profile_differences.csv").open(encoding="utf-8") as lines:
        compared = {(row["Profile"], row["Compared with"]): row for row in csv.DictReader(lines)}
    gains = [float(row["best, accuracy"]) - float(row["paper, accuracy"]) for row in rows[:2]]
    row = compared["best", "profile paper"]
    assert float(row["Mean difference"]) == pytest.approx(sum(gains) / 2)
    assert int(row["At least as accurate"]) == sum(gain >= 0 for gain in gains)
    assert int(row["Within one point"]) == sum(gain >= -1 for gain in gains)
    assert ("best", "XGBoost") in compared
    assert re.search(r"^mean of 2 ", ended.out, flags=re.MULTILINE)
    assert "Profiles side by side" in (folder / "report.html").read_text(encoding="utf-8")
    # A resumed suite repeats no job; that of another crossing leaves the jobs that it does not have
    # alone.
    before = {file: file.stat().st_mtime_ns for file in folder.glob("jobs/*/result.json")}
    assert len(before) == 8
    assert two_jobs.here("run", spec, "--resume").code == 0
    assert {file: file.stat().st_mtime_ns for file in folder.glob("jobs/*/result.json")} == before


def test_a_submitted_suite_is_crossed_once(two_jobs: Desk) -> None:
    crossed = read_suite(suite(two_jobs, '["first.toml", "second.toml"]', CROSSED))
    arrived = spec_in(
        json.loads(json.dumps(order_for(crossed, Options()))), {"cluster.kind": "serial"}
    )
    assert isinstance(arrived, SuiteSpec)
    assert [(job.name, job.values["seed"], job.values["profile"]) for job in arrived.jobs] == [
        (job.name, job.values["seed"], job.values["profile"]) for job in crossed.jobs
    ]
