"""Keeps track of the workers: reports those that come and go, and gives up on a cluster that is of
no more use.

Dask waits for ever for a worker. A job does not: when the last worker is lost, a timer starts, and
unless another comes in time the client is closed, so that every call that waits for a result fails
with a reason. Those who are there but do not answer are found by roll_call.py.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from distributed import Client

from dnfscale.engine.api import Notice, Tell
from dnfscale.engine.dask.client import workers_of
from dnfscale.engine.dask.roll_call import RollCall
from dnfscale.engine.dask.spilling import REFUSED
from dnfscale.errors import ClusterError, DnfscaleError

_EVERYTHING = "all"
"""The topic under which a scheduler publishes events about its workers."""
_OVER_MEMORY = "worker-restart-memory"
"""The topic under which a nanny says that it ends its worker, which uses more than its limit."""


class Attendance:
    """The workers that are present, kept up to date by the scheduler's events while an engine is
    open.
    """

    def __init__(self, client: Client, *, lost_timeout_s: float) -> None:
        self._client = client
        self._limit_s = lost_timeout_s
        self._listeners: list[Tell] = []
        self._lock = threading.Lock()
        self._clock: threading.Timer | None = None
        self._lost: DnfscaleError | None = None
        self._thrown_out: set[str] = set()
        """Workers that did not answer, and will be reported as lost."""
        self._over_memory: set[str] = set()
        """Workers that their nannies ended because they used more than their memory."""
        self._refused: dict[str, str] = {}
        """Folders that a worker could not write results to, and why."""
        self._present: set[str] = set()
        self._gone: set[str] = set()
        """Workers that left between our subscription and the first list of workers; they must not
        be added from it.
        """
        self._threads = 1
        client.subscribe_topic(_EVERYTHING, self._heard)
        client.subscribe_topic(_OVER_MEMORY, self._heard_over_memory)
        there = workers_of(client)
        with self._lock:
            self._present |= set(there) - self._gone
            self._threads = max((worker["nthreads"] for worker in there.values()), default=1)
            if not self._present:
                self._start_clock()
        self._roll_call = RollCall(
            client,
            lost_timeout_s=lost_timeout_s,
            tell=self._tell,
            throw_out=self._expel,
            give_up=self._give_up,
        )

    @property
    def n_threads(self) -> int:
        """Estimated threads: present workers x the largest thread count at start."""
        return self._threads * len(self._present)

    @property
    def lost(self) -> DnfscaleError | None:
        """Why the cluster was given up, if it was."""
        return self._lost

    @property
    def over_memory(self) -> int:
        """The number of workers that were ended because they used more than their memory."""
        return len(self._over_memory)

    @property
    def refused(self) -> str | None:
        """Where results could not be written, and why, if that has happened."""
        return "; ".join(f"{folder}: {reason}" for folder, reason in self._refused.items()) or None

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
        """Stop the timer, the subscription and the questions, and remove all listeners."""
        self._roll_call.stop()
        with self._lock:
            self._listeners.clear()
            self._stop_clock()
        self._unsubscribe()

    def _unsubscribe(self) -> None:
        if self._client.status == "running":
            self._client.unsubscribe_topic(_EVERYTHING)
            self._client.unsubscribe_topic(_OVER_MEMORY)

    def _heard_over_memory(self, event: Any) -> None:
        _, message = event
        self._over_memory.add(message["worker"])

    def _heard(self, event: Any) -> None:
        _, message = event
        action = message.get("action") if isinstance(message, dict) else None
        if action == REFUSED:
            self._heard_refused(message)
        if action not in ("add-worker", "remove-worker"):
            return
        worker = message["worker"]
        with self._lock:
            # The event of a worker that came just before our first list arrives after it; it is not
            # news.
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
            how = self._how_left(worker, expected=message["expected"])
            facts |= {"retries": again, "expected": bool(message["expected"])}
            notice = Notice(
                "worker_lost", f"worker {worker} {how}; {here} at work{fate}{wait}", facts
            )
        self._tell(notice)

    def _how_left(self, worker: str, *, expected: bool) -> str:
        if expected:
            # An adaptive cluster retires workers that it has no work for, after moving their
            # results.
            return "sent away"
        if worker in self._thrown_out:
            return "thrown out"
        if worker in self._over_memory:
            return "ended for using more than its memory"
        return "lost"

    def _heard_refused(self, message: dict[str, Any]) -> None:
        folder, reason = message["folder"], message["reason"]
        if folder not in self._refused:
            self._refused[folder] = reason
            self._tell(
                Notice.warning(
                    f"a worker cannot write rows to {folder} and keeps them in memory: "
                    f"{reason}; make room there, or "
                    "name another folder in cluster.local_directory"
                )
            )

    def _tell(self, notice: Notice) -> None:
        for tell in list(self._listeners):
            tell(notice)

    def _expel(self, workers: Sequence[str]) -> None:
        self._thrown_out.update(workers)

    def _start_clock(self) -> None:
        self._clock = threading.Timer(self._limit_s, self._miss_workers)
        self._clock.daemon = True
        self._clock.start()

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _miss_workers(self) -> None:
        with self._lock:
            if self._clock is None or self._present:
                return
        self._give_up(
            ClusterError(
                f"expected workers, but the cluster has had none for {self._limit_s:.0f} "
                "s; start some, or look why "
                "they ended (memory, the queue's time limit); what is finished is kept for "
                "--resume; "
                "cluster.lost_timeout_s is how long to wait"
            )
        )

    def _give_up(self, reason: DnfscaleError) -> None:
        """End every call that waits for a result, with a reason."""
        self._lost = self._lost or reason
        # A scheduler that is told of a client's end by this very subscription logs an error.
        self._unsubscribe()
        self._client.close()
