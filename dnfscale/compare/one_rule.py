"""The best single attribute: a competitor."""

from __future__ import annotations

from dnfscale.compare.counted import CountedCompetitor
from dnfscale.compare.measure import Measuring, measured
from dnfscale.compare.records import LearnedLabels
from dnfscale.core.counts import to_dense
from dnfscale.learn.line import LearnedFold, SingleRule
from dnfscale.method.ideal import confusion_of, ideal_accepts
from dnfscale.method.metrics import scores_of_types
from dnfscale.results.method import Fold, Method
from dnfscale.results.metrics import Scores
from dnfscale.spec.registry import COMPETITORS


def one_rule_method(learned: LearnedLabels, measuring: Measuring) -> Method:
    """Return what the best single attribute comes to."""
    folds = learned.first.folds
    unit = learned.first.table.reading.unit
    answered = Method.over([_one_rule(number, fold) for number, fold in enumerate(folds)])
    scores = {number: _scores(fold.single, unit) for number, fold in enumerate(folds)}
    return measured(answered, measuring, scores)


def _scores(rule: SingleRule, unit: int) -> Scores:
    """Return the test rows by the smoothed share of positives where the attribute says the same."""
    n, c = to_dense(rule.whole)
    probability = ((c + unit) / (n + 2 * unit))[rule.test.codes]
    return scores_of_types(probability, rule.test.n, rule.test.c)


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
