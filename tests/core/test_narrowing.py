"""Narrower brackets hold the same cuts: what is collected from them gives what all values give."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core import medians
from dnfscale.core.columns import Numbers
from dnfscale.core.medians import Bracket, Brackets, Zoned, joined, quantile_cuts, zones
from dnfscale.core.narrowing import climb, merge, narrowed, steps
from tests.strategies import groupings, numbers

DTYPES = ["int8", "int64", "uint64", "float32", "float64"]


def zoned(values: np.ndarray, arcs: np.ndarray, n_arcs: int, brackets: Brackets) -> Zoned:
    zone = zones(Numbers(values, None), brackets)
    inside = values[zone % 2 == 1]
    rows = medians.zone_rows(zone, arcs, None, n_brackets=len(brackets.parts), n_arcs=n_arcs)
    return medians.zoned(rows, zone, inside, arcs, None)


@pytest.mark.slow
@given(st.sampled_from(DTYPES), st.integers(1, 4), st.integers(1, 5), st.data())
def test_cuts_from_narrow_brackets_are_those_from_wide_ones(dtype, n_arcs, n_cuts, choice):
    values = choice.draw(numbers(dtype, max_size=60))
    arcs = np.array(
        choice.draw(
            st.lists(st.integers(0, n_arcs - 1), min_size=len(values), max_size=len(values))
        ),
        "u1",
    )
    subset = st.lists(st.booleans(), min_size=n_arcs, max_size=n_arcs)
    members = np.array(choice.draw(st.lists(subset, min_size=1, max_size=4)))
    shares = [Fraction(j, n_cuts + 1) for j in range(1, n_cuts + 1)]
    ends = [
        sorted(choice.draw(st.lists(st.sampled_from(list(values)), min_size=2, max_size=2)))
        for _ in shares
    ]
    # Brackets of growing shares do not fall behind each other.
    lows, highs = np.sort([low for low, _ in ends]), np.sort([high for _, high in ends])
    wide = joined([Bracket(low, high) for low, high in zip(lows, highs, strict=True)])
    divided = [
        np.unique(
            [
                value
                for value in choice.draw(st.lists(st.sampled_from(list(values))))
                if part.low < value <= part.high
            ]
        ).astype(values.dtype)
        for part in wide.parts
    ]
    groups = choice.draw(groupings(len(values)))
    found = [zoned(values[rows], arcs[rows], n_arcs, wide) for rows in groups]
    counted = [
        merge(of_bracket)
        for of_bracket in zip(*(climb(part, divided) for part in found), strict=True)
    ]
    for number, (bracket, own) in enumerate(zip(wide.parts, divided, strict=True)):
        for place, step in enumerate(own, start=1):
            expected_below = np.bincount(arcs[values < step], minlength=n_arcs)
            assert counted[number].below[place].tolist() == expected_below.tolist()
        assert (
            counted[number].below[-1].tolist()
            == np.bincount(arcs[values <= bracket.high], minlength=n_arcs).tolist()
        )
    whole = medians.located(zoned(values, arcs, n_arcs, wide), wide.parts, range(len(wide.parts)))
    expected = [
        quantile_cuts(whole[number], members, [share])[0]
        for share, number in zip(shares, wide.of_cut, strict=True)
    ]
    narrow = narrowed(wide, divided, counted, members, shares)
    if narrow is None:
        assert any(cut is None for of_share in expected for cut in of_share)
        return
    part_of = dict(zip(narrow.of_cut, wide.of_cut, strict=True))
    parts = [
        medians.located(part, narrow.parts, [part_of[i] for i in range(len(narrow.parts))])
        for part in found
    ]
    collected = [medians.merge(of_bracket) for of_bracket in zip(*parts, strict=True)]
    assert [
        quantile_cuts(collected[number], members, [share])[0]
        for share, number in zip(shares, narrow.of_cut, strict=True)
    ] == expected


@pytest.mark.slow
def test_of_many_rows_few_are_collected_and_more_of_more_rows_hardly_more():
    collected = {}
    for n_rows in (200_000, 1_600_000):
        random = np.random.default_rng(n_rows)
        values = random.normal(size=n_rows)
        arcs = random.integers(0, 20, n_rows).astype("u1")
        sample = random.choice(values, 10_000)
        wide = joined([medians.bracket(sample, n_rows=n_rows, widening=0)])
        part = zoned(values, arcs, 20, wide)
        divided = steps(sample, wide.parts[0], n_rows=n_rows)
        members = ~np.eye(20, dtype=np.bool_)
        narrow = narrowed(wide, [divided], climb(part, [divided]), members, [medians.MEDIAN])
        assert narrow is not None
        [inside] = medians.located(part, narrow.parts, [0])
        [found] = quantile_cuts(inside, members, [medians.MEDIAN])
        assert [cut.edge for cut in found] == [
            np.median(values[member[arcs]]) for member in members
        ]
        collected[n_rows] = len(inside.values)
        assert len(part.values) > 0.03 * n_rows
    assert collected[1_600_000] < 3 * collected[200_000] < 0.1 * 200_000


@given(st.sampled_from(DTYPES), st.data())
def test_steps_increase_within_their_bracket(dtype, choice):
    sample = choice.draw(numbers(dtype, max_size=200))
    low, high = sorted(choice.draw(st.lists(st.sampled_from(list(sample)), min_size=2, max_size=2)))
    found = steps(sample, Bracket(low, high), n_rows=choice.draw(st.integers(1, 10**9)))
    assert found.dtype == sample.dtype
    assert all(low < step <= high for step in found)
    assert (np.sort(np.unique(found)) == found).all()
    assert len(found) <= 64
