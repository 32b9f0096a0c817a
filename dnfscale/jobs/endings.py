"""How a command ends: its exit code, and what a signal does.

On a signal the stack is unwound, so that a cluster is taken down and nothing is left half-written.
The handler raises, but library code may swallow what it raises; so the signal is also remembered,
and a job checks for it after every step.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from types import FrameType

from dnfscale.engine.limits import limit_behind
from dnfscale.engine.streams import ClosedPipeError, require_stdout
from dnfscale.errors import DnfscaleError, visible

_received: list[int] = []
_words: list[_Word] = []
"""Said when a signal comes, the latest first."""
_WORD_S = 1.0
"""A job that ends waits so long for a word that another thread has begun."""
_MANY = 4096
"""More signals than come between two commands."""


class _Word:
    """What is said once, by whoever comes to it first."""

    def __init__(self, action: Callable[[], None]) -> None:
        self._action = action
        self._turn = threading.Lock()
        self._is_said = False

    def say(self) -> None:
        # Whoever is saying it may never come to an end, such as where a stream is stuck.
        if not self._turn.acquire(timeout=_WORD_S):
            return
        try:
            if not self._is_said:
                self._is_said = True
                # The job may be ending by itself meanwhile: its stream is closed, its folder gone.
                # Whoever else waits for a word still gets it, and so does the next job.
                with suppress(Exception):
                    self._action()
        finally:
            self._turn.release()


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
        sys.unraisablehook = _report_unless_ended
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _handle)
        wakes, woken = _wakes()
        # Signals to an earlier command of this process, which nobody has been told of yet.
        with socket.socket(fileno=os.dup(woken)) as unheard, suppress(BlockingIOError):
            unheard.recv(_MANY, socket.MSG_DONTWAIT)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)


@contextmanager
def telling(action: Callable[[], None]) -> Iterator[None]:
    """Call an action as soon as a signal comes: taking a cluster down, or a step of the main thread
    that cannot be interrupted, may take longer than people wait for a word.
    """
    word = _Word(action)
    _words.append(word)
    try:
        yield
    finally:
        if _received:
            # The stack may unwind before the thread that listens has come to it.
            word.say()
        _words.remove(word)


@cache
def _wakes() -> tuple[int, int]:
    """Return the descriptor that a signal wakes a thread of ours by, and the one where the thread
    listens.
    """
    wakes, woken = socket.socketpair()
    wakes.setblocking(False)

    def listen_for_ever() -> None:
        while number := woken.recv(1):
            if number[0] in (signal.SIGTERM, signal.SIGINT):
                for word in tuple(reversed(_words)):
                    word.say()

    threading.Thread(target=listen_for_ever, name="signals", daemon=True).start()
    return wakes.detach(), woken.fileno()


def check() -> None:
    """Raise Ended if a signal has come, even if what its handler raised was swallowed."""
    if _received and threading.current_thread() is threading.main_thread():
        raise Ended(_received[0])


def _handle(number: int, _frame: FrameType | None) -> None:
    _received.append(number)
    raise Ended(number)


def _report_unless_ended(unraisable: sys.UnraisableHookArgs) -> None:
    """Report what is raised where nothing can catch it, unless that is Ended: a signal that comes
    in a callback of the garbage collector is remembered, and told of in one line at the end.
    """
    if not isinstance(unraisable.exc_value, Ended):
        sys.__unraisablehook__(unraisable)


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
