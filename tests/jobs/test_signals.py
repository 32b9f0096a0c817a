"""What a signal leaves of a run: an exit code that says so, and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from pathlib import Path

import numpy as np
import psutil
import pytest

from dnfscale.jobs import endings
from tests.jobs.running import (
    PATIENCE_S,
    Desk,
    command,
    keeping_signals,
    surprising,
    surroundings,
    tidy,
)

N_ROWS = 1_200_000
"""Enough that a phase takes longer than it takes a signal to arrive."""


@pytest.fixture(scope="module")
def big_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of several partitions."""
    folder = tmp_path_factory.mktemp("big")
    random = np.random.default_rng(3)
    columns = {f"x{i}": random.standard_normal(N_ROWS, dtype=np.float32) for i in range(6)}
    desk = Desk(folder, None)  # type: ignore[arg-type]
    return desk.table({**columns, "y": random.random(N_ROWS) < 0.5}, row_group_size=150_000)


class Job:
    """A run in a session of its own, stopped in the middle."""

    def __init__(self, desk: Desk, table: Path, *, kind: str) -> None:
        spec = desk.spec(kind="study", data={"path": str(table)}, cluster={"kind": kind})
        self.folder = desk.folder()
        self.scratch = desk.path / "scratch"
        self.scratch.mkdir()
        # A suite in the background ignores SIGINT, and what it starts would inherit that; the desk
        # gives it back.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.process = subprocess.Popen(
            command("run", spec, "--json"),
            cwd=desk.path,
            env=surroundings(TMPDIR=str(self.scratch)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.others: list[psutil.Process] = []

    def wait_for(self, phase: str) -> None:
        """Wait until a phase has begun, and look which processes there are."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if line.startswith("{") and json.loads(line).get("phase") == phase:
                self.others = psutil.Process(self.process.pid).children(recursive=True)
                return
        raise AssertionError(f"the run ended before {phase!r}")

    def end(self, number: signal.Signals, *, whole_group: bool) -> tuple[int, str, str]:
        """Send a signal, to the process or as a terminal does to all of its group."""
        (os.killpg if whole_group else os.kill)(self.process.pid, number)
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out, err


@pytest.mark.parametrize(
    ("number", "code", "whole_group"),
    [
        (signal.SIGTERM, 143, False),
        (signal.SIGTERM, 143, True),
        (signal.SIGINT, 130, False),
        (signal.SIGINT, 130, True),
    ],
    ids=["terminated", "group terminated", "interrupted", "interrupted at the terminal"],
)
def test_a_signal_ends_a_run_on_a_cluster_and_leaves_nothing_behind(
    desk, big_table, number, code, whole_group
):
    job = Job(desk, big_table, kind="local")
    job.wait_for("locate medians")
    assert len(job.others) >= 2, "there were no workers to leave behind"
    found, out, err = job.end(number, whole_group=whole_group)
    assert found == code
    assert out == ""
    assert psutil.wait_procs(job.others, timeout=PATIENCE_S)[1] == []
    assert surprising(job.folder) == []
    assert not {"result.json", "model.json"} & set(tidy(job.folder))
    assert not [path for path in job.scratch.rglob("worker-*") if path.is_dir()], (
        "what workers spilled is still there"
    )
    assert "Traceback" not in err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_a_serial_run(desk, big_table, number, code):
    job = Job(desk, big_table, kind="serial")
    job.wait_for("locate medians")
    found, out, err = job.end(number, whole_group=False)
    assert (found, out) == (code, "")
    assert surprising(job.folder) == []
    assert not {"result.json", "model.json"} & set(tidy(job.folder))
    assert "Traceback" not in err


def test_a_signal_while_the_cluster_starts_leaves_no_process(desk, big_table):
    job = Job(desk, big_table, kind="local")
    assert job.process.stderr is not None
    assert json.loads(job.process.stderr.readline())["event"] == "started"
    # The first child comes with the cluster; from then on there is something to leave behind.
    me = psutil.Process(job.process.pid)
    while not (others := me.children(recursive=True)):
        assert job.process.poll() is None
    found, _, err = job.end(signal.SIGTERM, whole_group=False)
    assert found == 143
    assert psutil.wait_procs(others, timeout=PATIENCE_S)[1] == []
    assert "Traceback" not in err


def test_an_interrupted_run_is_finished_by_running_it_again(desk, big_table):
    job = Job(desk, big_table, kind="serial")
    job.wait_for("locate medians")
    assert job.end(signal.SIGTERM, whole_group=False)[0] == 143
    ended = desk.here("run", "job.toml", "--resume", "--set", "kind=study")
    assert ended.code == 0
    assert desk.result()["data"]["rows"] == N_ROWS


def test_whoever_interrupts_a_run_is_told_at_once_what_is_kept_and_how_to_go_on(desk, big_table):
    job = Job(desk, big_table, kind="serial")
    job.wait_for("count types")
    code, _, err = job.end(signal.SIGINT, whole_group=True)
    assert code == 130
    lines = [line for line in err.splitlines() if not line.startswith("{")]
    assert lines[0].startswith("dnfscale: stopping; kept in runs/job: ")
    assert " finished step" in lines[0]
    # A terminal may break a long line where it cannot be copied, so the command has its own.
    assert lines[1] == f"dnfscale: to go on: dnfscale run {desk.path / 'job.toml'} --json"
    assert lines[-1] == "dnfscale: ended by SIGINT"


def test_a_word_that_cannot_be_said_does_not_keep_others_from_theirs():
    """The stream of a job that is ending by itself may be closed, and its folder gone."""
    heard = threading.Event()

    def fail() -> None:
        raise ValueError("I/O operation on closed file")

    with keeping_signals():
        endings.listen()
        for _ in range(2):
            with endings.telling(heard.set), endings.telling(fail):
                with pytest.raises(endings.Ended):
                    signal.raise_signal(signal.SIGTERM)
                assert heard.wait(PATIENCE_S)
            heard.clear()
        endings.listen()  # no later test is to be told of this signal


def test_a_signal_to_one_command_is_not_told_to_the_next_one_of_the_process():
    heard, begun, go_on = threading.Event(), threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        go_on.wait(PATIENCE_S)

    with keeping_signals():
        endings.listen()
        with endings.telling(wait):
            for _ in range(2):  # whoever tells of the first has not come to the second
                with pytest.raises(endings.Ended):
                    signal.raise_signal(signal.SIGTERM)
                assert begun.wait(PATIENCE_S)
        endings.listen()
        with endings.telling(heard.set):
            go_on.set()
            assert not heard.wait(0.1)
