"""The engine on a Dask cluster: one task per item, a tree of merges, nothing but descriptions sent out.

Each call is one static graph. A function that is large is a node of the graph, so that however many tasks use it, it
travels to a worker once; a small one goes with every task, which then need not wait for it. Keys carry the phase's
name, so that the dashboard reads like the plan. Results that are kept stay on the workers as Dask futures: Dask spills
them to disk, and makes them again when their worker dies.
"""

from __future__ import annotations

import logging
import os
import threading
import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import dask
import distributed
from dask._task_spec import DataNode, GraphNode, Task, TaskRef
from dask.tokenize import normalize_token
from dask.utils import parse_bytes
from distributed import Client, Future, LocalCluster, as_completed
from distributed.comm.core import CommClosedError
from distributed.protocol import pickle
from distributed.scheduler import KilledWorker
from distributed.utils import TimeoutError as DaskTimeoutError

from dnfscale.engine.api import (
    Engine,
    Failure,
    Item,
    Limit,
    Notice,
    Progress,
    Result,
    Tell,
    Watch,
    unlimited,
    untold,
    unwatched,
)
from dnfscale.engine.applying import SummarizeRun, apply, apply_within
from dnfscale.engine.attendance import Attendance
from dnfscale.engine.client import OneConnectionClient, workers_of
from dnfscale.engine.credentials import security_of
from dnfscale.engine.forking import APPLYING, prepare_workers
from dnfscale.engine.kinds import ClusterSpec
from dnfscale.engine.runs import run_edges
from dnfscale.engine.settings import LOCAL
from dnfscale.engine.spilling import steady_buffer
from dnfscale.errors import ClusterError, DnfscaleError


def take_down(started: ExitStack, tell: Tell) -> None:
    """Close all that was started; what cannot be closed is told of, and does not hide how the job itself ended."""
    try:
        started.close()
    except Exception as error:
        reason = error.message if isinstance(error, DnfscaleError) else f"{type(error).__name__}: {error}"
        tell(Notice.warning(f"the cluster was not taken down as it should be: {reason}"))


class Graph(dict[Any, GraphNode]):
    """A graph whose keys are its own, which Dask need not find out: hashing it took two thirds of a call's time."""

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


@normalize_token.register(Graph)  # type: ignore[untyped-decorator]
def _by_its_keys(graph: Graph) -> str:
    return str(next(iter(graph)))


_CHAIN_PRIORITY = -1
"""Tasks of chains are long and many: whatever else is to be done on the cluster goes first."""
_SCAN_PRIORITY = 1
"""What is asked of kept results goes before keeping more: they are still in memory."""

_SMALL_BYTES = 4 << 10
"""What goes with every task: a node of its own takes one worker a turn to make and the others one more to fetch, some
7 ms of a reduction."""


