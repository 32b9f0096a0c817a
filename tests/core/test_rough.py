"""Rough rows become the binned rows that reading the values again would give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core import medians
from dnfscale.core.arrays import Codes, Values
from dnfscale.core.bins import CategoryBins, NumberBins
from dnfscale.core.columns import Categories, Numbers
from dnfscale.core.medians import Bracket, joined
from dnfscale.core.rough import Gathering
from dnfscale.errors import DataError
from tests.judges import number_codes
from tests.strategies import FLOAT_DTYPES, INTEGER_DTYPES
from tests.strategies import numbers as any_numbers

ROWS = st.tuples(st.integers(-9, 9), st.booleans(), st.sampled_from("abcd"))
BLOCKS = st.lists(st.lists(ROWS, max_size=6), max_size=4)


@given(BLOCKS, st.integers(-9, 9), st.integers(0, 9), st.data())
def test_rough_rows_are_binned_as_the_values_themselves(blocks, low, width, choice):
    second = choice.draw(st.integers(low, low + width + 3))
    brackets = joined(
        [Bracket(np.float64(first), np.float64(first + width)) for first in (low, second)]
    )
    inside = [edge for part in brackets.parts for edge in range(int(part.low), int(part.high) + 1)]
    edges = choice.draw(st.lists(st.sampled_from(inside), unique=True, max_size=4).map(sorted))
    number_bins = NumberBins(np.array(edges, dtype=np.float64), has_missing=True)
    category_bins = CategoryBins(("a", "b", "c", "d"))
    gathering = Gathering(2)
    numbers: list[Numbers] = []
    categories: list[Categories] = []
    for arc, block in enumerate(blocks):
        values = np.array([value for value, _, _ in block], dtype=np.float64)
        data = Numbers(values, np.array([present for _, present, _ in block], dtype=np.bool_))
        local = tuple(dict.fromkeys(letter for _, _, letter in block))
        codes = np.array(
            [local.index(letter) if present else -1 for _, present, letter in block], dtype=np.int64
        )
        gathering.add_numbers(0, values, medians.zones(data, brackets), brackets)
        gathering.add_categories(1, Categories(codes, local))
        target = Categories(np.arange(len(block)) % 2, ("no", "yes"))
        gathering.add_rows(target, np.full(len(block), arc % 3, dtype=np.uint8), None)
        numbers.append(data)
        categories.append(Categories(codes, local))
    rough = gathering.table()
    table = rough.binned([number_bins, category_bins], (("no",), ("yes",)), n_arcs=3)
    assert table.columns[0].tolist() == [
        code for data in numbers for code in number_codes(number_bins, data)
    ]
    assert table.columns[1].tolist() == [
        code for data in categories for code in category_bins.encode(data).tolist()
    ]
    assert table.labels.tolist() == [
        2 * (i % 3) + row % 2 for i, block in enumerate(blocks) for row in range(len(block))
    ]
    some = np.array(
        sorted(choice.draw(st.sets(st.integers(0, rough.n_rows - 1)))) if rough.n_rows else [],
        np.int64,
    )
    taken = rough.take(some).binned([number_bins, category_bins], (("no",), ("yes",)), n_arcs=3)
    assert taken.labels.tolist() == table.labels[some].tolist()
    for i in (0, 1):
        assert taken.columns[i].tolist() == table.columns[i][some].tolist()


def one_row(letter: str, label: str) -> Gathering:
    gathering = Gathering(1)
    gathering.add_categories(0, Categories(np.zeros(1, dtype=np.int64), (letter,)))
    gathering.add_rows(
        Categories(np.zeros(1, dtype=np.int64), (label,)), np.zeros(1, dtype=np.uint8), None
    )
    return gathering


@pytest.mark.parametrize(("letter", "label"), [("z", "no"), ("a", "maybe")])
def test_a_value_or_label_that_the_whole_table_does_not_have_is_an_error(letter, label):
    rough = one_row(letter, label).table()
    with pytest.raises(DataError, match="got a value that was not there before"):
        rough.binned([CategoryBins(("a", "b"))], (("no",), ("yes",)), n_arcs=1)


def test_only_the_columns_that_are_wanted_are_binned():
    rough = one_row("a", "yes").table()
    table = rough.binned([CategoryBins(("a",))], (("no",), ("yes",)), n_arcs=1, only=())
    assert (dict(table.columns), table.labels.tolist()) == ({}, [1])


def coded(values: Values, bins: NumberBins, around: Values) -> Codes:
    """Return the codes of some numbers that were gathered with one bracket, around others."""
    brackets = joined([Bracket(around.min(), around.max())])
    gathering = Gathering(1)
    gathering.add_numbers(0, values, medians.zones(Numbers(values, None), brackets), brackets)
    gathering.add_rows(
        Categories(np.zeros(len(values), np.int64), ("no",)), np.zeros(len(values), np.uint8), None
    )
    return gathering.table().binned([bins], (("no",),), n_arcs=1).columns[0]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", INTEGER_DTYPES + FLOAT_DTYPES)
@given(choice=st.data())
def test_a_numbers_code_is_how_many_edges_lie_below_it(dtype, choice):
    edges = np.unique(choice.draw(any_numbers(dtype, max_size=8)))
    values = np.concatenate([choice.draw(any_numbers(dtype)), edges])
    bins = NumberBins(edges, has_missing=False)
    around = choice.draw(st.sampled_from([edges, values]))
    assert coded(values, bins, around).tolist() == number_codes(bins, Numbers(values, None))


@given(st.sampled_from(["int8", "uint8", "int64", "uint64", "float32"]), st.data())
def test_numbers_of_any_kind_are_kept_as_they_are(dtype, choice):
    values = choice.draw(any_numbers(dtype))
    bins = NumberBins(np.unique(values), has_missing=False)
    assert coded(values, bins, values).tolist() == number_codes(bins, Numbers(values, None))


def test_infinities_are_coded_like_any_other_number():
    edges = np.array([-np.inf, 0.0, np.inf])
    values = np.array([-np.inf, -1.0, 0.0, 1.0, np.inf])
    assert coded(values, NumberBins(edges, has_missing=False), edges).tolist() == [0, 1, 1, 2, 2]


def test_whole_numbers_beyond_the_precision_of_floats_are_told_apart():
    edges = np.array([2**53, 2**62 + 1], dtype=np.int64)
    values = np.array([2**53, 2**53 + 1, 2**62 + 1, 2**62 + 2], dtype=np.int64)
    assert coded(values, NumberBins(edges, has_missing=False), edges).tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("n_edges", "dtype"), [(1, np.uint8), (254, np.uint8), (255, np.uint16), (400, np.uint16)]
)
def test_codes_are_as_narrow_as_the_number_of_edges_allows(n_edges, dtype):
    edges = np.arange(n_edges, dtype=np.int64)
    values = np.arange(-1, n_edges + 2, dtype=np.int64)
    bins = NumberBins(edges, has_missing=False)
    codes = coded(values, bins, edges)
    assert codes.dtype == dtype
    assert codes.tolist() == number_codes(bins, Numbers(values, None))


def test_a_column_without_edges_has_one_code():
    bins = NumberBins(np.empty(0), has_missing=False)
    values = np.array([1.0, -2.0])
    assert bins.n_codes == 1
    assert coded(values, bins, values).tolist() == [0, 0]
