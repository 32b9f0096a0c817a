"""Clusters that somebody else started, as separate processes: lost, found again, and left as they
were.
"""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

from dnfscale.engine.api import Notice
from dnfscale.engine.clusters.address import Address
from dnfscale.engine.launch import launch
from dnfscale.engine.versions import differences
from dnfscale.errors import ClusterError
from dnfscale.spec.cluster import ClusterSpec
from tests.deploy.processes import Processes, start_scheduler, start_worker


def slowly(item: int) -> int:
    time.sleep(0.2)
    return item * item


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    with Processes(tmp_path) as running:
        yield running


@pytest.fixture
def address(processes: Processes) -> str:
    """A scheduler with one worker."""
    found = start_scheduler(processes, None)
    start_worker(processes, found, None, name="first")
    return found


def remembered(dask_scheduler: Any) -> dict[str, Any]:
    """What a scheduler knows that is not about its workers or the one who asks."""
    return {
        "tasks": len(dask_scheduler.tasks),
        "topics": sorted(
            name for name in dask_scheduler._broker._topics if "square" in name or "kept" in name
        ),
        "plugins": sorted(dask_scheduler.plugins),
        "listeners": len(dask_scheduler._broker._topics["all"].subscribers),
    }


@pytest.mark.portable
def test_a_cluster_is_left_as_it_was_found_and_lost_workers_are_survived(address, processes):
    """One test for a whole life, because starting the processes takes longer than it."""
    told: list[Notice] = []
    with closing(Client(address, set_as_default=False)) as onlooker:
        onlooker.wait_for_workers(1, timeout=60)
        before = onlooker.run_on_scheduler(remembered)
        report = processes.folder / "report.html"
        spec = ClusterSpec(kind="address", options=Address(address), lost_timeout_s=90)
        with closing(launch(spec, tell=told.append, performance_report=str(report))) as engine:
            kept = engine.keep("kept", range(8), slowly)
            assert engine.map("square", kept, slowly) == [i**4 for i in range(8)]
            processes.end("first", signal.SIGKILL)
            # With no worker at all for a while, what was kept is made again by the one that comes.
            back = threading.Timer(2, lambda: start_worker(processes, address, None, name="second"))
            back.start()
            assert engine.map("square again", kept, slowly) == [i**4 for i in range(8)]
            back.join()
        assert onlooker.run_on_scheduler(remembered) == before
    assert [notice.event for notice in told] == ["worker_lost", "worker_joined"]
    assert told[0].facts["workers"] == 0
    assert told[0].facts["retries"] >= 8
    assert told[0].facts["expected"] is False
    assert "waiting up to 90 s for another" in told[0].message
    assert "<html" in report.read_text(encoding="utf-8")


def test_a_cluster_without_workers_is_given_up_after_a_while(address, processes, in_time):
    spec = ClusterSpec(kind="address", options=Address(address), lost_timeout_s=1)
    told: list[Notice] = []
    report = processes.folder / "report.html"
    with (
        closing(launch(spec, tell=told.append, performance_report=str(report))) as engine,
        in_time(60),
    ):
        threading.Timer(0.5, lambda: processes.end("first", signal.SIGKILL)).start()
        message = (
            r"^expected workers, but the cluster has had none for 1 s; "
            r".*cluster\.lost_timeout_s is how long"
        )
        with pytest.raises(ClusterError, match=message):
            engine.map("square", range(500), slowly)
    # On a busy machine the worker is waited for at first.
    assert [notice.event for notice in told if notice.event != "waiting"] == [
        "worker_lost",
        "warning",
    ]
    assert "the performance report is not written" in told[-1].message
    assert not report.exists()


def chain_of(length: int):
    total = 0
    for item in range(length):
        total += yield item
    return total


