"""Which items of a reduction one task takes.

A task costs some four milliseconds of everybody's time, as much as counting a hundred thousand rows; a worker with few
tasks cannot be helped by others when it is slower than they are.
"""

from __future__ import annotations

_PER_WORKER = 4
"""How many batches a worker gets at least, where there are as many items."""


def batch_edges(n_items: int, *, workers: int, fan_in: int) -> list[int]:
    """Return where batches of items begin, and where the last ends: none is longer than what is merged at once."""
    n_batches = min(n_items, max(_PER_WORKER * workers, -(-n_items // fan_in)))
    return [n_items * number // n_batches for number in range(n_batches + 1)]
