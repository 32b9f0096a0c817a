"""How often a formula agrees with the classifier that it explains, and with the truth, on each
fold's test rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from dnfscale.data.scored import AGREED, TRULY_YES
from dnfscale.learn.line import Learned, LearnedFold
from dnfscale.method.ideal import confusion_of, correct_rows
from dnfscale.results.confusion import Confusion

READINGS = (TRULY_YES, AGREED)
"""The other readings of a target that joins the classifier's answer with the truth: the truth, and
where both agree.
"""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often a fold's formula and the classifier that it explains are right on the fold's test
    rows.
    """

    rows: int
    faithful: int
    """Rows where the formula answers as the classifier does."""
    formula: Confusion | None
    """The formula's answers by the truth; None where that is not known."""
    box: Confusion | None
    """The classifier's answers by the truth."""


def agreements(learned: Learned, *, known: bool) -> list[Agreement]:
    """Return the agreement of each fold's formula; `known`: whether the truth was joined to the
    classifier's answers."""
    return [_agreement(fold, known=known) for fold in learned.folds]


def _agreement(fold: LearnedFold, *, known: bool) -> Agreement:
    rows = fold.test.n_rows
    faithful = correct_rows(fold.accepts(fold.test), fold.test)
    if not known:
        return Agreement(rows, faithful, None, None)
    truth, agreed = fold.others
    says_yes, is_yes, right = (int(counts.c.sum()) for counts in (fold.test, truth, agreed))
    # says_yes + is_yes counts every true positive twice and every error once, of which there are
    # rows - right.
    true_positive = (says_yes + is_yes - (rows - right)) // 2
    box = Confusion(
        tp=true_positive,
        fp=says_yes - true_positive,
        tn=right - true_positive,
        fn=is_yes - true_positive,
    )
    return Agreement(rows, faithful, confusion_of(fold.accepts(truth), truth), box)
