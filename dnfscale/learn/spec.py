"""What to learn, and how: every choice of the method, and the profiles that make these choices for a user."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from dnfscale.core.arrays import Scalar, is_real, is_whole
from dnfscale.core.columns import MOST_CATEGORIES
from dnfscale.core.model import HALF, MISSING, MOST_ELL, UNSEEN
from dnfscale.core.parts import Unit
from dnfscale.data.roles import Parts
from dnfscale.errors import SpecError
from dnfscale.method.cuts import CUTS, MOST_CUTS
from dnfscale.method.freedom import Freedom
from dnfscale.method.joint import JOINT
from dnfscale.method.objective import OBJECTIVES, Objective
from dnfscale.method.select import SCORES
from dnfscale.method.shrink import SHRINK, Shrink
from dnfscale.method.sweep import RULES, Judging

MINIMIZE = ("exact", "sympy", "none")
CLASSES = ("two", "all", "auto")
RANKS = (*SCORES, *JOINT)
_LOOKS_FOR_INTERVALS = "exchange"
VALIDATION = (0.01, 0.9)
"""The smallest and the largest share of W_0 that may be set aside as W_val."""


PROFILES: Mapping[str, Mapping[str, Any]] = {
    "paper": {},
    "best": {
        "cuts": "auto",
        "intervals": True,
        "parts": tuple(map(str, Unit)),
        "rank": ("forward", "exchange", "additive", "mutual_info"),
        "splits": "auto",
        "tolerance": 0.005,
        "rule": "standard_error",
        "drop_duplicates": True,
        "shrink": "linear",
        "shrink_rows": (2.0, 8.0, 32.0),
        "unseen": "follow",
        "freedom": 0.005,
        "frontier": True,
    },
}
"""What each profile sets, by the names of LearnSpec: "paper" follows the paper to the letter, "best" is recommended."""


def profile_choices(profile: str, rank: Container[str] | None = None) -> Mapping[str, Any]:
    """Return what a profile sets, given the user's own rankings, if any: intervals only if one of them finds them."""
    looked_for = rank is None or _LOOKS_FOR_INTERVALS in rank
    return PROFILES[profile] if looked_for else {**PROFILES[profile], "intervals": False}


