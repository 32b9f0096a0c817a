"""What the journal records about a phase: when it began, its progress, and what it has read."""

from __future__ import annotations

from typing import Any

from dnfscale.engine.api import Progress
from dnfscale.jobs.plan import Plan

_AGAIN_S = 5.0
"""How often the progress of a running phase is recorded."""


class Phases:
    """Knows which phases scan all rows and which read files, and how long each has taken."""

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
        elif now - self._told.get(phase, now) < _AGAIN_S:
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
