"""The best formula of every length over a counted table: from what each type costs, without rows.

The types of tau are rows of a small sample, weighted by what a wrong answer costs, and attributes
of one column are codes of that column: so the search of terms finds a formula for every length,
with conditions counted as people read them, and types that no row can have do not occur. How good
these are is bounded by a linear program over all terms: a term is taken or not, the literals taken
are at most L, a type that is better refused is accepted if any of its terms is taken, and one that
is better accepted only if one is. HiGHS solves it by branch and bound within a number of nodes;
what it finds replaces a formula that is worse. Where terms are too many, the ideal answer of each
type is the bound.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from dnfscale.core.arrays import Bools, Floats, Ints
from dnfscale.method.minimize.minimal import Status
from dnfscale.method.terms.beam import Beam
from dnfscale.method.terms.codes import CodeFormula, CodeTerm, Condition, Sample, above
from dnfscale.method.terms.search import Effort, Found, frontier

_MOST_TERMS = 2_000
_MOST_ENTRIES = 60_000
"""Larger programs are not tried: for seven attributes HiGHS takes seconds for each length."""
_NODES = 200


@dataclass(frozen=True, slots=True)
class Shortened:
    """A formula, and how much better one of its length could be."""

    formula: CodeFormula
    cost: int
    bound: int
    """No formula of as many literals costs less."""
    status: Status

    @property
    def gap(self) -> int:
        """What the best formula of as many literals costs less, at most."""
        return self.cost - self.bound


def shortened(
    types: Sample,
    *,
    max_literals: int,
    max_terms: int | None = None,
    proven: Collection[int] | None = None,
    nodes: int = _NODES,
) -> tuple[Shortened, ...]:
    """Return the best formulas found, each longer than the one before and better; the first has no
    literal.

    The rows of the sample are the types that occur, with what either answer costs for each.
    `proven` are the lengths for which a proof is tried, by default all. On tables like real ones
    HiGHS proves a length in some 20 ms for five attributes, and in a third of a second for six.
    """
    effort = Effort(
        max_literals,
        max_terms,
        margin=0.0,
        expansions=60,
        rebuilt=0,
        max_values=1,
        beam=Beam(width=2, longest=min(4, max(1, len(types.columns)))),
    )
    found = {one.n_literals: one for one in frontier(types, effort)}
    ideal = int(np.minimum(types.positive, types.negative).sum())
    program = _program(types, max_literals) if proven is None or proven else None
    kept: list[Shortened] = []
    best = found[0]
    for length in range(max_literals + 1):
        best = min(found.get(length, best), best, key=lambda one: one.cost)
        bound, status = ideal, Status.PROVEN if best.cost == ideal else Status.HEURISTIC
        if program is not None and best.cost > ideal and (proven is None or length in proven):
            best, bound = program.improved(best, length, max_terms, nodes)
            status = Status.PROVEN if best.cost == bound else Status.BOUNDED
        if not kept or best.cost < kept[-1].cost:
            kept.append(Shortened(best.formula, best.cost, bound, status))
        if best.cost == ideal:
            break
    return tuple(kept)


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """The terms that can matter, and the types that each accepts."""

    terms: tuple[CodeTerm, ...]
    accepts: Bools
    """accepts[term, type]."""
    types: Sample

    def improved(
        self, best: Found, length: int, max_terms: int | None, nodes: int
    ) -> tuple[Found, int]:
        """Return the best formula of at most so many literals that is known, and the least that one
        can cost."""
        solved = self._solve(length, max_terms, nodes)
        total = int(self.types.positive.sum())
        # The program minimizes what is gained, negated; whole numbers let a bound be rounded up.
        bound = (
            total + int(np.ceil(solved.mip_dual_bound - 1e-6))
            if solved.mip_dual_bound is not None
            else 0
        )
        if solved.x is not None:
            taken = np.flatnonzero(np.rint(solved.x[: len(self.terms)]))
            formula = CodeFormula(tuple(self.terms[i] for i in taken))
            cost = self.types.cost(formula)
            if cost < best.cost:
                best = Found(formula, cost)
        return best, min(
            max(bound, int(np.minimum(self.types.positive, self.types.negative).sum())), best.cost
        )

    def _solve(self, length: int, max_terms: int | None, nodes: int) -> Any:
        from scipy.optimize import Bounds, LinearConstraint, milp

        n_terms = len(self.terms)
        matrix, least = _constraints(self.accepts, self.types.positive - self.types.negative)
        lengths = np.array([len(term) for term in self.terms])
        n_types = self.accepts.shape[1]
        budgets = [np.concatenate([lengths, np.zeros(n_types)])]
        most = [float(length)]
        if max_terms is not None:
            budgets.append(np.concatenate([np.ones(n_terms), np.zeros(n_types)]))
            most.append(float(max_terms))
        gains = (self.types.positive - self.types.negative).astype(np.float64)
        return milp(
            np.concatenate([np.zeros(n_terms), -gains]),
            integrality=np.concatenate([np.ones(n_terms), np.zeros(n_types)]),
            bounds=Bounds(0, 1),
            constraints=[
                LinearConstraint(matrix, lb=least),
                LinearConstraint(np.array(budgets), ub=most),
            ],
            options={"node_limit": nodes, "mip_rel_gap": 0.0},
        )


def _constraints(accepts: Bools, gains: Ints) -> tuple[Any, Floats]:
    """Return the rows A x >= b that tie the types to the terms."""
    from scipy.sparse import coo_array

    n_terms, n_types = accepts.shape
    rows, columns, factors = [], [], []
    number = 0
    for t in range(n_types):
        own = np.flatnonzero(accepts[:, t])
        if gains[t] > 0:
            # It is accepted at most as much as terms are taken that accept it.
            rows += [number] * (len(own) + 1)
            columns += [*own.tolist(), n_terms + t]
            factors += [1] * len(own) + [-1]
            number += 1
        elif gains[t] < 0:
            for term in own.tolist():
                rows += [number, number]
                columns += [n_terms + t, term]
                factors += [1, -1]
                number += 1
    return coo_array(
        (factors, (rows, columns)), shape=(number, n_terms + n_types)
    ).tocsr(), np.zeros(number)


def _program(types: Sample, max_literals: int) -> _Program | None:
    """Return the program over all terms; None if they are too many."""
    choices = [list(_choices(types, number)) for number in range(len(types.columns))]
    if np.prod([float(len(own)) for own in choices]) > _MOST_TERMS:
        return None
    gains = types.positive - types.negative
    shortest: dict[bytes, tuple[CodeTerm, Bools]] = {}
    for chosen in product(*choices):
        term = tuple(condition for own in chosen for condition in own)
        accepted = CodeFormula((term,)).accepts(types.codes, types.n_rows)
        if len(term) > max_literals or not (gains[accepted] > 0).any():
            continue
        key = accepted.tobytes()
        if key not in shortest or len(term) < len(shortest[key][0]):
            shortest[key] = (term, accepted)
    accepts = np.array([accepted for _, accepted in shortest.values()]).reshape(
        len(shortest), types.n_rows
    )
    if int(accepts.sum()) > _MOST_ENTRIES or not len(accepts):
        return None
    return _Program(tuple(term for term, _ in shortest.values()), accepts, types)


def _choices(types: Sample, number: int) -> Iterator[tuple[Condition, ...]]:
    """Yield what a term can say about a column: nothing, or one condition."""
    column = types.columns[number]
    yield ()
    said: list[Condition] = []
    if column.ordered:
        said += [above(number, cut, column.size) for cut in range(column.size - 1)]
        said += [
            Condition(number, ((first, last),))
            for first in range(1, column.size - 1)
            for last in range(first, column.size - 1)
        ]
    else:
        said += [Condition(number, ((value, value),)) for value in range(column.size)]
    if column.missing:
        said.append(Condition(number, ((column.missing_code, column.missing_code),)))
    for condition in said:
        yield (condition,)
        yield (replace(condition, holds=False),)
