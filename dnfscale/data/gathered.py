"""Small batches joined into larger ones, because most work on a batch costs the same however few
rows it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from dnfscale.data.columnwise import Batch, LateBatch


def gathered(batches: Iterable[Batch], *, least_rows: int) -> Iterator[Batch]:
    """Yield the same rows in the same order, joining batches of one schema until they have
    least_rows rows.

    Batches that are read late are large, and stay as they are.
    """
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if isinstance(batch, LateBatch):
            yield from _as_one(waiting)
            yield batch
            waiting = []
            continue
        if waiting and not batch.schema.equals(waiting[0].schema):
            yield from _as_one(waiting)
            waiting = []
        waiting.append(batch)
        if sum(part.num_rows for part in waiting) >= least_rows:
            yield from _as_one(waiting)
            waiting = []
    yield from _as_one(waiting)


def _as_one(batches: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    if len(batches) < 2:
        yield from batches
        return
    try:
        # Each file has dictionaries of its own.
        table = pa.Table.from_batches(batches).unify_dictionaries()
    except pa.ArrowNotImplementedError:
        yield from batches
        return
    yield from table.combine_chunks().to_batches()
