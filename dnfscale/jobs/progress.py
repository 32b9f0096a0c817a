"""The progress of jobs: which step each is at, as plain lines or, on a terminal, as lines that
move; and what the journal records about each phase.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TextIO

from dnfscale.engine.api import Progress
from dnfscale.jobs.checkpoints import COMPARE_COUNTS

if TYPE_CHECKING:
    from dnfscale.jobs.plan import Plan

_SOON_S = 1.0
"""A step that takes longer is shown before it ends, where lines do not move."""
_AGAIN_S = 10.0
"""How often it is shown again; a step of many minutes less often."""
_JOURNAL_S = 5.0
"""How often the progress of a running phase is recorded in the journal."""
BETWEEN = "working on what was counted"
"""What is shown between two steps, where the job's own process works."""
_RATED_ROWS = 100_000
"""A scan of fewer rows says nothing about rows per second."""
_UNPLANNED = {phase.name: phase.title for phase in (COMPARE_COUNTS,)}
"""What people see of phases that no plan foresees."""


@dataclass(frozen=True, slots=True)
class Step:
    """A phase as people see it."""

    name: str
    title: str
    is_scan: bool = False
    """Whether it goes over every row, so that rows per second can be told."""
    reads_files: bool = False
    """Whether it reads rows; workers do that when a later step first asks for the rows."""


@dataclass(slots=True)
class Current:
    """The step that a job is at."""

    step: Step
    number: str
    """Such as «step 4 of 9»; empty where no plan foresaw the step."""
    begun_s: float
    first: int
    """How many tasks an earlier run had done."""
    done: int
    total: int
    told_s: float
    detail: str = ""
    """What runs now, within the step."""

    def left_s(self, now_s: float) -> float | None:
        """Return how long the rest will take, if that can be said."""
        done = self.done - self.first
        if done <= 0 or self.done >= self.total:
            return None
        return (now_s - self.begun_s) * (self.total - self.done) / done


@dataclass(slots=True)
class Running:
    """A job that has begun."""

    name: str
    n_rows: int
    steps: Sequence[Step]
    begun_s: float
    current: Current | None = None
    times: Counter[str] = field(default_factory=Counter)
    """How often each phase has begun: some come twice."""
    places: set[int] = field(default_factory=set)
    """The steps that have begun, by number."""
    idle_s: float = 0.0
    """Since when no step runs."""
    idle_told_s: float = 0.0

    def __post_init__(self) -> None:
        self.idle_s = self.idle_told_s = self.begun_s

    def moved(self, progress: Progress, now_s: float) -> Current:
        """Return the step that the job is at, after what was told."""
        current = self.current
        if current is None or current.step.name != progress.phase:
            step, number = self.entered(progress.phase)
            current = Current(
                step, number, now_s, progress.done, progress.done, progress.total, told_s=now_s
            )
            self.current = current
        current.done, current.total = progress.done, progress.total
        return current

    def entered(self, phase: str) -> tuple[Step, str]:
        """Return the step that begins with a phase, and which of all steps it is."""
        places = [place for place, step in enumerate(self.steps, start=1) if step.name == phase]
        self.times[phase] += 1
        if len(places) < self.times[phase]:
            return Step(phase, _UNPLANNED.get(phase, phase)), ""
        place = places[self.times[phase] - 1]
        self.places.add(place)
        return self.steps[place - 1], self._number(place)

    def _number(self, place: int) -> str:
        return f"step {place} of {len(self.steps)}"

    def read_lines(self) -> list[str]:
        """Return a line for each step whose rows are read by the step that runs, as nobody has
        asked for them before.
        """
        current = self.current
        if current is None or not current.number:
            return []
        now = max(self.places)
        untold: list[int] = []
        for place in range(now - 1, 0, -1):
            if not self.steps[place - 1].reads_files:
                break
            if place not in self.places:
                untold.insert(0, place)
        self.places.update(untold)
        return [
            f"  {self._number(place):<15}{self.steps[place - 1].title:<29} with step {now}"
            for place in untold
        ]

    def ended_line(self, current: Current, now_s: float) -> str:
        """Return the line of a step that is done, and leave the step."""
        self.current = None
        self.idle_s = self.idle_told_s = now_s
        elapsed_s = now_s - current.begun_s
        line = f"  {current.number:<15}{current.step.title:<29}{elapsed_s:>8,.1f} s"
        if current.step.is_scan and self.n_rows >= _RATED_ROWS and elapsed_s > 0:
            line += f" {self.n_rows / elapsed_s:>14,.0f} rows/s"
        return line


