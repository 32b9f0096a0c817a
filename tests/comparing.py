"""What was learned, and counted, as plain values that compare."""

from __future__ import annotations

from dnfscale.core.counts import TypeCounts
from dnfscale.learn.line import Learned, LearnedFold


def told(learned: Learned) -> list[object]:
    """Return everything that was learned in a form that compares."""
    head = (learned.rows, learned.rows_dropped, learned.columns, learned.attribute_names)
    return [
        head,
        learned.positive,
        learned.positive_rows,
        *map(told_fold, (*learned.folds, learned.model)),
    ]


def told_fold(fold: LearnedFold) -> tuple[object, ...]:
    """Return everything that was learned of a fold."""
    sizes = (fold.train_rows, fold.validation_rows, fold.test_rows)
    steps = [
        (s.ell, s.rank, s.attributes, s.correct, dict(s.correct_by_rank)) for s in fold.sweep.steps
    ]
    return (
        fold.fold,
        sizes,
        steps,
        fold.rank,
        fold.tau,
        as_dict(fold.whole),
        as_dict(fold.test),
        fold.minimized,
    )


def as_dict(counts: TypeCounts) -> dict[int, tuple[int, int]]:
    """Return n_t and c_t of each type that occurs."""
    return dict(
        zip(
            counts.codes.tolist(),
            zip(counts.n.tolist(), counts.c.tolist(), strict=True),
            strict=True,
        )
    )
