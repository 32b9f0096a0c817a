"""Cheapest covers: of all that cover every row none is cheaper, and of as cheap ones the first is
taken.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from dnfscale.method.minimize import covering
from dnfscale.method.minimize.covering import cheapest_cover

Problem = tuple[list[int], list[int]]


@st.composite
def problems(draw: st.DrawFn, *, max_rows: int, max_columns: int, max_cost: int) -> Problem:
    """Columns of some rows each, and what they cost; every row is in some column."""
    n_rows = draw(st.integers(1, max_rows))
    covers = draw(st.lists(st.integers(1, (1 << n_rows) - 1), min_size=1, max_size=max_columns))
    costs = draw(st.lists(st.integers(1, max_cost), min_size=len(covers), max_size=len(covers)))
    return covers, sorted(costs)


@st.composite
def loose_problems(draw: st.DrawFn, *, max_rows: int, max_columns: int) -> Problem:
    """Columns of two to four rows: reductions alone seldom solve these."""
    n_rows = draw(st.integers(4, max_rows))
    some_rows = st.sets(st.integers(0, n_rows - 1), min_size=2, max_size=4)
    covers = [
        sum(1 << row for row in rows)
        for rows in draw(st.lists(some_rows, min_size=4, max_size=max_columns))
    ]
    costs = draw(st.lists(st.integers(20, 23), min_size=len(covers), max_size=len(covers)))
    return covers, sorted(costs)


def union(covers: list[int]) -> int:
    rows = 0
    for cover in covers:
        rows |= cover
    return rows


def cost_of(chosen: list[int], costs: list[int]) -> int:
    return sum(costs[column] for column in chosen)


def first_cheapest(covers: list[int], costs: list[int]) -> list[int]:
    """The judge: look at every set of columns."""
    everything = range(len(covers))
    sets = itertools.chain.from_iterable(
        itertools.combinations(everything, n) for n in range(len(covers) + 1)
    )
    return list(
        min(
            (
                chosen
                for chosen in sets
                if union([covers[column] for column in chosen]) == union(covers)
            ),
            key=lambda chosen: (
                cost_of(chosen, costs),
                [column not in chosen for column in everything],
            ),
        )
    )


def least_cost(covers: list[int], costs: list[int]) -> int:
    """The judge: an integer program."""
    rows = [row for row in range(union(covers).bit_length()) if union(covers) >> row & 1]
    table = np.array([[cover >> row & 1 for cover in covers] for row in rows])
    answer = milp(
        costs, integrality=1, bounds=Bounds(0, 1), constraints=LinearConstraint(table, lb=1)
    )
    assert answer.status == 0
    return round(answer.fun)


@given(problems(max_rows=7, max_columns=9, max_cost=4))
def test_the_cheapest_cover_is_that_of_all_sets_of_columns_and_the_first_of_as_cheap_ones(problem):
    assert cheapest_cover(*problem) == first_cheapest(*problem)


@given(loose_problems(max_rows=9, max_columns=11))
def test_where_reductions_leave_a_choice_it_is_the_first_cheapest_too(problem):
    assert cheapest_cover(*problem) == first_cheapest(*problem)


@given(loose_problems(max_rows=24, max_columns=40))
def test_larger_problems_are_covered_as_cheaply_as_by_an_integer_program(problem):
    covers, costs = problem
    chosen = cheapest_cover(covers, costs)
    if chosen is not None:
        assert union([covers[column] for column in chosen]) == union(covers)
        assert cost_of(chosen, costs) == least_cost(covers, costs)


def ring(n_rows: int) -> Problem:
    """Each column covers a row and the next: nothing can be reduced, and every second column will
    do.
    """
    return [1 << row | 1 << (row + 1) % n_rows for row in range(n_rows)], [5] * n_rows


@pytest.mark.parametrize("n_rows", [4, 6, 14, 50, 100])
def test_of_the_two_cheapest_covers_of_a_ring_the_one_with_the_first_column_is_taken(n_rows):
    assert cheapest_cover(*ring(n_rows)) == list(range(0, n_rows, 2))


@pytest.mark.parametrize("n_rows", [3, 5, 15, 49, 99])
def test_of_all_cheapest_covers_of_an_odd_ring_the_first_is_taken(n_rows):
    assert cheapest_cover(*ring(n_rows)) == [0, *range(1, n_rows, 2)]


def test_problems_that_fall_apart_are_solved_part_by_part():
    covers, costs = ring(5)
    apart = [cover << 5 * part for part in range(8) for cover in covers]
    chosen = cheapest_cover(apart, costs * 8)
    assert chosen == [5 * part + column for part in range(8) for column in (0, 1, 3)]


def test_a_problem_of_nothing_is_covered_by_nothing():
    assert cheapest_cover([], []) == []


def test_a_problem_with_too_much_to_choose_is_declined():
    assert cheapest_cover(*ring(101)) is None


def test_a_search_that_needs_too_many_nodes_is_given_up(monkeypatch):
    # Every two of eight columns share a row: seven must be taken, and any seven will do.
    pairs = list(itertools.combinations(range(8), 2))
    covers = [
        sum(1 << row for row, pair in enumerate(pairs) if column in pair) for column in range(8)
    ]
    assert cheapest_cover(covers, [1] * 8) == list(range(7))
    monkeypatch.setattr(covering, "_MOST_NODES", 0)
    assert cheapest_cover(covers, [1] * 8) is None
