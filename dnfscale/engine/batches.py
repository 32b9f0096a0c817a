"""How the items of a reduction are split into batches, one per task.

A task costs about four milliseconds in all (client, scheduler and worker), as much as counting a
hundred thousand rows: that is for large batches. But only tasks that have not started can be moved
from a slow worker to an idle one: that is for several batches per worker.
"""

from __future__ import annotations

_PER_WORKER = 4
"""Batches per worker, at least, if there are enough items."""


def batch_edges(n_items: int, *, workers: int, fan_in: int) -> list[int]:
    """Return the start of each batch and the end of the last; no batch has more than
    fan_in items.
    """
    n_batches = min(n_items, max(_PER_WORKER * workers, -(-n_items // fan_in)))
    return [n_items * number // n_batches for number in range(n_batches + 1)]
