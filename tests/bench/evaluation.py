"""Case `evaluate`: all metrics and drift of a formula of ten attributes, beside the bare
scan of the same columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

import pyarrow as pa

from dnfscale.apply.evaluation import Asked, evaluate_models
from dnfscale.data.source import open_source
from dnfscale.engine.launch import launch
from dnfscale.spec.cluster import ClusterSpec
from tests.bench.case import Case, Contender, Figure, Measured, Outcome, timed
from tests.bench.datasets import TARGET, make_synthetic, synthetic_folder
from tests.bench.peers import bare_scan
from tests.bench.prediction import MODEL
from tests.bench.setting import Setting
from tests.bench.type_counting import COLUMNS

_TURNS = 5


def measure_in_turn(setting: Setting) -> Outcome:
    """Measure the evaluation on a cluster that is up, and the bare scan, in turn."""
    folder = synthetic_folder(setting, setting.rows)
    source = open_source(str(folder))
    pa.set_cpu_count(setting.workers)
    engine = launch(
        ClusterSpec(kind=setting.cluster, workers=setting.workers),
        loaded=[evaluate_models.__module__],
    )
    asked = Asked(target=TARGET)
    try:
        rows = evaluate_models([MODEL], source, engine, asked).rows
        turns = [
            (
                timed(lambda: evaluate_models([MODEL], source, engine, asked)),
                timed(lambda: bare_scan(folder, [*COLUMNS, TARGET])),
            )
            for _ in range(_TURNS)
        ]
    finally:
        engine.close()
    evaluate_s, scan_s = (median(turn[i][1] for turn in turns) for i in range(2))
    cpu_s = median(evaluated[2] for evaluated, _ in turns)
    return Outcome(evaluate_s, cpu_s, rows, parts_s={"bare scan": scan_s})


def figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Count the evaluation in bare scans."""
    if "evaluate" not in measured:
        return []
    outcome = measured["evaluate"].outcome
    return [
        Figure(
            "evaluation / bare scan, wall time",
            outcome.wall_s / outcome.parts_s["bare scan"],
            at_most=2.0,
        )
    ]


CASE = Case(
    name="evaluate",
    about="all metrics and drift of a formula of ten attributes, in one scan",
    contenders=(Contender("evaluate", measure_in_turn),),
    figures=figures,
    prepare=lambda setting: make_synthetic(setting, setting.rows),
)
