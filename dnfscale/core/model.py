"""A model: a formula, its attributes, and the counts it was read from; all that a prediction
needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dnfscale.core.arrays import Bools, Floats, Ints, Scalar
from dnfscale.core.counts import TypeCounts, to_dense
from dnfscale.core.formula import Dnf
from dnfscale.core.parts import stored_column
from dnfscale.core.tree import Formula, render
from dnfscale.core.vocabulary import Vocabulary

HALF = Fraction(1, 2)
MOST_ELL = 24
"""The most attributes of a formula: tables over all their types must fit in memory."""
MOST_LINES = 16
"""The most lines of a formula whose types are the patterns of its lines: tables over all patterns
must fit in memory, and nobody reads more.
"""
MISSING = ("drop", "error", "indicator")
"""What can be done with rows that have missing values."""
UNSEEN = ("negative", "dont_care", "follow")
"""What a formula predicts for types that no row had: negative, whatever makes it shortest, or what
`shrink` predicts."""
NO_TERM = -1


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A formula over tau: the ideal one accepts the types with c_t / n_t >= threshold, a shorter
    one nearly these.

    A missing value makes the tests of its column false, except the test whether it is missing. For
    a type that no row had, the formula alone decides.
    """

    target: str
    positive: tuple[Scalar, ...]
    """The labels that the formula predicts when it accepts a row."""
    tau: Vocabulary
    dnf: Dnf
    counts: TypeCounts
    missing: str = "drop"
    """What was done with rows that have missing values: "drop", "error", or "indicator", an
    attribute for being missing."""
    unseen: str = "negative"
    """What the formula was to predict for types that no row had: see UNSEEN."""
    threshold: Fraction = HALF
    unit: int = 1
    """What a row of weight one adds to n_t: more than one if rows had weights that are not whole
    numbers.
    """
    weighted: bool = False
    """Whether rows had weights: then n_t and c_t do not count rows, and nothing is certified from
    them.
    """
    certificate: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    lookalikes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns of tau that a database may take for other columns of the dataset, and these: see
    core/lookalikes.py."""
    tree: Formula | None = None
    """The formula as it is to be read, if it is one of bounded size; every attribute of tau occurs
    in it. The terms of dnf are equivalent, and are used wherever a formula is taken apart."""

    @property
    def formula(self) -> str:
        return (
            self.dnf.render(self.tau.names)
            if self.tree is None
            else render(self.tree, self.tau.names)
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the dataset that the formula itself needs, each once, in rank order."""
        care = (1 << len(self.tau)) - 1 if self.tree is not None else 0
        for term in self.dnf.terms:
            care |= term.care
        used = (
            stored_column(attribute.column)
            for i, attribute in enumerate(self.tau.attributes)
            if care >> i & 1
        )
        return tuple(dict.fromkeys(used))

    def accepted(self) -> Bools:
        """Return for every type over tau whether the formula accepts it."""
        return self.dnf.accepts(np.arange(1 << len(self.tau)))

    def first_terms(self) -> Ints:
        """Return the index of the first term that accepts each type over tau; NO_TERM where none
        does.
        """
        codes = np.arange(1 << len(self.tau))
        first = np.full(len(codes), NO_TERM, dtype=np.int64)
        for index in reversed(range(len(self.dnf.terms))):
            first[self.dnf.terms[index].accepts(codes)] = index
        return first

    def probability(self, n: Any, c: Any, accepted: Any) -> Any:
        """Return (c + unit) / (n + 2 unit), kept on the formula's side of the threshold; for one
        type or for many.

        Where smoothing would cross the threshold (ties, types without rows), the value stops right
        next to it, so that a row is accepted exactly when its probability lies above.
        """
        unit = float(self.unit)
        smoothed = (c + unit) / (n + 2 * unit)
        threshold = float(self.threshold)
        above, below = np.nextafter(threshold, 1), np.nextafter(threshold, 0)
        return np.where(accepted, np.maximum(smoothed, above), np.minimum(smoothed, below))

    def probabilities(self) -> Floats:
        """Return the probability of every type over tau."""
        return np.asarray(self.probability(*to_dense(self.counts), self.accepted()))


def relative_probabilities(models: Sequence[Model]) -> tuple[Floats, ...]:
    """Return for each of several labels' formulas the table of all its types by which the labels
    are compared.

    A row gets the label with the greatest value, the first of several. It is the probability over
    the formula's threshold: above one exactly where the formula accepts, so that a label whose
    formula says yes goes before all that say no. Where each threshold is the share of its label,
    this is the rule of the best balanced accuracy. Thresholds that are all the same change no
    order, and the probabilities stay as they are.
    """
    if len({model.threshold for model in models}) == 1:
        return tuple(model.probabilities() for model in models)
    return tuple(model.probabilities() / float(model.threshold) for model in models)
