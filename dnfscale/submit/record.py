"""What is known of a detached job, as the scheduler keeps it and everybody may read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

from dnfscale.errors import SpecError

WAITING, RUNNING, CANCELLING = "waiting", "running", "cancelling"
FINISHED, FAILED, CANCELLED, LOST = "finished", "failed", "cancelled", "lost"

NOT_ENDED_CODE = 75
"""What `status` exits with while a job has not ended: EX_TEMPFAIL of sysexits.h, which says to ask
again later.
"""
CANCELLED_CODE = 143
LOST_CODE = 4


class SentSpec(TypedDict):
    """A spec as it is sent to a driver, with where its keys stand for the submitter."""

    text: str
    file: str
    lines: dict[str, int]


class Order(TypedDict):
    """All that a driver needs to know of a job, as values that JSON can hold."""

    spec: SentSpec
    jobs: list[SentSpec]
    """The jobs of a suite."""
    force: bool
    resume: bool
    data_folder: str | None
    """Where the submitter looks for named datasets."""


class Connection(TypedDict):
    """How a driver reaches the scheduler of the worker beside which it runs."""

    address: str
    client_name: str
    tls: dict[str, str]


@dataclass(slots=True)
class JobRecord:
    """A detached job. Times are seconds since 1970 by the scheduler's clock."""

    id: str
    name: str
    kind: str
    spec: str
    """The file of the spec, as it was named when the job was submitted."""
    folder: str
    """The folder of the run, as the driver sees it."""
    user: str
    host: str
    """Who submitted the job, and where."""
    submitted_at: float
    state: str = WAITING
    """waiting for a worker, running, cancelling; then finished, failed, cancelled or lost."""
    exit_code: int | None = None
    """What `run` would have ended with."""
    error: str | None = None
    attempts: int = 0
    """How often a driver was started: once, and again whenever its worker died."""
    worker: str | None = None
    """The address of the worker beside which the driver runs, or ran last."""
    started_at: float | None = None
    ended_at: float | None = None
    driver_bytes: int = 0
    """The most memory that a driver of the job was seen to use."""
    last_line: str | None = None

    @property
    def has_ended(self) -> bool:
        return self.exit_code is not None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def job_beginning(jobs: Sequence[JobRecord], prefix: str, *, address: str) -> JobRecord:
    """Return the job whose id begins so, of those at an address, if it is the only one."""
    found = [job for job in jobs if job.id.startswith(prefix.lower())] if prefix else []
    if len(found) == 1:
        return found[0]
    if found:
        raise SpecError(
            f"expected the beginning of one id, but {prefix!r} is that of "
            f"{', '.join(job.id for job in found)}; "
            "give more of it"
        )
    raise SpecError(
        f"expected the id of a job at {address}, but none begins with {prefix!r}; list shows "
        f"all {len(jobs):,} that it "
        "knows, and a scheduler that was started again knows none"
    )
