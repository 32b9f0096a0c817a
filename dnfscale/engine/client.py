"""A client whose connection, once lost, is lost; and what its scheduler knows of the workers.

Dask's own connects again: with every result forgotten, and, where the scheduler is still taking the old connection
down, to one that does not know it any more and never answers. A job that has lost its scheduler says so at once
instead; what is finished is kept, and --resume goes on.
"""

from __future__ import annotations

from typing import Any

from distributed import Client


class OneConnectionClient(Client):  # type: ignore[misc]
    """Closes, and so ends whatever waits for it, when its connection to the scheduler ends."""

    async def _reconnect(self) -> None:
        for state in self.futures.values():
            state.cancel(reason="scheduler-connection-lost")
        self.futures.clear()
        await self._close()


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
