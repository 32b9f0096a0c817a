"""The best formula of every length over a counted table, judged by brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dnfscale.method.minimize.minimal import Status
from dnfscale.method.shortened import shortened
from dnfscale.method.terms.codes import CodeColumn, Sample


def table(ell: int, positive, negative) -> Sample:
    """All types of some Boolean attributes."""
    codes = np.array(list(product((0, 1), repeat=ell)), dtype=np.uint8).T.reshape(ell, -1)
    return Sample((CodeColumn(2, True),) * ell, codes, positive, negative)


def least_costs(types: Sample, most: int) -> list[int]:
    """The judge: the least cost of a disjunction of at most 0, 1, ... literals, by all sets of
    types it may accept."""
    n_types = types.n_rows
    terms = set()
    for cube in product((None, 0, 1), repeat=len(types.columns)):
        accepted = np.ones(n_types, dtype=bool)
        for codes, value in zip(types.codes, cube, strict=True):
            if value is not None:
                accepted &= codes == value
        literals = sum(value is not None for value in cube)
        terms.add((literals, int(sum(1 << int(t) for t in np.flatnonzero(accepted)))))
    sets = np.arange(1 << n_types)
    reached = [np.zeros(1 << n_types, dtype=bool) for _ in range(most + 1)]
    reached[0][0] = True
    for literals, accepted in terms:
        if literals == 0:
            reached[0][accepted] = True
    for length in range(1, most + 1):
        reached[length] |= reached[length - 1]
        for literals, accepted in terms:
            if 0 < literals <= length:
                reached[length][sets[reached[length - literals]] | accepted] = True
    gains = (types.positive - types.negative).tolist()
    gained = np.zeros(1 << n_types, dtype=np.int64)
    for t, gain in enumerate(gains):
        gained += gain * (sets >> t & 1)
    return [int(types.positive.sum()) - int(gained[some].max()) for some in reached]


@settings(max_examples=15, deadline=None)
@given(st.data(), st.integers(1, 4))
def test_no_disjunction_of_at_most_so_many_literals_costs_less(choice, ell):
    costs = hnp.arrays(np.int64, 1 << ell, elements=st.integers(0, 9))
    types = table(ell, choice.draw(costs), choice.draw(costs))
    found = shortened(types, max_literals=8)
    assert all(one.status is Status.PROVEN and one.gap == 0 for one in found)
    assert all(one.cost == types.cost(one.formula) for one in found)
    for length, least in enumerate(least_costs(types, 8)):
        assert min(one.cost for one in found if one.formula.n_literals <= length) == least


def test_a_bound_holds_where_the_search_is_stopped():
    random = np.random.default_rng(0)
    types = table(4, random.integers(0, 50, 16), random.integers(0, 50, 16))
    stopped = shortened(types, max_literals=10, nodes=1)
    proven = {
        one.formula.n_literals: one for one in shortened(types, max_literals=10, nodes=10_000)
    }
    assert all(one.status is Status.PROVEN for one in proven.values())
    for one in stopped:
        best = min(
            other.cost for length, other in proven.items() if length <= one.formula.n_literals
        )
        assert one.bound <= best <= one.cost


def test_of_many_attributes_the_ideal_answers_are_the_bound():
    random = np.random.default_rng(0)
    types = table(9, random.integers(0, 50, 512), random.integers(0, 50, 512))
    found = shortened(types, max_literals=12)
    assert {one.status for one in found} == {Status.HEURISTIC}
    assert {one.bound for one in found} == {int(np.minimum(types.positive, types.negative).sum())}
    assert [one.cost for one in found] == sorted(
        {types.cost(one.formula) for one in found}, reverse=True
    )


@pytest.mark.parametrize("max_terms", [1, 2])
def test_terms_are_bounded_too(max_terms):
    random = np.random.default_rng(1)
    types = table(4, random.integers(0, 9, 16), random.integers(0, 9, 16))
    assert all(
        len(one.formula.terms) <= max_terms
        for one in shortened(types, max_literals=8, max_terms=max_terms)
    )


def test_two_cuts_of_a_column_are_one_literal():
    codes = np.array([[0, 1, 2, 3]], dtype=np.uint8)
    types = Sample((CodeColumn(4, True),), codes, np.array([0, 5, 5, 0]), np.array([5, 0, 0, 5]))
    found = shortened(types, max_literals=3)
    assert [(one.formula.n_literals, one.cost) for one in found] == [(0, 10), (1, 0)]


def test_only_the_lengths_that_are_asked_for_are_proven():
    random = np.random.default_rng(2)
    types = table(4, random.integers(0, 9, 16), random.integers(0, 9, 16))
    by_length = {one.formula.n_literals: one for one in shortened(types, max_literals=5)}
    length = sorted(by_length)[2]
    found = {
        one.formula.n_literals: one.status
        for one in shortened(types, max_literals=5, proven=[length])
    }
    assert [n for n, status in found.items() if status is Status.PROVEN] == [length]
    assert by_length[length].status is Status.PROVEN
