from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.columns import Categories, Numbers
from dnfscale.core.quantities import Kind, Measure, Quantity
from dnfscale.core.seen import SeenColumn, Unfamiliar, merge, unlike

COLOURS = SeenColumn("colour", "string", 0.0, values=("blue", "red"))
AGES = SeenColumn("age", "int64", 0.0, 18, 97)


def of_texts(*texts: str | None) -> Categories:
    values = tuple(dict.fromkeys(text for text in texts if text is not None))
    codes = [-1 if text is None else values.index(text) for text in texts]
    return Categories(np.array(codes, dtype=np.int64), values)


def of_numbers(*numbers: float | None, dtype: type = np.int64) -> Numbers:
    present = np.array([number is not None for number in numbers])
    values = np.array([0 if number is None else number for number in numbers], dtype=dtype)
    return Numbers(values, None if present.all() else present)


def test_values_that_are_not_listed_are_counted_with_some_of_them():
    found, rows = unlike(of_texts("red", "Red", None, "Red", "mauve"), COLOURS)
    assert found == Unfamiliar(new=3, examples=("Red", "mauve"), missing=1)
    assert rows.tolist() == [False, True, True, True, True]


def test_a_listed_value_in_another_place_of_the_dictionary_is_none_of_them():
    data = Categories(np.array([0, 0, 1]), ("red", "blue", "never used"))
    assert unlike(data, COLOURS) == (Unfamiliar(), None)


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.uint8, np.float32])
def test_numbers_beyond_the_ends_are_counted_and_the_ends_themselves_are_not(dtype):
    found, rows = unlike(of_numbers(17, 18, 97, 98, 120, dtype=dtype), AGES)
    assert found == Unfamiliar(below=1, above=2)
    assert rows.tolist() == [True, False, False, True, True]
    assert unlike(of_numbers(18, 97, dtype=dtype), AGES) == (Unfamiliar(), None)


def test_what_lies_where_a_value_is_missing_is_not_compared():
    found, rows = unlike(of_numbers(None, 20, 5), AGES)
    assert found == Unfamiliar(below=1, missing=1)
    assert rows.tolist() == [True, False, True]


def test_missing_values_are_told_only_where_all_rows_learned_from_had_a_value():
    some = SeenColumn("age", "int64", 0.1, 18, 97)
    assert unlike(of_numbers(None, 20), some) == (Unfamiliar(), None)
    assert unlike(of_numbers(None, 20), AGES)[0] == Unfamiliar(missing=1)


def test_numbers_of_single_precision_are_equal_to_themselves_in_double_precision():
    tenth = float(np.float32(0.1))
    seen = SeenColumn("x", "float", 0.0, tenth, tenth)
    assert unlike(of_numbers(0.1, dtype=np.float64), seen) == (Unfamiliar(), None)
    assert unlike(of_numbers(0.1, dtype=np.float32), seen) == (Unfamiliar(), None)
    assert unlike(of_numbers(0.1001, dtype=np.float64), seen)[0] == Unfamiliar(above=1)


def test_dates_are_compared_whatever_their_steps_are():
    day, second = Measure(Kind.TIMESTAMP, 1), Measure(Kind.TIMESTAMP, 1000)
    seen = SeenColumn("at", "timestamp[s]", 0.0, Quantity(day, 10), Quantity(day, 20))
    data = Numbers(np.array([9_999, 10_000, 20_000, 20_001]), None, second)
    found, rows = unlike(data, seen)
    assert found == Unfamiliar(below=1, above=1)
    assert rows.tolist() == [True, False, False, True]


def test_infinite_ends_leave_nothing_outside():
    seen = SeenColumn("x", "double", 0.0, -np.inf, np.inf)
    assert unlike(of_numbers(-np.inf, 0, 1e300, dtype=np.float64), seen) == (Unfamiliar(), None)


def test_a_column_of_which_nothing_is_known_but_gaps_has_no_other_unfamiliar_values():
    seen = SeenColumn("x", "null", 1.0)
    assert unlike(of_numbers(3, None), seen) == (Unfamiliar(), None)
    assert unlike(of_texts("a", None), seen) == (Unfamiliar(), None)


@given(st.lists(st.sampled_from(["blue", "red", "Red", "x", "y", "z", None])), st.data())
def test_counts_do_not_depend_on_how_rows_are_split(texts, data):
    cut = data.draw(st.integers(0, len(texts)))
    whole, _ = unlike(of_texts(*texts), COLOURS)
    parts = [unlike(of_texts(*part), COLOURS)[0] for part in (texts[:cut], texts[cut:])]
    assert merge(parts) == merge(parts[::-1]) == whole
    strange = [text for text in texts if text not in COLOURS.values]
    assert whole.new == sum(text is not None for text in strange)
    assert whole.missing == sum(text is None for text in strange)
