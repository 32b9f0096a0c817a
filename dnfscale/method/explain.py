"""Explanations: why a row gets its answer, what would change it, and how the rows bear out each
term.

The answer depends on a row's type only, so a dataset has as many explanations as it has types.
Numbers of rows are those of the model's counts: the rows that it was learned from, each counted by
its weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dnfscale.core.model import Model
from dnfscale.core.parts import ColumnName, stored_column
from dnfscale.method.deciding import deciding_literals
from dnfscale.method.ideal import correct_rows
from dnfscale.method.intervals import term_intervals, term_supports
from dnfscale.method.minimize.possible import (
    ColumnStates,
    are_possible,
    n_possible,
    possible_types,
    row_states,
    seen_states,
    smallest_flip,
)
from dnfscale.method.words import Literal, condition

DELTA = 0.05
"""The chance that any interval of a model's terms misses."""


@dataclass(frozen=True, slots=True)
class Flip:
    """The smallest change that flips the answer: the fewest attributes, then fewest columns, then
    the best ranked.
    """

    code: int
    """The type afterwards."""
    literals: tuple[Literal, ...]
    """The attributes that change, as they are afterwards, in rank order."""
    n: int
    """Rows learned from that have the type afterwards."""
    c: int
    """Those of them with a true target."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a formula says of the rows of a type."""

    type_: int
    accepted: bool
    probability: float
    """(c_t + 1) / (n_t + 2) in units of the model, kept on the answer's side of the threshold."""
    n: int
    """n_t: rows learned from that have the type."""
    c: int
    """c_t: those of them with a true target."""
    terms: tuple[int, ...]
    """The terms that hold."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why the rows of a type get their answer, and what would change it."""

    code: int
    """The truth values of the row's attributes: the type t, where types are told apart by them."""
    accepted: bool
    probability: float
    """(c_t + 1) / (n_t + 2) in units of the model, kept on the answer's side of the threshold."""
    n: int
    """n_t: rows learned from that have the type."""
    c: int
    """c_t: those of them with a true target."""
    terms: tuple[int, ...]
    """The terms that hold."""
    clashes: tuple[Literal | None, ...]
    """For each term the first of its literals, in rank order, that does not hold; None for a term
    that holds.
    """
    flip: Flip | None
    """None where every possible type gets the same answer."""
    proven: bool
    """Whether the change is proven to be the smallest, or that there is none; else the search was
    ended before.
    """
    because: tuple[Literal, ...] | None = None
    """For a tree: the fewest of the type's literals that settle the answer, whatever the others
    are.
    """


@dataclass(frozen=True, slots=True)
class TermFacts:
    """How the rows learned from bear out a term."""

    literals: tuple[Literal, ...]
    n: int
    """Rows that satisfy the term: its support."""
    c: int
    """Those of them with a true target."""
    n_alone: int
    """Rows that satisfy this term and no other."""
    low: float | None
    high: float | None
    """An interval for the chance that a case which satisfies the term is positive; None for counts
    of weights.
    """

    @property
    def confidence(self) -> float | None:
        """The share of the term's rows that are positive; None without rows."""
        return self.c / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """How the rows learned from bear out a formula; terms may share rows, so their supports may
    exceed n_covered.
    """

    n_rows: int
    n_positive: int
    n_covered: int
    """Rows that some term covers."""
    n_shared: int
    """Rows that several terms cover."""
    n_correct: int
    terms: tuple[TermFacts, ...]
    n_seen: int
    """Types that rows learned from have."""
    n_possible: int | None
    """Types that a row can have, given the states in which each column was seen; a date is taken
    with its parts. None where types are patterns of lines.
    """
    n_unseen: int | None
    """Those of them that no row learned from has."""
    n_unseen_accepted: int | None
    """Unseen types that the formula accepts all the same."""


def explain_type(model: Model, code: int) -> Explanation:
    """Explain the answer for the rows of one type."""
    return explain_types(model, [code])[code]


def explain_types(model: Model, codes: Iterable[int]) -> dict[int, Explanation]:
    """Explain the answers for the rows of some types, each once."""
    columns = (
        seen_states(model.tau, model.counts)
        if model.types == "attributes"
        else row_states(model.tau, unasked=False)
    )
    return {code: _explain(model, code, columns) for code in dict.fromkeys(codes)}


def answer_type(model: Model, type_: int) -> Answer:
    """Return what the formula says of the rows of a type."""
    lines = enumerate(model.over_types.terms)
    terms = tuple(line for line, term in lines if type_ & term.care == term.value)
    n, c = model.rows_of(type_)
    accepted = bool(terms) == model.answer
    return Answer(type_, accepted, float(model.probability(n, c, accepted)), n, c, terms)


def explain_model(model: Model) -> ModelFacts:
    """Return how the rows learned from bear out the formula and each of its terms."""
    counts, lines = model.counts, model.over_types
    held = [line.accepts(counts.codes) for line in lines.terms]
    n_terms = sum((own.astype(np.int64) for own in held), start=np.zeros_like(counts.codes))
    covered = n_terms > 0
    supports = term_supports(lines, counts)
    intervals: Sequence[tuple[float | None, float | None]] = [(None, None)] * len(supports)
    if not model.weighted:
        intervals = term_intervals(supports, delta=DELTA, candidates=3 ** len(model.tau))
    terms = tuple(
        TermFacts(
            term.literals,
            n,
            c,
            int(counts.n[own & (n_terms == 1)].sum()),
            low,
            high,
        )
        for term, own, (n, c), (low, high) in zip(
            model.dnf.terms, held, supports, intervals, strict=True
        )
    )
    possible, unseen, unseen_accepted = _unseen(model)
    return ModelFacts(
        n_rows=counts.n_rows,
        n_positive=int(counts.c.sum()),
        n_covered=int(counts.n[covered].sum()),
        n_shared=int(counts.n[n_terms > 1].sum()),
        n_correct=correct_rows(np.asarray(covered == model.answer), counts),
        terms=terms,
        n_seen=int(np.count_nonzero(counts.n)),
        n_possible=possible,
        n_unseen=unseen,
        n_unseen_accepted=unseen_accepted,
    )


