"""How long a job will take and how much memory a worker will hold: a model of the scans, fitted to
measured runs.

The figures are nanoseconds on one core of the machine where they were measured; how fast this
machine is in comparison is measured each time, with the kind of work that scans consist of. `python
-m tests.bench` compares forecasts with what happens; expect a factor of two either way.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

_READ_NUMBER_NS = 13.0
_READ_CATEGORY_NS = 17.0
_READ_ROW_NS = 60.0
"""Reading a number or a category, with its side of the bracket or its code; and a row's label, fold
and split.
"""
_ASSOCIATE_NS = 4.0
"""Binning a value and counting it in a 2 x 2 table."""
_TYPE_NS = 1.2
"""One attribute of one row's type, in one ranking."""
_FOLD_NS = 6.0
"""Recounting rows whose type differs between folds, per row, fold and ranking."""
_CELL_NS = 3.0
"""Merging one cell of the tables of types, from one partition."""
_CHUNK_NS = 250_000.0
"""Starting to read one column of one partition, however few values it has there."""
_FILE_NS = 1_500_000.0
"""Opening a file."""
_SCORE_NS = 1_600.0
"""Scoring and ranking one attribute in one fold by one score."""
_CUT_NS = 5_000_000.0
"""Finding one cut of one column of numbers in all folds, which the runner does by itself."""
_FURTHER_CUT_NS = 3.0
"""Each further cut of a value: finding its side of one more bracket, and counting one more
attribute.
"""
_TOGETHER_NS = 3.0
"""One attribute in one sampled row, at one step of the rankings that look at attributes together.
"""
_RANKING_PART_NS = 60_000_000.0
"""A fixed cost per part of the rows in which these rankings are made and judged, however few rows
it has.
"""
_TASK_S = 0.003
"""One task with its messages, on the core that the scheduler shares."""
_PHASE_S = 0.06
"""The start and the end of a phase, when not all workers are busy."""
LAUNCH_S = 2.5
"""Starting a local cluster and the program itself."""
_REFERENCE_S = 0.0023
"""What `_machine_s` gave where the figures above were measured."""

_PROCESS_BYTES = 120 << 20
"""A worker with its libraries loaded, before it reads anything."""
_ALLOCATOR_BYTES = 96 << 20
"""What allocators hold on to between two blocks: up to 35 MiB Arrow's, up to 60 MiB malloc's."""
_CELL_BYTES = 8
"""Memory of one value of a partition in hand, rough, joined and binned: 7.3 and 7.9 bytes were
measured in one row group of 2.5 million rows."""
_BLOCK_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class Work:
    """The quantities that decide how much there is to do."""

    rows: int
    numbers: int
    categories: int
    files: int
    partitions: int
    phases: int
    tasks: int
    folds: int
    rankings: int
    ell: int
    cuts: int
    """Cuts of each column of numbers."""
    ranking_parts: int
    """Parts of the rows in which attributes are ranked together, each on `sampled` rows."""
    sampled: int
    candidates: int
    reads: float
    """How often the dataset is read; reading a sample counts as its share."""
    workers: int
    on_cluster: bool
    starts_cluster: bool
    """Whether a cluster is started for the job."""


def seconds(work: Work) -> float:
    """Return how long the formula will take here, without the tuning of baselines."""
    launch_s = LAUNCH_S if work.starts_cluster else 0.0
    return busy_s(work) * _machine_s() / _REFERENCE_S + messages_s(work) + launch_s


def messages_s(work: Work) -> float:
    """Return the time of messages between the runner and its workers."""
    return work.tasks * _TASK_S + work.phases * _PHASE_S if work.on_cluster else 0.0


def busy_s(work: Work) -> float:
    """Return how long the work itself would take on the machine of the figures above."""
    columns = work.numbers + work.categories
    read_ns = work.numbers * _READ_NUMBER_NS + work.categories * _READ_CATEGORY_NS + _READ_ROW_NS
    count_ns = work.rankings * (
        work.ell * _TYPE_NS + work.folds * _FOLD_NS * min(1.0, work.numbers / 4)
    )
    cut_ns = work.numbers * (work.cuts - 1) * _FURTHER_CUT_NS
    row_ns = work.reads * read_ns + columns * _ASSOCIATE_NS + 1.5 * count_ns + cut_ns
    cells = work.partitions * work.folds * work.rankings * (6 << work.ell)
    chunks = work.partitions * columns * (1 + work.reads)
    begun_ns = chunks * _CHUNK_NS + work.files * (1 + work.reads) * _FILE_NS
    shared_ns = work.rows * row_ns + cells * _CELL_NS + begun_ns
    ranked_ns = work.ranking_parts * (
        work.sampled * work.candidates * work.ell * _TOGETHER_NS + _RANKING_PART_NS
    )
    # Fewer partitions than workers leave workers idle; scores and cuts are found in one place.
    alone_ns = work.folds * columns * work.rankings * _SCORE_NS + work.numbers * work.cuts * _CUT_NS
    busy_ns = (
        shared_ns / max(1, min(work.workers, work.partitions))
        + ranked_ns / max(1, work.workers)
        + alone_ns
    )
    return busy_ns * 1e-9


def worker_bytes(
    work: Work, *, largest_rows: int, rough_bytes: int, inside_bytes: int, kept_limit: int | None
) -> int:
    """Return what a worker will hold at most.

    The worker keeps its rough rows, up to a limit; it holds a partition while reading and while
    binning it; the values around the cuts of the whole table are merged once, with a copy, and so
    are the tables of types. Attributes are ranked together on a sample that is held as a whole.
    """
    columns = work.numbers + work.categories
    kept = rough_bytes // max(1, work.workers)
    if kept_limit is not None:
        kept = min(kept, kept_limit)
    in_hand = largest_rows * (columns + 2) * _CELL_BYTES + min(largest_rows, _BLOCK_ROWS) * 24 * (
        columns + 1
    )
    tables = 3 * work.folds * work.rankings * (8 * 6 << work.ell)
    # An upper estimate: every candidate counts as a flag in single precision, with the products
    # made of it; cuts take only a byte per column.
    together = 2 * 4 * work.sampled * work.candidates
    return _PROCESS_BYTES + _ALLOCATOR_BYTES + kept + in_hand + tables + 3 * inside_bytes + together


def _machine_s() -> float:
    """Return how long this machine takes for a little of what scans do: comparisons, and counts of
    small numbers.
    """
    values = np.arange(1 << 16, dtype=np.float32)
    codes = np.arange(1 << 16, dtype=np.int64) % 1021
    best = float("inf")
    for _ in range(5):
        started = time.perf_counter()
        for cut in range(20):
            np.bincount(codes + (values > cut), minlength=1024)
        best = min(best, time.perf_counter() - started)
    return best
