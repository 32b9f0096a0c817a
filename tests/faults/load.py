"""`python -m tests.faults load`: many detached jobs submitted to one scheduler at once, and many
evaluations in one process; every result is compared, and memory is measured before and after.
"""

from __future__ import annotations

import argparse
import gc
import os
import socket
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from dnfscale.engine.clusters.address import Address
from dnfscale.jobs.runner import Options
from dnfscale.spec.cluster import ClusterSpec
from dnfscale.spec.job import read_spec
from dnfscale.submit.board import JobBoard
from dnfscale.submit.order import order_for, run_folder_of
from tests.faults.ground import Ground, ground, say
from tests.jobs.running import essence

_WORKERS = 4
_STUDY = "brief"
_MIB = 1 << 20
_REST_S = 5.0
"""How long a scheduler is left alone before its memory is measured."""
_MOST_GROWTH = 100 * _MIB
"""Of a scheduler that has had all jobs."""
_MOST_PEAK = 300 * _MIB
_MOST_EVALUATING = 8 * _MIB
_WARM = 200
"""Evaluations before memory is first measured."""


@dataclass
class Loaded:
    """What came of many jobs."""

    jobs: int
    submitted_s: float
    ended_s: float = 0.0
    identical: int = 0
    before: int = 0
    greatest: int = 0
    after: int = 0
    """Bytes of the scheduler."""

    @property
    def is_well(self) -> bool:
        peak, growth = self.greatest - self.before, self.after - self.before
        return self.identical == self.jobs and peak < _MOST_PEAK and growth < _MOST_GROWTH


@dataclass
class Evaluated:
    """What came of many evaluations."""

    calls: int
    before: int
    after: int
    """Bytes of the process."""
    alike: bool

    @property
    def is_well(self) -> bool:
        return self.alike and self.after - self.before < _MOST_EVALUATING


class _Watch(threading.Thread):
    """Notes the greatest memory of a process until it is told to end."""

    def __init__(self, process: psutil.Process) -> None:
        super().__init__(daemon=True)
        self.greatest = 0
        self._process = process
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.2):
            self.greatest = max(self.greatest, self._process.memory_info().rss)

    def end(self) -> None:
        self._ended.set()
        self.join()


def submit_many(place: Ground, jobs: int) -> Loaded:
    """Submit jobs, one right after the other, and wait until all have ended."""
    quiet = place.quiet(_STUDY)
    names = [place.new_name() for _ in range(jobs)]
    specs = [place.spec(_STUDY, name, output={"dir": str(place.folder / "runs")}) for name in names]
    place.start_cluster(_WORKERS)
    scheduler = psutil.Process(place.processes.pids()[0])
    board = JobBoard(ClusterSpec(kind="address", options=Address(place.address)))
    try:
        place.processes.wait_for(lambda: board.has_workers, "a worker")
        time.sleep(_REST_S)
        loaded = Loaded(jobs, 0.0, before=scheduler.memory_info().rss)
        watch = _Watch(scheduler)
        watch.start()
        began = time.monotonic()
        for file in specs:
            spec = read_spec(file)
            board.submit(
                order_for(spec, Options()),
                "dnfscale.submit.driver",
                name=spec.name,
                kind=spec.kind,
                spec=str(file),
                folder=run_folder_of(spec),
                user="load",
                host=socket.gethostname(),
            )
        loaded.submitted_s = round(time.monotonic() - began, 1)
        say(f"{jobs} jobs submitted in {loaded.submitted_s} s")
        while not all(job.has_ended for job in board.jobs()):
            time.sleep(1)
        loaded.ended_s = round(time.monotonic() - began, 1)
        watch.end()
        loaded.greatest = watch.greatest
        time.sleep(_REST_S)
        loaded.after = scheduler.memory_info().rss
    finally:
        board.close()
    for name in names:
        result = place.output(name) / "result.json"
        if not result.is_file():
            say(f"{name}: there is no result")
            continue
        found = essence(result).replace(f'"name": "{name}"', f'"name": "quiet-{_STUDY}"', 1)
        loaded.identical += found == quiet
        place.check_left(name)
    return loaded


def evaluate_many(calls: int) -> Evaluated:
    """Evaluate a model again and again in this process."""
    from sklearn.datasets import load_breast_cancer

    from dnfscale import IdealClassifier, evaluate

    rows, labels = load_breast_cancer(return_X_y=True, as_frame=True)
    model = IdealClassifier(profile="paper").fit(rows, labels == 0)
    process = psutil.Process(os.getpid())
    first = evaluate(model, rows, labels == 0).to_json()
    before, alike = 0, True
    for number in range(calls):
        alike &= evaluate(model, rows, labels == 0).to_json() == first
        if number == _WARM:
            gc.collect()
            before = process.memory_info().rss
    gc.collect()
    return Evaluated(calls, before, process.memory_info().rss, alike)


def as_tables(loaded: Loaded, evaluated: Evaluated) -> str:
    """Write what came of it as Markdown."""
    ends = (loaded.before, loaded.greatest, loaded.after)
    memory = " | ".join(f"{size / _MIB:.0f} MiB" for size in ends)
    evaluating = " | ".join(
        f"{size / _MIB:.1f} MiB" for size in (evaluated.before, evaluated.after)
    )
    return "\n".join(
        [
            "| jobs | submitted in | all ended after | identical results | scheduler before "
            "| at most | after |",
            "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            f"| {loaded.jobs} | {loaded.submitted_s} s | {loaded.ended_s} s | {loaded.identical} "
            f"| {memory} |",
            "",
            f"| calls of `evaluate` | memory after {_WARM} | after all |",
            "| ---: | ---: | ---: |",
            f"| {evaluated.calls:,} | {evaluating} |",
        ]
    )


def main(arguments: Sequence[str]) -> int:
    """Carry out a command line; the exit code is 1 where a result or the memory is another."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults load", description=__doc__)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--evaluations", type=int, default=1000)
    options = parser.parse_args(arguments)
    evaluated = evaluate_many(options.evaluations)
    with (
        tempfile.TemporaryDirectory(prefix="load-") as parent,
        ground(Path(parent) / "ground") as place,
    ):
        loaded = submit_many(place, options.jobs)
    print(as_tables(loaded, evaluated))
    return 0 if loaded.is_well and evaluated.is_well else 1
