"""What Dask is told of moving data from worker to worker: that it costs more than any scan of it saves.

Dask measures every transfer of a megabyte or more, and believes what it measured: after one merge across workers it
takes moving rows for cheap again. It is right about the wire, but not about what both workers do meanwhile.
"""

from __future__ import annotations

from typing import Any

from dask.utils import parse_bytes
from distributed import Worker

from dnfscale.engine.settings import BANDWIDTH


def keep_told(worker: Worker) -> None:
    """Have a worker tell its scheduler that bandwidth, whatever transfers take; other workers are left alone."""
    measure = type(worker)._update_metrics_received_data

    def measure_in_vain(*arguments: Any, **named: Any) -> None:
        measure(worker, *arguments, **named)
        worker.bandwidth = parse_bytes(BANDWIDTH)

    worker._update_metrics_received_data = measure_in_vain
    worker.bandwidth = parse_bytes(BANDWIDTH)
