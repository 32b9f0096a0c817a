"""The shortest formula in disjunctive normal form: fewest literals, then fewest terms.

A cube, a partial assignment to the attributes, is a point of the lattice {0, 1, *}^ell. One NumPy array over the
lattice says which cubes contain only types that the formula may accept; the maximal ones are the prime implicants, and
a shortest formula is a cheapest choice of primes that covers every type it must accept: a covering problem for HiGHS.

The search is bounded by a number of nodes, so that the answer does not depend on the machine's speed; the time limit
is a last resort. When either stops it, the best cover so far is returned with the gap that is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dnfscale.core.arrays import Bools, Ints
from dnfscale.core.formula import Dnf, Term, of_types

_LATTICE_ELL = 13
"""3**13 cubes are 1.6 million bytes; above, primes are grown one by one."""


class Status(StrEnum):
    """What is known of a formula's length."""

    PROVEN = "proven"
    """No equivalent formula has fewer literals, nor as many literals and fewer terms."""
    BOUNDED = "bounded"
    """The search was stopped; the gap says how many literals fewer it might have."""
    HEURISTIC = "heuristic"
    """No term or literal can be left out, but nothing else is known."""
    AS_IS = "as_is"
    """Written as it came, without a search for a shorter one."""


@dataclass(frozen=True, slots=True)
class Minimized:
    """A formula and what is known of its length."""

    dnf: Dnf
    status: Status
    gap_literals: int = 0


@dataclass(frozen=True, slots=True)
class Truth:
    """What a formula over ell attributes has to say: the types to accept, and those it may answer as it likes."""

    ell: int
    required: tuple[int, ...]
    free: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to search for the shortest formula."""

    nodes: int = 200
    """Real tables of ten attributes need one node; a random one of twelve spends half a minute on two hundred."""
    seconds: float = 600.0


def minimize(truth: Truth, effort: Effort = Effort()) -> Minimized:  # noqa: B008 (a frozen value)
    """Return the formula with the fewest literals, then terms, that agrees with truth."""
    required, allowed = _tables(truth)
    if not required.any():
        return Minimized(Dnf(()), Status.PROVEN)
    if allowed.all():
        return Minimized(Dnf((Term(0, 0),)), Status.PROVEN)
    if truth.ell > _LATTICE_ELL:
        return Minimized(grow_cover(truth), Status.HEURISTIC)
    return _cover(truth, prime_implicants(truth), effort)


def as_types(truth: Truth) -> Minimized:
    """Return the disjunction of the accepted types themselves."""
    return Minimized(of_types(np.array(truth.required, dtype=np.int64), truth.ell), Status.AS_IS)


def prime_implicants(truth: Truth) -> list[Term]:
    """Return the maximal cubes of required and free types that contain a required one, in a fixed order."""
    required, allowed = _tables(truth)
    shape = (2,) * truth.ell
    inside, useful = allowed.reshape(shape), required.reshape(shape)
    for axis in range(truth.ell):
        inside = np.concatenate([inside, inside.all(axis, keepdims=True)], axis)
        useful = np.concatenate([useful, useful.any(axis, keepdims=True)], axis)
    prime = inside & useful
    for axis in range(truth.ell):
        # A cube that stays inside without this literal is not maximal.
        fixed = (slice(None),) * axis + (slice(0, 2),)
        prime[fixed] &= ~inside.take([2], axis)
    digits = np.argwhere(prime)[:, ::-1]
    bits = np.int64(1) << np.arange(truth.ell, dtype=np.int64)
    cares, values = (digits < 2) @ bits, (digits == 1) @ bits
    return sorted(
        (Term(care, value) for care, value in zip(cares.tolist(), values.tolist(), strict=True)),
        key=lambda term: (term.care.bit_count(), term),
    )


def grow_cover(truth: Truth) -> Dnf:
    """Return a cover in which no term and no literal can be left out, without looking for the shortest."""
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


def _cover(truth: Truth, primes: Sequence[Term], effort: Effort) -> Minimized:
    """Choose primes that cover all required types at the least cost."""
    # SciPy's optimizers take 0.4 s to import, and a job that only plans or validates does without them.
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    types = np.array(truth.required, dtype=np.int64)
    covers = np.array([prime.accepts(types) for prime in primes])
    cost, scale = _costs(primes, len(types))
    answer = milp(
        cost,
        integrality=np.ones(len(primes)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(csr_array(covers.T.astype(np.float64)), lb=1),
        options={"node_limit": effort.nodes, "time_limit": effort.seconds, "mip_rel_gap": 0.0},
    )
    if answer.x is None:
        return Minimized(grow_cover(truth), Status.HEURISTIC)
    chosen = [prime for prime, taken in zip(primes, answer.x, strict=True) if taken > 0.5]
    dnf = Dnf(tuple(sorted(_irredundant(chosen, types), key=_reading_order)))
    if answer.status == 0:
        return Minimized(dnf, Status.PROVEN)
    # A cover of L literals and T terms costs scale * L + T with T < scale, so a cost of at least D needs D // scale.
    least_cost = np.ceil(answer.mip_dual_bound - 1e-4) if np.isfinite(answer.mip_dual_bound) else 0
    return Minimized(dnf, Status.BOUNDED, max(0, dnf.n_literals - int(least_cost // scale)))


def _costs(primes: Sequence[Term], n_types: int) -> tuple[Ints, int]:
    """Return a cost per prime whose sum orders covers by literals, then by terms, and what a literal costs."""
    scale = n_types + 1
    return np.array([scale * prime.care.bit_count() + 1 for prime in primes], dtype=np.int64), scale


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
    """Short terms first, then by the rank of their attributes."""
    return term.care.bit_count(), term


def _tables(truth: Truth) -> tuple[Bools, Bools]:
    required = np.zeros(1 << truth.ell, dtype=np.bool_)
    required[list(truth.required)] = True
    allowed = required.copy()
    allowed[list(truth.free)] = True
    return required, allowed