class Display(Protocol):
    """Shows people what jobs do."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    def waits(self, text: str) -> None:
        """Show what is done where no step runs, until one does."""
        ...

    def begin(self, job: str, n_rows: int, n_partitions: int, steps: Sequence[Step]) -> None:
        """Show that a job begins."""
        ...

    def progress(self, job: str, progress: Progress) -> None:
        """Show how far a phase has come."""
        ...

    def detail(self, job: str, text: str) -> None:
        """Show what runs now, within the phase."""
        ...

    def notice(self, text: str) -> None:
        """Show what happened."""
        ...

    def recalled(self, job: str, phase: str) -> None:
        """Show that a phase was completed by an earlier run."""
        ...

    def ended(self, job: str, how: str) -> None:
        """Show that one of several jobs has ended."""
        ...


def display_for(stream: TextIO, *, n_jobs: int = 1) -> Display:
    """Return the display for a stream: lines that move on a terminal, plain lines elsewhere."""
    if stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
        # Only people who look on pay for the import.
        from dnfscale.jobs.screen import Screen

        return Screen(stream, n_jobs=n_jobs)
    return PlainLines(stream, n_jobs=n_jobs)


class PlainLines:
    """A line for each step, when it is done; one that takes long is also shown meanwhile.

    Where several jobs run side by side, a job has a line when it begins and when it ends.
    """

    def __init__(
        self, stream: TextIO, *, n_jobs: int = 1, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._n_jobs = n_jobs
        self._jobs: dict[str, Running] = {}
        self._over = threading.Event()
        self._lock = threading.Lock()
        """Needed because the jobs of a suite run in threads of their own."""

    def __enter__(self) -> Self:
        threading.Thread(target=self._keep_ticking, name="progress", daemon=True).start()
        return self

    def __exit__(self, *_how: object) -> None:
        self._over.set()

    def waits(self, text: str) -> None:
        pass

    def begin(self, job: str, n_rows: int, n_partitions: int, steps: Sequence[Step]) -> None:
        with self._lock:
            self._jobs[job] = Running(job, n_rows, steps, self._clock())
            self._line(size_line(job, n_rows, n_partitions))

    def progress(self, job: str, progress: Progress) -> None:
        with self._lock:
            now_s = self._clock()
            running = self._jobs[job]
            current = running.moved(progress, now_s)
            lines = running.read_lines()
            if progress.done == progress.total:
                lines.append(running.ended_line(current, now_s))
            if self._n_jobs == 1:
                for line in lines:
                    self._line(line)
            self._show_long(now_s)

    def detail(self, job: str, text: str) -> None:
        with self._lock:
            current = self._jobs[job].current
            if current is not None:
                current.detail = text

    def notice(self, text: str) -> None:
        with self._lock:
            self._line(f"  {text}")

    def recalled(self, job: str, phase: str) -> None:
        with self._lock:
            step, number = self._jobs[job].entered(phase)
            if self._n_jobs == 1:
                self._line(recalled_line(step, number))

    def ended(self, job: str, how: str) -> None:
        with self._lock:
            self._jobs.pop(job, None)
            self._line(f"{job}: {how}")

    def tick(self) -> None:
        """Show the steps that take long."""
        with self._lock:
            self._show_long(self._clock())

    def _keep_ticking(self) -> None:
        while not self._over.wait(_SOON_S / 2):
            self.tick()

    def _show_long(self, now_s: float) -> None:
        for running in self._jobs.values():
            name = f"{running.name}: " if self._n_jobs > 1 else "  "
            current = running.current
            if current is None:
                if now_s - running.idle_told_s >= _AGAIN_S * self._n_jobs:
                    running.idle_told_s = now_s
                    self._line(f"{name}{BETWEEN}, {clock_text(now_s - running.idle_s)}")
                continue
            elapsed_s = now_s - current.begun_s
            again_s = max(_AGAIN_S * self._n_jobs, elapsed_s / 10)
            shown = current.told_s > current.begun_s
            if now_s - current.told_s < (again_s if shown else _SOON_S):
                continue
            current.told_s = now_s
            self._line(name + _long_line(current, now_s))

    def _line(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()


def _long_line(current: Current, now_s: float) -> str:
    """Return the line of a step that is not done."""
    left_s = current.left_s(now_s)
    parts = [
        f"{current.number:<15}{current.step.title:<29}".rstrip(),
        f"{current.done:,} of {current.total:,}",
        clock_text(now_s - current.begun_s),
        *([] if left_s is None else [f"{time_text(left_s)} left"]),
        *([current.detail] if current.detail else []),
    ]
    return ", ".join(parts)


def size_line(job: str, n_rows: int, n_partitions: int) -> str:
    """Return the line with which a job begins."""
    return f"{job}: {n_rows:,} rows in {n_partitions:,} partition{'s' * (n_partitions != 1)}"


def recalled_line(step: Step, number: str) -> str:
    """Return the line of a step that an earlier run has completed."""
    return f"  {number:<15}{step.title:<29} done before"


def clock_text(elapsed_s: float) -> str:
    """Return a time as a clock shows it: 0:07, 12:30, 1:02:03."""
    minutes, seconds = divmod(int(elapsed_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def time_text(seconds: float) -> str:
    """Return a time to come, in minutes where it is minutes."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Watcher:
    """Passes on what happens: to a display for people, or as JSON to a program."""

    def __init__(self, stream: TextIO, *, as_json: bool = False, n_jobs: int = 1) -> None:
        self._stream = stream
        self._display = None if as_json else display_for(stream, n_jobs=n_jobs)
        self._n_jobs = n_jobs
        self._stopped = False

    def __enter__(self) -> Self:
        if self._display is not None:
            self._display.__enter__()
        return self

    def __exit__(self, *how: Any) -> None:
        if self._display is not None:
            self._display.__exit__(*(how or (None, None, None)))

    @property
    def _open(self) -> Display | None:
        """The display, unless the last line has been shown."""
        return None if self._stopped else self._display

    def waits(self, text: str) -> None:
        if (display := self._open) is not None:
            display.waits(text)

    def begin(self, job: str, n_rows: int, n_partitions: int, steps: Sequence[Step]) -> None:
        if (display := self._open) is not None:
            display.begin(job, n_rows, n_partitions, steps)

    def progress(self, job: str, progress: Progress) -> None:
        if (display := self._open) is not None:
            display.progress(job, progress)

    def detail(self, job: str, text: str) -> None:
        if (display := self._open) is not None:
            display.detail(job, text)

    def notice(self, text: str) -> None:
        if (display := self._open) is not None:
            display.notice(text)

    def notice_of(self, job: str, text: str) -> None:
        """Show what happened to one job, by its name if there are several."""
        self.notice(text if self._n_jobs == 1 else f"{job}: {text}")

    def recalled(self, job: str, phase: str) -> None:
        if (display := self._open) is not None:
            display.recalled(job, phase)

    def ended(self, job: str, how: str) -> None:
        if (display := self._open) is not None:
            display.ended(job, how)

    def stop(self, text: str) -> None:
        """Show nothing more than a last line."""
        # Jobs whose cluster is taken down have not failed, and what others still write is not news.
        self._stopped = True
        self.__exit__()
        print(text, file=self._stream, flush=True)

    def event(self, event: dict[str, Any]) -> None:
        if self._display is None:
            print(json.dumps(event, ensure_ascii=False), file=self._stream, flush=True)


