"""What scans have in common: a first pass that warms up, and the bare scan that all are measured by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.dataset as pads

from tests.bench.case import Outcome, timed
from tests.bench.setting import Setting

T = TypeVar("T")

FIRST_PASS = "first pass"
"""The part of an outcome that tells how long the first pass took."""


def timed_again(work: Callable[[], T]) -> tuple[T, float, float, float]:
    """Do some work twice; return its result, the first wall time, and the wall and CPU time of the second pass.

    The first pass loads what is loaded late and takes memory from the system, which costs a scan as much as reading
    does; the second is what the work itself takes.
    """
    _, first_s, _ = timed(work)
    result, wall_s, cpu_s = timed(work)
    return result, first_s, wall_s, cpu_s


def measure_bare_scan(folder: Path, columns: Sequence[str], setting: Setting) -> Outcome:
    """Measure pyarrow reading some columns and doing nothing with them: what no scan can do without."""
    pa.set_cpu_count(setting.workers)
    rows, first_pass_s, wall_s, cpu_s = timed_again(lambda: bare_scan(folder, columns))
    return Outcome(wall_s, cpu_s, rows, parts_s={FIRST_PASS: first_pass_s})


def bare_scan(path: Path, columns: Sequence[str]) -> int:
    """Read some columns of a dataset, a batch at a time, on all threads; return the number of rows."""
    batches = pads.dataset(path, format="parquet").to_batches(columns=list(columns), use_threads=True)
    return sum(batch.num_rows for batch in batches)
