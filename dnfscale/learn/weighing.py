"""Finds the unit of weights: what a weight of one is counted as, so that weighted counts are whole
numbers.

Whole weights are counted as they are, and decimals in units of their last digit. Floats are
multiplied by a power of two and rounded: by the largest with which all rows together would weigh at
most 2**50 even if each weighed as much as the heaviest. A scan of the weights alone finds it,
before anything else is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from dnfscale.core import weights
from dnfscale.core.columns import Column, Numbers, Reading, Role, Rows
from dnfscale.core.weights import Weighed
from dnfscale.data.measures import measure_of
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.errors import DataError
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.learn.table import features, most_weight
from dnfscale.spec.learn import LearnSpec

WEIGH_ROWS = Phase("weigh rows", Reads.WEIGHTS, "look at the weights")
_MOST = 1 << 50
"""The largest sum of rounded weights."""
_LARGEST_UNIT = 60
"""The largest unit, as a power of two."""


@dataclass(frozen=True, slots=True)
class WeighRows:
    """A scan of the weights alone."""

    column: str

    def __call__(self, rows: Rows) -> Weighed:
        reading = Reading((Column(self.column, Role.NUMBER),), None, keep_missing=True)
        found = []
        for block in rows.blocks(reading):
            stored = block.columns[0]
            assert isinstance(stored, Numbers)
            found.append(weights.weigh(stored, name=self.column))
        return weights.merge(found)


def plan_weighing(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the scan of the weights, where their unit does not follow from their type."""
    weight = layout.spec.weight
    if weight is not None and _is_looked_at(layout.source, weight):
        tasks = layout.reduction(len(layout.source.partitions))
        yield WEIGH_ROWS.planned(tasks, layout.source.column_bytes.get(weight, 0))


def with_unit(source: Source, spec: LearnSpec, engine: Engine) -> LearnSpec:
    """Return the spec with the unit of the source's weights, if its rows have weights."""
    if spec.weight is None:
        return spec
    # For its errors: the column may not be there, or hold no numbers.
    features(source, spec)
    measure = measure_of(source.types[spec.weight])
    if not _is_looked_at(source, spec.weight):
        return spec if measure is None else replace(spec, unit=measure.steps)
    found = engine.reduce(WEIGH_ROWS.name, source.partitions, WeighRows(spec.weight), weights.merge)
    if found.whole:
        return spec
    exponent = math.floor(
        math.log2(min(_MOST, most_weight(spec)) / found.rows) - math.log2(found.heaviest)
    )
    if exponent < 0:
        raise DataError(
            f"expected the weights in {spec.weight!r} to add up to less than {_MOST:,}, "
            f"but {found.rows:,} rows may "
            f"weigh up to {found.heaviest:g} each; divide them by some number",
            "data.weight",
        )
    if exponent > _LARGEST_UNIT:
        raise DataError(
            "expected weights of which some are not far below 1, but the heaviest in "
            f"{spec.weight!r} is "
            f"{found.heaviest:g}; multiply them by some number",
            "data.weight",
        )
    return replace(spec, unit=1 << exponent)


def _is_looked_at(source: Source, column: str) -> bool:
    """Return whether the weights have to be read to find their unit; otherwise it follows from the
    column's type.
    """
    return bool(pa.types.is_floating(source.types[column]))