class Phases:
    """Knows when each phase began, and which of them scan all rows or read files."""

    def __init__(self, plan: Plan) -> None:
        self._rows = plan.rows
        reading = [phase for phase in plan.phases if phase.read_bytes or phase.reads.is_scan]
        self._order = [phase.name for phase in reading]
        self._unread = {phase.name: phase.read_bytes for phase in reading}
        self.scans = frozenset(phase.name for phase in plan.phases if phase.reads.is_scan)
        """Phases that scan every row; sampling does not, and tuning reads rows once per worker, not
        once per trial.
        """
        self.steps = tuple(
            Step(phase.name, phase.title, phase.reads.is_scan, phase.reads.is_file)
            for phase in plan.phases
        )
        self._started: dict[str, float] = {}
        self._told: dict[str, float] = {}
        self.elapsed_s: dict[str, float] = {}

    def facts(self, progress: Progress, now: float) -> dict[str, Any] | None:
        """Return what the journal should record, if anything: the beginning, the end, and progress
        now and then.
        """
        phase = progress.phase
        facts: dict[str, Any] = {"phase": phase, "done": progress.done, "total": progress.total}
        if progress.done == 0 or phase not in self._told:
            self._started[phase] = self._told[phase] = now
            return facts
        elapsed_s = now - self._started.get(phase, now)
        if progress.done == progress.total:
            self.elapsed_s[phase] = self.elapsed_s.get(phase, 0.0) + elapsed_s
            if phase in self.scans:
                facts["rows"] = self._rows
            if phase in self._order:
                facts["bytes"] = self._read_by(phase)
        elif now - self._told[phase] < _JOURNAL_S:
            return None
        self._told[phase] = now
        return {**facts, "elapsed_s": round(elapsed_s, 3)}

    def _read_by(self, phase: str) -> int:
        """Return the planned bytes of Parquet up to the end of this phase that no earlier phase has
        reported.

        Rows that a cluster keeps are read when a later phase first asks for them, so the reading
        phase does not end by itself.
        """
        upto = self._order[: self._order.index(phase) + 1]
        return sum(self._unread.pop(name, 0) for name in upto)
