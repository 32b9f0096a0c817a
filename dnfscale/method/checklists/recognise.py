"""Finds checklists among the terms of a formula.

A checklist of n literals that asks for m of them is the disjunction of all terms of m of its
literals. Terms are taken as they are written: those of one length m are the edges of a hypergraph
whose vertices are literals, and a checklist is a set of literals all of whose m-subsets are edges.
A term may belong to several checklists, for it may be said twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from dnfscale.core.formula import Dnf, Term

Literal = tuple[int, bool]
_MOST_JOINT = 10
"""Of up to so many checklists, all choices are compared; of more, the best are taken one by one."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """A formula with checklists in the place of terms."""

    dnf: Dnf
    terms: tuple[tuple[int, ...], ...]
    """For each of its lines, the places of the terms that it stands for in the formula before."""


def recognised(dnf: Dnf) -> Recognised:
    """Return a formula with as few literals as checklists in the place of its terms allow; of
    several choices the one whose checklists come first.
    """
    found = _best([(places, line) for places, line in _checklists(dnf.terms)])
    covered = {place for places, _ in found for place in places}
    lines = [*found, *(((at,), term) for at, term in enumerate(dnf.terms) if at not in covered)]
    lines.sort(key=lambda each: each[0][0])
    return Recognised(Dnf(tuple(line for _, line in lines)), tuple(places for places, _ in lines))


Found = tuple[tuple[int, ...], Term]
"""The places of some terms, and the checklist that they make."""


def _best(found: Sequence[Found]) -> list[Found]:
    """Return the checklists that save most literals together."""
    if len(found) <= _MOST_JOINT:
        choices = (
            list(chosen) for size in range(len(found) + 1) for chosen in combinations(found, size)
        )
        return max(choices, key=_saved)
    chosen: list[Found] = []
    while True:
        best = max(found, key=lambda one: _saved([*chosen, one]))
        if _saved([*chosen, best]) <= _saved(chosen):
            return chosen
        chosen.append(best)


def _saved(chosen: Iterable[Found]) -> int:
    """Return how many literals checklists save, in place of the terms that they stand for."""
    chosen = list(chosen)
    lengths = {place: line.at_least or 0 for places, line in chosen for place in places}
    return sum(lengths.values()) - sum(line.care.bit_count() for _, line in chosen)


def _checklists(terms: Sequence[Term]) -> Iterator[Found]:
    """Yield the largest checklists that terms make, those of the first terms first."""
    by_length: dict[int, dict[frozenset[Literal], int]] = {}
    for place, term in enumerate(terms):
        if term.at_least is None and len(term.literals) > 1:
            by_length.setdefault(len(term.literals), {}).setdefault(frozenset(term.literals), place)
    found = [
        (tuple(sorted(edges[frozenset(own)] for own in combinations(clique, m))), clique, m)
        for m, edges in by_length.items()
        for clique in _cliques(edges, m)
    ]
    for places, clique, m in sorted(found, key=lambda each: each[0]):
        care = sum(1 << i for i, _ in clique)
        yield places, Term(care, sum(1 << i for i, holds in clique if holds), m)


def _cliques(edges: Iterable[frozenset[Literal]], m: int) -> list[tuple[Literal, ...]]:
    """Return the largest sets of more than m literals all of whose m-subsets are edges.

    Sets of one literal more grow out of those that there are, and those that grow are not largest.
    A set with a literal and its negation is none: no row has both.
    """
    known = set(edges)
    literals = sorted({literal for edge in known for literal in edge})
    sets, largest = known, set()
    while sets:
        grown: set[frozenset[Literal]] = set()
        for own in sets:
            more = [
                own | {one}
                for one in literals
                if one not in own
                and (one[0], not one[1]) not in own
                and all(frozenset((*rest, one)) in known for rest in combinations(own, m - 1))
            ]
            grown.update(more)
            if not more and len(own) > m:
                largest.add(own)
        sets = grown
    return [tuple(sorted(own)) for own in largest]
