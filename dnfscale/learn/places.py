"""Where something is learned: every target in every fold, and the parts of a fold's rows that are learned from.

A *place* is a target in a fold: one formula is learned there. Places go target by target, each with all folds in order,
the fold of all rows last.

A *learning part* is what is learned from at a time: W_train of an inner split of a fold, judged by W_val of the split,
or all of W_0, judged by the fold's test part. Its *groups* say so of every arc: LEARNED, JUDGED, or neither. Learning
parts go split by split, each with all folds in order, and then W_0 of all folds; arrays over them have a row for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dnfscale.core.arrays import Codes
from dnfscale.core.splits import TRAIN, VALIDATION, Splits

LEARNED, JUDGED = TRAIN, VALIDATION
"""The groups of a learning part: in an inner split W_train and W_val, as they are numbered there."""
_OF_WHOLE = np.array([LEARNED, LEARNED, JUDGED], dtype=np.uint8)
"""What TRAIN, VALIDATION and TEST are in W_0."""


class Place(NamedTuple):
    """Where a formula is learned; places sort in their order."""

    target: int
    fold: int


class LearningPart(NamedTuple):
    """What is learned from at a time."""

    fold: int
    split: int | None
    """Which inner split's W_train; None: all of W_0."""


Groups = Mapping[LearningPart, Codes]
"""Learning parts in their order, and the group of every arc in each."""


def places_of(n_targets: int, splits: Splits) -> tuple[Place, ...]:
    """Return all places in order."""
    return tuple(Place(target, fold) for target in range(n_targets) for fold in range(splits.n_folds))


def ranking_parts(splits: Splits) -> Groups:
    """Return the learning parts that rank attributes, each for itself.

    Where there are several inner splits, what was chosen over them is carried out on W_0, which ranks as well.
    """
    inner = {
        LearningPart(fold, split): groups
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
    """Return W_train of a fold's first inner split: what is done once in a fold, without choosing, goes by it."""
    return LearningPart(fold, 0)


def final_part(fold: int, splits: Splits) -> LearningPart:
    """Return the part whose rankings a fold's attributes are taken from, once the ranking and ell are chosen."""
    return LearningPart(fold, None if splits.inner > 1 else 0)
