"""The synthetic data of the suite: made once by `data make`, used again by every later run of the
same size.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.bench.setting import ROOT, Setting

KINDS = ("14 float32", "6 category:4")
NUMBERS = tuple(f"x{i}" for i in range(14))
STRINGS = tuple(f"s{i}" for i in range(6))
TARGET = "y"


def synthetic_folder(setting: Setting, rows: int) -> Path:
    """Return where the synthetic dataset of so many rows lies."""
    return setting.data / f"rows-{rows}-seed-{setting.seed}"


def make_synthetic(setting: Setting, rows: int) -> None:
    """Make the synthetic dataset of so many rows, unless it is there."""
    folder = synthetic_folder(setting, rows)
    if folder.exists():
        _check_same(folder, rows, setting.seed)
        return
    setting.data.mkdir(parents=True, exist_ok=True)
    # Renamed into place when it is whole: what is there under its own name can be used.
    draft = folder.with_name(f".{folder.name}.{os.getpid()}")
    command = [sys.executable, "-m", "dnfscale.jobs", "data", "make", str(draft)]
    command += ["--rows", str(rows), "--columns", ", ".join(KINDS), "--seed", str(setting.seed)]
    try:
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _check_same(folder: Path, rows: int, seed: int) -> None:
    """Raise ValueError where a folder holds other data than its name says."""
    record = json.loads((folder / "_planted.json").read_text(encoding="utf-8"))
    found = record["rows"], record["seed"], tuple(record["columns"])
    if found != (rows, seed, KINDS):
        raise ValueError(
            f"{folder}: expected {rows:,} rows of {', '.join(KINDS)} with seed {seed}, got "
            f"{found}; "
            "remove it, or choose another --data"
        )
