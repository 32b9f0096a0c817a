from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.apply.evaluate import FindTypes, FoundTypes, columns_of, holds, merge_found, types_of
from dnfscale.core.columns import Categories, Column, Numbers, Reading, Role
from dnfscale.core.quantities import Kind, Measure, Quantity
from dnfscale.core.vocabulary import Above, Between, Equals, IsMissing, IsTrue, Vocabulary
from dnfscale.data.read import to_block
from dnfscale.data.source import Source, open_source

CUTS = (
    -np.inf,
    -(2**63),
    -1000,
    -1,
    -0.5,
    0,
    0.1,
    1.5,
    127,
    2**53,
    2**53 + 1,
    2**63,
    2**64 - 1,
    1e300,
    np.inf,
)


@st.composite
def numbers(draw: st.DrawFn) -> Numbers:
    """Numbers of any type, many of them at the cuts or beside them, and some missing."""
    dtype = np.dtype(draw(st.sampled_from(["i1", "u1", "i8", "u8", "f4", "f8"])))
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            near = np.array(CUTS, dtype=dtype)
        known = [
            *near,
            *np.nextafter(near, dtype.type(np.inf)),
            *np.nextafter(near, dtype.type(-np.inf)),
            np.nan,
        ]
    else:
        whole = [int(cut) + step for cut in CUTS if np.isfinite(cut) for step in (-1, 0, 1)]
        known = [value for value in whole if np.iinfo(dtype).min <= value <= np.iinfo(dtype).max]
    values = np.array(draw(st.lists(st.sampled_from(known), max_size=20)), dtype=dtype)
    present = (
        None
        if draw(st.booleans())
        else np.array([draw(st.booleans()) for _ in values], dtype=np.bool_)
    )
    return Numbers(values, present)


@given(numbers(), st.sampled_from(CUTS), st.sampled_from(CUTS))
def test_python_which_compares_exactly_says_the_same(data, low, high):
    there = np.ones(len(data.values)) if data.present is None else data.present
    rows = list(zip(data.values.tolist(), there.tolist(), strict=True))
    assert holds(Above("a", "a", low), data).tolist() == [
        bool(there and value > low) for value, there in rows
    ]
    assert holds(Between("a", "a", low, high), data).tolist() == [
        bool(there and low < value <= high) for value, there in rows
    ]


@pytest.mark.parametrize("measure", [Measure(Kind.DECIMAL, 10), Measure(Kind.DECIMAL, 1000)])
def test_the_ends_of_an_interval_are_those_of_its_measure(measure):
    interval = Between(
        "a",
        "a",
        Quantity(Measure(Kind.DECIMAL, 100), 115),
        Quantity(Measure(Kind.DECIMAL, 100), 130),
    )
    ticks = np.array([1100, 1150, 1151, 1200, 1300, 1301, 1400]) * measure.steps // 1000
    expected = [1.15 < tick / measure.steps <= 1.3 for tick in ticks.tolist()]
    assert holds(interval, Numbers(ticks, None, measure)).tolist() == expected
    assert 0 < sum(expected) < len(expected)


def test_an_interval_says_that_a_number_is_there():
    data = Numbers(np.array([5.0, 5.0]), np.array([True, False]))
    assert holds(Between("a", "a", 1.0, np.inf), data).tolist() == [True, False]
    for never in (Between("a", "a", None, None), Between("a", "a", 9, 1), Between("a", "a", 5, 5)):
        assert holds(never, data).tolist() == [False, False]


def test_a_number_is_above_its_cut_or_not():
    numbers = Numbers(np.array([-np.inf, 0.9, 1.0, 1.1, np.inf]), None)
    assert holds(Above("a", "a", 1.0), numbers).tolist() == [False, False, False, True, True]


@pytest.mark.parametrize("cut", [2**53 + 1, -(2**53) - 1, 2**62 + 3])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_whole_numbers_beyond_floats_are_told_apart(cut, dtype):
    values = [cut - 1, cut, cut + 1]
    if min(values) < 0 and dtype is np.uint64:
        values = [-value for value in values][::-1]
        cut = -cut
    numbers = Numbers(np.array(values, dtype=dtype), None)
    assert holds(Above("a", "a", cut), numbers).tolist() == [value > cut for value in values]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_a_cut_between_whole_numbers_divides_them_as_it_says(dtype):
    numbers = Numbers(np.array([0, 1, 2, 3], dtype=dtype), None)
    assert holds(Above("a", "a", 1.5), numbers).tolist() == [False, False, True, True]


def test_a_cut_below_zero_leaves_all_unsigned_numbers_above():
    assert holds(
        Above("a", "a", -0.5), Numbers(np.array([0, 255], dtype=np.uint8), None)
    ).tolist() == [True, True]


def test_a_cut_beyond_the_dtype_is_no_overflow():
    numbers = Numbers(np.array([-128, 127], dtype=np.int8), None)
    assert holds(Above("a", "a", 1000), numbers).tolist() == [False, False]
    assert holds(Above("a", "a", -1000), numbers).tolist() == [True, True]


def test_float32_is_compared_as_the_cut_was_computed():
    values = np.array([0.1, 0.2, 0.3], dtype=np.float32)
    cut = float(values[1])
    assert holds(Above("a", "a", cut), Numbers(values, None)).tolist() == [False, False, True]


