"""Files of rows, and what is read of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dnfscale.core.columns import Categories, Column, Numbers, Reading, Role
from dnfscale.data.source import Source


def write(path: Path, columns: dict[str, Any] | pa.Table, **options: Any) -> Path:
    """Write a Parquet file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), path, **options)
    return path


def decoded(data: Numbers | Categories) -> list[Any]:
    """Return the values of a column of a block, None where there is none."""
    if isinstance(data, Categories):
        return [None if code < 0 else data.values[code] for code in data.codes.tolist()]
    present = np.ones(len(data.values), bool) if data.present is None else data.present
    return [
        value if there else None
        for value, there in zip(data.values.tolist(), present.tolist(), strict=True)
    ]


def read_back(
    source: Source,
    roles: dict[str, Role],
    *,
    target: str,
    keep_missing: bool = False,
) -> dict[str, list[Any]]:
    """Read the columns and the target of a source as lists of values."""
    reading = Reading(
        tuple(Column(name, role) for name, role in roles.items()), target, keep_missing=keep_missing
    )
    rows: dict[str, list[Any]] = {name: [] for name in [*roles, target]}
    for partition in source.partitions:
        for block in partition.blocks(reading):
            for name, data in zip(roles, block.columns, strict=True):
                rows[name] += decoded(data)
            rows[target] += decoded(block.target)
            assert {len(column) for column in rows.values()} == {len(rows[target])}
    return rows
