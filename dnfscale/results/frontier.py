"""frontier.json, schema dnfscale.frontier/1: the formulas of all rows by length, with what formulas
of that length come to on test rows.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
from msgspec import field

from dnfscale.errors import SpecError
from dnfscale.results.method import FrontierPoint
from dnfscale.results.record import Count, Ell, Record, null, read_file

FRONTIER_SCHEMA = "dnfscale.frontier/1"
FRONTIER_FILE = "frontier.json"


class FrontierFormula(Record, frozen=True, kw_only=True):
    """A formula of all rows."""

    literals: Count
    terms: Count
    ell: Ell | None = field(default_factory=null)
    """The number of attributes that it was chosen for; None if it was chosen by its length."""
    shown: bool
    """Whether it is the one in model.json."""
    correct: Count
    """Of the rows learned from, how many it gets right, or what they weigh in units."""
    counted: Count
    tested: FrontierPoint | None = field(default_factory=null)
    """What formulas of this length, or of this number of attributes, come to; None in a fit."""
    model: dict[str, Any]
    """As in a model file."""

    @property
    def accuracy(self) -> float:
        """On test rows; in a fit, on the rows learned from."""
        return self.tested.accuracy_mean if self.tested else self.correct / max(1, self.counted)


class Frontier(Record, frozen=True, kw_only=True):
    """The formulas of a run by length, the shortest first."""

    schema: str = field(default_factory=lambda: FRONTIER_SCHEMA)
    name: str
    formulas: tuple[FrontierFormula, ...]

    def of_literals(self, most: int) -> FrontierFormula:
        """Return the longest formula of at most so many literals."""
        allowed = [own for own in self.formulas if own.literals <= most]
        if not allowed:
            shortest = min((own.literals for own in self.formulas), default=0)
            raise SpecError(
                f"literals must be at least {shortest}, the length of the shortest formula, got "
                f"{most}; raise it"
            )
        return max(allowed, key=lambda own: (own.literals, own.accuracy))

    def of_ell(self, ell: int) -> FrontierFormula:
        """Return the formula of so many attributes."""
        known = [own.ell for own in self.formulas if own.ell is not None]
        if not known:
            raise SpecError(
                "formulas were chosen by their length here, not by ell; ask for literals instead"
            )
        if ell not in known:
            raise SpecError(
                f"ell must be between {min(known)} and {max(known)}, the attributes that were "
                f"tried, got {ell}; choose another, or learn with a higher select.max_ell"
            )
        return next(own for own in self.formulas if own.ell == ell)

    def of_accuracy(self, least: float) -> FrontierFormula:
        """Return the shortest formula that is so accurate; if none is, the most accurate."""
        enough = [own for own in self.formulas if own.accuracy >= least]
        if enough:
            return min(enough, key=lambda own: (own.literals, -own.accuracy))
        return max(self.formulas, key=lambda own: (own.accuracy, -own.literals))


def frontier_text(frontier: Frontier) -> str:
    """Return the text of frontier.json, without the line break at its end."""
    return json.dumps(msgspec.to_builtins(frontier), indent=1, ensure_ascii=False, allow_nan=False)


def read_frontier(content: bytes) -> Frontier:
    """Read frontier.json; one that is damaged, or of another schema, raises a DataError."""
    return read_file(content, Frontier, FRONTIER_SCHEMA, "a frontier")
