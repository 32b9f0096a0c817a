"""Distinct rows: the same as sorting out whole rows in plain NumPy, however they are split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core import distinct
from dnfscale.core.bins import BinnedTable, Bins, CategoryBins, NumberBins, Span
from dnfscale.core.distinct import DROPPED, DistinctRequest, distinct_rows, group, merge_distinct

BINS: tuple[Bins, ...] = (
    NumberBins(np.array([1.0, 2.0]), has_missing=False),
    CategoryBins(("a", "b", "c")),
)
CELLS = np.array([0, 1, 2, 3, DROPPED, DROPPED], dtype=np.uint8)
"""Labels of three arcs and two classes: the last arc is not counted."""
REQUESTS = (
    DistinctRequest((Span(0, 1, 2), Span(1, 0, 0), Span(1, 1, 1)), CELLS),
    DistinctRequest((Span(0, 2, 2),), CELLS),
    DistinctRequest(tuple(Span(1, code, code) for code in (0, 1, 2)) * 3, CELLS[::-1].copy()),
)


def binned(rows: list[tuple[int, int, int, int]], *, weighted: bool) -> BinnedTable:
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    columns = {0: table[:, 0].astype(np.uint8), 1: table[:, 1].astype(np.uint16)}
    return BinnedTable(columns, table[:, 2].astype(np.uint8), table[:, 3] if weighted else None)


def recount(table: BinnedTable, request: DistinctRequest) -> dict[tuple[bool, ...], list[int]]:
    """Count rows one by one."""
    found: dict[tuple[bool, ...], list[int]] = {}
    for row in range(table.n_rows):
        cell = request.cells[table.labels[row]]
        if cell != DROPPED:
            holds = tuple(
                bool(s.first <= table.columns[s.column][row] <= s.last) for s in request.spans
            )
            counts = found.setdefault(holds, [0] * DROPPED)
            counts[cell] += 1 if table.weights is None else int(table.weights[row])
    return found


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 5), st.integers(1, 3)),
    max_size=30,
)


@given(ROWS, st.booleans())
def test_distinct_rows_are_those_of_a_plain_recount(rows, weighted):
    table = binned(rows, weighted=weighted)
    for request, found in zip(
        REQUESTS, distinct_rows(table, REQUESTS, bins=BINS, most=100), strict=True
    ):
        assert found is not None
        holds = np.unpackbits(found.bits, axis=1, count=found.n_attributes).view(np.bool_)
        listed = {
            tuple(map(bool, row)): counts.tolist()
            for row, counts in zip(holds, found.counts, strict=True)
        }
        assert listed == recount(table, request)
        assert list(listed) == sorted(listed)


@given(ROWS, st.integers(0, 30), st.integers(0, 30), st.integers(1, 9), st.booleans())
def test_distinct_rows_do_not_depend_on_how_rows_are_split(rows, one, other, most, weighted):
    low, high = sorted((one, other))
    parts = [
        distinct_rows(binned(part, weighted=weighted), REQUESTS, bins=BINS, most=most)
        for part in (rows[:low], rows[low:high], rows[high:])
    ]
    whole = distinct_rows(binned(rows, weighted=weighted), REQUESTS, bins=BINS, most=most)
    assert merge_distinct(parts, most=most) == merge_distinct(parts[::-1], most=most) == whole
    assert merge_distinct([merge_distinct(parts[:2], most=most), parts[2]], most=most) == whole
    for found, request in zip(whole, REQUESTS, strict=True):
        n_distinct = len(recount(binned(rows, weighted=False), request))
        assert (found is None) == (n_distinct > most)


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    rows = [tuple(map(int, row)) for row in random.integers(0, [3, 3, 6, 3], size=(200, 4))]
    whole = distinct_rows(binned(rows, weighted=False), REQUESTS, bins=BINS, most=100)
    monkeypatch.setattr(distinct, "_BLOCK", 7)
    assert distinct_rows(binned(rows, weighted=False), REQUESTS, bins=BINS, most=100) == whole


def test_a_group_has_the_rows_that_occur_in_it() -> None:
    table = binned([(0, 0, 0, 1), (0, 0, 1, 1), (2, 1, 3, 1), (2, 1, 5, 1)], weighted=False)
    [found, *_] = distinct_rows(table, REQUESTS, bins=BINS, most=100)
    assert found is not None
    first, second = group(found, 0), group(found, 1)
    assert (first.holds().tolist(), first.n.tolist(), first.c.tolist()) == (
        [[False, True, False]],
        [2],
        [1],
    )
    assert (second.holds().tolist(), second.n.tolist(), second.c.tolist()) == (
        [[True, False, True]],
        [1],
        [1],
    )
