"""What to learn, and how: every choice of the method, with the profiles that choose for a user."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dnfscale.core.arrays import Scalar
from dnfscale.core.model import HALF, MISSING, MOST_ELL, UNSEEN
from dnfscale.core.parts import Unit
from dnfscale.data.source import Parts
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
MOST_CATEGORIES = 60_000
VALIDATION = (0.01, 0.9)
"""The least and the most of the rows learned from that may be set aside to choose by."""


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
"""What a profile sets, by the names of LearnSpec: the paper to the letter, and what is recommended."""


def profile_choices(profile: str, rank: Container[str] | None = None) -> Mapping[str, Any]:
    """Return what a profile sets beside rankings that are asked for: intervals only where one looks for them."""
    looked_for = rank is None or _LOOKS_FOR_INTERVALS in rank
    return PROFILES[profile] if looked_for else {**PROFILES[profile], "intervals": False}


@dataclass(frozen=True, slots=True)
class LearnSpec:
    """What to learn: the columns and their roles, and the method's choices."""

    target: str
    positive: tuple[Scalar, ...] | None = None
    """The labels that count as true; None where the target itself tells (true, or the larger of two values)."""
    classes: str = "two"
    """"two": positive labels against the others; "all": every label against the others, a formula for each; "auto":
    the former for two labels, the latter for more."""
    others: tuple[tuple[Scalar, ...], ...] = ()
    """Other readings of the target, each the labels that count as true in it: counted beside, on the chosen types."""
    weight: str | None = None
    """The column that says how often a row counts, in whole numbers; None where each counts once."""
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    boolean: tuple[str, ...] = ()
    missing: str = "drop"
    max_categories: int = 10_000
    cuts: str | int = "median"
    """Where numbers are cut: "median", a number of quantiles, "auto": as many as the rows are good for, or "entropy":
    those of many quantiles that tell of the target."""
    at: tuple[tuple[str, tuple[int | float | str, ...]], ...] = ()
    """Given cuts of some columns; those of dates and times are texts."""
    intervals: bool = False
    """Whether what lies between two cuts of a column may be an attribute too; the ranking "exchange" looks for it."""
    parts: Parts | Mapping[str, Sequence[str]] = ()
    """What of dates and times becomes a column of its own: parts of all that have them, or of some columns."""
    rare: int = 0
    """Categories of fewer rows than this have no attribute of their own."""
    rank: tuple[str, ...] = ("f", "mutual_info", "chi2")
    max_ell: int = 10
    validation: float = 0.3
    splits: int | str = 1
    """Inner splits over which the ranking and ell are chosen; "auto": the fewer, the more rows there are."""
    tolerance: float = 0.01
    rule: str = "tolerance"
    """How close to the best validation accuracy is close enough: see method/sweep.py."""
    drop_duplicates: bool = False
    """Whether attributes that hold in the same sampled rows as another, or in exactly the others, are left out."""
    objective: str = "accuracy"
    beta: Fraction = Fraction(1)
    """How many times as much recall counts as precision in F-beta."""
    threshold: Fraction = HALF
    """A type is accepted when at least this share of its rows is positive."""
    shrink: str = "none"
    """What types of few rows go by: see method/shrink.py."""
    shrink_rows: tuple[float, ...] = (8.0,)
    """How many rows of its own weigh as much as that; of several, the best in validation."""
    freedom: float = 0.0
    """The share of the rows that a shorter formula may be expected to get wrong besides."""
    unseen: str = "negative"
    unit: int = 1
    """What a row counts; more than 1 where weights were made whole."""
    frontier: bool = False
    """Whether a study also tests the formula of every other ell."""
    minimize: str = "exact"
    outer: int | str | None = None
    """Test folds: a number, "leave-one-out", or None for ten, or leave-one-out below a hundred rows; 0 for none."""
    seed: int = 0

    def __post_init__(self) -> None:
        choices = {
            "missing": MISSING,
            "unseen": UNSEEN,
            "minimize": MINIMIZE,
            "classes": CLASSES,
            "shrink": SHRINK,
            "rule": RULES,
            "objective": OBJECTIVES,
        }
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise SpecError(f"{name} must be one of {listed(known)}, got {getattr(self, name)!r}")
        if isinstance(self.parts, Mapping):
            named = tuple((name, tuple(units)) for name, units in self.parts.items())
            object.__setattr__(self, "parts", named)
        asked = [unit for part in self.parts for unit in ([part] if isinstance(part, str) else part[1])]
        if not set(asked) <= set(Unit):
            raise SpecError(f"parts must be out of {listed(tuple(map(str, Unit)))}, got {listed(asked)}")
        if not self.rank or len(set(self.rank)) < len(self.rank) or not set(self.rank) <= set(RANKS):
            raise SpecError(f"rank must list different rankings out of {listed(RANKS)}, got {self.rank!r}")
        if self.intervals and _LOOKS_FOR_INTERVALS not in self.rank:
            raise SpecError(
                f"intervals are looked for by the ranking {_LOOKS_FOR_INTERVALS!r} alone, but rank lists "
                f"{listed(self.rank)}; add it to select.rank, or leave out booleanize.intervals",
                "booleanize.intervals",
            )
        if not isinstance(self.max_categories, int) or not 1 <= self.max_categories <= MOST_CATEGORIES:
            raise SpecError(
                f"max_categories must be a whole number between 1 and {MOST_CATEGORIES}, got {self.max_categories!r}"
            )
        if not isinstance(self.rare, int) or self.rare < 0:
            raise SpecError(f"rare must be a whole number of rows, got {self.rare!r}")
        if not isinstance(self.max_ell, int) or not 1 <= self.max_ell <= MOST_ELL:
            raise SpecError(f"max_ell must be a whole number between 1 and {MOST_ELL}, got {self.max_ell!r}")
        quantiles = isinstance(self.cuts, int) and not isinstance(self.cuts, bool) and 1 <= self.cuts <= MOST_CUTS
        if self.cuts not in CUTS and not quantiles:
            raise SpecError(
                f"cuts must be one of {listed(CUTS)} or a number of quantiles between 1 and {MOST_CUTS}, "
                f"got {self.cuts!r}"
            )
        whole = isinstance(self.splits, int) and not isinstance(self.splits, bool) and 1 <= self.splits <= 100
        if self.splits != "auto" and not whole:
            raise SpecError(
                f"validation_splits must be 'auto' or a whole number between 1 and 100, got {self.splits!r}"
            )
        least, most = VALIDATION
        if not least <= self.validation <= most:
            raise SpecError(f"validation must be a number between {least} and {most}, got {self.validation!r}")
        if not 0 <= self.tolerance <= 1:
            raise SpecError(f"tolerance must be a number between 0 and 1, got {self.tolerance!r}")
        if not self.shrink_rows or not all(0 < rows < math.inf for rows in self.shrink_rows):
            raise SpecError(f"shrink_rows must be numbers above 0, got {listed(self.shrink_rows)}")
        if not 0 <= self.freedom <= 1:
            raise SpecError(f"freedom must be a number between 0 and 1, got {self.freedom!r}")
        if self.beta <= 0:
            raise SpecError(f"beta must be a number above 0, got {self.beta!s}")
        if self.unseen == "follow" and self.shrink == "none":
            raise SpecError(
                'unseen = "follow" goes by the rule for types of few rows, but shrink is "none"; set formula.shrink, '
                "or formula.unseen to another",
                "formula.unseen",
            )
        if self.objective != "accuracy" and self.threshold != HALF:
            raise SpecError(
                f"threshold is for the objective accuracy, but objective is {self.objective!r}; leave out one of them",
                "formula.threshold",
            )
        # Counts are multiplied by the denominator, and must then still fit in 64 bits.
        threshold = self.threshold.limit_denominator(1_000_000)
        if not 0 < threshold < 1:
            raise SpecError(f"threshold must be a number above 0 and below 1, got {self.threshold!s}")
        object.__setattr__(self, "threshold", threshold)
        if self.classes == "all" and self.positive is not None:
            raise SpecError(
                f'classes = "all" learns a formula for every label, but positive lists {listed(self.positive)}; '
                "leave out one of the two",
                "data.classes",
            )

    @property
    def looks_together(self) -> bool:
        """Whether attributes are to be ranked by more than each by itself."""
        return self.drop_duplicates or not set(self.rank) <= set(SCORES)

    @property
    def judging(self) -> Judging:
        """How the ranking and ell are chosen."""
        objective = Objective(self.objective, self.threshold, self.beta)
        shrinks = tuple(Shrink(self.shrink, rows, self.unit) for rows in self.shrink_rows)
        return Judging(objective, shrinks if self.shrink != "none" else shrinks[:1], self.tolerance, self.rule)

    @property
    def free(self) -> Freedom:
        """What leaves a formula free to be short."""
        return Freedom(self.unseen, self.freedom, self.unit)

    @property
    def cuts_by_train(self) -> bool:
        """Whether W_train has cuts of its own, as in the paper, and not those of W_0, which know no label either."""
        return self.cuts == "median" and self.splits == 1


def listed(values: Sequence[Scalar] | Mapping[str, object]) -> str:
    """Write out some values, the first ten of them."""
    written = [repr(value) for value in values]
    return ", ".join(written[:10]) + (f" and {len(written) - 10:,} more" if len(written) > 10 else "")