def _unseen(model: Model) -> tuple[int, int, int] | tuple[None, None, None]:
    """Return how many types are possible, how many of them no row has, and how many of these the
    formula accepts.
    """
    if model.types != "attributes":
        return None, None, None
    counts, columns = model.counts, seen_states(model.tau, model.counts)
    seen = are_possible(counts.codes, columns) & (counts.n > 0)
    n_accepted = sum(int(model.dnf.accepts(codes).sum()) for codes in possible_types(columns))
    n_seen_accepted = int((seen & model.dnf.accepts(counts.codes)).sum())
    return (
        n_possible(columns),
        n_possible(columns) - int(seen.sum()),
        n_accepted - n_seen_accepted,
    )


def moved_columns(model: Model, flip: Flip) -> tuple[ColumnName, ...]:
    """Return the columns that a change affects, in rank order; of a date all parts, even those that
    stay the same.

    Their values are part of the change: another date on the same side of a cut may lie in another
    month.
    """
    columns = dict.fromkeys(attribute.column for attribute in model.tau.attributes)
    moved = {stored_column(model.tau.attributes[i].column) for i, _ in flip.literals}
    return tuple(column for column in columns if stored_column(column) in moved)


def to_record(model: Model, explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as plain JSON; attributes and terms are given by their place in the
    model file.
    """
    flip = explanation.flip
    return {
        **answer_to_record(model, answer_type(model, model.type_of(explanation.code))),
        "clashes": [
            {"term": index, **_literal_record(model, literal)}
            for index, literal in enumerate(explanation.clashes)
            if literal is not None
        ],
        **(
            {}
            if explanation.because is None
            else {"because": [_literal_record(model, literal) for literal in explanation.because]}
        ),
        "flip": None
        if flip is None
        else {
            "changes": [_literal_record(model, literal) for literal in flip.literals],
            "type": _truth(model.type_of(flip.code), model.counts.ell),
            "n": flip.n,
            "c": flip.c,
        },
        "flip_status": "proven" if explanation.proven else "bounded",
    }


def answer_to_record(model: Model, answer: Answer) -> dict[str, Any]:
    """Return what the formula says of a type as plain JSON."""
    return {
        "type": _truth(answer.type_, model.counts.ell),
        "accepted": answer.accepted,
        "probability": answer.probability,
        "n": answer.n,
        "c": answer.c,
        "terms": list(answer.terms),
    }


def model_to_record(model: Model, facts: ModelFacts) -> dict[str, Any]:
    """Return the facts about a formula as plain JSON."""
    return {
        "rows": facts.n_rows,
        "positive_rows": facts.n_positive,
        "accepted_rows": facts.n_covered if model.answer else facts.n_rows - facts.n_covered,
        "shared_rows": facts.n_shared,
        "correct_rows": facts.n_correct,
        "accuracy": facts.n_correct / facts.n_rows if facts.n_rows else None,
        "terms": [
            {
                "literals": [_literal_record(model, literal) for literal in term.literals],
                "n": term.n,
                "c": term.c,
                "n_alone": term.n_alone,
                "confidence": term.confidence,
                "low": term.low,
                "high": term.high,
            }
            for term in facts.terms
        ],
        "seen_types": facts.n_seen,
        "possible_types": facts.n_possible,
        "unseen_types": facts.n_unseen,
        "unseen_types_accepted": facts.n_unseen_accepted,
    }


def _explain(model: Model, code: int, columns: Sequence[ColumnStates]) -> Explanation:
    if not 0 <= code < 1 << len(model.tau):
        raise ValueError(
            f"a type over {len(model.tau)} attributes is at least 0 and below {1 << len(model.tau)}"
        )
    clashes = tuple(
        next(((i, holds) for i, holds in term.literals if bool(code >> i & 1) != holds), None)
        for term in model.dnf.terms
    )
    terms = tuple(index for index, clash in enumerate(clashes) if clash is None)
    n, c = model.rows_of(model.type_of(code))
    after, proven = smallest_flip(model.dnf, columns, code)
    flip = None
    if after is not None:
        changed = code ^ after
        literals = tuple(
            (i, bool(after >> i & 1)) for i in range(len(model.tau)) if changed >> i & 1
        )
        flip = Flip(after, literals, *model.rows_of(model.type_of(after)))
    because = None if model.tree is None else deciding_literals(model.dnf, len(model.tau), code)
    return Explanation(
        code,
        bool(terms) == model.answer,
        float(model.probability(n, c, bool(terms) == model.answer)),
        n,
        c,
        terms,
        clashes,
        flip,
        proven,
        because,
    )


def _truth(code: int, ell: int) -> list[bool]:
    return [bool(code >> i & 1) for i in range(ell)]


def _literal_record(model: Model, literal: Literal) -> dict[str, Any]:
    index, holds = literal
    return {
        "attribute": index,
        "value": holds,
        "condition": condition(model.tau.attributes[index], holds),
    }
