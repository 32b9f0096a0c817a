"""Related tables: a spec that relates two, spoiled, and concepts that a judge makes again."""

from __future__ import annotations

import datetime
import io
import json
import math
import shutil
from contextlib import redirect_stderr
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dnfscale.jobs.runner import open_data
from dnfscale.spec.job import read_spec
from dnfscale.spec.toml import write_toml
from tests.fuzz.columns import any_column, any_type
from tests.fuzz.spoil import tree_spoiled
from tests.fuzz.tables import parquet_of
from tests.fuzz.verdict import attempt, demand
from tests.relations.judge import said

Files = dict[str, bytes]
_START = datetime.datetime(2024, 1, 1)
_MOST_JUDGED = 60
"""Concepts."""


def make(random: Random) -> Files:
    """Make two tables, and the spec that relates them."""
    n, m = random.choice((0, 1, 8, 20)), random.choice((0, 1, 30, 90))
    keys: list[Any] = random.sample(range(-5, 60), n)
    if random.random() < 0.3:
        keys = [f"k{key}" for key in keys]
    if n > 1 and random.random() < 0.3:
        keys[1] = keys[0]
    owners = [random.choice([*keys, *keys[:1] * 5, keys[0]]) if keys else 1 for _ in range(m)]
    main = {"k": keys, "now": _times(random, n), "y": [random.random() < 0.5 for _ in range(n)]}
    related: dict[str, Any] = {
        "k": owners,
        "at": _times(random, m),
        "n": [random.choice((None, random.randrange(9))) for _ in range(m)],
        "x": [random.choice((None, random.gauss(0, 1), math.nan)) for _ in range(m)],
        "d": [random.choice((None, Decimal(random.randrange(999)).scaleb(-2))) for _ in range(m)],
        "s": [random.choice((None, "a", "b", "é")) for _ in range(m)],
        "b": [random.choice((None, True, False)) for _ in range(m)],
    }
    if random.random() < 0.3:
        related[random.choice((*related, "more"))] = any_column(random, any_type(random), m)
    table = {"name": random.choice(("orders", "a b", "x")), "path": "related.parquet", "key": "k"}
    data: dict[str, Any] = {"path": "t.parquet", "target": "y", "key": "k"}
    if random.random() < 0.6:
        data["as_of"], table["time"] = "now", "at"
        table["windows"] = random.sample([1, 30, 90, 36_500], random.randrange(3))
    data["related"] = [table]
    document: dict[str, Any] = {
        "schema_version": 1,
        "kind": "study",
        "data": data,
        "relations": {"max_concepts": random.choice((1, 20, 400))},
        "folds": {"outer": 2, **({"group": "k"} if random.random() < 0.5 else {})},
        "cluster": {"kind": "serial"},
    }
    if random.random() < 0.3:
        document["data"] = tree_spoiled(random, document["data"])
    try:
        text = write_toml(document)
    except (TypeError, AttributeError):
        text = repr(document)
    return {
        "job.toml": text.encode("utf-8", "surrogatepass"),
        **{
            name: parquet_of(random, columns)
            for name, columns in zip(("t.parquet", "related.parquet"), (main, related), strict=True)
        },
    }


def _times(random: Random, n: int) -> list[datetime.datetime | None]:
    days = (random.choice((None, random.randrange(200), 30)) for _ in range(n))
    return [None if day is None else _START + datetime.timedelta(day) for day in days]


def check(files: Files, folder: Path) -> None:
    """Join two tables; concepts say what a judge makes of every pair of rows."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    spec = attempt(lambda: read_spec(folder / "job.toml"))
    if spec is None or "://" in json.dumps(spec.values["output.dir"]):
        return
    try:
        with redirect_stderr(io.StringIO()):
            opened = attempt(lambda: open_data(spec))
        if opened is None or not spec.related:
            return
        source, _ = opened
        rows = pa.concat_tables(pq.read_table(file.path) for file in source.files).to_pylist()
        related = pq.read_table(folder / "related.parquet").to_pylist()
    finally:
        shutil.rmtree(folder / "runs", ignore_errors=True)
    for name, concept in list(source.concepts.items())[:_MOST_JUDGED]:
        for row in rows:
            expected = said(concept, row, related)
            demand(_agree(row[name], expected), f"{name} of {row} is not {expected}")


def _agree(found: Any, expected: Any) -> bool:
    if isinstance(expected, float) and isinstance(found, float):
        return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)
    return bool(found == expected)
