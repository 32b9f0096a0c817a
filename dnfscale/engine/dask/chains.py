"""Chains of tasks on a cluster: each task of a chain depends on the answer to the one before.

A task may end the process that works on it. Dask counts, for every task, the deaths of workers that
had the task, and gives the task up with KilledWorker once they are too many. But it counts against
*all* tasks that a dead worker had, so one deadly task makes its neighbours look deadly too. If the
chains believed that, a trial that is fine would count as failed, and which one would depend on
chance. Therefore whatever Dask gives up is only a **suspect**. Suspects are tried once more, one at
a time: the deadly task is then the only suspect at work, and cannot spoil the second trial of
another. Only a task that is given up twice has failed.
"""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

from distributed import Client, Future, as_completed
from distributed.scheduler import KilledWorker

from dnfscale.engine.api import Failure, Limit, Result
from dnfscale.engine.dask.tasks import apply_within, same
from dnfscale.errors import DnfscaleError

_PRIORITY = -1
"""Tasks of chains are long and many: whatever else is to be done on the cluster goes first."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a chain waits for."""

    chain: int
    """The chain's number."""
    item: Any
    is_second_trial: bool = False


class Chains(Generic[Result]):
    """Chains that run side by side, each with at most one task on the cluster."""

    def __init__(
        self,
        client: Client,
        chains: Sequence[Generator[Any, Any, Result]],
        function: Callable[[Any], Any],
        *,
        name: str,
        limit: Limit,
    ) -> None:
        self._client = client
        self._chains = chains
        self._name = name
        self._limit = limit
        # A task that returns the function, rather than scattered data: it can be made again when a
        # worker dies.
        self._function = client.submit(same, function, key=f"function-{name}")
        self._asked: dict[Any, _Asked] = {}
        """What is on the cluster, by the key of its task."""
        self._finished = as_completed(loop=client.loop)
        self._suspects: deque[_Asked] = deque()
        """What Dask gave up once, and what is not on the cluster again yet."""
        self._ends: dict[int, Result] = {}
        """What the chains that have ended returned, by their numbers."""

    def run(self, answered: Callable[[], None]) -> list[Result]:
        """Run all chains to their ends, and return what they return; `answered` is called after
        each task.
        """
        for number in range(len(self._chains)):
            self._advance(number, None)
        while self._asked:
            future = next(self._finished)
            asked = self._asked.pop(future.key)
            answer = _answer(future)
            if not isinstance(answer, KilledWorker):
                answered()
                self._advance(asked.chain, answer)
            elif asked.is_second_trial:
                answered()
                self._advance(asked.chain, _blamed(answer))
            else:
                self._suspects.append(asked)
            self._retry_a_suspect()
        return [self._ends[number] for number in range(len(self._chains))]

    def _advance(self, number: int, answer: Any) -> None:
        """Send a chain its answer, and submit what it asks for next."""
        try:
            item = self._chains[number].send(answer)
        except StopIteration as stop:
            self._ends[number] = stop.value
        else:
            self._submit(_Asked(number, item))

    def _retry_a_suspect(self) -> None:
        """Submit the longest waiting suspect again, unless another one is at work."""
        if self._suspects and not any(asked.is_second_trial for asked in self._asked.values()):
            self._submit(replace(self._suspects.popleft(), is_second_trial=True))

    def _submit(self, asked: _Asked) -> None:
        future = self._client.submit(
            apply_within,
            self._function,
            asked.item,
            self._name,
            self._limit(asked.item),
            key=f"{self._name}-{uuid.uuid4().hex}",
            pure=False,
            priority=_PRIORITY,
            # What one worker lacked (memory, room, a file system) the next may have.
            retries=1,
        )
        self._asked[future.key] = asked
        # This holds the future until its result is read; Dask forgets a task whose last future is
        # gone.
        self._finished.add(future)


def _answer(future: Future) -> Any:
    """Return what a finished task has to say to its chain; an error of ours ends the job, any other
    only the task.
    """
    if future.cancelled():
        future.result()
    error = future.exception()
    if error is None:
        try:
            return future.result()
        except KilledWorker as died:
            # The result went with its worker, and others died while it was found again.
            return died
    if isinstance(error, DnfscaleError):
        raise error
    return error if isinstance(error, KilledWorker) else Failure(f"{type(error).__name__}: {error}")


def _blamed(error: KilledWorker) -> Failure:
    # Dask's own words name a worker and a key, which differ from run to run; a result must not.
    return Failure(f"{error.allowed_failures + 1} workers in a row died on it")
