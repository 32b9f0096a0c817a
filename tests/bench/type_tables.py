"""Type tables to minimize: those of the paper's datasets, kept in type_tables.json, and random
ones.

`python -m tests.bench.type_tables` makes the file anew from the datasets in DNFSCALE_DATA: for each
of them, and for the quickstart's, the ideal classifier of its ten best attributes by the F score,
on all rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dnfscale.method.minimize.minimal import Truth
from tests.bench.setting import ROOT

FILE = Path(__file__).with_suffix(".json")
ELL = 10
RANDOM = "random"
"""What the names of random tables begin with."""
_DENSITIES = (0.05, 0.2, 0.5, 0.8)


@dataclass(frozen=True, slots=True)
class TypeTable:
    """An ideal classifier as a table: the types to accept."""

    name: str
    truth: Truth


def type_tables(ell: int) -> list[TypeTable]:
    """Return the real tables, then random ones, over ell attributes.

    With fewer than ten attributes, of the real tables the part is taken where all others are false.
    """
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    real = [TypeTable(name, _unpacked(table, ell)) for name, table in stored.items()]
    return real + [_random_table(density, ell) for density in _DENSITIES]


def write_real_tables() -> None:
    """Make the file of real tables from the paper's datasets that have ten attributes."""
    from dnfscale.jobs.runner import open_data
    from dnfscale.spec.job import read_spec
    from tests.bench.careful_pandas import (
        SCORES,
        booleanize,
        frame_of,
        ideal_types,
        select,
        table_of,
    )

    tables: dict[str, str] = {}
    for file in (
        ROOT / "jobs" / "quickstart.toml",
        *sorted((ROOT / "jobs" / "paper").glob("*.toml")),
    ):
        source, to_learn = open_data(read_spec(file))
        table = table_of(frame_of(source), to_learn)
        attributes = booleanize(table, np.arange(len(table.positive))).to_numpy()
        if attributes.shape[1] >= ELL:
            chosen = select(SCORES["f"], attributes, table.positive, ELL)
            tables[file.stem] = _packed(
                ideal_types(attributes[:, chosen], table.positive.to_numpy())
            )
    FILE.write_text(json.dumps(tables, indent=2) + "\n", encoding="utf-8")


def _packed(types: Iterable[int]) -> str:
    """Write a set of types as a hexadecimal number whose bit t is set for type t."""
    return f"{sum(1 << int(t) for t in types):x}"


def _unpacked(text: str, ell: int) -> Truth:
    bits = int(text, 16)
    return Truth(ell, tuple(t for t in range(1 << ell) if bits >> t & 1))


def _random_table(density: float, ell: int) -> TypeTable:
    accepted = np.random.default_rng([ell, round(100 * density)]).random(1 << ell) < density
    return TypeTable(
        f"{RANDOM} {density:.0%}", Truth(ell, tuple(np.flatnonzero(accepted).tolist()))
    )


if __name__ == "__main__":
    write_real_tables()
