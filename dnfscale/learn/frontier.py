"""How good formulas get with length: those of every length, or number of attributes, in every fold.

Validation judges each of them when one is chosen. Here they are treated as the chosen one is:
counted on W_0, written as a short formula, and tested. The test rows choose nothing; they show what
the choice was, and what formulas of the length of the one that is shown come to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dnfscale.core.model import Model
from dnfscale.engine.api import Engine
from dnfscale.learn.count import COUNT_CHOSEN, Chosen, Counted, count_chosen, prefix_counts
from dnfscale.learn.lengths import Candidate, writes_steps
from dnfscale.learn.line import (
    Learned,
    LearnedFold,
    LearnedTargets,
    Written,
    fold_model,
    of_lines,
)
from dnfscale.learn.phases import Layout, PlannedPhase
from dnfscale.learn.places import Place
from dnfscale.learn.write import Classifier, form_classifier, plan_writing, write_formulas
from dnfscale.method.ideal import confusion_of
from dnfscale.method.literals import n_literals
from dnfscale.method.minimize.minimal import Effort, Minimized
from dnfscale.method.sweep import Step
from dnfscale.results.confusion import Confusion
from dnfscale.spec.learn import LearnSpec

_EFFORT = Effort(nodes=1)
"""Formulas that are not chosen need not be proven shortest: without a search, those of nine and ten
attributes on Colon are longer by a thousandth and take half the time."""


@dataclass(frozen=True, slots=True)
class Tested:
    """A formula of a fold, and how it answers the fold's test rows."""

    literals: int
    terms: int
    answers: Confusion


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """The formulas of one number of attributes, or of at most so many literals."""

    ell: int | None
    """None if formulas were chosen by their length."""
    most: int | None
    """The bound on the literals; None if formulas were chosen by their attributes."""
    folds: tuple[Tested, ...]
    """One for each test fold; none in a fit."""
    model: Model
    """The formula of all rows."""
    shown: bool
    """Whether this is the formula that was chosen for all rows."""

    @property
    def literals(self) -> Fraction:
        """The mean over folds."""
        return Fraction(sum(own.literals for own in self.folds), max(1, len(self.folds)))

    @property
    def terms(self) -> Fraction:
        """The mean over folds."""
        return Fraction(sum(own.terms for own in self.folds), max(1, len(self.folds)))


def grow_formulas(learned: LearnedTargets, spec: LearnSpec, engine: Engine) -> list[Grown]:
    """Return the formulas of the only target, by length, or for each ell that every fold has
    tried.
    """
    [target] = learned.targets
    if spec.by_length:
        return _by_length(target, learned, spec, engine)
    return _by_ell(target, learned, spec, engine)


