"""`python -m tests.faults soak`: runs small studies again and again while busy workers are killed
and frozen at random.

Every result is compared byte for byte with that of a run in peace.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import psutil
from distributed import Client

from dnfscale.engine.dask.client import connected
from tests.faults.ground import SOAKED, FaultError, Ground, demand, ground, say
from tests.jobs.running import essence

_WORKERS = 4
_PAUSE_S = (0.1, 2.0)
"""Between two faults."""
_FROZEN_S = (1.0, 8.0)
"""How long most frozen workers stay so."""
_PER_JOB = 20
"""Faults that befall one job at most: a slow machine does not start workers as fast as they die."""
_SPARED = 5
"""A task that so many workers have died on is left alone."""
_FOR_GOOD = 0.04
"""Of frozen workers, the share that stays so until somebody throws them out."""


@dataclass
class Soaked:
    """What came of a soak."""

    seed: int
    kills: int = 0
    freezes: int = 0
    for_good: int = 0
    """Of these, the workers that were not to be thawed."""
    faults_of: dict[str, int] = field(default_factory=dict)
    """By the phase of a task that the worker had."""
    jobs: int = 0
    failed: int = 0
    bytes_compared: int = 0
    bytes_differing: int = 0
    elapsed_s: float = 0.0

    @property
    def faults(self) -> int:
        return self.kills + self.freezes


class Striker(threading.Thread):
    """Kills or freezes a busy worker from time to time, until it is told to end or has done
    enough.
    """

    def __init__(self, client: Client, soaked: Soaked, *, most: int, freezes: float) -> None:
        super().__init__(daemon=True)
        self._client = client
        self._soaked = soaked
        self._most = most
        self._share = freezes
        self._random = random.Random(soaked.seed)
        self._ended = threading.Event()
        self._frozen: dict[psutil.Process, float] = {}
        """When each worker is to be thawed."""
        self._of_job = 0
        """Faults of the job at hand."""

    def run(self) -> None:
        while self._soaked.faults < self._most and not self._ended.wait(
            self._random.uniform(*_PAUSE_S)
        ):
            busy = self._wait_for_busy()
            if not busy:
                continue
            number, phase = self._random.choice(sorted(busy.items()))
            try:
                self._strike(psutil.Process(number))
            except psutil.NoSuchProcess:
                continue
            self._of_job += 1
            self._soaked.faults_of[phase] = self._soaked.faults_of.get(phase, 0) + 1
        while self._frozen and not self._ended.wait(0.2):
            self._thaw()

    def begin_job(self) -> None:
        """Let there be faults of another job."""
        self._of_job = 0

    def end(self) -> None:
        self._ended.set()
        self.join()
        self._thaw(everyone=True)

    def _strike(self, worker: psutil.Process) -> None:
        if self._random.random() >= self._share:
            worker.kill()
            self._soaked.kills += 1
            return
        worker.suspend()
        self._soaked.freezes += 1
        seconds = self._random.uniform(*_FROZEN_S)
        if self._random.random() < _FOR_GOOD:
            self._soaked.for_good += 1
            seconds = float("inf")
        self._frozen[worker] = time.monotonic() + seconds

    def _thaw(self, *, everyone: bool = False) -> None:
        now = time.monotonic()
        for worker, until in list(self._frozen.items()):
            if worker.is_running() and now < until and not everyone:
                continue
            del self._frozen[worker]
            with suppress(psutil.NoSuchProcess):
                worker.resume()

    def _wait_for_busy(self) -> dict[int, str]:
        while not self._ended.is_set():
            self._thaw()
            if self._of_job >= _PER_JOB:
                time.sleep(0.2)
                continue
            frozen = {worker.pid for worker in self._frozen}
            found: dict[int, str] = self._client.run_on_scheduler(_busy)
            busy = {number: phase for number, phase in found.items() if number not in frozen}
            if busy:
                return busy
            time.sleep(0.2)
        return {}


def _busy(dask_scheduler: Any) -> dict[int, str]:
    """Return the process of every worker that has work, and the kind of work; of the last worker,
    nothing, nor of one at work on what has killed several.

    Where all workers die faster than they start, nothing is ever finished, by anyone; and what has
    killed ten is given up.
    """
    if len(dask_scheduler.workers) < 2:
        return {}
    return {
        worker.pid: next(iter(worker.processing)).prefix.name
        for worker in dask_scheduler.workers.values()
        if worker.processing and max(task.suspicious for task in worker.processing) < _SPARED
    }


def soak(
    place: Ground,
    *,
    minutes: float,
    faults: int,
    seed: int,
    freezes: float,
    workers: int = _WORKERS,
    studies: Sequence[str] = SOAKED,
) -> Soaked:
    """Run jobs until there were enough faults, or time is up; the job that runs then is waited
    for. `freezes` is the share of the workers that are frozen instead of killed.
    """
    soaked = Soaked(seed)
    quiet = {study: place.quiet(study) for study in studies}
    place.start_cluster(workers)
    started = time.monotonic()
    with connected(place.address, None) as client:
        client.wait_for_workers(workers, timeout=120)
        striker = Striker(client, soaked, most=faults, freezes=freezes)
        striker.start()
        try:
            for study in cycle(studies):
                if soaked.faults >= faults or time.monotonic() - started > 60 * minutes:
                    break
                striker.begin_job()
                _compare(place, study, quiet[study], soaked)
        finally:
            striker.end()
    soaked.elapsed_s = round(time.monotonic() - started, 1)
    return soaked


def _compare(place: Ground, study: str, quiet: str, soaked: Soaked) -> None:
    name = place.new_name()
    try:
        ended = place.run_on_cluster(place.spec(study, name))
        demand(ended.code == 0, f"it ended with {ended.code}: {ended.message}")
        place.check_left(name)
    except FaultError as error:
        soaked.failed += 1
        say(f"{name} ({study}): {error}")
        return
    found = essence(place.output(name) / "result.json").replace(
        f'"name": "{name}"', f'"name": "quiet-{study}"', 1
    )
    pair = found.encode(), quiet.encode()
    differing = sum(a != b for a, b in zip(*pair, strict=False)) + abs(len(pair[0]) - len(pair[1]))
    soaked.jobs += 1
    soaked.bytes_compared += len(pair[1])
    soaked.bytes_differing += differing
    say(f"{name} ({study}): {differing} bytes differ; {soaked.faults} faults so far")


def as_table(soaked: Soaked) -> str:
    """Write what came of a soak as Markdown."""
    return "\n".join(
        [
            "| workers killed | workers frozen | jobs finished | jobs failed | bytes compared "
            "| bytes differing |",
            "| ---: | ---: | ---: | ---: | ---: | ---: |",
            f"| {soaked.kills} | {soaked.freezes} | {soaked.jobs} | {soaked.failed} "
            f"| {soaked.bytes_compared:,} | {soaked.bytes_differing} |",
        ]
    )


def main(arguments: Sequence[str]) -> int:
    """Carry out a command line; the exit code is 1 where a job failed or a byte differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=20, help="start no job after this long")
    parser.add_argument("--faults", type=int, default=200, help="end after this many")
    parser.add_argument(
        "--freezes", type=float, default=0.4, help="the share of workers frozen, not killed"
    )
    parser.add_argument("--seed", type=int, default=0, help="of whom to strike, when and how")
    parser.add_argument("--json", type=Path, help="write what came of it to a file")
    options = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory(prefix="soak-") as parent,
        ground(Path(parent) / "ground") as place,
    ):
        soaked = soak(
            place,
            minutes=options.minutes,
            faults=options.faults,
            seed=options.seed,
            freezes=options.freezes,
        )
    print(as_table(soaked))
    if options.json is not None:
        options.json.write_text(json.dumps(asdict(soaked), indent=2) + "\n", encoding="utf-8")
    return 1 if soaked.failed or soaked.bytes_differing else 0
