"""How close a formula comes to the classifier it explains, and to the truth, on rows that did not choose it."""

from __future__ import annotations

from dataclasses import dataclass

from dnfscale.data.scored import AGREED, TRULY_YES
from dnfscale.learn.line import Learned, LearnedFold
from dnfscale.method.ideal import correct_rows

READINGS = (TRULY_YES, AGREED)
"""The other readings of a joined target: the truth, and whether the classifier is right."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How a fold's formula and the classifier it explains do on the fold's test rows."""

    rows: int
    faithful: int
    """Rows where the formula answers as the classifier does."""
    correct: int | None
    """Rows where the formula is right; None where the truth is not known."""
    box_correct: int | None
    """Rows where the classifier is right."""


def agreement(fold: LearnedFold, *, known: bool) -> Agreement:
    """Return how a fold's formula does; `known` says whether the truth was joined to the answers."""
    answers = fold.dnf.accepts(fold.test.codes)
    faithful = correct_rows(answers, fold.test)
    if not known:
        return Agreement(fold.test.n_rows, faithful, None, None)
    truth, agreed = fold.others
    return Agreement(
        fold.test.n_rows,
        faithful,
        correct_rows(fold.dnf.accepts(truth.codes), truth),
        int(agreed.c.sum()),
    )


def agreements(learned: Learned, *, known: bool) -> list[Agreement]:
    """Return how the formulas of all folds do."""
    return [agreement(fold, known=known) for fold in learned.folds]
