"""2 x 2 tables of all folds from one pass: a naive recount, fold by fold, is the judge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dnfscale.core.arrays import narrowest
from dnfscale.core.associations import Associations, associate, merge
from dnfscale.core.bins import BinnedTable, Bins, CategoryBins, NumberBins, Spans
from dnfscale.core.splits import TEST, TRAIN, VALIDATION, Splits
from tests.strategies import groupings


def random_table(
    n_rows: int, splits: Splits, seed: int, n_columns: int = 3, n_attributes: int = 6
) -> tuple[BinnedTable, list[Bins], Spans]:
    """Return binned rows with random codes, and attributes that are random spans of them, some of
    them empty.
    """
    random = np.random.default_rng(seed)
    bins: list[Bins] = [
        NumberBins(np.arange(random.integers(0, 6), dtype=np.float64), bool(random.integers(2)))
        if random.integers(2)
        else CategoryBins(tuple(range(random.integers(1, 5))))
        for _ in range(n_columns)
    ]
    columns = tuple(
        random.integers(0, b.n_codes, n_rows).astype(narrowest(b.n_codes - 1)) for b in bins
    )
    target = random.integers(0, 2, n_rows)
    arcs = splits.arcs(0, n_rows).astype(narrowest(2 * splits.n_arcs - 1))
    labels = (2 * arcs + target.astype(bool)).astype(arcs.dtype)
    column_of = random.integers(0, n_columns, n_attributes)
    n_codes = np.array([bins[column].n_codes for column in column_of])
    first = random.integers(0, n_codes, (splits.n_folds, n_attributes))
    last = random.integers(first, n_codes, (splits.n_folds, n_attributes))
    nothing = random.random(first.shape) < 0.1
    first, last = np.where(nothing, n_codes, first), np.where(nothing, n_codes - 1, last)
    return BinnedTable(dict(enumerate(columns)), labels), bins, Spans(column_of, first, last)


def recount(table: BinnedTable, spans: Spans, splits: Splits, parts: list[int]) -> Associations:
    """The judge: one fold, one attribute, one row at a time."""
    n_folds, n_attributes = spans.first.shape
    n, positive = np.zeros(n_folds, np.int64), np.zeros(n_folds, np.int64)
    holds = np.zeros((n_folds, n_attributes), np.int64)
    both = np.zeros((n_folds, n_attributes), np.int64)
    for fold in range(n_folds):
        for row, label in enumerate(table.labels.tolist()):
            if splits.parts[fold, label // 2] not in parts:
                continue
            n[fold] += 1
            positive[fold] += label % 2
            for a in range(n_attributes):
                if (
                    spans.first[fold, a]
                    <= table.columns[spans.column[a]][row]
                    <= spans.last[fold, a]
                ):
                    holds[fold, a] += 1
                    both[fold, a] += label % 2
    return Associations(n, positive, holds, both)


cases = st.tuples(st.integers(2, 40), st.sampled_from([0, 2, 3, "all"]), st.integers(0, 10**6))


def made(case: tuple[int, int | str, int]) -> tuple[Splits, BinnedTable, list[Bins], Spans]:
    n_rows, outer, seed = case
    splits = Splits(n_rows, n_rows if outer == "all" else min(int(outer), n_rows), 0.3, seed)
    return splits, *random_table(n_rows, splits, seed)


@given(cases, st.sampled_from([[TRAIN], [TRAIN, VALIDATION], [TEST], []]))
def test_tables_equal_a_naive_recount_in_every_fold(case, parts):
    splits, table, bins, spans = made(case)
    [found] = associate(table, bins=bins, spans=spans, members=splits.members(parts))
    assert found == recount(table, spans, splits, parts)


@given(cases)
def test_rounds_of_folds_are_each_counted_with_the_spans_of_their_fold(case):
    splits, table, bins, spans = made(case)
    rounds = [splits.members([TRAIN]), splits.members([TEST]), splits.members([TRAIN, VALIDATION])]
    folds = [*range(splits.n_folds)] * len(rounds)
    [together] = associate(
        table, bins=bins, spans=spans, members=np.concatenate(rounds), folds=folds
    )
    alone = [associate(table, bins=bins, spans=spans, members=members)[0] for members in rounds]
    assert np.array_equal(together.holds, np.concatenate([part.holds for part in alone]))
    assert np.array_equal(
        together.holds_positive, np.concatenate([part.holds_positive for part in alone])
    )


@given(cases, st.data())
def test_associations_do_not_depend_on_how_rows_are_split_or_merged(case, choice):
    splits, table, bins, spans = made(case)
    members = splits.members([TRAIN])

    def of(rows: np.ndarray) -> tuple[Associations, ...]:
        part = BinnedTable(
            {i: codes[rows] for i, codes in table.columns.items()}, table.labels[rows]
        )
        return associate(part, bins=bins, spans=spans, members=members)

    parts = [of(rows) for rows in choice.draw(groupings(table.n_rows))]
    [whole] = associate(table, bins=bins, spans=spans, members=members)
    assert merge(parts) == merge(parts[::-1]) == merge([merge(parts[:2]), *parts[2:]]) == (whole,)


@given(cases, st.integers(0, 10**6))
def test_a_row_of_some_weight_is_that_many_rows(case, seed):
    splits, table, bins, spans = made(case)
    weights = np.random.default_rng(seed).integers(0, 4, table.n_rows)
    weighty = BinnedTable(table.columns, table.labels, weights)
    repeated = BinnedTable(
        {i: codes.repeat(weights) for i, codes in table.columns.items()},
        table.labels.repeat(weights),
    )
    members = splits.members([TRAIN])
    assert associate(weighty, bins=bins, spans=spans, members=members) == associate(
        repeated, bins=bins, spans=spans, members=members
    )


@given(cases, st.integers(2, 5))
def test_each_of_several_targets_is_counted_as_if_it_were_the_only_one(case, n_classes):
    splits, table, bins, spans = made(case)
    members = splits.members([TRAIN])
    classes = np.random.default_rng(case[2]).integers(0, n_classes, table.n_rows)
    arcs = table.labels // 2
    labels = n_classes * arcs.astype(np.int64) + classes
    targets = np.eye(n_classes, dtype=np.bool_)
    found = associate(
        BinnedTable(table.columns, labels.astype(narrowest(n_classes * splits.n_arcs - 1))),
        bins=bins,
        spans=spans,
        members=members,
        targets=targets,
    )
    assert len(found) == n_classes
    for number, of_class in enumerate(found):
        alone = BinnedTable(
            table.columns, (2 * arcs.astype(np.int64) + (classes == number)).astype(np.uint16)
        )
        assert (of_class,) == associate(alone, bins=bins, spans=spans, members=members)


@pytest.mark.parametrize(("n_codes", "outer"), [(3, 10), (700, 60), (3000, 20)])
def test_many_rows_codes_and_arcs_are_counted_as_a_plain_sum_counts_them(n_codes, outer):
    # 700 codes x 122 arcs x 2 pass 2**16 cells, and 150,000 rows more than one block.
    n_rows = 150_000
    splits = Splits(n_rows, outer, 0.3, 1)
    random = np.random.default_rng(2)
    bins = [CategoryBins(tuple(range(n_codes - 2)))]
    codes = random.integers(0, n_codes, n_rows).astype(narrowest(n_codes - 1))
    target = random.integers(0, 2, n_rows).astype(bool)
    arcs = splits.arcs(0, n_rows).astype(narrowest(2 * splits.n_arcs - 1))
    first, last = n_codes // 3, 2 * n_codes // 3
    full = np.full((splits.n_folds, 1), 1)
    spans = Spans(np.array([0]), first * full, last * full)
    [found] = associate(
        BinnedTable({0: codes}, 2 * arcs + target),
        bins=bins,
        spans=spans,
        members=splits.members([TRAIN]),
    )
    inside = (codes >= first) & (codes <= last)
    for fold in (0, outer // 2, outer):
        chosen = splits.parts[fold, arcs] == TRAIN
        assert found.n[fold] == chosen.sum()
        assert found.positive[fold] == (chosen & target).sum()
        assert found.holds[fold, 0] == (chosen & inside).sum()
        assert found.holds_positive[fold, 0] == (chosen & inside & target).sum()


def test_no_rows_have_tables_of_zeros():
    splits = Splits(5, 2, 0.3, 0)
    table, bins, spans = random_table(5, splits, 0)
    nothing = BinnedTable({i: codes[:0] for i, codes in table.columns.items()}, table.labels[:0])
    [found] = associate(nothing, bins=bins, spans=spans, members=splits.members([TRAIN]))
    assert not any(
        array.any() for array in (found.n, found.positive, found.holds, found.holds_positive)
    )


@given(hnp.arrays(np.int64, (2, 3), elements=st.integers(0, 9)), st.integers(0, 5))
def test_associations_are_equal_only_if_every_number_is(holds, place):
    n = np.array([10, 10])
    mine = Associations(n, n.copy(), holds, holds.copy())
    changed = holds.copy()
    changed.flat[place] += 1
    assert mine == Associations(n.copy(), n.copy(), holds.copy(), holds.copy())
    assert mine != Associations(n.copy(), n.copy(), changed, holds.copy())
    assert mine != "something else"


def test_associations_cannot_be_written_to():
    found = Associations(*(np.zeros(1, np.int64) for _ in range(4)))
    with pytest.raises(ValueError, match="read-only"):
        found.n[0] = 1
