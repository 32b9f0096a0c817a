"""How a client hears of tasks that are done, while all that it waits for is their merged result.

Workers say so among the scheduler's events, on the topic of the client itself. Dask empties that topic when the client
has left, so that nothing stays behind on a cluster that was found; a topic of our own would stay for ever.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client, get_worker

Heard = Callable[[], None]


class TaskNews:
    """Passes on to each phase what workers say of its tasks."""

    def __init__(self, client: Client) -> None:
        self.topic: str = client.id
        self._client = client
        self._phases: dict[str, Heard] = {}
        self._lock = threading.Lock()

    @contextmanager
    def passed_on(self, name: str, heard: Heard) -> Iterator[None]:
        """While the block runs, call a function for each task of this name that is done."""
        with self._lock:
            if not self._phases:
                self._client.subscribe_topic(self.topic, self.hear)
            self._phases[name] = heard
        try:
            yield
        finally:
            with self._lock:
                del self._phases[name]
                if not self._phases and self._client.status == "running":
                    # The last that the scheduler says there is that the client has left: to nobody, then.
                    self._client.unsubscribe_topic(self.topic)

    def hear(self, event: tuple[float, Any]) -> None:
        _, name = event
        # Under the lock, so that nobody is told once the block has ended. Dask's own events are no text.
        with self._lock:
            if isinstance(name, str) and name in self._phases:
                self._phases[name]()


def tell_done(topic: str, name: str) -> None:
    """Say, on a worker, that a task is done."""
    get_worker().log_event(topic, name)
