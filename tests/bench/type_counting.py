"""Case `types`: the types of ten attributes over all rows, counted in one scan.

Every contender evaluates «x > 0» for ten columns, packs the truth values into an integer, and
counts rows and positive rows per integer; all must agree on every count.

DuckDB is asked in two ways, because it matters to it: with the Booleans cast, shifted and added,
and with one CASE per attribute, which is the fastest of six spellings tried and takes half the
time.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dnfscale.apply.evaluate import columns_of, evaluate
from dnfscale.core.arrays import Ints
from dnfscale.core.columns import Reading, Rows
from dnfscale.core.planes import joined
from dnfscale.core.vocabulary import Above, IsTrue, Vocabulary
from dnfscale.data.source import open_source
from dnfscale.engine.launch import launch
from dnfscale.learn import LOADED
from dnfscale.spec.cluster import ClusterSpec
from tests.bench.case import Case, Contender, Figure, Measured, Outcome, wall_ratio
from tests.bench.datasets import NUMBERS, TARGET, make_synthetic, synthetic_folder
from tests.bench.peers import FIRST_PASS, measure_bare_scan, timed_again
from tests.bench.setting import Setting

COLUMNS = NUMBERS[:10]
TAU = Vocabulary(tuple(Above(f"{name}_above_zero", name, 0.0) for name in COLUMNS))

Counts = list[list[int]]
"""(t, n_t, c_t) of every type that occurs, in increasing order of t."""


@dataclass(frozen=True, slots=True)
class CountTypesOf:
    """One scan of the Parquet itself: n_t and c_t of tau, as a dense table over (target, type)."""

    tau: Vocabulary
    target: str

    def __call__(self, rows: Rows) -> Ints:
        # The target is one more attribute, the last.
        cells_of = Vocabulary((*self.tau.attributes, IsTrue(self.target, self.target, True)))
        columns = columns_of(cells_of)
        table = np.zeros(1 << len(cells_of), dtype=np.int64)
        for block in rows.blocks(Reading(columns, None, keep_missing=True)):
            found = evaluate(block, columns, [cells_of])
            cells = joined(found.planes[0])
            complete = cells if found.incomplete is None else cells[~found.incomplete]
            table += np.bincount(complete, minlength=len(table))
        return table


def merge_tables(parts: Sequence[Ints]) -> Ints:
    """Merge the tables of disjoint rows."""
    return np.asarray(np.sum(parts, axis=0))


def measure_dnfscale(setting: Setting) -> Outcome:
    """Measure one reduction over the partitions on a cluster that is up."""
    folder = synthetic_folder(setting, setting.rows)
    scan = CountTypesOf(TAU, TARGET)
    engine = launch(ClusterSpec(kind=setting.cluster, workers=setting.workers), loaded=LOADED)

    def count(path: Path) -> Counts:
        table = engine.reduce("count types", open_source(str(path)).partitions, scan, merge_tables)
        negative, positive = table.reshape(2, -1)
        return _listed(
            (t, n, c)
            for t, (n, c) in enumerate(zip(negative + positive, positive, strict=True))
            if n
        )

    try:
        return replace(
            _measured(count, folder), partitions=len(open_source(str(folder)).partitions)
        )
    finally:
        engine.close()


def measure_duckdb_shifts(setting: Setting) -> Outcome:
    """Measure DuckDB's GROUP BY of the sum of shifted truth values."""
    return _measure_duckdb(
        " + ".join(f"(({name} > 0)::INT << {i})" for i, name in enumerate(COLUMNS)), setting
    )


def measure_duckdb_cases(setting: Setting) -> Outcome:
    """Measure DuckDB's GROUP BY of the sum of CASE expressions."""
    cases = (f"CASE WHEN {name} > 0 THEN {1 << i} ELSE 0 END" for i, name in enumerate(COLUMNS))
    return _measure_duckdb(" + ".join(cases), setting)


def measure_polars(setting: Setting) -> Outcome:
    """Measure Polars' streaming engine on a lazy scan."""
    # Polars reads this when it is imported, and never again.
    os.environ["POLARS_MAX_THREADS"] = str(setting.workers)
    import polars as pl

    truths = [(pl.col(name) > 0).cast(pl.Int32) * (1 << i) for i, name in enumerate(COLUMNS)]

    def count(path: Path) -> Counts:
        grouped = pl.scan_parquet(_pattern(path)).group_by(pl.sum_horizontal(truths).alias("t"))
        counted = grouped.agg(pl.len().alias("n"), pl.col(TARGET).sum().alias("c")).collect(
            engine="streaming"
        )
        return _listed(counted.iter_rows())

    return _measured(count, synthetic_folder(setting, setting.rows))


