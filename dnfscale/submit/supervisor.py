"""The task that carries a detached job: it starts the driver in a process of its own, and reports
on it to the end.

The task leaves the worker's pool of threads, so that even a cluster of one worker with one thread
has room for what the driver submits.
"""

from __future__ import annotations

import os
import time
from typing import Any

from distributed import Reschedule, Worker, get_worker, secede
from distributed.core import Status
from distributed.utils import sync

from dnfscale.submit.process import Driver
from dnfscale.submit.registry import driver_name

_STEP_S = 0.5
"""How often a driver is looked after."""
_SILENCE_S = 60.0
"""How long the scheduler may stay silent before it must be supposed that another driver was
started.
"""


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
        time.sleep(_STEP_S)
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
