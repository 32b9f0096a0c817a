"""Who waits by a clock that cannot be set, and since when."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import distributed.batched
import distributed.scheduler
from distributed import Client
from tornado.ioloop import IOLoop

from dnfscale.engine.clusters.address import Address
from dnfscale.engine.launch import launch
from dnfscale.engine.steady_clock import steady_clock
from dnfscale.spec.cluster import ClusterSpec
from tests.deploy.processes import Processes, start_scheduler, start_worker

SNAPSHOT = """\
import importlib, inspect, pkgutil, sys
import distributed, tornado.ioloop, dnfscale

def seen():
    found = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] not in ("dask", "distributed", "tornado"):
            continue
        for key, value in list(vars(module).items()):
            found[name, key] = value
            if inspect.isclass(value) and value.__module__ == name:
                found |= {(name, key, part): each for part, each in vars(value).items()}
    return found

def changed(before):
    # Modules that are loaded become attributes of their packages; what a class has worked out it
    # may keep.
    after = seen()
    return sorted(place for place, value in before.items() if after.get(place) is not value)

before = seen()
"""

IMPORT_ALL = """
import dnfscale.engine, dnfscale.engine.dask.engine
for part in pkgutil.walk_packages(dnfscale.engine.__path__, "dnfscale.engine."):
    # That one is a worker's own, and changes what Ctrl-C does.
    if part.name != "dnfscale.engine.dask.quiet_worker":
        importlib.import_module(part.name)
print(len(before) > 5000, changed(before))
"""

HOLD_TWICE = """
from dnfscale.engine.steady_clock import steady_clock
from dnfscale.engine.clusters.address import Address
with steady_clock():
    with steady_clock():
        pass
    print(changed(before))
print(changed(before))
"""

HELD = [
    ("distributed.batched", "time"),
    ("distributed.scheduler", "time"),
    ("tornado.ioloop", "IOLoop", "time"),
]


def said(script: str) -> list[str]:
    command = [sys.executable, "-c", SNAPSHOT + script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def is_steady() -> bool:
    """Say whether the process that runs this waits by the steady clock."""
    clocks = (distributed.batched.time, distributed.scheduler.time, IOLoop.time)
    kept = {clock.__module__.startswith("dnfscale.engine.") for clock in clocks}
    assert len(kept) == 1, "all or none"
    return kept.pop()


def bandwidth_of(dask_worker: distributed.Worker) -> float:
    return float(dask_worker.bandwidth)


def test_importing_the_engine_changes_nothing_in_dask_and_tornado():
    assert said(IMPORT_ALL) == ["True []"]


def test_the_clock_is_put_back_by_the_last_who_held_it():
    assert said(HOLD_TWICE) == [str(HELD), "[]"]


def test_the_steady_clock_goes_on_from_the_wall_clock_whatever_that_is_set_to(monkeypatch):
    with steady_clock():
        clocks = (distributed.batched.time, distributed.scheduler.time, lambda: IOLoop.time(None))
        before = [clock() for clock in clocks]
        monkeypatch.setattr(time, "time", lambda: 0.0)
        for clock, then in zip(clocks, before, strict=True):
            assert then <= clock() < then + 60


def test_local_workers_are_steady_before_their_first_task(cluster):
    assert is_steady()
    assert cluster.client.run(is_steady) == dict.fromkeys(cluster.client.run(is_steady), True)


def test_a_cluster_of_others_is_steady_from_its_first_task_on_and_its_scheduler_until_the_end(
    tmp_path: Path,
):
    with Processes(tmp_path) as processes:
        address = start_scheduler(processes, None)
        start_worker(processes, address, None, name="first")
        with closing(Client(address, set_as_default=False)) as onlooker:
            onlooker.wait_for_workers(1, timeout=60)

            def who_is_steady() -> tuple[bool, list[bool]]:
                return onlooker.run_on_scheduler(is_steady), list(onlooker.run(is_steady).values())

            assert who_is_steady() == (False, [False])
            with closing(launch(ClusterSpec(kind="address", options=Address(address)))) as engine:
                assert engine.map("square", range(3), abs) == [0, 1, 2]
                assert who_is_steady() == (True, [True])
                assert list(onlooker.run(bandwidth_of).values()) == [100_000.0]
            assert who_is_steady() == (False, [True])
