"""The rows that a read leaves on the workers, with their attributes and the 2 x 2 tables of these
with every target.

read rows, locate cuts -> bin rows, associate
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core import associations
from dnfscale.core.associations import Associations
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.engine.reductions import check_merge
from dnfscale.errors import DataError
from dnfscale.learn.dropped import Warn, silent
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.learn.places import LEARNED, Groups, Place, places_of, ranking_parts
from dnfscale.learn.read import ReadTable, plan_reading, read_table
from dnfscale.learn.scans import Associate
from dnfscale.learn.table import Table
from dnfscale.method.booleanize import Booleanization, booleanize
from dnfscale.spec.learn import LearnSpec

ASSOCIATE = Phase("associate attributes", Reads.KEPT_ROWS, "compare with the target")


@dataclass(frozen=True, slots=True, eq=False)
class KeptRows:
    """The rows that a read leaves on the workers, and what further scans of them need."""

    table: Table
    rows: Sequence[object]
    booleans: Booleanization
    """The attributes without intervals, which are found when attributes are ranked."""
    parts: Groups
    """The learning parts that rank attributes."""
    associations: tuple[Associations, ...]
    """For each target, its 2 x 2 tables with the attributes in every such part."""

    @property
    def places(self) -> tuple[Place, ...]:
        """Every target in every fold."""
        return places_of(len(self.table.targets), self.table.splits)


def keep_rows(source: Source, spec: LearnSpec, engine: Engine, warn: Warn = silent) -> KeptRows:
    """Read a source, lay out its attributes, and associate them with every target."""
    read = read_table(source, spec, engine, warn)
    booleans = _lay_out(read, spec)
    parts = ranking_parts(read.table.splits)
    return KeptRows(
        read.table, read.rows, booleans, parts, _associate(read, booleans, parts, engine)
    )


def plan_keeping(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of reading and associating."""
    yield from plan_reading(layout)
    yield layout.scan(ASSOCIATE)


def _lay_out(read: ReadTable, spec: LearnSpec) -> Booleanization:
    """Lay out the attributes of a table that has been read."""
    table = read.table
    booleans = booleanize(
        table.columns,
        table.summary.columns,
        read.cuts,
        n_folds=table.splits.n_folds,
        keep_missing=table.reading.keep_missing,
        # A category of few rows may still weigh enough; weighted categories are left out when
        # attributes are ranked.
        rare=spec.rare if spec.weight is None else 0,
    )
    if not booleans.attributes:
        raise DataError(
            "expected at least one attribute, but every category has fewer than "
            f"{spec.rare:,} rows; lower "
            "booleanize.rare",
            "booleanize.rare",
        )
    return booleans


def _associate(
    read: ReadTable, booleans: Booleanization, parts: Groups, engine: Engine
) -> tuple[Associations, ...]:
    """Associate the attributes with every target in each part that ranks them."""
    table = read.table
    n_tables = len(table.targets) * len(parts)
    check_merge(
        f"2 x 2 tables of {len(booleans.attributes):,} attributes in {n_tables:,} folds",
        16 * len(booleans.attributes) * n_tables,
        fan_in=engine.fan_in,
        worker_bytes=engine.worker_bytes,
        advice="lower folds.outer or data.max_categories, or raise cluster.memory_limit",
        key="folds.outer",
    )
    members = np.array(list(parts.values())) == LEARNED
    folds = tuple(part.fold for part in parts)
    scan = Associate(booleans.bins, table.classes, booleans.train, members, folds, table.targets)
    return engine.reduce(ASSOCIATE.name, read.rows, scan, associations.merge)
