"""A terminal: lines that move at the bottom, one for each running job, and above them what is done.

The clock of a line ticks in a thread of its own, whether or not the job tells anything.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Self, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dnfscale.engine.api import Progress
from dnfscale.jobs.progress import (
    BETWEEN,
    Current,
    Running,
    Step,
    clock_text,
    recalled_line,
    size_line,
    time_text,
)

_PER_SECOND = 8
_BAR_WIDTH = (5, 40)
_BESIDE_BAR = 72
"""What stands beside the bar, at most: with 80 columns there is room for a short one."""


class Screen:
    """Shows the step of every running job on a line that moves."""

    def __init__(self, stream: TextIO, *, n_jobs: int = 1) -> None:
        self._n_jobs = n_jobs
        self._n_ended = 0
        self._jobs: dict[str, Running] = {}
        self._waits: tuple[str, float] | None = None
        self._lock = threading.Lock()
        """Guards what is shown; never held while something is written, as writing asks for it."""
        self._console = Console(file=stream, highlight=False, soft_wrap=True)
        self._live = Live(
            console=self._console,
            get_renderable=self._lines,
            refresh_per_second=_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return self

    def __exit__(self, *_how: object) -> None:
        left = [text for text in map(self._left_line, self._jobs.values()) if text]
        if not self._live.is_started:
            return
        self._live.stop()
        # Whoever interrupts a job sees where it was.
        for line in left:
            self._print(line)

    def waits(self, text: str) -> None:
        with self._lock:
            if self._n_jobs > 1 and self._jobs:
                # What one of several jobs does beside its steps is not shown.
                return
            self._waits = (text, time.monotonic())
        self._live.refresh()

    def begin(self, job: str, n_rows: int, n_partitions: int, steps: Sequence[Step]) -> None:
        with self._lock:
            self._waits = None
            self._jobs[job] = Running(job, n_rows, steps, time.monotonic())
        if self._n_jobs == 1:
            self._print(size_line(job, n_rows, n_partitions))

    def progress(self, job: str, progress: Progress) -> None:
        with self._lock:
            self._waits = None
            now_s = time.monotonic()
            running = self._jobs[job]
            before = running.current
            current = running.moved(progress, now_s)
            lines = running.read_lines()
            if progress.done == progress.total:
                lines.append(running.ended_line(current, now_s))
        if lines or current is not before:
            # Before a line is printed above it, what moves must not show that step any more.
            self._live.refresh()
        if self._n_jobs == 1:
            for line in lines:
                self._print(line)

    def detail(self, job: str, text: str) -> None:
        with self._lock:
            current = self._jobs[job].current
            if current is not None:
                current.detail = text

    def notice(self, text: str) -> None:
        self._print(f"  {text}")

    def recalled(self, job: str, phase: str) -> None:
        with self._lock:
            step, number = self._jobs[job].entered(phase)
        if self._n_jobs == 1:
            self._print(recalled_line(step, number))

    def ended(self, job: str, how: str) -> None:
        with self._lock:
            self._jobs.pop(job, None)
            self._n_ended += 1
        self._print(f"{job}: {how}")

    def _print(self, line: str) -> None:
        self._console.print(Text(line))

    def _lines(self) -> RenderableType:
        """Return what moves, as it is now."""
        with self._lock:
            now_s = time.monotonic()
            shown: list[RenderableType] = []
            if self._waits is not None:
                shown.append(_waiting(*self._waits, now_s))
            if self._n_jobs > 1 and self._jobs:
                shown.append(Text(f"{self._n_ended} of {self._n_jobs} jobs have ended"))
            one = next(iter(self._jobs.values()), None) if self._n_jobs == 1 else None
            if one is not None and one.current is None:
                if self._waits is None:
                    shown.append(_waiting(BETWEEN, one.idle_s, now_s))
            elif self._jobs:
                shown.append(self._table(now_s))
            shown += [
                Text(f"    {running.current.detail}", overflow="ellipsis", no_wrap=True)
                for running in self._jobs.values()
                if self._n_jobs == 1 and running.current is not None and running.current.detail
            ]
            return Group(*shown)

    def _table(self, now_s: float) -> Table:
        table = Table.grid(padding=(0, 2, 0, 0))
        for _ in range(3):
            table.add_column(no_wrap=True, overflow="ellipsis")
        for _ in range(3):
            table.add_column(no_wrap=True, justify="right")
        least, most = _BAR_WIDTH
        width = max(least, min(most, self._console.width - _BESIDE_BAR))
        for running in self._jobs.values():
            current = running.current
            if current is None:
                # Between two steps: the next is about to begin.
                clock = clock_text(now_s - running.idle_s)
                table.add_row(f"  {running.name[:24]}", BETWEEN, "", "", clock, "")
                continue
            left_s = current.left_s(now_s)
            table.add_row(
                f"  {self._label(running, current)}",
                current.step.title,
                _bar(current, width),
                f"{current.done:,}/{current.total:,}",
                clock_text(now_s - current.begun_s),
                "" if left_s is None else f"{time_text(left_s)} left",
            )
        return table

    def _label(self, running: Running, current: Current) -> str:
        if self._n_jobs == 1:
            return current.number
        return f"{running.name[:24]} {current.number.removeprefix('step ').replace(' of ', '/')}"

    def _left_line(self, running: Running) -> str | None:
        current = running.current
        if current is None:
            return None
        elapsed = clock_text(time.monotonic() - current.begun_s)
        label = self._label(running, current)
        return f"  {label}  {current.step.title}, {current.done:,} of {current.total:,}, {elapsed}"


def _waiting(text: str, begun_s: float, now_s: float) -> Text:
    return Text(f"  {text} … {clock_text(now_s - begun_s)}")


def _bar(current: Current, width: int) -> RenderableType:
    """Return the bar of a step; one whose tasks are all under way only shows that it lives."""
    return ProgressBar(
        total=current.total, completed=current.done, width=width, pulse=current.done == 0
    )
