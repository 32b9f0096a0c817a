"""The engine on a Dask cluster: one task per item, a tree of merges, nothing but descriptions sent out.

Each call is one static graph. Its functions are nodes of the graph, so that however many tasks use one, it travels to
a worker once. Keys carry the phase's name, so that the dashboard reads like the plan. Results that are kept stay on
the workers as Dask futures: Dask spills them to disk, and makes them again when their worker dies.
"""

from __future__ import annotations

import json
import logging
import re
import uuid
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import dask
from dask._task_spec import DataNode, GraphNode, Task, TaskRef
from distributed import Client, Future, LocalCluster, as_completed
from distributed.comm.core import CommClosedError
from distributed.comm.registry import backends
from distributed.scheduler import KilledWorker
from distributed.utils import TimeoutError as DaskTimeoutError
from distributed.versions import VersionMismatchWarning

from dnfscale.engine.api import Engine, Failure, Item, Progress, Result, Watch, unwatched
from dnfscale.engine.news import TaskNews, tell_done
from dnfscale.engine.versions import check_software
from dnfscale.errors import ClusterError, DnfscaleError

Graph = dict[Any, GraphNode]

_START_S = 60
"""How long a cluster may take to offer its first worker."""

_CONNECT_S = 15
"""How long a scheduler may take to answer."""

_CHAIN_PRIORITY = -1
"""Tasks of chains are long and many: whatever else is to be done on the cluster goes first."""

_LOCAL_SETTINGS = {
    "distributed.comm.timeouts.connect": f"{_START_S}s",
    "distributed.worker.profile.enabled": False,
    # A worker that is slow to come back is waited for: without any, a job would wait for ever.
    "distributed.deploy.lost-worker-timeout": "1 hour",
    "distributed.worker.preload": ["dnfscale.engine.quiet_worker"],
    # By default a scan's tasks wait at the scheduler until a worker has hardly anything left to do, which is never
    # while chains keep it busy: the scans of a suite would wait for all tuning, whatever their priority.
    "distributed.scheduler.worker-saturation": float("inf"),
    # Binned rows beyond a tenth of a worker wait on disk, so that the peak does not grow with the rows; with workers of
    # 700 MiB the study of 10 million rows took 8.1 s instead of 8.0 s.
    "distributed.worker.memory.target": 0.1,
    "distributed.worker.memory.spill": 0.55,
    # Dask makes malloc give back every freed array at once, and the page faults of taking memory anew double the time
    # of a scan. Blocks are small, so that what is held instead stays below this.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 64 << 20,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 64 << 20,
}


