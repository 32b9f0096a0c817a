"""Summaries of columns: they merge in any order, and too many categories are over the limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.columns import (
    Block,
    Categories,
    Column,
    Numbers,
    Reading,
    Role,
    TableSummary,
    classes_of,
    merge,
    summarize,
)
from dnfscale.errors import LimitError
from tests.strategies import groupings

READING = Reading(
    (Column("x", Role.NUMBER), Column("colour", Role.CATEGORY)), "y", keep_missing=True
)
COLOURS = ("red", "green", "blue")


@dataclass(frozen=True)
class GivenRows:
    """Rows of a partition that a test has laid out block by block."""

    ordinal: int
    given: tuple[Block, ...]

    @property
    def n_rows(self) -> int:
        return sum(block.n_read for block in self.given)

    def blocks(self, reading: Reading) -> Iterator[Block]:
        assert reading is READING
        yield from self.given


@dataclass(frozen=True)
class Row:
    """A row as a test writes it down."""

    x: float | None
    colour: str | None
    y: str


def block_of(rows: list[Row], values: tuple[str, ...] = COLOURS) -> Block:
    x = np.array([np.nan if row.x is None else row.x for row in rows])
    codes = np.array(
        [-1 if row.colour is None else values.index(row.colour) for row in rows], dtype=np.int64
    )
    labels = ("no", "yes")
    return Block(
        n_read=len(rows),
        n_rows=len(rows),
        columns=(Numbers(x, ~np.isnan(x)), Categories(codes, values)),
        target=Categories(np.array([labels.index(row.y) for row in rows], dtype=np.int64), labels),
        missing=(sum(row.x is None for row in rows), sum(row.colour is None for row in rows)),
    )


def summary_of(
    partition: GivenRows, sampled_share: float = 1.0, max_values: int = 100
) -> TableSummary:
    return summarize(partition, READING, sampled_share=sampled_share, max_values=max_values)


def merged(parts: list[TableSummary], max_values: int = 100) -> TableSummary:
    return merge(parts, reading=READING, max_values=max_values)


def told(summary: TableSummary) -> tuple[object, ...]:
    """Return what a summary says, without any order that carries no meaning."""
    number, category = summary.columns
    return (
        summary.rows_read,
        summary.n_rows,
        number.missing,
        Counter(number.sample.tolist()),
        category.missing,
        category.counts,
        category.values,
        summary.target.counts,
        summary.row_numbers(),
    )


rows_strategy = st.lists(
    st.builds(
        Row,
        x=st.one_of(st.none(), st.floats(-5, 5)),
        colour=st.one_of(st.none(), st.sampled_from(COLOURS)),
        y=st.sampled_from(["no", "yes"]),
    ),
    min_size=1,
    max_size=30,
)


@given(rows_strategy, st.data())
def test_a_summary_says_what_a_plain_count_of_the_rows_says(rows, choice):
    cut = choice.draw(st.integers(0, len(rows)))
    summary = summary_of(GivenRows(0, (block_of(rows[:cut]), block_of(rows[cut:]))))
    number, category = summary.columns
    assert summary.rows_read == summary.n_rows == len(rows)
    assert number.missing == sum(row.x is None for row in rows)
    assert sorted(number.sample.tolist()) == sorted(row.x for row in rows if row.x is not None)
    assert category.missing == sum(row.colour is None for row in rows)
    assert category.counts == Counter(row.colour for row in rows if row.colour is not None)
    assert category.values == tuple(sorted(category.counts))
    assert summary.target.counts == Counter(row.y for row in rows)


@given(st.lists(rows_strategy, min_size=1, max_size=8), st.data())
def test_summaries_merge_in_any_grouping(partitions, choice):
    parts = [summary_of(GivenRows(i, (block_of(rows),))) for i, rows in enumerate(partitions)]
    groups = [
        [parts[i] for i in group] for group in choice.draw(groupings(len(parts))) if len(group)
    ]
    assert told(merged([merged(group) for group in groups])) == told(merged(parts))


@given(st.lists(rows_strategy, min_size=1, max_size=6), st.data())
def test_row_numbers_follow_the_order_of_partitions_not_the_order_of_merging(partitions, choice):
    parts = [summary_of(GivenRows(i, (block_of(rows),))) for i, rows in enumerate(partitions)]
    numbers = merged(choice.draw(st.permutations(parts))).row_numbers()
    expected, start = {}, 0
    for ordinal, rows in enumerate(partitions):
        expected[ordinal] = range(start, start + len(rows))
        start += len(rows)
    assert numbers == expected


def test_the_order_of_a_blocks_own_values_does_not_matter():
    rows = [Row(1.0, "red", "no"), Row(2.0, "blue", "yes")]
    forwards = summary_of(GivenRows(0, (block_of(rows),)))
    backwards = summary_of(GivenRows(0, (block_of(rows, COLOURS[::-1]),)))
    assert told(forwards) == told(backwards)


def test_values_that_a_block_lists_but_no_row_has_are_not_counted():
    summary = summary_of(GivenRows(0, (block_of([Row(1.0, "red", "no")]),)))
    assert summary.columns[1].counts == {"red": 1}
    assert summary.target.counts == {"no": 1}


def test_a_value_that_a_block_lists_twice_is_counted_as_one():
    # Arrow's dictionaries may repeat a value, and it keeps 0.0 apart from -0.0, which are equal.
    categories = Categories(np.array([0, 0, 1, 2, 2]), ("red", "green", "red"))
    labels = Categories(np.array([0, 0, 0, 1, 2]), (0.0, -0.0, 1.0))
    block = Block(5, 5, (Numbers(np.zeros(5), None), categories), labels, (0, 0))
    summary = summary_of(GivenRows(0, (block,)))
    assert summary.columns[1].counts == {"red": 4, "green": 1}
    assert summary.target.counts == {0.0: 4, 1.0: 1}


def test_a_sample_holds_about_its_share_of_the_rows_and_only_values_that_occur():
    rows = [Row(float(i) if i % 3 else None, "red", "no") for i in range(999)]
    [sample] = [summary_of(GivenRows(0, (block_of(rows),)), sampled_share=0.1).columns[0].sample]
    assert 40 <= len(sample) <= 100
    assert set(sample.tolist()) <= {float(i) for i in range(999) if i % 3}


def test_a_sample_is_the_same_each_time_and_differs_between_partitions():
    rows = [Row(float(i), "red", "no") for i in range(500)]
    first, again, other = (
        summary_of(GivenRows(ordinal, (block_of(rows),)), sampled_share=0.1)
        .columns[0]
        .sample.tolist()
        for ordinal in (3, 3, 4)
    )
    assert first == again != other


def test_a_partition_whose_rows_were_all_dropped_has_an_empty_range_of_row_numbers():
    empty = Block(
        n_read=7,
        n_rows=0,
        columns=(Numbers(np.empty(0), None), Categories(np.empty(0, dtype=np.int64), ())),
        target=Categories(np.empty(0, dtype=np.int64), ()),
        missing=(7, 0),
    )
    parts = [
        summary_of(GivenRows(0, (block_of([Row(1.0, "red", "no")]),))),
        summary_of(GivenRows(1, (empty,))),
        summary_of(GivenRows(2, (block_of([Row(2.0, "red", "no")]),))),
    ]
    summary = merged(parts)
    assert (summary.rows_read, summary.n_rows, summary.columns[0].missing) == (9, 2, 7)
    assert summary.row_numbers() == {0: range(1), 1: range(1, 1), 2: range(1, 2)}


def test_more_categories_than_allowed_in_one_block_are_over_the_limit():
    partition = GivenRows(0, (block_of([Row(1.0, colour, "no") for colour in COLOURS]),))
    message = (
        r"^column 'colour': at most 2 different values are taken as categories, got at least 3; "
        r"add the column to data\.drop or raise data\.max_categories$"
    )
    with pytest.raises(LimitError, match=message) as caught:
        summary_of(partition, max_values=2)
    assert caught.value.key == "data.max_categories"
    assert summary_of(partition, max_values=3).columns[1].counts == dict.fromkeys(COLOURS, 1)


def test_more_categories_than_allowed_over_several_blocks_or_partitions_are_over_the_limit():
    blocks = tuple(block_of([Row(1.0, colour, "no")]) for colour in COLOURS)
    with pytest.raises(LimitError, match="column 'colour': at most 2 different values"):
        summary_of(GivenRows(0, blocks), max_values=2)
    parts = [summary_of(GivenRows(i, (block,)), max_values=2) for i, block in enumerate(blocks)]
    with pytest.raises(LimitError, match="column 'colour': at most 2 different values"):
        merged(parts, max_values=2)


def test_a_target_of_too_many_values_is_over_the_limit_by_its_own_name():
    with pytest.raises(LimitError, match="column 'y': at most 1 different values"):
        summary_of(
            GivenRows(0, (block_of([Row(1.0, "red", "no"), Row(1.0, "red", "yes")]),)), max_values=1
        )


@pytest.mark.parametrize(
    ("values", "classes", "expected"),
    [
        (("a", "b", "c"), (("b",), ("a", "c")), [1, 0, 1, 1]),
        ((1, 2, 3), ((1, 3), (2,)), [0, 1, 0, 0]),
        ((False, True, True), ((False,), (True,)), [0, 1, 1, 0]),
        (("a", "b", "c"), (("c",), ("b",)), [2, 1, 0, 2]),
        (("a", "b", "c"), (("a",), ("b",), ("c",)), [0, 1, 2, 0]),
    ],
)
def test_the_class_of_a_row_is_the_one_that_lists_its_label(values, classes, expected):
    assert classes_of(Categories(np.array([0, 1, 2, 0]), values), classes).tolist() == expected


def test_no_rows_have_no_classes():
    assert classes_of(Categories(np.empty(0, dtype=np.int64), ()), (("a",), ("b",))).tolist() == []
