"""What may become of an input: an answer, or an error of ours with a message; all else is a
failure.
"""

from __future__ import annotations

import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from dnfscale.errors import DnfscaleError

T = TypeVar("T")
EXIT_CODES = {1, 2, 3, 4, 5}
TIME_LIMIT_S = 20.0
"""Of the processor's time: how busy the machine is must not decide."""


class FuzzError(Exception):
    """An input that does what no input may do."""


class _Late(BaseException):
    """The time of an input is over; nothing on the way may take it for an error of its own."""


def attempt(action: Callable[[], T]) -> T | None:
    """Return what an action gives, or None where it ends with an error of ours that says
    something.
    """
    try:
        return action()
    except DnfscaleError as error:
        if error.exit_code not in EXIT_CODES or not str(error).strip():
            raise FuzzError(f"an error without a message or a code: {error!r}") from error
        return None
    except FuzzError:
        raise
    except (Exception, SystemExit) as error:
        shown = traceback.format_exc()
        raise FuzzError(f"{type(error).__name__}\n{shown[-3000:]}") from error


def demand(holds: bool, message: str) -> None:
    """Fail unless something holds."""
    if not holds:
        raise FuzzError(message)


@contextmanager
def limited(seconds: float = TIME_LIMIT_S) -> Iterator[None]:
    """Fail when what is inside takes too long; a warning is an error, because users would
    see it.
    """

    def late(_: int, __: FrameType | None) -> None:
        raise _Late

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except _Late as error:
        raise FuzzError(
            f"took longer than {seconds} s\n{traceback.format_exc()[-3000:]}"
        ) from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
