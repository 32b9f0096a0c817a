"""A cluster as somebody else would have started it: a scheduler and workers, each a process of its own, on loopback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distributed import Client

from dnfscale.engine.joining import connected
from dnfscale.engine.kinds import TlsFiles
from tests.deploy.processes import Processes, start_scheduler, start_worker, tls_table


class Found:
    """A cluster that was found, not made: where it is, and a way to look into it."""

    def __init__(self, processes: Processes, certificates: Path | None = None) -> None:
        self.processes = processes
        self.certificates = certificates
        self.address = start_scheduler(processes, certificates)
        self._n_started = 0

    def add_worker(self, **environment: str) -> str:
        """Start one more worker with one thread, and return its address."""
        before = set(self.workers())
        self._n_started += 1
        start_worker(self.processes, self.address, self.certificates, name=f"worker{self._n_started}", **environment)
        [added] = self.processes.wait_for(lambda: set(self.workers()) - before, "the start of a worker")
        return str(added)

    def end_last_worker(self) -> None:
        """End the worker that was started last, for good."""
        left = len(self.workers()) - 1
        self.processes.end(f"worker{self._n_started}")
        self.processes.wait_for(lambda: len(self.workers()) == left, "the end of a worker")

    def workers(self) -> dict[str, int]:
        """Return the address and the process of each worker."""
        with self.client() as client:
            pids: dict[str, int] = client.run(os.getpid)
            return pids

    @contextmanager
    def client(self) -> Iterator[Client]:
        tls = None if self.certificates is None else TlsFiles(**tls_table(self.certificates))
        with connected(self.address, tls) as client:
            yield client
