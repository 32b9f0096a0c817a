"""The paper's twelve datasets, as catalog.toml describes them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import pyarrow as pa

from dnfscale.datasets.published import Dataset, OpenmlArff, Origin, WebFile
from dnfscale.datasets.publishers import Arff, Csv, Mat, Parquet, Reader, Recode, Step
from dnfscale.errors import DataError

_RANGE = re.compile(r"(.*)\{(\d+)\.\.(\d+)\}")
_LISTS = ("drop", "categorical", "boolean", "text", "fractional")


def kaggle_heart(table: pa.Table) -> pa.Table:
    """Turn UCI's Cleveland rows into those of the Kaggle file that the paper uses.

    That file has the healthy first, the last of them twice, then the sick without one (row 184,
    counted from 0), in UCI's order. Found by comparing the two; all 303 rows agree.
    """
    sick = np.asarray(table.column("output")) == 0
    healthy, ill = np.flatnonzero(~sick), np.flatnonzero(sick)
    return table.take(pa.array(np.concatenate([healthy, healthy[-1:], ill[ill != 184]])))


def benchmark_covertype(table: pa.Table) -> pa.Table:
    """Reduce UCI's seven cover types to the benchmark's balanced two, by the benchmark's own rule.

    All rows of type 1, and as many of type 2 drawn by `RandomState(0)`, whose stream never changes;
    type 2 comes first. The benchmark numbers classes by size: its 1 is UCI's 2, its 2 is UCI's 1.
    """
    kind = np.asarray(table.column("class"))
    one, two = np.flatnonzero(kind == 1), np.flatnonzero(kind == 2)
    if len(two) < len(one):
        raise DataError(
            f"expected more rows of type 2 than of type 1, got {len(two):,} and {len(one):,}"
        )
    drawn = np.random.RandomState(0).choice(two, len(one), replace=False)
    rows = table.take(pa.array(np.concatenate([drawn, one])))
    return Recode("class", ((1, 2), (2, 1)))(rows)


_ROW_STEPS: Mapping[str, Step] = {
    "kaggle_heart": kaggle_heart,
    "benchmark_covertype": benchmark_covertype,
}
"""Steps that choose rows, by the names that catalog.toml has for them."""


def _read_catalog() -> dict[str, Dataset]:
    text = files(__package__).joinpath("catalog.toml").read_text(encoding="utf-8")
    return {name: _dataset(name, entry) for name, entry in tomllib.loads(text).items()}


def _dataset(name: str, entry: Mapping[str, Any]) -> Dataset:
    columns = _names(entry["columns"])
    lists = {key: _names(entry.get(key, ())) for key in _LISTS}
    return Dataset(
        name=name,
        title=entry["title"],
        columns=columns,
        rows=entry["rows"],
        attributes=entry["attributes"],
        target=entry["target"],
        positive=tuple(entry["positive"]),
        classes=_pairs(entry["classes"]),
        licence=entry["licence"],
        origins=tuple(_origins(entry, columns, lists["text"])),
        **lists,
        missing=tuple(entry.get("missing", {}).items()),
        rows_without_missing=entry.get("rows_without_missing", 0),
    )


def _names(written: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns, with each range written out."""
    names: list[str] = []
    for name in written:
        match = _RANGE.fullmatch(name)
        if match is None:
            names.append(name)
        else:
            names += [f"{match[1]}{number}" for number in range(int(match[2]), int(match[3]) + 1)]
    return tuple(names)


def _pairs(written: Sequence[Sequence[Any]]) -> tuple[tuple[Any, Any], ...]:
    return tuple((first, second) for first, second in written)


def _origins(
    entry: Mapping[str, Any], columns: tuple[str, ...], text: tuple[str, ...]
) -> Iterator[Origin]:
    file = entry.get("file", {})
    for origin in entry["origins"]:
        if "openml" in origin:
            yield from _openml(origin["openml"], origin["name"])
            continue
        reader = _READERS[file["format"]](file, columns, text, entry["target"])
        steps = tuple(map(_step, file.get("steps", ())))
        yield Origin(WebFile(origin["url"]), reader, tuple(origin.get("members", ())), steps)


def _openml(data_id: int, name: str) -> tuple[Origin, Origin]:
    """Return the Parquet file of an OpenML dataset, and its ARFF file for when there is none."""
    folder = f"{data_id // 10_000:04d}/{data_id:04d}"
    parquet = WebFile(f"https://data.openml.org/datasets/{folder}/dataset_{data_id}.pq")
    return Origin(parquet, Parquet()), Origin(OpenmlArff(data_id, f"{name}.arff"), Arff())


def _csv(
    file: Mapping[str, Any], columns: tuple[str, ...], text: tuple[str, ...], _target: str
) -> Csv:
    return Csv(
        columns,
        text=text,
        separator=file.get("separator", ","),
        header=file.get("header", False),
        missing=tuple(file.get("missing", ())),
    )


def _mat(
    _file: Mapping[str, Any], columns: tuple[str, ...], _text: tuple[str, ...], target: str
) -> Mat:
    return Mat(tuple(name for name in columns if name != target), target)


_READERS: Mapping[str, Callable[..., Reader]] = {"csv": _csv, "mat": _mat}


def _step(step: Mapping[str, Any]) -> Step:
    if "rows" in step:
        return _ROW_STEPS[step["rows"]]
    return Recode(step["recode"], _pairs(step.get("codes", ())), step.get("missing"))


PAPER: dict[str, Dataset] = _read_catalog()
"""The twelve by name."""
