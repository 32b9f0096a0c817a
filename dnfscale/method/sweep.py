"""The sweep over ell: how accurate each number of attributes is on W_val, and which number to keep.

A ranking is nested, so the counts of its best max_ell attributes give those of every shorter prefix by summing out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dnfscale.core.counts import TypeCounts, project
from dnfscale.method.ideal import ideal_correct


@dataclass(frozen=True, slots=True)
class RankedCounts:
    """A ranking's best attributes and the counts over them."""

    attributes: tuple[int, ...]
    """Best first."""
    train: TypeCounts
    validation: TypeCounts
    """Bit i of a type is attribute i of this ranking."""


@dataclass(frozen=True, slots=True)
class Step:
    """The record (ell, F, r): the best ranking for a number of attributes."""

    ell: int
    rank: str
    attributes: tuple[int, ...]
    correct: int
    """Rows of W_val that the ideal classifier of these attributes gets right."""
    correct_by_rank: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Sweep:
    """The steps for ell = 1, 2, ... and the one that was chosen."""

    steps: tuple[Step, ...]
    chosen: Step
    validation_rows: int


def sweep(ranked: Mapping[str, RankedCounts], *, tolerance: float) -> Sweep:
    """Try every prefix of every ranking on W_val, and choose the smallest ell within the tolerance of the best.

    Between rankings that tie, the first in the mapping's order wins.
    """
    longest = max(len(ranking.attributes) for ranking in ranked.values())
    steps = tuple(_step(ranked, ell) for ell in range(1, longest + 1))
    validation_rows = next(iter(ranked.values())).validation.n_rows
    return Sweep(steps, choose(steps, validation_rows, tolerance), validation_rows)


def choose(steps: Sequence[Step], validation_rows: int, tolerance: float) -> Step:
    """Return the first step whose accuracy is within the tolerance of the best, inclusive, in whole numbers."""
    allowed = Fraction(str(tolerance)) * validation_rows
    best = max(step.correct for step in steps)
    return next(step for step in steps if best - step.correct <= allowed)


def _step(ranked: Mapping[str, RankedCounts], ell: int) -> Step:
    prefix = range(ell)
    correct = {
        rank: ideal_correct(project(ranking.train, prefix), project(ranking.validation, prefix))
        for rank, ranking in ranked.items()
    }
    best = max(correct, key=lambda rank: correct[rank])
    return Step(ell, best, ranked[best].attributes[:ell], correct[best], correct)
