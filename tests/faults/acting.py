"""What befalls a worker in the middle of a task: read from a plan on disk, so that one cluster
serves many faults.

The package under test knows nothing of this: the hook wraps what a worker applies to its items. An
act happens at most as often as the plan says, over all processes; each time leaves a mark with the
number of the process.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.util
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

PLAN = "DNFSCALE_FAULT_PLAN"
"""Names the file of the plan, and by the way marks every process that belongs to a fault."""
CLOCK_S = "DNFSCALE_FAULT_CLOCK_S"
"""By how much the clock of a process jumps once there is a mark."""
_WRAPPED = "dnfscale.engine.dask.tasks"


def arrange() -> None:
    """Have this process take part, if there is a plan."""
    if PLAN not in os.environ:
        return
    sys.meta_path.insert(0, _Finder())
    if any("multiprocessing.forkserver" in part for part in sys.orig_argv):
        # What workers are forked from loads what they will need, so that one that is started again
        # is soon of use.
        for module in (
            "dnfscale.learn.line",
            "dnfscale.compare.rows",
            "sklearn.ensemble",
            "scipy.optimize",
            _WRAPPED,
        ):
            importlib.import_module(module)
    if CLOCK_S in os.environ:
        _let_jump(float(os.environ[CLOCK_S]))


def mark_of(plan: Path, number: int) -> Path:
    """The file that says that an act has happened."""
    return plan.with_name(f"mark-{number}")


class _Finder(importlib.abc.MetaPathFinder):
    """Wraps what a worker applies as soon as it is imported."""

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _WRAPPED:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.loader is not None
        load = spec.loader.exec_module

        def load_and_wrap(module: ModuleType) -> None:
            load(module)
            for name in ("apply", "apply_within"):
                setattr(module, name, _befallen(getattr(module, name)))

        spec.loader.exec_module = load_and_wrap  # type: ignore[method-assign]
        return spec


def _befallen(apply: Callable[..., Any]) -> Callable[..., Any]:
    # It keeps its name, by which it travels.
    @functools.wraps(apply)
    def applied(function: Callable[[Any], Any], item: Any, topic: str | None, *rest: Any) -> Any:
        return apply(_Befallen(function, topic or _current_key()), item, topic, *rest)

    return applied


def _current_key() -> str:
    """Return the name of the task at hand, where nobody is told of its end."""
    from dask.utils import key_split
    from distributed import get_worker

    return str(key_split(get_worker().get_current_task()))


class _Befallen:
    """A function before whose call something may happen."""

    def __init__(self, function: Callable[[Any], Any], topic: str) -> None:
        self._function = function
        self._topic = topic

    def __call__(self, item: Any) -> Any:
        file = Path(os.environ[PLAN])
        try:
            plan = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            plan = None
        if plan is not None and _is_due(plan, self._topic, item) and _claim(file, plan["times"]):
            ACTS[plan["act"]](plan)
        return self._function(item)


def _is_due(plan: dict[str, Any], topic: str, item: Any) -> bool:
    if not topic.startswith(plan["phase"].replace(" ", "-")) or random.random() >= plan["share"]:
        return False
    wanted = plan["trees"]
    return wanted is None or (not item.final and item.params["n_estimators"] == wanted)


def _claim(file: Path, times: int) -> bool:
    for number in range(times):
        try:
            with mark_of(file, number).open("x") as mark:
                mark.write(str(os.getpid()))
            return True
        except FileExistsError:
            continue
    return False


def _kill_after(seconds: float) -> None:
    """End this process in the middle of what it begins now."""
    threading.Timer(seconds, os.kill, [os.getpid(), signal.SIGKILL]).start()


def _eat(_plan: dict[str, Any]) -> None:
    eaten = []
    while True:
        # Zeros of a fresh allocation take no memory until they are written.
        eaten.append(b"x" * (64 << 20))
        time.sleep(0.05)


ACTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "kill": lambda _plan: os.kill(os.getpid(), signal.SIGKILL),
    "kill later": lambda plan: _kill_after(plan["seconds"]),
    "pause": lambda _plan: os.kill(os.getpid(), signal.SIGSTOP),
    "wait": lambda plan: time.sleep(plan["seconds"]),
    "eat": _eat,
}
"""What can happen."""


def _let_jump(seconds: float) -> None:
    real, mark = time.time, mark_of(Path(os.environ[PLAN]), 0)

    def jumping() -> float:
        return real() + (seconds if mark.exists() else 0.0)

    time.time = jumping
