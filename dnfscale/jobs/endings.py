"""How a command ends: its exit code, and what a signal does.

On a signal the stack is unwound, so that a cluster is taken down and nothing is left half-written.
The handler raises, but library code may swallow what it raises; so the signal is also remembered,
and a job checks for it after every step.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

from dnfscale.engine.limits import limit_behind
from dnfscale.engine.streams import ClosedPipeError, require_stdout
from dnfscale.errors import DnfscaleError, visible

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


def exit_code_of(action: Callable[[], int | None]) -> int:
    """Run an action, report what ends it early, and return the matching exit code."""
    try:
        code = action()
        sys.stdout.flush()
    except ClosedPipeError:
        return 128 + signal.SIGPIPE
    except Exception as error:
        named = limit_behind(error) or error
        if not isinstance(named, DnfscaleError):
            raise
        # A message may quote a path or a value of the spec; characters that a terminal would obey
        # are spelled out.
        print(f"dnfscale: {visible(str(named))}", file=sys.stderr)
        return named.exit_code
    except Ended as ended:
        print(f"dnfscale: ended by {signal.Signals(ended.number).name}", file=sys.stderr)
        return ended.exit_code
    finally:
        # What is still in a buffer is flushed at exit, when the exit code is known.
        require_stdout(False)
    return code or 0
