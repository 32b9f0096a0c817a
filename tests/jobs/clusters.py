"""A Dask scheduler and workers as somebody else would have started them: processes of their own, on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from distributed import Client

from tests.jobs.running import PATIENCE_S, surroundings


class Found:
    """A cluster that was found, not made: where it is, and a way to look into it."""

    def __init__(self, folder: Path, options: Sequence[str], security: Any = None, **environment: str) -> None:
        self.folder = folder
        self._options = options
        self._security = security
        self._environment = environment
        self._started = ExitStack()
        file = folder / "scheduler.json"
        file.unlink(missing_ok=True)
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(file))
        self.address = str(awaited(lambda: _address_in(file), "the scheduler"))

    def add_worker(self, **environment: str) -> str:
        """Start one more worker with one thread, and return its address."""
        before = set(self.workers())
        self._start("worker", self.address, "--nthreads", "1", "--memory-limit", "1GiB", **environment)
        return str(awaited(lambda: next(iter(set(self.workers()) - before), None), "one more worker"))

    def end_worker(self, address: str) -> None:
        """Have the scheduler close a worker for good."""
        with self.client() as client:
            client.retire_workers([address])

    def workers(self) -> dict[str, int]:
        """Return the address and the process of each worker."""
        with self.client() as client:
            pids: dict[str, int] = client.run(os.getpid)
            return pids

    @contextmanager
    def client(self) -> Iterator[Client]:
        with Client(self.address, security=self._security, set_as_default=False) as client:
            yield client

    def close(self) -> None:
        self._started.close()

    def _start(self, kind: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        surrounding = surroundings(**{**self._environment, **environment})
        if "PYTHONPATH" in environment:
            # Before the package's own folder, not in place of it.
            surrounding["PYTHONPATH"] = os.pathsep.join([environment["PYTHONPATH"], surroundings()["PYTHONPATH"]])
        log = self._started.enter_context((self.folder / f"{kind}.log").open("ab"))
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", kind, *arguments, "--host", "127.0.0.1", "--no-dashboard", *self._options],
            cwd=self.folder,
            env=surrounding,
            stdout=log,
            stderr=log,
        )
        self._started.callback(_end, process)
        return process


def awaited(found: Any, what: str, timeout_s: float = PATIENCE_S) -> Any:
    """Return the first answer that is not None or False."""
    give_up_at = time.monotonic() + timeout_s
    while not (answer := found()):
        assert time.monotonic() < give_up_at, f"{what} did not come in {timeout_s} s"
        time.sleep(0.1)
    return answer


def _address_in(file: Path) -> str | None:
    try:
        return str(json.loads(file.read_text())["address"])
    except (OSError, ValueError):
        return None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
