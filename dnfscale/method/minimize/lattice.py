"""Lines as points of a lattice, and sets of lines as integers with a bit for each point.

A column is in one of several *states*, the truth values of its attributes, and a line allows some
of them: a *choice*. A line is a choice for each column, as a cube is one of {0, 1, *}^ell; where
each attribute has a column of its own, they are the same. Choices are numbered, and a point's
number has a digit for each column. So one shift takes all points to those that allow a state more,
and an operation on 3**10 points takes a microsecond.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core.arrays import Bools, Ints
from dnfscale.core.formula import Term
from dnfscale.method.literals import NO_WORDS

Point = tuple[int, ...]
"""A line: for each column the states that it allows, as bits."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A column: its states, and in how many literals each choice of some of them is said."""

    mask: int
    """The attributes of the column, as bits."""
    states: tuple[int, ...]
    """Each a part of a type: no bit outside mask."""
    literals: tuple[int, ...]
    """Of each choice, from that of the first state alone, which is number 1, to all states."""
    sizes: tuple[int, ...]
    """How many values the literals of each choice name."""

    @property
    def n_choices(self) -> int:
        return (1 << len(self.states)) - 1

    def length(self, choice: int) -> tuple[int, int]:
        """Return the literals of a choice, and how many values they name."""
        return self.literals[choice - 1], self.sizes[choice - 1]

    def n_attributes(self, choice: int) -> int:
        """Return how many attributes the terms of a choice name, as often as they do."""
        return sum(len(term.literals) for term in self.cubes(choice))

    def cubes(self, choice: int) -> tuple[Term, ...]:
        """Return terms over the attributes that leave just the states of a choice, each by one of
        them.
        """
        return _cubes(self.mask, self.states, choice)


