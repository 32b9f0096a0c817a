"""Medians are exact: numpy.median on the same rows, and exact fractions where floats cannot hold
it.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dnfscale.core import medians
from dnfscale.core.arrays import Bools, Codes, Ints
from dnfscale.core.columns import Numbers
from dnfscale.core.medians import (
    MEDIAN,
    NOWHERE,
    Bracket,
    Brackets,
    Cut,
    Located,
    Ranked,
    bracket,
    joined,
    merge,
    midpoint,
    quantile_cuts,
    zone_rows,
    zoned,
    zones,
)
from tests.strategies import FLOAT_DTYPES, INTEGER_DTYPES, groupings, numbers


def locate(data: Numbers, arcs: Codes, within: Bracket, n_arcs: int) -> Located:
    """Locate values as a scan does it."""
    brackets = joined([within])
    [located] = locate_all(data, arcs, brackets, n_arcs)
    return located


def locate_all(
    data: Numbers, arcs: Codes, brackets: Brackets, n_arcs: int, weights: Ints | None = None
) -> list[Located]:
    zone = zones(data, brackets)
    inside = data.values[zone % 2 == 1]
    rows = zone_rows(zone, arcs, weights, n_brackets=len(brackets.parts), n_arcs=n_arcs)
    found = zoned(rows, zone, inside, arcs, weights)
    return medians.located(found, brackets.parts, range(len(brackets.parts)))


def cuts(located: Located, members: Bools) -> list[Cut | None]:
    """Return the median of each subset of arcs."""
    [found] = quantile_cuts(located, members, [MEDIAN])
    return found


Values = np.ndarray[Any, Any]


def exact_median(values: Values) -> Fraction:
    """The judge of whole numbers: half the sum of the two middle ones."""
    ordered = sorted(int(value) for value in values)
    n = len(ordered)
    return Fraction(ordered[(n - 1) // 2] + ordered[n // 2], 2)


def plain_median(values: Values) -> Any:
    """The judge of floats."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.median(values)


def everything(dtype: np.dtype[Any]) -> Bracket:
    """Return the bracket that no value is outside of."""
    return bracket(np.empty(0, dtype=dtype), n_rows=1, widening=0)


def median_cut(values: Values, within: Bracket | None = None) -> Cut | None:
    """Return the cut at the median of some values, all of one arc."""
    arcs = np.zeros(len(values), dtype=np.uint8)
    located = locate(Numbers(values, None), arcs, within or everything(values.dtype), 1)
    [cut] = cuts(located, np.array([[True]]))
    return cut


def assert_separates_exactly(cut: Cut, median: Fraction, values: Values) -> None:
    """Every whole number is above the cut exactly when it is above the exact median, as code and as
    written down.
    """
    info = np.iinfo(values.dtype)
    near = {int(median) + step for step in (-2, -1, 0, 1, 2)}
    wanted = {
        *map(int, values),
        *(x for x in near if info.min <= x <= info.max),
        int(info.min),
        int(info.max),
    }
    tried = np.array(sorted(wanted), dtype=values.dtype)
    expected = [int(x) > median for x in tried]
    assert (tried > cut.edge).tolist() == expected
    assert [int(x) > cut.value for x in tried] == expected
    assert cut.edge.dtype == values.dtype


@pytest.mark.slow
@pytest.mark.parametrize("dtype", INTEGER_DTYPES)
@given(data=st.data())
def test_a_cut_of_whole_numbers_separates_exactly_at_the_median(dtype, data):
    values = data.draw(numbers(dtype))
    assert_separates_exactly(median_cut(values), exact_median(values), values)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8", "uint16", "uint32"])
@given(data=st.data())
def test_the_value_of_a_cut_of_whole_numbers_is_numpys_median(dtype, data):
    values = data.draw(numbers(dtype))
    assert median_cut(values).value == np.median(values)


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
@given(data=st.data())
def test_the_cut_of_finite_floats_is_numpys_median(dtype, data):
    values = data.draw(numbers(dtype))
    cut, judged = median_cut(values), plain_median(values)
    assume(np.isfinite(judged))
    assert cut.edge == judged
    assert cut.edge.dtype == judged.dtype == values.dtype
    assert cut.value == float(judged)


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_the_cut_of_huge_floats_does_not_overflow_as_numpys_median_does(dtype):
    huge = np.finfo(dtype).max
    cut = median_cut(np.array([-1, huge, huge, huge], dtype=dtype))
    assert cut.edge == huge
    assert np.isinf(plain_median(np.array([huge, huge], dtype=dtype)))


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
@given(values=st.lists(st.sampled_from([-np.inf, -1.5, 0.0, 2.0, np.inf]), min_size=1, max_size=12))
def test_the_cut_of_floats_with_infinities_is_numpys_median(dtype, values):
    array = np.array(values, dtype=dtype)
    judged = plain_median(array)
    assume(not np.isnan(judged))
    assert median_cut(array).edge == judged


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_the_cut_halfway_between_the_two_infinities_tells_them_apart(dtype):
    cut = median_cut(np.array([-np.inf, np.inf], dtype=dtype))
    assert not np.isnan(cut.edge)
    assert np.inf > cut.edge >= -np.inf


