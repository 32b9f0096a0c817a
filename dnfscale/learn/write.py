"""Writes formulas: from the counts over some attributes to their classifier, and from that to a
short formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TypeVar

from dnfscale.core.vocabulary import Vocabulary
from dnfscale.engine.api import Engine
from dnfscale.learn.choose import objective_of
from dnfscale.learn.count import Counted
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.method.booleanize import Booleanization
from dnfscale.method.freedom import Freedom, truth_of
from dnfscale.method.minimize.minimal import EFFORT, Effort, Minimized, Truth, as_types, minimize
from dnfscale.method.minimize.possible import ColumnStates, axes_of, row_states
from dnfscale.method.shrink import Shrink
from dnfscale.method.sweep import Step
from dnfscale.spec.learn import LearnSpec

MINIMIZE = Phase("minimize formulas", Reads.COUNTS, "shorten formulas")
SIMPLIFY = Phase("simplify formulas", Reads.COUNTS, "simplify formulas")


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """The ideal classifier of some attributes in a fold, before it is written as a formula."""

    tau: Vocabulary
    counted: Counted
    threshold: Fraction
    """The share of positives from which a type is accepted."""
    shrink: Shrink
    """The rule for types of few rows."""
    columns: tuple[ColumnStates, ...]
    """The columns of tau with the states that a row can be in."""

    def truth(self, freedom: Freedom) -> Truth:
        """Return the types that a formula of this classifier must accept, and those that it is free
        to accept.
        """
        truth = truth_of(
            self.counted.whole,
            self.columns,
            shrink=self.shrink,
            threshold=self.threshold,
            freedom=freedom,
        )
        return replace(truth, axes=axes_of(self.tau, self.columns))


def form_classifier(
    fold: int, step: Step, counted: Counted, booleans: Booleanization, spec: LearnSpec
) -> Classifier:
    """Form the classifier of a step of a fold's sweep, given the counts over the step's
    attributes.
    """
    threshold = objective_of(spec).threshold_of(counted.whole)
    return Classifier(
        tau=booleans.vocabulary(fold, step.attributes),
        counted=counted,
        threshold=threshold,
        shrink=step.shrink,
        columns=row_states(booleans.edges(fold, step.attributes)),
    )


Key = TypeVar("Key")


def write_formulas(
    classifiers: Mapping[Key, Classifier], spec: LearnSpec, engine: Engine, effort: Effort = EFFORT
) -> dict[Key, Minimized]:
    """Write each classifier as a short formula; those with the same truth are written once."""
    # With "negative", SymPy writes the formula as the paper does.
    impossible = spec.minimize != "sympy" or spec.unseen != "negative"
    freedom = Freedom(spec.unseen, spec.freedom, spec.unit, impossible)
    truths = {key: classifier.truth(freedom) for key, classifier in classifiers.items()}
    distinct = list(dict.fromkeys(truths.values()))
    if spec.minimize == "sympy":
        # SymPy takes half a second to import, and only this choice needs it.
        from dnfscale.method.minimize.simplify import simplify

        written = engine.map(SIMPLIFY.name, distinct, simplify)
    else:
        shortest = partial(minimize, effort=effort)
        written = engine.map(
            MINIMIZE.name, distinct, shortest if spec.minimize == "exact" else as_types
        )
    by_truth = dict(zip(distinct, written, strict=True))
    return {key: by_truth[truth] for key, truth in truths.items()}


def plan_writing(layout: Layout, formulas: int) -> PlannedPhase:
    """Return the phase that writes so many formulas."""
    return (SIMPLIFY if layout.spec.minimize == "sympy" else MINIMIZE).planned(formulas)
