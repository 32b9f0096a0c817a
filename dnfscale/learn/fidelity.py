"""How often a formula agrees with the classifier that it explains, and with the truth, on each fold's test rows."""

from __future__ import annotations

from dataclasses import dataclass

from dnfscale.data.scored import AGREED, TRULY_YES
from dnfscale.learn.line import Learned, LearnedFold
from dnfscale.method.ideal import correct_rows

READINGS = (TRULY_YES, AGREED)
"""The other readings of a target that joins the classifier's answer with the truth: the truth, and where both agree."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often a fold's formula and the classifier that it explains are right on the fold's test rows."""

    rows: int
    faithful: int
    """Rows where the formula answers as the classifier does."""
    correct: int | None
    """Rows where the formula is right; None where the truth is not known."""
    box_correct: int | None
    """Rows where the classifier is right."""


def agreement(fold: LearnedFold, *, known: bool) -> Agreement:
    """Return the agreement of a fold's formula; `known`: whether the truth was joined to the classifier's answers."""
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
    """Return the agreement of each fold's formula."""
    return [agreement(fold, known=known) for fold in learned.folds]
