"""What happens to the workers of a Dask cluster while it works: which ones died, and how long any
was paused.

The engine hides its cluster, and rightly so; but a task can ask its worker for the scheduler's
address, and whoever has that can join as one more client and read the scheduler's own journal.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dnfscale.engine.api import Engine
from tests.bench.case import WorkerLog

Journal = Mapping[str, Sequence[tuple[float, Any]]]
"""The scheduler's journal: for every topic, a worker's address among them, pairs (time, event)."""


@contextmanager
def overseen(engine: Engine) -> Iterator[Callable[[], WorkerLog | None]]:
    """Oversee the workers of an engine; what is yielded tells what has happened to them since."""
    if engine.describe()["engine"] != "dask":
        yield lambda: None
        return
    # Imported here because peers are measured with this module loaded, and should not carry Dask's
    # memory.
    from distributed import Client

    [(address, security)] = engine.map("find scheduler", [0], _scheduler_seen)
    with Client(address, security=security, set_as_default=False) as client:
        workers = set(client.run(os.getpid).values())
        began = time.time()

        def told() -> WorkerLog:
            restarted = set(client.run(os.getpid).values()) - workers
            return WorkerLog(
                len(restarted), paused_s(client.get_events(), began=began, now=time.time())
            )

        yield told


def paused_s(journal: Journal, *, began: float, now: float) -> float:
    """Add up the times, from began on, between a worker's pause and what ended it."""
    total_s = 0.0
    for events in journal.values():
        since: float | None = None
        for moment, event in events:
            if not isinstance(event, dict) or event.get("action") not in (
                "worker-status-change",
                "remove-worker",
            ):
                continue
            if since is not None:
                total_s += max(0.0, moment - since)
            since = max(moment, began) if event.get("status") == "paused" else None
        if since is not None:
            total_s += now - since
    return total_s


def _scheduler_seen(_item: int) -> tuple[str, Any]:
    """Return where a worker's scheduler listens, and what it shows of itself: certificates made for
    this run alone.
    """
    from distributed import get_worker

    worker = get_worker()
    return str(worker.scheduler.address), worker.security
