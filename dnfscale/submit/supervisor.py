"""The task that carries a detached job: it starts the driver in a process of its own, and reports
on it to the end.

The task leaves the worker's pool of threads, so that even a cluster of one worker with one thread
has room for what the driver submits.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from typing import IO, Any

import psutil
from distributed import Reschedule, Worker, get_worker, secede
from distributed.core import Status
from distributed.utils import sync

from dnfscale.errors import LimitError
from dnfscale.submit.record import Connection, Order
from dnfscale.submit.registry import driver_name

_STEP_S = 0.5
"""How often a driver is looked after."""
_SILENCE_S = 60.0
"""How long the scheduler may stay silent before it must be supposed that another driver was
started.
"""
_GRACE_S = 10.0
"""How long a driver may take to end when it is asked to."""
_LONGEST_LINE = 2000
_MOST_LINES = 2000
"""What is held of a driver's lines between two reports."""

# The driver's process gets the paths of this one before it imports anything: where the package is
# found, it is not always on PYTHONPATH.
_START = (
    "import importlib, json, sys; sys.path[:] = json.loads(sys.stdin.readline()); "
    "importlib.import_module(sys.argv[1]).main()"
)


def supervise(job: str, module: str) -> None:
    """Run the driver of a job, which is a module's main(), until it ends, or until this worker
    does.
    """
    secede()
    scheduler = _Line(get_worker())
    worker = scheduler.worker
    while True:
        answer = scheduler.ask("begin", job=job, worker=worker.address) or {"answer": "wait"}
        if answer["answer"] == "leave":
            return
        if answer["answer"] == "start":
            break
        if scheduler.is_lost:
            raise Reschedule
        time.sleep(answer.get("seconds", _STEP_S))
    driver = Driver(
        module,
        answer["order"],
        attempt=answer["attempt"],
        connection={
            "address": worker.scheduler.address,
            "client_name": driver_name(job),
            "tls": _tls_of(worker),
        },
        limit_bytes=worker.memory_manager.memory_limit or 0,
    )
    try:
        _look_after(driver, scheduler, job=job, attempt=answer["attempt"])
    finally:
        driver.kill()


def _look_after(driver: Driver, scheduler: _Line, **known: Any) -> None:
    """Report on a driver until it has ended; give the job back where this worker is about to go."""
    while True:
        ended = driver.wait(_STEP_S)
        if scheduler.is_lost:
            driver.kill()
            raise Reschedule
        said = driver.said()
        answer = scheduler.ask("report", **known, lines=said, driver_bytes=driver.measure())
        if answer is None:
            continue
        driver.forget(len(said))
        if ended and scheduler.ask("end", **known, exit_code=driver.exit_code, error=driver.error):
            return
        if answer == "leave":
            return
        if answer == "cancel":
            driver.stop()


