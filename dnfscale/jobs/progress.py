"""The progress of a job: what the user sees of it, a moving line on a terminal and plain lines
elsewhere; and what the journal records about each phase.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any, TextIO

from dnfscale.engine.api import Progress

if TYPE_CHECKING:
    from dnfscale.jobs.plan import Plan

_REDRAW_S = 0.1
_PLAIN_S = 5.0
"""How often the progress of a phase is shown: on a terminal, and elsewhere."""
_JOURNAL_S = 5.0
"""How often the progress of a running phase is recorded in the journal."""


class ProgressLines:
    """Writes the progress of each phase of each job: what is done, how fast, and how long the rest
    will take.
    """

    def __init__(self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._live = stream.isatty()
        self._rows: dict[str, int] = {}
        self._scans: dict[str, Container[str]] = {}
        self._started: dict[tuple[str, str], float] = {}
        self._told = 0.0
        self._lock = threading.Lock()
        """Needed because the jobs of a suite run in threads of their own."""

    def begin(self, job: str, n_rows: int, n_partitions: int, *, scans: Container[str]) -> None:
        """Show that a job begins; rows per second are shown only for `scans`, the phases that go
        over every row.
        """
        with self._lock:
            self._rows[job] = n_rows
            self._scans[job] = scans
            self._line(
                f"{job}: {n_rows:,} rows in {n_partitions:,} partition{'s' * (n_partitions != 1)}"
            )

    def progress(self, job: str, progress: Progress) -> None:
        """Show how far a phase has come, if enough time has passed."""
        with self._lock:
            now = self._clock()
            started = self._started.setdefault((job, progress.phase), now)
            if progress.done == progress.total:
                del self._started[job, progress.phase]
                self._line(self._described(job, progress, now - started))
            elif progress.done and now - max(self._told, started) >= (
                _REDRAW_S if self._live else _PLAIN_S
            ):
                self._told = now
                line = self._described(job, progress, now - started)
                if self._live:
                    self._stream.write(f"\r\x1b[K{line}")
                    self._stream.flush()
                else:
                    self._line(line)

    def notice(self, text: str) -> None:
        """Show what happened to the cluster."""
        with self._lock:
            self._line(f"  {text}")

    def recalled(self, job: str, phase: str) -> None:
        """Show that a phase was completed by an earlier run."""
        with self._lock:
            self._line(f"  {self._name(job, phase):<22} done before")

    def _name(self, job: str, phase: str) -> str:
        return phase if len(self._rows) < 2 else f"{job}: {phase}"

    def _described(self, job: str, progress: Progress, elapsed_s: float) -> str:
        share = progress.done / progress.total
        name = self._name(job, progress.phase)
        text = f"  {name:<22} {progress.done:>5,}/{progress.total:<5,} {elapsed_s:7.1f} s"
        if progress.phase in self._scans.get(job, ()) and elapsed_s > 0:
            text += f" {share * self._rows[job] / elapsed_s:>14,.0f} rows/s"
        if progress.done < progress.total:
            text += f"  {elapsed_s * (1 - share) / share:,.0f} s left"
        return text

    def _line(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text}\n" if self._live else f"{text}\n")
        self._stream.flush()


class Watcher:
    """Passes on what happens: as lines for a person, or as JSON for a program."""

    def __init__(self, lines: ProgressLines | None, json_stream: TextIO | None) -> None:
        self._lines = lines
        self._json_stream = json_stream

    def begin(self, job: str, n_rows: int, n_partitions: int, *, scans: Container[str]) -> None:
        if self._lines is not None:
            self._lines.begin(job, n_rows, n_partitions, scans=scans)

    def progress(self, job: str, progress: Progress) -> None:
        if self._lines is not None:
            self._lines.progress(job, progress)

    def notice(self, text: str) -> None:
        if self._lines is not None:
            self._lines.notice(text)

    def recalled(self, job: str, phase: str) -> None:
        if self._lines is not None:
            self._lines.recalled(job, phase)

    def event(self, event: dict[str, Any]) -> None:
        if self._json_stream is not None:
            print(json.dumps(event, ensure_ascii=False), file=self._json_stream, flush=True)


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
        self._started: dict[str, float] = {}
        self._told: dict[str, float] = {}
        self.elapsed_s: dict[str, float] = {}

    def facts(self, progress: Progress, now: float) -> dict[str, Any] | None:
        """Return what the journal should record, if anything: the beginning, the end, and progress
        now and then.
        """
        phase = progress.phase
        facts: dict[str, Any] = {"phase": phase, "done": progress.done, "total": progress.total}
        if progress.done == 0:
            self._started[phase] = self._told[phase] = now
            return facts
        elapsed_s = now - self._started.get(phase, now)
        if progress.done == progress.total:
            self.elapsed_s[phase] = self.elapsed_s.get(phase, 0.0) + elapsed_s
            if phase in self.scans:
                facts["rows"] = self._rows
            if phase in self._order:
                facts["bytes"] = self._read_by(phase)
        elif now - self._told.get(phase, now) < _JOURNAL_S:
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
