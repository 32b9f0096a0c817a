"""What we use of Dask though it is not public is there, and used nowhere but in
engine/dask_internals.py.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import distributed.batched
import distributed.scheduler
import distributed.utils
import pytest
from dask.task_spec import Task
from distributed import Client, Worker
from distributed.deploy.spec import SpecCluster
from distributed.spill import SpillBuffer
from tornado.ioloop import IOLoop

from dnfscale.engine.dask import internals as dask_internals
from dnfscale.engine.dask.engine import ClusterEngine

pytestmark = pytest.mark.portable

LIBRARIES = {"dask", "distributed", "tornado", "zict", "dask_jobqueue", "dask_kubernetes"}

# Each name, whose function needs it, and a look that raises where it is not there.
USED: list[tuple[str, Any, Callable[[ClusterEngine, Path], object]]] = [
    (
        "distributed.batched.time",
        dask_internals.replace_clock,
        lambda *_: distributed.batched.time(),
    ),
    (
        "distributed.scheduler.time",
        dask_internals.replace_clock,
        lambda *_: distributed.scheduler.time(),
    ),
    ("tornado.ioloop.IOLoop.time", dask_internals.replace_clock, lambda *_: IOLoop.time),
    (
        "distributed.Worker._update_metrics_received_data",
        dask_internals.hold_bandwidth,
        lambda *_: Worker._update_metrics_received_data,
    ),
    (
        "the argument _data_producer of dask.task_spec.Task",
        dask_internals.dealt_task,
        lambda *_: inspect.signature(Task).parameters["_data_producer"],
    ),
    (
        "distributed.utils._forkserver_preload_set",
        dask_internals.keep_own_preloads,
        lambda *_: distributed.utils._forkserver_preload_set,
    ),
    (
        "distributed.Scheduler._broker._topics",
        dask_internals.forget_topics,
        lambda engine, _: engine.client.run_on_scheduler(n_topics),
    ),
    (
        "distributed.Client._reconnect",
        dask_internals.OneConnectionClient,
        lambda *_: Client._reconnect,
    ),
    ("distributed.Client._close", dask_internals.OneConnectionClient, lambda *_: Client._close),
    (
        "distributed.spill.SpillBuffer.slow.data.d",
        dask_internals.replace_spill_file,
        lambda _, folder: SpillBuffer(str(folder), target=1).slow.data.d.directory,
    ),
    (
        "distributed.SpecCluster._correct_state",
        dask_internals.submit_jobs,
        lambda *_: SpecCluster._correct_state,
    ),
    (
        "distributed.SpecCluster._created",
        dask_internals.jobs_made,
        lambda engine, _: engine.client.cluster._created,
    ),
]


def n_topics(dask_scheduler: distributed.Scheduler) -> int:
    return len(dask_scheduler._broker._topics)


def check(name: str, user: Any, look: Callable[[], object]) -> None:
    """Fail, saying what a new version lacks and what it is for."""
    try:
        look()
    except (AttributeError, KeyError, TypeError) as error:
        [library] = {part for part in name.replace(".", " ").split() if part in LIBRARIES}
        pytest.fail(
            f"{library} {version(library)} has no {name} ({error}); change {user.__name__} in "
            f"dnfscale/engine/dask/internals.py, which needs it: {inspect.getdoc(user)}"
        )


@pytest.mark.parametrize(("name", "user", "look"), USED, ids=[name for name, *_ in USED])
def test_what_we_use_though_it_is_not_public_is_there(name, user, look, cluster, tmp_path):
    check(name, user, lambda: look(cluster, tmp_path))


def test_a_name_that_is_gone_is_told_with_what_it_is_for(monkeypatch):
    monkeypatch.delattr(Client, "_reconnect")
    [(name, user, look)] = [used for used in USED if used[0] == "distributed.Client._reconnect"]
    told = (
        r"^distributed [\d.]+ has no distributed\.Client\._reconnect .*OneConnectionClient "
        r".*would hang"
    )
    with pytest.raises(pytest.fail.Exception, match=rf"(?s){told}"):
        check(name, user, lambda: look(None, None))


def test_every_function_of_the_module_is_for_a_name_that_is_looked_for():
    module = dask_internals.__name__
    own = {
        name
        for name, each in vars(dask_internals).items()
        if getattr(each, "__module__", None) == module
    }
    assert own == {user.__name__ for _, user, _ in USED}


def private_names(text: str) -> Iterator[str]:
    """Yield private names of other objects, and of Dask's modules, that a module uses."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield ast.unparse(node)
        elif isinstance(node, ast.keyword) and is_private(node.arg or ""):
            yield f"{node.arg}="
        elif isinstance(node, ast.Import | ast.ImportFrom):
            modules = (
                [getattr(node, "module", None) or ""] if isinstance(node, ast.ImportFrom) else []
            )
            for path in [*modules, *(alias.name for alias in node.names)]:
                library = (modules or [path])[0].partition(".")[0]
                if library in LIBRARIES and any(is_private(part) for part in path.split(".")):
                    yield path


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@pytest.mark.parametrize(
    "text",
    [
        "scheduler._broker",
        "f(_mark=1)",
        "from dask._task_spec import Task",
        "from distributed import _version",
    ],
)
def test_a_private_name_is_seen(text):
    assert list(private_names(text))


def test_no_other_module_uses_private_names():
    root = Path(dask_internals.__file__).parents[1]
    found = {
        path.relative_to(root).as_posix(): list(private_names(path.read_text(encoding="utf-8")))
        for path in root.rglob("*.py")
        if path.name != "internals.py"
    }
    assert {file: names for file, names in found.items() if names} == {}