@pytest.mark.parametrize(
    ("values", "median"),
    [
        ([3], 3),
        ([1, 2], 1.5),
        ([2, 2, 2, 7], 2),
        ([-3, -4], -3.5),
        ([0, 0, 1, 1], 0.5),
        ([5, 1, 4], 4),
    ],
)
@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64"])
def test_small_medians_are_as_one_reckons_them(values, median, dtype):
    assert median_cut(np.array(values, dtype=dtype)).value == median


@pytest.mark.parametrize(
    "values",
    [
        [2**53, 2**53 + 1],
        [2**53 + 1, 2**53 + 2, 2**53 + 3],
        [2**62, 2**62 + 1],
        [2**63 - 2, 2**63 - 1],
        [-(2**63), 2**63 - 1],
        [-(2**63), -(2**63) + 1],
        [-(2**53) - 1, -(2**53) - 2],
    ],
)
def test_medians_of_whole_numbers_beyond_the_precision_of_floats_are_exact(values):
    array = np.array(values, dtype=np.int64)
    assert_separates_exactly(median_cut(array), exact_median(array), array)


@pytest.mark.parametrize(
    "values", [[2**64 - 2, 2**64 - 1], [2**63, 2**63 + 1], [0, 2**64 - 1], [2**63 + 5] * 4]
)
def test_medians_of_unsigned_numbers_beyond_the_signed_range_are_exact(values):
    array = np.array(values, dtype=np.uint64)
    assert_separates_exactly(median_cut(array), exact_median(array), array)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=2))
def test_a_midpoint_of_large_numbers_separates_exactly(pair):
    low, high = np.array(sorted(pair), dtype=np.int64)
    assert_separates_exactly(
        midpoint(low, high), Fraction(sum(pair), 2), np.array(pair, dtype=np.int64)
    )


def test_nearly_as_many_ones_as_zeros_have_the_median_zero():
    values = np.repeat(np.array([0, 1], dtype=np.int64), [100_001, 99_999])
    parts = np.array_split(np.random.default_rng(0).permutation(values), 16)
    within = bracket(values[::50], n_rows=len(values), widening=0)
    located = merge(
        [locate(Numbers(p, None), np.zeros(len(p), np.uint8), within, 1) for p in parts]
    )
    [cut] = cuts(located, np.array([[True]]))
    assert cut.value == 0


@pytest.mark.parametrize(
    ("zeros", "ones", "median"), [(50_000, 50_000, 0.5), (50_000, 50_001, 1), (50_001, 50_000, 0)]
)
@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64"])
def test_one_row_decides_between_two_values_that_occur_very_often(zeros, ones, median, dtype):
    values = np.repeat(np.array([1, 0], dtype=dtype), [ones, zeros])
    assert median_cut(values).value == median


def test_values_that_repeat_are_collected_once_per_arc_however_many_rows_there_are():
    for dtype in ("int8", "int64", "float32", "float64"):
        values = np.zeros(100_000, dtype=dtype)
        arcs = np.arange(100_000) % 7
        half = [
            locate(Numbers(values, None), arcs.astype(np.uint8), everything(values.dtype), 7)
        ] * 2
        assert len(merge(half).values) == 7


def test_missing_values_have_no_part_in_a_median():
    values = np.array([1.0, np.nan, 5.0, np.nan, 9.0, np.nan])
    located = locate(
        Numbers(values, ~np.isnan(values)), np.zeros(6, np.uint8), everything(values.dtype), 1
    )
    assert located.present.tolist() == [3]
    [cut] = cuts(located, np.array([[True]]))
    assert cut.value == np.nanmedian(values) == 5.0


def test_no_values_at_all_have_no_cut():
    values = np.array([1.0, 2.0])
    located = locate(
        Numbers(values, np.array([False, False])),
        np.zeros(2, np.uint8),
        everything(values.dtype),
        1,
    )
    assert cuts(located, np.array([[True]])) == [Cut(None, None)]


