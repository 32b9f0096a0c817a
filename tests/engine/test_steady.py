from __future__ import annotations

import time

import distributed.batched
import distributed.scheduler
from tornado.ioloop import IOLoop

from dnfscale.engine import applying
from dnfscale.engine.steady import steady_time


def test_whoever_runs_tasks_waits_by_a_clock_that_cannot_be_set(monkeypatch):
    assert applying.apply
    clocks = (steady_time, distributed.batched.time, distributed.scheduler.time, lambda: IOLoop.time(None))
    before = [clock() for clock in clocks]
    monkeypatch.setattr(time, "time", lambda: 0.0)
    for clock, then in zip(clocks, before, strict=True):
        assert then <= clock() < then + 60