class ClusterEngine:
    """Runs phases on the workers of a Dask client."""

    def __init__(
        self, client: Client, *, fan_in: int = 8, watch: Watch = unwatched, news: TaskNews | None = None
    ) -> None:
        self.fan_in = fan_in
        self._client = client
        self._news = news or TaskNews(client)
        self._watch = watch
        self._started = ExitStack()
        """What close() takes down."""

    @classmethod
    def local(cls, *, workers: int, memory_limit: str, fan_in: int, watch: Watch = unwatched) -> ClusterEngine:
        """Start worker processes on this machine and run on them; close() ends them."""
        started = ExitStack()
        # For as long as the cluster lives: some settings are read when a worker is lost.
        started.enter_context(dask.config.set(_LOCAL_SETTINGS))
        try:
            cluster = started.enter_context(
                LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    memory_limit=memory_limit,
                    host="127.0.0.1",
                    # Any free port of this machine alone; without the dashboard's pages the start is a second shorter.
                    dashboard_address="127.0.0.1:0",
                    worker_dashboard_address="127.0.0.1:0",
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL,
                )
            )
        except (OSError, RuntimeError, DaskTimeoutError) as error:
            started.close()
            raise ClusterError(
                f"expected to start {workers} worker processes, but that failed: {error}; a script that starts some "
                'needs its own lines under if __name__ == "__main__"'
            ) from error
        except BaseException:
            started.close()
            raise
        engine = cls(Client(cluster, set_as_default=False), fan_in=fan_in, watch=watch)
        engine._started = started
        return engine

    @classmethod
    def connect(
        cls,
        *,
        address: str | None = None,
        scheduler_file: str | None = None,
        fan_in: int,
        mixed_versions: bool = False,
        watch: Watch = unwatched,
    ) -> ClusterEngine:
        """Run on a cluster that somebody else started; close() leaves it as it was."""
        place = address if address is not None else scheduler_file
        client = join(address=address, scheduler_file=scheduler_file)
        try:
            client.wait_for_workers(1, timeout=_START_S)
        except (DaskTimeoutError, TimeoutError) as error:
            client.close()
            raise ClusterError(
                f"expected at least one worker at the scheduler {place} within {_START_S} s, but none came; start one"
            ) from error
        try:
            with told_as_ours():
                check_software(client, mixed=mixed_versions)
        except BaseException:
            client.close()
            raise
        return cls(client, fan_in=fan_in, watch=watch)

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
        graph, level = self._leaves(name, items, summarize)
        merger = ("merger", name)
        graph[merger] = DataNode(merger, merge)
        depth = 0
        while len(level) > 1 or depth == 0:
            groups = [level[i : i + self.fan_in] for i in range(0, len(level), self.fan_in)]
            level = [(f"merge-{name}", depth, number) for number in range(len(groups))]
            for key, group in zip(level, groups, strict=True):
                graph[key] = Task(key, _merge, TaskRef(merger), *map(TaskRef, group))
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
    ) -> list[Result]:
        name = _task_name(phase)
        ends: dict[int, Result] = {}
        done = 0
        self._watch(Progress(phase, 0, expected))
        with told_as_ours():
            # A task that returns the function, rather than scattered data: it can be made again when a worker dies.
            shared = self._client.submit(_same, function, key=f"function-{name}")
            running: dict[Any, tuple[int, Future]] = {}
            finished = as_completed(loop=self._client.loop)

            def advance(number: int, answer: Any) -> None:
                try:
                    item = chains[number].send(answer)
                except StopIteration as stop:
                    ends[number] = stop.value
                    return
                key = f"{name}-{uuid.uuid4().hex}"
                future = self._client.submit(_apply, shared, item, key=key, pure=False, priority=_CHAIN_PRIORITY)
                running[key] = (number, future)
                finished.add(future)

            for number in range(len(chains)):
                advance(number, None)
            while running:
                future = next(finished)
                number, _ = running.pop(future.key)
                done += 1
                self._watch(Progress(phase, min(done, expected - 1), expected))
                advance(number, _answer(future))
        self._watch(Progress(phase, expected, expected))
        return [ends[number] for number in range(len(chains))]

    def describe(self) -> dict[str, Any]:
        workers = self._workers()
        return {
            "engine": "dask",
            "workers": len(workers),
            "threads": sum(worker["nthreads"] for worker in workers),
            "worker_bytes": self.worker_bytes,
        }

    def watched_by(self, watch: Watch) -> Engine:
        return _Guest(self._client, fan_in=self.fan_in, watch=watch, news=self._news)

    def close(self) -> None:
        self._client.close()
        self._started.close()

    def _workers(self) -> list[dict[str, Any]]:
        return list(self._client.scheduler_info(n_workers=-1)["workers"].values())

    def _leaves(self, name: str, items: Sequence[Any], function: Callable[[Any], Any]) -> tuple[Graph, list[Any]]:
        """Return a graph that applies the function to each item, and the keys of its results."""
        shared = ("function", name)
        graph: Graph = {shared: DataNode(shared, function)}
        keys = [(name, number) for number in range(len(items))]
        for key, item in zip(keys, items, strict=True):
            argument = TaskRef(item.key) if isinstance(item, Future) else item
            graph[key] = Task(key, _apply_and_tell, TaskRef(shared), argument, self._news.topic, name)
        return graph, keys

    def _submit(self, graph: Graph, keys: Sequence[Any]) -> list[Future]:
        with told_as_ours():
            futures: list[Future] = self._client.get(graph, list(keys), sync=False)
        return futures

    def _gather(self, phase: str, total: int, graph: Graph, keys: Sequence[Any]) -> list[Any]:
        with told_as_ours(), self._watched(phase, keys[0], total):
            futures = self._submit(graph, keys)
            gathered: list[Any] = self._client.gather(futures)
        return gathered

    @contextmanager
    def _watched(self, phase: str, key: Any, total: int) -> Iterator[None]:
        """Pass on, while the block runs, what workers say of finished leaves."""
        name = key[0].removeprefix("merge-")
        done = 0

        def heard() -> None:
            nonlocal done
            # A task that ran twice is told of twice; the phase still has as many.
            if done + 1 < total:
                done += 1
                self._watch(Progress(phase, done, total))

        self._watch(Progress(phase, 0, total))
        with self._news.passed_on(name, heard):
            yield
        self._watch(Progress(phase, total, total))


