"""The shortest formula in disjunctive normal form: fewest literals, then fewest lines.

A literal is what a line says about one column in one condition (see `literals`). The largest lines
of types that the formula may accept, of which no larger one is as short, take the place of the
prime implicants, and a shortest formula is a cheapest choice of these that covers every type it
must accept. Of several shortest formulas, the one whose lines come first is taken, unless the
covering problem is large: then HiGHS solves it and chooses. At last each line says no more about a
column than is needed: an end of an interval or a value of a set goes if the other lines do without
it.

The search of HiGHS is bounded by a number of nodes, so that the answer does not depend on the
machine's speed; the time limit is a last resort. When either stops it, the best cover so far is
returned with the gap that is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from dnfscale.core.arrays import Bools, Ints
from dnfscale.core.formula import Dnf, Term, of_types
from dnfscale.method.minimize.covering import cheapest_cover
from dnfscale.method.minimize.lattice import (
    Axis,
    Lattice,
    Point,
    lattice_of,
    n_points,
    single_axis,
    terms_of,
)

_MOST_POINTS = 3**13
"""The most lines that are searched: those of thirteen attributes of as many columns. Above, terms
are grown one by one."""


class Status(StrEnum):
    """What is known about a formula's length."""

    PROVEN = "proven"
    """No equivalent formula has fewer literals, nor as many literals and fewer lines."""
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
    axes: tuple[Axis, ...] | None = ()
    """The columns of the attributes; empty if each has one of its own, None if they have too many
    states.
    """


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
    """Return the formula with the fewest literals, then lines, that agrees with truth."""
    required, allowed = _tables(truth)
    if not required.any():
        return Minimized(Dnf(()), Status.PROVEN)
    if allowed.all():
        return Minimized(Dnf((Term(0, 0),)), Status.PROVEN)
    axes = _axes(truth)
    if axes is None or n_points(axes) > _MOST_POINTS:
        return Minimized(grow_cover(truth), Status.HEURISTIC, None)
    return _cover(truth, _Lines(lattice_of(axes), required, allowed), effort)


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


