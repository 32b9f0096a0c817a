"""Counts add: they do not depend on how rows are split, and fewer attributes are sums over more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.arrays import Bools, narrowest
from dnfscale.core.bins import BinnedTable, CategoryBins, NumberBins, Span
from dnfscale.core.counts import (
    TypeRequest,
    from_dense,
    merge_tallies,
    project,
    tally_requests,
    to_dense,
)
from dnfscale.core.splits import TEST, TRAIN, VALIDATION, Splits
from tests.comparing import as_dict
from tests.judges import tally
from tests.strategies import boolean_rows, groupings


@given(boolean_rows(max_attributes=7), st.data())
def test_projecting_equals_recounting(rows, choice):
    holds, target = rows
    wanted = choice.draw(st.lists(st.integers(0, holds.shape[1] - 1), unique=True))
    assert project(tally(holds, target), wanted) == tally(holds[:, wanted], target)


@given(boolean_rows(max_attributes=8), st.data())
def test_projecting_step_by_step_equals_projecting_at_once(rows, choice):
    holds, target = rows
    long = choice.draw(st.integers(0, holds.shape[1]))
    short = choice.draw(st.integers(0, long))
    counts = tally(holds, target)
    assert project(project(counts, range(long)), range(short)) == project(counts, range(short))


@given(boolean_rows())
def test_projecting_to_no_attribute_leaves_the_rows_and_the_positive_rows(rows):
    holds, target = rows
    counts = project(tally(holds, target), [])
    assert counts.ell == 0
    assert as_dict(counts) == ({0: (len(target), int(target.sum()))} if len(target) else {})


@given(boolean_rows())
def test_dense_tables_and_counts_say_the_same(rows):
    counts = tally(*rows)
    assert counts.n_rows == len(rows[1])
    n, c = to_dense(counts)
    assert len(n) == len(c) == 1 << counts.ell
    assert from_dense(n - c, c) == counts
    assert {t: (n[t], c[t]) for t in np.flatnonzero(n).tolist()} == as_dict(counts)


def test_no_rows_have_no_types():
    counts = from_dense(np.zeros(8, np.int64), np.zeros(8, np.int64))
    assert (counts.ell, counts.codes.tolist(), counts.n_rows) == (3, [], 0)


def test_counts_over_different_numbers_of_attributes_differ():
    assert tally(np.zeros((1, 2), bool), np.zeros(1, bool)) != tally(
        np.zeros((1, 3), bool), np.zeros(1, bool)
    )
    assert tally(np.zeros((1, 2), bool), np.zeros(1, bool)) != tally(
        np.zeros((1, 2), bool), np.ones(1, bool)
    )


def test_counts_cannot_be_written_to():
    counts = tally(np.zeros((1, 2), bool), np.zeros(1, bool))
    for array in (counts.codes, counts.n, counts.c):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5


# Tallies: all folds in one pass over binned rows.


def binned_rows(
    n_rows: int, splits: Splits, random: np.random.Generator
) -> tuple[BinnedTable, list, Bools]:
    """Return binned rows of a number column, one with missing values and a category, and the
    target.
    """
    bins = [
        NumberBins(np.arange(5.0), has_missing=False),
        NumberBins(np.arange(3.0), has_missing=True),
        CategoryBins(("a", "b", "c")),
    ]
    columns = tuple(random.integers(0, b.n_codes, n_rows).astype(np.uint8) for b in bins)
    target = random.integers(0, 2, n_rows).astype(bool)
    arcs = splits.arcs(0, n_rows).astype(narrowest(2 * splits.n_arcs - 1))
    return (
        BinnedTable(dict(enumerate(columns)), (2 * arcs + target).astype(arcs.dtype)),
        bins,
        target,
    )


def random_spans(ell: int, bins: list, random: np.random.Generator) -> tuple[Span, ...]:
    spans = []
    for _ in range(ell):
        column = int(random.integers(len(bins)))
        first, last = sorted(random.integers(0, bins[column].n_codes, 2).tolist())
        # One span in eight is empty, as that of a number column without any median.
        spans.append(
            Span(column, last + 1, last) if random.integers(8) == 0 else Span(column, first, last)
        )
    return tuple(spans)


def request(fold: int, spans: tuple[Span, ...], target: int = 0) -> TypeRequest:
    """Return a request in which each span is an attribute of its own."""
    numbers = [span.column << 16 | span.first << 8 | span.last for span in spans]
    return TypeRequest(fold, spans, tuple(numbers), target)


def holds_of(table: BinnedTable, spans: tuple[Span, ...]) -> Bools:
    return np.array(
        [(table.columns[s.column] >= s.first) & (table.columns[s.column] <= s.last) for s in spans]
    ).T


@pytest.mark.parametrize("ell", range(1, 16))
@pytest.mark.parametrize("outer", [0, 3])
def test_tallies_equal_a_naive_tally_in_all_folds(ell, outer):
    random = np.random.default_rng([ell, outer])
    n_rows = 500
    splits = Splits(n_rows, outer, 0.3, ell)
    table, bins, target = binned_rows(n_rows, splits, random)
    shared = random_spans(ell, bins, random)
    requests = [
        request(fold, spans)
        for fold in range(splits.n_folds)
        for spans in (shared, random_spans(ell, bins, random), random_spans(1, bins, random))
    ]
    found = tally_requests(table, requests, bins=bins, groups=splits.parts)
    row_parts = splits.parts[:, splits.arcs(0, n_rows)]
    for asked, dense in zip(requests, found, strict=True):
        holds = holds_of(table, asked.tests)
        assert len(dense) == 2
        for group, part in enumerate((TRAIN, VALIDATION)):
            chosen = row_parts[asked.fold] == part
            assert from_dense(*dense[group]) == tally(holds[chosen], target[chosen])


def test_groups_may_join_the_parts_of_a_fold():
    random = np.random.default_rng(0)
    splits = Splits(200, 4, 0.3, 0)
    table, bins, target = binned_rows(200, splits, random)
    groups = np.array([0, 0, 1], dtype=np.uint8)[splits.parts]
    spans = random_spans(4, bins, random)
    found = tally_requests(table, [request(f, spans) for f in range(5)], bins=bins, groups=groups)
    row_parts = splits.parts[:, splits.arcs(0, 200)]
    for fold, dense in enumerate(found):
        held_out = row_parts[fold] == TEST
        holds = holds_of(table, spans)
        assert from_dense(*dense[0]) == tally(holds[~held_out], target[~held_out])
        assert from_dense(*dense[1]) == tally(holds[held_out], target[held_out])


@given(st.integers(0, 60), st.integers(0, 10**6), st.data())
def test_tallies_do_not_depend_on_how_rows_are_split_or_merged(n_rows, seed, choice):
    random = np.random.default_rng(seed)
    splits = Splits(max(n_rows, 2), 2, 0.3, seed)
    table, bins, _ = binned_rows(n_rows, splits, random)
    requests = [
        request(fold, random_spans(ell, bins, random)) for fold in range(3) for ell in (1, 3)
    ]

    def of(rows: np.ndarray) -> tuple:
        part = BinnedTable(
            {i: codes[rows] for i, codes in table.columns.items()}, table.labels[rows]
        )
        return tally_requests(part, requests, bins=bins, groups=splits.parts)

    parts = [of(rows) for rows in choice.draw(groupings(n_rows))]
    whole = of(np.arange(n_rows))
    for merged in (
        merge_tallies(parts),
        merge_tallies(parts[::-1]),
        merge_tallies([merge_tallies(parts[:1]), *parts[1:]]),
    ):
        assert all(np.array_equal(mine, theirs) for mine, theirs in zip(merged, whole, strict=True))


def test_more_rows_than_a_block_holds_are_all_counted():
    random = np.random.default_rng(3)
    n_rows = 150_000
    splits = Splits(n_rows, 2, 0.3, 3)
    table, bins, target = binned_rows(n_rows, splits, random)
    spans = random_spans(10, bins, random)
    [dense] = tally_requests(table, [request(1, spans)], bins=bins, groups=splits.parts)
    chosen = splits.parts[1, splits.arcs(0, n_rows)] == TRAIN
    assert from_dense(*dense[0]) == tally(holds_of(table, spans)[chosen], target[chosen])


@pytest.mark.parametrize("ell", [1, 3, 9])
def test_a_row_of_some_weight_is_counted_that_many_times(ell):
    random = np.random.default_rng(ell)
    splits = Splits(200, 3, 0.3, 5)
    table, bins, _ = binned_rows(200, splits, random)
    requests = [request(fold, random_spans(ell, bins, random)) for fold in range(4)]
    weights = random.integers(0, 5, 200)
    weighty = BinnedTable(table.columns, table.labels, weights)
    repeated = BinnedTable(
        {i: codes.repeat(weights) for i, codes in table.columns.items()},
        table.labels.repeat(weights),
    )
    found = tally_requests(weighty, requests, bins=bins, groups=splits.parts)
    expected = tally_requests(repeated, requests, bins=bins, groups=splits.parts)
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(found, expected, strict=True))


def test_each_of_several_targets_is_counted_as_if_it_were_the_only_one():
    random = np.random.default_rng(0)
    splits = Splits(300, 3, 0.3, 5)
    table, bins, _ = binned_rows(300, splits, random)
    classes = random.integers(0, 4, 300).astype(np.uint8)
    arcs = table.labels // 2
    of_classes = BinnedTable(table.columns, 4 * arcs + classes)
    spans = random_spans(5, bins, random)
    requests = [request(fold, spans, target) for fold in range(4) for target in range(4)]
    found = tally_requests(
        of_classes, requests, bins=bins, groups=splits.parts, targets=np.eye(4, dtype=np.bool_)
    )
    for asked, tallied in zip(requests, found, strict=True):
        alone = BinnedTable(table.columns, 2 * arcs + (classes == asked.target))
        [expected] = tally_requests(
            alone, [request(asked.fold, spans)], bins=bins, groups=splits.parts
        )
        assert np.array_equal(tallied, expected)


def moving_spans(
    ell: int, bins: list, random: np.random.Generator, *, between: bool
) -> list[tuple[Span, ...]]:
    """Return spans of the same attributes for several folds: categories stay, the cuts of numbers
    move a little.

    Of numbers between two cuts both ends move, and in some folds there may be none.
    """
    columns = random.integers(0, len(bins), ell)
    codes = [int(random.integers(0, bins[column].n_codes)) for column in columns]
    variants = []
    for _ in range(4):
        spans = []
        for column, code in zip(columns.tolist(), codes, strict=True):
            if isinstance(bins[column], CategoryBins):
                spans.append(Span(column, code, code))
            else:
                top = len(bins[column].edges)
                first, last = int(random.integers(1, top + 2)), int(random.integers(0, top + 1))
                spans.append(Span(column, first, last if between else top))
        variants.append(tuple(spans))
    return variants


@pytest.mark.parametrize("most_cells", [1, 1 << 21])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ell", [1, 4, 9])
@pytest.mark.parametrize("between", [False, True])
def test_folds_that_cut_the_same_attributes_differently_are_counted_as_if_alone(
    ell, between, weighted, most_cells, monkeypatch
):
    monkeypatch.setattr("dnfscale.core.counts._MOST_CELLS", most_cells)
    random = np.random.default_rng([ell, weighted])
    splits = Splits(150_000, 3, 0.3, 1)
    table, bins, _ = binned_rows(150_000, splits, random)
    if weighted:
        table = BinnedTable(table.columns, table.labels, random.integers(0, 4, 150_000))
    requests = [
        TypeRequest(fold, spans, tuple(range(ell)))
        for fold, spans in enumerate(moving_spans(ell, bins, random, between=between))
    ]
    together = tally_requests(table, requests, bins=bins, groups=splits.parts)
    for asked, found in zip(requests, together, strict=True):
        [alone] = tally_requests(table, [asked], bins=bins, groups=splits.parts)
        assert np.array_equal(found, alone)