def join(*, address: str | None, scheduler_file: str | None) -> Client:
    """Become a client of a scheduler that somebody else started."""
    place = address if address is not None else scheduler_file
    if address is None:
        address = _address_in(str(scheduler_file))
    _check_address(address)
    try:
        with warnings.catch_warnings():
            # Versions are compared by engine/versions.py, which says what to do.
            warnings.simplefilter("ignore", VersionMismatchWarning)
            return Client(address=address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError, DaskTimeoutError) as error:
        raise ClusterError(f"expected a Dask scheduler at {place}, but none answers: {error}") from error


class _Guest(ClusterEngine):
    """An engine on a client that belongs to another one."""

    def close(self) -> None:
        pass


def _apply(function: Callable[[Any], Any], item: Any) -> Any:
    return function(item)


def _apply_and_tell(function: Callable[[Any], Any], item: Any, topic: str, name: str) -> Any:
    result = function(item)
    tell_done(topic, name)
    return result


def _same(value: Any) -> Any:
    return value


def _answer(future: Future) -> Any:
    """Return what a finished task has to say to its chain; an error of ours ends the job, any other only the task."""
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, DnfscaleError):
        raise error
    return Failure(f"{type(error).__name__}: {error}")


def _merge(merge: Callable[[Sequence[Any]], Any], *parts: Any) -> Any:
    return merge(parts)


def _address_in(scheduler_file: str) -> str:
    """Return the address that a scheduler wrote into its file."""
    try:
        return str(json.loads(Path(scheduler_file).read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ClusterError(
            f"expected the file that a Dask scheduler writes at {scheduler_file}, but it cannot be read "
            f"({type(error).__name__}: {error}); start the scheduler with --scheduler-file"
        ) from error


def _check_address(address: str) -> None:
    match = re.fullmatch(r"(?:([a-z]+)://)?(?:\[[^\]]+\]|[^\[\]:/]+):\d+", address)
    if match is None or (match[1] is not None and match[1] not in backends):
        raise ClusterError(
            f"expected the address of a Dask scheduler, such as tcp://10.0.0.5:8786, got {address!r}; correct it"
        )


def _task_name(phase: str) -> str:
    """Return a key that the dashboard shows as the phase, and that no other call has."""
    return f"{phase.replace(' ', '-')}-{uuid.uuid4().hex}"


@contextmanager
def told_as_ours() -> Iterator[None]:
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
    except RuntimeError as error:
        if "deserialization of the task graph" not in str(error):
            raise
        raise ClusterError(
            f"expected the scheduler to know our tasks, but it does not: {error.__cause__ or 'unknown'}; "
            "start it again with the software that is here"
        ) from error
    except (CommClosedError, DaskTimeoutError) as error:
        raise ClusterError(f"expected the scheduler to answer, but the connection to it was lost: {error}") from error
