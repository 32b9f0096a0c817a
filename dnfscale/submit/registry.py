"""The scheduler's side of detached jobs: a plugin that keeps their records and their last lines.

It lives as long as the scheduler. Everything it keeps is bounded: of each job the last lines, and
of the jobs that have ended the last hundred.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from distributed import Scheduler
from distributed.diagnostics.plugin import SchedulerPlugin

from dnfscale.submit.record import (
    CANCELLED,
    CANCELLED_CODE,
    CANCELLING,
    FAILED,
    FINISHED,
    LOST,
    LOST_CODE,
    RUNNING,
    WAITING,
    JobRecord,
    Order,
)

REGISTRY = "dnfscale-jobs"
"""The plugin's name, and the key of the scheduler's metadata that tells whether it is there."""

_MOST_LINES = 2000
_MOST_CHARACTERS = 256 << 10
"""What is kept of the lines of a job."""
_MOST_ENDED = 100
_MOST_DRIVERS = 4
"""How many drivers a worker has beside it at a time: each is a process with memory of its own."""
_TURN_S = 2.0
"""How long a supervisor waits before it asks again whether it is its turn."""
_BLAMELESS_S = 300
"""A driver that ran this long did not kill its worker: the scheduler's count of deaths begins
anew.
"""
_FORGETFUL = "fire-and-forget"
"""The client of Dask's scheduler that wants what no living client wants any more."""


def task_key(job: str) -> str:
    """Return the key of the task that supervises a job's driver."""
    return f"dnfscale-driver-{job}"


def driver_name(job: str) -> str:
    """Return the name under which a job's driver is known to the scheduler as a client."""
    return f"dnfscale-job-{job}"


@dataclass(slots=True)
class _Entry:
    record: JobRecord
    order: Order | None
    """What the driver is to do; None once it has ended."""
    submitter: str
    waits_on: str | None = None
    """The worker whose supervisor has asked for the order, and has not got it yet."""
    launched: bool = False
    """Whether the job no longer depends on the client that submitted it."""
    began_at: float = 0.0
    lines: deque[tuple[int, float, str]] = field(default_factory=deque)
    """Number, time and text."""
    n_lines: int = 0
    n_characters: int = 0

    def add(self, texts: list[str]) -> None:
        now = round(time.time(), 3)
        for text in texts:
            self.n_lines += 1
            self.lines.append((self.n_lines, now, text))
            self.n_characters += len(text)
            if text.strip():
                self.record.last_line = text
        while len(self.lines) > _MOST_LINES or self.n_characters > _MOST_CHARACTERS:
            self.n_characters -= len(self.lines.popleft()[2])