class _Line:
    """The worker's line to the scheduler, from a thread of the worker."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self._heard_at = time.monotonic()

    def ask(self, verb: str, **facts: Any) -> Any:
        """Return the answer, or None where there was none this time."""
        try:
            answer = sync(
                self.worker.loop, getattr(self.worker.scheduler, f"dnfscale_{verb}"), **facts
            )
        except OSError:
            return None
        self._heard_at = time.monotonic()
        return answer

    @property
    def is_lost(self) -> bool:
        """Whether the scheduler has, or must be supposed to have, given this worker up."""
        if self.worker.status not in (Status.running, Status.paused):
            return True
        return time.monotonic() - self._heard_at > _SILENCE_S


def _tls_of(worker: Worker) -> dict[str, str]:
    """Return the certificates with which a process beside a worker may connect to its scheduler."""
    security = worker.security
    files = {
        "ca_file": security.tls_ca_file,
        "cert_file": security.tls_worker_cert or security.tls_client_cert,
        "key_file": security.tls_worker_key or security.tls_client_key,
    }
    return {name: os.path.abspath(file) for name, file in files.items() if file is not None}


class Driver:
    """The process that drives a job: told what to do, listened to, measured, and ended.

    It has its own memory: the worker's limit does not see it, so it is looked at here. It lives by
    the pipe of its standard input: when that closes, or is silent for a minute, the supervisor is
    gone, and the driver ends itself.
    """

    def __init__(
        self,
        module: str,
        order: Order,
        *,
        attempt: int,
        connection: Connection,
        limit_bytes: int,
    ) -> None:
        """Start it with main() of a module; a limit of 0 bytes is none."""
        self.error: str | None = None
        """Why it ended, if it did not do what it was to do."""
        self._stopped_at: float | None = None
        self._limit = limit_bytes
        self._over_limit = False
        self._told_of_memory = False
        self._lines: deque[str] = deque()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Ctrl-C at the worker's terminal is for the worker; the pipe then tells the driver.
            start_new_session=True,
            env={
                **os.environ,
                "PYTHONIOENCODING": "utf-8:backslashreplace",
                "PYTHONUNBUFFERED": "1",
            },
        )
        self._heard = threading.Thread(target=self._hear, args=(self._process.stdout,), daemon=True)
        self._heard.start()
        self._say(json.dumps(sys.path))
        self._say(json.dumps({"order": order, "attempt": attempt, "connection": connection}))

    def wait(self, step_s: float) -> bool:
        """Let some time pass, and say whether the driver has ended; it is told that it is still
        looked after.
        """
        self._say("")
        try:
            self._process.wait(step_s)
        except subprocess.TimeoutExpired:
            if self._stopped_at is not None and time.monotonic() - self._stopped_at > _GRACE_S:
                self._process.kill()
            return False
        self._heard.join(_GRACE_S)
        self._explain_end()
        return True

    def said(self) -> list[str]:
        """Return what the driver has said and was not told yet."""
        return list(self._lines)

    def forget(self, n_lines: int) -> None:
        """Forget the first lines: they were told."""
        for _ in range(n_lines):
            self._lines.popleft()

    def measure(self) -> int:
        """Return the memory that the driver uses; one that uses more than its worker may
        is ended.
        """
        try:
            used: int = psutil.Process(self._process.pid).memory_info().rss
        except psutil.Error:
            return 0
        if self._limit and used > self._limit:
            self._over_limit = True
            self._process.kill()
        beside = psutil.Process().memory_info().rss
        if self._limit and used + beside > self._limit and not self._told_of_memory:
            self._told_of_memory = True
            self._lines.append(
                f"dnfscale: the driver uses {used >> 20:,} MiB beside a worker that uses "
                f"{beside >> 20:,} MiB and may "
                f"use {self._limit >> 20:,} MiB; see that the machine has room for both"
            )
        return used

    def stop(self) -> None:
        """Ask the driver to end: what it has finished is kept, its tasks leave the scheduler with
        its connection.
        """
        if self._stopped_at is None:
            self._stopped_at = time.monotonic()
            self._process.terminate()

    def kill(self) -> None:
        """End the driver, whatever it does: its files are written whole or not at all."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            # What was last said to a driver that had just ended is still to be written, and nobody
            # reads it.
            with suppress(BrokenPipeError):
                if pipe is not None:
                    pipe.close()

    @property
    def exit_code(self) -> int:
        """What `run` would have ended with."""
        code = self._process.returncode
        if code == -signal.SIGKILL and self._stopped_at is None:
            return LimitError.exit_code
        return int(code) if code >= 0 else 128 - int(code)

    def _explain_end(self) -> None:
        """Say why a driver ended that could not say so itself."""
        code = self._process.returncode
        if self._over_limit:
            self.error = (
                f"expected the driver to stay below the {self._limit >> 20:,} MiB of its "
                "worker, but it took more; "
                "give the workers more memory"
            )
        elif code < 0 and self._stopped_at is None:
            why = (
                ", most likely for want of memory; give its machine more"
                if code == -signal.SIGKILL
                else ""
            )
            self.error = f"the driver was killed by {signal.Signals(-code).name}{why}"
        elif code > 0 and self.error is None:
            # A traceback: its last line says what it was.
            self.error = next((line for line in reversed(self._lines) if line.strip()), None)

    def _hear(self, pipe: IO[bytes]) -> None:
        for line in pipe:
            text = line.decode("utf-8", errors="replace").rstrip("\n")[:_LONGEST_LINE]
            # What ends a driver is the last that it says, perhaps on several lines.
            if text.startswith("dnfscale: "):
                self.error = text.removeprefix("dnfscale: ")
            elif self.error is not None and len(self.error) < _LONGEST_LINE:
                self.error += f"\n{text}"
            if len(self._lines) < _MOST_LINES:
                self._lines.append(text)

    def _say(self, text: str) -> None:
        pipe = self._process.stdin
        try:
            if pipe is not None:
                pipe.write(f"{text}\n".encode())
                pipe.flush()
        except OSError:
            # The driver has ended; wait() will notice.
            pass
