"""`python -m tests.faults soak`: runs two small studies again and again while busy workers are
killed at random.

Every result is compared byte for byte with that of a run in peace.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

from distributed import Client

from dnfscale.engine.dask.client import connected
from tests.faults.ground import SMALL, FaultError, Ground, demand, ground, say
from tests.jobs.running import essence

_WORKERS = 4
_PAUSE_S = (0.1, 2.0)
"""Between two kills."""


@dataclass
class Soaked:
    """What came of a soak."""

    seed: int
    kills: int = 0
    kills_of: dict[str, int] = field(default_factory=dict)
    """By the phase of a task that the worker had."""
    jobs: int = 0
    failed: int = 0
    bytes_compared: int = 0
    bytes_differing: int = 0
    elapsed_s: float = 0.0


class Killer(threading.Thread):
    """Kills a busy worker from time to time, until it is told to end or has killed enough."""

    def __init__(self, client: Client, soaked: Soaked, most: int) -> None:
        super().__init__(daemon=True)
        self._client = client
        self._soaked = soaked
        self._most = most
        self._random = random.Random(soaked.seed)
        self._ended = threading.Event()

    def run(self) -> None:
        while self._soaked.kills < self._most and not self._ended.wait(
            self._random.uniform(*_PAUSE_S)
        ):
            busy = self._wait_for_busy()
            if not busy:
                continue
            process, phase = self._random.choice(sorted(busy.items()))
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
            self._soaked.kills += 1
            self._soaked.kills_of[phase] = self._soaked.kills_of.get(phase, 0) + 1

    def end(self) -> None:
        self._ended.set()
        self.join()

    def _wait_for_busy(self) -> dict[int, str]:
        while not self._ended.is_set():
            busy: dict[int, str] = self._client.run_on_scheduler(_busy)
            if busy:
                return busy
            time.sleep(0.2)
        return {}


def _busy(dask_scheduler: Any) -> dict[int, str]:
    """Return the process of every worker that has work, and the kind of work; of the last worker,
    nothing.

    Where all workers die faster than they start, nothing is ever finished, by anyone.
    """
    if len(dask_scheduler.workers) < 2:
        return {}
    return {
        worker.pid: next(iter(worker.processing)).prefix.name
        for worker in dask_scheduler.workers.values()
        if worker.processing
    }


def soak(
    place: Ground, *, minutes: float, kills: int, seed: int, workers: int = _WORKERS
) -> Soaked:
    """Run jobs until enough workers were killed, or time is up; the job that runs then is waited
    for.
    """
    soaked = Soaked(seed)
    quiet = {study: place.quiet(study) for study in SMALL}
    place.start_cluster(workers)
    started = time.monotonic()
    with connected(place.address, None) as client:
        client.wait_for_workers(workers, timeout=120)
        killer = Killer(client, soaked, kills)
        killer.start()
        try:
            for study in cycle(SMALL):
                if soaked.kills >= kills or time.monotonic() - started > 60 * minutes:
                    break
                _compare(place, study, quiet[study], soaked)
        finally:
            killer.end()
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
    say(f"{name} ({study}): {differing} bytes differ; {soaked.kills} kills so far")


def as_table(soaked: Soaked) -> str:
    """Write what came of a soak as Markdown."""
    return "\n".join(
        [
            "| workers killed | jobs finished | jobs failed | bytes compared | bytes differing |",
            "| ---: | ---: | ---: | ---: | ---: |",
            f"| {soaked.kills} | {soaked.jobs} | {soaked.failed} | {soaked.bytes_compared:,} "
            f"| {soaked.bytes_differing} |",
        ]
    )


def main(arguments: Sequence[str]) -> int:
    """Carry out a command line; the exit code is 1 where a job failed or a byte differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=20, help="start no job after this long")
    parser.add_argument("--kills", type=int, default=200, help="end after this many")
    parser.add_argument("--seed", type=int, default=0, help="of whom to kill, and when")
    parser.add_argument("--json", type=Path, help="write what came of it to a file")
    options = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory(prefix="soak-") as parent,
        ground(Path(parent) / "ground") as place,
    ):
        soaked = soak(place, minutes=options.minutes, kills=options.kills, seed=options.seed)
    print(as_table(soaked))
    if options.json is not None:
        options.json.write_text(json.dumps(asdict(soaked), indent=2) + "\n", encoding="utf-8")
    return 1 if soaked.failed or soaked.bytes_differing else 0
