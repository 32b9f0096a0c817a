"""How accuracy grows with length: the formula of every number of attributes, in every fold.

A sweep looks at each ell on validation rows only. Here the best ranking of each ell is carried out as the chosen one
is: counted on W_0, written as a short formula, and tested. The test rows choose nothing; they show what there was.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dnfscale.engine.api import Engine
from dnfscale.learn.line import LearnedTargets, count_chosen, write_formulas
from dnfscale.learn.spec import LearnSpec
from dnfscale.method.ideal import correct_rows
from dnfscale.method.minimize import Effort

_EFFORT = Effort(nodes=1)
"""Formulas that are not chosen need not be proven the shortest: without a search those of nine and ten attributes on
Colon are a thousandth longer, in half of the time."""


@dataclass(frozen=True, slots=True)
class Grown:
    """The formulas of one number of attributes, averaged over test folds."""

    ell: int
    accuracy: Fraction
    literals: Fraction
    terms: Fraction


def grow_formulas(learned: LearnedTargets, spec: LearnSpec, engine: Engine) -> list[Grown]:
    """Return what the formulas of the only target come to, for each ell that every fold has tried."""
    [target] = learned.targets
    folds = (*target.folds, target.model)
    longest = min(len(fold.sweep.steps) for fold in folds)
    steps = [fold.sweep.steps[ell] for ell in range(longest) for fold in folds]
    attributes = [step.attributes for step in steps]
    shrinks = [step.shrink for step in steps]
    kept = learned.kept
    wholes, tests, _ = count_chosen(kept.rows, attributes, kept.table, learned.booleans, engine)
    taus = [learned.booleans.vocabulary(place % len(folds), own) for place, own in enumerate(attributes)]
    thresholds = [spec.judging.objective.threshold_of(whole) for whole in wholes]
    # The chosen formulas have been written, and that of all rows has no test part.
    formulas = [fold.dnf for fold in folds] * longest
    others = [
        place
        for place, step in enumerate(steps)
        if folds[place % len(folds)] is not target.model and step.ell != folds[place % len(folds)].sweep.chosen.ell
    ]
    written = write_formulas(
        [wholes[place] for place in others],
        [taus[place] for place in others],
        [thresholds[place] for place in others],
        [shrinks[place] for place in others],
        spec,
        engine,
        _EFFORT,
    )
    for place, found in zip(others, written, strict=True):
        formulas[place] = found.dnf
    grown = []
    for ell in range(longest):
        # The last fold is that of all rows: it has no test part.
        own = range(ell * len(folds), (ell + 1) * len(folds) - 1)
        n = max(1, len(own))
        right = [Fraction(correct_rows(formulas[i].accepts(tests[i].codes), tests[i]), tests[i].n_rows) for i in own]
        grown.append(
            Grown(
                ell + 1,
                sum(right, start=Fraction()) / n,
                Fraction(sum(formulas[i].n_literals for i in own), n),
                Fraction(sum(len(formulas[i].terms) for i in own), n),
            )
        )
    return grown
