"""Decides how many folds and inner splits the rows are dealt into."""

from __future__ import annotations

from dnfscale.core.splits import Splits
from dnfscale.errors import DataError, LimitError, SpecError
from dnfscale.spec.learn import LearnSpec

_MOST_FOLDS = 5_000
"""The part of each arc in each fold is stored, which grows with the square of the number of folds:
50 MB here.
"""
_VALIDATED_ROWS, _MOST_SPLITS = 30_000, 10
"""With "auto" there are as many inner splits as it takes for rows x splits to reach the first, at
most the second.
"""
_FEW_ROWS = 100
"""Below this many rows every row is a test fold of its own, unless the number of folds is given."""


def splits_of(n_rows: int, spec: LearnSpec) -> Splits:
    """Return the folds and inner splits that n_rows rows are dealt into."""
    outer, inner = n_test_folds(n_rows, spec), n_inner(n_rows, spec)
    if inner > 1 and (outer + 1) * inner > _MOST_FOLDS:
        raise LimitError(
            f"select.validation_splits may give at most {_MOST_FOLDS:,} inner splits of "
            "all folds together, got "
            f"{inner} of {outer + 1:,}; lower it, or folds.outer",
            "select.validation_splits",
        )
    return Splits(n_rows, outer, spec.validation, spec.seed, inner)


def n_inner(n_rows: int, spec: LearnSpec) -> int:
    """Return the number of inner splits for n_rows rows."""
    if isinstance(spec.validation_splits, int):
        return spec.validation_splits
    return min(_MOST_SPLITS, -(-_VALIDATED_ROWS // max(1, n_rows)))


def asked_folds(n_rows: int, spec: LearnSpec) -> int:
    """Return how many test folds are asked for, whether or not n_rows rows can be dealt
    into them.
    """
    if spec.outer is None:
        return 10 if n_rows >= _FEW_ROWS else n_rows
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
    if outer > _MOST_FOLDS:
        raise LimitError(
            f"folds.outer may give at most {_MOST_FOLDS:,} folds at once, got {outer:,}; lower it",
            "folds.outer",
        )
    return outer
