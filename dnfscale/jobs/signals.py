"""Ending on a signal: the stack is unwound, so that a cluster is taken down and nothing is left
half-written.

The handler raises, but library code may swallow what it raises; so the signal is also remembered,
and a job checks for it after every step.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

_received: list[int] = []


class Ended(BaseException):
    """The process was asked to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def exit_code(self) -> int:
        return 128 + self.number


def listen() -> None:
    """From now on, raise Ended on SIGTERM and SIGINT; outside the main thread, do nothing about
    signals.
    """
    _received.clear()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _handle)


def check() -> None:
    """Raise Ended if a signal has come, even if what its handler raised was swallowed."""
    if _received and threading.current_thread() is threading.main_thread():
        raise Ended(_received[0])


def _handle(number: int, _frame: FrameType | None) -> None:
    _received.append(number)
    raise Ended(number)
