"""The shortest formula in disjunctive normal form: fewest literals, then fewest terms.

A cube, a partial assignment to the attributes, is a point of the lattice {0, 1, *}^ell. The largest
cubes of types that the formula may accept are the prime implicants, and a shortest formula is a
cheapest choice of primes that covers every type it must accept. Of several shortest formulas, the
one whose terms come first is taken, unless the covering problem is large: then HiGHS solves it and
chooses.

The search of HiGHS is bounded by a number of nodes, so that the answer does not depend on the
machine's speed; the time limit is a last resort. When either stops it, the best cover so far is
returned with the gap that is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints
from dnfscale.core.formula import Dnf, Term, of_types
from dnfscale.method.minimize.covering import cheapest_cover
from dnfscale.method.minimize.lattice import maximal_cubes

_LATTICE_ELL = 13
"""The most attributes for which all 3**ell cubes are searched: 3**13 are 1.6 million bytes. Above,
primes are grown one by one."""


class Status(StrEnum):
    """What is known about a formula's length."""

    PROVEN = "proven"
    """No equivalent formula has fewer literals, nor as many literals and fewer terms."""
    BOUNDED = "bounded"
    """The search was stopped; a shorter formula may have fewer literals, at most by the gap."""
    HEURISTIC = "heuristic"
    """No term or literal can be left out, but nothing else is known."""
    SIMPLIFIED = "simplified"
    """Simplified by SymPy, which does not tell how far it is from the shortest."""
    AS_IS = "as_is"
    """The accepted types themselves, without a search for a shorter formula."""


@dataclass(frozen=True, slots=True)
class Minimized:
    """A formula and what is known about its length."""

    dnf: Dnf
    status: Status
    gap_literals: int | None = 0
    """How many literals fewer the shortest formula might have; None if that is not known."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What a formula over ell attributes has to answer: the types it must accept, and those it may
    accept or not.
    """

    ell: int
    required: tuple[int, ...]
    free: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to search for the shortest formula."""

    nodes: int = 200
    """Real tables of ten attributes need one node; a random one of twelve spends half a minute on
    two hundred.
    """
    seconds: float = 600.0


EFFORT = Effort()


def minimize(truth: Truth, effort: Effort = EFFORT) -> Minimized:
    """Return the formula with the fewest literals, then terms, that agrees with truth."""
    required, allowed = _tables(truth)
    if not required.any():
        return Minimized(Dnf(()), Status.PROVEN)
    if allowed.all():
        return Minimized(Dnf((Term(0, 0),)), Status.PROVEN)
    if truth.ell > _LATTICE_ELL:
        return Minimized(grow_cover(truth), Status.HEURISTIC, None)
    return _cover(truth, *maximal_cubes(required, allowed), effort)


def as_types(truth: Truth) -> Minimized:
    """Return the disjunction of the accepted types themselves."""
    return Minimized(
        of_types(np.array(truth.required, dtype=np.int64), truth.ell), Status.AS_IS, None
    )


def grow_cover(truth: Truth) -> Dnf:
    """Return a cover from which no term and no literal can be left out; it need not be the
    shortest.
    """
    required, allowed = _tables(truth)
    codes = np.arange(1 << truth.ell, dtype=np.int64)
    open_types = required.copy()
    terms: list[Term] = []
    while open_types.any():
        term = Term((1 << truth.ell) - 1, int(np.argmax(open_types)))
        for bit in range(truth.ell):
            wider = Term(term.care & ~(1 << bit), term.value & ~(1 << bit))
            if allowed[wider.accepts(codes)].all():
                term = wider
        terms.append(term)
        open_types &= ~term.accepts(codes)
    return Dnf(tuple(sorted(_irredundant(terms, codes[required]), key=_reading_order)))


def _cover(truth: Truth, cares: Codes, values: Codes, effort: Effort) -> Minimized:
    """Choose primes that cover all required types at the least cost."""
    types = np.array(truth.required, dtype=np.int64)
    covers = (types.astype(cares.dtype) & cares[:, None]) == values[:, None]
    # A cover of L literals and T terms costs scale * L + T with T < scale.
    scale = len(types) + 1
    costs = scale * np.bitwise_count(cares).astype(np.int64) + 1
    chosen = cheapest_cover(_as_integers(covers), costs.tolist())
    if chosen is not None:
        return Minimized(Dnf(tuple(_terms(cares[chosen], values[chosen]))), Status.PROVEN)
    answer = _solve(covers, costs, effort)
    if answer.x is None:
        return Minimized(grow_cover(truth), Status.HEURISTIC, None)
    taken = answer.x > 0.5
    dnf = Dnf(tuple(_irredundant(_terms(cares[taken], values[taken]), types)))
    if answer.status == 0:
        return Minimized(dnf, Status.PROVEN)
    # A cost of at least D needs D // scale literals.
    least_cost = np.ceil(answer.mip_dual_bound - 1e-4) if np.isfinite(answer.mip_dual_bound) else 0
    return Minimized(dnf, Status.BOUNDED, max(0, dnf.n_literals - int(least_cost // scale)))


def _solve(covers: Bools, costs: Ints, effort: Effort) -> Any:
    """Return the result of HiGHS for a covering problem."""
    # SciPy's optimizers take 0.4 s to import, and hardly any real table needs them.
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    return milp(
        costs,
        integrality=np.ones(len(costs)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(csr_array(covers.T.astype(np.float64)), lb=1),
        options={"node_limit": effort.nodes, "time_limit": effort.seconds, "mip_rel_gap": 0.0},
    )


def _as_integers(covers: Bools) -> list[int]:
    """Return each row of a table as an integer whose bit i is set for column i."""
    packed = np.packbits(covers, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def _terms(cares: Codes, values: Codes) -> list[Term]:
    return [Term(care, value) for care, value in zip(cares.tolist(), values.tolist(), strict=True)]


def _irredundant(terms: Sequence[Term], types: Ints) -> list[Term]:
    """Leave out terms, longest first, that the others cover."""
    kept = sorted(terms, key=_reading_order)
    covered = np.sum([term.accepts(types) for term in kept], axis=0)
    for term in reversed(kept.copy()):
        accepted = term.accepts(types)
        if (covered[accepted] > 1).all():
            kept.remove(term)
            covered = covered - accepted
    return kept


def _reading_order(term: Term) -> tuple[int, Term]:
    """Return a sort key: short terms come first, then terms by the rank of their attributes."""
    return term.care.bit_count(), term


def _tables(truth: Truth) -> tuple[Bools, Bools]:
    required = np.zeros(1 << truth.ell, dtype=np.bool_)
    required[list(truth.required)] = True
    allowed = required.copy()
    allowed[list(truth.free)] = True
    return required, allowed
