"""A fault of a detached job: the worker beside which its driver runs is frozen."""

from __future__ import annotations

import os
import signal
import time

from dnfscale.engine.clusters.address import Address
from dnfscale.engine.dask.client import connected
from dnfscale.jobs.cli import main
from dnfscale.spec.cluster import ClusterSpec
from dnfscale.submit.board import JobBoard
from dnfscale.submit.record import RUNNING
from tests.faults.fault import IDENTICAL, Fault
from tests.faults.ground import PATIENCE_S, Ground, demand
from tests.jobs.running import Ended, keeping_signals


def _freeze(ground: Ground) -> None:
    """Freeze the worker of a driver for good, while another worker counts."""
    ground.start_cluster()
    name = ground.new_name()
    spec = ground.spec("formula", name)
    ground.arm("wait", "count types", seconds=5)
    try:
        with keeping_signals():
            command = ["submit", str(spec), "--scheduler", ground.address]
            demand(main([*command, "--output", str(ground.folder / "runs")]) == 0, "not submitted")
        ground.marked()
        board = JobBoard(ClusterSpec(kind="address", options=Address(ground.address)))
        try:
            [job] = [job for job in board.jobs() if job.name == name]
            demand(job.state == RUNNING, f"the job is {job.state}")
            with connected(ground.address, None) as client:
                process = int(client.run(os.getpid)[job.worker])
            os.kill(process, signal.SIGSTOP)
            deadline = time.monotonic() + PATIENCE_S
            while not (job := board.find(job.id)).has_ended and time.monotonic() < deadline:
                time.sleep(1)
        finally:
            board.close()
    finally:
        ground.disarm()
    demand(job.has_ended, f"the job is {job.state} after {PATIENCE_S} s")
    demand(job.attempts == 2, f"there were {job.attempts} drivers")
    said = "" if job.error is None else job.error
    ground.check_identical("formula", name, Ended(job.exit_code or 0, "", said))


FAULTS = (
    Fault(
        "detached-freeze",
        "the worker beside a detached job's driver frozen (SIGSTOP) for good",
        IDENTICAL,
        _freeze,
    ),
)