class ClusterEngine:
    """Runs phases on the workers of a Dask client."""

    def __init__(
        self,
        client: Client,
        *,
        fan_in: int = 8,
        watch: Watch = unwatched,
        attendance: Attendance | None = None,
        started: ExitStack | None = None,
        foreseen: int = 1,
        tell: Tell = untold,
    ) -> None:
        self.fan_in = fan_in
        self._foreseen = foreseen
        """How many workers there may be, whoever is there already."""
        self.client = client
        self._watch = watch
        self._tell = tell
        self._attendance = attendance or Attendance(client, lost_timeout_s=ClusterSpec().lost_timeout_s)
        self._started = started or ExitStack()
        """What close() takes down, once the client has gone."""
        self._leaving = ExitStack()
        """What close() does while the client is still there."""
        self._topics: list[str] = []
        """Under what the scheduler has told us of progress."""

    @classmethod
    def opened(
        cls, client: Client, started: ExitStack, spec: ClusterSpec, *, watch: Watch = unwatched, tell: Tell = untold
    ) -> ClusterEngine:
        """Run on a client; close() takes down what was started for it, and nothing else."""
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

    @classmethod
    def local(
        cls, spec: ClusterSpec, *, loaded: Sequence[str] = (), watch: Watch = unwatched, tell: Tell = untold
    ) -> ClusterEngine:
        """Start worker processes on this machine, which load these modules, and run on them; close() ends them."""
        started = ExitStack()
        # For as long as the cluster lives: some settings are read when a worker is lost.
        started.enter_context(dask.config.set(LOCAL.as_config()))
        security = security_of(spec.tls)
        method = "forkserver" if prepare_workers(loaded) else "spawn"
        start = {"multiprocessing-method": method, "preload": ["dnfscale.engine.quiet_worker", APPLYING, *loaded]}
        started.enter_context(dask.config.set({f"distributed.worker.{name}": value for name, value in start.items()}))
        # Dask would load pandas here, only to have it loaded where workers are forked.
        distributed.utils._forkserver_preload_set = True
        try:
            cluster = started.enter_context(
                LocalCluster(
                    n_workers=spec.adaptive.minimum if spec.adaptive else spec.workers,
                    threads_per_worker=1,
                    processes=True,
                    memory_limit=spec.memory_limit,
                    data=(steady_buffer, {"memory_bytes": parse_bytes(spec.memory_limit)}),
                    # As it is now: the process that workers are forked from may have been started long ago.
                    env=dict(os.environ),
                    local_directory=spec.local_directory,
                    host="127.0.0.1",
                    protocol=None if security is None else "tls://",
                    security=security,
                    # Any free port of this machine alone. Without the dashboard's pages, and those that Dask would give
                    # every worker, the start is a second shorter.
                    dashboard_address=spec.dashboard or "127.0.0.1:0",
                    scheduler_kwargs={"dashboard": spec.dashboard is not None},
                    silence_logs=logging.CRITICAL,
                )
            )
            if spec.adaptive is not None:
                cluster.adapt(minimum=spec.adaptive.minimum, maximum=spec.adaptive.maximum)
            client = started.enter_context(OneConnectionClient(cluster, set_as_default=False))
            return cls.opened(client, started, spec, watch=watch, tell=tell)
        except (OSError, RuntimeError, DaskTimeoutError) as error:
            take_down(started, tell)
            raise ClusterError(
                f"expected to start {spec.workers} worker processes, but that failed: {error}; a script that starts "
                'some needs its own lines under if __name__ == "__main__"'
            ) from error
        except BaseException:
            take_down(started, tell)
            raise

    def forget_phases(self) -> None:
        """Have the scheduler forget what it remembers of our phases; results go with the client."""
        if self.client.status == "running" and self._topics:
            self.client.run_on_scheduler(_forget_topics, self._topics)

    def at_close(self, leave: Callable[[], Any]) -> None:
        """Have something done when the engine is closed, while the cluster is still there."""
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
        name = _task_name(phase)
        runs = self._runs(items)
        if len(runs) < len(items):
            sizes = [len(run) for run in runs]
            graph, level = self._leaves(name, runs, SummarizeRun(summarize, merge), sizes=sizes)
        else:
            graph, level = self._leaves(name, items, summarize)
        merger = _put(graph, ("merger", name), merge)
        depth = 0
        while len(level) > 1 or depth == 0:
            groups = [level[i : i + self.fan_in] for i in range(0, len(level), self.fan_in)]
            level = [(f"merge-{name}", depth, number) for number in range(len(groups))]
            for key, group in zip(level, groups, strict=True):
                graph[key] = Task(key, _merge, merger, *map(TaskRef, group))
            depth += 1
        result: Result = self._gather(phase, len(items), graph, level)[0]
        return result

    def map(self, phase: str, items: Sequence[Item], function: Callable[[Item], Result]) -> list[Result]:
        if not items:
            return []
        graph, keys = self._leaves(_task_name(phase), items, function)
        return self._gather(phase, len(items), graph, keys)

    def keep(self, phase: str, items: Sequence[Item], function: Callable[[Item], Any]) -> Sequence[Any]:
        graph, keys = self._leaves(_task_name(phase), items, function)
        return self._submit(graph, keys)

    def chain(
        self,
        phase: str,
        chains: Sequence[Generator[Any, Any, Result]],
        function: Callable[[Any], Any],
        *,
        expected: int,
        limit: Limit = unlimited,
    ) -> list[Result]:
        name = _task_name(phase)
        ends: dict[int, Result] = {}
        done = 0
        self._watch(Progress(phase, 0, expected))
        with self._told_as_ours():
            # A task that returns the function, rather than scattered data: it can be made again when a worker dies.
            shared = self.client.submit(_same, function, key=f"function-{name}")
            running: dict[Any, _Running] = {}
            suspects: deque[_Running] = deque()
            finished = as_completed(loop=self.client.loop)

            def submit(number: int, item: Any, *, again: bool = False) -> None:
                future = self.client.submit(
                    apply_within,
                    shared,
                    item,
                    name,
                    limit(item),
                    key=f"{name}-{uuid.uuid4().hex}",
                    pure=False,
                    priority=_CHAIN_PRIORITY,
                    # What one worker lacked (memory, room, a file system) the next may have.
                    retries=1,
                )
                running[future.key] = _Running(number, item, again, future)
                finished.add(future)

            def advance(number: int, answer: Any) -> None:
                try:
                    item = chains[number].send(answer)
                except StopIteration as stop:
                    ends[number] = stop.value
                else:
                    submit(number, item)

            for number in range(len(chains)):
                advance(number, None)
            while running:
                task = running.pop(next(finished).key)
                answer = _answer(task.future)
                if isinstance(answer, KilledWorker) and not task.again:
                    suspects.append(task)
                else:
                    done += 1
                    self._watch(Progress(phase, min(done, expected - 1), expected))
                    advance(task.number, _blamed(answer) if isinstance(answer, KilledWorker) else answer)
                if suspects and not any(other.again for other in running.values()):
                    suspect = suspects.popleft()
                    submit(suspect.number, suspect.item, again=True)
        self._watch(Progress(phase, expected, expected))
        return [ends[number] for number in range(len(chains))]

    def describe(self) -> dict[str, Any]:
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
            self.client, fan_in=self.fan_in, watch=watch, attendance=self._attendance, foreseen=self._foreseen
        )
        guest._topics = self._topics
        self._attendance.listen(tell)
        guest._leaving.callback(self._attendance.forget, tell)
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

    def _runs(self, items: Sequence[Any]) -> list[Sequence[Any]]:
        """Return items as runs for one task each.

        Results that were kept are not joined: those of a run may be on different workers.
        """
        if any(isinstance(item, Future) for item in items):
            return [[item] for item in items]
        workers = max(self._foreseen, self._attendance.n_threads)
        edges = run_edges(len(items), workers=workers, fan_in=self.fan_in)
        return [items[start:end] for start, end in pairwise(edges)]

    def _leaves(
        self, name: str, items: Sequence[Any], function: Callable[[Any], Any], *, sizes: Sequence[int] | None = None
    ) -> tuple[Graph, list[Any]]:
        """Return a graph that applies the function to each item, and the keys of its results.

        The sizes are told of as progress: what each item stands for, one if it is not said.
        """
        topic = None if self._watch is unwatched else name
        if topic is not None:
            self._topics.append(topic)
        # In a group of its own, and for tasks that are marked, Dask deals the tasks out evenly; otherwise it would send
        # all of them where the function is. Fewer tasks than workers are dealt out only if nothing ties them together.
        several = len(items) >= self._attendance.workers
        graph = Graph()
        shared = _put(graph, (f"function-{name}", 0), function) if several else function
        keys = [(name, number) for number in range(len(items))]
        for key, item, size in zip(keys, items, sizes or [1] * len(items), strict=True):
            kept = isinstance(item, Future)
            graph[key] = Task(
                key,
                apply,
                shared,
                TaskRef(item.key) if kept else item,
                topic,
                size,
                _data_producer=several and not kept,
            )
        return graph, keys

    def _submit(self, graph: Graph, keys: Sequence[Any], *, priority: int = 0) -> list[Future]:
        with self._told_as_ours():
            futures: list[Future] = self.client.get(graph, list(keys), sync=False, priority=priority)
        return futures

    def _gather(self, phase: str, total: int, graph: Graph, keys: Sequence[Any]) -> list[Any]:
        with self._told_as_ours(), self._watched(phase, keys[0], total):
            futures = self._submit(graph, keys, priority=_SCAN_PRIORITY)
            gathered: list[Any] = self.client.gather(futures)
        return gathered

    @contextmanager
    def _told_as_ours(self) -> Iterator[None]:
        """Raise the cluster's own failures as ours, saying what happened."""
        try:
            yield
        except DnfscaleError:
            raise
        except KilledWorker as error:
            raise ClusterError(
                f"expected the workers to finish {error.task!r}, but {error.allowed_failures + 1} of them died on it, "
                "most likely for want of memory; raise cluster.memory_limit or lower cluster.workers"
            ) from error
        except Exception as error:
            if self._attendance.lost is not None:
                raise ClusterError(self._attendance.lost) from error
            # What is asked of a client that has closed fails in many ways.
            is_closed = self.client.status != "running"
            if is_closed or isinstance(error, CommClosedError | DaskTimeoutError | CancelledError):
                raise ClusterError(
                    "expected the scheduler to answer, but the connection to it was lost; look why it ended, start it "
                    "again, and go on with --resume"
                ) from error
            raise

    @contextmanager
    def _watched(self, phase: str, key: Any, total: int) -> Iterator[None]:
        """Pass on, while the block runs, what workers say of finished leaves."""
        if self._watch is unwatched:
            yield
            return
        name = key[0].removeprefix("merge-")
        done, lock = 0, threading.Lock()

        def heard(event: tuple[float, int]) -> None:
            nonlocal done
            with lock:
                # A task that ran twice is told of twice, perhaps after the end; the phase still has as many.
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


