"""What Dask is told of moving data from worker to worker: that it costs more than any scan of it saves.

Dask measures every transfer of a megabyte or more, and believes what it measured: after one merge across workers it
takes moving rows for cheap again. It is right about the wire, but not about what both workers do meanwhile.
"""

from __future__ import annotations

from typing import Any

from dask.utils import parse_bytes
from distributed import Worker

from dnfscale.engine.settings import BANDWIDTH

_measure = Worker._update_metrics_received_data


def keep_told() -> None:
    """Have the workers of this process tell their scheduler that bandwidth, whatever transfers take."""
    Worker._update_metrics_received_data = _measured_in_vain
    for worker in Worker._instances:
        worker.bandwidth = parse_bytes(BANDWIDTH)


def _measured_in_vain(self: Worker, *arguments: Any, **named: Any) -> None:
    _measure(self, *arguments, **named)
    self.bandwidth = parse_bytes(BANDWIDTH)
