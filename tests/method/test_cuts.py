"""Which cuts a column gets, and which of many entropy keeps."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.associations import Associations
from dnfscale.core.quantities import parse_measure
from dnfscale.errors import SpecError
from dnfscale.method.cuts import (
    CutPlan,
    automatic,
    check_given,
    counted_cuts,
    given_bracket,
    given_cut,
    keep_telling,
    plan_cuts,
)


def test_a_median_is_named_so_and_other_quantiles_by_their_percentile():
    size = {"n_rows": 10, "n_columns": 2}
    assert plan_cuts("median", **size).names == ("above_median",)
    assert plan_cuts(3, **size).names == ("above_p25", "above_median", "above_p75")
    assert plan_cuts(9, [65, 18.5, 65], **size).names == ("above_18.5", "above_65")
    assert plan_cuts("entropy", **size).shares == tuple(Fraction(j, 20) for j in range(1, 20))


def test_more_rows_are_worth_more_cuts():
    assert automatic(40_000, 1000) == 17
    assert [automatic(n, 100) for n in (0, 1, 100, 128, 4096, 500_000, 10**12)] == [
        3,
        3,
        4,
        4,
        9,
        63,
        31,
    ]
    assert [automatic(n, 4) for n in (29_999, 30_000, 1_000_000, 1_000_001)] == [31, 63, 63, 31]
    assert plan_cuts("auto", n_rows=128, n_columns=3).shares == tuple(
        Fraction(j, 5) for j in range(1, 5)
    )


def test_fewer_columns_are_worth_more_cuts():
    numbers = (0, 1, 16, 25, 50, 100, 1000)
    assert [automatic(4_900, columns) for columns in numbers] == [31, 31, 19, 12, 9, 9, 9]
    assert [automatic(8_000, columns) for columns in numbers] == [31, 31, 31, 20, 10, 10, 10]
    assert [automatic(10**6, columns) for columns in numbers] == [63, 63, 63, 63, 63, 63, 62]


@given(
    st.integers(-300, 300) | st.floats(-300, 300),
    st.sampled_from([np.int8, np.uint8, np.int64, np.float32, np.float64]),
    st.lists(st.integers(-128, 255)),
)
def test_a_given_cut_splits_a_column_as_its_value_does(value, kind, numbers):
    dtype = np.dtype(kind)
    bounds = np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)
    values = np.array([n for n in numbers if bounds.min <= n <= bounds.max], dtype=dtype)
    cut = given_cut(value, dtype)
    if cut.edge is None:
        assert value < bounds.min
        return
    assert (values > cut.edge).tolist() == [n > value for n in values.tolist()]
    assert cut.value == value
    assert isinstance(cut.value, int) == (dtype.kind in "iu" and value == int(value))
    assert given_bracket(value, dtype).low == cut.edge


def test_cuts_are_given_for_columns_of_numbers():
    check_given({"age": [18]}, ["age", "bmi"])
    with pytest.raises(
        SpecError, match=r"columns of numbers, dates or times, got 'sex'; there are 'age', 'bmi'"
    ):
        check_given({"sex": [18]}, ["age", "bmi"])


@pytest.mark.parametrize(
    ("measure", "given", "ticks", "name"),
    [
        ("decimal[2]", 500, 50_000, "above_500"),
        ("decimal[2]", 5000.005, 500_000, "above_5000"),
        ("decimal[2]", "-0.25", -25, "above_-0.25"),
        ("date", "2024-02-29", 19_782, "above_2024-02-29"),
        ("time[us]", "12:30:00", 45_000_000_000, "above_12:30:00"),
        ("time[s]", "12:30", 45_000, "above_12:30:00"),
        ("timestamp[ms]", "1970-01-02", 86_400_000, "above_1970-01-02T00:00:00"),
        ("timestamp[s]", "1969-12-31T23:59:59.5", -1, "above_1969-12-31T23:59:59"),
        (
            "timestamp[ns]",
            "1970-01-01T00:00:00.000000001",
            1,
            "above_1970-01-01T00:00:00.000000001",
        ),
        ("instant[s]", "1970-01-01T02:00:00+02:00", 0, "above_1970-01-01T00:00:00Z"),
        ("duration[s]", "P1DT0H0M1S", 86_401, "above_P1DT0H0M1S"),
    ],
)
def test_a_given_cut_is_what_the_column_counts_up_to_it(measure, given, ticks, name):
    known = parse_measure(measure)
    assert counted_cuts([given], "x", known) == (ticks,)
    assert plan_cuts(9, [ticks], known, n_rows=10, n_columns=2).names == (name,)


@pytest.mark.parametrize(
    ("measure", "given", "expected"),
    [
        (None, "2024-02-29", "must be numbers, got '2024-02-29'"),
        (None, math.nan, "must be numbers, got nan"),
        ("decimal[2]", math.inf, "must be numbers, got inf"),
        ("date", 19_782, "must be dates such as 2024-02-29, got 19782"),
        ("date", "2024-02-30", "must be dates"),
        ("time[s]", "2024-02-29", "must be times"),
        ("timestamp[s]", "2024-02-29T12:00:00Z", "without a zone"),
        ("instant[s]", "2024-02-29T12:00:00", "with their zone"),
        ("duration[s]", 5, "must be durations"),
        ("decimal[2]", "1,5", "must be numbers"),
    ],
)
def test_a_cut_that_the_column_cannot_count_is_refused(measure, given, expected):
    with pytest.raises(SpecError, match=f"booleanize.at: cuts of 'x' .*{expected}"):
        counted_cuts([given], "x", None if measure is None else parse_measure(measure))


def judged_cuts(x: list[int], y: list[bool], cuts: list[int]) -> set[int]:
    """Split recursively by information gain as Fayyad and Irani do, over the rows themselves."""

    def entropy(labels: list[bool]) -> float:
        return -sum(p * math.log2(p) for p in (labels.count(v) / len(labels) for v in set(labels)))

    rows = list(zip(x, y, strict=True))
    found = []
    for cut in cuts:
        low, high = [b for a, b in rows if a <= cut], [b for a, b in rows if a > cut]
        if low and high:
            found.append(
                ((len(low) * entropy(low) + len(high) * entropy(high)) / len(y), cut, low, high)
            )
    if not found:
        return set()
    least = min(left for left, *_ in found)
    left, cut, low, high = next(each for each in found if each[0] <= least + 1e-12)
    k, k1, k2 = len(set(y)), len(set(low)), len(set(high))
    cost = math.log2(3**k - 2) - (k * entropy(y) - k1 * entropy(low) - k2 * entropy(high))
    if (entropy(y) - left) * len(y) <= math.log2(len(y) - 1) + cost:
        return set()
    below, above = [r for r in rows if r[0] <= cut], [r for r in rows if r[0] > cut]
    return (
        {cut}
        | judged_cuts([a for a, _ in below], low, [c for c in cuts if c < cut])
        | judged_cuts([a for a, _ in above], high, [c for c in cuts if c > cut])
    )


@pytest.mark.parametrize("seed", range(30))
def test_entropy_keeps_the_cuts_of_the_recursive_split(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 20, 150)
    y = rng.random(150) < np.where((x > 4) & (x < 13), 0.9, 0.15 + 0.02 * x)
    cuts = [2, 4, 7, 12, 16]
    above = x[:, None] > np.array(cuts)
    tables = Associations(
        np.array([150]),
        np.array([y.sum()]),
        above.sum(axis=0)[None],
        (above & y[:, None]).sum(axis=0)[None],
    )
    kept = keep_telling(tables, [list(range(5))])
    assert {cuts[i] for i in np.flatnonzero(kept[0])} == judged_cuts(x.tolist(), y.tolist(), cuts)


def test_attributes_that_are_no_cuts_stay():
    tables = Associations(np.array([4]), np.array([2]), np.array([[2, 2]]), np.array([[1, 1]]))
    assert keep_telling(tables, [[1]]).tolist() == [[True, False]]


def test_a_plan_without_cuts_has_no_names():
    assert CutPlan().names == ()