def test_an_empty_subset_of_arcs_has_no_cut():
    values = np.array([1, 2, 3], dtype=np.int32)
    located = locate(
        Numbers(values, None), np.array([0, 0, 2], np.uint8), everything(values.dtype), 3
    )
    found = cuts(
        located, np.array([[False, True, False], [False, False, False], [True, True, False]])
    )
    assert [cut.value for cut in found] == [None, None, 1.5]


@st.composite
def located_columns(draw: st.DrawFn) -> tuple[Values, np.ndarray, int, np.ndarray]:
    """Values, the arc of each, the number of arcs, and some subsets of arcs."""
    values = draw(numbers(draw(st.sampled_from(["int8", "int64", "uint64", "float32", "float64"]))))
    n_arcs = draw(st.integers(1, 5))
    arcs = np.array(
        draw(st.lists(st.integers(0, n_arcs - 1), min_size=len(values), max_size=len(values))),
        np.uint8,
    )
    subset = st.lists(st.booleans(), min_size=n_arcs, max_size=n_arcs)
    return values, arcs, n_arcs, np.array(draw(st.lists(subset, min_size=1, max_size=4)))


def middle_values(values: Values) -> tuple[Any, Any]:
    ordered = np.sort(values)
    return ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]


@given(located_columns())
def test_every_union_of_arcs_has_its_own_median(column):
    values, arcs, n_arcs, members = column
    located = locate(Numbers(values, None), arcs, everything(values.dtype), n_arcs)
    for member, cut in zip(members, cuts(located, members), strict=True):
        chosen = values[member[arcs]]
        assert cut == (midpoint(*middle_values(chosen)) if len(chosen) else Cut(None, None))


@given(located_columns(), st.data())
def test_a_bracket_that_misses_is_noticed_and_never_gives_a_wrong_cut(column, choice):
    values, arcs, n_arcs, members = column
    low, high = sorted(
        choice.draw(st.lists(st.sampled_from(values.tolist()), min_size=2, max_size=2))
    )
    within = Bracket(values.dtype.type(low), values.dtype.type(high))
    located = locate(Numbers(values, None), arcs, within, n_arcs)
    for member, cut in zip(members, cuts(located, members), strict=True):
        chosen = values[member[arcs]]
        if not len(chosen):
            assert cut == Cut(None, None)
            continue
        middle = middle_values(chosen)
        caught = within.low <= middle[0] and middle[1] <= within.high
        assert cut == (midpoint(*middle) if caught else None)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (90, 99), (51, 60), (0, 49), (0, 48)])
def test_a_bracket_beside_the_median_gives_no_cut(low, high):
    # The two middle values of 0..99 are 49 and 50.
    values = np.arange(100, dtype=np.int64)
    assert median_cut(values, Bracket(np.int64(low), np.int64(high))) is None


@given(located_columns(), st.data())
def test_merging_in_any_grouping_gives_the_same_cuts(column, choice):
    values, arcs, n_arcs, members = column
    low, high = np.sort(values)[[0, -1]]
    within = choice.draw(
        st.sampled_from([everything(values.dtype), Bracket(low, high), Bracket(low, low)])
    )

    def located(rows: np.ndarray) -> Located:
        return locate(Numbers(values[rows], None), arcs[rows], within, n_arcs)

    groups = choice.draw(groupings(len(values)))
    flat = merge([located(rows) for rows in groups])
    tree = merge(
        [
            merge([located(rows) for rows in groups[:2]]),
            *(merge([located(rows)]) for rows in groups[2:]),
        ]
    )
    whole = located(np.arange(len(values)))
    assert cuts(flat, members) == cuts(tree, members) == cuts(whole, members)
    assert np.array_equal(flat.below, whole.below)
    assert np.array_equal(tree.present, whole.present)


