"""What an engine does: it reduces partitions to a summary, maps a function over items, keeps results in place, and runs
chains of tasks.

An engine knows partitions, `summarize` and `merge`; it has never heard of types or formulas. Functions must be pure
and pickle; `merge` must not care for the order or the grouping of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a phase has come."""

    phase: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Failure:
    """What a chain is sent instead of a result when its task failed."""

    message: str


@dataclass(frozen=True, slots=True)
class Notice:
    """What happened to the cluster itself: workers that come and go, waiting, a warning."""

    event: str
    """waiting, worker_joined, worker_lost or warning."""
    message: str
    """For a person."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """For a program."""

    @classmethod
    def warning(cls, text: str) -> Notice:
        """Return the notice of what a person should know, though the job goes on."""
        return cls("warning", f"warning: {text}", {"message": text})


Watch = Callable[[Progress], None]
"""Called with a phase's progress: at its start, after each task, and at its end."""

Tell = Callable[[Notice], None]
"""Called with what happens to the cluster, from any thread."""


Limit = Callable[[Any], float | None]
"""Says after how many seconds a task on an item is given up; None if never."""


def unlimited(_item: Any) -> None:
    """Wait for every task."""


def unwatched(progress: Progress) -> None:
    """Watch nothing."""


def untold(notice: Notice) -> None:
    """Tell nobody."""


class Engine(Protocol):
    """Carries out the phases of a job."""

    @property
    def fan_in(self) -> int:
        """How many summaries are merged at once."""
        ...

    @property
    def worker_bytes(self) -> int | None:
        """The memory of the smallest worker; None where there is no limit."""
        ...

    def reduce(
        self,
        phase: str,
        items: Sequence[Any],
        summarize: Callable[[Any], Result],
        merge: Callable[[Sequence[Result]], Result],
    ) -> Result:
        """Summarize every item and merge the summaries; there must be at least one item."""
        ...

    def map(self, phase: str, items: Sequence[Item], function: Callable[[Item], Result]) -> list[Result]:
        """Apply the function to every item and bring the results here, in order."""
        ...

    def keep(self, phase: str, items: Sequence[Item], function: Callable[[Item], Any]) -> Sequence[Any]:
        """Apply the function to every item and leave the results where they were made.

        What is returned stands for the results as items of a later call.
        """
        ...

    def chain(
        self,
        phase: str,
        chains: Sequence[Generator[Any, Any, Result]],
        function: Callable[[Any], Any],
        *,
        expected: int,
        limit: Limit = unlimited,
    ) -> list[Result]:
        """Run chains of tasks side by side, each task of a chain depending on the one before.

        A chain yields an item and is sent the function's result for it, or a Failure, until it returns. About
        `expected` tasks are foreseen in all. A task that is still at work after its limit, or that ends its process,
        is tried again and has then failed, where there are processes that can be done without.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """Say what the work runs on, for the record."""
        ...

    def watched_by(self, watch: Watch, tell: Tell = untold) -> Engine:
        """Return an engine on the same workers that tells others; closing it closes nothing."""
        ...

    def close(self) -> None:
        """Give back everything the engine has started."""
        ...
