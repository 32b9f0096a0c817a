"""The search: its formulas are the best of their size, and it says what it has proved."""

from __future__ import annotations

import itertools
import multiprocessing
import subprocess
import sys
from collections.abc import Iterable

import numpy as np
import pytest

from dnfscale.core.tree import MOST_SIZE
from dnfscale.errors import DataError, SpecError
from dnfscale.formula_size import Limits, TypeTable, errors_of, prepare, search, size, tabulate

from .judge import Masks, functions_by_size, least_errors, random_table

pytest.importorskip("numba", reason="the formula-size method is an extra")


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    prepare()


def assert_best(table: TypeTable, max_size: int, functions: Iterable[Masks] | None = None) -> None:
    """Every size is proved, with the judge's errors, by a formula that has them and is as small as
    any that has.
    """
    least = least_errors(table, functions or functions_by_size(table, max_size))
    found = list(search(table, Limits(max_size)))
    assert [result.errors for result in found] == least
    for result in found:
        assert result.proved
        assert result.lower_bound == result.errors == errors_of(result.formula, table)
        assert result.formula_size == size(result.formula) == 1 + least.index(result.errors)


def hard_table(seed: int = 0, *, n_attributes: int = 12, n_types: int = 120) -> TypeTable:
    """Types with random targets: no small formula is right on all of them."""
    random = np.random.default_rng(seed)
    return tabulate(random.random((n_types, n_attributes)) < 0.5, random.random(n_types) < 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_formulas_are_those_of_an_enumeration_on_thousands_of_few_types(seed):
    random = np.random.default_rng(seed)
    for _ in range(300):
        n_attributes = int(random.integers(1, 7))
        table = random_table(random, n_attributes=n_attributes, max_types=10)
        assert_best(table, int(random.integers(5, 12 if n_attributes < 5 else 10)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_attributes", "max_types", "max_size", "repeats"),
    [(3, 8, 11, 60), (4, 16, 11, 25), (5, 32, 10, 6), (6, 60, 9, 6)],
)
def test_formulas_are_those_of_an_enumeration_where_more_types_keep_them_from_being_right(
    n_attributes, max_types, max_size, repeats
):
    random = np.random.default_rng(n_attributes)
    for _ in range(repeats):
        codes = random.choice(2**n_attributes, size=max_types, replace=False)
        holds = (codes[:, None] >> np.arange(n_attributes) & 1).astype(np.bool_)
        n = random.integers(1, random.choice([1, 6, 10**8]) + 1, size=max_types)
        assert_best(TypeTable(holds, n, random.integers(0, n + 1)), max_size)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_attributes", "max_size", "repeats"), [(3, 20, 60), (4, 18, 40), (5, 13, 6)]
)
def test_large_formulas_of_all_types_are_those_of_an_enumeration(n_attributes, max_size, repeats):
    codes = np.arange(2**n_attributes)
    holds = (codes[:, None] >> np.arange(n_attributes) & 1).astype(np.bool_)
    functions = list(functions_by_size(TypeTable(holds, codes, 0 * codes), max_size))
    random = np.random.default_rng(n_attributes)
    for _ in range(repeats):
        # Parities, with some targets turned, need the largest formulas.
        target = (holds.sum(axis=1) % 2 == 1) ^ (
            random.random(len(codes)) < random.choice([0.15, 0.5])
        )
        n = random.integers(1, random.choice([1, 5]) + 1, size=len(codes))
        assert_best(TypeTable(holds, n, n * target), max_size, functions)


def test_negation_of_a_whole_formula_is_used_where_it_is_shorter():
    holds = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.bool_)
    nor = tabulate(holds, ~holds.any(axis=1))
    found = list(search(nor, Limits(5)))
    assert [result.errors for result in found] == [3, 1, 1, 0, 0]
    assert found[-1].formula_size == 4


@pytest.mark.parametrize("target", [False, True])
def test_one_class_needs_a_constant(target):
    for holds, sizes in (
        ([[False, True]], {1}),
        ([[True, False], [False, True]], {3}),
        ([[True, False], [False, True], [True, True]], {3} if target else {4}),
        ([[False], [True]], {4}),
    ):
        matrix = np.array(holds)
        found = list(search(tabulate(matrix, np.full(len(matrix), target)), Limits(6)))
        assert {result.formula_size for result in found if result.errors == 0} == sizes


def test_rows_that_contradict_each_other_alone_leave_nothing_to_search():
    table = TypeTable(np.array([[True, False], [False, False]]), np.array([2, 4]), np.array([1, 2]))
    found = list(search(table, Limits(7)))
    assert [(result.errors, result.formula_size, result.proved) for result in found] == [
        (3, 1, True)
    ] * 7


def test_an_empty_table_is_answered_by_any_symbol():
    table = TypeTable(np.zeros((0, 2), np.bool_), np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert [(result.errors, result.formula_size) for result in search(table, Limits(3))] == [
        (0, 1)
    ] * 3


def test_hundreds_of_millions_of_rows_count_exactly():
    holds = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.bool_)
    n = np.array([2**40 + 1, 2**40, 2**53 + 1, 3], dtype=np.int64)
    table = TypeTable(holds, n, np.array([0, 2**40, 2**53 + 1, 1], dtype=np.int64))
    assert [result.errors for result in search(table, Limits(8))] == least_errors(
        table, functions_by_size(table, 8)
    )


