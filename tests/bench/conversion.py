"""Case `csv`: a CSV as Parquet, beside pyarrow's own threaded reader and its Parquet writer."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from dnfscale.datasets.convert import convert_csv
from tests.bench.case import Case, Contender, Figure, Measured, Outcome, timed
from tests.bench.datasets import make_synthetic, synthetic_folder
from tests.bench.setting import Setting

_TURNS = 3
_MOST_ROWS = 1_000_000


def text_of(setting: Setting) -> Path:
    """Return the synthetic table as a CSV, which is made where it is not there."""
    rows = min(setting.rows, _MOST_ROWS)
    file = setting.data / f"rows-{rows}-seed-{setting.seed}.csv"
    if not file.exists():
        table = pq.read_table(synthetic_folder(setting, setting.rows)).slice(0, rows)
        draft = file.with_suffix(".draft")
        pacsv.write_csv(table, draft)
        draft.replace(file)
    return file


def prepare(setting: Setting) -> None:
    make_synthetic(setting, setting.rows)
    text_of(setting)


def measure_in_turn(setting: Setting) -> Outcome:
    """Measure both in turn: the machine's mood changes within seconds."""
    file = text_of(setting)
    pa.set_cpu_count(setting.workers)
    with tempfile.TemporaryDirectory(dir=setting.data) as scratch:
        ours, theirs = Path(scratch) / "ours", Path(scratch) / "theirs.parquet"

        def arrow() -> int:
            table = pacsv.read_csv(file)
            pq.write_table(table, theirs, compression="zstd")
            return int(table.num_rows)

        def convert() -> int:
            shutil.rmtree(ours, ignore_errors=True)
            return convert_csv(file, ours).rows

        turns = [(timed(convert), timed(arrow)) for _ in range(_TURNS)]
        assert pq.read_table(ours).equals(pq.read_table(theirs))
    convert_s, arrow_s = (median(turn[i][1] for turn in turns) for i in (0, 1))
    rows, cpu_s = turns[0][0][0], median(cpu_s for (_, _, cpu_s), _ in turns)
    return Outcome(convert_s, cpu_s, rows, parts_s={"pyarrow": arrow_s})


def figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Compare the rows a second."""
    if "convert" not in measured:
        return []
    outcome = measured["convert"].outcome
    ratio = outcome.parts_s["pyarrow"] / outcome.wall_s
    return [Figure("rows a second: conversion / pyarrow's reader and writer", ratio, at_least=0.8)]


CASE = Case(
    name="csv",
    about="a CSV as Parquet, once",
    contenders=(Contender("convert", measure_in_turn),),
    figures=figures,
    prepare=prepare,
)
