"""The graphs that a phase becomes: one task per item, and a tree of merges.

A function that is large is a node of the graph, so that however many tasks use it, it travels to a worker once; a small
one goes with every task, which then need not wait for it. Keys carry the phase's name, so that the dashboard reads like
the plan.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from dask.task_spec import DataNode, GraphNode, Task, TaskRef
from dask.tokenize import normalize_token
from distributed import Future
from distributed.protocol import pickle

from dnfscale.engine.dask_internals import dealt_task
from dnfscale.engine.tasks import apply, merge_parts

_SMALL_BYTES = 4 << 10
"""What goes with every task: a node of its own takes one worker a turn to make and the others one more to fetch, some
7 ms of a reduction."""


class Graph(dict[Any, GraphNode]):
    """A graph whose keys are its own, which Dask need not find out: hashing it took two thirds of a call's time."""

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


@normalize_token.register(Graph)  # type: ignore[untyped-decorator]
def _by_its_keys(graph: Graph) -> str:
    return str(next(iter(graph)))


def phase_key(phase: str) -> str:
    """Return a key that the dashboard shows as the phase, and that no other call has."""
    return f"{phase.replace(' ', '-')}-{uuid.uuid4().hex}"


def applied(
    name: str,
    items: Sequence[Any],
    function: Callable[[Any], Any],
    *,
    topic: str | None,
    workers: int,
    sizes: Sequence[int] | None = None,
) -> tuple[Graph, list[Any]]:
    """Return a graph that applies the function to each item, and the keys of its results.

    The sizes are told of under the topic, if there is one: what each item stands for, one if it is not said.
    """
    # In a group of its own, and for tasks that are marked, Dask deals the tasks out evenly; otherwise it would send
    # all of them where the function is. Fewer tasks than workers are dealt out only if nothing ties them together.
    several = len(items) >= workers
    graph = Graph()
    shared = _put(graph, (f"function-{name}", 0), function) if several else function
    keys = [(name, number) for number in range(len(items))]
    for key, item, size in zip(keys, items, sizes or [1] * len(items), strict=True):
        kept = isinstance(item, Future)
        argument = TaskRef(item.key) if kept else item
        graph[key] = dealt_task(key, apply, shared, argument, topic, size, evenly=several and not kept)
    return graph, keys


def add_merges(
    graph: Graph, level: Sequence[Any], merge: Callable[[Sequence[Any]], Any], *, name: str, fan_in: int
) -> Any:
    """Add a tree of merges over the results under these keys, and return the key of what it ends in.

    A single result is merged too.
    """
    merger = _put(graph, ("merger", name), merge)
    depth = 0
    while len(level) > 1 or depth == 0:
        groups = [level[i : i + fan_in] for i in range(0, len(level), fan_in)]
        level = [(f"merge-{name}", depth, number) for number in range(len(groups))]
        for key, group in zip(level, groups, strict=True):
            graph[key] = Task(key, merge_parts, merger, *map(TaskRef, group))
        depth += 1
    return level[0]


def _put(graph: Graph, key: Any, function: Callable[..., Any]) -> Any:
    """Return what tasks of a graph know a function by: itself if it is small, else a node of the graph."""
    if len(pickle.dumps(function)) <= _SMALL_BYTES:
        return function
    graph[key] = DataNode(key, function)
    return TaskRef(key)
