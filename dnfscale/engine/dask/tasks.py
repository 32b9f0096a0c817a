"""The tasks of our graphs, as a worker runs them: apply a function to an item, merge parts, hand a
function on.

Before its first task a worker is made ready (`prepare`): it waits by a steady clock, and tells its
scheduler the bandwidth that we want. Local workers load this module when they start, and are
prepared then; workers of a cluster that somebody else started load it with the first task that they
are sent. Importing it changes nothing.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

from dask.utils import parse_bytes
from distributed import Worker, get_worker

from dnfscale.engine.dask.internals import hold_bandwidth
from dnfscale.engine.dask.settings import BANDWIDTH
from dnfscale.engine.dask.spilling import report_refusals
from dnfscale.engine.steady_clock import keep_steady

_TELLING_S = 0.5
"""Upper estimate of the time that a worker needs to tell the scheduler of a failed task, if its
machine is not full.
"""


_prepared: WeakSet[Worker] = WeakSet()
"""The workers of this process that are prepared."""


class TaskTimeoutError(Exception):
    """A task was still running after its time limit."""


@dataclass(frozen=True, slots=True)
class SummarizeBatch:
    """Summarizes a batch of items, and merges the summaries on the same worker."""

    summarize: Callable[[Any], Any]
    merge: Callable[[Sequence[Any]], Any]

    def __call__(self, items: Sequence[Any]) -> Any:
        parts = [self.summarize(item) for item in items]
        return self.merge(parts) if len(parts) > 1 else parts[0]


def prepare(worker: Worker) -> None:
    """Prepare a worker for our tasks, unless it is prepared; it stays so until it ends."""
    if worker not in _prepared:
        keep_steady()
        hold_bandwidth(worker, parse_bytes(BANDWIDTH))
        report_refusals(worker)
        _prepared.add(worker)


def dask_setup(worker: Worker) -> None:
    """Prepare a worker that loads this module when it starts."""
    prepare(worker)


def apply(function: Callable[[Any], Any], item: Any, topic: str | None, n_items: int) -> Any:
    """Apply the function, and publish the number of finished items under the topic, if there is
    one.
    """
    worker = get_worker()
    prepare(worker)
    result = function(item)
    if topic is not None:
        worker.log_event(topic, n_items)
    return result


def merge_parts(merge: Callable[[Sequence[Any]], Any], *parts: Any) -> Any:
    """Merge the results of other tasks."""
    prepare(get_worker())
    return merge(parts)


def same(value: Any) -> Any:
    """Return the argument: data that is the result of a task can be made again when its worker
    dies.
    """
    prepare(get_worker())
    return value


def apply_within(
    function: Callable[[Any], Any], item: Any, name: str, limit_s: float | None
) -> Any:
    """Apply the function, but not for longer than the limit.

    A running thread cannot be ended from outside. So the function runs in a thread of its own, and
    when the limit has passed the whole worker is replaced: it hands its results over and closes,
    and its nanny starts another. A worker without a nanny stays, and the thread goes on in the
    background.
    """
    worker = get_worker()
    prepare(worker)
    if limit_s is None:
        return function(item)
    answer: Future[Any] = Future()

    def work() -> None:
        try:
            answer.set_result(function(item))
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=work, name=name, daemon=True).start()
    try:
        return answer.result(timeout=limit_s)
    except TimeoutError:
        if answer.done():
            raise
        if worker.nanny is not None:
            worker.loop.add_callback(_replace, worker, worker.get_current_task())
        raise TaskTimeoutError(f"the task was still at work after {limit_s:g} s") from None


async def _replace(worker: Worker, key: str) -> None:
    # If the worker left before the scheduler knows that the task has failed, the task would be run
    # again elsewhere, reach its limit there, and so on without end.
    while any(task.key == key for task in worker.state.executing):
        await asyncio.sleep(_TELLING_S)
    await asyncio.sleep(_TELLING_S)
    await worker.close_gracefully(restart=True, reason="a task does not end")
