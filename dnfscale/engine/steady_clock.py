"""A clock for Dask's own waiting that only goes forward.

Dask sends its messages, and Tornado calls what is periodic, once the wall clock has reached a
certain time. A clock that is set back by an hour would stop a job for an hour, without a word; one
that is set forward would have the scheduler take its workers for lost.

The clock is a matter of a whole process, so nothing happens on import; it is replaced where a job
needs it:

    this process      while an engine, or a client of detached jobs, is open
    workers           from their start (local ones) or from the first task of ours, until they end
    other schedulers  while an engine is open on them; always, if they were started with
                      `dask scheduler --preload dnfscale.engine.steady_clock`

Heartbeats and Dask's `worker-ttl` work by it as well: a scheduler notes by its own clock when it
heard from a worker, and compares by the same.

That a job survives a clock which is set can be tried by replacing time.time, as tests/faults does,
or by preloading a library that shifts CLOCK_REALTIME alone, as setting a clock does. libfaketime
(0.9.10) is of no use for it: it shifts CLOCK_MONOTONIC too, which no system does, and then
`threading.Event().wait(0.5)` never returns in any Python program, even if no time is set; without
that, `time.sleep(0.5)` returns at once.

A job that is killed cannot give a scheduler that somebody else started its clock back; it stays
steady then, which differs from the wall clock only once that is set.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from distributed import Client

from dnfscale.engine.dask.internals import replace_clock


class _SteadyClock:
    """The clock of this process, and how many want it steady; the last to leave puts the old one
    back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_holders = 0
        self._ahead_s = 0.0

    def time(self) -> float:
        return time.monotonic() + self._ahead_s

    def hold(self) -> None:
        with self._lock:
            self._n_holders += 1
            if self._n_holders == 1:
                # What waits already goes by the wall clock, so both must agree now.
                self._ahead_s = time.time() - time.monotonic()
                self._put_back = replace_clock(self.time)

    def release(self) -> None:
        with self._lock:
            self._n_holders -= 1
            if self._n_holders == 0:
                self._put_back()


_CLOCK = _SteadyClock()


def keep_steady() -> None:
    """Have this process wait by the steady clock until let_go() is called as often as this."""
    _CLOCK.hold()


def let_go() -> None:
    """Want the steady clock no longer."""
    _CLOCK.release()


@contextmanager
def steady_clock() -> Iterator[None]:
    """Have this process wait by the steady clock while the block runs."""
    keep_steady()
    try:
        yield
    finally:
        let_go()


def keep_scheduler_steady(client: Client) -> None:
    """Have the scheduler of a client wait by the steady clock."""
    client.run_on_scheduler(keep_steady)


def let_scheduler_go(client: Client) -> None:
    """Want the steady clock no longer at the scheduler of a client; one that is gone has none."""
    if client.status == "running":
        with suppress(OSError):
            client.run_on_scheduler(let_go)


def dask_setup(_server: Any) -> None:
    """Keep steady time for good in a scheduler or worker that loads this module first."""
    keep_steady()