def measure_dask_dataframe(setting: Setting) -> Outcome:
    """Measure the group-by of dask.dataframe, on worker processes as ours."""
    import dask
    import dask.dataframe as dd
    from distributed import Client

    def count(path: Path) -> Counts:
        frame = dd.read_parquet(_pattern(path), columns=[*COLUMNS, TARGET])
        code = sum(
            ((frame[name] > 0).astype("int64") * (1 << i) for i, name in enumerate(COLUMNS)),
            start=0,
        )
        grouped = (
            frame[[TARGET]]
            .astype("int64")
            .assign(t=code)
            .groupby("t")[TARGET]
            .agg(["count", "sum"])
            .compute()
        )
        return _listed(grouped.reset_index().itertuples(index=False))

    with ExitStack() as running:
        # Dask calls pandas in ways that pandas is about to drop, which is between the two of them.
        running.enter_context(warnings.catch_warnings(action="ignore"))
        if setting.cluster == "serial":
            running.enter_context(dask.config.set(scheduler="synchronous"))
        else:
            running.enter_context(
                Client(n_workers=setting.workers, threads_per_worker=1, dashboard_address=None)
            )
        return _measured(count, synthetic_folder(setting, setting.rows))


def measure_xgboost(setting: Setting) -> Outcome:
    """Measure, for scale, how long XGBoost takes for the histograms of one tree of depth six over
    the same columns.

    The rows are in memory and binned before the clock starts; it answers another question, so it
    has no answer here.
    """
    import xgboost
    from pyarrow.dataset import dataset

    table = dataset(synthetic_folder(setting, setting.rows), format="parquet").to_table(
        columns=[*COLUMNS, TARGET]
    )
    binned = xgboost.QuantileDMatrix(
        np.column_stack([table[name].to_numpy() for name in COLUMNS]),
        table[TARGET].to_numpy().astype(np.float32),
    )
    settings = {
        "tree_method": "hist",
        "max_depth": 6,
        "nthread": setting.workers,
        "objective": "binary:logistic",
    }
    _, first_pass_s, wall_s, cpu_s = timed_again(lambda: xgboost.train(settings, binned, 1))
    return Outcome(wall_s, cpu_s, table.num_rows, parts_s={FIRST_PASS: first_pass_s})


def measure_scan(setting: Setting) -> Outcome:
    """Measure the bare scan of the columns that the types need."""
    return measure_bare_scan(synthetic_folder(setting, setting.rows), (*COLUMNS, TARGET), setting)


def figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Compare dnfscale with each peer."""
    return [
        *wall_ratio(measured, "dnfscale", "duckdb", at_most=0.5),
        *wall_ratio(measured, "dnfscale", "duckdb case"),
        *wall_ratio(measured, "dnfscale", "polars", at_most=1.0),
        *wall_ratio(measured, "dnfscale", "dask.dataframe"),
        *wall_ratio(measured, "dnfscale", "bare scan", at_most=1.2),
    ]


def _measure_duckdb(type_expression: str, setting: Setting) -> Outcome:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {setting.workers}")

        def count(path: Path) -> Counts:
            query = f"""SELECT {type_expression} AS t, count(*), sum({TARGET}::INT)
                        FROM read_parquet('{_pattern(path)}') GROUP BY t"""
            return _listed(connection.execute(query).fetchall())

        return _measured(count, synthetic_folder(setting, setting.rows))


def _measured(count: Callable[[Path], Counts], folder: Path) -> Outcome:
    answer, first_pass_s, wall_s, cpu_s = timed_again(lambda: count(folder))
    return Outcome(wall_s, cpu_s, sum(n for _, n, _ in answer), answer, {FIRST_PASS: first_pass_s})


def _pattern(path: Path) -> str:
    return str(path / "*.parquet")


def _listed(rows: Iterable[Sequence[int]]) -> Counts:
    return sorted([int(t), int(n), int(c)] for t, n, c in rows)


CASE = Case(
    name="types",
    about="the types of 10 attributes over all rows, in one scan",
    contenders=(
        Contender("dnfscale", measure_dnfscale),
        Contender("duckdb", measure_duckdb_shifts, needs=("duckdb",)),
        Contender("duckdb case", measure_duckdb_cases, needs=("duckdb",)),
        Contender("polars", measure_polars, needs=("polars",)),
        Contender("dask.dataframe", measure_dask_dataframe, needs=("pandas", "dask.dataframe")),
        Contender("xgboost histograms", measure_xgboost, needs=("xgboost",)),
        Contender("bare scan", measure_scan),
    ),
    figures=figures,
    prepare=lambda setting: make_synthetic(setting, setting.rows),
)
