"""Where a job runs: clusters of its own, clusters of others, and clusters that are not there."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from distributed import LocalCluster

from tests.jobs.running import essence

HANGING_S = 15
"""A command that takes as long as this to fail is hanging."""


@pytest.fixture(scope="module")
def others_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A cluster that somebody else started: its address, and its scheduler file."""
    file = tmp_path_factory.mktemp("cluster") / "scheduler.json"
    with LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address=":0",
    ) as cluster:
        file.write_text(json.dumps(cluster.scheduler.identity()))
        yield cluster.scheduler_address, file


def test_a_job_runs_on_the_cluster_of_another_by_its_address(laid_desk, others_cluster):
    address, _ = others_cluster
    laid_desk.run(name="serial")
    ended = laid_desk.here("run", laid_desk.spec(name="cluster"), "--scheduler", address)
    assert ended.code == 0
    assert laid_desk.result("cluster")["environment"]["engine"] == "dask"
    assert laid_desk.model("cluster")["counts"] == laid_desk.model("serial")["counts"]
    host, port = address.removeprefix("tcp://").split(":")
    with closing(socket.create_connection((host, int(port)), timeout=5)) as alive:
        assert alive.getpeername()[1] == int(port), "the cluster outlives the job"


def test_a_job_runs_on_the_cluster_of_another_by_its_scheduler_file(laid_desk, others_cluster):
    _, file = others_cluster
    ended = laid_desk.run(cluster={"kind": "scheduler_file", "scheduler_file": str(file)})
    assert ended.code == 0
    assert laid_desk.result()["environment"]["workers"] == 1


def test_bad_data_on_a_worker_is_told_as_bad_data(laid_desk, others_cluster):
    address, _ = others_cluster
    ended = laid_desk.here(
        "run", laid_desk.spec(data={"max_categories": 2}), "--scheduler", address
    )
    assert ended.code == 5
    assert (
        f"{laid_desk.path / 'job.toml'}:8: column 's': at most 2 different values" in ended.message
    )


@pytest.mark.parametrize(
    "cluster",
    [
        {"kind": "address", "address": "nonsense"},
        {"kind": "address", "address": "carrier-pigeon://127.0.0.1:1"},
        {"kind": "scheduler_file", "scheduler_file": "nowhere.json"},
        {"kind": "scheduler_file", "scheduler_file": "broken.json"},
    ],
    ids=["no port", "no such scheme", "no scheduler file", "broken scheduler file"],
)
def test_a_cluster_that_cannot_be_there_ends_with_4_at_once(laid_desk, cluster):
    (laid_desk.path / "broken.json").write_text("{}")
    ended = laid_desk.apart("run", laid_desk.spec(cluster=cluster), timeout_s=HANGING_S)
    assert ended.code == 4
    assert "Traceback" not in ended.err
    assert ended.message.startswith("dnfscale: ")
    assert (cluster.get("address") or cluster["scheduler_file"]) in ended.message


def test_a_local_cluster_says_each_phase_once_and_gives_only_json_when_asked(laid_desk):
    """A second cluster on the machine takes the port that Dask would like for its dashboard."""
    laid_desk.run(name="job", kind="study")
    serial = essence(laid_desk.folder() / "result.json")
    with socket.socket() as taken:
        try:
            taken.bind(("127.0.0.1", 8787))
            taken.listen()
        except OSError:
            pass  # Somebody else has it, which is the same.
        ended = laid_desk.apart(
            "run", "job.toml", "--json", "--set", "cluster.kind=local", "--output", "there"
        )
    assert ended.code == 0
    folder = laid_desk.path / "there" / "job"
    assert essence(folder / "result.json") == serial
    assert json.loads(ended.out) == json.loads((folder / "result.json").read_text(encoding="utf-8"))
    events = [json.loads(line) for line in ended.err.splitlines()]
    begun = [event["phase"] for event in events if event["event"] == "phase" and event["done"] == 0]
    done = [
        event["phase"]
        for event in events
        if event["event"] == "phase" and event["done"] == event["total"]
    ]
    assert begun == done


@pytest.mark.parametrize("memory_limit", ["1B", "100MiB"])
def test_workers_that_cannot_hold_their_own_libraries_end_the_job_in_words(laid_desk, memory_limit):
    """Dask pauses or restarts such workers for ever, and a job that waits for them would hang."""
    spec = laid_desk.spec(cluster={"kind": "local", "workers": 2, "memory_limit": memory_limit})
    ended = laid_desk.apart("run", spec, timeout_s=2 * HANGING_S)
    assert ended.code in (2, 4, 5)
    assert "cluster.memory_limit" in ended.message
    assert "Traceback" not in ended.err
