"""Cubes as points of the lattice {0, 1, *}^ell, and sets of cubes as integers with a bit for each
point.

A point's number in base three has a digit for each attribute: its value, or 2 where the cube leaves
it open. So one shift takes all points to their neighbours along an axis, and an operation on 3**10
cubes takes a microsecond.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints, narrowest


def maximal_cubes(required: Bools, allowed: Bools) -> tuple[Codes, Codes]:
    """Return care and value of the largest cubes of allowed types that contain a required one.

    Short ones come first, then those of attributes that rank first.
    """
    lattice = _lattice(required.size.bit_length() - 1)
    inside = lattice.points(allowed)
    for step, zeros in lattice.axes:
        inside |= (inside & inside >> step & zeros) << 2 * step
    wider = 0
    for step, zeros in lattice.axes:
        # A cube that stays inside without this literal is not maximal.
        without = inside >> 2 * step & zeros
        wider |= without | without << step
    maximal = inside & ~wider
    if (allowed != required).any():
        useful = lattice.points(required)
        for step, zeros in lattice.axes:
            useful |= ((useful | useful >> step) & zeros) << 2 * step
        maximal &= useful
    cares, values = lattice.cubes(maximal)
    order = np.lexsort((values, cares, np.bitwise_count(cares)))
    return cares[order], values[order]


@dataclass(frozen=True, slots=True)
class _Lattice:
    """The points of a lattice."""

    axes: tuple[tuple[int, int], ...]
    """For each attribute, how far a point is from the next along its axis, and the points where it
    is 0.
    """
    cares: Codes
    """For each point, the attributes that are not left open, as bits."""
    values: Codes
    """For each point, the attributes that are 1."""
    types: Ints
    """The points that leave nothing open."""

    def points(self, types: Bools) -> int:
        """Return some types as a set of points."""
        there = np.zeros(len(self.cares), dtype=np.bool_)
        there[self.types] = types
        return int.from_bytes(np.packbits(there, bitorder="little").tobytes(), "little")

    def cubes(self, points: int) -> tuple[Codes, Codes]:
        """Return care and value of the points in a set."""
        octets = np.frombuffer(points.to_bytes(-(-len(self.cares) // 8), "little"), dtype=np.uint8)
        there = np.flatnonzero(np.unpackbits(octets, bitorder="little").view(np.bool_))
        return self.cares[there], self.values[there]


@functools.cache
def _lattice(ell: int) -> _Lattice:
    cares = values = np.zeros(1, dtype=narrowest((1 << ell) - 1))
    for bit in (1 << attribute for attribute in range(ell)):
        cares = np.concatenate([cares | bit, cares | bit, cares])
        values = np.concatenate([values, values | bit, values])
    axes = []
    for step in (3**attribute for attribute in range(ell)):
        zeros, width = (1 << step) - 1, 3 * step
        while width < 3**ell:
            zeros |= zeros << width | zeros << 2 * width
            width *= 3
        axes.append((step, zeros))
    return _Lattice(tuple(axes), cares, values, np.flatnonzero(cares == (1 << ell) - 1))
