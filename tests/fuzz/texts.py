"""Texts: CSV files and lines of JSON, whole or spoiled, which say the same however they are cut."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dnfscale.datasets.convert import BLOCK_BYTES, Conversion
from dnfscale.datasets.named import open_dataset
from dnfscale.jobs.verbs.data_options import csv_options
from dnfscale.spec.csv import CsvOptions
from dnfscale.spec.storage import DEFAULT_ACCESS
from tests.fuzz.spoil import TEXTS, any_value, bytes_spoiled, tree_spoiled
from tests.fuzz.verdict import attempt, demand

Files = dict[str, bytes]
_CELLS = (
    *("", "1", "-3", "1.5", "1,5", "1e400", "007", "0x10", "1_000", "9" * 25, "inf", "NaN", "NA"),
    *(
        "true",
        "FALSE",
        "yes",
        "2024-02-29",
        "29.02.2024",
        "02/03/2024",
        "2024-01-01 10:00",
        "24:00",
    ),
    *('a "b"', "a;b", "a,b", "a\nb", "a\r\nb", "'", "\\", "é", "日本", "\u202e", "=1+1", "12:30"),
)


def make(random: Random) -> Files:
    """Make a text, and how it is to be read."""
    if random.random() < 0.2:
        name, content = "t.jsonl", _json(random)
    else:
        name, content = random.choice(("t.csv", "t.csv", "t.tsv", "t.txt")), _csv(random)
    if random.random() < 0.4:
        content = bytes_spoiled(random, content)
    if random.random() < 0.1:
        name, content = f"{name}.gz", gzip.compress(content, mtime=0)
        content = bytes_spoiled(random, content) if random.random() < 0.3 else content
    asked = {"block_bytes": random.choice((40, 200, 1000)), "csv": {}}
    if random.random() < 0.2:
        asked["csv"] = {
            random.choice(("delimiter", "encoding", "decimal", "dates")): random.choice(
                (";", ",", "tab", "cp1252", "utf-16", "utf-8", "day-first", *TEXTS)
            )
        }
    return {name: content, "asked.json": json.dumps(asked).encode()}


def _csv(random: Random) -> bytes:
    few = [random.sample(_CELLS, random.choice((1, 2, 5))) for _ in range(random.choice((1, 2, 5)))]
    names = random.sample([*_CELLS, "a", "b", "c", "d", "e"], len(few))
    rows = [names, *([random.choice(cells) for cells in few] for _ in range(_n_rows(random)))]
    if random.random() < 0.05:
        rows[random.randrange(len(rows))] *= 2
    sink = io.StringIO()
    writer = csv.writer(
        sink,
        delimiter=random.choice(",,,;\t|"),
        quoting=random.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC)),
        lineterminator=random.choice(("\n", "\r\n", "\r")),
    )
    writer.writerows(rows)
    return sink.getvalue().encode(
        random.choice(("utf8", "utf8", "utf-8-sig", "utf-16", "cp1252")), "replace"
    )


def _json(random: Random) -> bytes:
    base = {"a": 1, "b": 1.5, "c": "x", "d": True, "e": {"f": [1, 2]}, "g": None}
    if random.random() < 0.5:
        del base["e"]
    lines: list[Any] = []
    for _ in range(_n_rows(random)):
        row: Any = {key: value for key, value in base.items() if random.random() < 0.9}
        if random.random() < 0.02:
            row = tree_spoiled(random, base)
        elif random.random() < 0.02:
            row = any_value(random)
        lines.append(row)
    return b"\n".join(json.dumps(line).encode("utf8", "surrogatepass") for line in lines)


def _n_rows(random: Random) -> int:
    return random.choice((0, 1, 3, 20, 60))


def check(files: Files, folder: Path) -> None:
    """Convert a text in small blocks and in one: both give the same rows, or both refuse it."""
    [name] = [name for name in files if name != "asked.json"]
    (folder / name).write_bytes(files[name])
    asked = json.loads(files["asked.json"])
    options = attempt(lambda: csv_options(f"{key}={text}" for key, text in asked["csv"].items()))
    if options is None:
        return
    try:
        read = [
            attempt(lambda size=size: _converted(folder, name, options, size))
            for size in (asked["block_bytes"], BLOCK_BYTES)
        ]
    finally:
        for kept in folder.glob("kept-*"):
            shutil.rmtree(kept)
        (folder / name).unlink()
    small, whole = read
    if small is None or whole is None:
        demand(small is whole, f"only {'blocks' if small is None else 'one block'} were refused")
        return
    demand(small.schema.equals(whole.schema), f"blocks: {small.schema}\nwhole: {whole.schema}")
    demand(_rows(small) == _rows(whole), f"blocks: {small}\nwhole: {whole}")


def _rows(table: pa.Table) -> list[str]:
    return [repr(row) for row in table.to_pylist()]


def _converted(folder: Path, name: str, options: CsvOptions, size: int) -> pa.Table:
    conversion = Conversion(
        csv=options,
        places=(str(folder / f"kept-{size}"),),
        tell=lambda _: None,
        block_bytes=size,
    )
    source = open_dataset(str(folder / name), DEFAULT_ACCESS, conversion)
    return pa.concat_tables(pq.read_table(file.path) for file in source.files)
