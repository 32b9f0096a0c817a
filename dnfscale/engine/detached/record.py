"""What is known of a detached job, as the scheduler keeps it and everybody may read it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

WAITING, RUNNING, CANCELLING = "waiting", "running", "cancelling"
FINISHED, FAILED, CANCELLED, LOST = "finished", "failed", "cancelled", "lost"

NOT_ENDED_CODE = 75
"""What `status` exits with while a job has not ended: EX_TEMPFAIL of sysexits.h, which says to ask again later."""
CANCELLED_CODE = 143
LOST_CODE = 4


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