@given(st.sampled_from(["int16", "int64", "uint64", "float32", "float64"]), st.data())
def test_a_bracket_is_an_interval_in_the_columns_own_dtype_that_widening_only_widens(dtype, choice):
    sample = choice.draw(numbers(dtype, max_size=200))
    narrow, wide, widest = (
        bracket(sample, n_rows=10**6, widening=widening) for widening in (0, 2, 20)
    )
    assert widest.low <= wide.low <= narrow.low <= narrow.high <= wide.high <= widest.high
    assert {np.dtype(type(end)) for end in (narrow.low, narrow.high)} == {np.dtype(dtype)}
    lowest, highest = (
        (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype[0] in "iu" else (-np.inf, np.inf)
    )
    assert (widest.low, widest.high) == (lowest, highest)


@pytest.mark.parametrize("seed", range(5))
def test_the_first_bracket_is_narrow_and_holds_the_medians_of_random_halves(seed):
    random = np.random.default_rng(seed)
    values = random.normal(size=100_000)
    within = bracket(random.choice(values, 20_000), n_rows=len(values), widening=0)
    assert ((values >= within.low) & (values <= within.high)).mean() < 0.05
    arcs = random.integers(0, 2, len(values)).astype(np.uint8)
    members = np.array([[True, False], [False, True], [True, True]])
    found = cuts(locate(Numbers(values, None), arcs, within, 2), members)
    assert [cut.edge for cut in found] == [np.median(values[member[arcs]]) for member in members]


# Several quantiles of a column.


@given(st.sampled_from(["int8", "uint64", "float32", "float64"]), st.integers(1, 9), st.data())
def test_quantiles_lie_halfway_between_the_values_on_either_side_of_their_share(dtype, k, choice):
    values = choice.draw(numbers(dtype, max_size=60))
    shares = [Fraction(j, k + 1) for j in range(1, k + 1)]
    ends = sorted(choice.draw(st.lists(st.sampled_from(list(values)), min_size=2, max_size=6)))
    brackets = joined(
        [everything(values.dtype)] if choice.draw(st.booleans()) else [Bracket(ends[0], ends[-1])]
    )
    data = Numbers(values, None)
    located = locate(data, np.zeros(len(values), np.uint8), brackets.parts[0], 1)
    found = quantile_cuts(located, np.ones((1, 1), dtype=np.bool_), shares)
    for share, [cut] in zip(shares, found, strict=True):
        n = len(values)
        low, high = np.sort(values)[
            [-(-n * share.numerator // share.denominator) - 1, int(n * share)]
        ]
        inside = brackets.parts[0].low <= low and high <= brackets.parts[0].high
        assert (cut is None) == (not inside)
        if cut is not None:
            assert cut == midpoint(low, high)


def test_quantiles_of_floats_are_the_averaged_inverted_cdf_of_numpy():
    values = np.random.default_rng(3).normal(size=997)
    located = locate(Numbers(values, None), np.zeros(997, np.uint8), everything(values.dtype), 1)
    shares = [Fraction(j, 10) for j in range(1, 10)]
    found = quantile_cuts(located, np.ones((1, 1), dtype=np.bool_), shares)
    judged = np.quantile(values, [float(share) for share in shares], method="averaged_inverted_cdf")
    assert [cut.value for [cut] in found] == judged.tolist()


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 5)), min_size=1, max_size=6),
    st.lists(st.integers(-12, 18)),
)
def test_zones_say_in_which_of_some_brackets_a_value_lies(wanted, values):
    asked = [Bracket(np.int64(low), np.int64(low + width)) for low, width in wanted]
    brackets = joined(asked)
    for bracket_, number in zip(asked, brackets.of_cut, strict=True):
        assert brackets.parts[number].low <= bracket_.low
        assert bracket_.high <= brackets.parts[number].high
    zone = zones(Numbers(np.array(values, dtype=np.int64), None), brackets)
    for value, found in zip(values, zone.tolist(), strict=True):
        inside = [i for i, part in enumerate(brackets.parts) if part.low <= value <= part.high]
        below = sum(part.high < value for part in brackets.parts)
        assert found == (2 * inside[0] + 1 if inside else 2 * below)
        assert len(inside) <= 1


@given(
    st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 7, 1023, 1024, 1025, 5000]), st.integers(1, 6)
)
def test_a_rank_is_found_where_sorting_finds_it(seed, n_values, n_arcs):
    random = np.random.default_rng(seed)
    values = random.integers(0, max(1, n_values // 2), n_values).astype(np.float32)
    arcs = random.integers(0, n_arcs, n_values).astype(np.uint8)
    counts = random.integers(1, 4, n_values)
    members = random.random((5, n_arcs)) < 0.6
    ranks = random.integers(-2, 3 * n_values + 2, (5, 4))
    ranked = Ranked(values, arcs, counts, n_arcs)
    places = ranked.places(members, ranks)
    for member, asked, found in zip(members, ranks, places, strict=True):
        rows = np.sort(np.repeat(values, np.where(member[arcs], counts, 0)))
        for rank, place in zip(asked, found, strict=True):
            if 0 <= rank < len(rows):
                assert ranked.values[place] == rows[rank]
            else:
                assert place == NOWHERE
