"""Explanations: why a row gets its answer, what would change it, and how the rows bear out each
term.

The answer depends on a row's type only, so a dataset has as many explanations as it has types.
Numbers of rows are those of the model's counts: the rows that it was learned from, each counted by
its weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dnfscale.core.formula import Dnf
from dnfscale.core.model import Model, signs_held, signs_type
from dnfscale.core.parts import ColumnName, stored_column
from dnfscale.method.deciding import deciding_literals
from dnfscale.method.ideal import correct_rows
from dnfscale.method.intervals import exact_interval, term_intervals
from dnfscale.method.literals import Line, Literal, Said, n_candidates
from dnfscale.method.minimize.possible import (
    ColumnStates,
    are_possible,
    n_possible,
    possible_types,
    row_states,
    seen_states,
    smallest_flip,
)
from dnfscale.method.words import condition, model_lines, said_texts

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """How the rows learned from bear out a term or a line."""

    n: int
    """Rows that satisfy it: its support."""
    c: int
    """Those of them with a true target."""
    n_alone: int
    """Rows that satisfy this one and no other."""
    low: float | None
    high: float | None
    """An interval for the chance that a case which satisfies it is positive; None for counts of
    weights.
    """

    @property
    def confidence(self) -> float | None:
        """The share of its rows that are positive; None without rows."""
        return self.c / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """How the rows learned from bear out a formula; lines may share rows, so their supports may
    exceed n_covered.
    """

    n_rows: int
    n_positive: int
    n_covered: int
    """Rows that some line covers."""
    n_shared: int
    """Rows that several lines cover."""
    n_correct: int
    terms: tuple[Evidence, ...]
    lines: tuple[tuple[Line, Evidence], ...]
    """As people read the formula."""
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


@dataclass(frozen=True, slots=True)
class SignsShare:
    """How many rows learned from have so many signs of a checklist, and how many of these are
    positive.
    """

    signs: int
    accepted: bool
    n: int
    c: int
    low: float | None
    high: float | None
    """An interval for the chance that a case with so many signs is positive; None for counts of
    weights.
    """


def signs_table(model: Model) -> tuple[SignsShare, ...]:
    """Return the rows learned from by the number of signs, of a model whose types these are.

    With probability at least 1 - DELTA all intervals hold together, if the checklist was fixed
    without looking at the rows.
    """
    types = signs_type(np.arange(len(model.tau) + 1)).tolist()
    counted = [model.rows_of(type_) for type_ in types]
    n, c = np.array(counted, dtype=np.int64).T
    intervals: Sequence[tuple[float | None, float | None]] = [(None, None)] * len(types)
    if not model.weighted:
        low, high = exact_interval(c, n, DELTA / len(types))
        intervals = list(zip(low.tolist(), high.tolist(), strict=True))
    return tuple(
        SignsShare(signs, answer_type(model, type_).accepted, *rows, *interval)
        for signs, (type_, rows, interval) in enumerate(zip(types, counted, intervals, strict=True))
    )


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
    terms = tuple(line for line, term in lines if term.holds(type_))
    n, c = model.rows_of(type_)
    accepted = bool(terms) == model.answer
    return Answer(type_, accepted, float(model.probability(n, c, accepted)), n, c, terms)


def explain_model(model: Model) -> ModelFacts:
    """Return how the rows learned from bear out the formula and each of its terms and lines."""
    counts, own = model.counts, model.over_types.terms
    lines, terms = model_lines(model), [Dnf((term,)) for term in own]
    of_lines = [Dnf(tuple(own[at] for at in line.terms)) for line in lines]
    checklists = any(line.at_least is not None for line in lines)
    by_line = _evidence(of_lines, model, n_candidates(model.tau, checklists=checklists))
    n_lines = sum((each.accepts(counts.codes) for each in of_lines), np.zeros(len(counts.codes)))
    covered = n_lines > 0
    possible, unseen, unseen_accepted = _unseen(model)
    return ModelFacts(
        n_rows=counts.n_rows,
        n_positive=int(counts.c.sum()),
        n_covered=int(counts.n[covered].sum()),
        n_shared=int(counts.n[n_lines > 1].sum()),
        n_correct=correct_rows(np.asarray(covered == model.answer), counts),
        terms=_evidence(terms, model, 3 ** len(model.tau)),
        lines=tuple(zip(lines, by_line, strict=True)),
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


def _evidence(parts: Sequence[Dnf], model: Model, candidates: int) -> tuple[Evidence, ...]:
    """Return how the rows bear out some parts of a formula, which were chosen among candidates."""
    counts = model.counts
    held = [part.accepts(counts.codes) for part in parts]
    once = sum(held, np.zeros(len(counts.codes))) == 1
    supports = [(int(counts.n[own].sum()), int(counts.c[own].sum())) for own in held]
    intervals: Sequence[tuple[float | None, float | None]] = [(None, None)] * len(supports)
    if not model.weighted:
        intervals = term_intervals(supports, delta=DELTA, candidates=candidates)
    return tuple(
        Evidence(n=n, c=c, n_alone=int(counts.n[own & once].sum()), low=low, high=high)
        for own, (n, c), (low, high) in zip(held, supports, intervals, strict=True)
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
    line_of = {at: line for line in model_lines(model) for at in line.terms}
    return {
        **answer_to_record(model, answer_type(model, model.type_of(explanation.code))),
        "clashes": [
            {"term": index, **_literal_record(model, literal, line_of[index])}
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
            "type": _type(model, model.type_of(flip.code)),
            "n": flip.n,
            "c": flip.c,
        },
        "flip_status": "proven" if explanation.proven else "bounded",
    }


def answer_to_record(model: Model, answer: Answer) -> dict[str, Any]:
    """Return what the formula says of a type as plain JSON."""
    return {
        "type": _type(model, answer.type_),
        "accepted": answer.accepted,
        "probability": answer.probability,
        "n": answer.n,
        "c": answer.c,
        "terms": list(answer.terms),
    }


def model_to_record(model: Model, facts: ModelFacts) -> dict[str, Any]:
    """Return the facts about a formula as plain JSON: of its terms, as the model file has them, and
    of its lines, as people read them.
    """
    line_of = {at: line for line, _ in facts.lines for at in line.terms}
    return {
        "rows": facts.n_rows,
        "positive_rows": facts.n_positive,
        "accepted_rows": facts.n_covered if model.answer else facts.n_rows - facts.n_covered,
        "shared_rows": facts.n_shared,
        "correct_rows": facts.n_correct,
        "accuracy": facts.n_correct / facts.n_rows if facts.n_rows else None,
        "terms": [
            {
                "literals": [_literal_record(model, each, line_of[at]) for each in term.literals],
                **_evidence_record(evidence),
            }
            for at, (term, evidence) in enumerate(zip(model.dnf.terms, facts.terms, strict=True))
        ],
        "lines": [
            {
                "terms": list(line.terms),
                **({} if line.at_least is None else {"at_least": line.at_least}),
                "conditions": said_texts(line.literals),
                **_evidence_record(evidence),
            }
            for line, evidence in facts.lines
        ],
        **(
            {"signs": [asdict(each) for each in signs_table(model)]}
            if model.types == "signs"
            else {}
        ),
        "seen_types": facts.n_seen,
        "possible_types": facts.n_possible,
        "unseen_types": facts.n_unseen,
        "unseen_types_accepted": facts.n_unseen_accepted,
    }


def _evidence_record(evidence: Evidence) -> dict[str, Any]:
    names = ("n", "c", "n_alone", "confidence", "low", "high")
    return {name: getattr(evidence, name) for name in names}


def _explain(model: Model, code: int, columns: Sequence[ColumnStates]) -> Explanation:
    if not 0 <= code < 1 << len(model.tau):
        raise ValueError(
            f"a type over {len(model.tau)} attributes is at least 0 and below {1 << len(model.tau)}"
        )
    clashes = tuple(
        None
        if term.holds(code)
        else next((i, holds) for i, holds in term.literals if bool(code >> i & 1) != holds)
        for term in model.dnf.terms
    )
    terms = tuple(index for index, clash in enumerate(clashes) if clash is None)
    n, c = model.rows_of(model.type_of(code))
    after, proven = smallest_flip(model.dnf.multiplied_out(), columns, code)
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


def _type(model: Model, type_: int) -> list[bool] | int:
    """Return a type as model files have it: truth values, or a number of signs."""
    if model.types == "signs":
        return signs_held(type_)
    return [bool(type_ >> i & 1) for i in range(model.counts.ell)]


def _literal_record(model: Model, literal: Literal, line: Line | None = None) -> dict[str, Any]:
    """Return a literal with its condition: what the line that it is in says about its column, if
    that is given.
    """
    index, holds = literal
    attribute = model.tau.attributes[index]
    own: list[Said] = []
    if line is not None and line.at_least is None:
        own = [said for said in line.literals if said.column == attribute.column]
    words = " and ".join(said_texts(own)) or condition(attribute, holds)
    return {"attribute": index, "value": holds, "condition": words}
