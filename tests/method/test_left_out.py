"""Errors of types that candidates split, against a recount of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.method.left_out import left_out_errors
from dnfscale.method.rankings.together import Candidates, flags_alone


def errors_of(types: list[tuple[bool, ...]], target: np.ndarray, weights: np.ndarray) -> int:
    """Return twice the left-out errors of rows with these types, type by type."""
    found = 0
    for kind in set(types):
        own = np.array([each == kind for each in types])
        n, c = int(weights[own].sum()), int(weights[own & target].sum())
        found += int(left_out_errors(np.array([n]), np.array([c]))[0])
    return found


@st.composite
def tables(draw: st.DrawFn) -> tuple[Candidates, np.ndarray]:
    """Return rows with some candidates, so heavy at times that types are not small."""
    n_rows, n_candidates = draw(st.integers(1, 40)), draw(st.integers(3, 6))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    heaviest = draw(st.sampled_from([1, 3, 200, 70_000]))
    weights = rng.integers(1, heaviest + 1, n_rows)
    holds = rng.random((n_candidates, n_rows)) < rng.random((n_candidates, 1))
    target = rng.random(n_rows) < 0.5
    return flags_alone(holds, target, None if heaviest == 1 else weights), weights


@given(tables())
def test_errors_without_an_attribute_are_those_of_a_recount(table):
    rows, weights = table
    holds = rows.flags.holds
    chosen = [0, 2]
    codes = holds[0] + 2 * holds[2].astype(np.int64)
    counted = rows.counted(codes)
    types = list(zip(*holds[chosen].tolist(), strict=True))
    assert counted.errors() == errors_of(types, rows.target, weights)
    for place in range(2):
        rest = chosen[1 - place]
        split = counted.without(place)
        found = split.of()
        for candidate in range(len(rows)):
            types = list(zip(*holds[[rest, candidate]].tolist(), strict=True))
            assert found[candidate] == errors_of(types, rows.target, weights)
        some = np.array([1, 0])
        np.testing.assert_array_equal(split.of(some), found[some])


@pytest.mark.parametrize("times", [1, 300])
def test_an_interval_splits_types_by_what_lies_between_its_cuts(times):
    above = np.array([[0, 1, 1, 1, 1], [0, 0, 0, 1, 1], [0, 1, 0, 1, 0]], dtype=np.bool_)
    holds, target = np.repeat(above, times, axis=1), np.repeat([0, 1, 1, 0, 0], times).astype(bool)
    rows = flags_alone(np.vstack([holds, holds[0] & ~holds[1]]), target)
    split = rows.counted(holds[2].astype(np.int64) * 2).without(0)
    between = split.of(np.array([0]), np.array([1]))
    assert between[0] == split.of()[3]
