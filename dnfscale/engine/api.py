"""What an engine does: it reduces partitions to a summary, maps a function over items, keeps
results in place, and runs chains of tasks.

An engine knows partitions, `summarize` and `merge`; it has never heard of types or formulas.
Functions must be pure and pickle; `merge` must not care for the order or the grouping of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Required, TypedDict, TypeVar

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
    """An event of the cluster itself: a worker that came or went, waiting, a warning."""

    event: str
    """waiting, warning, worker_ and joined, lost, silent or answers, scheduler_ and silent or
    answers.
    """
    message: str
    """For a person."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """For a program."""

    @classmethod
    def warning(cls, text: str) -> Notice:
        """Return a notice that something is wrong, though the job goes on."""
        return cls("warning", f"warning: {text}", {"message": text})


Watch = Callable[[Progress], None]
"""Called with a phase's progress: at its start, after each task, and at its end."""

Tell = Callable[[Notice], None]
"""Called with each notice, from any thread."""


class RunsOn(TypedDict, total=False):
    """What the work of an engine runs on, as the journal and result.json tell it."""

    engine: Required[str]
    workers: Required[int]
    threads: int
    hosts: int
    worker_bytes: int | None
    """The memory of the smallest worker."""
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Share:
    """What one of several workers has of some work that they do together."""

    items: Sequence[Any]
    """Its share of the items, in their order."""
    rank: int
    """Its number, from 0."""
    size: int
    """How many workers there are."""
    meeting: Any
    """Where they meet: what `meet` returned."""


@dataclass(frozen=True, slots=True, eq=False)
class JointWork:
    """What all workers do together with an item."""

    function: Callable[[Any, Share], Any]
    """Called on all of them at once, with the item and the share of each."""
    shared: Sequence[Any]
    """Dealt to the workers in its order."""
    meet: Callable[[str, int], Any]
    """Called before on the first of them, with its host and the number of workers."""
    merge: Callable[[Sequence[Any]], Any]


Limit = Callable[[Any], float | None]
"""Returns the time limit, in seconds, of the task on an item; None for no limit."""


def unlimited(_item: Any) -> None:
    """Set no time limit."""


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

    def map(
        self, phase: str, items: Sequence[Item], function: Callable[[Item], Result]
    ) -> list[Result]:
        """Apply the function to every item and bring the results here, in order."""
        ...

    def keep(
        self, phase: str, items: Sequence[Item], function: Callable[[Item], Any]
    ) -> Sequence[Any]:
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
        known: int = 0,
        limit: Limit = unlimited,
    ) -> list[Result]:
        """Run chains of tasks side by side, each task of a chain depending on the one before.

        A chain yields an item and is sent the function's result for it, or a Failure, until it
        returns. About `expected` tasks are foreseen in all, of which `known` need not be run. On a
        cluster, a task that is still running after its limit, or that ends its process, is tried
        once more, and has then failed.
        """
        ...

    def together(
        self,
        phase: str,
        chains: Sequence[Generator[Any, Any, Result]],
        work: JointWork,
        *,
        expected: int,
        known: int = 0,
        limit: Limit = unlimited,
    ) -> list[Result]:
        """Run chains of tasks one after the other, each task on all workers together.

        A chain yields an item and is sent the merged results for it, or a Failure. An attempt that
        loses workers is repeated with those that are left, at most twice.
        """
        ...

    def describe(self) -> RunsOn:
        """Describe what the work runs on, for result.json."""
        ...

    def watched_by(self, watch: Watch, tell: Tell = untold) -> Engine:
        """Return an engine on the same workers that reports to others; closing it leaves this one
        open.
        """
        ...

    def close(self) -> None:
        """Give back everything the engine has started."""
        ...
