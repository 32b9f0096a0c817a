"""What there is to learn from, and how: the spec of a table, and what a read of it settles.

After it the rows are counted and numbered, the labels are known to have two classes, and every row's place in every
fold follows from its number. What cannot be learned from ends here, with what to change.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dnfscale.core.arrays import Bools, Scalar, frozen
from dnfscale.core.bins import TWO_CLASSES
from dnfscale.core.columns import CategorySummary, Column, Reading, Role, TableSummary
from dnfscale.core.model import HALF
from dnfscale.core.parts import Unit, stored_column
from dnfscale.core.splits import Splits
from dnfscale.data.source import Parts, Source, feature_columns, holds_labels
from dnfscale.errors import DataError, LimitError, SpecError
from dnfscale.method.cuts import CUTS, MOST_CUTS
from dnfscale.method.freedom import UNSEEN, Freedom
from dnfscale.method.joint import JOINT
from dnfscale.method.objective import OBJECTIVES, Objective
from dnfscale.method.select import SCORES
from dnfscale.method.shrink import SHRINK, Shrink
from dnfscale.method.sweep import RULES, Judging

MISSING = ("drop", "error", "indicator")
MINIMIZE = ("exact", "sympy", "none")
CLASSES = ("two", "all", "auto")
RANKS = (*SCORES, *JOINT)
_LOOKS_FOR_INTERVALS = "exchange"
MOST_ELL = 24
_MOST_FOLDS = 5_000
"""What is known of each arc in each fold grows with the square of the number of folds: 50 MB here."""
_MOST_CLASSES = 250
_MOST_WEIGHT = 1 << 53
"""Weights are added as floats, which hold whole numbers up to here."""
_VALIDATED_ROWS, _MOST_SPLITS = 30_000, 10
"""Rows that are worth validating on, over as few inner splits as it takes, and the most splits that may take."""
_FEW_ROWS = 100
"""Below this many rows every row is a test fold of its own, unless the number of folds is given."""


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
                raise SpecError(f"{name} must be one of {_listed(known)}, got {getattr(self, name)!r}")
        if isinstance(self.parts, Mapping):
            named = tuple((name, tuple(units)) for name, units in self.parts.items())
            object.__setattr__(self, "parts", named)
        asked = [unit for part in self.parts for unit in ([part] if isinstance(part, str) else part[1])]
        if not set(asked) <= set(Unit):
            raise SpecError(f"parts must be out of {_listed(tuple(map(str, Unit)))}, got {_listed(asked)}")
        if not self.rank or len(set(self.rank)) < len(self.rank) or not set(self.rank) <= set(RANKS):
            raise SpecError(f"rank must list different rankings out of {_listed(RANKS)}, got {self.rank!r}")
        if self.intervals and _LOOKS_FOR_INTERVALS not in self.rank:
            raise SpecError(
                f"intervals are looked for by the ranking {_LOOKS_FOR_INTERVALS!r} alone, but rank lists "
                f"{_listed(self.rank)}; add it to select.rank, or leave out booleanize.intervals",
                "booleanize.intervals",
            )
        if not isinstance(self.max_ell, int) or not 1 <= self.max_ell <= MOST_ELL:
            raise SpecError(f"max_ell must be a whole number between 1 and {MOST_ELL}, got {self.max_ell!r}")
        quantiles = isinstance(self.cuts, int) and not isinstance(self.cuts, bool) and 1 <= self.cuts <= MOST_CUTS
        if self.cuts not in CUTS and not quantiles:
            raise SpecError(
                f"cuts must be one of {_listed(CUTS)} or a number of quantiles between 1 and {MOST_CUTS}, "
                f"got {self.cuts!r}"
            )
        whole = isinstance(self.splits, int) and not isinstance(self.splits, bool) and 1 <= self.splits <= 100
        if self.splits != "auto" and not whole:
            raise SpecError(
                f"validation_splits must be 'auto' or a whole number between 1 and 100, got {self.splits!r}"
            )
        if not 0 <= self.validation < 1:
            raise SpecError(f"validation must be a number of at least 0 and below 1, got {self.validation!r}")
        if not 0 <= self.tolerance <= 1:
            raise SpecError(f"tolerance must be a number between 0 and 1, got {self.tolerance!r}")
        if not self.shrink_rows or not all(0 < rows < math.inf for rows in self.shrink_rows):
            raise SpecError(f"shrink_rows must be numbers above 0, got {_listed(self.shrink_rows)}")
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
                f'classes = "all" learns a formula for every label, but positive lists {_listed(self.positive)}; '
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


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What a read of a table found, and what follows from it."""

    columns: tuple[Column, ...]
    reading: Reading
    summary: TableSummary
    classes: tuple[tuple[Scalar, ...], ...]
    """The labels of each class: of the negative and the positive one, or one label each."""
    targets: Bools
    """targets[target, class]: of which classes each target is true."""
    others: Bools
    """others[reading, class]: of which classes each other reading of the target is true."""
    splits: Splits

    @property
    def positives(self) -> tuple[tuple[Scalar, ...], ...]:
        """The labels of which each target is true."""
        return tuple(
            tuple(label for i in np.flatnonzero(classes).tolist() for label in self.classes[i])
            for classes in self.targets
        )


