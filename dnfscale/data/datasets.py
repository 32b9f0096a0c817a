"""Datasets by name: `builtin:NAME` comes with scikit-learn, `paper:NAME` lies in the folder DNFSCALE_DATA.

A named dataset brings its own record: which column is the target, which labels are positive, what each column is.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dnfscale.core.arrays import Scalar
from dnfscale.data.read import TablePartition
from dnfscale.data.source import Source, open_source
from dnfscale.errors import DataError

FOLDER_VARIABLE = "DNFSCALE_DATA"
_BUILTIN = ("breast_cancer",)
_MEASURES = "radius texture perimeter area smoothness compactness concavity concave_points symmetry fractal_dimension"
_BREAST_CANCER_COLUMNS = (
    *(f"mean_{measure}" for measure in _MEASURES.split()),
    *(f"{measure}_error" for measure in _MEASURES.split()),
    *(f"worst_{measure}" for measure in _MEASURES.split()),
)


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a named dataset."""

    target: str
    positive: tuple[Scalar, ...]
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    boolean: tuple[str, ...] = ()


def is_named(path: str) -> bool:
    """Tell a named dataset from a path."""
    return path.startswith(("builtin:", "paper:"))


def open_named(path: str) -> tuple[Source, Record]:
    """Open a named dataset together with its record."""
    kind, name = path.split(":", 1)
    if kind == "builtin":
        _check_name(path, name, _BUILTIN)
        return _breast_cancer(path)
    folder = _paper_folder(path)
    index = _read_index(folder)
    _check_name(path, name, tuple(index))
    entry = index[name]
    record = Record(
        target=entry["target"],
        positive=tuple(entry["positive"]),
        drop=tuple(entry.get("drop", ())),
        categorical=tuple(entry.get("categorical", ())),
        boolean=tuple(entry.get("boolean", ())),
    )
    return open_source(str(folder / entry["file"])), record


def describe_named() -> list[dict[str, Any]]:
    """Return the datasets that have a name, the paper's only where their folder is known."""
    rows: list[dict[str, Any]] = []
    for name in _BUILTIN:
        source, record = open_named(f"builtin:{name}")
        rows.append(_described(f"builtin:{name}", source.n_rows, record.target, record.positive))
    if os.environ.get(FOLDER_VARIABLE):
        for name, entry in _read_index(_paper_folder("paper:")).items():
            rows.append(_described(f"paper:{name}", entry["rows"], entry["target"], entry["positive"]))
    return rows


def _described(path: str, rows: int, target: str, positive: Sequence[Scalar]) -> dict[str, Any]:
    return {"path": path, "rows": rows, "target": target, "positive": list(positive)}


def table_source(table: pa.Table, name: str) -> Source:
    """Return a table in memory as a source of one partition."""
    return Source(
        path=name,
        types={field.name: field.type for field in table.schema},
        partitions=(TablePartition(0, table),) if table.num_rows else (),
        n_rows=table.num_rows,
        n_files=0,
        column_bytes={name: table.column(name).nbytes for name in table.column_names},
    )


def _breast_cancer(path: str) -> tuple[Source, Record]:
    """Read the Breast Cancer Wisconsin (Diagnostic) data out of the scikit-learn that is installed.

    The file is read where it lies, because importing scikit-learn to load it takes a second: as long as the whole job.
    """
    package = importlib.util.find_spec("sklearn")
    file = Path(str(package.origin if package else "sklearn")).parent / "datasets" / "data" / "breast_cancer.csv"
    try:
        with file.open() as lines:
            names = next(lines).strip().split(",")[2:]
            rows = np.loadtxt(lines, delimiter=",")
    except (OSError, ValueError, StopIteration) as error:
        raise DataError(f"{path}: expected scikit-learn's copy at {file}, but it cannot be read: {error}") from error
    columns = dict(zip(_BREAST_CANCER_COLUMNS, rows.T, strict=False))
    labels = [names[label] for label in rows[:, -1].astype(int).tolist()]
    return table_source(pa.table({**columns, "diagnosis": labels}), path), Record("diagnosis", ("malignant",))


def _paper_folder(path: str) -> Path:
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        raise DataError(
            f"{path}: expected the environment variable {FOLDER_VARIABLE} to name a folder with the paper's datasets "
            "and their index.toml, but it is not set"
        )
    return Path(folder)


def _read_index(folder: Path) -> dict[str, dict[str, Any]]:
    index = folder / "index.toml"
    try:
        with index.open("rb") as file:
            entries = tomllib.load(file)["datasets"]
    except FileNotFoundError as error:
        raise DataError(
            f"{index}: expected the index of the datasets in {FOLDER_VARIABLE}, but there is no such file"
        ) from error
    except (tomllib.TOMLDecodeError, KeyError, UnicodeDecodeError) as error:
        raise DataError(f"{index}: expected a TOML file with a table datasets, but it is not: {error}") from error
    return dict(entries)


def _check_name(path: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "known are " + ", ".join(known)
        raise DataError(f"{path}: expected the name of a dataset, got {name!r}; {hint}")