def test_without_a_cut_nothing_is_above():
    assert holds(Above("a", "a", None), Numbers(np.array([1.0, 2.0]), None)).tolist() == [
        False,
        False,
    ]


@pytest.mark.parametrize("cut", [np.inf, -np.inf])
def test_an_infinite_cut_divides_whole_numbers_too(cut):
    numbers = Numbers(np.array([0, 1], dtype=np.int64), None)
    assert holds(Above("a", "a", cut), numbers).tolist() == [cut < 0] * 2


def test_where_a_number_is_missing_only_its_absence_holds():
    numbers = Numbers(np.array([5.0, 5.0]), np.array([True, False]))
    assert holds(Above("a", "a", 1.0), numbers).tolist() == [True, False]
    assert holds(IsMissing("a", "a"), numbers).tolist() == [False, True]
    assert holds(IsMissing("a", "a"), Numbers(np.array([5.0]), None)).tolist() == [False]


def test_a_category_equals_its_value_and_a_missing_one_none():
    data = Categories(np.array([0, 1, -1, 1]), ("red", "green"))
    assert holds(Equals("a", "a", "green"), data).tolist() == [False, True, False, True]
    assert holds(Equals("a", "a", "blue"), data).tolist() == [False] * 4
    assert holds(IsMissing("a", "a"), data).tolist() == [False, False, True, False]


def test_a_flag_has_its_larger_value():
    data = Categories(np.array([0, 1, -1]), (False, True))
    assert holds(IsTrue("a", "a", True), data).tolist() == [False, True, False]


def test_a_column_without_values_holds_nothing():
    data = Categories(np.array([-1, -1]), ())
    assert holds(Equals("a", "a", "red"), data).tolist() == [False, False]
    assert holds(IsMissing("a", "a"), data).tolist() == [True, True]


def test_each_column_is_needed_once_and_as_a_number_if_one_attribute_needs_it_so():
    tau = Vocabulary(
        (
            IsMissing("x_missing", "x"),
            Above("x_above", "x", 1.0),
            Equals("s_a", "s", "a"),
            Equals("s_b", "s", "b"),
        )
    )
    assert set(columns_of(tau)) == {Column("x", Role.NUMBER), Column("s", Role.CATEGORY)}
    between = Vocabulary((Between("x_between", "x", 1.0, 2.0), IsMissing("x_missing", "x")))
    assert columns_of(between) == (Column("x", Role.NUMBER),)
    assert columns_of(Vocabulary((IsMissing("x_missing", "x"),))) == (Column("x", Role.CATEGORY),)


def test_no_attributes_tell_nothing_apart():
    block = to_block(pa.record_batch({"x": [1.0, 2.0]}), Reading((), None, keep_missing=True))
    assert types_of(block, (), Vocabulary(())).tolist() == [0, 0]


def test_bit_i_of_a_type_is_attribute_i():
    tau = Vocabulary((Equals("s_a", "s", "a"), Above("x_above", "x", 1.0), IsTrue("b", "b", True)))
    batch = pa.record_batch(
        {"x": [0.0, 2.0, None, 2.0], "s": ["a", "b", "a", None], "b": [True, False, None, True]}
    )
    batch = batch.append_column("y", pa.array([True, False, True, False]))
    columns = columns_of(tau)
    block = to_block(batch, Reading(columns, "y", keep_missing=True))
    assert types_of(block, columns, tau).tolist() == [0b101, 0b010, 0b001, 0b110]


TAU = Vocabulary(
    (Above("x_above", "x", 0.5), Equals("s_red", "s", "red"), IsMissing("s_missing", "s"))
)
X = [0.0, 1.0, None, 2.0] * 30
S = ["red", "blue", None] * 40


@pytest.fixture
def source(tmp_path) -> Source:
    """A file of several row groups, with missing values."""
    pq.write_table(pa.table({"x": X, "s": S}), tmp_path / "t.parquet", row_group_size=10)
    return open_source(str(tmp_path / "t.parquet"))


def found_in(found: FoundTypes) -> dict[int, int]:
    return dict(zip(found.codes.tolist(), found.rows.tolist(), strict=True))


def test_every_row_is_found_under_its_type_missing_values_too(source):
    [rows] = source.partitions
    found = FindTypes(TAU)(rows)
    judged = Counter(
        int(x is not None and x > 0.5) | 2 * (s == "red") | 4 * (s is None)
        for x, s in zip(X, S, strict=True)
    )
    assert found_in(found) == dict(judged)
    assert found.codes.tolist() == sorted(judged)


def test_the_scan_travels_and_its_parts_merge_in_any_grouping(source):
    scan = pickle.loads(pickle.dumps(FindTypes(TAU)))
    [rows] = source.partitions
    whole = scan(rows)
    assert whole.rows.sum() == len(X)
    parts = [merge_found([]), whole, whole]
    for grouped in (merge_found(parts), merge_found([merge_found(parts[1:]), parts[0]])):
        assert grouped.codes.tolist() == whole.codes.tolist()
        assert grouped.rows.tolist() == (2 * whole.rows).tolist()


def test_what_was_found_cannot_be_changed(source):
    [rows] = source.partitions
    found = FindTypes(TAU)(rows)
    for array in (found.codes, found.rows):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = np.int64(7)