def features(source: Source, spec: LearnSpec) -> tuple[Column, ...]:
    """Return the feature columns of a source; a spec that names a column that is not there is an error."""
    for key, names in (
        ("target", (spec.target,)),
        ("drop", spec.drop),
        ("categorical", spec.categorical),
        ("boolean", spec.boolean),
        ("weight", () if spec.weight is None else (spec.weight,)),
    ):
        for name in names:
            if name not in source.types:
                raise SpecError(
                    f"data.{key} must name columns of {source.path}, got {name!r}; it has "
                    f"{_listed([known for known in source.types if known != spec.target])}",
                    f"data.{key}",
                )
    if not holds_labels(source.types[spec.target]):
        raise DataError(
            f"{source.path}: the target must hold labels (numbers, booleans or strings), but {spec.target!r} has the "
            f"type {source.types[spec.target]}; convert it, or choose another data.target",
            "data.target",
        )
    for name in spec.boolean:
        if name in spec.categorical:
            raise SpecError(
                f"a column has one role, but {name!r} is in data.categorical and in data.boolean; take it out of one",
                "data.boolean",
            )
    drop = spec.drop if spec.weight is None else (*spec.drop, spec.weight)
    columns = feature_columns(
        source,
        target=spec.target,
        drop=drop,
        categorical=spec.categorical,
        boolean=spec.boolean,
        parts=tuple(spec.parts),
    )
    if not columns:
        raise SpecError(
            f"expected at least one feature column besides the target {spec.target!r}, but none is left; "
            "shorten data.drop",
            "data.drop",
        )
    return columns


def check_source(source: Source) -> None:
    """Raise DataError for a dataset without rows."""
    if not source.n_rows:
        raise DataError(f"{source.path}: expected rows to learn from, but the dataset has none", "data.path")


def settle(source: Source, reading: Reading, summary: TableSummary, splits: Splits, spec: LearnSpec) -> Table:
    """Settle the labels of a table whose rows are known; data that cannot be learned from is an error."""
    check_kept(source, summary, reading.columns, spec)
    _check_flags(summary, reading.columns)
    _check_weight(summary, spec)
    classes, targets = _classes(summary.target, spec)
    others = np.array([[labels[0] in true for labels in classes] for true in spec.others], dtype=np.bool_)
    others = others.reshape(len(spec.others), len(classes))
    return Table(reading.columns, reading, summary, classes, targets, others, splits)


def check_kept(source: Source, summary: TableSummary, columns: Sequence[Column], spec: LearnSpec) -> None:
    """Raise DataError where too few rows are left, or where some were dropped that must not be."""
    dropped = summary.rows_read - summary.n_rows
    missing = {stored_column(c.name): s.missing for c, s in zip(columns, summary.columns, strict=True) if s.missing}
    if spec.missing == "error" and dropped:
        listed = ", ".join(f"{name!r} ({count:,})" for name, count in missing.items()) or f"{spec.target!r}"
        raise DataError(
            f"{source.path}: expected no missing values, but {dropped:,} of {summary.rows_read:,} rows have some, "
            f'in {listed}; fill them, or set data.missing = "drop"',
            "data.missing",
        )
    if not summary.n_rows and summary.target.missing == summary.rows_read:
        raise DataError(
            f"{source.path}: expected labels to learn from, but the target {spec.target!r} has no value at all; "
            "choose another data.target",
            "data.target",
        )
    if not summary.n_rows:
        empty = [name for name, count in missing.items() if count == summary.rows_read]
        reason = (
            f"{_listed(empty)} have no value at all; add them to data.drop"
            if empty
            else ('none has a value in every column; drop the emptiest columns, or set data.missing = "indicator"')
        )
        raise DataError(f"{source.path}: expected rows without missing values, but {reason}", "data.missing")


def _check_flags(summary: TableSummary, columns: Sequence[Column]) -> None:
    for column, found in zip(columns, summary.columns, strict=True):
        if column.role is Role.FLAG and isinstance(found, CategorySummary) and len(found.values) > 2:
            raise SpecError(
                f"data.boolean must name columns of two values, but {column.name!r} has {len(found.values):,}: "
                f"{_listed(found.values)}; leave it out, or put it in data.categorical",
                "data.boolean",
            )


def _check_weight(summary: TableSummary, spec: LearnSpec) -> None:
    if spec.weight is not None and not 0 < summary.weight < _MOST_WEIGHT:
        raise DataError(
            f"expected the weights in {spec.weight!r} to add up to at least 1 and less than {_MOST_WEIGHT:,}, "
            f"got {summary.weight:,}; scale them",
            "data.weight",
        )


