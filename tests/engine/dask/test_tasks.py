from __future__ import annotations

import os

import distributed
from dask.utils import parse_bytes

from dnfscale.engine.dask.settings import BANDWIDTH


def told(dask_worker: distributed.Worker) -> float:
    return float(dask_worker.bandwidth)


def test_a_transfer_does_not_change_what_is_thought_of_moving(cluster):
    client = cluster.client
    first, second = client.scheduler_info(n_workers=-1)["workers"]
    made = client.submit(os.urandom, 4_000_000, workers=[first], pure=False)
    assert client.submit(len, made, workers=[second], pure=False).result() == 4_000_000
    assert set(client.run(told).values()) == {parse_bytes(BANDWIDTH)}
