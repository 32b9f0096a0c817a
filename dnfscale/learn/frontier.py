"""How accuracy grows with length: the formula of every number of attributes, in every fold.

A sweep judges each ell on validation rows only. Here the best ranking of each ell is treated as the
chosen one is: counted on W_0, written as a short formula, and tested. The test rows choose nothing;
they show what the choice was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf
from dnfscale.core.vocabulary import Vocabulary
from dnfscale.engine.api import Engine
from dnfscale.learn.count import COUNT_CHOSEN, Chosen, count_chosen
from dnfscale.learn.lengths import Candidate
from dnfscale.learn.line import Learned, LearnedTargets
from dnfscale.learn.phases import Layout, PlannedPhase
from dnfscale.learn.places import Place
from dnfscale.learn.write import form_classifier, plan_writing, write_formulas
from dnfscale.method.ideal import correct_rows
from dnfscale.method.literals import lines_of, n_literals
from dnfscale.method.minimize.minimal import Effort
from dnfscale.method.sweep import Step
from dnfscale.spec.learn import LearnSpec

_EFFORT = Effort(nodes=1)
"""Formulas that are not chosen need not be proven shortest: without a search, those of nine and ten
attributes on Colon are longer by a thousandth and take half the time."""


@dataclass(frozen=True, slots=True)
class Grown:
    """The formulas of one number of attributes, or of at most so many literals, averaged over test
    folds.
    """

    ell: int | None
    """None if formulas were chosen by their length."""
    accuracy: Fraction
    literals: Fraction
    terms: Fraction


class _Tested(NamedTuple):
    """A formula and the test rows of its fold."""

    tau: Vocabulary
    dnf: Dnf
    test: TypeCounts

    @property
    def accuracy(self) -> Fraction:
        return Fraction(
            correct_rows(self.dnf.accepts(self.test.codes), self.test), self.test.n_rows
        )


def grow_formulas(learned: LearnedTargets, spec: LearnSpec, engine: Engine) -> list[Grown]:
    """Return the mean accuracy and length of the only target's formulas, for each ell that every
    fold has tried.
    """
    [target] = learned.targets
    if spec.by_length:
        return _by_length(target)
    longest = min(len(fold.sweep.steps) for fold in (*target.folds, target.model))
    ells = range(1, longest + 1)
    # The chosen formulas have been written already. The fold of all rows has no test part, so it is
    # left out.
    tested = {
        (fold.fold, fold.sweep.chosen.ell): _Tested(fold.tau, fold.dnf, fold.test)
        for fold in target.folds
    }
    others = {
        (fold.fold, step.ell): step
        for fold in target.folds
        for step in fold.sweep.steps[:longest]
        if step.ell != fold.sweep.chosen.ell
    }
    tested |= _carry_out(others, learned, spec, engine)
    return [_grown(ell, [tested[fold.fold, ell] for fold in target.folds]) for ell in ells]


def _by_length(target: Learned) -> list[Grown]:
    """Return what the best formulas of at most so many literals come to, by validation, for each
    number that makes a difference in some fold; the test of every candidate is known already.
    """
    by_fold = [fold.decision.candidates for fold in target.folds if fold.decision is not None]
    shortest = max(min(own.literals for own in candidates) for candidates in by_fold)
    lengths = {own.literals for candidates in by_fold for own in candidates}
    grown: list[Grown] = []
    for most in sorted(length for length in lengths if length >= shortest):
        best = [_best_within(candidates, most) for candidates in by_fold]
        n = len(best)
        point = Grown(
            None,
            sum((Fraction(own.correct, max(1, own.tested)) for own in best), Fraction()) / n,
            Fraction(sum(own.literals for own in best), n),
            Fraction(sum(own.terms for own in best), n),
        )
        if not grown or point.literals != grown[-1].literals:
            grown.append(point)
    return grown


def _best_within(candidates: Sequence[Candidate], most: int) -> Candidate:
    """Return the candidate of at most so many literals that validation finds best; in a tie the
    shortest.
    """
    allowed = [own for own in candidates if own.literals <= most]
    return max(allowed, key=lambda own: (own.point.score, -own.literals))


def plan_frontier(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of grow_formulas."""
    if layout.spec.by_length:
        return
    yield layout.scan(COUNT_CHOSEN)
    yield plan_writing(layout, layout.folds * layout.spec.max_ell)


def _carry_out(
    steps: Mapping[tuple[int, int], Step], learned: LearnedTargets, spec: LearnSpec, engine: Engine
) -> dict[tuple[int, int], _Tested]:
    """Count the attributes of some steps by (fold, ell) on W_0 and the test part, and write their
    formulas.
    """
    chosen = {key: Chosen(Place(0, key[0]), step.attributes) for key, step in steps.items()}
    counted = count_chosen(chosen.values(), learned.kept, learned.booleans, engine)
    classifiers = {
        (fold, ell): form_classifier(fold, step, counted[chosen[fold, ell]], learned.booleans, spec)
        for (fold, ell), step in steps.items()
    }
    written = write_formulas(classifiers, spec, engine, _EFFORT)
    return {
        key: _Tested(classifier.tau, written[key].dnf, classifier.counted.test)
        for key, classifier in classifiers.items()
    }


def _grown(ell: int, tested: Sequence[_Tested]) -> Grown:
    n = max(1, len(tested))
    written = [lines_of(each.tau, each.dnf) for each in tested]
    return Grown(
        ell,
        sum((each.accuracy for each in tested), start=Fraction()) / n,
        Fraction(sum(map(n_literals, written)), n),
        Fraction(sum(map(len, written)), n),
    )