class _Lines:
    """The lines that a formula may be made of, from the shortest to the longest."""

    def __init__(self, lattice: Lattice, required: Bools, allowed: Bools) -> None:
        self.axes, self._lattice = lattice.axes, lattice
        self._allowed = allowed[lattice.types]
        points = lattice.maximal(required[lattice.types], self._allowed)
        self.points = sorted(points, key=self.reading_order)
        self.literals = np.array([self.length(point) for point in self.points], dtype=np.int64)
        self.types = self._one_hot(np.flatnonzero(required))

    def length(self, point: Point) -> int:
        """Return how many literals a line has."""
        return sum(axis.literals[choice - 1] for axis, choice in zip(self.axes, point, strict=True))

    def reading_order(self, point: Point) -> tuple[int, Term, Point]:
        """Return a sort key: short lines come first, then lines by the rank of their attributes."""
        care = value = 0
        for axis, choice in zip(self.axes, point, strict=True):
            first = axis.cubes(choice)[0]
            care, value = care | first.care, value | first.value
        return self.length(point), Term(care, value), point

    def covers(self, points: Sequence[Point]) -> Bools:
        """Return which required types each of some lines accepts."""
        accepted: Bools = (self.types & ~self._bits(points)[:, None]) == 0
        return accepted

    def dnf(self, points: Sequence[Point]) -> Dnf:
        """Return lines as a formula."""
        ordered = sorted(points, key=self.reading_order)
        return Dnf(tuple(term for point in ordered for term in terms_of(self.axes, point)))

    def irredundant(self, points: Sequence[Point]) -> list[Point]:
        """Leave out lines, longest first, that the others cover."""
        kept = sorted(points, key=self.reading_order)
        covers = dict(zip(kept, self.covers(kept), strict=True))
        times = np.sum(list(covers.values()), axis=0)
        for point in reversed(kept.copy()):
            if (times[covers[point]] > 1).all():
                kept.remove(point)
                times = times - covers[point]
        return kept

    def tightened(self, points: Sequence[Point]) -> list[Point]:
        """Return lines that say what some lines say together, of which none can say as much in
        fewer values of a column.
        """
        found = list(points)
        open_axes = [at for at, axis in enumerate(self.axes) if len(axis.states) > 2]
        changed = bool(open_axes)
        while changed:
            changed = False
            for number in reversed(range(len(found))):
                for at in open_axes:
                    better = self._better(found, number, at)
                    if better != found[number][at]:
                        found[number] = (*found[number][:at], better, *found[number][at + 1 :])
                        changed = True
        return found

    def _better(self, points: Sequence[Point], number: int, at: int) -> int:
        """Return the choice for a column of a line that names the fewest values."""
        axis, point = self.axes[at], points[number]
        if point[at] == axis.n_choices:
            return point[at]
        covers = self.covers(points)
        own = covers[number] & (covers.sum(axis=0) == 1)
        first = self._offsets[at]
        column = (1 << len(axis.states)) - 1
        needed = int(np.bitwise_or.reduce(self.types[own], initial=0)) >> first & column
        # The states with which the rest of the line allows only types that may be accepted.
        rest = self._bits([point])[0] | column << first
        there = (self._one_hots & ~rest) == 0
        bad = np.bitwise_or.reduce(self._one_hots[there & ~self._allowed], initial=0)
        good = ~(int(bad) >> first) & column
        choices = [
            choice
            for choice in range(1, axis.n_choices + 1)
            if not needed & ~choice and not choice & ~good
        ]
        shortest = min(map(axis.length, choices))
        # Of those that name as few values, the one of the fewest attributes, then the largest.
        return min(
            (choice for choice in choices if axis.length(choice) == shortest),
            key=lambda choice: (axis.n_attributes(choice), -choice.bit_count(), choice),
        )

    @cached_property
    def _offsets(self) -> list[int]:
        """Where the states of each column begin among all states."""
        return [sum(len(axis.states) for axis in self.axes[:at]) for at in range(len(self.axes))]

    @cached_property
    def _one_hots(self) -> Ints:
        return self._one_hot(self._lattice.types)

    def _one_hot(self, types: Ints) -> Ints:
        """Return types with a bit for the state of each column."""
        found = np.zeros(len(types), dtype=np.int64)
        for axis, first in zip(self.axes, self._offsets, strict=True):
            order = np.argsort(axis.states)
            places = order[np.searchsorted(np.array(axis.states)[order], types & axis.mask)]
            found |= 1 << (first + places)
        return found

    def _bits(self, points: Sequence[Point]) -> Ints:
        """Return lines with a bit for each state that they allow."""
        chosen = np.array(points, dtype=np.int64).reshape(-1, len(self.axes))
        return np.asarray((chosen << np.array(self._offsets)).sum(axis=1))


def _axes(truth: Truth) -> tuple[Axis, ...] | None:
    """Return the columns of the attributes; those of a column in a state that it should not be able
    to be in are apart.
    """
    if truth.axes is None:
        return None
    answered = np.setdiff1d(np.arange(1 << truth.ell), truth.free)
    known = [axis for axis in truth.axes if np.isin(answered & axis.mask, axis.states).all()]
    apart = ((1 << truth.ell) - 1) & ~sum(axis.mask for axis in known)
    single = [single_axis(i) for i in range(truth.ell) if apart >> i & 1]
    # In rank order.
    return tuple(sorted((*known, *single), key=lambda axis: axis.mask & -axis.mask))


def _cover(truth: Truth, lines: _Lines, effort: Effort) -> Minimized:
    """Choose lines that cover all required types at the least cost."""
    covers = lines.covers(lines.points)
    # A cover of L literals and T lines costs scale * L + T with T < scale.
    scale = len(truth.required) + 1
    costs = scale * lines.literals + 1
    chosen = cheapest_cover(_as_integers(covers), costs.tolist())
    if chosen is not None:
        found = lines.tightened([lines.points[at] for at in chosen])
        return Minimized(lines.dnf(found), Status.PROVEN)
    answer = _solve(covers, costs, effort)
    if answer.x is None:
        return Minimized(grow_cover(truth), Status.HEURISTIC, None)
    taken = [lines.points[at] for at in np.flatnonzero(answer.x > 0.5)]
    found = lines.tightened(lines.irredundant(taken))
    dnf = lines.dnf(found)
    if answer.status == 0:
        return Minimized(dnf, Status.PROVEN)
    # A cost of at least D needs D // scale literals.
    least_cost = np.ceil(answer.mip_dual_bound - 1e-4) if np.isfinite(answer.mip_dual_bound) else 0
    gap = sum(map(lines.length, found)) - int(least_cost // scale)
    return Minimized(dnf, Status.BOUNDED, max(0, gap))


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
