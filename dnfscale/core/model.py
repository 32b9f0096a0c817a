"""A model: a formula, its attributes, and the counts it was read from; all that a prediction
needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dnfscale.core.about import NOTHING, About
from dnfscale.core.arrays import AnyInts, Bools, Floats, Ints, Scalar
from dnfscale.core.counts import TypeCounts, to_dense
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.parts import stored_column
from dnfscale.core.planes import Planes, joined, lines_of, signs_of
from dnfscale.core.seen import SeenColumn
from dnfscale.core.tree import Formula, render
from dnfscale.core.vocabulary import Attribute, Vocabulary, distinct_names

HALF = Fraction(1, 2)
MOST_ELL = 24
"""The most attributes that types are told apart by: tables over all types must fit in memory."""
MOST_LINES = 56
"""The most lines of a formula whose types are patterns of lines: a pattern fits in seven bytes."""
MOST_CONDITIONS = 500
"""The most attributes of such a formula."""
MOST_SIGNS = 16
"""The most conditions of a checklist whose types are numbers of signs."""
TYPES = ("attributes", "lines", "signs")
"""What tells the types of rows apart: the truth values of the attributes, which lines hold, or how
many conditions of a checklist do."""
MISSING = ("drop", "error", "indicator")
"""What can be done with rows that have missing values."""
UNSEEN = ("negative", "dont_care", "follow")
"""What a formula predicts for types that no row had: negative, whatever makes it shortest, or what
`shrink` predicts."""
NO_TERM = -1
_FEW_LINES = 16
"""Of up to so many lines, all patterns have a place in a table: less than two megabytes."""


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A formula over tau, and the counts of the types of the rows that it was learned from.

    A type is a truth assignment to tau: the ideal formula accepts the types with c_t / n_t >=
    threshold, a shorter one nearly these. Where tau has too many attributes for that, a type is a
    pattern of lines, bit i of which says whether line i holds, and the answer for the pattern 0 is
    the opposite of that for all others. Of a formula that is one checklist of all attributes, a
    type is how many of its conditions hold, the *signs*: s signs have the code 2**s - 1, as if the
    first s were those that hold. A missing value makes the tests of its column false, except the
    test whether it is missing. For a type that no row had, the formula alone decides.
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
    seen: tuple[SeenColumn, ...] = ()
    """What the columns of tau held in the rows learned from; nothing where that is not known."""
    about: About = NOTHING
    """What people call the model and its columns."""
    tree: Formula | None = None
    """The formula as it is to be read, if it is one of bounded size; every attribute of tau occurs
    in it. The terms of dnf are equivalent, and are used wherever a formula is taken apart."""
    types: str = "attributes"
    """What the counts are of: see TYPES."""
    answer: bool = True
    """What the formula says where a line holds. If that is no, the lines describe the other answer,
    and it says yes where none holds; such a formula has patterns of lines as types.
    """

    @property
    def formula(self) -> str:
        if self.tree is not None:
            return render(self.tree, self.tau.names)
        lines = self.dnf.render(self.tau.names)
        return lines if self.answer else f"not ({lines})"

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

    @property
    def over_types(self) -> Dnf:
        """The formula over the types that are counted; its terms stand for the same lines."""
        return formula_over(self.types, self.dnf)

    @property
    def n_types(self) -> int:
        """How many types there are."""
        return len(self.tau) + 1 if self.types == "signs" else 1 << self.counts.ell

    def accepts(self, types: Ints) -> Bools:
        """Return which types the formula accepts."""
        return np.asarray(self.over_types.accepts(types) == self.answer)

    def types_in(self, planes: Planes) -> Any:
        """Return the type of each row, given the planes of its attributes."""
        if self.types == "signs":
            return signs_type(signs_of(planes, self.dnf.terms[0]))
        return joined(planes if self.types == "attributes" else lines_of(planes, self.dnf))

    def type_of(self, code: int) -> int:
        """Return the type of a row, given the truth values of its attributes as an integer."""
        if self.types == "attributes":
            return code
        if self.types == "signs":
            [checklist] = self.dnf.terms
            return (1 << (~(code ^ checklist.value) & checklist.care).bit_count()) - 1
        return sum(1 << line for line, term in enumerate(self.dnf.terms) if term.holds(code))

    def rows_of(self, type_: int) -> tuple[int, int]:
        """Return how many of the rows learned from have a type, and how many of them a true
        target.
        """
        counts = self.counts
        place = int(np.searchsorted(counts.codes, type_))
        seen = place < len(counts.codes) and counts.codes[place] == type_
        return (int(counts.n[place]), int(counts.c[place])) if seen else (0, 0)

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

    def table(self) -> TypeTable:
        """Return what the model says of types, to be looked up for many rows."""
        ell = self.counts.ell
        if self.types == "attributes" or ell <= _FEW_LINES:
            listed, (n, c) = None, to_dense(self.counts)
            types = np.arange(1 << ell)
        else:
            listed = types = np.union1d(self.counts.codes, [0])
            n, c = np.zeros((2, len(types) + 1), dtype=np.int64)
            places = np.searchsorted(types, self.counts.codes)
            n[places], c[places] = self.counts.n, self.counts.c
            # The last place is that of all others: they are not 0, so some line holds.
            types = np.append(types, 1)
        accepted = self.accepts(types)
        probability = np.asarray(self.probability(n, c, accepted))
        return TypeTable(listed, n, c, accepted, probability, self._first_terms(types, listed))

    def _first_terms(self, types: Ints, listed: Ints | None) -> AnyInts | None:
        if listed is not None:
            return None
        first = np.full(len(types), NO_TERM, dtype=np.int32)
        for index, term in reversed(list(enumerate(self.over_types.terms))):
            first[term.accepts(types)] = index
        return first

    def unseen_answers(self) -> list[bool]:
        """Return which answers the formula has for types that no row had, «no» first."""
        codes, ell = self.counts.codes, self.counts.ell
        if self.types == "signs":
            unseen = np.setdiff1d(signs_type(np.arange(ell + 1)), codes)
            return sorted(set(self.accepts(unseen).tolist()))
        if self.types == "attributes":
            unseen = np.setdiff1d(np.arange(1 << ell), codes)
            return sorted(set(self.dnf.accepts(unseen).tolist()))
        none_held = bool((codes == 0).any())
        some_left = len(codes) - none_held < (1 << ell) - 1
        return sorted([not self.answer] * (not none_held) + [self.answer] * some_left)


def formula_over(types: str, dnf: Dnf) -> Dnf:
    """Return a formula over the types that are told apart by attributes, lines or signs; its terms
    stand for the same lines.
    """
    if types == "attributes":
        return dnf
    if types == "signs":
        [checklist] = dnf.terms
        return Dnf((replace(checklist, value=checklist.care),))
    return Dnf(tuple(Term(1 << line, 1 << line) for line in range(len(dnf.terms))))


def signs_type(signs: AnyInts) -> Ints:
    """Return the types of rows for which so many conditions of a checklist hold."""
    types: Ints = (1 << np.arange(MOST_SIGNS + 1)) - 1
    return types[signs]


def signs_held(type_: int) -> int:
    """Return how many conditions of a checklist hold for rows of a type."""
    return type_.bit_count()


def by_signs(counts: TypeCounts) -> TypeCounts:
    """Return counts by the number of signs, given those of the patterns of conditions that hold."""
    signs = np.bitwise_count(counts.codes)
    types, places = np.unique(signs_type(signs), return_inverse=True)
    n, c = np.zeros((2, len(types)), dtype=np.int64)
    np.add.at(n, places, counts.n)
    np.add.at(c, places, counts.c)
    return TypeCounts(counts.ell, types, n, c)


def formula_of(
    lines: Sequence[Sequence[tuple[Attribute, bool]]], at_least: Sequence[int | None] = ()
) -> tuple[Vocabulary, Dnf]:
    """Return the attributes of some lines, each once and in the order in which they occur, and the
    formula over them.

    A line lists the attributes that must hold, or must not; or it is a checklist of these, of which
    at_least[line] must. Those that ask the same are one, with the first of their names; names of
    different ones are made different.
    """
    numbers: dict[Attribute, int] = {}
    named: list[Attribute] = []
    terms = []
    for line, least in zip(lines, at_least or [None] * len(lines), strict=True):
        care = value = 0
        for attribute, holds in line:
            number = numbers.setdefault(replace(attribute, name=""), len(numbers))
            named += [attribute] * (number == len(named))
            if care >> number & 1 and bool(value >> number & 1) != holds:
                raise ValueError(f"a line asks for {attribute.name} and for its negation")
            care |= 1 << number
            value |= holds << number
        terms.append(Term(care, value, least))
    names = [attribute.name for attribute in named]
    distinct = distinct_names(names, names)
    tau = (replace(own, name=name) for own, name in zip(named, distinct, strict=True))
    return Vocabulary(tuple(tau)), Dnf(tuple(terms))


@dataclass(frozen=True, slots=True, eq=False)
class TypeTable:
    """What a model says of types; each has a place, perhaps with others that say the same."""

    listed: Ints | None
    """The types that have a place of their own, in increasing order; None if all have."""
    n: Ints
    c: Ints
    """n_t and c_t by place."""
    accepted: Bools
    probability: Floats
    first_terms: AnyInts | None
    """The first term that holds for each type, NO_TERM where none does; None unless all have a
    place of their own.
    """

    def places(self, types: Ints) -> Ints:
        """Return the places of some types."""
        if self.listed is None:
            return types
        places = np.searchsorted(self.listed, types)
        known = self.listed.take(places, mode="clip") == types
        return np.where(known, places, len(self.listed))

    def first(self, types: Ints) -> Any:
        """Return the index of the first term that holds for each type; NO_TERM where none does."""
        first = np.empty(len(types), dtype=np.int32)
        self.put_first(types, out=first)
        return first

    def put_first(self, types: Ints, *, out: Any) -> None:
        """Put the same into an array of 32-bit integers."""
        if self.first_terms is not None:
            self.first_terms.take(types, out=out, mode="clip")
            return
        # The number of zeros below the lowest line that holds.
        out[:] = np.bitwise_count((types & -types) - 1)
        out[types == 0] = NO_TERM


def joint_ranks(models: Sequence[Model]) -> tuple[tuple[TypeTable, Ints], ...]:
    """Return for each label's formula its table and a whole number for each place of it: a row gets
    the label of the greatest number, which is its remainder by the number of labels, counted back
    from the last.

    The numbers order the same as the probabilities that labels are compared by; in a tie the first
    label has the greater one.
    """
    tables = relative_tables(models)
    every = np.unique(np.concatenate([table.probability for table in tables]))
    return tuple(
        (
            table,
            np.searchsorted(every, table.probability) * len(tables) + (len(tables) - 1 - label),
        )
        for label, table in enumerate(tables)
    )


def unseen_ranks(table: TypeTable, ranks: Ints) -> tuple[int, int]:
    """Return the numbers of `joint_ranks` for types that no row had: where the formula says no, and
    where it says yes; -1 where there is no such type.
    """
    found = []
    for answer in (False, True):
        places = np.flatnonzero((table.n == 0) & (table.accepted == answer))
        found.append(int(ranks[places[0]]) if len(places) else -1)
    return found[0], found[1]


def relative_tables(models: Sequence[Model]) -> tuple[TypeTable, ...]:
    """Return for each of several labels' formulas the table by whose probabilities the labels are
    compared.

    A row gets the label with the greatest value, the first of several. It is the probability over
    the formula's threshold: above one exactly where the formula accepts, so that a label whose
    formula says yes goes before all that say no. Where each threshold is the share of its label,
    this is the rule of the best balanced accuracy. Thresholds that are all the same change no
    order, and the probabilities stay as they are.
    """
    tables = tuple(model.table() for model in models)
    if len({model.threshold for model in models}) == 1:
        return tables
    return tuple(
        replace(table, probability=table.probability / float(model.threshold))
        for model, table in zip(models, tables, strict=True)
    )
