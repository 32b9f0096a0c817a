"""Where competitors are fitted: it follows from rows, columns and memory alone."""

from __future__ import annotations

import pytest

from dnfscale.compare.ways import (
    RowLearner,
    Table,
    Workers,
    drawn_rows,
    needed_bytes,
    resolved,
    shortage,
)

ALONE = RowLearner(name="alone", title="Alone", colour="red", place=1)
JOINT = RowLearner(name="joint", title="Joint", colour="red", place=1, together=4)
LARGE = Table(rows=10_000_000, columns=20)
SMALL = Table(rows=100_000, columns=20)
GIB = 1 << 30


@pytest.mark.parametrize(
    ("learner", "table", "workers", "where"),
    [
        (JOINT, SMALL, Workers(2, GIB), "worker"),
        (JOINT, LARGE, Workers(2, None), "worker"),
        (JOINT, LARGE, Workers(2, 3 * GIB), "cluster"),
        (ALONE, LARGE, Workers(2, 3 * GIB), "sample"),
        (JOINT, LARGE, Workers(1, 3 * GIB), "sample"),
        (JOINT, LARGE, Workers(2, GIB), "sample"),
        (JOINT, LARGE, Workers(2, 1 << 20), "sample"),
    ],
)
def test_auto_is_the_first_way_that_fits(
    learner: RowLearner, table: Table, workers: Workers, where: str
) -> None:
    assert resolved(learner, "auto", table, workers) == where
    assert shortage(learner, where, table, workers) is None


@pytest.mark.parametrize(("where", "held"), [("worker", "all rows"), ("cluster", "its share")])
def test_an_explicit_way_that_cannot_fit_says_what_it_would_need(where: str, held: str) -> None:
    workers = Workers(2, GIB)
    assert resolved(JOINT, where, LARGE, workers) == where
    lacking = shortage(JOINT, where, LARGE, workers)
    assert lacking is not None
    assert lacking.key == "baselines.joint.where"
    needed = needed_bytes(JOINT, where, LARGE, workers)
    assert f"holds {held}" in lacking.message
    assert f"{needed / 2**20:,.0f} MiB" in lacking.message


@pytest.mark.parametrize("memory", [1 << 20, 1 << 29, GIB, 2 * GIB])
def test_a_sample_is_as_large_as_a_worker_holds(memory: int) -> None:
    workers = Workers(2, memory)
    drawn = drawn_rows(ALONE, "sample", LARGE, workers)
    assert drawn is not None
    more = Table(drawn + 1, LARGE.columns)
    assert drawn == 1_000 or needed_bytes(ALONE, "sample", LARGE, workers) <= memory
    assert shortage(ALONE, "worker", more, workers) is not None
    assert drawn_rows(ALONE, "worker", LARGE, workers) is None


def test_a_sample_has_no_more_rows_than_the_table() -> None:
    assert drawn_rows(ALONE, "sample", SMALL, Workers(2, 8 * GIB)) == SMALL.rows
    assert drawn_rows(ALONE, "sample", SMALL, Workers(1, None)) == SMALL.rows
