"""Real processes for tests: started, waited for, and ended by their own ids, whatever happens."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.jobs.running import ROOT, surroundings

PATIENCE_S = 240
"""On a machine that others use too, two workers have been seen to take 20 s to come."""


class Processes:
    """Processes that end with the block, the last one first; what they wrote is kept for the
    message of a failure.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._running: list[tuple[str, subprocess.Popen[bytes]]] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end_all()

    def start(
        self, name: str, command: Sequence[str | Path], **environment: str
    ) -> subprocess.Popen[bytes]:
        """Start a process whose output goes to a file of its name."""
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [str(part) for part in command],
                cwd=self.folder,
                env=surroundings(**environment),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._running.append((name, process))
        return process

    def end(self, name: str, number: int = signal.SIGTERM) -> None:
        """End a process and those that it started, and wait until it has gone."""
        [process] = [process for known, process in self._running if known == name]
        self._running = [(known, other) for known, other in self._running if known != name]
        for strike in (number, signal.SIGKILL):
            if process.poll() is None:
                os.killpg(process.pid, strike)
            try:
                process.wait(timeout=20)
                break
            except subprocess.TimeoutExpired:
                continue

    def end_all(self) -> None:
        """End what still runs, the last one first."""
        while self._running:
            self.end(self._running[-1][0])

    def pids(self) -> list[int]:
        """The processes that run."""
        return [process.pid for _, process in self._running]

    def wait_for(self, happened: Callable[[], Any], what: str) -> Any:
        """Return what comes true in the end; fail with the last words of all processes."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            found = happened()
            if found:
                return found
            time.sleep(0.1)
        logs = "\n".join(
            f"{file.name}: {file.read_text(errors='replace')[-800:]}"
            for file in self.folder.glob("*.log")
        )
        raise AssertionError(f"{what} did not happen within {PATIENCE_S} s\n{logs}")


def python(module: str, *arguments: str | Path) -> list[str | Path]:
    """A command line that runs a module."""
    return [sys.executable, "-m", module, *arguments]


def tls_options(certificates: Path) -> list[str | Path]:
    """How Dask's own commands are told of certificates."""
    return [
        *("--tls-ca-file", certificates / "ca.pem"),
        *("--tls-cert", certificates / "cert.pem"),
        *("--tls-key", certificates / "key.pem"),
    ]


def tls_table(certificates: Path) -> dict[str, str]:
    """How a spec is told of certificates."""
    return {f"{name}_file": str(certificates / f"{name}.pem") for name in ("ca", "cert", "key")}


def start_scheduler(
    processes: Processes,
    certificates: Path | None,
    *,
    host: str = "127.0.0.1",
    before: Sequence[str] = (),
    **environment: str,
) -> str:
    """Start `dask scheduler` and return its address."""
    file = processes.folder / "scheduler.json"
    options = ["--protocol", "tls", *tls_options(certificates)] if certificates else []
    quiet = ["--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
    dask = python(
        "distributed.cli.dask_scheduler", "--host", host, "--port", "0", "--scheduler-file", file
    )
    processes.start("scheduler", [*before, *dask, *quiet, *options], **environment)
    return str(processes.wait_for(lambda: written_address(file), "the scheduler's start"))


def start_worker(
    processes: Processes,
    address: str,
    certificates: Path | None,
    *,
    name: str,
    before: Sequence[str] = (),
    **environment: str,
) -> None:
    """Start `dask worker`."""
    options = tls_options(certificates) if certificates else []
    limits = [
        "--nthreads",
        "1",
        "--memory-limit",
        "1GiB",
        "--name",
        name,
        "--dashboard-address",
        "127.0.0.1:0",
    ]
    worker = python("distributed.cli.dask_worker", address)
    processes.start(name, [*before, *worker, *limits, *options], **environment)


def make_certificates(folder: Path) -> Path:
    """Make an authority and a certificate by the script of deploy/."""
    subprocess.run([ROOT / "deploy" / "certificates.sh", folder], check=True, capture_output=True)
    return folder


def written_address(file: Path) -> str | None:
    """The address in the file that a scheduler writes, once it has."""
    try:
        return str(json.loads(file.read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError):
        return None


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