def plan_frontier(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of grow_formulas."""
    yield layout.scan(COUNT_CHOSEN)
    if layout.spec.by_length and not writes_steps(layout.spec):
        return
    formulas = 1 if layout.spec.by_length else layout.folds
    quick = replace(layout, spec=_quickly(layout.spec))
    yield plan_writing(quick, formulas * layout.spec.max_ell)


def _quickly(spec: LearnSpec) -> LearnSpec:
    """Return how formulas are written that are not chosen: SymPy takes minutes where there are
    many.
    """
    return replace(spec, minimize="exact") if spec.minimize == "sympy" else spec


def _by_ell(
    target: Learned, learned: LearnedTargets, spec: LearnSpec, engine: Engine
) -> list[Grown]:
    """Carry out every step of every sweep; what was chosen has been written already."""
    places = (*target.folds, target.model)
    longest = min(len(fold.sweep.steps) for fold in places)
    others = {
        (fold.fold, step.ell): step
        for fold in places
        for step in fold.sweep.steps[:longest]
        if step.ell != fold.sweep.chosen.ell
    }
    written = _carry_out(others, places, learned, spec, engine)
    written |= {(fold.fold, fold.sweep.chosen.ell): fold for fold in places}
    return [
        Grown(
            ell=ell,
            most=None,
            folds=tuple(_tested(written[fold.fold, ell]) for fold in target.folds),
            model=fold_model(written[target.model.fold, ell], target, spec),
            shown=ell == target.model.sweep.chosen.ell,
        )
        for ell in range(1, longest + 1)
    ]


def _tested(fold: LearnedFold) -> Tested:
    lines = fold.lines
    return Tested(n_literals(lines), len(lines), confusion_of(fold.accepts(fold.test), fold.test))


def _carry_out(
    steps: Mapping[tuple[int, int], Step],
    places: Sequence[LearnedFold],
    learned: LearnedTargets,
    spec: LearnSpec,
    engine: Engine,
) -> dict[tuple[int, int], LearnedFold]:
    """Return folds as if they had chosen some steps, given by (fold, ell)."""
    # Shorter steps of a ranking are prefixes of its longest, and their counts are sums of its.
    longest: dict[tuple[int, str], Chosen] = {}
    for (fold, _), step in sorted(steps.items(), key=lambda own: own[0]):
        longest[fold, step.rank] = Chosen(Place(0, fold), step.attributes)
    counted = count_chosen(longest.values(), learned.kept, learned.booleans, engine)
    classifiers = {
        (fold, ell): form_classifier(
            fold,
            step,
            prefix_counts(counted[longest[fold, step.rank]], ell),
            learned.booleans,
            spec,
        )
        for (fold, ell), step in steps.items()
    }
    written = write_formulas(classifiers, _quickly(spec), engine, _EFFORT)
    by_number = {fold.fold: fold for fold in places}
    return {
        key: _as_chosen(
            by_number[key[0]], _of_classifier(own, written[key]), own.counted, steps[key]
        )
        for key, own in classifiers.items()
    }


def _of_classifier(classifier: Classifier, minimized: Minimized) -> Written:
    return Written(classifier.tau, minimized, classifier.threshold, types="attributes")


def _as_chosen(
    fold: LearnedFold, written: Written, counted: Counted, step: Step | None = None
) -> LearnedFold:
    """Return a fold as if it had chosen another formula."""
    sweep = fold.sweep if step is None else replace(fold.sweep, chosen=step)
    return replace(
        fold,
        sweep=sweep,
        written=written,
        whole=counted.whole,
        test=counted.test,
        others=counted.others,
    )


def _by_length(
    target: Learned, learned: LearnedTargets, spec: LearnSpec, engine: Engine
) -> list[Grown]:
    """Return what the best formulas of at most so many literals come to, by validation, for each
    number that makes a difference; the test of every candidate is known already.
    """
    decision = target.model.decision
    assert decision is not None
    by_fold = [fold.decision.candidates for fold in target.folds if fold.decision is not None]
    every = [*by_fold, decision.candidates]
    shortest = max(min(own.literals for own in candidates) for candidates in every)
    lengths = {own.literals for candidates in every for own in candidates}
    bounds = sorted(length for length in lengths if length >= shortest)
    shown = max(shortest, decision.chosen.literals)
    found: dict[tuple[Candidate, ...], int] = {}
    for most in bounds:
        # At the length of the formula that is shown stands this formula, though another of the same
        # length may be as good.
        model = decision.chosen if most == shown else _best_within(decision.candidates, most)
        found.setdefault((*(_best_within(own, most) for own in by_fold), model), most)
    models = _models([key[-1] for key in found], target, learned, spec, engine)
    return [
        Grown(
            ell=None,
            most=most,
            folds=tuple(Tested(own.literals, own.terms, own.answers) for own in key[:-1]),
            model=models[key[-1]],
            shown=most == shown,
        )
        for key, most in found.items()
    ]


def _best_within(candidates: Sequence[Candidate], most: int) -> Candidate:
    """Return the candidate of at most so many literals that validation finds best; in a tie the
    shortest.
    """
    allowed = [own for own in candidates if own.literals <= most]
    return max(allowed, key=lambda own: (own.point.score, -own.literals))


def _models(
    candidates: Sequence[Candidate],
    target: Learned,
    learned: LearnedTargets,
    spec: LearnSpec,
    engine: Engine,
) -> dict[Candidate, Model]:
    """Return the formulas of all rows as models, with the counts of all rows."""
    fold = target.model
    assert fold.decision is not None
    place = Place(0, fold.fold)
    distinct = [own for own in dict.fromkeys(candidates) if own is not fold.decision.chosen]
    classifiers = {
        own: own.classifier for own in distinct if own.lines is None and own.classifier is not None
    }
    chosen = {
        own: Chosen(place, (), own.lines if own.lines.n_literals else None)
        for own in distinct
        if own.lines is not None
    }
    counted = count_chosen(chosen.values(), learned.kept, learned.booleans, engine)
    minimized = write_formulas(classifiers, _quickly(spec), engine, _EFFORT)
    models = {fold.decision.chosen: fold_model(fold, target, spec)}
    for own, classifier in classifiers.items():
        written = _of_classifier(classifier, minimized[own])
        models[own] = fold_model(_as_chosen(fold, written, classifier.counted), target, spec)
    for own, wanted in chosen.items():
        written = of_lines(own.lines, fold.fold, counted[wanted], learned.booleans, spec)
        models[own] = fold_model(_as_chosen(fold, written, counted[wanted]), target, spec)
    return models
