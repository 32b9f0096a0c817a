"""A sample drawn by row number: exact in size, and the same however the rows are split."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.bins import BinnedTable
from dnfscale.core.sample import fewer, is_drawn, merge, numbered


@given(st.integers(1, 300), st.integers(1, 400), st.integers(0, 99), st.data())
def test_a_sample_does_not_depend_on_how_rows_are_split(n_rows, drawn, seed, choice):
    cuts = sorted({0, n_rows, *choice.draw(st.lists(st.integers(0, n_rows), max_size=4))})
    random = np.random.default_rng(seed)
    codes, labels = (
        random.integers(0, 9, n_rows).astype(np.uint8),
        random.integers(0, 4, n_rows).astype(np.uint8),
    )
    weights = random.integers(0, 5, n_rows) if choice.draw(st.booleans()) else None

    def part(start: int, stop: int):
        rows = start + np.flatnonzero(
            is_drawn(start, stop - start, of=n_rows, drawn=drawn, seed=seed)
        )
        table = BinnedTable(
            {0: codes[rows], 3: codes[rows]},
            labels[rows],
            None if weights is None else weights[rows],
        )
        return numbered(table, rows)

    whole = part(0, n_rows)
    parts = [part(start, stop) for start, stop in itertools.pairwise(cuts)]
    merged = merge(choice.draw(st.permutations(parts)))
    assert len(whole.numbers) == min(drawn, n_rows)
    assert merged.numbers.tolist() == whole.numbers.tolist()
    assert merged.columns[3].tolist() == codes[whole.numbers].tolist()
    assert merged.labels.tolist() == labels[whole.numbers].tolist()
    if weights is not None:
        assert merged.weights is not None
        assert merged.weights.tolist() == weights[whole.numbers].tolist()


@given(st.integers(1, 200), st.integers(1, 250), st.integers(1, 250), st.booleans())
def test_fewer_of_a_sample_are_the_sample_of_so_many(n_rows, drawn, some, weighted):
    def sampled(size: int):
        rows = np.flatnonzero(is_drawn(0, n_rows, of=n_rows, drawn=size, seed=3))
        weights = rows + 5 if weighted else None
        table = BinnedTable({2: rows.astype(np.uint8)}, (rows % 7).astype(np.uint8), weights)
        return numbered(table, rows)

    found = fewer(sampled(drawn), of=n_rows, drawn=some, seed=3)
    wanted = sampled(min(drawn, some))
    assert found.numbers.tolist() == wanted.numbers.tolist()
    assert found.columns[2].tolist() == wanted.columns[2].tolist()
    assert found.labels.tolist() == wanted.labels.tolist()
    assert (found.weights is None) == (wanted.weights is None)
    if found.weights is not None and wanted.weights is not None:
        assert found.weights.tolist() == wanted.weights.tolist()


def test_folds_and_samples_are_drawn_independently():
    drawn = is_drawn(0, 1000, of=1000, drawn=500, seed=3)
    other = is_drawn(0, 1000, of=1000, drawn=500, seed=4)
    assert drawn.sum() == other.sum() == 500
    assert 150 < (drawn & other).sum() < 350