def _classes(target: CategorySummary, spec: LearnSpec) -> tuple[tuple[tuple[Scalar, ...], ...], Bools]:
    """Return the classes of labels, and of which classes each target is true."""
    if spec.classes == "two" or (spec.classes == "auto" and len(target.values) <= 2):
        if spec.others:
            return _classes_of_readings(target, spec)
        positive = _positive(target, spec)
        return (tuple(value for value in target.values if value not in positive), positive), TWO_CLASSES
    _check_two(target, spec)
    if len(target.values) > _MOST_CLASSES:
        raise LimitError(
            f'data.classes = "all" takes at most {_MOST_CLASSES:,} labels, but the target {spec.target!r} has '
            f"{len(target.values):,}; name the positive ones in data.positive",
            "data.classes",
        )
    return tuple((value,) for value in target.values), frozen(np.eye(len(target.values), dtype=np.bool_))


def _classes_of_readings(target: CategorySummary, spec: LearnSpec) -> tuple[tuple[tuple[Scalar, ...], ...], Bools]:
    """Return every label as a class of its own, so that each reading of the target can put it where it belongs."""
    positive = [value in (spec.positive or ()) for value in target.values]
    if all(positive) or not any(positive):
        raise DataError(
            f"expected a target of two answers, but all {sum(target.counts.values()):,} rows have the same one; "
            "there is nothing to tell apart"
        )
    return tuple((value,) for value in target.values), frozen(np.array([positive], dtype=np.bool_))


def _check_two(target: CategorySummary, spec: LearnSpec) -> None:
    if len(target.values) < 2:
        raise DataError(
            f"expected two classes to tell apart, but the target {spec.target!r} has only the value "
            f"{_listed(target.values)}; choose another data.target",
            "data.target",
        )


def _positive(target: CategorySummary, spec: LearnSpec) -> tuple[Scalar, ...]:
    """Return the labels that count as true, making sure that both classes occur."""
    _check_two(target, spec)
    values = target.values
    if spec.positive is None:
        if len(values) > 2:
            raise SpecError(
                f"data.positive must say which labels are the positive class, because the target {spec.target!r} has "
                f'{len(values):,} values: {_listed(values)}; or set data.classes = "all" for a formula of each',
                "data.target",
            )
        return (values[-1],)
    for label in spec.positive:
        if not any(label == value and isinstance(label, bool) == isinstance(value, bool) for value in values):
            raise SpecError(
                f"data.positive must list values of the target {spec.target!r}, which are {_listed(values)}; "
                f"got {label!r}, which never occurs",
                "data.positive",
            )
    if all(value in spec.positive for value in values):
        raise SpecError(
            f"data.positive must leave some label for the negative class, but it lists all values of "
            f"{spec.target!r}: {_listed(values)}",
            "data.positive",
        )
    return tuple(value for value in values if value in spec.positive)


def splits_of(n_rows: int, spec: LearnSpec) -> Splits:
    """Return how so many rows are dealt into folds and inner splits."""
    outer, inner = n_test_folds(n_rows, spec), n_inner(n_rows, spec)
    if inner > 1 and (outer + 1) * inner > _MOST_FOLDS:
        raise LimitError(
            f"select.validation_splits may give at most {_MOST_FOLDS:,} inner splits of all folds together, got "
            f"{inner} of {outer + 1:,}; lower it, or folds.outer",
            "select.validation_splits",
        )
    return Splits(n_rows, outer, spec.validation, spec.seed, inner)


def n_inner(n_rows: int, spec: LearnSpec) -> int:
    """Return how many inner splits so many rows are worth."""
    return spec.splits if isinstance(spec.splits, int) else min(_MOST_SPLITS, -(-_VALIDATED_ROWS // max(1, n_rows)))


def n_test_folds(n_rows: int, spec: LearnSpec) -> int:
    """Return how many test folds so many rows are dealt into."""
    if spec.outer == 0:
        return 0
    if n_rows < 2:
        raise DataError(f'expected at least 2 rows to cross-validate, got {n_rows}; use kind = "fit"', "folds.outer")
    if spec.outer is None:
        return 10 if n_rows >= _FEW_ROWS else n_rows
    if spec.outer != "leave-one-out" and int(spec.outer) > n_rows:
        raise SpecError(
            f"folds.outer must be at most the number of rows, {n_rows:,}, got {spec.outer}; lower it", "folds.outer"
        )
    outer = n_rows if spec.outer == "leave-one-out" else int(spec.outer)
    if outer > _MOST_FOLDS:
        raise LimitError(
            f"folds.outer may give at most {_MOST_FOLDS:,} folds at once, got {outer:,}; lower it", "folds.outer"
        )
    return outer


def _listed(values: Sequence[Scalar] | Mapping[str, object]) -> str:
    """Write out some values, the first ten of them."""
    written = [repr(value) for value in values]
    return ", ".join(written[:10]) + (f" and {len(written) - 10:,} more" if len(written) > 10 else "")
