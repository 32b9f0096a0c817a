"""Nothing that was finished is lost: runs that are killed, resumed, refused, and taken over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dnfscale.data import identity
from dnfscale.errors import DataError
from dnfscale.jobs import runner
from tests.jobs.running import PATIENCE_S, Desk, essence, small_table, surprising, surroundings
from tests.twins import PLAIN, put_copy, put_twin

SCANS = [
    "locate medians",
    "collect medians",
    "associate attributes",
    "count types",
    "count chosen types",
    "minimize formulas",
]
"""What a study without missing values does, besides reading its rows."""


def die(desk: Desk, moment: str, *arguments: str) -> None:
    """Run a command until a moment, at which it is killed."""
    ended = subprocess.run(
        [sys.executable, "-m", "tests.jobs.dying", moment, *arguments],
        cwd=desk.path,
        env=surroundings(),
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def events(folder: Path) -> list[dict[str, object]]:
    return [
        json.loads(line)
        for line in (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def recalled(folder: Path) -> list[object]:
    return [event["phase"] for event in events(folder) if event["event"] == "recalled"]


def done(folder: Path) -> list[object]:
    """The phases that were carried out."""
    return list(
        dict.fromkeys(event["phase"] for event in events(folder) if event["event"] == "phase")
    )


@pytest.fixture
def quiet(laid_desk: Desk) -> tuple[str, bytes]:
    """The result of a study that nothing befell, and its model."""
    assert laid_desk.run(kind="study", name="quiet").code == 0
    (laid_desk.path / "job.toml").unlink()
    return same_name(essence(laid_desk.folder("quiet") / "result.json")), model_of(
        laid_desk.folder("quiet")
    )


def same_name(result: str) -> str:
    return result.replace('"name": "quiet"', '"name": "job"')


def model_of(folder: Path) -> bytes:
    return (folder / "model.json").read_bytes().replace(b'"name": "quiet"', b'"name": "job"')


def test_a_study_killed_in_every_phase_ends_as_one_that_was_not(laid_desk, quiet):
    laid_desk.spec(kind="study")
    for number, phase in enumerate(["read rows", *SCANS]):
        die(laid_desk, f"start {phase}", "run", "job.toml", "--resume")
        assert recalled(laid_desk.folder()) == SCANS[: max(0, number - 2)]
    die(laid_desk, "report", "run", "job.toml", "--resume")
    assert (laid_desk.folder() / "result.json").is_file()
    ended = laid_desk.here("run", "job.toml", "--resume")
    assert ended.code == 0
    assert done(laid_desk.folder()) == []
    assert essence(laid_desk.folder() / "result.json") == quiet[0]
    assert model_of(laid_desk.folder()) == quiet[1]
    assert surprising(laid_desk.folder()) == []
    assert not list(laid_desk.folder().glob("tasks/*.bin")), "what is needed no more is still there"


def test_searches_of_formulas_killed_at_work_end_as_ones_that_were_not(laid_desk):
    short = {"kind": "study", "profile": "best", "select": {"validation_splits": 1}}
    short["folds"] = {"outer": 2}
    assert laid_desk.run(**short, name="quiet").code == 0
    laid_desk.spec(**short)
    for phase in ("shorten types", "count formulas"):
        die(laid_desk, f"start {phase}", "run", "job.toml")
    assert laid_desk.here("run", "job.toml").code == 0
    assert "search terms" in recalled(laid_desk.folder())
    result = essence(laid_desk.folder("quiet") / "result.json")
    assert essence(laid_desk.folder() / "result.json") == same_name(result)


def test_rows_are_read_again_only_where_a_scan_needs_them(laid_desk, quiet):
    laid_desk.spec(kind="study")
    die(laid_desk, "end count types", "run", "job.toml")
    ended = laid_desk.here("run", "job.toml", "--resume")
    assert ended.code == 0
    assert [line[2:13] for line in ended.err.splitlines() if line.endswith(" done before")] == [
        "step 2 of 9",
        "step 3 of 9",
        "step 4 of 9",
    ]
    assert "goes on with an earlier run; kept: 3 finished steps" in ended.err
    assert recalled(laid_desk.folder()) == SCANS[:3]
    assert done(laid_desk.folder()) == ["read rows", "compare counts", *SCANS[3:]]
    assert essence(laid_desk.folder() / "result.json") == quiet[0]


def test_a_run_killed_on_a_cluster_goes_on_without_one(laid_desk, quiet):
    laid_desk.spec(kind="study", cluster={"kind": "local"})
    die(laid_desk, "start count types", "run", "job.toml")
    laid_desk.spec(kind="study")
    assert laid_desk.here("run", "job.toml", "--resume").code == 0
    assert recalled(laid_desk.folder()) == SCANS[:3]
    assert essence(laid_desk.folder() / "result.json") == quiet[0]


KINDS = {
    "a fit": ({"kind": "fit"}, "count types"),
    "all classes": (
        {"kind": "study", "data": {"target": "s", "classes": "all"}},
        "count chosen types",
    ),
    "rows that drop": ({"kind": "study", "data": {"path": "gaps.parquet"}}, "count types"),
    "baselines": (
        {"kind": "study", "folds": {"outer": 2}, "baselines.random_forest": {"trials": 2}},
        "tune baselines",
    ),
    "formulas by size": (
        {"kind": "study", "folds": {"outer": 2}, "baselines.formula_size": {"max_size": 3}},
        "search formulas by size",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_job_writes_down_all_its_scans(laid_desk, kind):
    tables, phase = KINDS[kind]
    if "baselines.formula_size" in tables:
        pytest.importorskip("numba", reason="the formula-size method needs numba")
    gaps = small_table()
    laid_desk.table(
        {**gaps, "n": [None if i % 7 == 0 else int(n) for i, n in enumerate(gaps["n"])]},
        "gaps.parquet",
    )
    assert laid_desk.run(**{**tables, "name": "quiet"}).code == 0
    expected = [phase for phase in done(laid_desk.folder("quiet")) if phase not in UNWRITTEN]
    laid_desk.spec(**tables)
    die(laid_desk, f"start {phase}", "run", "job.toml")
    assert laid_desk.here("run", "job.toml", "--resume").code == 0
    folder = laid_desk.folder()
    assert same_name(essence(laid_desk.folder("quiet") / "result.json")) == essence(
        folder / "result.json"
    )
    if phase in UNWRITTEN:
        # All scans were finished, so none is carried out; and what the formula is, was noted as a
        # whole.
        assert set(done(folder)) == {phase}
        assert set(recalled(folder)) <= set(expected)
    else:
        before = expected[: expected.index(phase)]
        assert recalled(folder) == before
        assert [p for p in done(folder) if p not in UNWRITTEN] == [
            "compare counts",
            *expected[expected.index(phase) :],
        ]


UNWRITTEN = ("read rows", "tune baselines", "search formulas by size")
"""Rows stay where they are; chains of tasks have notes of their own."""


def test_a_suite_goes_on_with_the_job_that_was_killed(laid_desk):
    for name in ("one", "two"):
        laid_desk.spec(kind="study", name=name, file=f"{name}.toml")
    suite = 'schema_version = 1\nkind = "suite"\nname = "both"\njobs = ["one.toml", "two.toml"]\n'
    suite += '[cluster]\nkind = "serial"\n'
    laid_desk.spec(suite, file="both.toml")
    die(laid_desk, "start count types", "run", "both.toml")
    assert laid_desk.here("run", "both.toml", "--resume").code == 0
    folder = laid_desk.folder("both")
    assert recalled(folder / "jobs" / "one") == SCANS[:3]
    texts = [essence(folder / "jobs" / name / "result.json") for name in ("one", "two")]
    assert texts[0].replace('"name": "one"', '"name": "two"') == texts[1]


def test_damaged_records_are_made_again(laid_desk, quiet):
    laid_desk.spec(kind="study")
    die(laid_desk, "start minimize formulas", "run", "job.toml")
    file = laid_desk.folder() / "tasks" / "associate-attributes-0.bin"
    content = bytearray(file.read_bytes())
    content[-3] ^= 1
    file.write_bytes(content)
    assert laid_desk.here("run", "job.toml", "--resume").code == 0
    assert recalled(laid_desk.folder()) == SCANS[:2]
    assert essence(laid_desk.folder() / "result.json") == quiet[0]


def test_a_finished_run_is_left_as_it_is(laid_desk):
    laid_desk.run(kind="study")
    before = {file: file.stat().st_mtime_ns for file in laid_desk.folder().rglob("*")}
    ended = laid_desk.here("run", "job.toml", "--resume")
    assert (ended.code, ended.err) == (0, "")
    assert {file: file.stat().st_mtime_ns for file in laid_desk.folder().rglob("*")} == before


def test_the_result_of_an_earlier_run_does_not_pass_for_that_of_one_that_was_killed(desk):
    desk.table(small_table(), compression="none", use_dictionary=False)
    desk.run(kind="study")
    rewrite(desk)
    die(desk, "report", "run", "job.toml")
    assert desk.here("run", "job.toml", "--resume").code == 0
    assert desk.run(kind="study", name="anew").code == 0
    anew = essence(desk.folder("anew") / "result.json").replace('"name": "anew"', '"name": "job"')
    assert essence(desk.folder() / "result.json") == anew
    assert (desk.folder() / "tasks" / "finished.json").is_file()


def rewrite(desk: Desk) -> None:
    """Write the table anew, with as many bytes and the old time."""
    file = desk.path / "t.parquet"
    before = file.stat()
    table = small_table()
    desk.table({**table, "x": -table["x"]}, compression="none", use_dictionary=False)
    assert file.stat().st_size == before.st_size
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_data_that_changed_since_is_refused_unless_by_force(desk):
    desk.table(small_table(), compression="none", use_dictionary=False)
    desk.spec(kind="study")
    die(desk, "start count types", "run", "job.toml")
    rewrite(desk)
    ended = desk.here("run", "job.toml", "--resume")
    assert ended.code == 3
    assert ended.message.startswith("dnfscale: ")
    assert "job.toml:" in ended.message
    assert (
        "t.parquet: expected the data that the run in runs/job began with, but this file "
        "has changed since"
    ) in (ended.message)
    assert "run with --force" in ended.message
    assert list(desk.folder().glob("tasks/*.bin")), "refused, but the work is gone"
    assert desk.here("run", "job.toml", "--resume", "--force").code == 0
    assert recalled(desk.folder()) == []
    assert desk.run(kind="study", name="anew").code == 0
    result = essence(desk.folder("anew") / "result.json").replace('"name": "anew"', '"name": "job"')
    assert essence(desk.folder() / "result.json") == result


def test_another_spec_is_refused_unless_by_force(laid_desk):
    laid_desk.spec(kind="study")
    die(laid_desk, "start count types", "run", "job.toml")
    ended = laid_desk.here("run", "job.toml", "--resume", "--set", "seed=3")
    assert ended.code == 2
    assert "holds one of another" in ended.message
    assert laid_desk.here("run", "job.toml", "--resume", "--set", "seed=3", "--force").code == 0
    assert recalled(laid_desk.folder()) == []


def test_work_of_another_version_is_refused_unless_by_force(laid_desk, monkeypatch):
    laid_desk.spec(kind="study")
    die(laid_desk, "start count types", "run", "job.toml")
    monkeypatch.setattr(runner, "code_version", lambda: "9.9.9+0")
    ended = laid_desk.here("run", "job.toml", "--resume")
    assert ended.code == 2
    assert "but this is 9.9.9+0; run with --force" in ended.message
    assert laid_desk.here("run", "job.toml", "--resume", "--force").code == 0


def test_a_second_runner_is_refused_and_a_dead_one_is_followed(laid_desk):
    laid_desk.spec(kind="study")
    first = subprocess.Popen(
        [sys.executable, "-m", "tests.jobs.dying", "wait start count types", "run", "job.toml"],
        cwd=laid_desk.path,
        env=surroundings(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == "waiting\n"
        for options in ([], ["--resume"], ["--force"]):
            ended = laid_desk.here("run", "job.toml", *options)
            assert ended.code == 2
            assert f"expected runs/job to be free, but process {first.pid} on " in ended.message
        assert events(laid_desk.folder())[0]["event"] == "started", "the first run was disturbed"
    finally:
        first.kill()
        first.communicate()
    assert (laid_desk.folder() / "lock.json").is_file()
    assert laid_desk.here("run", "job.toml", "--resume").code == 0
    assert recalled(laid_desk.folder()) == SCANS[:3]
    assert surprising(laid_desk.folder()) == []


def twin_table() -> dict[str, object]:
    """Another table of as many bytes, all of whose counts are others."""
    table = small_table()
    return {**table, "x": -table["x"], "y": ~table["y"]}


MOMENTS = {
    "the rows are read again": "start count types",
    "the formula is being minimized": "start minimize formulas",
    "only baselines are left": "start tune baselines",
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_file_replaced_by_its_twin_is_refused_by_name_when_a_run_is_resumed(desk, moment):
    file = desk.table(small_table(), **PLAIN)
    desk.spec(kind="study", **{"baselines.random_forest": {"trials": 1}, "folds": {"outer": 2}})
    die(desk, MOMENTS[moment], "run", "job.toml")
    before = file.read_bytes()
    put_twin(file, twin_table())
    ended = desk.here("run", "job.toml", "--resume")
    assert ended.code == 3
    assert (
        "t.parquet: expected the data that the run in runs/job began with, but this file "
        "has changed since; put"
    ) in (ended.message)
    assert "run with --force, or without --resume, to start anew" in ended.message
    assert not (desk.folder() / "result.json").exists()
    file.write_bytes(before)
    assert desk.here("run", "job.toml", "--resume").code == 0
    assert recalled(desk.folder()) or moment == "only baselines are left"


def test_a_csv_replaced_by_its_twin_is_told_by_its_own_name_and_begun_anew(desk):
    file = desk.path / "t.csv"

    def write(flip: int) -> None:
        rows = (f"{number % 90 + 10},{(number // 7 + flip) % 2}\n" for number in range(240))
        file.write_text("x,y\n" + "".join(rows), encoding="utf-8")
        os.utime(file, ns=(0, 0))

    write(0)
    desk.spec(data={"path": "t.csv"})
    die(desk, "start minimize formulas", "run", "job.toml")
    write(1)
    refused = desk.here("run", "job.toml", "--resume")
    assert refused.code == 3
    assert "t.csv: expected the data that the run in runs/job began with, but this has changed" in (
        refused.message
    )
    assert ".tables" not in refused.message
    anew = desk.here("run", "job.toml")
    assert anew.code == 0, anew.err
    assert "starts anew, as the data is not that of the earlier run" in anew.err
    assert recalled(desk.folder()) == []


@pytest.mark.parametrize("time_ns", [None, 0], ids=["with its time", "with another time"])
def test_a_copy_of_the_data_is_as_good_as_the_data_when_a_run_is_resumed(laid_desk, quiet, time_ns):
    laid_desk.spec(kind="study")
    die(laid_desk, "start count types", "run", "job.toml")
    file = laid_desk.path / "t.parquet"
    put_copy(file)
    if time_ns is not None:
        os.utime(file, ns=(time_ns, time_ns))
    assert laid_desk.here("run", "job.toml", "--resume").code == 0
    assert recalled(laid_desk.folder()) == SCANS[:3]
    assert essence(laid_desk.folder() / "result.json") == quiet[0]


@pytest.mark.parametrize(
    ("phase", "said"),
    [
        (
            "count types",
            (
                "but they do not give the counts that are stored; restore the data, or run "
                "with --force"
            ),
        ),
        ("tune baselines", "rows of the classes as were counted before, got"),
    ],
)
def test_rows_that_are_read_again_must_give_the_counts_of_before(desk, monkeypatch, phase, said):
    # The sample sees the beginning of the first column only, in which the twin is no other.
    for bound in ("_MOST_PLACES", "_FEWEST_PLACES"):
        monkeypatch.setattr(identity, bound, 1)
    table = {"first": np.zeros(9_000), **small_table(9_000)}
    file = desk.table(table, **PLAIN)
    desk.spec(kind="study", **{"baselines.random_forest": {"trials": 1}, "folds": {"outer": 2}})
    with monkeypatch.context() as patch:
        watch = runner.Job.watch

        def interrupted(self, progress):
            if progress.phase == phase:
                raise DataError("interrupted")
            watch(self, progress)

        patch.setattr(runner.Job, "watch", interrupted)
        assert "interrupted" in desk.here("run", "job.toml").message
    put_twin(file, {**table, "x": -table["x"], "y": ~table["y"]})
    ended = desk.here("run", "job.toml", "--resume")
    assert ended.code == 3
    assert said in ended.message
    assert not (desk.folder() / "result.json").exists()


CHANGES = {
    "replaced by its twin": (
        lambda file: put_twin(file, twin_table(), row_group_size=40),
        "another of the same size, time and footer, but with other values",
    ),
    "deleted": (lambda file: file.unlink(), "it is gone"),
    "truncated": (lambda file: os.truncate(file, file.stat().st_size // 2), "written since"),
    "rewritten": (lambda file: file.write_bytes(file.read_bytes()), "written since"),
    "joined by another": (
        lambda file: (file.parent / "b.parquet").write_bytes(file.read_bytes()),
        "has come or gone",
    ),
}


@pytest.mark.parametrize("phase", ["read rows", "associate attributes", "count chosen types"])
@pytest.mark.parametrize("change", CHANGES)
def test_files_that_change_between_scans_end_the_run(desk, monkeypatch, change, phase):
    alter, said = CHANGES[change]
    file = desk.table(small_table(), "data/a.parquet", row_group_size=40, **PLAIN)
    os.utime(file, ns=(0, time.time_ns() - 10**9))
    watch = runner.Job.watch
    begun = []

    def altering(self, progress):
        watch(self, progress)
        if progress.phase == phase and progress.done == 0 and not begun:
            begun.append(phase)
            alter(file)

    monkeypatch.setattr(runner.Job, "watch", altering)
    ended = desk.run(kind="study", data={"path": "data"})
    assert ended.code == 3
    assert said in ended.message
    assert "run again on data that does not change meanwhile" in ended.message
    assert not (desk.folder() / "result.json").exists()
    assert surprising(desk.folder()) == []
    assert not (desk.folder() / "tasks" / "ideal.json").exists()


def test_a_file_replaced_by_its_copy_between_scans_is_the_same_file(laid_desk, quiet, monkeypatch):
    watch = runner.Job.watch

    def copying(self, progress):
        watch(self, progress)
        if progress.done == 0:
            put_copy(laid_desk.path / "t.parquet")

    monkeypatch.setattr(runner.Job, "watch", copying)
    assert laid_desk.run(kind="study").code == 0
    assert essence(laid_desk.folder() / "result.json") == quiet[0]


@pytest.mark.slow
def test_the_formula_its_model_and_a_page_are_there_before_other_methods_are_tuned(laid_desk):
    laid_desk.spec(kind="study", folds={"outer": 2}, **{"baselines.xgboost": {"trials": 1}})
    die(laid_desk, "start tune baselines", "run", "job.toml")
    folder = laid_desk.folder()
    model = (folder / "model.json").read_bytes()
    said = "This run has not finished: the formula is there, still to come: XGBoost."
    assert said in (folder / "report.html").read_text("utf-8")
    (folder / "report.html").unlink()
    assert laid_desk.here("report", folder).code == 0
    assert said in (folder / "report.html").read_text("utf-8")
    assert not (folder / "result.json").exists()
    ended = laid_desk.here("run", "job.toml")
    assert ended.code == 0
    assert "goes on with an earlier run; kept: the formula" in ended.err
    assert (folder / "model.json").read_bytes() == model
    assert said not in (folder / "report.html").read_text("utf-8")
    assert surprising(folder) == []


@pytest.mark.slow
def test_a_first_page_does_not_take_the_place_of_that_of_a_finished_run(laid_desk):
    laid_desk.spec(kind="study", folds={"outer": 2}, **{"baselines.xgboost": {"trials": 1}})
    assert laid_desk.here("run", "job.toml").code == 0
    page = (laid_desk.folder() / "report.html").read_bytes()
    die(laid_desk, "start tune baselines", "run", "job.toml", "--force")
    assert (laid_desk.folder() / "report.html").read_bytes() == page
