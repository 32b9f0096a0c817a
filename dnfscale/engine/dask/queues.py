"""Workers as jobs of a batch system, Slurm or PBS, with the scheduler in this process.

Nodes are other machines, so traffic is encrypted: with the certificates of the spec, or with ones
made for this run. They lie, with the logs of the jobs, in a folder that the nodes see and that is
removed at the end.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dask_jobqueue
from dask.utils import parse_bytes
from distributed.core import Status

from dnfscale.engine.dask.batch import BatchSystem, Queue
from dnfscale.engine.dask.credentials import security_of, temporary_files
from dnfscale.engine.dask.internals import OneConnectionClient, jobs_made, submit_jobs
from dnfscale.engine.dask.remote import Started
from dnfscale.engine.dask.scratch import private_scratch
from dnfscale.engine.dask.settings import ELSEWHERE
from dnfscale.errors import ClusterError
from dnfscale.spec.cluster import ClusterSpec


def start_queue(spec: ClusterSpec, system: BatchSystem, stack: ExitStack) -> Started:
    """Submit the jobs of a cluster."""
    jobs = QueueJobs(spec, system, stack)
    return Started(
        lambda: OneConnectionClient(jobs.cluster, set_as_default=False),
        f"the queue of {spec.kind}",
        jobs.advice,
        jobs.check_alive,
    )


class QueueJobs:
    """The jobs of one cluster; closing the stack that they are put on cancels them."""

    def __init__(self, spec: ClusterSpec, system: BatchSystem, stack: ExitStack) -> None:
        self._kind, self._system = spec.kind, system
        queue = spec.own(Queue)
        if shutil.which(system.submit) is None:
            raise ClusterError(
                f"expected the command {system.submit} of {spec.kind}, but it is not on the PATH; "
                "run this on a machine that may submit jobs"
            )
        self._folder = Path(
            tempfile.mkdtemp(
                prefix=".dnfscale-", dir=os.path.abspath(queue.shared_directory or ".")
            )
        )
        stack.callback(shutil.rmtree, self._folder, ignore_errors=True)
        tls = spec.tls
        if tls is None and not spec.insecure:
            tls = temporary_files(self._folder)
        # The scheduler is in this process.
        stack.enter_context(private_scratch(None))
        per_job = min(queue.workers_per_job, spec.workers)
        self.cluster: Any = stack.enter_context(
            getattr(dask_jobqueue, system.cluster)(
                cores=per_job,
                processes=per_job,
                memory=f"{per_job * parse_bytes(spec.memory_limit)}B",
                queue=queue.queue,
                account=queue.account,
                walltime=queue.walltime,
                job_extra_directives=list(queue.directives),
                interface=queue.interface,
                job_name="dnfscale",
                local_directory=spec.local_directory,
                log_directory=str(self._folder),
                security=security_of(tls),
                worker_extra_args=["--dashboard-address", "127.0.0.1:0"],
                job_script_prologue=[
                    f"export {name}={value}" for name, value in ELSEWHERE.as_environment().items()
                ],
                scheduler_options={
                    "dashboard_address": spec.dashboard or "127.0.0.1:0",
                    "dashboard": spec.dashboard is not None,
                },
                silence_logs=logging.CRITICAL,
            )
        )
        self.cluster.sync(self._grow, spec.first_workers)
        if spec.adaptive is not None:
            self.cluster.adapt(minimum=spec.adaptive.minimum, maximum=spec.adaptive.maximum)

    @property
    def advice(self) -> str:
        """What to look at when no worker comes."""
        said = self._last_words()
        return f"the last of its logs says: {said}" if said else "look at the queue"

    def check_alive(self) -> None:
        """Raise ClusterError when none of the jobs is waiting or running any more."""
        ids = [job.job_id for job in self.cluster.workers.values() if job.job_id]
        # Only errors, which go to stderr, are said of other jobs.
        answer = subprocess.run(self._system.ask(ids), capture_output=True, text=True, check=False)
        if ids and not answer.stdout.strip():
            raise ClusterError(
                (
                    f"expected the jobs {', '.join(ids)} of {self._kind} to wait or to run, "
                    "but they have ended; "
                )
                + self.advice
            )

    async def _grow(self, workers: int) -> None:
        """Submit jobs, and raise the error of submitting, which scale alone would only log."""
        self.cluster.scale(workers)
        try:
            await submit_jobs(self.cluster)
        except RuntimeError:
            for job in jobs_made(self.cluster):
                if job.job_id is None:
                    # Otherwise closing the cluster fails too, over a job that never was.
                    job.status = Status.closed
            raise

    def _last_words(self) -> str:
        """Return the last line that a job wrote."""
        files = sorted(self._folder.glob("dnfscale-*"), key=lambda file: file.stat().st_mtime)
        lines = [
            line
            for file in files
            for line in file.read_text("utf-8", "replace").splitlines()
            if line.strip()
        ]
        return lines[-1].strip() if lines else ""
