"""Where a competitor is fitted: on one worker with all rows, on all workers together, or on one
worker with a sample of the rows.

The way follows from rows, columns and the memory of workers, and from nothing else. Whatever says
"auto" gets the first way that fits, and the last one always does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dnfscale.errors import LimitError
from dnfscale.spec.checks import one_of
from dnfscale.spec.keys import key
from dnfscale.spec.registry import Competitor

AUTO, WORKER, CLUSTER, SAMPLE = "auto", "worker", "cluster", "sample"

PROCESS_BYTES = 300 << 20
"""A worker with the libraries of competitors loaded, after a fit to few rows."""
_USED_SHARE = 0.8
"""The share of its memory that a worker may use; Dask gives it no new work beyond that."""
_CELL_BYTES = 4
_ROW_BYTES = 48
"""What a row takes besides its cells: its label, weight and fold, and what boosting knows of it."""
_LEAST_ROWS = 1_000
"""A sample has no fewer rows, if the table has them, however small a worker is."""


def where_key(*ways: str) -> Any:
    """Declare the key that says where a competitor is fitted."""
    listed = ", ".join(f'"{way}"' for way in ways)
    return key(one_of(AUTO, *ways), AUTO, f"the first that fits of {listed}; or one of these")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLearner(Competitor):
    """A competitor that needs the rows themselves."""

    matrices: int = 4
    """How many times the size of the matrix of its rows it needs at most: the matrix, its part of
    the rows, and that once more in its own format, with some room.
    """
    together: int | None = None
    """The same where all workers fit it together, of the rows of each worker; None if they cannot.
    """


@dataclass(frozen=True, slots=True)
class Table:
    """How large the table is that a competitor learns from."""

    rows: int
    columns: int

    @property
    def matrix_bytes(self) -> int:
        """The size of the matrix of all rows."""
        return _CELL_BYTES * self.rows * self.columns

    def held_bytes(self, matrices: int) -> int:
        """The size of so many matrices of all rows, and what rows take besides."""
        return matrices * self.matrix_bytes + _ROW_BYTES * self.rows


@dataclass(frozen=True, slots=True)
class Workers:
    """How many workers there are, and the memory of the smallest."""

    number: int = 1
    bytes: int | None = None
    """None where there is no limit."""

    @property
    def room(self) -> float | None:
        """What a worker has for rows."""
        return None if self.bytes is None else max(0.0, _USED_SHARE * self.bytes - PROCESS_BYTES)


@dataclass(frozen=True, slots=True)
class Way:
    """How a competitor is fitted in this job."""

    where: str
    drawn: int | None = None
    """How many rows are sampled; None if all are learned from."""

    @property
    def beside(self) -> str:
        """What sets notes of its fits apart from those of other ways; nothing for all rows in a
        worker.
        """
        if self.drawn is not None:
            # Workers of another size hold another sample.
            return f" of {self.drawn} rows"
        return " together" if self.where == CLUSTER else ""


ALL_ROWS = Way(WORKER)


def needed_bytes(learner: RowLearner, where: str, table: Table, workers: Workers) -> int:
    """Return what a worker needs to fit a competitor in some way."""
    if where == SAMPLE:
        sample = Table(sample_rows(learner.matrices, table, workers), table.columns)
        return PROCESS_BYTES + sample.held_bytes(learner.matrices)
    if where == CLUSTER:
        share = Table(-(-table.rows // max(1, workers.number)), table.columns)
        return PROCESS_BYTES + share.held_bytes(learner.together or learner.matrices)
    return PROCESS_BYTES + table.held_bytes(learner.matrices)


def resolved(learner: RowLearner, asked: str, table: Table, workers: Workers) -> str:
    """Return the way in which a competitor is fitted; an explicit one stays as it is."""
    if asked != AUTO:
        return asked
    if _fits(learner, WORKER, table, workers):
        return WORKER
    may_join = learner.together is not None and workers.number > 1
    return CLUSTER if may_join and _fits(learner, CLUSTER, table, workers) else SAMPLE


def shortage(learner: RowLearner, where: str, table: Table, workers: Workers) -> LimitError | None:
    """Return why workers have too little memory for a way; None if they have enough."""
    if where == SAMPLE or workers.bytes is None or _fits(learner, where, table, workers):
        return None
    held = "all rows in each worker" if where == WORKER else "its share of all rows in each worker"
    needed = needed_bytes(learner, where, table, workers)
    return LimitError(
        f"{learner.title} holds {held}, which may need {needed / 2**20:,.0f} MiB, but a worker may "
        f"use {_USED_SHARE * workers.bytes / 2**20:,.0f} of its {workers.bytes / 2**20:,.0f} MiB; "
        f'raise cluster.memory_limit, or set baselines.{learner.name}.where = "{AUTO}"',
        f"baselines.{learner.name}.where",
    )


def sample_rows(matrices: int, table: Table, workers: Workers) -> int:
    """Return how many rows are sampled: as many as a worker holds, at most all of them."""
    if workers.room is None:
        return table.rows
    row_bytes = Table(1, table.columns).held_bytes(matrices)
    return min(table.rows, max(_LEAST_ROWS, int(workers.room / row_bytes)))


def drawn_rows(learner: RowLearner, where: str, table: Table, workers: Workers) -> int | None:
    """Return how many rows are sampled for a competitor; None if all are learned from."""
    return sample_rows(learner.matrices, table, workers) if where == SAMPLE else None


def with_ways(
    options: Mapping[Competitor, Any], table: Table, workers: Workers
) -> dict[Competitor, Any]:
    """Return the options of competitors with the way of each settled."""
    return {
        competitor: settled_options(competitor, own, table, workers)
        if isinstance(competitor, RowLearner)
        else own
        for competitor, own in options.items()
    }


def settled_options(learner: RowLearner, options: Any, table: Table, workers: Workers) -> Any:
    """Return the options of a competitor with its way settled."""
    if not has_ways(options):
        return options
    return replace(options, where=resolved(learner, options.where, table, workers))


def has_ways(options: Any) -> bool:
    """Say whether a competitor leaves the choice of its way."""
    return hasattr(options, "where")


def way_of(options: Any) -> str:
    """Return the way of a competitor; one that leaves no choice takes all rows in each worker."""
    return options.where if has_ways(options) else WORKER


def _fits(learner: RowLearner, where: str, table: Table, workers: Workers) -> bool:
    if workers.room is None:
        return True
    return needed_bytes(learner, where, table, workers) - PROCESS_BYTES <= workers.room
