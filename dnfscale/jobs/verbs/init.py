"""Looks at somebody's own data for a starter spec: labels, roles of columns, and what cannot be
used.
"""

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
from dnfscale.errors import SpecError
from dnfscale.spec.starter import Facts, starter_text
from dnfscale.spec.storage import DEFAULT_ACCESS, Access, is_remote

_LOOKED_AT = 5
"""Partitions whose target is read, evenly spaced: files are often sorted by class."""
_MOST_LABELS = 50


def starter_spec(data: str, target: str, folder: Path, access: Access = DEFAULT_ACCESS) -> str:
    """Return a spec for a dataset; its path is written relative to the folder the spec will lie
    in.
    """
    source = open_source(data, access)
    _check_target(source, target)
    labels = _few_labels(source, target)
    place = PurePosixPath(data) if is_remote(data) else Path(data).resolve()
    path = _relative(place, folder.resolve()) if isinstance(place, Path) else data
    # Where rows with missing values are dropped, a column without any value would leave none.
    unusable = [
        n
        for n, kind in source.types.items()
        if (role_of(kind) is None or source.is_empty(n)) and n != target
    ]
    features = [name for name in source.types if name not in (*unusable, target)]
    two_valued = _two_valued(source, features)
    return starter_text(
        Facts(
            name=_name(place),
            path=path,
            target=target,
            labels=labels,
            drop=unusable,
            boolean=two_valued,
            found=_found(source, features, two_valued),
            access=access,
        )
    )


def _check_target(source: Source, target: str) -> None:
    """Raise SpecError unless the target is a column that can hold labels."""
    if target not in source.types:
        raise SpecError(
            f"--target must name a column of {source.path}, got {target!r}; it has "
            f"{', '.join(map(repr, source.types))}"
        )
    if not holds_labels(source.types[target]):
        raise SpecError(
            "--target must name a column of labels (numbers, booleans or strings), but "
            f"{target!r} has the type "
            f"{source.types[target]}; convert it, or choose another"
        )


def _few_labels(source: Source, target: str) -> list[Scalar]:
    """Return the labels that were seen, in order; too many are an error."""
    labels = sorted(_labels(source, target))
    if len(labels) > _MOST_LABELS:
        raise SpecError(
            f"--target must name a column of few values, but {target!r} has more than "
            f"{_MOST_LABELS}; choose another"
        )
    return labels


def _relative(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _labels(source: Source, target: str) -> set[Scalar]:
    labels: set[Scalar] = set()
    for block in _looked_at(source, Reading((), target)):
        used = set(block.target.codes.tolist())
        labels.update(value for code, value in enumerate(block.target.values) if code in used)
        if len(labels) > _MOST_LABELS:
            break
    return labels


def _two_valued(source: Source, features: Sequence[str]) -> list[str]:
    """Return the columns of whole numbers in which two values were seen: a median may be the larger
    of them.
    """
    seen: dict[str, set[int]] = {
        name: set() for name in features if pa.types.is_integer(source.types[name])
    }
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
