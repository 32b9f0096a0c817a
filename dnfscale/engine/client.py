"""A client whose connection, once lost, is lost.

Dask's own connects again: with every result forgotten, and, where the scheduler is still taking the old connection
down, to one that does not know it any more and never answers. A job that has lost its scheduler says so at once
instead; what is finished is kept, and --resume goes on.
"""

from __future__ import annotations

from distributed import Client


class OneConnectionClient(Client):  # type: ignore[misc]
    """Closes, and so ends whatever waits for it, when its connection to the scheduler ends."""

    async def _reconnect(self) -> None:
        for state in self.futures.values():
            state.cancel(reason="scheduler-connection-lost")
        self.futures.clear()
        await self._close()
