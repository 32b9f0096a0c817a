"""The types of the formula-size method: the distinct rows of every fold over all attributes,
counted on the workers.

    kept rows -> distinct rows on W_train and W_val, on W_0 and the test part, per fold

A fold with more distinct rows than the limit keeps the better half of its attributes, by the first
ranking of the spec that scores each by itself, on its W_train. It is counted again, until its rows
fit. What is then found is exact over those attributes only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Scalar, is_whole
from dnfscale.core.bins import Bins
from dnfscale.core.distinct import (
    DROPPED,
    Distinct,
    DistinctRequest,
    PackedTypes,
    distinct_rows,
    group,
    merge_distinct,
)
from dnfscale.engine.api import Engine
from dnfscale.engine.reductions import check_merge
from dnfscale.errors import SpecError
from dnfscale.formula_size import TypeTable
from dnfscale.learn.keeping import KeptRows
from dnfscale.learn.phases import Phase, Reads
from dnfscale.learn.places import JUDGED, LEARNED, LearningPart, Place, first_part, whole_parts
from dnfscale.learn.scans import Read
from dnfscale.method.ideal import weighed_rows
from dnfscale.method.rankings.alone import rankings
from dnfscale.spec.learn import LearnSpec
from dnfscale.spec.registry import RANKINGS

COUNT_DISTINCT = Phase("count distinct rows", Reads.KEPT_ROWS, "count distinct rows")
MAX_TYPES = 20_000
"""The most distinct rows of a fold, by default. The time of the search grows in proportion: size 10
over 50 attributes takes about a minute at this limit."""


@dataclass(frozen=True, slots=True, eq=False)
class FoldTypes:
    """The distinct rows of a fold."""

    target: int
    fold: int
    attributes: tuple[int, ...]
    """The attributes by which rows are told apart, in the order of all attributes."""
    exact: bool
    """Whether these are all attributes."""
    train: PackedTypes
    validation: PackedTypes
    """Cut at the medians of W_train."""
    whole: PackedTypes
    test: PackedTypes
    """Cut at the medians of W_0."""

    @property
    def place(self) -> Place:
        return Place(self.target, self.fold)


@dataclass(frozen=True, slots=True, eq=False)
class CountDistinct:
    """A scan of the kept rows that counts the distinct rows of every request."""

    bins: tuple[Bins, ...]
    classes: tuple[tuple[Scalar, ...], ...]
    requests: tuple[DistinctRequest, ...]
    n_arcs: int
    most: int

    def __call__(self, read: Read) -> Distinct:
        needed = {span.column for request in self.requests for span in request.spans}
        table = read.rough.binned(self.bins, self.classes, n_arcs=self.n_arcs, only=needed)
        return distinct_rows(table, self.requests, bins=self.bins, most=self.most)

    def merge(self, parts: Sequence[Distinct]) -> Distinct:
        return merge_distinct(parts, most=self.most)


def count_distinct(
    kept: KeptRows, spec: LearnSpec, engine: Engine, *, max_types: int = MAX_TYPES
) -> list[FoldTypes]:
    """Count the distinct rows of every place, in their order."""
    # One attribute alone may tell two types apart: with less, no number of attributes would be few
    # enough.
    if not is_whole(max_types, 2):
        raise SpecError(f"max_types must be a whole number of at least 2, got {max_types!r}")
    n_attributes = len(kept.booleans.attributes)
    waiting = dict.fromkeys(kept.places, n_attributes)
    found: dict[Place, FoldTypes] = {}
    while waiting:
        chosen = {place: _best(kept, spec, place, n=n) for place, n in waiting.items()}
        counted = _count(kept, chosen, engine, max_types)
        for (place, attributes), (inner, outer) in zip(
            chosen.items(), zip(counted[::2], counted[1::2], strict=True), strict=True
        ):
            if inner is None or outer is None:
                waiting[place] = max(1, waiting[place] // 2)
                continue
            del waiting[place]
            found[place] = FoldTypes(
                *place,
                attributes,
                len(attributes) == n_attributes,
                train=group(inner, LEARNED),
                validation=group(inner, JUDGED),
                whole=group(outer, LEARNED),
                test=group(outer, JUDGED),
            )
    return [found[place] for place in kept.places]


def type_table(types: PackedTypes) -> TypeTable:
    """Return distinct rows as the table that the search reads."""
    return TypeTable(types.holds(), types.n, types.c)


def weighed(types: PackedTypes, threshold: Fraction) -> PackedTypes:
    """Return distinct rows weighted by the cost of an error: 1 - threshold for a missed positive,
    else the threshold.

    So the formula with the fewest errors is the cheapest one. With the threshold 1/2 the rows stay
    as they are. The weights are whole numbers, so that the search stays exact.
    """
    n, c = weighed_rows(types.n, types.c, threshold)
    return replace(types, n=n, c=c)


def _best(kept: KeptRows, spec: LearnSpec, place: Place, *, n: int) -> tuple[int, ...]:
    """Return the n best attributes of a place, by its W_train, in the order of all attributes."""
    if n == len(kept.booleans.attributes):
        return tuple(range(n))
    # Rankings that look at attributes together have no score of each by itself.
    by_itself = next((rank for rank in spec.rank if not RANKINGS[rank].together), "mutual_info")
    orders = rankings(RANKINGS[by_itself].rank(kept.associations[place.target]), n)
    order = dict(zip(kept.parts, orders, strict=True))[first_part(place.fold)]
    return tuple(sorted(order.tolist()))


def _count(
    kept: KeptRows, chosen: dict[Place, tuple[int, ...]], engine: Engine, max_types: int
) -> Distinct:
    """Count the distinct rows of each place twice: with the cuts of W_train, then with those of
    W_0.
    """
    most = min(max_types, kept.table.splits.n_rows)
    check_merge(
        f"distinct rows of {len(chosen):,} folds",
        sum(2 * most * (32 + -(-len(attributes) // 8)) for attributes in chosen.values()),
        fan_in=engine.fan_in,
        worker_bytes=engine.worker_bytes,
        advice=(
            "lower baselines.formula_size.max_types, folds.outer or cluster.fan_in, or raise "
            "cluster.memory_limit"
        ),
        key="baselines.formula_size.max_types",
    )
    table, booleans = kept.table, kept.booleans
    whole = whole_parts(table.splits)
    requests = [
        DistinctRequest(
            spans.of(place.fold, attributes), _cells(groups, table.targets[place.target])
        )
        for place, attributes in chosen.items()
        for spans, groups in (
            (booleans.train, kept.parts[first_part(place.fold)]),
            (booleans.whole, whole[LearningPart(place.fold, None)]),
        )
    ]
    scan = CountDistinct(
        booleans.bins, table.classes, tuple(requests), table.splits.n_arcs, max_types
    )
    return engine.reduce(COUNT_DISTINCT.name, kept.rows, scan, scan.merge)


def _cells(groups: Codes, of_class: Bools) -> Codes:
    """Return the cell in which the rows of each label (arc, class) count, given the arcs' groups
    and the target.
    """
    cells = np.where((groups == 2)[:, None], DROPPED, 2 * groups[:, None] + of_class[None, :])
    return cells.astype(np.uint8).reshape(-1)
