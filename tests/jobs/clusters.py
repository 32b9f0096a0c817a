"""A cluster as somebody else would have started it: a scheduler and workers, each a process of its
own, on loopback.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distributed import Client

from dnfscale.engine.dask.client import connected
from dnfscale.spec.cluster import TlsFiles
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
        with self.client() as client:
            before = _addresses(client)
            self._n_started += 1
            name = f"worker{self._n_started}"
            start_worker(self.processes, self.address, self.certificates, name=name, **environment)
            [added] = self.processes.wait_for(
                lambda: _addresses(client) - before, "the start of a worker"
            )
            return str(added)

    @contextmanager
    def one_more_worker(self, **environment: str) -> Iterator[str]:
        """Have one more worker while the block runs."""
        with self.client() as client:
            before = _addresses(client)
            try:
                yield self.add_worker(**environment)
            finally:
                self.processes.end(f"worker{self._n_started}")
                self.processes.wait_for(lambda: _addresses(client) == before, "the end of a worker")

    def wait_for_workers(self, n_workers: int) -> None:
        with self.client() as client:
            self.processes.wait_for(
                lambda: len(_addresses(client)) == n_workers, f"{n_workers} workers"
            )

    def process_of(self, worker: str) -> int:
        """Return the process of the worker at an address."""
        with self.client() as client:
            return int(client.run(os.getpid)[worker])

    @contextmanager
    def client(self) -> Iterator[Client]:
        tls = None if self.certificates is None else TlsFiles(**tls_table(self.certificates))
        with connected(self.address, tls) as client:
            yield client


def _addresses(client: Client) -> set[str]:
    return set(client.scheduler_info(n_workers=-1)["workers"])
