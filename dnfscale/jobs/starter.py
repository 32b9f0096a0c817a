"""A starter spec for somebody's own data: every choice written out, with what was found in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath, PurePosixPath

import numpy as np
import pyarrow as pa

from dnfscale.core.arrays import Scalar
from dnfscale.core.columns import Block, Column, Numbers, Reading, Role
from dnfscale.data.roles import holds_labels, role_of
from dnfscale.data.source import Source, open_source
from dnfscale.data.storage import DEFAULT_ACCESS, Access, is_remote
from dnfscale.errors import SpecError
from dnfscale.jobs.toml_text import write_toml

_LOOKED_AT = 5
"""Partitions whose target is read, evenly spaced: files are often sorted by class."""
_MOST_LABELS = 50
_CHOICES = """
# profile: "best" is recommended and sets what is commented out here, "paper" is the method as published
[booleanize]
# cuts = "auto"                 # or "median", a number of quantiles, "entropy"
# intervals = true              # what lies between two cuts may be one attribute
# at = {age = [18, 65]}         # cuts that mean something, for columns that have them
# parts = ["weekday", "hour", "month"]   # of dates and times, which will not come again themselves

[select]
max_ell = 10                    # attributes a formula may use

[formula]
# freedom = 0.005               # share of the rows that a shorter formula may get wrong besides

[cluster]
kind = "local"
workers = 2
memory_limit = "2GiB"

[output]
dir = "runs"
"""
"""The end of every starter spec."""


def starter_spec(data: str, target: str, folder: Path, access: Access = DEFAULT_ACCESS) -> str:
    """Return a spec for a dataset; its path is written relative to the folder the spec will lie in."""
    source = open_source(data, access)
    _check_target(source, target)
    labels = _few_labels(source, target)
    place = PurePosixPath(data) if is_remote(data) else Path(data).resolve()
    path = _relative(place, folder.resolve()) if isinstance(place, Path) else data
    head = write_toml({"schema_version": 1, "name": _name(place), "kind": "study", "seed": 0, "profile": "best"})
    lines = [head, *_data_lines(source, path, target, labels), *_storage(access)]
    return "\n".join(lines) + "\n" + _CHOICES


def _check_target(source: Source, target: str) -> None:
    """Raise SpecError unless the target is a column that can hold labels."""
    if target not in source.types:
        raise SpecError(
            f"--target must name a column of {source.path}, got {target!r}; it has {', '.join(map(repr, source.types))}"
        )
    if not holds_labels(source.types[target]):
        raise SpecError(
            f"--target must name a column of labels (numbers, booleans or strings), but {target!r} has the type "
            f"{source.types[target]}; convert it, or choose another"
        )


def _few_labels(source: Source, target: str) -> list[Scalar]:
    """Return the labels that were seen, in order; too many are an error."""
    labels = sorted(_labels(source, target))
    if len(labels) > _MOST_LABELS:
        raise SpecError(
            f"--target must name a column of few values, but {target!r} has more than {_MOST_LABELS}; choose another"
        )
    return labels


def _data_lines(source: Source, path: str, target: str, labels: Sequence[Scalar]) -> list[str]:
    """Return the table of the data, with what was found in it."""
    # Where rows with missing values are dropped, a column without any value would leave none.
    unusable = [n for n, kind in source.types.items() if (role_of(kind) is None or source.is_empty(n)) and n != target]
    features = [name for name in source.types if name not in (*unusable, target)]
    table = write_toml({"path": path, "target": target, "positive": list(labels[-1:]) or None, "drop": unusable})
    two_valued = _two_valued(source, features)
    seen = f"labels seen are {', '.join(map(repr, labels))}" if labels else "no label was seen"
    return [
        "[data]",
        table.rstrip(),
        f"# positive: {seen}",
        "# drop: identifiers, and what would not be known when the formula is used",
        "# categorical: codes that are numbers but not amounts; strings are categorical anyway",
        "categorical = []",
        "# boolean: columns of two values that are neither true/false nor strings; the larger value is true",
        write_toml({"boolean": two_valued}).rstrip(),
        f'missing = "drop"                # or "error", "indicator"; {_found(source, features, two_valued)}',
    ]


def _relative(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _storage(access: Access) -> list[str]:
    given = {"endpoint": access.endpoint, "region": access.region, "anonymous": access.anonymous or None}
    text = write_toml(given).rstrip()
    return ["", "[data.storage]", text] if text else []


def _labels(source: Source, target: str) -> set[Scalar]:
    labels: set[Scalar] = set()
    for block in _looked_at(source, Reading((), target)):
        used = set(block.target.codes.tolist())
        labels.update(value for code, value in enumerate(block.target.values) if code in used)
        if len(labels) > _MOST_LABELS:
            break
    return labels


def _two_valued(source: Source, features: Sequence[str]) -> list[str]:
    """Return the columns of whole numbers in which two values were seen: a median may be the larger of them."""
    seen: dict[str, set[int]] = {name: set() for name in features if pa.types.is_integer(source.types[name])}
    columns = tuple(Column(name, Role.NUMBER) for name in seen)
    for block in _looked_at(source, Reading(columns, None, keep_missing=True)) if columns else ():
        for values, data in zip(seen.values(), block.columns, strict=True):
            if isinstance(data, Numbers) and len(values) <= 2:
                values.update(np.unique(data.values[~data.missing()]).tolist())
    return [name for name, values in seen.items() if len(values) == 2]


def _looked_at(source: Source, reading: Reading) -> Iterator[Block]:
    """Yield the rows of some partitions, from the first to the last."""
    step = max(1, len(source.partitions) // _LOOKED_AT)
    wanted = {*range(0, len(source.partitions), step), len(source.partitions) - 1}
    for partition in source.partitions:
        if partition.ordinal in wanted:
            yield from partition.blocks(reading)


def _found(source: Source, features: Sequence[str], two_valued: Sequence[str]) -> str:
    roles = [Role.FLAG if name in two_valued else role_of(source.types[name]) for name in features]
    counted = ", ".join(f"{sum(r is role for r in roles)} {role}" for role in Role)
    return f"{source.n_rows:,} rows; columns: {counted}"


def _name(path: PurePath) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "-", path.stem).strip("-") or "job"
