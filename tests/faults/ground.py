"""Where faults happen: a cluster of real processes on loopback, two small studies, and what came of
each in peace.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from dnfscale.engine.dask.client import connected, workers_of
from dnfscale.engine.dask.settings import ALLOWED_FAILURES
from dnfscale.jobs.cli import main
from tests.deploy.processes import Processes, start_scheduler, start_worker
from tests.faults.acting import PLAN, mark_of
from tests.faults.leftovers import spilled, stray_files, stray_processes
from tests.jobs.running import (
    ROOT,
    Ended,
    command,
    essence,
    keeping_signals,
    small_table,
    spec_text,
    surroundings,
    tidy,
)

PATIENCE_S = 600
"""How long a run under a fault may take before it counts as hanging: seconds, but for a machine
that is crowded.
"""
PARTITION_ROWS = 1 << 16
N_FILES = 3
N_WIDE = 12
N_TEXTS = 6
PARTITIONS = 2 * N_FILES
SEED = 282
"""With this one, Optuna draws small forests: 42, 37 and 88 trees in the first fold."""
FIRST_TREES = 42
JOINT_SEED = 192
"""With this one, Optuna draws few trees of XGBoost."""

STUDIES: dict[str, dict[str, Any]] = {
    "formula": {"data": {"path": "table"}, "folds": {"outer": 3}},
    "tuned": {
        "data": {"path": "small.parquet"},
        "folds": {"outer": 2},
        "seed": SEED,
        "baselines.random_forest": {"trials": 2},
    },
    "joint": {
        "data": {"path": "table"},
        "folds": {"outer": 2},
        "seed": JOINT_SEED,
        "baselines.xgboost": {"trials": 1, "where": "cluster"},
    },
    "best": {"data": {"path": "table"}, "folds": {"outer": 2}, "profile": "best"},
    "wide": {"data": {"path": "wide"}, "folds": {"outer": 2}},
    "mixed": {
        "data": {"path": "small.parquet"},
        "profile": "best",
        "folds": {"outer": 2, "group": "n"},
        "baselines.decision_tree": {"max_leaves": 4},
    },
    "brief": {"data": {"path": "small.parquet"}, "folds": {"outer": 2}},
    "texts": {"data": {"path": "texts/*.csv"}, "folds": {"outer": 2}},
    "related": {
        "data": {"path": "people", "key": "id"},
        "[data.related]": {"name": "visits", "path": "visits", "key": "person"},
        "relations": {"max_concepts": 40},
        "folds": {"outer": 2},
    },
}
"""A study of several partitions without baselines, one of few rows with a tuned forest, one with
trees that all workers fit together, one of the profile "best", one of many columns, one of the
profile "best" with groups and a baseline, a brief one, one of CSV files, and one of related tables.
"""
SMALL = ("formula", "tuned")
SOAKED = (*SMALL, "mixed")
"""Small studies; the last tries attributes and terms, lines and checklists."""


class FaultError(Exception):
    """A job did not survive a fault as it should."""


def demand(holds: object, otherwise: str) -> None:
    """Raise FaultError unless something holds."""
    if not holds:
        raise FaultError(otherwise)


class Ground:
    """A folder with data, a scheduler and two workers; faults are done to one job after
    the other.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plan = folder / "acts" / "plan.json"
        self.scratch = folder / "scratch"
        self.processes = Processes(folder)
        self.address = ""
        self._workers: list[str] = []
        self._n_workers = self._n_runs = 0
        self._quiet: dict[str, str] = {}
        for made in (self.plan.parent, self.scratch):
            made.mkdir(parents=True)
        _write_data(folder)

    # The cluster.

    @property
    def environment(self) -> dict[str, str]:
        """What every process of a fault is started with."""
        return {
            PLAN: str(self.plan),
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent / "hook"), str(ROOT)]),
            "TMPDIR": str(self.scratch),
            "DASK_TEMPORARY_DIRECTORY": str(self.scratch),
            # As clusters of our own have it.
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(ALLOWED_FAILURES),
            # A worker that is started again begins with its libraries loaded, which saves most of a
            # kill's cost.
            "DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "forkserver",
        }

    def start_cluster(self, n_workers: int = 2) -> None:
        """Start a scheduler and workers, unless they are there, and wait for those that are new."""
        if not self.address:
            (self.folder / "scheduler.json").unlink(missing_ok=True)
            self.address = start_scheduler(self.processes, None, **self.environment)
        if len(self._workers) >= n_workers:
            return
        while len(self._workers) < n_workers:
            self.add_worker()
        with connected(self.address, None) as client:
            self.processes.wait_for(
                lambda: len(workers_of(client)) >= n_workers, f"the start of {n_workers} workers"
            )

    def add_worker(self, **environment: str) -> None:
        self._n_workers += 1
        name = f"worker{self._n_workers}"
        start_worker(
            self.processes, self.address, None, name=name, **{**self.environment, **environment}
        )
        self._workers.append(name)

    def end_workers(self, number: int = signal.SIGTERM) -> None:
        """End all workers and their nannies."""
        while self._workers:
            self.processes.end(self._workers.pop(), number)

    def end_cluster(self, number: int = signal.SIGTERM) -> None:
        self.end_workers(number)
        if self.address:
            self.processes.end("scheduler", number)
            self.address = ""

    def close(self) -> None:
        """End the cluster; nothing of it may be left: no process, no port, nothing spilled."""
        host, _, port = self.address.removeprefix("tcp://").partition(":")
        self.end_cluster()
        self.processes.end_all()
        strays = stray_processes(self.plan, ())
        demand(not strays, f"left behind: {strays}")
        demand(not spilled(self.scratch), f"left behind: {spilled(self.scratch)}")
        if port:
            with socket.socket() as probe:
                demand(
                    probe.connect_ex((host, int(port))), f"somebody still listens on port {port}"
                )

    # Faults.

    def arm(
        self,
        act: str,
        phase: str = "",
        *,
        times: int = 1,
        share: float = 1.0,
        seconds: float = 0.0,
        trees: int | None = None,
    ) -> None:
        """Let something happen to whoever works on the phase."""
        self.disarm()
        plan = {
            "act": act,
            "phase": phase,
            "times": times,
            "share": share,
            "seconds": seconds,
            "trees": trees,
        }
        whole = self.plan.with_suffix(".tmp")
        whole.write_text(json.dumps(plan), encoding="utf-8")
        whole.rename(self.plan)

    def disarm(self) -> None:
        self.plan.unlink(missing_ok=True)
        for mark in self.plan.parent.glob("mark-*"):
            mark.unlink()

    def marks(self) -> int:
        """How often it has happened."""
        return sum(1 for _ in self.plan.parent.glob("mark-*"))

    def marked(self) -> int:
        """Wait until it has happened, and return the process that it happened to."""
        mark = mark_of(self.plan, 0)
        return int(
            self.processes.wait_for(
                lambda: mark.exists() and mark.read_text(), "the act of the plan"
            )
        )

    # Jobs.

    def spec(self, study: str, name: str, **tables: Any) -> Path:
        """Write the spec of a study under a name."""
        file = self.folder / f"{name}.toml"
        both = {key: value for key, value in STUDIES[study].items() if key not in tables}
        file.write_text(spec_text(kind="study", name=name, **both, **tables), encoding="utf-8")
        return file

    def new_name(self) -> str:
        self._n_runs += 1
        return f"run{self._n_runs}"

    def output(self, name: str) -> Path:
        return self.folder / "runs" / name

    def quiet(self, study: str) -> str:
        """Return the result of a study that nothing befell: one process, one thing after the
        other.
        """
        if study not in self._quiet:
            name = f"quiet-{study}"
            ended = self.run(self.spec(study, name))
            demand(ended.code == 0, f"the quiet run ended with {ended.code}: {ended.message}")
            self._quiet[study] = essence(self.output(name) / "result.json")
        return self._quiet[study]

    def run(self, spec: Path, *options: str) -> Ended:
        """Run a job on what its spec names, in this process."""
        out, err = io.StringIO(), io.StringIO()
        with keeping_signals(), _in_time(), redirect_stdout(out), redirect_stderr(err):
            try:
                code = main(["run", str(spec), "--output", str(self.folder / "runs"), *options])
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
        if code in (130, 143):
            # The job has taken for its own a signal that was meant for all of this.
            raise KeyboardInterrupt
        return Ended(code, out.getvalue(), err.getvalue())

    def run_on_cluster(self, spec: Path, *options: str) -> Ended:
        self.start_cluster()
        return self.run(spec, "--scheduler", self.address, *options)

    def runner_command(self, spec: Path, *options: str) -> list[str]:
        """The command line of a runner that is a process of its own."""
        return command("run", spec, "--output", self.folder / "runs", *options)

    def start_runner(self, spec: Path, *options: str, **environment: str) -> subprocess.Popen[str]:
        """Start a runner as a process of its own; wait_for_runner waits for its end."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return subprocess.Popen(
            self.runner_command(spec, *options),
            cwd=self.folder,
            env=surroundings(**{**self.environment, **environment}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def wait_for_runner(self, runner: subprocess.Popen[str]) -> Ended:
        try:
            out, err = runner.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(runner.pid, signal.SIGKILL)
            runner.communicate()
            raise FaultError("the runner hangs") from None
        return Ended(runner.returncode, out, err)

    def wait_for_logged(self, runner: subprocess.Popen[bytes], log: Path) -> Ended:
        """Wait for a runner whose words go to a file."""
        code = runner.wait(timeout=PATIENCE_S)
        return Ended(code, "", log.read_text(encoding="utf-8", errors="replace"))

    # What must hold.

    def check_identical(self, study: str, name: str, ended: Ended) -> None:
        """Raise FaultError unless a job ended well, with the very bytes of the quiet run, and left
        nothing behind.
        """
        demand(ended.code == 0, f"expected exit code 0, got {ended.code}: {ended.err[-600:]}")
        demand("Traceback" not in ended.err, f"a traceback: {ended.err[-1500:]}")
        found = essence(self.output(name) / "result.json")
        found = found.replace(f'"name": "{name}"', f'"name": "quiet-{study}"', 1)
        demand(found == self.quiet(study), "the result is another")
        self.check_left(name)

    def check_refused(self, name: str, ended: Ended, code: int, said: str) -> None:
        """Raise FaultError unless a job ended with a code and in clear words, and without a
        result.
        """
        demand(
            ended.code == code, f"expected exit code {code}, got {ended.code}: {ended.err[-600:]}"
        )
        demand("Traceback" not in ended.err, f"a traceback: {ended.err[-1500:]}")
        demand(said in ended.message, f"expected {said!r} in: {ended.message}")
        demand(
            "result.json" not in tidy(self.output(name)), "there is a result, though the job failed"
        )

    def check_left(self, name: str) -> None:
        files = stray_files(self.output(name))
        demand(not files, f"left behind: {files}")
        strays = stray_processes(self.plan, self.processes.pids())
        demand(not strays, f"left behind: {strays}")

    def check_happened(self, times: int = 1) -> None:
        demand(self.marks() >= times, f"the fault happened {self.marks()} times, not {times}")


@contextmanager
def ground(folder: Path) -> Iterator[Ground]:
    """A place for faults, which is gone afterwards; what is left behind is an error."""
    made = Ground(folder)
    try:
        yield made
    except BaseException:
        made.end_cluster(signal.SIGKILL)
        made.processes.end_all()
        raise
    else:
        made.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def meanwhile(action: Callable[[], None]) -> Callable[[], None]:
    """Do something in a thread; the function that is returned waits for its end and raises what it
    raised.
    """
    failed: list[BaseException] = []

    def act() -> None:
        try:
            action()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=act, daemon=True)
    thread.start()

    def ended() -> None:
        thread.join(PATIENCE_S)
        if failed:
            raise FaultError(f"the fault itself failed: {failed[0]}") from failed[0]

    return ended


@contextmanager
def _in_time() -> Iterator[None]:
    def stop(_number: int, _frame: object) -> None:
        raise FaultError(f"the job was not done after {PATIENCE_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(PATIENCE_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _write_data(folder: Path) -> None:
    """Write a table of several files and partitions, and a small one; both are always the same."""
    n_rows = PARTITIONS * PARTITION_ROWS
    random = np.random.default_rng(11)
    x, z = random.standard_normal((2, n_rows), dtype=np.float32)
    s = random.integers(0, 3, n_rows)
    y = ((x > 0) & (s == 1)) ^ (random.random(n_rows) < 0.05)
    words = pa.DictionaryArray.from_arrays(
        pa.array(s.astype(np.int8)), pa.array(["red", "green", "blue"])
    )
    table = pa.table({"x": x, "z": z, "s": words, "b": random.random(n_rows) < 0.5, "y": y})
    (folder / "table").mkdir()
    size = n_rows // N_FILES
    for number in range(N_FILES):
        part = table.slice(number * size, size)
        pq.write_table(part, folder / "table" / f"{number}.parquet", row_group_size=PARTITION_ROWS)
    pq.write_table(pa.table(small_table()), folder / "small.parquet")
    _write_texts(folder / "texts")
    _write_related(folder)
    # Files that were written just now are looked at more closely; these are of yesterday.
    yesterday = time.time() - 86_400
    for file in (*folder.rglob("*.parquet"), *folder.rglob("*.csv")):
        os.utime(file, (yesterday, yesterday))


def _write_texts(folder: Path) -> None:
    """Write a table as several CSV files."""
    folder.mkdir()
    for number in range(N_TEXTS):
        table = pa.table(small_table(n_rows=4000, seed=number))
        pacsv.write_csv(table, folder / f"{number}.csv")


def _write_related(folder: Path) -> None:
    """Write people and their visits; whoever has had a dear one comes again."""
    random = np.random.default_rng(13)
    n_people, n_visits = 6000, 24_000
    person = random.integers(0, n_people, n_visits)
    cost = random.gamma(2, 40, n_visits).round(2)
    ward = random.choice(["surgery", "urology"], n_visits)
    has_dear = np.zeros(n_people, dtype=np.bool_)
    has_dear[person[cost > 150]] = True
    y = has_dear ^ (random.random(n_people) < 0.05)
    people = pa.table({"id": np.arange(n_people), "age": random.integers(20, 90, n_people), "y": y})
    visits = pa.table({"person": person, "cost": cost, "ward": ward})
    for name, table in (("people", people), ("visits", visits)):
        (folder / name).mkdir()
        size = table.num_rows // N_FILES
        for number in range(N_FILES):
            pq.write_table(table.slice(number * size, size), folder / name / f"{number}.parquet")


def write_wide(folder: Path) -> None:
    """Write a table whose rows fill the memory of a small worker, though its files are small;
    unless it is there.
    """
    if folder.exists():
        return
    folder.mkdir()
    random = np.random.default_rng(12)
    for number in range(N_WIDE):
        columns = random.random((90, 2 * PARTITION_ROWS)) < 0.5
        table = {f"x{column}": values for column, values in enumerate(columns)}
        table["y"] = (columns[0] & columns[1]) ^ (random.random(columns.shape[1]) < 0.05)
        pq.write_table(pa.table(table), folder / f"{number}.parquet", row_group_size=PARTITION_ROWS)


def say(line: str) -> None:
    """Tell how far it has come, apart from the table."""
    print(line, file=sys.stderr, flush=True)
