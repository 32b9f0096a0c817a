"""Workers and schedulers that are there but do not answer, and workers that are merely busy.

The times are shorter here than those of a job; `python -m tests.faults freeze` takes those.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from types import SimpleNamespace

import psutil
import pytest
from distributed import Status, Worker

from dnfscale.engine.api import Engine, Notice, unwatched
from dnfscale.engine.clusters.scheduler_file import SchedulerFile
from dnfscale.engine.dask import roll_call
from dnfscale.engine.dask.engine import ClusterEngine
from dnfscale.engine.dask.local import start_local
from dnfscale.engine.launch import ClusterSpec, launch
from dnfscale.errors import ClusterError, LimitError
from tests.deploy.processes import Processes, start_scheduler, start_worker

MEASURED = 10**7
"""Up to which number to add, to find out how fast this machine adds."""


@pytest.fixture(scope="module", autouse=True)
def _soon() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, seconds in {
            "ASK_S": 0.5,
            "SILENT_S": 1.5,
            "FROZEN_S": 3.0,
            "NANNY_S": 1.0,
            "KILL_S": 6.0,
            "PAUSED_S": 2.0,
        }.items():
            patch.setattr(roll_call, name, seconds)
        yield


@pytest.fixture(scope="module")
def own_cluster(_soon: None) -> Iterator[ClusterEngine]:
    with closing(start_local(ClusterSpec(workers=2, memory_limit="1GiB"))) as engine:
        yield engine


@pytest.fixture
def told() -> list[Notice]:
    return []


@pytest.fixture
def local(own_cluster: ClusterEngine, told: list[Notice]) -> Iterator[Engine]:
    """Two workers of this machine, which are there again whatever a test has done to others."""
    own_cluster.client.wait_for_workers(2, timeout=60)
    with closing(own_cluster.watched_by(unwatched, told.append)) as engine:
        yield engine


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """A scheduler and two workers, each with its nanny, that somebody else started."""
    with Processes(tmp_path_factory.mktemp("processes")) as running:
        address = start_scheduler(running, None)
        for name in ("first", "second"):
            start_worker(running, address, None, name=name)
        yield running


def joined(
    processes: Processes, told: list[Notice], *, lost_timeout_s: float = 60
) -> ClusterEngine:
    file = str(processes.folder / "scheduler.json")
    engine = launch(
        ClusterSpec(
            kind="scheduler_file", options=SchedulerFile(file), lost_timeout_s=lost_timeout_s
        ),
        tell=told.append,
    )
    assert isinstance(engine, ClusterEngine)
    return engine


def slowly(item: int) -> int:
    time.sleep(0.1)
    return item


def with_pid(item: int) -> tuple[int, int]:
    time.sleep(0.1)
    return os.getpid(), item


def value_of(kept: tuple[int, int]) -> int:
    return kept[1]


def add(parts: Sequence[int]) -> int:
    return sum(parts)


def hog(busy_s: float) -> float:
    """Let no other thread of the process run for about so many seconds, and say how long it was."""
    started = time.monotonic()
    sum(range(MEASURED))
    often = int(busy_s * MEASURED / (time.monotonic() - started))
    started = time.monotonic()
    # This one call runs no Python code: it does not let another thread have its turn.
    sum(range(often))
    return time.monotonic() - started


def pids_of(engine: ClusterEngine) -> dict[str, int]:
    found: dict[str, int] = engine.client.run(os.getpid)
    return found


def folder_of(dask_worker: Worker) -> str:
    return str(dask_worker.local_directory)


def of_worker(told: list[Notice], address: str) -> list[str]:
    """What was told of a worker since it joined."""
    events = [notice.event for notice in told if notice.facts.get("worker") == address]
    return [event for event in events if event != "worker_joined"]


def fill_memory(dask_worker: Worker) -> None:
    """Have a worker think that its memory is full, from now on."""
    dask_worker.memory_manager.memory_pause_fraction = 1e-6


def test_a_stopped_worker_is_told_and_killed_and_its_work_done_elsewhere(local, told, in_time):
    with in_time(120):
        kept = local.keep("keep", range(20), with_pid)
        assert local.reduce("add", kept, value_of, add) == sum(range(20))
        address, pid = next(iter(pids_of(local).items()))
        folder = local.client.run(folder_of)[address]
        os.kill(pid, signal.SIGSTOP)
        assert local.reduce("add again", kept, value_of, add) == sum(range(20))
        local.client.wait_for_workers(2, timeout=60)
    assert of_worker(told, address) == ["worker_silent", "worker_lost"]
    assert "thrown out; 1 at work" in next(
        notice.message for notice in told if notice.event == "worker_lost"
    )
    assert next(notice.facts["retries"] for notice in told if notice.event == "worker_lost") > 0
    assert not psutil.pid_exists(pid)
    assert not os.path.exists(folder)


def test_all_workers_stopped_are_replaced(local, told, in_time):
    with in_time(120):
        for pid in pids_of(local).values():
            os.kill(pid, signal.SIGSTOP)
        assert local.map("slowly", range(8), slowly) == list(range(8))
    assert (
        sorted(notice.event for notice in told)[-4:] == ["worker_lost"] * 2 + ["worker_silent"] * 2
    )


def test_a_worker_that_goes_on_in_time_is_kept(local, told, in_time):
    address, pid = next(iter(pids_of(local).items()))
    os.kill(pid, signal.SIGSTOP)
    back = threading.Timer(2.5, os.kill, (pid, signal.SIGCONT))
    back.start()
    with in_time(120):
        assert local.map("slowly", range(30), slowly) == list(range(30))
        back.join()
        while of_worker(told, address) != ["worker_silent", "worker_answers"]:
            time.sleep(0.1)
    assert address in pids_of(local)


def test_a_worker_that_is_too_busy_for_a_heartbeat_is_kept(local, told, in_time):
    before = pids_of(local)
    with in_time(120):
        [busy_s] = local.map("hog", [2 * roll_call.FROZEN_S], hog)
    assert busy_s > roll_call.FROZEN_S
    assert pids_of(local) == before
    assert told == []


def test_workers_whose_memory_is_full_end_the_job_instead_of_waiting_for_ever(in_time):
    with closing(start_local(ClusterSpec(workers=1, memory_limit="1GiB"))) as engine:
        engine.client.run(fill_memory)
        message = r"memory of 1,024 MiB has been full for 2 s.*cluster\.memory_limit"
        with in_time(120), pytest.raises(LimitError, match=message):
            engine.map("slowly", range(50), slowly)


def test_a_paused_worker_whose_memory_was_only_not_given_back_is_no_reason_to_end():
    manager = SimpleNamespace(memory_limit=1 << 50, memory_pause_fraction=0.8)
    worker = SimpleNamespace(
        state=SimpleNamespace(executing=set()), status=Status.paused, memory_manager=manager
    )
    assert roll_call.full_memory(worker) is None
    assert not roll_call.is_below_pause(worker, 1 << 50)


def test_a_worker_stopped_together_with_its_nanny_is_dropped_and_not_wanted_back(
    processes, told, in_time
):
    with closing(joined(processes, told)) as engine, in_time(120):
        engine.client.wait_for_workers(2, timeout=60)
        kept = engine.keep("keep", range(20), with_pid)
        assert engine.reduce("add", kept, value_of, add) == sum(range(20))
        before = pids_of(engine)
        first = processes.pids()[1]
        [address] = [address for address, pid in before.items() if os.getpgid(pid) == first]
        os.killpg(first, signal.SIGSTOP)
        assert engine.reduce("add again", kept, value_of, add) == sum(range(20))
        assert of_worker(told, address) == ["worker_silent", "worker_lost"]
        os.killpg(first, signal.SIGCONT)
        while (
            psutil.pid_exists(before[address])
            and psutil.Process(before[address]).status() != "zombie"
        ):
            time.sleep(0.1)
        assert engine.reduce("add once more", kept, value_of, add) == sum(range(20))


def test_a_stopped_scheduler_is_told_and_given_up_after_the_timeout(processes, told, in_time):
    with closing(joined(processes, told, lost_timeout_s=4)) as engine, in_time(120):
        threading.Timer(1, os.kill, (processes.pids()[0], signal.SIGSTOP)).start()
        with pytest.raises(
            ClusterError, match="expected the scheduler to answer, but it has not for 4 s"
        ):
            engine.map("slowly", range(10_000), slowly)
    assert "scheduler_silent" in [notice.event for notice in told]
    os.kill(processes.pids()[0], signal.SIGCONT)
