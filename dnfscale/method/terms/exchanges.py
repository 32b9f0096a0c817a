"""Ways to change one literal or one term of a formula, all of them from one count of its rows.

With the other terms fixed, only rows that none of them accepts depend on a term. Of these, the rows
of the term itself and those that miss it by one literal are all that matters when a literal is
replaced, added or left out: a row that misses it by two stays outside. So each row is in one group
of each term: it satisfies the term, or misses it by literal i alone. Histograms of these groups
add, over any parts of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core.arrays import Ints
from dnfscale.method.terms.bits import Words, pack, rows_of
from dnfscale.method.terms.codes import ByColumn, CodeFormula, CodeTerm, Condition
from dnfscale.method.terms.conditions import Finder
from dnfscale.method.terms.histograms import CountedRows, Layout

Truth = Callable[[Condition], Words]
"""Which rows satisfy a condition."""


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """The rows on which the terms of a formula depend, by group."""

    groups: tuple[Ints, ...]
    free: tuple[Words, ...]
    """For each term, the rows that no other accepts."""
    uncovered: Words
    """The rows that no term accepts."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A change of a formula, and what it gains."""

    gain: int
    terms: tuple[CodeTerm, ...]


def near_rows(terms: Sequence[CodeTerm], n_rows: int, truth: Truth) -> Near:
    """Return for each term the rows that no other accepts and that miss at most one of its
    literals.

    The groups of a term with k literals are 1 + k: rows that satisfy it, and those that miss its
    first, second, ... literal alone.
    """
    everything = pack(np.ones(n_rows, dtype=np.bool_))
    once = np.zeros_like(everything)
    twice = np.zeros_like(everything)
    owns, misses = [], []
    for term in terms:
        missed = np.zeros_like(everything)
        missed_more = np.zeros_like(everything)
        fails = [everything & ~truth(condition) for condition in term]
        for failed in fails:
            missed_more |= missed & failed
            missed |= failed
        own = everything & ~missed
        twice |= once & own
        once |= own
        owns.append(own)
        misses.append([failed & ~missed_more for failed in fails])
    groups, free = [], []
    for own, by_literal in zip(owns, misses, strict=True):
        free.append(everything & ~(twice | once & ~own))
        groups += [rows_of(free[-1] & group) for group in (own, *by_literal)]
    return Near(tuple(groups), tuple(free), everything & ~once)


def group_starts(terms: Sequence[CodeTerm]) -> list[int]:
    """Return the first group of each term."""
    return [sum(1 + len(term) for term in terms[:j]) for j in range(len(terms))]


def exchanges(terms: Sequence[CodeTerm], gains: Ints, finder: Finder) -> Iterator[Exchange]:
    """Yield the best exchanges: without each term, without each literal, with each replaced, and
    with one more.

    gains[group, bin] is what a «yes» gains for the rows of each group of `near_rows`, by code.
    """
    n_own = int(finder.layout.starts[1])
    totals = gains[:, :n_own].sum(axis=1)
    wanted: list[tuple[int, CodeTerm, int]] = []
    tables: list[Ints] = []
    for j, (base, term) in enumerate(zip(group_starts(terms), terms, strict=True)):
        others = (*terms[:j], *terms[j + 1 :])
        own = int(totals[base])
        yield Exchange(-own, others)
        wanted.append((j, term, own))
        tables.append(gains[base])
        for i in range(len(term)):
            rest = (*term[:i], *term[i + 1 :])
            if rest:
                yield Exchange(int(totals[base + 1 + i]), (*terms[:j], rest, *terms[j + 1 :]))
            wanted.append((j, rest, own))
            tables.append(gains[base] + gains[base + 1 + i])
    if not wanted:
        return
    sums = finder.arrange(np.array(tables))
    scores = finder.scores(sums)
    banned = finder.banned([rest for _, rest, _ in wanted])
    scores[banned] = np.iinfo(np.int64).min // 2
    best = scores.argmax(axis=1).tolist()
    for group, ((j, rest, own), slot) in enumerate(zip(wanted, best, strict=True)):
        condition = finder.condition(sums, group, slot)
        if condition is not None and not banned[group, slot]:
            term = (*rest, condition)
            yield Exchange(int(scores[group, slot]) - own, (*terms[:j], term, *terms[j + 1 :]))


def exchange_gains(
    layout: Layout, codes: ByColumn, gains: Ints, formulas: Sequence[CodeFormula]
) -> tuple[Ints, ...]:
    """Return for each formula what a «yes» gains by group and code, in some of the rows; parts add.

    A formula that is complemented is learned with the gains reversed.
    """
    rows = CountedRows(layout, codes, gains)
    known: dict[Condition, Words] = {}

    def truth(condition: Condition) -> Words:
        if condition not in known:
            known[condition] = pack(condition.accepts(codes[condition.column]))
        return known[condition]

    found = []
    for formula in formulas:
        near = near_rows(formula.terms, len(gains), truth)
        counts = rows.histograms(near.groups)
        own = counts[:, 0] - counts[:, 1]
        found.append(-own if formula.complemented else own)
    return tuple(found)


def polished(formula: CodeFormula, gains: Ints, finder: Finder) -> tuple[CodeFormula, int]:
    """Return the formula after its best exchange that makes it no longer, and what that gains;
    itself if none does."""
    best = Exchange(0, formula.terms)
    for found in exchanges(formula.terms, gains, finder):
        if sum(map(len, found.terms)) <= formula.n_literals and found.gain > best.gain:
            best = found
    return CodeFormula(best.terms, formula.complemented), best.gain
