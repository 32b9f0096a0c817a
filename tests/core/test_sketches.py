"""Sketches: exact up to a limit, near the truth beyond it, and the same however rows are split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core import sketches
from dnfscale.core.sketches import ValueSample


def sampled(values: np.ndarray, classes: np.ndarray, k: int) -> ValueSample:
    return sketches.sample_rows(sketches.hash_numbers(values), values, classes, n_classes=2, k=k)


def judged(values: np.ndarray, classes: np.ndarray, k: int) -> dict[float, list[int]]:
    """Return the k values with the smallest hashes, and their rows by class, the slow way."""
    distinct = np.unique(values)
    hashes = sketches.hash_numbers(distinct)
    kept = distinct[np.argsort(hashes)][:k]
    return {
        value: [int(((values == value) & (classes == c)).sum()) for c in (0, 1)]
        for value in kept.tolist()
    }


def told(sample: ValueSample) -> dict[float, list[int]]:
    return dict(zip(sample.values.tolist(), sample.counts.tolist(), strict=True))


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 1)), max_size=80),
    st.integers(0, 80),
    st.integers(1, 50),
)
def test_a_sample_is_that_of_the_slow_way_however_rows_are_split(rows, cut, k):
    values = np.array([value for value, _ in rows], dtype=np.float64)
    classes = np.array([c for _, c in rows], dtype=np.int64)
    whole = sampled(values, classes, k)
    parts = [sampled(values[:cut], classes[:cut], k), sampled(values[cut:], classes[cut:], k)]
    for sample in (whole, sketches.merge_samples(parts, k=k)):
        assert told(sample) == judged(values, classes, k)
        assert sample.is_all == (len(np.unique(values)) <= k)
    swapped = sketches.merge_samples(parts[::-1], k=k)
    assert (swapped.hashes == whole.hashes).all()


@pytest.mark.parametrize("n_values", [3, 300, 700, 5_000, 60_000])
def test_a_large_block_is_sampled_as_the_slow_way_does(n_values):
    random = np.random.default_rng(n_values)
    values = random.integers(0, n_values, 60_000).astype(np.float64)
    classes = random.integers(0, 2, len(values))
    sample = sampled(values, classes, 600)
    kept = judged(values[:1], classes[:1], 600) if n_values == 1 else None
    assert kept is None
    distinct, counts = np.unique(values, return_counts=True)
    hashes = sketches.hash_numbers(distinct)
    order = np.argsort(hashes)[:600]
    assert sample.values.tolist() == distinct[order].tolist()
    assert sample.totals.tolist() == counts[order].tolist()
    assert sample.is_all == (len(distinct) <= 600)


@pytest.mark.parametrize("n_distinct", [0, 1, 100, 3_000, 100_000, 1_000_000])
def test_the_number_of_distinct_values_is_estimated_within_a_tenth(n_distinct):
    hashes = sketches.hash_numbers(np.arange(n_distinct))
    found = sketches.estimated_distinct(sketches.ranks_of(np.repeat(hashes, 2)))
    assert abs(found - n_distinct) <= 0.1 * n_distinct


def test_registers_of_parts_merge_to_those_of_the_whole():
    hashes = sketches.hash_numbers(np.random.default_rng(0).random(10_000))
    parts = [sketches.ranks_of(hashes[:100]), sketches.ranks_of(hashes[100:])]
    assert (np.maximum.reduce(parts) == sketches.ranks_of(hashes)).all()


@given(st.lists(st.text(max_size=12), unique=True, max_size=60))
def test_texts_that_differ_have_different_hashes_wherever_they_stand(texts):
    hashes = sketches.hash_texts(texts)
    assert len(np.unique(hashes)) == len(texts)
    for text, found in zip(texts, hashes, strict=True):
        assert sketches.hash_texts(["before", text])[1] == found


def test_zeros_of_both_signs_are_one_value():
    assert len(np.unique(sketches.hash_numbers(np.array([0.0, -0.0])))) == 1
