"""Splits: exact sizes, no dependence on chunks, and as random as they should be."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from dnfscale.core.splits import TEST, TRAIN, VALIDATION, Permutation, Splits


def positions(size: int, seed: int, first: int = 0, stop: int | None = None) -> np.ndarray:
    return Permutation(size, seed)(
        np.arange(first, size if stop is None else stop, dtype=np.uint64)
    )


def row_parts(splits: Splits) -> np.ndarray:
    """Return the part of every row in every fold, parts[fold, row]."""
    return splits.parts[:, splits.arcs(0, splits.n_rows)]


def plain_parts(n_rows: int, outer: int, validation: float, seed: int) -> np.ndarray:
    """The judge: deal out the positions of the circle one by one."""
    place = positions(n_rows, seed).tolist()
    parts = np.full((outer + 1, n_rows), TRAIN)
    for fold in range(outer + 1):
        start, stop = (
            (0, 0) if fold == outer else (fold * n_rows // outer, (fold + 1) * n_rows // outer)
        )
        n_validation = int(Fraction(str(validation)) * (n_rows - (stop - start)))
        held_out = {(stop + i) % n_rows for i in range(n_validation)}
        for row in range(n_rows):
            if start <= place[row] < stop:
                parts[fold, row] = TEST
            elif place[row] in held_out:
                parts[fold, row] = VALIDATION
    return parts


@st.composite
def splits_of(draw: st.DrawFn) -> Splits:
    n_rows = draw(st.integers(2, 300))
    outer = draw(st.one_of(st.just(0), st.just(n_rows), st.integers(2, min(n_rows, 12))))
    validation = draw(st.sampled_from([0.0, 0.1, 0.25, 0.29, 0.3, 0.5, 0.57, 0.7]))
    return Splits(n_rows, outer, validation, draw(st.integers(0, 2**32)))


def test_a_permutation_of_each_small_size_is_a_bijection():
    for size in range(1, 301):
        for seed in (0, 1):
            assert np.array_equal(np.sort(positions(size, seed)), np.arange(size))


@pytest.mark.parametrize("exponent", [8, 10, 12, 15, 16, 17])
@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_a_permutation_is_a_bijection_around_powers_of_two(exponent, offset):
    size = (1 << exponent) + offset
    assert np.array_equal(np.sort(positions(size, exponent)), np.arange(size))


@pytest.mark.slow
@pytest.mark.parametrize("size", [2**32 - 1, 2**32, 2**32 + 1, 3 * 2**32 + 12_345, 2**40])
def test_row_numbers_beyond_32_bits_land_on_distinct_positions_in_range(size):
    random = np.random.default_rng(size % 1000)
    drawn = np.unique(
        np.concatenate(
            [
                random.integers(0, size, 100_000, dtype=np.uint64),
                np.arange(50_000, dtype=np.uint64),
                np.arange(size - 50_000, size, dtype=np.uint64),
                np.arange(min(size, 2**32) - 100, min(size, 2**32), dtype=np.uint64),
            ]
        )
    )
    places = Permutation(size, 7)(drawn)
    assert int(places.max()) < size
    assert len(np.unique(places)) == len(drawn)
    # Uniform on the circle: each of 16 arcs of equal length has its share.
    counts = np.histogram(places.astype(np.float64), bins=16, range=(0, size))[0]
    expected = len(drawn) / 16
    assert ((counts - expected) ** 2 / expected).sum() < chi2.ppf(1 - 1e-6, 15)


def test_a_permutation_does_not_depend_on_which_rows_are_asked_together():
    whole = positions(1000, 3)
    assert np.array_equal(
        np.concatenate([positions(1000, 3, i, i + 1) for i in range(1000)]), whole
    )


@given(splits_of())
def test_every_row_of_every_fold_is_in_the_part_that_the_plain_deal_gives(splits):
    judged = plain_parts(splits.n_rows, splits.outer, splits.validation, splits.seed)
    assert np.array_equal(row_parts(splits), judged)


@given(splits_of())
def test_test_parts_partition_the_rows_and_their_sizes_differ_by_at_most_one(splits):
    tests = row_parts(splits)[: splits.outer] == TEST
    if splits.outer:
        assert (tests.sum(axis=0) == 1).all()
        assert np.ptp(tests.sum(axis=1)) <= 1


@given(splits_of())
def test_the_validation_part_has_exactly_its_share_of_the_rows_that_are_not_tested(splits):
    parts = row_parts(splits)
    for fold in range(splits.n_folds):
        whole = (parts[fold] != TEST).sum()
        assert (parts[fold] == VALIDATION).sum() == int(
            Fraction(str(splits.validation)) * int(whole)
        )


@pytest.mark.parametrize(
    ("validation", "rows"), [(0.29, 29), (0.57, 57), (0.58, 58), (0.3, 30), (np.float64(0.29), 29)]
)
def test_a_share_is_the_decimal_that_was_written(validation, rows):
    assert Splits(100, 0, validation, 0).rows_of(0, [VALIDATION]) == rows


@given(st.integers(1, 1_999_999))
def test_the_share_of_the_paper_is_what_floats_say(n_rows):
    assert int(Fraction("0.3") * n_rows) == int(0.3 * n_rows)


@given(st.integers(2, 400), st.integers(0, 5))
def test_three_tenths_of_a_fold_are_validation_rows(n_rows, seed):
    splits = Splits(n_rows, 2, 0.3, seed)
    for fold in range(3):
        assert splits.rows_of(fold, [VALIDATION]) == int(
            0.3 * splits.rows_of(fold, [TRAIN, VALIDATION])
        )


@given(splits_of())
def test_the_parts_of_a_fold_are_disjoint_and_their_sizes_are_told_without_looking_at_rows(splits):
    parts = row_parts(splits)
    for fold in range(splits.n_folds):
        told = [splits.rows_of(fold, [part]) for part in (TRAIN, VALIDATION, TEST)]
        assert told == [(parts[fold] == part).sum() for part in (TRAIN, VALIDATION, TEST)]
        assert sum(told) == splits.n_rows
        assert splits.rows_of(fold, [TRAIN, VALIDATION]) == told[TRAIN] + told[VALIDATION]


@given(splits_of())
def test_members_says_which_arcs_are_in_some_of_the_parts(splits):
    arcs = splits.arcs(0, splits.n_rows)
    assert np.array_equal(splits.members([TRAIN, TEST])[:, arcs], row_parts(splits) != VALIDATION)
    assert np.array_equal(np.bincount(arcs, minlength=splits.n_arcs), splits.arc_rows)


@pytest.mark.parametrize("n_rows", [2, 3, 17, 99, 300])
def test_leave_one_out_tests_each_row_alone_once(n_rows):
    splits = Splits(n_rows, n_rows, 0.3, 4)
    tests = row_parts(splits)[:-1] == TEST
    assert (tests.sum(axis=0) == 1).all()
    assert (tests.sum(axis=1) == 1).all()


@given(splits_of())
def test_there_are_few_arcs(splits):
    assert splits.n_arcs <= 2 * splits.outer + 2
    assert splits.n_arcs <= splits.n_rows


@given(splits_of(), st.data())
def test_arcs_are_equal_in_any_chunking(splits, choice):
    whole = splits.arcs(0, splits.n_rows)
    cuts = sorted(choice.draw(st.lists(st.integers(0, splits.n_rows), max_size=6)))
    chunks = itertools.pairwise([0, *cuts, splits.n_rows])
    assert np.array_equal(np.concatenate([splits.arcs(a, b - a) for a, b in chunks]), whole)


@pytest.mark.parametrize(("n_rows", "outer"), [(100_003, 10), (70_000, 300), (40_000, 0)])
def test_arcs_of_many_rows_are_where_the_positions_fall(n_rows, outer):
    splits = Splits(n_rows, outer, 0.3, 11)
    judged = np.searchsorted(splits.ends, positions(n_rows, 11), side="right")
    assert np.array_equal(splits.arcs(0, n_rows), judged)
    assert np.array_equal(
        np.concatenate([splits.arcs(0, 33_333), splits.arcs(33_333, n_rows - 33_333)]), judged
    )


def test_no_rows_have_no_arcs():
    assert Splits(10, 2, 0.3, 0).arcs(4, 0).tolist() == []


@given(st.integers(2, 300), st.integers(0, 9), st.data())
def test_the_fold_of_all_rows_is_the_same_in_a_fit_and_in_a_study(n_rows, seed, choice):
    outer = choice.draw(st.one_of(st.just(n_rows), st.integers(2, min(12, n_rows))))
    fit, study = Splits(n_rows, 0, 0.3, seed), Splits(n_rows, outer, 0.3, seed)
    assert np.array_equal(row_parts(fit)[-1], row_parts(study)[-1])
    assert (row_parts(fit)[-1] != TEST).all()


@pytest.mark.parametrize("outer", [-1, 1, 11])
def test_a_number_of_folds_that_the_rows_do_not_allow_is_refused(outer):
    with pytest.raises(ValueError, match=f"outer must be 0 or between 2 and 10 rows, got {outer}"):
        Splits(10, outer, 0.3, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "n_seeds"), [(2, 2000), (3, 3000), (4, 4800), (5, 6000)])
def test_all_orders_of_a_few_rows_are_about_equally_likely(size, n_seeds):
    seen = Counter(tuple(positions(size, seed).tolist()) for seed in range(n_seeds))
    orders = list(itertools.permutations(range(size)))
    expected = n_seeds / len(orders)
    statistic = sum((seen[order] - expected) ** 2 / expected for order in orders)
    assert statistic < chi2.ppf(1 - 1e-4, len(orders) - 1)


@pytest.mark.slow
@pytest.mark.parametrize("size", [10, 100, 1000])
def test_each_row_is_about_equally_likely_on_each_position(size):
    n_seeds = 2000
    first_rows = np.array([positions(size, seed, 0, 4) for seed in range(n_seeds)])
    for row in range(4):
        counts = np.bincount(first_rows[:, row].astype(np.int64) * 10 // size, minlength=10)
        assert ((counts - n_seeds / 10) ** 2 / (n_seeds / 10)).sum() < chi2.ppf(1 - 1e-5, 9)


@pytest.mark.parametrize("n_rows", [1 << 14, 100_000])
@pytest.mark.parametrize("lag", [1, 2, 3, 8, 64, 1000, 4096])
def test_whether_a_row_is_validated_does_not_tell_of_its_neighbour(n_rows, lag):
    validated = row_parts(Splits(n_rows, 0, 0.3, 5))[0] == VALIDATION
    both = (validated[:-lag] & validated[lag:]).sum()
    n, share = n_rows - lag, 0.3
    assert abs(both - n * share**2) < 5 * np.sqrt(n * share**2 * (1 - share**2))


@pytest.mark.parametrize("period", [2, 4, 10, 256])
def test_validation_rows_are_spread_evenly_over_any_regular_pattern_of_rows(period):
    n_rows = 51_200
    validated = row_parts(Splits(n_rows, 0, 0.3, 6))[0] == VALIDATION
    counts = np.bincount(np.arange(n_rows)[validated] % period, minlength=period)
    expected = validated.sum() / period
    assert ((counts - expected) ** 2 / expected).sum() < chi2.ppf(1 - 1e-5, period - 1)


@pytest.mark.parametrize("n_rows", [30, 1000, 70_000])
def test_different_seeds_give_different_splits(n_rows):
    seen = {row_parts(Splits(n_rows, 5, 0.3, seed)).tobytes() for seed in (0, 1, 2, 2**31, 2**63)}
    assert len(seen) == 5


def test_equal_seeds_give_equal_splits():
    assert np.array_equal(row_parts(Splits(500, 5, 0.3, 9)), row_parts(Splits(500, 5, 0.3, 9)))


def test_arrays_that_travel_cannot_be_written_to():
    splits = Splits(10, 2, 0.3, 0)
    with pytest.raises(ValueError, match="read-only"):
        splits.ends[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        splits.parts[0, 0] = 1
