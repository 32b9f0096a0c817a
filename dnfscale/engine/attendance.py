"""Keeps track of the workers: reports those that come and go, and gives up on a cluster that has none for too long.

Dask waits for ever for a worker. A job does not: when the last worker is lost, a timer starts, and unless another comes
in time the client is closed, so that every call that waits for a result fails with a reason.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

from distributed import Client

from dnfscale.engine.api import Notice, Tell
from dnfscale.engine.client import workers_of

_EVERYTHING = "all"
"""The topic under which a scheduler publishes events about its workers."""


class Attendance:
    """The workers that are present, kept up to date by the scheduler's events while an engine is open."""

    def __init__(self, client: Client, *, lost_timeout_s: float) -> None:
        self._client = client
        self._limit_s = lost_timeout_s
        self._listeners: list[Tell] = []
        self._lock = threading.Lock()
        self._clock: threading.Timer | None = None
        self._lost: str | None = None
        self._present: set[str] = set()
        self._gone: set[str] = set()
        """Workers that left between our subscription and the first list of workers; they must not be added from it."""
        self._threads = 1
        client.subscribe_topic(_EVERYTHING, self._heard)
        there = workers_of(client)
        with self._lock:
            self._present |= set(there) - self._gone
            self._threads = max((worker["nthreads"] for worker in there.values()), default=1)
            if not self._present:
                self._start_clock()

    @property
    def n_threads(self) -> int:
        """Estimated threads: present workers x the largest thread count at start."""
        return self._threads * len(self._present)

    @property
    def lost(self) -> str | None:
        """Why the cluster was given up, if it was."""
        return self._lost

    @property
    def workers(self) -> int:
        """The number of workers that are present."""
        return len(self._present)

    def listen(self, tell: Tell) -> None:
        """Add a listener, which is called with every notice from now on."""
        self._listeners.append(tell)

    def forget(self, tell: Tell) -> None:
        """Remove a listener."""
        with suppress(ValueError):
            self._listeners.remove(tell)

    def stop(self) -> None:
        """Stop the timer and the subscription, and remove all listeners."""
        with self._lock:
            self._listeners.clear()
            self._stop_clock()
        if self._client.status == "running":
            self._client.unsubscribe_topic(_EVERYTHING)

    def _heard(self, event: Any) -> None:
        _, message = event
        action = message.get("action") if isinstance(message, dict) else None
        if action not in ("add-worker", "remove-worker"):
            return
        worker = message["worker"]
        with self._lock:
            # The event of a worker that came just before our first list arrives after it; it is not news.
            known = worker in self._present
            if known == (action == "add-worker"):
                self._gone |= set() if known else {worker}
                return
            if action == "add-worker":
                self._present.add(worker)
                self._stop_clock()
            else:
                self._present.discard(worker)
                if not self._present:
                    self._start_clock()
            here = len(self._present)
        facts: dict[str, Any] = {"worker": worker, "workers": here}
        if action == "add-worker":
            notice = Notice("worker_joined", f"worker {worker} joined; {here} at work", facts)
        else:
            again = len(message["processing-tasks"]) + len(message["lost-computed-tasks"])
            fate = f"; {again} tasks are done again" if again else ""
            wait = "" if here else f"; waiting up to {self._limit_s:.0f} s for another"
            # An adaptive cluster retires workers that it has no work for, after moving their results.
            how = "sent away" if message["expected"] else "lost"
            facts |= {"retries": again, "expected": bool(message["expected"])}
            notice = Notice("worker_lost", f"worker {worker} {how}; {here} at work{fate}{wait}", facts)
        for tell in list(self._listeners):
            tell(notice)

    def _start_clock(self) -> None:
        self._clock = threading.Timer(self._limit_s, self._give_up)
        self._clock.daemon = True
        self._clock.start()

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _give_up(self) -> None:
        with self._lock:
            if self._clock is None or self._present:
                return
            self._lost = (
                f"expected workers, but the cluster has had none for {self._limit_s:.0f} s; start some, or look why "
                "they ended (memory, the queue's time limit); what is finished is kept for --resume; "
                "cluster.lost_timeout_s is how long to wait"
            )
        self._client.close()
