"""The choice of a size: the best on validation rows, the smallest of equals, with patience."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from dnfscale.errors import DataError, SpecError
from dnfscale.formula_size import SizeResult, Symbol, TypeTable, choose


def validation(*correct: int) -> TypeTable:
    """Rows on which attribute i is right correct[i] times out of a hundred."""
    holds, n = [], []
    for attribute, right in enumerate(correct):
        row = [False] * len(correct)
        row[attribute] = True
        holds.append(row)
        n.append(right)
    # Attribute i is true on type i only, where the target is true; a row where nothing holds is
    # right for all.
    table_n = np.array([*n, 100], dtype=np.int64)
    return TypeTable(
        np.array([*holds, [False] * len(correct)]), table_n, np.array([*n, 0], dtype=np.int64)
    )


def path(n_sizes: int, taken: list[int]) -> Iterator[SizeResult]:
    """Results whose formula of size s is attribute s - 1; taken notes which were asked for."""
    for size in range(1, n_sizes + 1):
        taken.append(size)
        yield SizeResult(size, 100 - size, Symbol(size - 1), 1, True, 100 - size, 0.0)


def test_the_size_that_is_right_on_most_validation_rows_is_chosen():
    taken: list[int] = []
    choice = choose(path(6, taken), validation(10, 30, 20, 40, 40, 5))
    assert choice.chosen.size == 4
    assert [correct - 100 for correct in choice.correct] == [10, 30, 20, 40, 40, 5]
    assert [result.size for result in choice.path] == [1, 2, 3, 4, 5, 6]
    assert choice.n_rows == 245


def test_of_sizes_that_do_as_well_the_smallest_is_chosen():
    assert choose(path(3, []), validation(7, 7, 7)).chosen.size == 1


def test_the_search_is_not_asked_for_more_when_patience_is_at_its_end():
    taken: list[int] = []
    choice = choose(path(9, taken), validation(5, 9, 9, 8, 9, 1, 50, 0, 0))
    assert taken == [1, 2, 3, 4, 5, 6]
    assert choice.chosen.size == 2


def test_more_patience_finds_what_comes_late():
    assert choose(path(9, []), validation(5, 9, 9, 8, 9, 1, 50, 0, 0), patience=5).chosen.size == 7


def test_too_little_patience_is_refused():
    with pytest.raises(
        SpecError, match="patience must be a whole number of at least 4 sizes, got 3"
    ):
        choose(path(1, []), validation(1), patience=3)


def test_nothing_to_choose_from_is_refused():
    with pytest.raises(
        DataError, match="expected the result of at least one size to choose from, got none"
    ):
        choose([], validation(1))
