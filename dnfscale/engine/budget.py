"""Checks, before a phase starts, that what it will hold fits in a worker."""

from __future__ import annotations

from dnfscale.errors import LimitError

KEPT_SHARE = 0.1
"""The share of a worker's memory beyond which rows wait on disk, so that the peak does not grow with the rows."""
LOCAL_KEPT_SHARE = 0.03
"""The same for workers of this machine, which use rows where they lie on disk, see spilling.py.

10 million rows on two workers of 1 GiB took as long with this share as with 0.1, or with none, and the peak of a worker
was 214 instead of 279 MiB.
"""
_SHARE = 0.5
"""The share of a worker's memory that summaries may fill while they are merged; rows and libraries need the rest."""


def check_merge(what: str, summary_bytes: int, *, fan_in: int, worker_bytes: int | None, advice: str, key: str) -> None:
    """Raise LimitError where merging fan_in summaries of this size would not fit in a worker."""
    needed = summary_bytes * (fan_in + 1)
    if worker_bytes is not None and needed > _SHARE * worker_bytes:
        raise LimitError(
            f"merging {what} may need {needed / 2**20:,.0f} MiB, but a worker may use "
            f"{_SHARE * worker_bytes / 2**20:,.0f} MiB for it; {advice}",
            key,
        )
