"""The client's side of detached jobs: submit one, look for some, read their lines, cancel one."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from distributed.utils import silence_logging_cmgr

from dnfscale.engine.dask.client import connected, workers_of
from dnfscale.engine.steady_clock import steady_clock
from dnfscale.engine.versions import check_versions
from dnfscale.errors import ClusterError, SpecError
from dnfscale.spec.cluster import ClusterSpec
from dnfscale.submit.record import JobRecord, Order, job_beginning
from dnfscale.submit.registry import REGISTRY, Registry, task_key
from dnfscale.submit.supervisor import supervise

_ID_BYTES = 5
_LAUNCH_S = 30
_STEP_S = 0.05
_FIRST = 1000
"""The priority of a driver's task: it costs nothing, and must not wait behind the tasks of other
jobs.
"""


@dataclass(frozen=True, slots=True)
class Line:
    """A line that a driver wrote."""

    number: int
    time: float
    text: str


class JobBoard:
    """The detached jobs of one scheduler."""

    def __init__(self, cluster: ClusterSpec) -> None:
        """Connect to a cluster that somebody else started."""
        assert cluster.facts.address is not None
        self.address = cluster.facts.address(cluster)
        self._open = ExitStack()
        self._open.enter_context(steady_clock())
        # We report what happens ourselves; Dask's log would put tracebacks between our lines.
        self._open.enter_context(silence_logging_cmgr(logging.CRITICAL))
        try:
            self._client = self._open.enter_context(connected(self.address, cluster.tls))
        except BaseException:
            self._open.close()
            raise

    def check_versions(self) -> list[str]:
        """Raise ClusterError where the cluster's software does not fit ours; return lesser
        differences.
        """
        with self._answering():
            return check_versions(self._client)

    @property
    def has_workers(self) -> bool:
        with self._answering():
            return bool(workers_of(self._client, most=1))

    def submit(self, order: Order, module: str, **about: str) -> str:
        """Hand a job to the scheduler, and return its id once it no longer depends on this process.

        Its driver is a process that is told the order and carries it out with main() of the module.
        """
        with self._answering():
            self._client.register_plugin(Registry())
            job = secrets.token_hex(_ID_BYTES)
            while not self._ask(
                "add", job={**about, "id": job}, order=order, client=self._client.id
            ):
                job = secrets.token_hex(_ID_BYTES)
            task = self._client.submit(
                supervise, job, module, key=task_key(job), pure=False, priority=_FIRST
            )
            # The task goes over another connection than our questions, and may arrive later: ask
            # until it is there.
            for _ in range(round(_LAUNCH_S / _STEP_S)):
                if self._ask("launch", job=job):
                    return job
                time.sleep(_STEP_S)
            task.release()
        raise ClusterError(
            f"expected the scheduler {self.address} to take the job within {_LAUNCH_S} s, "
            "but it did not"
        )

    def jobs(self) -> list[JobRecord]:
        """Return all jobs that the scheduler knows of, the oldest first."""
        with self._answering():
            if not self._client.get_metadata([REGISTRY], default=False):
                # Nothing was ever submitted; a question to a plugin that is not there would never
                # be answered.
                return []
            return [JobRecord(**job) for job in self._ask("jobs")]

    def find(self, prefix: str) -> JobRecord:
        """Return the job whose id begins so."""
        return job_beginning(self.jobs(), prefix, address=self.address)

    def lines(self, job: str, *, after: int) -> tuple[list[Line], JobRecord]:
        """Return the kept lines of a job beyond a number, and what is known of the job."""
        with self._answering():
            found = self._known(job, self._ask("lines", job=job, after=after))
            return [Line(*line) for line in found["lines"]], JobRecord(**found["job"])

    def cancel(self, job: str) -> JobRecord:
        """Ask for the end of a job."""
        with self._answering():
            return JobRecord(**self._known(job, self._ask("cancel", job=job)))

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> JobBoard:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _ask(self, verb: str, **facts: Any) -> Any:
        return self._client.sync(getattr(self._client.scheduler, f"dnfscale_{verb}"), **facts)

    def _known(self, job: str, found: dict[str, Any] | None) -> dict[str, Any]:
        if found is None:
            raise SpecError(
                f"the scheduler {self.address} no longer knows the job {job}; it keeps the "
                "last that ended"
            )
        return found

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Raise ClusterError where the scheduler does not answer."""
        try:
            yield
        except (OSError, CancelledError) as error:
            raise ClusterError(
                f"expected the scheduler {self.address} to answer, but it does not: {error}"
            ) from error