@dataclass(frozen=True, slots=True)
class LearnSpec:
    """What to learn: the columns and their roles, and the method's choices."""

    target: str
    positive: tuple[Scalar, ...] | None = None
    """The labels that count as true; None to let the target decide (true, or the larger of two values)."""
    classes: str = "two"
    """"two": positive labels against the others; "all": every label against the others, a formula for each; "auto":
    the former for two labels, the latter for more."""
    others: tuple[tuple[Scalar, ...], ...] = ()
    """Other readings of the target, each given by the labels that count as true; the chosen types are counted for them
    too, on the test part."""
    weight: str | None = None
    """The column of weights: how often each row counts; None if each counts once."""
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    boolean: tuple[str, ...] = ()
    missing: str = "drop"
    max_categories: int = 10_000
    cuts: str | int = "median"
    """Where numbers are cut: "median", a number of quantiles, "auto": as many quantiles as the rows are good for, or
    "entropy": those of many quantiles that tell about the target."""
    at: tuple[tuple[str, tuple[int | float | str, ...]], ...] = ()
    """Given cuts of some columns; those of dates and times are written as texts."""
    intervals: bool = False
    """Whether the interval between two cuts of a column may be an attribute too; the ranking "exchange" finds them."""
    parts: Parts | Mapping[str, Sequence[str]] = ()
    """The parts of dates and times that become columns of their own, of all columns that have them or of some."""
    rare: int = 0
    """Categories of fewer rows than this have no attribute of their own."""
    rank: tuple[str, ...] = ("f", "mutual_info", "chi2")
    max_ell: int = 10
    validation: float = 0.3
    splits: int | str = 1
    """The number of inner splits over which the ranking and ell are chosen; "auto": the more rows, the fewer splits."""
    tolerance: float = 0.01
    rule: str = "tolerance"
    """How close to the best validation accuracy is close enough: see method/sweep.py."""
    drop_duplicates: bool = False
    """Whether to leave out an attribute that equals another, or its negation, on all sampled rows."""
    objective: str = "accuracy"
    beta: Fraction = Fraction(1)
    """How many times as much as precision recall counts in F-beta."""
    threshold: Fraction = HALF
    """A type is accepted when at least this share of its rows is positive."""
    shrink: str = "none"
    """The rule for types of few rows: see method/shrink.py."""
    shrink_rows: tuple[float, ...] = (8.0,)
    """The rule's m, in rows; if there are several values, validation chooses the best."""
    freedom: float = 0.0
    """The share of the rows that a shorter formula may be expected to get wrong in addition."""
    unseen: str = "negative"
    unit: int = 1
    """What one row counts; more than 1 if fractional weights were scaled to whole numbers."""
    frontier: bool = False
    """Whether a study also tests the formula of every other ell."""
    minimize: str = "exact"
    outer: int | str | None = None
    """Test folds: a number, 0 for none, "leave-one-out", or None: ten, or leave-one-out below a hundred rows."""
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.parts, Mapping):
            object.__setattr__(self, "parts", tuple((name, tuple(units)) for name, units in self.parts.items()))
        for check in (_check_choices, _check_parts, _check_rank, _check_numbers, _check_formula, _check_classes):
            check(self)
        object.__setattr__(self, "threshold", _short(self.threshold))

    @property
    def looks_together(self) -> bool:
        """Whether ranking has to compare attributes with each other, not only each with the target."""
        return self.drop_duplicates or not set(self.rank) <= set(SCORES)

    @property
    def judging(self) -> Judging:
        """How the ranking and ell are chosen."""
        objective = Objective(self.objective, self.threshold, self.beta)
        shrinks = tuple(Shrink(self.shrink, rows, self.unit) for rows in self.shrink_rows)
        return Judging(objective, shrinks if self.shrink != "none" else shrinks[:1], self.tolerance, self.rule)

    @property
    def free(self) -> Freedom:
        """For which types a formula is free to answer whatever makes it shorter."""
        return Freedom(self.unseen, self.freedom, self.unit)

    @property
    def cuts_by_train(self) -> bool:
        """Whether W_train has cuts of its own, as in the paper.

        Otherwise it has those of W_0, which do not depend on labels either.
        """
        return self.cuts == "median" and self.splits == 1


def listed(values: Sequence[Scalar] | Mapping[str, object]) -> str:
    """Write out values: the first ten, and how many more there are."""
    written = [repr(value) for value in values]
    return ", ".join(written[:10]) + (f" and {len(written) - 10:,} more" if len(written) > 10 else "")


_CHOICES: Mapping[str, tuple[str, ...]] = {
    "missing": MISSING,
    "unseen": UNSEEN,
    "minimize": MINIMIZE,
    "classes": CLASSES,
    "shrink": SHRINK,
    "rule": RULES,
    "objective": OBJECTIVES,
}


class _Bounds(NamedTuple):
    """The condition that the value of a field must meet."""

    field: str
    holds: Callable[[Any], bool]
    must: str
    """The condition in words, with the name by which users know the field."""
    shown: Callable[[Any], str] = repr


def _are_above_0(values: Sequence[float]) -> bool:
    return bool(values) and all(is_real(value) and 0 < value < math.inf for value in values)


