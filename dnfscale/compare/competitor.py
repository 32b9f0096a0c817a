"""What competitors are given and what they give back; each has a module of its own beside this one.

A module declares a competitor whole: its options, title, colour, the extra that installs its
library, and its functions; it imports that library only inside them. How it is carried out is
the matter of its family: tuned by trials (tuning.py), fitted once in a fold (peers.py), or counted
along with the formula (counted.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from dnfscale.compare.rows import RowsPlan
from dnfscale.compare.ways import Workers
from dnfscale.engine.api import Engine
from dnfscale.learn.keeping import KeptRows
from dnfscale.results.confusion import Answers, Confusion
from dnfscale.results.method import Fold, Method
from dnfscale.results.record import Note
from dnfscale.spec.learn import LearnSpec

Entry = TypeVar("Entry", bound=Note)


def unsaid(_text: str) -> None:
    """Tell nobody."""


class Notes(Protocol):
    """The finished steps of a chain, kept where a crash does not reach them."""

    def recall(self, chain: str, kind: type[Entry]) -> list[Entry]: ...

    def note(self, chain: str, entry: Note) -> None: ...


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """What a family of competitors is given: the rows and folds of the formula, and an engine."""

    spec: LearnSpec
    engine: Engine
    notes: Notes
    plan_rows: Callable[[], RowsPlan]
    """Describes all rows to learners that need them."""
    provenance: Mapping[str, str | int]
    """Where a model comes from, for its file."""
    clock: Callable[[], float]
    say: Callable[[str], None] = unsaid
    """Tells people what runs now."""
    kept: KeptRows | None = None
    """The rows on the workers, for families that need them."""
    time_limit_s: float | None = None
    """How long all tuning may take; None: as long as it takes."""
    workers: Workers = field(default_factory=Workers)
    """The workers of the engine, as the ways of competitors go by."""

    @property
    def several(self) -> bool:
        """Whether there are several labels, not two classes."""
        return self.spec.classes == "all"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a competitor came to."""

    method: Method
    seconds: float
    """The time of its own work, also of what an earlier run has recorded."""
    model: str | None = None
    """The text of the model file of all rows; None if it has none."""


def answered_fold(number: int, answers: Answers, *, several: bool) -> Fold:
    """Return a fold whose test rows are counted by label and answer."""
    if several:
        return Fold(fold=number, confusion_matrix=answers)
    return Fold(fold=number, confusion=Confusion.of_two(answers))
