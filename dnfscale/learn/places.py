"""How many folds the rows are dealt into, and where formulas are learned: every target in every
fold, and the parts of a fold's rows that are learned from.

A *place* is a target in a fold: one formula is learned there. Places are ordered by target, then by
fold; the fold of all rows comes last.

A *learning part* is a set of rows to learn from, with the rows that judge the result: W_train of an
inner split of a fold with W_val of the split, or all of W_0 with the fold's test part. Its *groups*
give the role of every arc: LEARNED, JUDGED, or neither. Learning parts are ordered by split, then
by fold, with W_0 of all folds last; arrays over them have one row for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dnfscale.core.arrays import Codes
from dnfscale.core.splits import TRAIN, VALIDATION, Circle, Splits, Stages
from dnfscale.errors import DataError, LimitError, SpecError
from dnfscale.spec.learn import LearnSpec

LEARNED, JUDGED = TRAIN, VALIDATION
"""The groups of a learning part; those of an inner split have the numbers of its W_train and
W_val.
"""
_NEITHER = 2
_OF_WHOLE = np.array([LEARNED, LEARNED, JUDGED, _NEITHER, LEARNED], dtype=np.uint8)
"""The groups of TRAIN, VALIDATION, TEST, UNUSED and ASIDE where all of W_0 is learned from."""
MOST_FOLDS = 5_000
"""The part of each arc in each fold is stored, which grows with the square of the number of folds:
50 MB here.
"""
_VALIDATED_ROWS, _MOST_SPLITS = 30_000, 10
"""With "auto" there are as many inner splits as it takes for rows x splits to reach the first, at
most the second.
"""
_FEW_ROWS = 100
"""Below this many rows every row is a test fold of its own, unless the number of folds is given."""


def splits_of(
    n_rows: int,
    spec: LearnSpec,
    *,
    outer: int | None = None,
    circle: Circle | None = None,
    stages: Stages | None = None,
) -> Splits:
    """Return the folds and inner splits that n_rows rows are dealt into; by default as many test
    folds as the rows allow.
    """
    outer = n_test_folds(n_rows, spec) if outer is None else outer
    inner = n_inner(n_rows, spec)
    if inner > 1 and (outer + 1) * inner > MOST_FOLDS:
        raise LimitError(
            f"select.validation_splits may give at most {MOST_FOLDS:,} inner splits of "
            "all folds together, got "
            f"{inner} of {outer + 1:,}; lower it, or folds.outer",
            "select.validation_splits",
        )
    return Splits(n_rows, outer, spec.validation, spec.seed, inner, circle, stages, spec.holdout)


def n_inner(n_rows: int, spec: LearnSpec) -> int:
    """Return the number of inner splits for n_rows rows."""
    if spec.time is not None:
        return 1
    if isinstance(spec.validation_splits, int):
        return spec.validation_splits
    return min(_MOST_SPLITS, -(-_VALIDATED_ROWS // max(1, n_rows)))


def has_many_rows(splits: Splits) -> bool:
    """Return whether one inner split validates because it has rows enough."""
    return splits.inner == 1 and splits.n_rows >= _VALIDATED_ROWS


def asked_folds(n_rows: int, spec: LearnSpec) -> int:
    """Return how many test folds are asked for, whether or not n_rows rows can be dealt
    into them.
    """
    if spec.tests_once:
        return 1
    if spec.outer is None:
        # Single rows cannot have the share of every label.
        few = n_rows < _FEW_ROWS and not spec.dealt_by and not spec.stratify
        return n_rows if few else min(10, n_rows)
    return n_rows if spec.outer == "leave-one-out" else int(spec.outer)


def n_test_folds(n_rows: int, spec: LearnSpec) -> int:
    """Return how many test folds n_rows rows are dealt into; a number that cannot be met is an
    error.
    """
    outer = asked_folds(n_rows, spec)
    if spec.outer == 0:
        return 0
    if n_rows < 2:
        raise DataError(
            f'expected at least 2 rows to cross-validate, got {n_rows}; use kind = "fit"',
            "folds.outer",
        )
    if outer > n_rows:
        raise SpecError(
            f"folds.outer must be at most the number of rows, {n_rows:,}, got {outer}; lower it",
            "folds.outer",
        )
    if outer > MOST_FOLDS:
        raise LimitError(
            f"folds.outer may give at most {MOST_FOLDS:,} folds at once, got {outer:,}; lower it",
            "folds.outer",
        )
    return outer


class Place(NamedTuple):
    """A target in a fold, where one formula is learned; sorting gives the order of places."""

    target: int
    fold: int


class LearningPart(NamedTuple):
    """A set of rows to learn from: W_train of an inner split of a fold, or all of the
    fold's W_0.
    """

    fold: int
    split: int | None
    """The inner split whose W_train it is; None for all of W_0."""


Groups = Mapping[LearningPart, Codes]
"""Learning parts in their order, and the group of every arc in each."""


def places_of(n_targets: int, splits: Splits) -> tuple[Place, ...]:
    """Return all places in order."""
    return tuple(
        Place(target, fold) for target in range(n_targets) for fold in range(splits.n_folds)
    )


def ranking_parts(splits: Splits) -> Groups:
    """Return the learning parts that rank attributes, each with a ranking of its own.

    If there are several inner splits, W_0 ranks as well: the ranking and ell that they choose are
    applied to it.
    """
    inner = {
        LearningPart(fold, split): np.minimum(groups, _NEITHER)
        for split in range(splits.inner)
        for fold, groups in enumerate(splits.inner_parts(split))
    }
    return inner if splits.inner == 1 else inner | whole_parts(splits)


def whole_parts(splits: Splits) -> dict[LearningPart, Codes]:
    """Return W_0 of every fold."""
    return {LearningPart(fold, None): groups for fold, groups in enumerate(_OF_WHOLE[splits.parts])}


def n_ranking_parts(n_inner: int) -> int:
    """Return how many parts of a fold rank attributes."""
    return 1 if n_inner == 1 else n_inner + 1


def inner_parts(fold: int, splits: Splits) -> list[LearningPart]:
    """Return W_train of each inner split of a fold: where prefixes of rankings are tried."""
    return [LearningPart(fold, split) for split in range(splits.inner)]


def first_part(fold: int) -> LearningPart:
    """Return W_train of a fold's first inner split, used for what is done once in a fold and
    chooses nothing.
    """
    return LearningPart(fold, 0)


def final_part(fold: int, splits: Splits) -> LearningPart:
    """Return the part whose rankings a fold's attributes are taken from, once the ranking and ell
    are chosen.
    """
    return LearningPart(fold, None if splits.inner > 1 else 0)
