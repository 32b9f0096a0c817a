"""The layout of a reduction: how its items are split into batches, and whether merging their
summaries fits in a worker.

A task costs about four milliseconds in all (client, scheduler and worker), as much as counting a
hundred thousand rows: that is for large batches. But only tasks that have not started can be moved
from a slow worker to an idle one: that is for several batches per worker.
"""

from __future__ import annotations

from dnfscale.errors import LimitError

_SHARE = 0.5
"""The share of a worker's memory that summaries may fill while they are merged; rows and libraries
need the rest.
"""
_PER_WORKER = 4
"""Batches per worker, at least, if there are enough items."""


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


def batch_edges(n_items: int, *, workers: int, fan_in: int) -> list[int]:
    """Return the start of each batch, one per task, and the end of the last; no batch has more than
    fan_in items.
    """
    n_batches = min(n_items, max(_PER_WORKER * workers, -(-n_items // fan_in)))
    return [n_items * number // n_batches for number in range(n_batches + 1)]
