"""Case `predict`: a formula of ten attributes for every row, written as Parquet, beside the scan
and the write.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dnfscale.apply.predict import predict
from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import Model
from dnfscale.data.source import open_source
from dnfscale.engine.launch import launch
from dnfscale.spec.cluster import ClusterSpec
from tests.bench.case import Case, Contender, Figure, Measured, Outcome, timed
from tests.bench.datasets import make_synthetic, synthetic_folder
from tests.bench.peers import bare_scan
from tests.bench.setting import Setting
from tests.bench.type_counting import COLUMNS, TAU

_TURNS = 9

MODEL = Model(
    target="y",
    positive=(True,),
    tau=TAU,
    dnf=Dnf(
        (
            Term(0b0000000111, 0b0000000101),
            Term(0b0001111000, 0b0001010000),
            Term(0b1110000000, 0b1000000000),
        )
    ),
    counts=TypeCounts(10, np.arange(1024), np.full(1024, 10), np.arange(1024) % 11),
)


def measure_in_turn(setting: Setting) -> Outcome:
    """Measure the prediction on a cluster that is up, the write of the same answers, and the bare
    scan, in turn.

    Their difference is small, and the machine's mood changes within seconds: all three have to meet
    the same.
    """
    folder = synthetic_folder(setting, setting.rows)
    source = open_source(str(folder))
    pa.set_cpu_count(setting.workers)
    engine = launch(
        ClusterSpec(kind=setting.cluster, workers=setting.workers), loaded=[predict.__module__]
    )
    try:
        with tempfile.TemporaryDirectory(dir=setting.data) as scratch:
            answers = Path(scratch) / "answers"
            rows = predict([MODEL], source, engine, answers).rows
            tables = [pq.read_table(file) for file in sorted(answers.glob("*.parquet"))]
            turns = [
                (
                    timed(lambda: predict([MODEL], source, engine, answers, force=True)),
                    timed(lambda: _write(tables, Path(scratch), setting.workers)),
                    timed(lambda: bare_scan(folder, COLUMNS)),
                )
                for _ in range(_TURNS)
            ]
    finally:
        engine.close()
    walls = [[wall_s for _, wall_s, _ in turn] for turn in turns]
    predict_s, write_s, scan_s = (median(column) for column in zip(*walls, strict=True))
    cpu_s = median(cpu_s for (_, _, cpu_s), _, _ in turns)
    return Outcome(predict_s, cpu_s, rows, parts_s={"write alone": write_s, "bare scan": scan_s})


def _write(tables: Sequence[pa.Table], folder: Path, n_threads: int) -> int:
    """Write answers from memory, on as many threads as there are workers."""

    def write_one(numbered: tuple[int, pa.Table]) -> int:
        pq.write_table(numbered[1], folder / f"{numbered[0]}.parquet")
        return int(numbered[1].num_rows)

    with ThreadPoolExecutor(n_threads) as pool:
        return sum(pool.map(write_one, enumerate(tables)))


def figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Count what is left of the prediction without the write in bare scans."""
    if "predict" not in measured:
        return []
    outcome = measured["predict"].outcome
    write_s, scan_s = outcome.parts_s["write alone"], outcome.parts_s["bare scan"]
    return [
        Figure(
            "(predict - write) / bare scan, wall time",
            (outcome.wall_s - write_s) / scan_s,
            at_most=1.5,
        )
    ]


CASE = Case(
    name="predict",
    about="a formula of ten attributes for every row, written as Parquet",
    contenders=(Contender("predict", measure_in_turn),),
    figures=figures,
    prepare=lambda setting: make_synthetic(setting, setting.rows),
)
