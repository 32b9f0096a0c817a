"""A clock for Dask's own waiting that only goes forward.

Dask sends its messages, and Tornado calls what is periodic, once the wall clock has reached a certain time. A clock
that is set back by an hour would stop a job for an hour, without a word; one that is set forward would have the
scheduler take its workers for lost. Every process that runs our tasks keeps steady time; a scheduler that was started
by its command does with `dask scheduler --preload dnfscale.engine.steady`.
"""

from __future__ import annotations

import time
from typing import Any

import distributed.batched
import distributed.scheduler
from tornado.ioloop import IOLoop

# What waits already goes by the wall clock of before, so both must agree now.
_AHEAD_S = time.time() - time.monotonic()


def steady_time() -> float:
    """Return the wall clock's time as if nobody had set it since this module was loaded."""
    return time.monotonic() + _AHEAD_S


def keep_steady() -> None:
    """Have this process wait by the steady clock."""
    distributed.batched.time = steady_time
    distributed.scheduler.time = steady_time
    IOLoop.time = lambda _loop: steady_time()  # type: ignore[assignment, method-assign]


def dask_setup(_server: Any) -> None:
    """Keep steady time in a scheduler or worker that loads this module first."""
    keep_steady()
