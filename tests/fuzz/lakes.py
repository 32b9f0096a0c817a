"""Tables of a lake: Delta tables of several commits, with their logs and checkpoints spoiled."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from dnfscale.jobs import cli
from tests.fuzz.spoil import bits_flipped, bytes_spoiled, tree_spoiled
from tests.fuzz.verdict import demand

Files = dict[str, bytes]
_TABLE = "visits"


@cache
def bases() -> tuple[Files, ...]:
    """The files of tables: one of an append, one after a delete, and one with a checkpoint."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        for number, rows in enumerate((6, 12, 12)):
            path = str(Path(name, f"{number}"))
            write_deltalake(path, _rows(rows), partition_by=["ward"] if number else None)
            write_deltalake(path, _rows(rows), mode="append")
            if number:
                DeltaTable(path).delete("id = 3")
            if number > 1:
                DeltaTable(path).create_checkpoint()
            found.append(
                {
                    f"{_TABLE}/{file.relative_to(path)}": file.read_bytes()
                    for file in sorted(Path(path).rglob("*"))
                    if file.is_file()
                }
            )
    return tuple(found)


def _rows(n: int) -> pa.Table:
    random = np.random.default_rng(n)
    age = random.integers(20, 90, n)
    ward = random.choice(["surgery", "urology"], n)
    return pa.table({"age": age, "ward": ward, "id": np.arange(n) % 7, "again": age > 50})


def make(random: Random) -> Files:
    """Make the files of a table."""
    files = dict(random.choice(bases()))
    logs = [name for name in files if "_delta_log" in name]
    for name in random.sample(logs, random.choice((1, 1, min(2, len(logs))))):
        content = files[name]
        if random.random() < 0.05:
            del files[name]
        elif name.endswith(".json") and random.random() < 0.7:
            files[name] = _log_spoiled(random, content)
        elif name.endswith(".parquet"):
            files[name] = bits_flipped(random, content)
        else:
            files[name] = bytes_spoiled(random, content)
    return files


def _log_spoiled(random: Random, content: bytes) -> bytes:
    lines = content.splitlines()
    if not lines:
        return content
    place = random.randrange(len(lines))
    tree = tree_spoiled(random, json.loads(lines[place]))
    lines[place] = json.dumps(tree).encode("utf-8", "surrogatepass")
    if random.random() < 0.1:
        random.shuffle(lines)
    return b"\n".join(lines)


def check(files: Files, folder: Path) -> None:
    """Look at a table as `check` does, and give back its rows."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    command = ["check", str(folder / _TABLE), "--target", "again"]
    try:
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            code = cli.main(command)
    finally:
        shutil.rmtree(folder / _TABLE)
        shutil.rmtree(folder / "cache", ignore_errors=True)
    told = out.getvalue() if code == 0 else err.getvalue()
    demand(code in (0, 2, 3, 5), f"check ended with {code}: {told}")
    demand(bool(told.strip()) and "\x1b" not in told, f"check said {told!r}")
