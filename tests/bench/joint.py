"""Case `joint`: XGBoost fitted by all workers together, beside plain `xgboost.dask` on the same
workers.

Both fit a hundred trees to half of the rows and answer the other half, in turn on one cluster. Both
begin with their rows on the workers, as the last fit of a study does after its trials; the first
turn, which reads them, does not count.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, closing
from statistics import median
from typing import Any

import numpy as np
import pyarrow.dataset as pads

from dnfscale.compare import xgboost as ours
from dnfscale.compare.joint import FitTogether, Joining
from dnfscale.compare.rows import RowsPlan
from dnfscale.compare.trial import Fit, Scored
from dnfscale.compare.ways import CLUSTER, RowLearner, Workers, needed_bytes
from dnfscale.core.columns import Column, Reading, Role
from dnfscale.core.splits import Splits
from dnfscale.data.source import open_source
from dnfscale.engine.api import Engine, Failure, JointWork
from dnfscale.engine.launch import launch
from dnfscale.learn import LOADED
from dnfscale.results.confusion import correct_of, counted_of
from dnfscale.spec.cluster import ClusterSpec
from dnfscale.spec.registry import COMPETITORS
from tests.bench.case import Case, Contender, Figure, Measured, Outcome, timed
from tests.bench.datasets import NUMBERS, STRINGS, TARGET, make_synthetic, synthetic_folder
from tests.bench.overseer import overseen
from tests.bench.setting import Setting

_TURNS = 3
_TREES, _FEW_TREES = 100, 4
_WORKER = "2GiB"


def rows_plan(setting: Setting) -> RowsPlan:
    """Describe the rows of the synthetic dataset as a study does."""
    folder = synthetic_folder(setting, setting.rows)
    source = open_source(str(folder))
    table = pads.dataset(folder, format="parquet").to_table(columns=[*STRINGS, TARGET])
    positive = int(table[TARGET].to_numpy().sum())
    numbers = (Column(name, Role.NUMBER) for name in NUMBERS)
    columns = (*numbers, *(Column(name, Role.CATEGORY) for name in STRINGS))
    texts = {name: tuple(sorted(table[name].unique().to_pylist())) for name in STRINGS}
    ends = np.cumsum([0, *(part.n_rows for part in source.partitions)]).tolist()
    return RowsPlan(
        token=str(folder),
        partitions=source.partitions,
        reading=Reading(columns, TARGET, keep_missing=True),
        classes=((False,), (True,)),
        class_rows=(source.n_rows - positive, positive),
        row_numbers={
            part.ordinal: range(ends[i], ends[i + 1]) for i, part in enumerate(source.partitions)
        },
        splits=Splits(source.n_rows, 2, 0.3, setting.seed),
        values=tuple(texts.get(column.name) for column in columns),
    )


def fitted_here(engine: Engine, plan: RowsPlan, setting: Setting) -> Callable[[], float]:
    """Return what fits and tests with dnfscale, and returns the accuracy."""
    joining = Joining(ours.meet, ours.learn_together)
    fitting = FitTogether(plan, joining)
    work = JointWork(fitting, plan.partitions, joining.meet, fitting.merge)
    params = {"n_estimators": _trees(setting), "max_depth": 6, "learning_rate": 0.3}
    fit = Fit("xgboost", 0, params, setting.seed, final=True)

    def asking() -> Generator[Fit, Scored | Failure, Scored | Failure]:
        return (yield fit)

    def run() -> float:
        [scored] = engine.together("fit together", [asking()], work, expected=1)
        assert isinstance(scored, Scored), scored
        return correct_of(scored.answers) / counted_of(scored.answers)

    return run


def fitted_plainly(client: Any, plan: RowsPlan, setting: Setting) -> Callable[[], float]:
    """Return what fits and tests with `xgboost.dask`, from half of the rows in the memory of the
    workers.
    """
    import dask.dataframe as dd
    import pandas as pd
    from distributed import wait
    from xgboost import dask as plain

    frame = dd.read_parquet(str(synthetic_folder(setting, setting.rows) / "*.parquet"))
    kinds = dict(zip((*NUMBERS, *STRINGS), plan.values, strict=True))
    frame = frame.astype({name: pd.CategoricalDtype(list(kinds[name] or ())) for name in STRINGS})
    middle = frame.npartitions // 2
    halves = [frame.partitions[:middle], frame.partitions[middle:]]
    (known, labels), (others, truth) = (
        client.persist([half[[*NUMBERS, *STRINGS]], half[TARGET]]) for half in halves
    )
    wait([known, labels, others, truth])

    def run() -> float:
        matrix = plain.DaskQuantileDMatrix(client, known, labels, enable_categorical=True)
        params = {"objective": "binary:logistic", "max_depth": 6, "eta": 0.3, "nthread": 1}
        fitted = plain.train(client, params, matrix, _trees(setting))
        given = plain.predict(client, fitted, others).compute()
        return float(((given > 0.5).to_numpy() == truth.compute().to_numpy()).mean())

    return run


def fitted_alone(plan: RowsPlan, setting: Setting) -> Callable[[], float]:
    """Return what fits and tests with XGBoost in this process, where there are no workers."""
    import xgboost

    table = pads.dataset(synthetic_folder(setting, setting.rows), format="parquet").to_table()
    codes = [table[name].combine_chunks().dictionary_encode().indices for name in STRINGS]
    columns = [*(table[name].to_numpy() for name in NUMBERS), *(code.to_numpy() for code in codes)]
    features, labels = np.column_stack(columns), table[TARGET].to_numpy()
    middle = plan.splits.n_rows // 2

    def run() -> float:
        known, wanted = features[:middle], labels[:middle].astype(np.float32)
        matrix = xgboost.QuantileDMatrix(known, wanted, nthread=1)
        params = {"objective": "binary:logistic", "max_depth": 6, "eta": 0.3, "nthread": 1}
        given = xgboost.train(params, matrix, _trees(setting)).inplace_predict(features[middle:])
        return float(((given > 0.5) == labels[middle:]).mean())

    return run


def _trees(setting: Setting) -> int:
    return _FEW_TREES if setting.cluster == "serial" else _TREES


def measure_in_turn(setting: Setting) -> Outcome:
    """Measure both in turn: the machine's mood changes within seconds."""
    plan = rows_plan(setting)
    spec = ClusterSpec(kind=setting.cluster, workers=setting.workers, memory_limit=_WORKER)
    with ExitStack() as running:
        engine = running.enter_context(closing(launch(spec, loaded=LOADED)))
        workers = running.enter_context(overseen(engine))
        run = fitted_here(engine, plan, setting)
        if setting.cluster == "serial":
            peer = fitted_alone(plan, setting)
        else:
            # Dask calls pandas in ways that pandas is about to drop, which is between the two.
            warnings.simplefilter("ignore")
            client = engine.client  # type: ignore[attr-defined]
            running.enter_context(client.as_current())
            peer = fitted_plainly(client, plan, setting)
        turns = [
            (timed(run), timed(peer))
            for _ in range(2 if setting.cluster == "serial" else 1 + _TURNS)
        ]
        log = workers()
    first, *others = turns
    assert abs(first[0][0] - first[1][0]) < 0.05, "the two are about equally accurate"
    run_s, peer_s = (median(turn[i][1] for turn in others) for i in (0, 1))
    learner = COMPETITORS["xgboost"]
    assert isinstance(learner, RowLearner)
    needed = needed_bytes(learner, CLUSTER, plan.table, Workers(setting.workers))
    return Outcome(
        run_s,
        median(cpu_s for (_, _, cpu_s), _ in others),
        plan.splits.n_rows,
        parts_s={"xgboost.dask": peer_s, "first": first[0][1]},
        workers=log,
        planned_worker_bytes=None if setting.cluster == "serial" else needed,
    )


def figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Compare the times, and say what happened to workers."""
    if "together" not in measured:
        return []
    outcome = measured["together"].outcome
    ratio = outcome.wall_s / outcome.parts_s["xgboost.dask"]
    found = [Figure("a fit of all workers / plain xgboost.dask, wall time", ratio, at_most=1.3)]
    if outcome.workers is not None:
        found.append(Figure("workers restarted", outcome.workers.restarted, at_most=0))
    return found


CASE = Case(
    name="joint",
    about="XGBoost fitted by all workers together",
    contenders=(Contender("together", measure_in_turn, needs=("pandas", "dask.dataframe")),),
    figures=figures,
    prepare=lambda setting: make_synthetic(setting, setting.rows),
)
