"""Binned columns: codes and spans say the same as plain comparisons of values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.bins import BinnedTable, CategoryBins, NumberBins, Span, Spans, check_known
from dnfscale.core.columns import Categories, Numbers
from dnfscale.errors import DataError
from tests.judges import number_codes
from tests.strategies import numbers


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64", "float32", "float64"])
@given(data=st.data())
def test_a_span_above_an_edge_is_the_plain_comparison_in_every_fold(dtype, data):
    values, edges = data.draw(numbers(dtype)), np.unique(data.draw(numbers(dtype, max_size=8)))
    present = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    )
    has_missing = data.draw(st.booleans())
    bins = NumberBins(edges, has_missing)
    codes = np.array(number_codes(bins, Numbers(values, present if has_missing else None)))
    for place, edge in enumerate(edges):
        span = Span(0, place + 1, len(edges))
        plain = values > edge
        assert np.array_equal(
            span.holds(codes, bins.n_codes), plain & present if has_missing else plain
        )


@given(st.lists(st.booleans(), min_size=1, max_size=20))
def test_the_last_code_of_a_number_column_with_missing_values_is_missing(present):
    mask = np.array(present)
    bins = NumberBins(np.array([0.5, 1.5]), has_missing=True)
    codes = np.array(number_codes(bins, Numbers(np.where(mask, 1.0, np.nan), mask)))
    assert bins.n_codes == 4
    span = Span(0, bins.missing_code, bins.missing_code)
    assert np.array_equal(span.holds(codes, bins.n_codes), ~mask)


@given(st.data())
def test_a_span_of_a_category_is_the_plain_comparison_however_a_block_numbers_its_values(data):
    values = ("blue", "green", "red", "")
    known = tuple(sorted(data.draw(st.sets(st.sampled_from(values), min_size=1))))
    local = tuple(data.draw(st.permutations(known)))
    rows = data.draw(st.lists(st.one_of(st.none(), st.sampled_from(known)), max_size=20))
    codes = np.array([-1 if row is None else local.index(row) for row in rows], dtype=np.int64)
    bins = CategoryBins(known)
    coded = bins.encode(Categories(codes, local))
    for place, value in enumerate(known):
        assert Span(0, place, place).holds(coded, bins.n_codes).tolist() == [
            row == value for row in rows
        ]
    missing = Span(0, bins.missing_code, bins.missing_code)
    assert missing.holds(coded, bins.n_codes).tolist() == [row is None for row in rows]


@pytest.mark.parametrize("values", [(False, True), (1, 2, 10), (0.5, 2.5), ("a", "b")])
def test_categories_of_any_kind_of_value_are_coded_by_their_place(values):
    coded = CategoryBins(values).encode(Categories(np.arange(len(values))[::-1], values))
    assert coded.tolist() == list(range(len(values)))[::-1]


@given(st.integers(0, 6), st.integers(0, 6), st.integers(1, 7))
def test_a_span_holds_for_the_codes_from_its_first_to_its_last(first, last, n_codes):
    codes = np.arange(n_codes, dtype=np.uint8)
    holds = Span(0, first, min(last, n_codes - 1)).holds(codes, n_codes)
    assert holds.tolist() == [first <= code <= min(last, n_codes - 1) for code in range(n_codes)]


def test_spans_of_some_attributes_are_those_of_the_fold_asked_for():
    spans = Spans(np.array([0, 2]), np.array([[1, 4], [2, 5]]), np.array([[3, 4], [3, 5]]))
    assert spans.of(1, [1, 0]) == (Span(2, 5, 5), Span(0, 2, 3))
    assert spans.of(0, []) == ()


def test_a_value_that_the_first_scan_did_not_see_is_an_error():
    bins = CategoryBins(("a", "b"))
    codes = bins.encode(Categories(np.array([0, 1, 2]), ("a", "b", "new")))
    with pytest.raises(
        DataError,
        match="expected the same rows in every scan, got a value that was not there before",
    ):
        check_known(BinnedTable({0: codes}, np.zeros(3, np.uint8)), [bins])


def test_known_missing_and_no_values_pass_the_check():
    bins = [CategoryBins(("a",)), NumberBins(np.array([1.0]), has_missing=True)]
    some = (np.array([0, 1], np.uint8), np.array([0, 2], np.uint8))
    check_known(BinnedTable(dict(enumerate(some)), np.zeros(2, np.uint8)), bins)
    check_known(
        BinnedTable({i: codes[:0] for i, codes in enumerate(some)}, np.zeros(0, np.uint8)), bins
    )
