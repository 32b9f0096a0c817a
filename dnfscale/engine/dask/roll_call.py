"""Asks the scheduler every few seconds whom it hears from, so that no job waits for somebody who
never answers.

A process that dies closes its connections, and Dask notices at once. One that is stopped, or is on
a host that hangs, keeps them open and says nothing. Dask looks for such workers every five minutes
(`worker-ttl`), so it may take ten, and for such a scheduler not at all. Here:

    a worker       whose heartbeats stay away is told, and then thrown out: its nanny kills it and
                   starts another; if the nanny is silent too, the scheduler drops it. Its work is
                   done elsewhere
    the scheduler  that does not answer us is told, and given up after `lost_timeout_s`
    a worker       whose memory is full, so that it begins no task, and which cannot write anything
                   out, ends the job

A worker that is merely busy is none of these. Heartbeats come from another thread than the one that
works; and a library that blocks all threads for long uses the processor, which the nanny can see.
The longest gap between two heartbeats of busy workers, with XGBoost on 3 million rows, was 1.2 s on
a machine that had twice as much to do as it could.

Time is counted in questions, not by the clock: if this process itself is stopped for an hour, that
was one question.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import shutil
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psutil
from distributed import Client, Nanny, Scheduler, Status, Worker

from dnfscale.engine.api import Notice, Tell
from dnfscale.engine.dask.settings import ASK_S, FROZEN_S, KILL_S, NANNY_S, PAUSED_S, SILENT_S
from dnfscale.engine.dask.spilling import shared_folder
from dnfscale.errors import ClusterError, DnfscaleError, LimitError


@dataclass(frozen=True, slots=True)
class Seen:
    """What a scheduler knows of a worker."""

    last_seen: float
    """When its last heartbeat came, by the scheduler's clock; only whether it changes means
    anything here.
    """
    is_held_up: bool
    """Whether work waits for it while it begins none, because its memory is full."""


@dataclass(frozen=True, slots=True)
class FullMemory:
    """A worker whose memory is full, and which does nothing that could change that."""

    limit_bytes: int
    folder: str
    free_bytes: int
    """The room that is left where it writes results out."""
    holds_results: bool
    """Whether there is something in memory that it would write out if it could."""

    def as_error(self, worker: str) -> LimitError:
        """Say what happened and what to change."""
        memory = (
            f"its memory of {self.limit_bytes / 2**20:,.0f} MiB has been full for {PAUSED_S:.0f} s"
        )
        if self.holds_results:
            return LimitError(
                f"expected worker {worker} to go on, but {memory}, and {self.folder}, "
                "where it would write rows, has "
                f"{self.free_bytes / 2**20:,.1f} MiB left; make room there, name another folder in "
                "cluster.local_directory, or raise cluster.memory_limit; what is finished "
                "is kept for --resume",
                "cluster.local_directory",
            )
        return LimitError(
            f"expected worker {worker} to go on, but {memory}, and it has nothing to write "
            "out; raise "
            "cluster.memory_limit; what is finished is kept for --resume",
            "cluster.memory_limit",
        )


@dataclass(slots=True)
class _Record:
    """What we remember of a worker between two questions."""

    last_seen: float | None = None
    silent_s: float = 0.0
    held_up_s: float = 0.0
    cpu_s: float | None = None
    """The processor time that it had used when its nanny was last asked, if that was after its last
    heartbeat.
    """
    is_nanny_silent: bool = False
    is_told: bool = False


class RollCall:
    """Asks a client's scheduler whom it hears from, in a thread of its own, until it is stopped."""

    def __init__(
        self,
        client: Client,
        *,
        lost_timeout_s: float,
        tell: Tell,
        throw_out: Callable[[Sequence[str]], None],
        give_up: Callable[[DnfscaleError], None],
    ) -> None:
        self._client = client
        # A scheduler that is busy for a while is not lost, however short the timeout for workers
        # is.
        self._limit_s = max(lost_timeout_s, SILENT_S)
        self._tell = tell
        self._throw_out = throw_out
        """Called with the workers that are about to be thrown out."""
        self._give_up = give_up
        """Called with why the cluster is of no more use; it ends every call that waits for a
        result.
        """
        self._records: dict[str, _Record] = {}
        self._stopped = threading.Event()
        threading.Thread(target=self._run, name="dnfscale-roll-call", daemon=True).start()

    def stop(self) -> None:
        """Ask no more."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(ASK_S) and self._client.status == "running":
            # Calls on a client that is being closed fail with many kinds of errors, and so do calls
            # to a scheduler that is ending; both are noticed elsewhere.
            with suppress(Exception):
                self._look(self._seen())

    def _seen(self) -> Mapping[str, Seen]:
        """Return what the scheduler says, however long it takes; nothing once it is given up."""
        question = self._asked(self._client.run_on_scheduler, seen_workers)
        # Its last answer is as old as the pause between two questions.
        silent_s = ASK_S
        while silent_s < self._limit_s and not self._stopped.is_set():
            waited_s = min(ASK_S, self._limit_s - silent_s)
            if wait([question], timeout=waited_s).done:
                if silent_s >= SILENT_S:
                    self._tell(Notice("scheduler_answers", "the scheduler answers again"))
                seen: Mapping[str, Seen] = question.result()
                return seen
            silent_s += waited_s
            if silent_s - waited_s < SILENT_S <= silent_s < self._limit_s:
                message = (
                    f"the scheduler has not answered for {silent_s:.0f} s; waiting up to "
                    f"{self._limit_s:.0f} s"
                )
                self._tell(
                    Notice(
                        "scheduler_silent",
                        message,
                        {"silent_s": silent_s, "limit_s": self._limit_s},
                    )
                )
        if not self._stopped.is_set():
            self._give_up(
                ClusterError(
                    "expected the scheduler to answer, but it has not for "
                    f"{self._limit_s:.0f} s, though its "
                    "connection is open; look whether it is stopped or overloaded, start "
                    "it again, and go on with "
                    "--resume; cluster.lost_timeout_s is how long to wait"
                )
            )
        return {}

    def _look(self, seen: Mapping[str, Seen]) -> None:
        """Compare what the scheduler says with what it said before, and act on it."""
        self._records = {address: self._records.get(address, _Record()) for address in seen}
        heard = {
            address
            for address, now in seen.items()
            if now.last_seen != self._records[address].last_seen
        }
        for address in heard:
            self._note_heard(address, seen[address])
        silent = seen.keys() - heard
        for address in silent - self._at_work(silent):
            self._note_silent(address)
        held_up = [address for address in heard if self._records[address].held_up_s]
        for address, memory in self._answers(
            NANNY_S, held_up, self._client.run, full_memory
        ).items():
            if memory is not None and self._records[address].held_up_s >= PAUSED_S:
                self._give_up(memory.as_error(address))
        frozen = [
            address for address, record in self._records.items() if record.silent_s >= FROZEN_S
        ]
        if frozen:
            self._replace(frozen)

    def _note_heard(self, address: str, now: Seen) -> None:
        record = self._records[address]
        if record.is_told:
            self._tell(
                Notice("worker_answers", f"worker {address} answers again", {"worker": address})
            )
        held_up_s = record.held_up_s + ASK_S if now.is_held_up else 0.0
        self._records[address] = _Record(now.last_seen, held_up_s=held_up_s)

    def _note_silent(self, address: str) -> None:
        record = self._records[address]
        record.silent_s += ASK_S
        if record.silent_s >= SILENT_S and not record.is_told:
            record.is_told = True
            message = f"worker {address} has not answered for {record.silent_s:.0f} s"
            facts = {"worker": address, "silent_s": record.silent_s, "limit_s": FROZEN_S}
            self._tell(
                Notice(
                    "worker_silent", f"{message}; it is thrown out after {FROZEN_S:.0f} s", facts
                )
            )

    def _at_work(self, silent: Set[str]) -> set[str]:
        """Return the silent workers that have used the processor since their nannies were asked
        before.
        """
        asked = [address for address in silent if not self._records[address].is_nanny_silent]
        used = self._answers(NANNY_S, asked, self._client.run, worker_cpu_s, nanny=True)
        at_work = set()
        for address in asked:
            record = self._records[address]
            before, record.cpu_s = record.cpu_s, used.get(address)
            record.is_nanny_silent = record.cpu_s is None
            if before is not None and record.cpu_s is not None and record.cpu_s > before:
                at_work.add(address)
                record.silent_s = 0.0
        return at_work

    def _replace(self, addresses: Sequence[str]) -> None:
        """Have nannies kill these workers and start others; the scheduler drops those whose nannies
        do not answer.
        """
        self._throw_out(addresses)
        for address in addresses:
            self._records[address] = _Record()
        question = self._asked(
            self._client.scheduler.restart_workers,
            workers=list(addresses),
            timeout=KILL_S,
            wait_for_workers=False,
            on_error="return",
            stimulus_id="dnfscale-roll-call",
        )
        wait([question], timeout=2 * KILL_S)

    def _answers(
        self,
        limit_s: float,
        workers: Iterable[str],
        ask: Callable[..., Any],
        *arguments: Any,
        **named: Any,
    ) -> dict[str, Any]:
        """Ask all of these workers at once, and return what those say who answer in time."""
        questions = [self._asked(ask, *arguments, workers=[worker], **named) for worker in workers]
        wait(questions, timeout=limit_s)
        answers: dict[str, Any] = {}
        for question in questions:
            if not question.cancel() and question.exception() is None:
                answers |= question.result()
        return answers

    def _asked(
        self, ask: Callable[..., Awaitable[Any]], *arguments: Any, **named: Any
    ) -> Future[Any]:
        """Put a question from the client's own thread, where its methods return awaitables."""

        async def asked() -> Any:
            return await ask(*arguments, **named)

        return asyncio.run_coroutine_threadsafe(asked(), self._client.loop.asyncio_loop)