_NUMBERS = (
    _Bounds(
        "max_categories",
        lambda value: is_whole(value, 1, MOST_CATEGORIES),
        f"max_categories must be a whole number between 1 and {MOST_CATEGORIES}",
    ),
    _Bounds("rare", lambda value: is_whole(value, 0), "rare must be a whole number of rows"),
    _Bounds(
        "max_ell",
        lambda value: is_whole(value, 1, MOST_ELL),
        f"max_ell must be a whole number between 1 and {MOST_ELL}",
    ),
    _Bounds(
        "cuts",
        lambda value: value in CUTS or is_whole(value, 1, MOST_CUTS),
        f"cuts must be one of {listed(CUTS)} or a number of quantiles between 1 and {MOST_CUTS}",
    ),
    _Bounds(
        "splits",
        lambda value: value == "auto" or is_whole(value, 1, 100),
        "validation_splits must be 'auto' or a whole number between 1 and 100",
    ),
    _Bounds(
        "validation",
        lambda value: is_real(value, *VALIDATION),
        f"validation must be a number between {VALIDATION[0]} and {VALIDATION[1]}",
    ),
    _Bounds("tolerance", lambda value: is_real(value, 0, 1), "tolerance must be a number between 0 and 1"),
    _Bounds("shrink_rows", _are_above_0, "shrink_rows must be numbers above 0", shown=listed),
    _Bounds("freedom", lambda value: is_real(value, 0, 1), "freedom must be a number between 0 and 1"),
    _Bounds("beta", lambda value: value > 0, "beta must be a number above 0", shown=str),
    _Bounds(
        "outer",
        lambda value: value is None or value == "leave-one-out" or (is_whole(value, 0) and value != 1),
        "folds must be 'leave-one-out' or a whole number of at least 2",
    ),
    _Bounds("seed", is_whole, "random_state must be a whole number, a RandomState or None"),
)


def _check_choices(spec: LearnSpec) -> None:
    for name, known in _CHOICES.items():
        if getattr(spec, name) not in known:
            raise SpecError(f"{name} must be one of {listed(known)}, got {getattr(spec, name)!r}")


def _check_parts(spec: LearnSpec) -> None:
    asked = [unit for part in spec.parts for unit in ([part] if isinstance(part, str) else part[1])]
    if not set(asked) <= set(Unit):
        raise SpecError(f"parts must be out of {listed(tuple(map(str, Unit)))}, got {listed(asked)}")


def _check_rank(spec: LearnSpec) -> None:
    if not spec.rank or len(set(spec.rank)) < len(spec.rank) or not set(spec.rank) <= set(RANKS):
        raise SpecError(f"rank must list different rankings out of {listed(RANKS)}, got {spec.rank!r}")
    if spec.intervals and _LOOKS_FOR_INTERVALS not in spec.rank:
        raise SpecError(
            f"intervals are looked for by the ranking {_LOOKS_FOR_INTERVALS!r} alone, but rank lists "
            f"{listed(spec.rank)}; add it to select.rank, or leave out booleanize.intervals",
            "booleanize.intervals",
        )


def _check_numbers(spec: LearnSpec) -> None:
    for bounds in _NUMBERS:
        value = getattr(spec, bounds.field)
        if not bounds.holds(value):
            raise SpecError(f"{bounds.must}, got {bounds.shown(value)}")


def _check_formula(spec: LearnSpec) -> None:
    if spec.unseen == "follow" and spec.shrink == "none":
        raise SpecError(
            'unseen = "follow" goes by the rule for types of few rows, but shrink is "none"; set formula.shrink, '
            "or formula.unseen to another",
            "formula.unseen",
        )
    if spec.objective != "accuracy" and spec.threshold != HALF:
        raise SpecError(
            f"threshold is for the objective accuracy, but objective is {spec.objective!r}; leave out one of them",
            "formula.threshold",
        )
    if not 0 < _short(spec.threshold) < 1:
        raise SpecError(f"threshold must be a number above 0 and below 1, got {spec.threshold!s}")


def _check_classes(spec: LearnSpec) -> None:
    if spec.classes == "all" and spec.positive is not None:
        raise SpecError(
            f'classes = "all" learns a formula for every label, but positive lists {listed(spec.positive)}; '
            "leave out one of the two",
            "data.classes",
        )


def _short(threshold: Fraction) -> Fraction:
    """Return a threshold with a denominator so small that counts can be multiplied by it within 64 bits."""
    return threshold.limit_denominator(1_000_000)