def test_a_lost_scheduler_ends_chains_in_words(address, processes, in_time, capfd):
    with (
        closing(launch(ClusterSpec(kind="address", options=Address(address)))) as engine,
        in_time(60),
    ):
        threading.Timer(1, lambda: processes.end("scheduler", signal.SIGKILL)).start()
        with pytest.raises(
            ClusterError, match=r"connection to it was lost; .*go on with --resume$"
        ):
            engine.chain("square", [chain_of(500)], slowly, expected=500)
    assert "Traceback" not in capfd.readouterr().err


def test_no_worker_in_time_is_said_while_waiting_and_at_the_end(processes):
    address = start_scheduler(processes, None)
    told: list[Notice] = []
    spec = ClusterSpec(kind="address", options=Address(address), start_timeout_s=6)
    with pytest.raises(
        ClusterError, match=r"at least one worker at the scheduler .* within 6 s, but none came"
    ):
        launch(spec, tell=told.append)
    assert [notice.event for notice in told] == ["waiting"]
    assert told[0].message.startswith(f"waiting for a worker at the scheduler {address}: 5 of 6 s")


def test_an_address_where_nobody_listens_is_said_with_the_address():
    with pytest.raises(
        ClusterError, match=r"at tcp://127\.0\.0\.1:9, but none answers: the connection is refused"
    ):
        launch(ClusterSpec(kind="address", options=Address("tcp://127.0.0.1:9")))


def test_a_host_that_is_not_known_is_said():
    spec = ClusterSpec(
        kind="address", options=Address("tcp://no-such-host.invalid:8786"), insecure=True
    )
    with pytest.raises(ClusterError, match="none answers: the host is not known"):
        launch(spec)


@pytest.mark.parametrize("answer", [None, b""], ids=["silence", "hanging up"])
def test_what_listens_but_is_no_scheduler_is_said(answer, monkeypatch):
    monkeypatch.setattr("dnfscale.engine.dask.client._SPEAK_S", 0.5)
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        held: list[socket.socket] = []

        def serve() -> None:
            connection, _ = server.accept()
            if answer is None:
                held.append(connection)
            else:
                connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        place = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(
            ClusterError,
            match=rf"{place}, but none answers: what listens there (says nothing|hung up)",
        ):
            launch(ClusterSpec(kind="address", options=Address(place)))
        thread.join()
        for connection in held:
            connection.close()


def test_other_versions_are_said_with_who_has_them():
    here = {"dnfscale": "0.1.0", "dask": "2026.8.0"}
    members = {
        "tcp://a": {"dnfscale": "0.1.0", "dask": "2026.8.0"},
        "tcp://b": {"dnfscale": "0.0.9", "dask": "2026.8.0"},
        "tcp://c": {"dnfscale": "0.0.9", "dask": "2026.8.0"},
        "scheduler": {"dask": "2025.1.0"},
    }
    assert differences(here, members, ("dnfscale", "dask")) == [
        "scheduler has no dnfscale, here is 0.1.0",
        "tcp://b and 1 more has dnfscale 0.0.9, here is 0.1.0",
        "scheduler has dask 2025.1.0, here is 2026.8.0",
    ]
    assert differences(here, {"tcp://a": here}, ("dnfscale", "dask")) == []


def test_a_cluster_without_dnfscale_is_told_apart_before_anything_is_sent(tmp_path):
    with Processes(tmp_path) as processes:
        # A folder that shadows the package with another version of it.
        shadow = tmp_path / "shadow" / "dnfscale"
        (shadow / "engine").mkdir(parents=True)
        (shadow / "__init__.py").write_text('__version__ = "0.0.0"\n')
        (shadow / "engine" / "__init__.py").write_text("")
        (shadow / "engine" / "versions.py").write_text('def _own_version():\n    return "0.0.0"\n')
        address = start_scheduler(processes, None, PYTHONPATH=str(shadow.parent))
        start_worker(processes, address, None, name="other", PYTHONPATH=str(shadow.parent))
        with pytest.raises(
            ClusterError,
            match=r"same software .* has dnfscale 0\.0\.0, here is .*; install the same",
        ):
            launch(ClusterSpec(kind="address", options=Address(address)))
