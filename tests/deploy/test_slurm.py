"""The kind slurm on a real Slurm of one node."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.conftest import QUICKSTART
from tests.deploy.processes import Processes
from tests.deploy.slurm import NoSlurmError, slurm, told
from tests.jobs.running import command, surroundings

BY_SLURM = ("--set", "cluster.kind=slurm")


@pytest.fixture(scope="module")
def queue() -> Iterator[dict[str, str]]:
    """The environment of a Slurm that is ours."""
    if importlib.util.find_spec("dask_jobqueue") is None:
        pytest.skip("dask-jobqueue is not installed: pip install 'dnfscale[slurm]'")
    try:
        with slurm() as environment:
            yield environment
    except NoSlurmError as reason:
        pytest.skip(str(reason))


def is_empty(queue: dict[str, str]) -> bool:
    return not told(queue, "squeue", "--noheader").strip()


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".dnfscale")]


def test_the_quickstart_gives_the_same_result_and_no_job_or_certificate_is_left(
    queue, quickstart, serially, tmp_path
):
    two_in_a_job = ("--set", "cluster.slurm.workers_per_job=2")
    result, environment = quickstart(
        *BY_SLURM, *two_in_a_job, "--set", "cluster.slurm.queue=main", **queue
    )
    assert result == serially
    assert environment["workers"] == 2
    events = [
        json.loads(line)
        for line in (tmp_path / "runs/quickstart/events.jsonl").read_text().splitlines()
    ]
    assert events[0]["event"] in ("waiting", "started")
    with Processes(tmp_path) as processes:
        processes.wait_for(lambda: is_empty(queue), "the end of all jobs")
    assert hidden(tmp_path) == []


def test_a_queue_that_is_not_there_is_told_in_slurms_words_at_once(queue, tmp_path):
    done = subprocess.run(
        command("run", QUICKSTART, *BY_SLURM, "--set", "cluster.slurm.queue=nowhere"),
        cwd=tmp_path,
        env=surroundings(**queue),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 4
    assert "invalid partition specified: nowhere" in done.stderr
    assert "Traceback" not in done.stderr
    assert hidden(tmp_path) == []


def test_a_signal_while_jobs_wait_in_the_queue_takes_them_out_of_it(queue, tmp_path):
    with Processes(tmp_path) as processes:
        # No node is ever free for this, so that the jobs stay in the queue.
        never = (
            "--set",
            'cluster.slurm.directives=["--nodelist=node", "--nice=10"]',
            "--set",
            "cluster.memory_limit=7GB",
        )
        holding = ["sbatch", "--wrap=sleep 100", "--mem=5000", "--output=/dev/null"]
        told(queue, *holding)
        job = processes.start("job", command("run", QUICKSTART, *BY_SLURM, *never), **queue)
        processes.wait_for(
            lambda: "dnfscale" in told(queue, "squeue", "--noheader", "--format=%j"),
            "the first job",
        )
        log = tmp_path / "job.log"
        processes.wait_for(
            lambda: "waiting for a worker at the queue of slurm" in log.read_text(),
            "a line on waiting",
        )
        os.kill(job.pid, signal.SIGTERM)
        processes.wait_for(lambda: job.poll() is not None, "the end of the run")
        assert job.returncode == 143
        assert "dnfscale" not in told(queue, "squeue", "--noheader", "--format=%j")
        assert hidden(tmp_path) == []
        told(queue, "scancel", "--user=root")
