"""The engine on a Dask cluster: one task per item or batch, and a tree of merges; only descriptions
are sent out.

Each call is one static graph (graphs.py), except for chains of tasks (chains.py). Results that are
kept stay on the workers as Dask futures: Dask spills them to disk, and makes them again when their
worker dies.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import pairwise
from typing import Any

from distributed import Client, Future
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker
from distributed.utils import TimeoutError as DaskTimeoutError

from dnfscale.engine.api import (
    Engine,
    Failure,
    Item,
    JointWork,
    Limit,
    Notice,
    Progress,
    Result,
    RunsOn,
    Tell,
    Watch,
    unlimited,
    untold,
    unwatched,
)
from dnfscale.engine.dask.attendance import Attendance
from dnfscale.engine.dask.chains import Chains
from dnfscale.engine.dask.client import workers_of
from dnfscale.engine.dask.graphs import Graph, add_merges, applied, phase_key
from dnfscale.engine.dask.internals import forget_topics
from dnfscale.engine.dask.joint import Joint
from dnfscale.engine.dask.tasks import SummarizeBatch
from dnfscale.engine.reductions import batch_edges
from dnfscale.errors import ClusterError, DnfscaleError, LimitError
from dnfscale.spec.cluster import ClusterSpec

_SCAN_PRIORITY = 1
"""Scans of kept results run before tasks that keep more: what they read is then still in memory."""


def take_down(started: ExitStack, tell: Tell) -> None:
    """Close everything that was started; a failure becomes a warning, so that it does not hide how
    the job ended.
    """
    try:
        started.close()
    except Exception as error:
        reason = (
            error.message
            if isinstance(error, DnfscaleError)
            else f"{type(error).__name__}: {error}"
        )
        tell(Notice.warning(f"the cluster was not taken down as it should be: {reason}"))


class ClusterEngine:
    """Runs phases on the workers of a Dask client."""

    def __init__(  # noqa: PLR0913 (what a guest shares with its host is passed one by one)
        self,
        client: Client,
        *,
        fan_in: int = 8,
        watch: Watch = unwatched,
        attendance: Attendance | None = None,
        started: ExitStack | None = None,
        foreseen: int = 1,
        tell: Tell = untold,
        topics: list[str] | None = None,
    ) -> None:
        self.fan_in = fan_in
        self._foreseen = foreseen
        """The number of workers that the spec asks for; fewer may be present yet."""
        self.client = client
        self._watch = watch
        self._tell = tell
        self._attendance = attendance or Attendance(
            client, lost_timeout_s=ClusterSpec().lost_timeout_s
        )
        self._started = started or ExitStack()
        """What close() takes down after the client is closed."""
        self._leaving = ExitStack()
        """What close() does before the client is closed."""
        self._topics: list[str] = [] if topics is None else topics
        """The topics under which workers reported progress; shared with guests, and forgotten by
        forget_phases().
        """

    @classmethod
    def opened(
        cls,
        client: Client,
        started: ExitStack,
        spec: ClusterSpec,
        *,
        watch: Watch = unwatched,
        tell: Tell = untold,
    ) -> ClusterEngine:
        """Return an engine on a client; close() takes down what is on the stack, and
        nothing else.
        """
        attendance = Attendance(client, lost_timeout_s=spec.lost_timeout_s)
        attendance.listen(tell)
        foreseen = spec.adaptive.maximum if spec.adaptive else spec.workers
        return cls(
            client,
            fan_in=spec.fan_in,
            watch=watch,
            attendance=attendance,
            started=started,
            foreseen=foreseen,
            tell=tell,
        )

    def forget_phases(self) -> None:
        """Remove the progress events of our phases from the scheduler; Dask itself drops results
        with their client.
        """
        if self.client.status == "running" and self._topics:
            self.client.run_on_scheduler(forget_topics, self._topics)

    def at_close(self, leave: Callable[[], Any]) -> None:
        """Register what to do when the engine is closed, before its client is."""
        self._leaving.callback(leave)

    @property
    def worker_bytes(self) -> int | None:
        return min((worker["memory_limit"] for worker in self._workers()), default=0) or None

    def reduce(
        self,
        phase: str,
        items: Sequence[Any],
        summarize: Callable[[Any], Result],
        merge: Callable[[Sequence[Result]], Result],
    ) -> Result:
        name = phase_key(phase)
        batches = self._batches(items)
        if len(batches) < len(items):
            sizes = [len(batch) for batch in batches]
            graph, level = self._leaves(
                name, batches, SummarizeBatch(summarize, merge), sizes=sizes
            )
        else:
            graph, level = self._leaves(name, items, summarize)
        end = add_merges(graph, level, merge, name=name, fan_in=self.fan_in)
        result: Result = self._gather(phase, len(items), graph, [end])[0]
        return result

    def map(
        self, phase: str, items: Sequence[Item], function: Callable[[Item], Result]
    ) -> list[Result]:
        if not items:
            return []
        graph, keys = self._leaves(phase_key(phase), items, function)
        return self._gather(phase, len(items), graph, keys)

    def keep(
        self, phase: str, items: Sequence[Item], function: Callable[[Item], Any]
    ) -> Sequence[Any]:
        graph, keys = self._leaves(phase_key(phase), items, function)
        return self._submit(graph, keys)

    def chain(
        self,
        phase: str,
        chains: Sequence[Generator[Any, Any, Result]],
        function: Callable[[Any], Any],
        *,
        expected: int,
        known: int = 0,
        limit: Limit = unlimited,
    ) -> list[Result]:
        done = min(known, expected - 1)

        def answered() -> None:
            nonlocal done
            done += 1
            self._watch(Progress(phase, min(done, expected - 1), expected))

        self._watch(Progress(phase, done, expected))
        with self._told_as_ours():
            results = Chains(self.client, chains, function, name=phase_key(phase), limit=limit).run(
                answered
            )
        self._watch(Progress(phase, expected, expected))
        return results

    def together(
        self,
        phase: str,
        chains: Sequence[Generator[Any, Any, Result]],
        work: JointWork,
        *,
        expected: int,
        known: int = 0,
        limit: Limit = unlimited,
    ) -> list[Result]:
        done = min(known, expected - 1)
        self._watch(Progress(phase, done, expected))
        joint = Joint(self.client, work.meet, work.shared, name=phase_key(phase))
        ends: list[Result] = []
        for chain in chains:
            answer: Any = None
            while True:
                try:
                    item = chain.send(answer)
                except StopIteration as stop:
                    ends.append(stop.value)
                    break
                with self._told_as_ours():
                    answer = joint.run(partial(work.function, item), limit(item))
                if not isinstance(answer, Failure):
                    answer = work.merge(answer)
                done += 1
                self._watch(Progress(phase, min(done, expected - 1), expected))
        self._watch(Progress(phase, expected, expected))
        return ends

    def describe(self) -> RunsOn:
        workers = self._workers()
        return {
            "engine": "dask",
            "workers": len(workers),
            "threads": sum(worker["nthreads"] for worker in workers),
            "hosts": len({worker["host"] for worker in workers}),
            "worker_bytes": self.worker_bytes,
            "memory_bytes": sum(worker["memory_limit"] for worker in workers),
        }

    def watched_by(self, watch: Watch, tell: Tell = untold) -> Engine:
        guest = _Guest(
            self.client,
            fan_in=self.fan_in,
            watch=watch,
            attendance=self._attendance,
            foreseen=self._foreseen,
            topics=self._topics,
        )
        self._attendance.listen(tell)
        guest.at_close(partial(self._attendance.forget, tell))
        return guest

    def close(self) -> None:
        everything = ExitStack()
        everything.push(self._started)
        everything.callback(self.client.close)
        everything.push(self._leaving)
        everything.callback(self._attendance.stop)
        take_down(everything, self._tell)

    def _workers(self) -> list[dict[str, Any]]:
        return list(workers_of(self.client).values())

    def _batches(self, items: Sequence[Any]) -> list[Sequence[Any]]:
        """Return the items as batches, one per task.

        Kept results are not batched: those of one batch may be on different workers, and would have
        to move.
        """
        if any(isinstance(item, Future) for item in items):
            return [[item] for item in items]
        workers = max(self._foreseen, self._attendance.n_threads)
        edges = batch_edges(len(items), workers=workers, fan_in=self.fan_in)
        return [items[start:end] for start, end in pairwise(edges)]

    def _leaves(
        self,
        name: str,
        items: Sequence[Any],
        function: Callable[[Any], Any],
        *,
        sizes: Sequence[int] | None = None,
    ) -> tuple[Graph, list[Any]]:
        """Return a graph that applies the function to each item, and the keys of its results.

        If somebody watches, each task reports when it is done; `sizes` says how many items it
        counts for (default 1).
        """
        topic = None if self._watch is unwatched else name
        if topic is not None:
            self._topics.append(topic)
        return applied(
            name, items, function, topic=topic, workers=self._attendance.workers, sizes=sizes
        )

    def _submit(self, graph: Graph, keys: Sequence[Any], *, priority: int = 0) -> list[Future]:
        with self._told_as_ours():
            futures: list[Future] = self.client.get(
                graph, list(keys), sync=False, priority=priority
            )
        return futures

    def _gather(self, phase: str, total: int, graph: Graph, keys: Sequence[Any]) -> list[Any]:
        with self._told_as_ours(), self._watched(phase, keys[0], total):
            futures = self._submit(graph, keys, priority=_SCAN_PRIORITY)
            gathered: list[Any] = self.client.gather(futures)
        return gathered

    @contextmanager
    def _told_as_ours(self) -> Iterator[None]:
        """Raise failures of the cluster as ClusterError, with what happened and what to do."""
        try:
            yield
        except DnfscaleError:
            raise
        except KilledWorker as error:
            deaths = error.allowed_failures + 1
            died = f"expected the workers to finish {error.task!r}, but {deaths} of them died on it"
            if self._attendance.refused is not None:
                raise LimitError(
                    f"{died}, while they could not write rows out "
                    f"({self._attendance.refused}); make room there, name "
                    "another folder in cluster.local_directory, or raise cluster.memory_limit",
                    "cluster.local_directory",
                ) from error
            if 2 * self._attendance.over_memory >= deaths:
                raise LimitError(
                    f"{died}, because they used more than their memory; raise "
                    "cluster.memory_limit, lower cluster.workers, or write the data with smaller "
                    "pages and row groups",
                    "cluster.memory_limit",
                ) from error
            raise ClusterError(
                f"{died}, most likely for want of memory; raise cluster.memory_limit or "
                "lower cluster.workers"
            ) from error
        except Exception as error:
            if self._attendance.lost is not None:
                raise self._attendance.lost from error
            # Calls on a closed client fail with many kinds of errors.
            is_closed = self.client.status != "running"
            if is_closed or isinstance(error, CommClosedError | DaskTimeoutError | CancelledError):
                raise ClusterError(
                    "expected the scheduler to answer, but the connection to it was lost; "
                    "look why it ended, start it "
                    "again, and go on with --resume"
                ) from error
            raise

    @contextmanager
    def _watched(self, phase: str, key: Any, total: int) -> Iterator[None]:
        """Pass the workers' reports of finished items on to the watcher while the block runs."""
        if self._watch is unwatched:
            yield
            return
        name = key[0].removeprefix("merge-")
        done, lock = 0, threading.Lock()

        def heard(event: tuple[float, int]) -> None:
            nonlocal done
            with lock:
                # A task that ran twice reports twice, perhaps after the end; progress must not
                # exceed the total.
                if done + event[1] < total:
                    done += event[1]
                    self._watch(Progress(phase, done, total))

        self._watch(Progress(phase, 0, total))
        self.client.subscribe_topic(name, heard)
        try:
            yield
        finally:
            with lock:
                done = total
            if self.client.status == "running":
                self.client.unsubscribe_topic(name)
        self._watch(Progress(phase, total, total))


class _Guest(ClusterEngine):
    """An engine on the client of another engine, which closing it leaves open."""

    def close(self) -> None:
        self._leaving.close()
