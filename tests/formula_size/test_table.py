"""Tables of types: counted rows, and bits whose weights are the counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.errors import DataError
from dnfscale.formula_size.table import Literals, TypeTable, literals, tabulate

from .judge import random_table


@given(st.integers(0, 2**32), st.integers(0, 200), st.integers(0, 12))
def test_tabulating_rows_counts_each_distinct_row_once(seed, n_rows, n_attributes):
    random = np.random.default_rng(seed)
    holds = random.random((n_rows, n_attributes)) < 0.3
    target = random.random(n_rows) < 0.5
    table = tabulate(holds, target)
    counted = {
        tuple(row): (n, c)
        for row, n, c in zip(*map(np.ndarray.tolist, (table.holds, table.n, table.c)), strict=True)
    }
    expected: dict[tuple[bool, ...], tuple[int, int]] = {}
    for row, is_true in zip(holds.tolist(), target.tolist(), strict=True):
        n, c = expected.get(tuple(row), (0, 0))
        expected[tuple(row)] = n + 1, c + is_true
    assert counted == expected
    assert len(table.n) == len(counted)
    assert table.n_rows == n_rows


def weight(found: Literals, words: np.ndarray, *, of_good: bool) -> int:
    """Weigh the good or the bad types of a set, bit by bit."""
    total = 0
    for segment, value in enumerate(found.weights.tolist()):
        if (segment < found.n_good) == of_good:
            part = words[found.segments[segment] : found.segments[segment + 1]]
            total += value * sum(word.bit_count() for word in part.tolist())
    return total


@given(st.integers(0, 2**32))
def test_bits_weigh_what_the_types_weigh(seed):
    table = random_table(np.random.default_rng(seed), n_attributes=5, max_types=32)
    found = literals(table)
    net = table.n - 2 * table.c
    assert weight(found, found.full, of_good=True) == -net[net < 0].sum()
    assert weight(found, found.full, of_good=False) == net[net > 0].sum()
    for function, attribute in enumerate(found.attributes.tolist()):
        if attribute >= 0:
            words = found.bits[function >> 1] ^ (found.full if function & 1 else np.uint64(0))
            column = table.holds[:, attribute]
            assert weight(found, words, of_good=True) == -net[column & (net < 0)].sum()
            assert weight(found, words, of_good=False) == net[column & (net > 0)].sum()


@given(st.integers(0, 2**32))
def test_columns_that_say_the_same_share_a_literal(seed):
    table = random_table(np.random.default_rng(seed), n_attributes=6, max_types=12)
    found = literals(table)
    matter = table.holds[table.n != 2 * table.c]
    oriented = {
        tuple((column ^ column[:1]).tolist())
        for column in matter.T
        if len(set(column.tolist())) > 1
    }
    assert len(found) == len(oriented)
    assert len({row.tobytes() for row in found.bits}) == len(found)
    false, true = found.constants
    assert false < 0 or not matter[:, false].any()
    assert true < 0 or matter[:, true].all()
    if len(matter):
        assert (true >= 0) == bool(matter.all(axis=0).any())
        assert (false >= 0) == bool((~matter).all(axis=0).any())


def test_counts_that_cannot_be_are_refused():
    holds = np.zeros((2, 1), np.bool_)
    with pytest.raises(DataError, match=r"expected 0 <= c <= n for every type"):
        TypeTable(holds, np.array([1, 1]), np.array([0, 2]))
    with pytest.raises(DataError, match=r"got shapes \(2, 1\), \(3,\) and \(3,\)"):
        TypeTable(holds, np.array([1, 1, 1]), np.array([0, 0, 0]))


def test_tables_are_compared_by_their_counts():
    holds = np.array([[True], [False]])
    table = TypeTable(holds, np.array([2, 3]), np.array([1, 1]))
    assert table == TypeTable(holds.copy(), np.array([2, 3]), np.array([1, 1]))
    assert table != TypeTable(holds.copy(), np.array([2, 3]), np.array([1, 2]))
    assert table.n_rows == 5
