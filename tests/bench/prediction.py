"""Case `predict`: a formula of ten attributes for every row, written as Parquet, beside the scan and the write."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import Model
from dnfscale.data.source import open_source
from dnfscale.engine.launch import ClusterSpec, launch
from dnfscale.engine.serial import SerialEngine
from dnfscale.predict import predict
from tests.bench.case import Case, Contender, Figure, Measured, Outcome
from tests.bench.datasets import make_synthetic, synthetic_folder
from tests.bench.peers import FIRST_PASS, measure_bare_scan, timed_again
from tests.bench.setting import Setting
from tests.bench.type_counting import COLUMNS, TAU

MODEL = Model(
    target="y",
    positive=(True,),
    tau=TAU,
    dnf=Dnf((Term(0b0000000111, 0b0000000101), Term(0b0001111000, 0b0001010000), Term(0b1110000000, 0b1000000000))),
    counts=TypeCounts(10, np.arange(1024), np.full(1024, 10), np.arange(1024) % 11),
)


def measure_predict(setting: Setting) -> Outcome:
    """Measure the prediction on a cluster that is up."""
    source = open_source(str(synthetic_folder(setting, setting.rows)))
    engine = launch(ClusterSpec(kind=setting.cluster, workers=setting.workers))
    try:
        return _measured(lambda folder: predict([MODEL], source, engine, folder / "answers", force=True).rows, setting)
    finally:
        engine.close()


def measure_write(setting: Setting) -> Outcome:
    """Measure writing the same answers from memory, on as many threads as there are workers."""
    source = open_source(str(synthetic_folder(setting, setting.rows)))
    with tempfile.TemporaryDirectory(dir=setting.data) as folder:
        predict([MODEL], source, SerialEngine(), Path(folder) / "answers")
        tables = [pq.read_table(file) for file in sorted((Path(folder) / "answers").glob("*.parquet"))]

    def write(folder: Path) -> int:
        def write_one(numbered: tuple[int, pa.Table]) -> int:
            pq.write_table(numbered[1], folder / f"{numbered[0]}.parquet")
            return int(numbered[1].num_rows)

        with ThreadPoolExecutor(setting.workers) as pool:
            return sum(pool.map(write_one, enumerate(tables)))

    return _measured(write, setting)


def measure_scan(setting: Setting) -> Outcome:
    """Measure the bare scan of the columns that the formula needs."""
    return measure_bare_scan(synthetic_folder(setting, setting.rows), COLUMNS, setting)


def figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Count what is left of the prediction without the write in bare scans."""
    if not {"predict", "write", "bare scan"} <= set(measured):
        return []
    predict_s, write_s, scan_s = (measured[name].outcome.wall_s for name in ("predict", "write", "bare scan"))
    return [Figure("(predict - write) / bare scan, wall time", (predict_s - write_s) / scan_s, at_most=1.5)]


def _measured(work: Callable[[Path], int], setting: Setting) -> Outcome:
    folder = Path(tempfile.mkdtemp(dir=setting.data))
    try:
        rows, first_pass_s, wall_s, cpu_s = timed_again(lambda: work(folder))
    finally:
        shutil.rmtree(folder)
    return Outcome(wall_s, cpu_s, rows, parts_s={FIRST_PASS: first_pass_s})


CASE = Case(
    name="predict",
    about="a formula of ten attributes for every row, written as Parquet",
    contenders=(
        Contender("predict", measure_predict),
        Contender("write", measure_write),
        Contender("bare scan", measure_scan),
    ),
    figures=figures,
    prepare=lambda setting: make_synthetic(setting, setting.rows),
)
