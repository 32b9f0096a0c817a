"""Checks, before a phase starts, that what it will hold fits in a worker."""

from __future__ import annotations

from dnfscale.errors import LimitError

_SHARE = 0.5
"""The share of a worker's memory that summaries may fill while they are merged; rows and libraries
need the rest.
"""


def check_merge(
    what: str, summary_bytes: int, *, fan_in: int, worker_bytes: int | None, advice: str, key: str
) -> None:
    """Raise LimitError where merging fan_in summaries of this size would not fit in a worker."""
    needed = summary_bytes * (fan_in + 1)
    if worker_bytes is not None and needed > _SHARE * worker_bytes:
        raise LimitError(
            f"merging {what} may need {needed / 2**20:,.0f} MiB, but a worker may use "
            f"{_SHARE * worker_bytes / 2**20:,.0f} MiB for it; {advice}",
            key,
        )