@dataclass(frozen=True, slots=True)
class _Running:
    """A task of a chain.

    Dask blames the death of a worker on every task that the worker had, so one deadly task makes others suspect. All of
    them are tried again, one at a time: the deadly one cannot do that to another twice.
    """

    number: int
    item: Any
    again: bool
    future: Future


class _Guest(ClusterEngine):
    """An engine on a client that belongs to another one."""

    def close(self) -> None:
        self._leaving.close()


def _same(value: Any) -> Any:
    return value


def _answer(future: Future) -> Any:
    """Return what a finished task has to say to its chain; an error of ours ends the job, any other only the task."""
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


def _forget_topics(topics: list[str], dask_scheduler: Any) -> None:
    for topic in topics:
        dask_scheduler._broker._topics.pop(topic, None)


def _put(graph: Graph, key: Any, function: Callable[..., Any]) -> Any:
    """Return what tasks of a graph know a function by: itself if it is small, else a node of the graph."""
    if len(pickle.dumps(function)) <= _SMALL_BYTES:
        return function
    graph[key] = DataNode(key, function)
    return TaskRef(key)


def _merge(merge: Callable[[Sequence[Any]], Any], *parts: Any) -> Any:
    return merge(parts)


def _task_name(phase: str) -> str:
    """Return a key that the dashboard shows as the phase, and that no other call has."""
    return f"{phase.replace(' ', '-')}-{uuid.uuid4().hex}"
