"""What we use of Dask and Tornado though it is not public, all in one place: after an upgrade of
Dask, look here.

Every function says what it is for and what goes wrong without it, and
tests/engine/dask/test_internals.py says which names a new version lacks. No other module uses a
private name of Dask. Where there is a public way it is used instead: graphs are made of
dask.task_spec, settings go through dask.config, and workers are prepared by preloading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import distributed.batched
import distributed.scheduler
import distributed.utils
from dask.task_spec import Task
from distributed import Client, Scheduler, Worker
from distributed.spill import SpillBuffer
from tornado.ioloop import IOLoop


def replace_clock(clock: Callable[[], float]) -> Callable[[], None]:
    """Have Dask and Tornado wait by another clock in this process; return how to put the old one
    back.

    Both wait by the wall clock, and have no setting for it. Without this, a clock that is set back
    by an hour stops a job for an hour, and one that is set forward makes the scheduler take its
    workers for lost.
    """
    replaced = distributed.batched.time, distributed.scheduler.time, IOLoop.time

    def put_back() -> None:
        distributed.batched.time, distributed.scheduler.time, IOLoop.time = replaced  # type: ignore[method-assign]

    distributed.batched.time = clock
    distributed.scheduler.time = clock
    IOLoop.time = lambda _loop: clock()  # type: ignore[assignment, method-assign]
    return put_back


def hold_bandwidth(worker: Worker, bytes_per_s: float) -> None:
    """Have a worker tell its scheduler this bandwidth, whatever its transfers take; other workers
    are left alone.

    The configuration sets only what a worker begins with. Dask measures every transfer of a
    megabyte or more, and believes what it measured: without this, after one merge across workers it
    takes moving rows for cheap again. It is right about the wire, but not about what both workers
    do meanwhile; settings.BANDWIDTH says what that costs.
    """
    measure = type(worker)._update_metrics_received_data

    def measure_in_vain(*arguments: Any, **named: Any) -> None:
        measure(worker, *arguments, **named)
        worker.bandwidth = bytes_per_s

    worker._update_metrics_received_data = measure_in_vain
    worker.bandwidth = bytes_per_s


def dealt_task(key: Any, function: Callable[..., Any], *arguments: Any, evenly: bool) -> Task:
    """Return a task which Dask, if it is one of many, deals out evenly, as it does tasks that read
    data.

    Without the mark, all tasks that share a large function go where that function is, and other
    workers get some only by stealing.
    """
    return Task(key, function, *arguments, _data_producer=evenly)


def keep_own_preloads() -> None:
    """Let the process that workers are forked from load what we have told it to, not what Dask
    would.

    Without this, Dask imports pandas and every other package that it knows in this process, only to
    name them to that one, and replaces our list of modules.
    """
    distributed.utils._forkserver_preload_set = True


def forget_topics(topics: Iterable[str], dask_scheduler: Scheduler) -> None:
    """Have a scheduler forget topics and their events; to be run on the scheduler.

    Events can be published and read in public, but not removed. Without this, a scheduler that
    somebody else started would hold the progress of every phase of ours until it ends.
    """
    for topic in topics:
        dask_scheduler._broker._topics.pop(topic, None)


class OneConnectionClient(Client):  # type: ignore[misc]
    """A client that closes, and so ends whatever waits for it, when its connection to the scheduler
    ends.

    Dask's own connects again, and has no setting against it: with every result forgotten, and,
    where the scheduler is still taking the old connection down, to one that does not know it any
    more and never answers. Without this, a job that has lost its scheduler would hang instead of
    saying so; what is finished is kept, and --resume goes on.
    """

    async def _reconnect(self) -> None:
        for state in self.futures.values():
            state.cancel(reason="scheduler-connection-lost")
        self.futures.clear()
        await self._close()


def replace_spill_file(buffer: SpillBuffer, file: Any) -> None:
    """Have a buffer of results write to, and read from, another mapping of keys to bytes.

    Dask's buffer has no argument for it. Without this, results on disk are read into memory instead
    of being mapped.
    """
    # A cache of what is in use, around what serializes, around the files.
    buffer.slow.data.d = file


async def submit_jobs(cluster: Any) -> None:
    """Submit the jobs that a batch system's cluster has been scaled to, and raise what submitting
    says.

    Without this, scale() submits them in the background and only logs an error, so that a job waits
    ten minutes for workers that were refused at once.
    """
    await cluster._correct_state()


def jobs_made(cluster: Any) -> list[Any]:
    """Return all jobs of a batch system's cluster, also those that could not be submitted.

    Without this, closing the cluster fails too, over a job that never was.
    """
    return list(cluster._created)