def seen_workers(dask_scheduler: Scheduler) -> dict[str, Seen]:
    """Return what a scheduler knows of its workers; to be run on it."""
    # If all workers are paused, tasks are not assigned to any.
    waits = bool(dask_scheduler.unrunnable)
    return {
        address: Seen(
            worker.last_seen, worker.status is Status.paused and (waits or bool(worker.processing))
        )
        for address, worker in dask_scheduler.workers.items()
    }


def worker_cpu_s(dask_worker: Nanny) -> float | None:
    """Return the processor time that a worker has used; to be run on its nanny."""
    if not dask_worker.pid:
        return None
    used = psutil.Process(dask_worker.pid).cpu_times()
    return float(used.user + used.system)


def full_memory(dask_worker: Worker) -> FullMemory | None:
    """Return why a paused worker will not go on; None if a task is at work that may free memory, or
    if it was enough to give back what is free already; to be run on it.
    """
    if dask_worker.state.executing or dask_worker.status is not Status.paused:
        return None
    if is_below_pause(dask_worker, give_back()):
        return None
    folder = shared_folder(dask_worker)
    return FullMemory(
        limit_bytes=dask_worker.memory_manager.memory_limit,
        folder=folder,
        free_bytes=shutil.disk_usage(folder).free,
        # What is kept without Dask's buffer cannot be written out.
        holds_results=bool(getattr(dask_worker.data, "fast", None)),
    )


def is_below_pause(dask_worker: Worker, used_bytes: int) -> bool:
    """Say whether a worker that uses so much memory begins tasks again."""
    manager = dask_worker.memory_manager
    return bool(used_bytes < manager.memory_limit * (manager.memory_pause_fraction or 1))


def give_back() -> int:
    """Give back what malloc holds of freed memory, up to 64 MiB, and return what this process
    uses.
    """
    gc.collect()
    with suppress(OSError, AttributeError, TypeError):
        # Only glibc has it.
        ctypes.CDLL(None).malloc_trim(0)
    return int(psutil.Process().memory_info().rss)
