"""What scans have in common: a first pass that warms up, and the bare scan that all are measured
by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import TypeVar

import pyarrow as pa
import pyarrow.dataset as pads

from tests.bench.case import Outcome, timed
from tests.bench.setting import Setting

T = TypeVar("T")

FIRST_PASS = "first pass"
"""The part of an outcome that tells how long the first pass took."""


_PASSES = 5


def timed_again(work: Callable[[], T]) -> tuple[T, float, float, float]:
    """Do some work again and again; return its result, the first wall time, and the median wall and
    CPU time after it.

    The first pass loads what is loaded late and takes memory from the system, which costs a scan as
    much as reading does; those that follow take what the work itself takes. On a machine that does
    other things besides, the least of them would flatter short work, which finds a quiet moment
    more easily than long work.
    """
    result, first_s, _ = timed(work)
    passes = [timed(work) for _ in range(_PASSES)]
    return (
        result,
        first_s,
        median(wall_s for _, wall_s, _ in passes),
        median(cpu_s for _, _, cpu_s in passes),
    )


def measure_bare_scan(folder: Path, columns: Sequence[str], setting: Setting) -> Outcome:
    """Measure pyarrow reading some columns and doing nothing with them: what no scan can do
    without.
    """
    pa.set_cpu_count(setting.workers)
    rows, first_pass_s, wall_s, cpu_s = timed_again(lambda: bare_scan(folder, columns))
    return Outcome(wall_s, cpu_s, rows, parts_s={FIRST_PASS: first_pass_s})


def bare_scan(path: Path, columns: Sequence[str]) -> int:
    """Read some columns of a dataset, a batch at a time, on all threads; return the number of
    rows.
    """
    batches = pads.dataset(path, format="parquet").to_batches(
        columns=list(columns), use_threads=True
    )
    return sum(batch.num_rows for batch in batches)
