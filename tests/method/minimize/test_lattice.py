"""The largest lines of attributes that have a column each: those of an array over the lattice,
which is slower and says what it does.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.method.minimize.lattice import lattice_of, single_axis, terms_of

REQUIRED, FREE = 1, 2


def cubes_of_an_array(required, allowed) -> list[tuple[int, int, int]]:
    """The judge: literals, care and value of the largest cubes, with an axis of 0, 1 and * for
    every attribute.
    """
    ell = required.size.bit_length() - 1
    inside, useful = allowed.reshape((2,) * ell), required.reshape((2,) * ell)
    for axis in range(ell):
        inside = np.concatenate([inside, inside.all(axis, keepdims=True)], axis)
        useful = np.concatenate([useful, useful.any(axis, keepdims=True)], axis)
    largest = inside & useful
    for axis in range(ell):
        fixed = (slice(None),) * axis + (slice(0, 2),)
        largest[fixed] &= ~inside.take([2], axis)
    # The first axis is that of the last attribute.
    cubes = [cube[::-1] for cube in np.argwhere(largest).tolist()]
    return sorted(
        (
            sum(digit < 2 for digit in cube),
            sum(1 << i for i, digit in enumerate(cube) if digit < 2),
            sum(1 << i for i, digit in enumerate(cube) if digit == 1),
        )
        for cube in cubes
    )


def assert_as_of_an_array(kinds) -> None:
    required, allowed = kinds == REQUIRED, kinds > 0
    lattice = lattice_of(tuple(map(single_axis, range(len(kinds).bit_length() - 1))))
    points = lattice.maximal(required[lattice.types], allowed[lattice.types])
    terms = [term for point in points for term in terms_of(lattice.axes, point)]
    found = sorted((len(term.literals), term.care, term.value) for term in terms)
    assert found == cubes_of_an_array(required, allowed)


@st.composite
def tables(draw: st.DrawFn) -> list[int]:
    n_types = 1 << draw(st.integers(1, 6))
    return draw(st.lists(st.sampled_from([0, REQUIRED, FREE]), min_size=n_types, max_size=n_types))


@given(tables())
def test_the_largest_cubes_are_those_of_an_array(kinds):
    assert_as_of_an_array(np.array(kinds))


@pytest.mark.parametrize("ell", [8, 10])
@pytest.mark.parametrize("shares", [(0.02, 0.0), (0.5, 0.0), (0.9, 0.0), (0.05, 0.9), (0.3, 0.3)])
def test_the_largest_cubes_of_many_attributes_are_those_of_an_array(ell, shares):
    required, free = shares
    kinds = np.random.default_rng(ell).choice(
        [0, REQUIRED, FREE], 1 << ell, p=[1 - required - free, required, free]
    )
    assert_as_of_an_array(kinds)
