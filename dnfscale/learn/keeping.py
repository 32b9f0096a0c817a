"""The rows that a read leaves on the workers, with their attributes and how these go with every target.

read rows, locate cuts -> bin rows, associate
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dnfscale.core import associations
from dnfscale.core.associations import Associations
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.engine.budget import check_merge
from dnfscale.errors import DataError
from dnfscale.learn.reading import read_table
from dnfscale.learn.scans import Associate
from dnfscale.learn.selecting import n_units, unit_members
from dnfscale.learn.spec import LearnSpec
from dnfscale.learn.table import Table
from dnfscale.method.booleanize import Booleanization, booleanize


@dataclass(frozen=True, slots=True, eq=False)
class KeptRows:
    """The rows that a read leaves on the workers, and what is needed to ask more of them."""

    table: Table
    rows: Sequence[object]
    booleans: Booleanization
    """Without intervals, which are found when attributes are ranked."""
    associations: tuple[Associations, ...]
    """Of the attributes with each target, in every unit: first W_train of every fold."""


def keep_rows(source: Source, spec: LearnSpec, engine: Engine) -> KeptRows:
    """Read a source, lay out its attributes, and associate them with every target."""
    read = read_table(source, spec, engine)
    table = read.table
    booleans = booleanize(
        table.columns,
        table.summary.columns,
        read.cuts,
        n_folds=table.splits.n_folds,
        keep_missing=table.reading.keep_missing,
        # With weights a category of few rows may still weigh enough: that shows when they are ranked.
        rare=spec.rare if spec.weight is None else 0,
    )
    if not booleans.attributes:
        raise DataError(
            f"expected at least one attribute, but every category has fewer than {spec.rare:,} rows; lower "
            "booleanize.rare",
            "booleanize.rare",
        )
    return KeptRows(table, read.rows, booleans, _associate(read.rows, table, booleans, engine))


def _associate(
    rows: Sequence[object], table: Table, booleans: Booleanization, engine: Engine
) -> tuple[Associations, ...]:
    """Associate the attributes with every target in each fold."""
    n_tables = len(table.targets) * n_units(table.splits)
    check_merge(
        f"2 x 2 tables of {len(booleans.attributes):,} attributes in {n_tables:,} folds",
        16 * len(booleans.attributes) * n_tables,
        fan_in=engine.fan_in,
        worker_bytes=engine.worker_bytes,
        advice="lower folds.outer or data.max_categories, or raise cluster.memory_limit",
        key="folds.outer",
    )
    scan = Associate(booleans.bins, table.classes, booleans.train, unit_members(table.splits), table.targets)
    return engine.reduce("associate attributes", rows, scan, associations.merge)
