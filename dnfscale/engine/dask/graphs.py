"""Builds the Dask graph of a phase: one task per item, and a tree of merges.

A large function is a node of the graph, so that it travels to each worker once, however many tasks
use it; a small one is part of every task, which then need not wait for another. Keys carry the
phase's name, so that the dashboard reads like the plan.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from dask.task_spec import DataNode, GraphNode, Task, TaskRef
from dask.tokenize import normalize_token
from distributed import Future
from distributed.protocol import pickle

from dnfscale.engine.dask.internals import dealt_task
from dnfscale.engine.dask.tasks import apply, merge_parts

_SMALL_BYTES = 4 << 10
"""Pickled functions up to this size are part of every task.

A node of its own has to be made by one worker and fetched by the others, which takes about 7 ms of
a reduction.
"""


class Graph(dict[Any, GraphNode]):
    """A graph with unique keys, identified by the first: hashing all of it took two thirds of a
    call's time.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


@normalize_token.register(Graph)  # type: ignore[untyped-decorator]
def _by_its_keys(graph: Graph) -> str:
    return str(next(iter(graph)))


def phase_key(phase: str) -> str:
    """Return a unique key that the dashboard shows as the phase's name."""
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

    Each finished task publishes its size, the number of items that it counts for (default 1), under
    the topic, if any.
    """
    # Dask deals tasks out evenly if they are marked and their function is a node in a group of its
    # own; otherwise it sends all of them to the worker that has the function. Fewer tasks than
    # workers are dealt out evenly only if they share no node at all, so that each then carries the
    # function itself.
    several = len(items) >= workers
    graph = Graph()
    shared = _put(graph, (f"function-{name}", 0), function) if several else function
    keys = [(name, number) for number in range(len(items))]
    for key, item, size in zip(keys, items, sizes or [1] * len(items), strict=True):
        kept = isinstance(item, Future)
        argument = TaskRef(item.key) if kept else item
        graph[key] = dealt_task(
            key, apply, shared, argument, topic, size, evenly=several and not kept
        )
    return graph, keys


def add_merges(
    graph: Graph,
    level: Sequence[Any],
    merge: Callable[[Sequence[Any]], Any],
    *,
    name: str,
    fan_in: int,
) -> Any:
    """Add a tree of merges over the results under these keys, and return the key of what it ends
    in.

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
    """Return the argument by which tasks get a function: itself if it is small, else a reference to
    a new node.
    """
    if len(pickle.dumps(function)) <= _SMALL_BYTES:
        return function
    graph[key] = DataNode(key, function)
    return TaskRef(key)
