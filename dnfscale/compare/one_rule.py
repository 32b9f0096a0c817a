"""The best single attribute: a competitor."""

from __future__ import annotations

from dnfscale.compare.counted import CountedCompetitor
from dnfscale.compare.records import LearnedLabels
from dnfscale.learn.line import LearnedFold
from dnfscale.method.ideal import confusion_of, ideal_accepts
from dnfscale.results.method import Fold, Method
from dnfscale.spec.registry import COMPETITORS


def one_rule_method(learned: LearnedLabels) -> Method:
    """Return what the best single attribute comes to."""
    return Method.over([_one_rule(number, fold) for number, fold in enumerate(learned.first.folds)])


def _one_rule(number: int, fold: LearnedFold) -> Fold:
    accepted = ideal_accepts(fold.single.whole, fold.single.test)
    confusion = confusion_of(accepted, fold.single.test)
    return Fold(fold=number, confusion=confusion, attribute=fold.single.attribute)


COMPETITORS.register(
    CountedCompetitor(
        name="one_rule",
        title="One rule",
        colour="ochre",
        place=70,
        many_classes=False,
        count=one_rule_method,
    )
)