class Registry(SchedulerPlugin):  # type: ignore[misc]
    """Knows the detached jobs of a scheduler."""

    name = REGISTRY
    idempotent = True

    def __init__(self) -> None:
        self._jobs: dict[str, _Entry] = {}
        self._by_key: dict[str, _Entry] = {}

    async def start(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        scheduler.handlers |= {
            "dnfscale_add": self.add,
            "dnfscale_launch": self.launch,
            "dnfscale_begin": self.begin,
            "dnfscale_report": self.report,
            "dnfscale_end": self.end,
            "dnfscale_cancel": self.cancel,
            "dnfscale_jobs": self.jobs,
            "dnfscale_lines": self.lines,
        }
        scheduler.task_metadata[REGISTRY] = True

    # What clients ask for.

    def add(self, job: dict[str, Any], order: Order, client: str) -> bool:
        """Take in a job whose task is yet to come; say whether its id is free."""
        if job["id"] in self._jobs:
            return False
        record = JobRecord(**job, submitted_at=time.time())
        entry = _Entry(record, order, client)
        self._jobs[record.id] = self._by_key[task_key(record.id)] = entry
        return True

    def launch(self, job: str) -> bool:
        """Make a job independent of the client that submitted it, if its task has arrived."""
        key = task_key(job)
        if job not in self._jobs or key not in self._scheduler.tasks:
            return False
        entry = self._jobs[job]
        if not entry.record.has_ended:
            # The scheduler lets go of such a task when it ends; of one that has ended, never.
            self._scheduler.client_desires_keys(keys=[key], client=_FORGETFUL)
        entry.launched = True
        return True

    def jobs(self) -> list[dict[str, Any]]:
        """Return what is known of all jobs, in the order of their submission."""
        return [entry.record.to_dict() for entry in self._jobs.values() if entry.launched]

    def lines(self, job: str, after: int) -> dict[str, Any] | None:
        """Return the kept lines of a job beyond a number, and its record."""
        entry = self._jobs.get(job)
        if entry is None:
            return None
        return {
            "lines": [list(line) for line in entry.lines if line[0] > after],
            "job": entry.record.to_dict(),
        }

    def cancel(self, job: str) -> dict[str, Any] | None:
        """Ask for the end of a job; one without a driver ends here and now."""
        entry = self._jobs.get(job)
        if entry is None:
            return None
        if entry.record.state == WAITING:
            self._end(entry, CANCELLED, CANCELLED_CODE, "cancelled before it began")
            self._scheduler.client_releases_keys(keys=[task_key(job)], client=_FORGETFUL)
        elif entry.record.state == RUNNING:
            entry.record.state = CANCELLING
        return entry.record.to_dict()

    # What the supervisor of a driver says.

    def begin(self, job: str, worker: str) -> dict[str, Any]:
        """Answer a supervisor that is ready to start a driver: an order, or to wait, or nothing to
        do.
        """
        entry = self._jobs.get(job)
        if entry is None or entry.record.has_ended:
            return {"answer": "leave"}
        record = entry.record
        if record.state == CANCELLING:
            self._end(entry, CANCELLED, CANCELLED_CODE, "cancelled")
            return {"answer": "leave"}
        if any(driver_name(job) in client for client in self._scheduler.clients):
            # An earlier driver has lost its supervisor, but is not gone yet: two must never write
            # to one folder.
            return {"answer": "wait"}
        task = self._scheduler.tasks.get(task_key(job))
        if not self._is_its_turn(entry, worker):
            if task is not None:
                # Whoever only waits kills no worker.
                task.suspicious = 0
            return {"answer": "wait", "seconds": _TURN_S}
        now = time.time()
        entry.waits_on = None
        if task is not None and record.attempts and now - entry.began_at > _BLAMELESS_S:
            task.suspicious = 0
        record.attempts += 1
        record.worker = worker
        record.state = RUNNING
        record.started_at = record.started_at or now
        entry.began_at = now
        return {"answer": "start", "order": entry.order, "attempt": record.attempts}

    def _is_its_turn(self, entry: _Entry, worker: str) -> bool:
        """Say whether a worker has room for the driver of a job, before all jobs that were
        submitted later.
        """
        entry.waits_on = worker
        before = 0
        for other in self._jobs.values():
            if other is entry:
                break
            before += other.waits_on == worker and other.record.state == WAITING
        running = sum(
            other.record.worker == worker and other.record.state in (RUNNING, CANCELLING)
            for other in self._jobs.values()
            if other is not entry
        )
        return running + before < _MOST_DRIVERS

    def report(self, job: str, attempt: int, lines: list[str], driver_bytes: int) -> str:
        """Note what a driver has said; answer whether it is to go on, to be cancelled, or to make
        way for another.
        """
        entry = self._jobs.get(job)
        if entry is None or entry.record.attempts != attempt or entry.record.has_ended:
            return "leave"
        entry.add(lines)
        entry.record.driver_bytes = max(entry.record.driver_bytes, driver_bytes)
        return "cancel" if entry.record.state == CANCELLING else "go on"

    def end(self, job: str, attempt: int, exit_code: int, error: str | None) -> bool:
        """Note how a driver ended."""
        entry = self._jobs.get(job)
        if entry is None or entry.record.attempts != attempt or entry.record.has_ended:
            return True
        if entry.record.state == CANCELLING and exit_code:
            self._end(entry, CANCELLED, CANCELLED_CODE, "cancelled")
        elif exit_code == 0:
            self._end(entry, FINISHED, 0, None)
        else:
            self._end(entry, FAILED, exit_code, error)
        return True

    # What the scheduler says.

    def transition(self, key: Any, start: str, finish: str, *_args: Any, **_more: Any) -> None:  # noqa: ARG002
        """Notice a supervisor's task that the scheduler has given up."""
        entry = self._by_key.get(key)
        if entry is None or finish not in ("erred", "forgotten") or entry.record.has_ended:
            return
        if finish == "erred":
            task = self._scheduler.tasks.get(key)
            reason = (
                "the task of its driver failed: "
                f"{task.exception_text if task is not None else 'no reason given'}"
            )
        else:
            reason = "the scheduler dropped the task of its driver; was it restarted?"
        self._end(entry, LOST, LOST_CODE, f"{reason}; submit it again with --resume")

    def remove_client(self, scheduler: Scheduler, client: str) -> None:  # noqa: ARG002
        """Forget a job whose submitter left before it was launched."""
        for entry in [
            entry
            for entry in self._jobs.values()
            if entry.submitter == client and not entry.launched
        ]:
            self._forget(entry)

    def _end(self, entry: _Entry, state: str, exit_code: int, error: str | None) -> None:
        """Note the end of a job, and forget the oldest of too many that have ended."""
        entry.record.state = state
        entry.record.exit_code = exit_code
        entry.record.error = error
        entry.record.ended_at = time.time()
        entry.order = None
        ended = [entry for entry in self._jobs.values() if entry.record.has_ended]
        for oldest in sorted(ended, key=lambda entry: entry.record.ended_at or 0.0)[:-_MOST_ENDED]:
            self._forget(oldest)

    def _forget(self, entry: _Entry) -> None:
        del self._jobs[entry.record.id], self._by_key[task_key(entry.record.id)]
