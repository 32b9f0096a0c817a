"""Which cuts a column gets, and which of many entropy keeps."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.associations import Associations
from dnfscale.errors import DataError
from dnfscale.method.cuts import CutPlan, automatic, check_given, given_bracket, given_cut, keep_telling, plan_cuts


def test_a_median_is_named_so_and_other_quantiles_by_their_percentile():
    size = {"n_rows": 10, "n_columns": 2}
    assert plan_cuts("median", **size).names == ("above_median",)
    assert plan_cuts(3, **size).names == ("above_p25", "above_median", "above_p75")
    assert plan_cuts(9, [65, 18.5, 65], **size).names == ("above_18.5", "above_65")
    assert plan_cuts("entropy", **size).shares == tuple(Fraction(j, 20) for j in range(1, 20))


def test_more_rows_are_worth_more_cuts():
    assert automatic(40_000, 1000) == 17
    assert [automatic(n, 100) for n in (0, 1, 100, 128, 4096, 500_000, 10**12)] == [3, 3, 4, 4, 9, 31, 31]
    assert plan_cuts("auto", n_rows=128, n_columns=3).shares == tuple(Fraction(j, 5) for j in range(1, 5))


def test_fewer_columns_are_worth_more_cuts():
    assert [automatic(8_000, columns) for columns in (0, 1, 16, 20, 25, 50, 1000)] == [31, 31, 31, 25, 20, 10, 10]


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
    with pytest.raises(DataError, match=r"at must name columns of numbers, got 'sex'; there are 'age', 'bmi'"):
        check_given({"sex": [18]}, ["age", "bmi"])


def judged_cuts(x: list[int], y: list[bool], cuts: list[int]) -> set[int]:
    """Split recursively by information gain as Fayyad and Irani do, over the rows themselves."""

    def entropy(labels: list[bool]) -> float:
        return -sum(p * math.log2(p) for p in (labels.count(v) / len(labels) for v in set(labels)))

    rows = list(zip(x, y, strict=True))
    found = []
    for cut in cuts:
        low, high = [b for a, b in rows if a <= cut], [b for a, b in rows if a > cut]
        if low and high:
            found.append(((len(low) * entropy(low) + len(high) * entropy(high)) / len(y), cut, low, high))
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
        np.array([150]), np.array([y.sum()]), above.sum(axis=0)[None], (above & y[:, None]).sum(axis=0)[None]
    )
    kept = keep_telling(tables, [list(range(5))])
    assert {cuts[i] for i in np.flatnonzero(kept[0])} == judged_cuts(x.tolist(), y.tolist(), cuts)


def test_attributes_that_are_no_cuts_stay():
    tables = Associations(np.array([4]), np.array([2]), np.array([[2, 2]]), np.array([[1, 1]]))
    assert keep_telling(tables, [[1]]).tolist() == [[True, False]]


def test_a_plan_without_cuts_has_no_names():
    assert CutPlan().names == ()
