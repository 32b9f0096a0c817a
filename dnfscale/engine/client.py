"""What a client's scheduler knows of the workers."""

from __future__ import annotations

from typing import Any

from distributed import Client


def workers_of(client: Client, *, most: int = -1) -> dict[str, dict[str, Any]]:
    """Return what the scheduler knows of its workers now, by address; nothing where it does not answer.

    The client's own `scheduler_info` returns what it has last heard of the scheduler, and every two seconds that is an
    answer without workers: with several threads it sometimes tells of none.
    """
    if client.scheduler is None:
        return {}
    try:
        told: dict[str, Any] = client.sync(client.scheduler.identity, n_workers=most)
    except OSError:
        return {}
    return dict(told["workers"])
