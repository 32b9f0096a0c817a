"""Law 7: what a task holds is bounded by its partition, not by the dataset.

Each dataset is measured in a process of its own: tracemalloc counts what every thread of a process
allocates, and the threads that earlier tests left running would be taken for the task.
"""

from __future__ import annotations

import multiprocessing
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dnfscale.data.source import open_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.learn.line import learn
from dnfscale.spec.learn import LearnSpec


class MeasuringEngine(SerialEngine):
    """Runs one task after the other and notes the most memory that any task of a phase took for
    itself.
    """

    def __init__(self) -> None:
        super().__init__()
        self.peaks: dict[str, int] = {}

    def reduce(self, phase: str, items: Sequence[Any], summarize: Any, merge: Any) -> Any:
        return super().reduce(phase, items, self._measured(phase, summarize), merge)

    def map(self, phase: str, items: Sequence[Any], function: Any) -> Any:
        return super().map(phase, items, self._measured(phase, function))

    def keep(self, phase: str, items: Sequence[Any], function: Any) -> Any:
        return super().keep(phase, items, self._measured(phase, function))

    def _measured(self, phase: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def call(item: Any) -> Any:
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            result = function(item)
            _, peak = tracemalloc.get_traced_memory()
            self.peaks[phase] = max(self.peaks.get(phase, 0), peak - before)
            return result

        return call


@pytest.mark.slow
def test_a_task_of_four_times_the_dataset_takes_no_more_memory(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        small = pool.apply(_task_peaks, (tmp_path / "small", 4))
        large = pool.apply(_task_peaks, (tmp_path / "large", 16))
    assert small.keys() == large.keys()
    grown = {
        phase: large[phase] / small[phase] for phase in small if large[phase] > 1.2 * small[phase]
    }
    assert not grown, "tasks that grow with the dataset: " + ", ".join(
        f"{p} x {r:.1f}" for p, r in grown.items()
    )


def _task_peaks(folder: Path, n_files: int) -> dict[str, int]:
    folder.mkdir()
    random = np.random.default_rng(0)
    for number in range(n_files):
        rows = 1 << 17
        columns = {f"x{i}": random.standard_normal(rows, dtype=np.float32) for i in range(4)}
        kinds = pa.array(["a", "b", "c"]).take(pa.array(random.integers(0, 3, rows)))
        pq.write_table(
            pa.table({**columns, "kind": kinds, "y": columns["x0"] > 0.1}),
            folder / f"{number}.parquet",
        )
    engine = MeasuringEngine()
    tracemalloc.start()
    try:
        learn(open_source(str(folder)), LearnSpec("y", max_ell=4), engine)
    finally:
        tracemalloc.stop()
    return {phase: peak for phase, peak in engine.peaks.items() if not phase.endswith("formulas")}
