"""Case `medians`: the exact medians of 14 columns in all parts of ten folds, beside those of one
part by others.

dnfscale finds 22 medians a column, of every fold's W_train and W_0, and leaves the rows read on the
workers; the peers find one, of all rows. On that one all must agree.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from dnfscale.data.source import open_source
from dnfscale.engine.launch import launch
from dnfscale.learn import LOADED
from dnfscale.learn.read import read_table
from dnfscale.spec.cluster import ClusterSpec
from dnfscale.spec.learn import LearnSpec
from tests.bench.case import Case, Contender, Figure, Measured, Outcome, wall_ratio
from tests.bench.datasets import NUMBERS, STRINGS, TARGET, make_synthetic, synthetic_folder
from tests.bench.peers import FIRST_PASS, measure_bare_scan, timed_again
from tests.bench.setting import Setting

Medians = list[float]
"""Of all rows, column by column."""


def measure_dnfscale(setting: Setting) -> Outcome:
    """Measure the read of the dataset, with everything that it finds, on a cluster that is up."""
    engine = launch(ClusterSpec(kind=setting.cluster, workers=setting.workers), loaded=LOADED)
    spec = LearnSpec(TARGET, drop=STRINGS, outer=10)

    def find(path: Path) -> Medians:
        cuts = read_table(open_source(str(path)), spec, engine).cuts
        return [float(cuts[name][0].whole[-1].value or 0.0) for name in NUMBERS]

    try:
        return _measured(find, setting)
    finally:
        engine.close()


def measure_duckdb(setting: Setting) -> Outcome:
    """Measure DuckDB's exact median of every column."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {setting.workers}")

        def find(path: Path) -> Medians:
            medians = ", ".join(f"median({name})" for name in NUMBERS)
            row = connection.execute(
                f"SELECT {medians} FROM read_parquet('{path}/*.parquet')"
            ).fetchone()
            return [float(value) for value in row or ()]

        return _measured(find, setting)


def measure_polars(setting: Setting) -> Outcome:
    """Measure Polars' exact median of every column."""
    # Polars reads this when it is imported, and never again.
    os.environ["POLARS_MAX_THREADS"] = str(setting.workers)
    import polars as pl

    def find(path: Path) -> Medians:
        medians = pl.scan_parquet(f"{path}/*.parquet").select(pl.col(NUMBERS).median()).collect()
        return [float(value) for value in medians.row(0)]

    return _measured(find, setting)


def measure_scan(setting: Setting) -> Outcome:
    """Measure the bare scan of the number columns."""
    return measure_bare_scan(synthetic_folder(setting, setting.rows), (*NUMBERS, TARGET), setting)


def figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Compare dnfscale with each peer."""
    return [
        *wall_ratio(measured, "dnfscale", "duckdb", at_most=1.0),
        *wall_ratio(measured, "dnfscale", "polars"),
        *wall_ratio(measured, "dnfscale", "bare scan"),
    ]


def _measured(find: Callable[[Path], Medians], setting: Setting) -> Outcome:
    answer, first_pass_s, wall_s, cpu_s = timed_again(
        lambda: find(synthetic_folder(setting, setting.rows))
    )
    return Outcome(wall_s, cpu_s, setting.rows, answer, {FIRST_PASS: first_pass_s})


CASE = Case(
    name="medians",
    about="exact medians of 14 columns: 22 parts of ten folds by dnfscale, all rows by the others",
    contenders=(
        Contender("dnfscale", measure_dnfscale),
        Contender("duckdb", measure_duckdb, needs=("duckdb",)),
        Contender("polars", measure_polars, needs=("polars",)),
        Contender("bare scan", measure_scan),
    ),
    figures=figures,
    prepare=lambda setting: make_synthetic(setting, setting.rows),
)
