"""Work that all workers do together: each has a share of the items, and they talk to each other.

Such work stands or falls as a whole: when a worker is lost, those that are left wait for it, fail,
or end with it. So every attempt is watched. One that lost a worker is given up whole, workers that
do not come back from it are restarted, and it is tried again with the workers that are there then.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from itertools import pairwise
from typing import Any

from distributed import Client, Future

from dnfscale.engine.api import Failure, Share
from dnfscale.engine.dask.client import workers_of
from dnfscale.engine.dask.tasks import TaskTimeoutError, apply_within
from dnfscale.errors import DnfscaleError

_ATTEMPTS = 3
_LOOK_S = 0.5
"""How often it is looked whether all workers are still there."""
_PAUSE_S = 0.02
_RETURN_S = 20.0
"""How long an attempt waits for as many workers as the one before had."""
_END_S = 10.0
"""How long the others may take to notice that one of them is lost, or has failed."""


class _LostError(Exception):
    """A worker was lost; another attempt may succeed."""


class Joint:
    """Work on all workers of a client."""

    def __init__(
        self, client: Client, meet: Callable[[str, int], Any], items: Sequence[Any], *, name: str
    ) -> None:
        self._client = client
        self._meet = meet
        self._items = items
        self._name = name
        self._wanted = 1
        """How many workers an attempt waits for, for some time."""

    def run(self, function: Callable[[Share], Any], limit_s: float | None) -> list[Any] | Failure:
        """Return what the function returns on each worker for its share of the items, in order; a
        Failure where it failed, or lost workers, too often.
        """
        for _ in range(_ATTEMPTS):
            try:
                return self._attempt(function, limit_s)
            except _LostError:
                continue
        return Failure(f"workers were lost in {_ATTEMPTS} attempts in a row")

    def _attempt(
        self, function: Callable[[Share], Any], limit_s: float | None
    ) -> list[Any] | Failure:
        workers = self._gathered()
        addresses = sorted(workers)[: len(self._items)]
        self._wanted = len(addresses)
        host = workers[addresses[0]]["host"]
        meeting = self._ended([self._start_meeting(addresses[0], host, len(addresses))], addresses)
        if isinstance(meeting, Failure):
            return meeting
        size = len(addresses)
        edges = [rank * len(self._items) // size for rank in range(size + 1)]
        shares = [
            Share(tuple(self._items[start:stop]), rank, size, meeting[0])
            for rank, (start, stop) in enumerate(pairwise(edges))
        ]
        futures = [
            self._submit(address, apply_within, function, share, self._name, limit_s)
            for address, share in zip(addresses, shares, strict=True)
        ]
        return self._ended(futures, addresses)

    def _gathered(self) -> dict[str, dict[str, Any]]:
        """Return the workers, once there are as many as before, or some after a while."""
        deadline = time.monotonic() + _RETURN_S
        while True:
            if self._client.status != "running":
                raise CancelledError
            workers = workers_of(self._client)
            late = time.monotonic() > deadline
            if len(workers) >= self._wanted or (workers and late):
                return workers
            time.sleep(_LOOK_S)

    def _start_meeting(self, address: str, host: str, size: int) -> Future:
        meeting = _Meeting(self._meet, host)
        return self._submit(address, apply_within, meeting, size, f"meet-{self._name}", None)

    def _submit(self, address: str, task: Callable[..., Any], *arguments: Any) -> Future:
        return self._client.submit(
            task,
            *arguments,
            key=f"{self._name}-{uuid.uuid4().hex}",
            pure=False,
            workers=[address],
            allow_other_workers=False,
        )

    def _ended(self, futures: list[Future], addresses: Sequence[str]) -> list[Any] | Failure:
        """Return the results of tasks when all are there; raise _LostError where a worker is
        lost.
        """
        while not self._done(futures, addresses):
            pass
        failed = [future for future in futures if future.status != "finished"]
        if not failed:
            results: list[Any] = self._client.gather(futures)
            return results
        reasons = [future.exception() for future in failed if future.status == "error"]
        self._leave(futures, addresses)
        for error in reasons:
            if isinstance(error, DnfscaleError):
                raise error
            if isinstance(error, TaskTimeoutError):
                return Failure(f"{type(error).__name__}: {error}")
        if self._lost(addresses) or not reasons:
            raise _LostError
        return Failure(f"{type(reasons[0]).__name__}: {reasons[0]}")

    def _done(self, futures: list[Future], addresses: Sequence[str]) -> bool:
        """Wait a little; say whether all tasks have finished, one has failed, or a worker is
        lost.
        """
        deadline = time.monotonic() + _LOOK_S
        while time.monotonic() < deadline:
            if self._client.status != "running":
                raise CancelledError
            states = {future.status for future in futures}
            if states - {"pending", "finished"} or states == {"finished"}:
                return True
            time.sleep(_PAUSE_S)
        return self._lost(addresses)

    def _lost(self, addresses: Sequence[str]) -> bool:
        return not set(addresses) <= set(workers_of(self._client))

    def _leave(self, futures: list[Future], addresses: Sequence[str]) -> None:
        """See that no worker is at work on an attempt that has failed."""
        deadline = time.monotonic() + _END_S
        while time.monotonic() < deadline and self._client.status == "running":
            there = set(workers_of(self._client))
            at_work = [
                address
                for future, address in zip(futures, addresses, strict=False)
                if not future.done() and address in there
            ]
            if not at_work:
                break
            time.sleep(_LOOK_S)
        else:
            self._client.restart_workers(at_work, raise_for_error=False)
        self._client.cancel(futures, force=True)


class _Meeting:
    """Starts a meeting on the worker of the first share."""

    def __init__(self, meet: Callable[[str, int], Any], host: str) -> None:
        self._meet = meet
        self._host = host

    def __call__(self, size: int) -> Any:
        return self._meet(self._host, size)
