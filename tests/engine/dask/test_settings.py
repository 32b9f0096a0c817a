"""What clusters are told arrives, by either way of telling it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import dask

from dnfscale.engine.dask.settings import ALLOWED_FAILURES, ELSEWHERE, KEPT_SHARE, LOCAL

WORKER_BYTES = 10**9

SAY_CONFIGURATION = """\
import sys, dask, distributed
print(*(dask.config.get(name) for name in sys.argv[1:]), sep="\\n")
"""

SAY_WHAT_IS_DONE = f"""\
import asyncio, json
from distributed import Scheduler, Worker

async def say():
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        async with Worker(scheduler.address, nthreads=1, memory_limit={WORKER_BYTES}) as worker:
            held = str(scheduler.WORKER_SATURATION), scheduler.allowed_failures, scheduler.bandwidth
            share = worker.memory_manager.memory_spill_fraction
            print(json.dumps([*held, worker.data.fast.n, share]))

asyncio.run(say())
"""


def said_elsewhere(script: str, *arguments: str) -> str:
    """Run a script as a batch system or a pod runs a worker: told by its environment alone."""
    environment = {**os.environ, **ELSEWHERE.as_environment()}
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout


def configured(names: list[str]) -> dict[str, Any]:
    return {name: dask.config.get(name) for name in names}


def surrounded_by(names: list[str]) -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in names}


def test_dask_finds_in_the_environment_what_its_configuration_would_say():
    said = said_elsewhere(SAY_CONFIGURATION, *ELSEWHERE.members).splitlines()
    assert said == [str(value) for value in ELSEWHERE.members.values()]


def test_a_scheduler_and_a_worker_elsewhere_do_as_they_are_told(tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_TEMPORARY_DIRECTORY", str(tmp_path))
    saturation, failures, bandwidth, kept_bytes, spilled = json.loads(
        said_elsewhere(SAY_WHAT_IS_DONE)
    )
    assert (saturation, failures, bandwidth) == ("inf", ALLOWED_FAILURES, 100_000)
    assert kept_bytes == KEPT_SHARE * WORKER_BYTES, "as a plan tells"
    assert spilled == 0.55


def test_workers_of_this_machine_are_told_everything(cluster):
    expected = {name: os.environ.get(name, value) for name, value in LOCAL.libraries.items()}
    assert list(cluster.client.run(surrounded_by, list(LOCAL.libraries)).values()) == [expected] * 2
    assert list(cluster.client.run(configured, list(LOCAL.members)).values()) == [LOCAL.members] * 2