def test_a_time_limit_leaves_proved_sizes_and_one_that_is_open():
    table = hard_table()
    found = list(search(table, Limits(MOST_SIZE, seconds=0.5)))
    assert all(result.proved for result in found[:-1])
    last = found[-1]
    assert len(found) > 5
    assert not last.proved
    assert last.lower_bound < last.errors == errors_of(last.formula, table) <= found[-2].errors
    assert last.formula_size == size(last.formula) <= last.size
    assert last.seconds < 5


@pytest.mark.parametrize("seconds", [0.01, 0.05, 0.2])
def test_an_open_size_has_a_bound_that_holds(seconds):
    table = hard_table(7)
    last = list(search(table, Limits(MOST_SIZE, seconds=seconds)))[-1]
    [*_, proved] = search(table, Limits(min(last.size, 13)))
    if proved.size == last.size:
        assert last.lower_bound <= proved.errors <= last.errors
    else:
        assert last.lower_bound <= proved.errors


def test_without_any_time_the_open_size_keeps_the_formula_of_the_one_before():
    table = hard_table()
    first = list(search(table, Limits(6)))
    [last] = search(table, Limits(20, seconds=0), start=first)
    assert (last.size, last.proved, last.formula, last.errors) == (
        7,
        False,
        first[-1].formula,
        first[-1].errors,
    )


def test_a_memory_limit_ends_the_search_without_a_proof():
    table = hard_table()
    found = list(search(table, Limits(MOST_SIZE, memory_bytes=400_000)))
    assert [result.proved for result in found] == [True] * (len(found) - 1) + [False]
    assert found[-1].errors == errors_of(found[-1].formula, table)
    assert len(found) > 4


def test_limits_that_are_not_hit_change_nothing():
    table = hard_table(1)
    free = [(result.errors, result.formula) for result in search(table, Limits(11))]
    limited = search(table, Limits(11, seconds=1000, memory_bytes=1 << 40))
    assert [(result.errors, result.formula) for result in limited] == free


def test_a_search_that_is_left_at_every_node_and_has_little_room_finds_the_same(monkeypatch):
    from dnfscale.formula_size import exact

    table = hard_table(8)
    expected = [(result.errors, result.formula) for result in search(table, Limits(11))]
    monkeypatch.setattr(exact, "SLICE_WORDS", 1)
    monkeypatch.setattr(exact, "FIRST_CHILDREN", 1)
    assert [(result.errors, result.formula) for result in search(table, Limits(11))] == expected


def test_a_search_goes_on_from_kept_sizes_as_if_it_had_not_stopped():
    table = hard_table(2)
    whole = list(search(table, Limits(11)))
    for cut in (0, 1, 4, 8, 11):
        rest = search(table, Limits(11), start=whole[:cut])
        assert [(result.size, result.errors, result.formula) for result in rest] == [
            (result.size, result.errors, result.formula) for result in whole[cut:]
        ]


def test_a_kept_size_that_was_not_proved_is_searched_again():
    table = hard_table()
    kept = list(search(table, Limits(MOST_SIZE, seconds=0.3)))
    assert next(iter(search(table, Limits(MOST_SIZE), start=kept))).size == kept[-1].size


def test_kept_sizes_of_other_rows_are_refused():
    kept = list(search(hard_table(3), Limits(4)))
    with pytest.raises(DataError, match="the kept result of size 1 does not belong to these rows"):
        search(hard_table(4), Limits(5), start=kept)
    with pytest.raises(
        DataError, match=r"expected kept results of sizes 1 to 3, in order; got \[2, 3, 4\]"
    ):
        search(hard_table(3), Limits(5), start=kept[1:])


def test_sizes_come_one_by_one():
    sizes = [result.size for result in itertools.islice(search(hard_table(), Limits(MOST_SIZE)), 5)]
    assert sizes == [1, 2, 3, 4, 5]


def test_limits_that_make_no_sense_are_refused():
    with pytest.raises(SpecError, match="max_size must be a whole number between 1 and 47, got 0"):
        Limits(0)
    with pytest.raises(
        SpecError, match="time_limit_s must be a number of at least 0, or None, got -1"
    ):
        Limits(3, seconds=-1)
    with pytest.raises(DataError, match="a formula needs at least one attribute"):
        search(TypeTable(np.zeros((1, 0), np.bool_), np.array([1]), np.array([1])), Limits(3))


def test_the_order_of_rows_and_of_types_does_not_change_errors_or_sizes():
    table = hard_table(5)
    order = np.random.default_rng(0).permutation(len(table.n))
    shuffled = TypeTable(table.holds[order], table.n[order], table.c[order])
    for result, other in zip(search(table, Limits(10)), search(shuffled, Limits(10)), strict=True):
        assert (result.errors, result.formula_size) == (other.errors, other.formula_size)


def path_of(table: TypeTable) -> list[tuple[int, str]]:
    return [(result.errors, repr(result.formula)) for result in search(table, Limits(9))]


@pytest.mark.slow
def test_a_spawned_process_loads_the_compiled_search_and_finds_the_same():
    table = hard_table(6)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(path_of, (table,)) == path_of(table)


def test_the_package_is_imported_without_numba_and_names_the_extra_when_it_is_needed():
    code = """
import sys
sys.modules["numba"] = None
import numpy as np
from dnfscale.errors import SpecError
from dnfscale.formula_size import Limits, search, tabulate
try:
    next(iter(search(tabulate(np.eye(2, dtype=bool), np.array([True, False])), Limits(3))))
except SpecError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "the formula-size method needs numba" in ran.stdout
    assert "dnfscale[formula-size]" in ran.stdout


def test_importing_the_package_does_not_import_numba():
    code = "import sys, dnfscale.formula_size; print('numba' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
