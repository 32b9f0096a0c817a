"""What a person sees while a job runs: a line that moves on a terminal, plain lines anywhere else."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from dnfscale.engine.api import Progress

_REDRAW_S = 0.1
_PLAIN_S = 5.0
"""How often a phase is told of again: on a terminal, and elsewhere."""


class ProgressLines:
    """Writes the progress of each phase: what is done, how fast, and how long it will take."""

    def __init__(self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.n_rows = 0
        """Rows of the dataset; a phase over all partitions passes this many."""
        self._stream = stream
        self._clock = clock
        self._live = stream.isatty()
        self._started = self._told = 0.0

    def __call__(self, progress: Progress) -> None:
        now = self._clock()
        if progress.done == 0:
            self._started = self._told = now
            if self._live:
                self._write(f"\r\x1b[K  {progress.phase} ...")
            return
        if progress.done == progress.total:
            line = self._line(progress, now - self._started)
            self._write(f"\r\x1b[K{line}\n" if self._live else f"{line}\n")
        elif now - self._told >= (_REDRAW_S if self._live else _PLAIN_S):
            self._told = now
            line = self._line(progress, now - self._started)
            self._write(f"\r\x1b[K{line}" if self._live else f"{line}\n")

    def say(self, line: str) -> None:
        """Write a line of its own."""
        self._write(f"\r\x1b[K{line}\n" if self._live else f"{line}\n")

    def _line(self, progress: Progress, elapsed_s: float) -> str:
        share = progress.done / progress.total
        text = f"  {progress.phase:<22} {progress.done:>5,}/{progress.total:<5,} {elapsed_s:7.1f} s"
        if not progress.phase.endswith("formulas") and elapsed_s > 0:
            text += f" {share * self.n_rows / elapsed_s:>14,.0f} rows/s"
        if progress.done < progress.total:
            text += f"  {elapsed_s * (1 - share) / share:,.0f} s left"
        return text

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
