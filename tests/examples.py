"""Tables that several tests learn from."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dnfscale.data.frames import table_source
from dnfscale.data.read import TablePartition
from dnfscale.data.source import Source, open_source

ADULTS = 5000


def mixed_table(seed: int, n_rows: int, missing: float = 0.0) -> pa.Table:
    """Return a table of all kinds of columns, some of which have to do with the target «y»."""
    random = np.random.default_rng(seed)
    x, z = random.normal(size=n_rows), random.integers(0, 5, n_rows)
    y = (x + random.normal(scale=0.7, size=n_rows) > 0) ^ ((z == 3) & (random.random(n_rows) < 0.8))
    colours = np.array(["red", "green", "blue", "Ümlaut", ""])
    columns = {
        "x": pa.array(x),
        "noise": pa.array(random.random(n_rows).astype(np.float32)),
        "rank": pa.array(random.integers(-100, 100, n_rows).astype(np.int8)),
        "ties": pa.array(np.minimum(z, 2).astype(np.int64)),
        "colour": pa.array(colours[z]),
        "kind": pa.array(colours[random.integers(0, 3, n_rows)]).dictionary_encode(),
        "flag": pa.array((x > 0.5) | (random.random(n_rows) < 0.2)),
        "constant": pa.array(np.full(n_rows, 7)),
    }
    holed = {
        name: pa.array(column.to_pylist(), column.type, mask=random.random(n_rows) < missing)
        for name, column in columns.items()
    }
    return pa.table({**holed, "y": y})


def adult_like() -> pa.Table:
    """Return a table of mixed columns with gaps, like the census table Adult."""
    random = np.random.default_rng(1994)

    def holed(values: Any, share: float, kind: pa.DataType) -> pa.Array:
        return pa.array(values, kind, mask=random.random(ADULTS) < share)

    age = random.integers(17, 91, ADULTS)
    years = random.integers(1, 17, ADULTS)
    gain = np.where(random.random(ADULTS) < 0.6, 0.0, random.exponential(5000, ADULTS).round(2))
    hours = random.normal(40, 12, ADULTS).astype(np.float32)
    rate = random.normal(size=ADULTS)
    rate[random.random(ADULTS) < 0.01] = np.nan
    rate[random.random(ADULTS) < 0.01] = np.inf
    married = random.random(ADULTS) < 0.5
    job = random.choice(
        ["Sales", "Tech-support", "Exec managerial", "Priv-house-serv", "?"], ADULTS
    )
    score = (
        (age > 37) * 1.0
        + (years > 9)
        + married * 1.5
        + (gain > 0)
        + (job == "Exec managerial")
        + rate.clip(-1, 1)
    )
    income = np.where(np.nan_to_num(score) + random.normal(0, 0.7, ADULTS) > 2.8, ">50K", "<=50K")
    return pa.table(
        {
            "age": holed(age, 0.01, pa.int64()),
            "weight": pa.array(random.integers(2**61, 2**62, ADULTS), pa.int64()),
            "years": holed(years, 0.02, pa.int8()),
            "code": pa.array(random.integers(0, 2**64, ADULTS, dtype=np.uint64), pa.uint64()),
            "gain": pa.array(gain, pa.float64()),
            "hours": holed(hours, 0.01, pa.float32()),
            "rate": pa.array(rate, pa.float64()),
            "job": holed(job.tolist(), 0.03, pa.string()),
            "sex": pa.array(random.choice(["Male", "Female"], ADULTS).tolist()).dictionary_encode(),
            "married": holed(married, 0.01, pa.bool_()),
            "income": holed(income.tolist(), 0.005, pa.string()),
        }
    )


def in_parts(table: pa.Table, cuts: Sequence[int]) -> Source:
    """Return a table as a source whose partitions begin at the given rows."""
    bounds = sorted({0, table.num_rows, *cuts})
    slices = [table.slice(a, b - a) for a, b in itertools.pairwise(bounds)]
    partitions = tuple(TablePartition(ordinal, part) for ordinal, part in enumerate(slices))
    return replace(table_source(table, "memory"), partitions=partitions)


def one_file_and_many(frame: pd.DataFrame, folder: Path) -> tuple[Source, Source]:
    """Write a table as one file, and as many of a few small row groups each."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, folder / "one.parquet")
    (folder / "many").mkdir()
    for number, start in enumerate(range(0, table.num_rows, 83)):
        part = folder / "many" / f"{number:02d}.parquet"
        pq.write_table(table.slice(start, 83), part, row_group_size=20)
    return open_source(str(folder / "one.parquet")), open_source(str(folder / "many"))
