"""Twins of Parquet files: other values in a file of the same size, time and footer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

PLAIN: dict[str, Any] = {"compression": "none", "use_dictionary": False, "write_statistics": False}
"""How to write a file whose footer says nothing of its values."""


def put_twin(file: Path, columns: Mapping[str, Any] | pa.Table, **options: Any) -> None:
    """Replace a file that was written plain by its twin."""
    before, footer = file.stat(), pq.read_metadata(file)
    twin = file.with_name("_twin")
    pq.write_table(
        columns if isinstance(columns, pa.Table) else pa.table(dict(columns)),
        twin,
        **PLAIN,
        **options,
    )
    assert twin.stat().st_size == before.st_size
    assert pq.read_metadata(twin).equals(footer)
    assert twin.read_bytes() != file.read_bytes()
    os.utime(twin, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(twin, file)


def put_copy(file: Path) -> None:
    """Replace a file by a copy that has its time."""
    before, copy = file.stat(), file.with_name("_copy")
    copy.write_bytes(file.read_bytes())
    os.utime(copy, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(copy, file)
