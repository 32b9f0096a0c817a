"""What a benchmark is made of: a case, its contenders, what they did, and the figures that goals
are set for.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from tests.bench.processes import ProcessPeak, cpu_seconds
from tests.bench.setting import Setting

T = TypeVar("T")


class DisagreementError(Exception):
    """Contenders that were asked the same question gave different answers."""


class NotReadyError(Exception):
    """A case or a contender cannot run here; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class WorkerLog:
    """What happened to the workers of a cluster meanwhile."""

    restarted: int
    """Workers that were killed or died, and were started again."""
    paused_s: float
    """How long workers were paused for want of memory, added up."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a contender did."""

    wall_s: float
    cpu_s: float
    """Of the process and all its children."""
    rows: int
    """Rows that were gone through; 0 where the question is not about rows."""
    answer: Any = None
    """As JSON; equal for all contenders that answer the same question, None where there is no
    answer.
    """
    parts_s: Mapping[str, float] = field(default_factory=dict)
    """How long the parts of the work took, by name."""
    workers: WorkerLog | None = None
    partitions: int | None = None
    planned_s: float | None = None
    planned_worker_bytes: int | None = None
    """What `plan` said before of a study."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The outcome of a contender, and the memory it took."""

    outcome: Outcome
    peaks: tuple[ProcessPeak, ...]

    @property
    def worker_peak_bytes(self) -> int:
        """The peak of the worker that had most; that of the main process where there are no
        workers.
        """
        workers = [peak.peak_bytes for peak in self.peaks if peak.role == "worker"]
        return max(workers or [peak.peak_bytes for peak in self.peaks], default=0)


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to answer the question of a case."""

    name: str
    measure: Callable[[Setting], Outcome]
    needs: tuple[str, ...] = ()
    """Modules that must be installed."""
    install: str = "pip install 'dnfscale[bench]'"
    """What installs them."""

    def check_ready(self) -> None:
        """Raise NotReadyError where a module is missing."""
        for module in self.needs:
            if importlib.util.find_spec(module) is None:
                raise NotReadyError(f"{module} is not installed: {self.install}")


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that follows from a case, and the goal it should reach."""

    what: str
    value: float
    at_most: float | None = None
    at_least: float | None = None
    lower_bound: bool = False
    """Whether the value is known only to be at least this: a peer was stopped before it was done.
    """

    @property
    def goal(self) -> str:
        if self.at_most is not None:
            least = "" if self.at_least is None else f"{self.at_least:g} to "
            return f"{least}{self.at_most:g}" if least else f"at most {self.at_most:g}"
        return "" if self.at_least is None else f"at least {self.at_least:g}"

    @property
    def reached(self) -> bool:
        """Whether the goal is reached; a figure without a goal has none to miss."""
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )


def no_preparation(setting: Setting) -> None:
    """Prepare nothing."""


def same_answers(outcomes: Mapping[str, Outcome]) -> None:
    """Raise DisagreementError unless all that answered gave one answer, after going through as many
    rows.
    """
    for key in ("rows", "answer"):
        given = {name: getattr(outcome, key) for name, outcome in outcomes.items()}
        answered = {name: value for name, value in given.items() if value is not None}
        for name, value in answered.items():
            first, expected = next(iter(answered.items()))
            if value != expected:
                raise DisagreementError(
                    f"{key} of {name} and of {first} differ: {_difference(value, expected)}"
                )


@dataclass(frozen=True, slots=True)
class Case:
    """A question, and who answers it."""

    name: str
    about: str
    contenders: tuple[Contender, ...]
    figures: Callable[[Mapping[str, Measured]], list[Figure]]
    """What follows from the contenders that ran."""
    prepare: Callable[[Setting], None] = no_preparation
    """Make what the contenders need, or raise NotReadyError."""
    check: Callable[[Mapping[str, Outcome]], None] = same_answers
    """Raise DisagreementError where the contenders that ran contradict each other."""

    def contender(self, name: str) -> Contender:
        return next(contender for contender in self.contenders if contender.name == name)


def timed(work: Callable[[], T]) -> tuple[T, float, float]:
    """Do some work and return its result, its wall time and its CPU time."""
    cpu_before = cpu_seconds()
    started = time.perf_counter()
    result = work()
    wall_s = time.perf_counter() - started
    return result, wall_s, cpu_seconds() - cpu_before


def wall_ratio(
    measured: Mapping[str, Measured],
    slower: str,
    faster: str,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
) -> list[Figure]:
    """Return the ratio of two contenders' wall times; nothing where one of them did not run."""
    if not {slower, faster} <= set(measured):
        return []
    value = measured[slower].outcome.wall_s / measured[faster].outcome.wall_s
    return [Figure(f"{slower} / {faster}, wall time", value, at_most=at_most, at_least=at_least)]


def plan_figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Compare what `plan` said with what happened: seconds within a factor of two, memory never
    above.
    """
    found = []
    for name, run in measured.items():
        if run.outcome.planned_s is not None:
            ratio = run.outcome.planned_s / run.outcome.wall_s
            found.append(
                Figure(f"{name}, planned / measured seconds", ratio, at_least=0.5, at_most=2.0)
            )
        if run.outcome.planned_worker_bytes is not None:
            ratio = run.outcome.planned_worker_bytes / max(1, run.worker_peak_bytes)
            found.append(
                Figure(
                    f"{name}, planned / measured memory of a worker",
                    ratio,
                    at_least=1.0,
                    at_most=2.0,
                )
            )
    return found


def summarized(runs: Sequence[Measured]) -> Measured:
    """Return the fastest of some runs with the most memory, restarts and pauses of any.

    What slows a run down is the machine's other work, never the contender's own; what memory it
    needs at times, it needs.
    """
    fastest = min((run.outcome for run in runs), key=lambda outcome: outcome.wall_s)
    logs = [run.outcome.workers for run in runs if run.outcome.workers is not None]
    worst = (
        WorkerLog(max(log.restarted for log in logs), max(log.paused_s for log in logs))
        if logs
        else None
    )
    return Measured(
        replace(fastest, workers=worst), max(runs, key=lambda run: run.worker_peak_bytes).peaks
    )


def _difference(value: Any, expected: Any) -> str:
    """Say where two answers differ first."""
    if isinstance(value, list) and isinstance(expected, list) and len(value) == len(expected):
        place = next(
            i for i, pair in enumerate(zip(value, expected, strict=True)) if pair[0] != pair[1]
        )
        return f"entry {place} is {value[place]} and {expected[place]}"
    if isinstance(value, dict) and isinstance(expected, dict) and value.keys() == expected.keys():
        key = next(key for key in value if value[key] != expected[key])
        return f"{key}: {_difference(value[key], expected[key])}"
    return f"{str(value)[:200]} and {str(expected)[:200]}"