def single_axis(attribute: int) -> Axis:
    """Return the axis of a column that one attribute asks about."""
    return Axis(1 << attribute, (0, 1 << attribute), (1, 1, 0), (1, 1, 0))


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """The points of some columns."""

    axes: tuple[Axis, ...]
    steps: tuple[int, ...]
    """How far a point is from that with the next choice of each column."""
    lacks: tuple[tuple[int, ...], ...]
    """For each column and state, the points that do not allow it."""
    by_length: tuple[tuple[tuple[int, int], ...], ...]
    """For each column and number of literals but the greatest that has no words, the points whose
    choice takes as many, and those whose choice takes at most as many.
    """
    types: Ints
    """All types, as far as columns take their states."""
    _singles: Ints
    """The points that allow just one of these types."""
    n_points: int

    def maximal(self, required: Bools, allowed: Bools) -> list[Point]:
        """Return the lines of allowed types with a required one, for which no larger line is as
        short; given for each of `types` whether it is required, or allowed.
        """
        everything = (1 << self.n_points) - 1
        # A line with a type that is not allowed has a smaller one with it, down to a single type.
        inside = everything & ~self._upward(self._points(~allowed))
        worded = everything
        for levels in self.by_length:
            worded &= levels[-1][1]
        inside &= worded
        longer = 0
        for step, lacks, levels in zip(self.steps, self.lacks, self.by_length, strict=True):
            for just, at_most in levels:
                longer |= just & _strictly_below(inside & at_most, step, lacks)
        maximal = inside & ~longer
        if (allowed != required).any():
            maximal &= self._upward(self._points(required))
        return self._choices(maximal)

    def _upward(self, points: int) -> int:
        """Return all points that allow all that one of some points allows."""
        for step, lacks in zip(self.steps, self.lacks, strict=True):
            for state, lacking in enumerate(lacks):
                points |= (points & lacking) << (step << state)
        return points

    def _points(self, types: Bools) -> int:
        there = np.zeros(self.n_points, dtype=np.bool_)
        there[self._singles] = types
        return _as_integer(there)

    def _choices(self, points: int) -> list[Point]:
        octets = np.frombuffer(points.to_bytes(-(-self.n_points // 8), "little"), dtype=np.uint8)
        there = np.flatnonzero(np.unpackbits(octets, bitorder="little").view(np.bool_))
        return list(
            zip(
                *(
                    (there // step % axis.n_choices + 1).tolist()
                    for axis, step in zip(self.axes, self.steps, strict=True)
                ),
                strict=True,
            )
        )


def n_points(axes: Sequence[Axis]) -> int:
    """Return how many points a lattice has."""
    return math.prod(axis.n_choices for axis in axes)


@functools.lru_cache(maxsize=64)
def lattice_of(axes: tuple[Axis, ...]) -> Lattice:
    """Return the lattice of some columns."""
    steps: list[int] = []
    total = 1
    for axis in axes:
        steps.append(total)
        total *= axis.n_choices
    lacks, by_length = [], []
    for axis, step in zip(axes, steps, strict=True):
        choices = np.arange(1, axis.n_choices + 1)
        literals = np.array(axis.literals)

        def spread(chosen: Bools, step: int = step) -> int:
            return _as_integer(np.tile(np.repeat(chosen, step), total // (step * len(chosen))))

        lacks.append(tuple(spread(choices >> state & 1 == 0) for state in range(len(axis.states))))
        by_length.append(
            tuple(
                (spread(literals == n), spread(literals <= n))
                for n in sorted(set(literals[literals < NO_WORDS].tolist()))
            )
        )
    places = np.indices([len(axis.states) for axis in axes]).reshape(len(axes), -1)
    types = np.zeros(places.shape[1], dtype=np.int64)
    singles = np.zeros(places.shape[1], dtype=np.int64)
    for axis, step, own in zip(axes, steps, places, strict=True):
        types |= np.array(axis.states)[own]
        singles += step * ((1 << own) - 1)
    return Lattice(axes, tuple(steps), tuple(lacks), tuple(by_length), types, singles, total)


def terms_of(axes: Sequence[Axis], point: Point) -> Iterator[Term]:
    """Yield terms that are a line together; a row satisfies at most one of them."""
    if not axes:
        yield Term(0, 0)
        return
    for first in axes[0].cubes(point[0]):
        for rest in terms_of(axes[1:], point[1:]):
            yield Term(first.care | rest.care, first.value | rest.value)


def _strictly_below(points: int, step: int, lacks: Sequence[int]) -> int:
    """Return the points from which one of some points is reached by more choices of one column."""
    for state, lacking in enumerate(lacks):
        points |= points >> (step << state) & lacking
    below = 0
    for state, lacking in enumerate(lacks):
        below |= points >> (step << state) & lacking
    return below


@functools.lru_cache(maxsize=4096)
def _cubes(mask: int, states: tuple[int, ...], choice: int) -> tuple[Term, ...]:
    chosen = {state for place, state in enumerate(states) if choice >> place & 1}
    if len(chosen) == len(states):
        return (Term(0, 0),)
    found: list[tuple[int, Term]] = []
    while chosen:
        grown = [_grown(mask, state, states, chosen) for state in states if state in chosen]
        # The one that leaves the most states, then the shortest; the first of several.
        care, left = min(grown, key=lambda each: (-len(each[1]), each[0].bit_count()))
        chosen -= left
        first = min(states.index(state) for state in left)
        found.append((first, Term(care, states[first] & care)))
    return tuple(term for _, term in sorted(found))


def _grown(
    care: int, state: int, states: Sequence[int], within: Collection[int]
) -> tuple[int, set[int]]:
    """Return the attributes that a term can do with to leave a state, and no states but some; and
    the states that it leaves. What leaves the most states goes first, then what ranks last.
    """
    left = {state}
    bits = [1 << bit for bit in reversed(range(care.bit_length())) if care >> bit & 1]
    while bits:
        wider = {
            bit: {other for other in states if not (other ^ state) & care & ~bit} for bit in bits
        }
        bits = [bit for bit in bits if wider[bit] <= set(within)]
        if bits:
            best = max(bits, key=lambda bit: len(wider[bit]))
            care, left = care & ~best, wider[best]
            bits.remove(best)
    return care, left


def _as_integer(flags: Bools) -> int:
    """Return flags as an integer whose bit i is flag i."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
