"""Counts types on the workers: those of rankings, to choose by, and those of chosen attributes, to
form classifiers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dnfscale.core import counts
from dnfscale.core.arrays import Ints
from dnfscale.core.bins import RowTest
from dnfscale.core.counts import TypeCounts, TypeRequest
from dnfscale.core.model import by_signs
from dnfscale.engine.api import Engine
from dnfscale.engine.reductions import check_merge
from dnfscale.learn.keeping import KeptRows
from dnfscale.learn.phases import Phase, Reads
from dnfscale.learn.places import JUDGED, LEARNED, Groups, LearningPart, Place, whole_parts
from dnfscale.learn.rank import Rankings
from dnfscale.learn.scans import CountTypes
from dnfscale.learn.terms import Lines, binned_lines
from dnfscale.method.booleanize import Booleanization
from dnfscale.method.sweep import RankedCounts

COUNT_TYPES = Phase("count types", Reads.KEPT_ROWS, "count rows by conditions")
COUNT_CHOSEN = Phase("count chosen types", Reads.KEPT_ROWS, "test the chosen conditions")


class Wanted(NamedTuple):
    """Attributes whose types are to be counted, with a target, in a learning part."""

    target: int
    """Its place in the list of all targets followed by the other readings of the target."""
    part: LearningPart
    attributes: tuple[int, ...]
    lines: Lines | None = None

    @property
    def n_bits(self) -> int:
        return len(self.attributes if self.lines is None else self.lines.lines)

    @property
    def by_signs(self) -> bool:
        """Whether it matters only how many lines hold: those of a checklist are its conditions."""
        return self.lines is not None and self.lines.at_least is not None


class Chosen(NamedTuple):
    """What a place has chosen: attributes that a classifier is to be formed from, or lines."""

    place: Place
    attributes: tuple[int, ...]
    lines: Lines | None = None
    """Where they are given, the types are patterns of lines, or numbers of signs."""

    def tests(self, booleans: Booleanization) -> tuple[RowTest, ...]:
        """Return the questions that the bits of a type answer, with the cuts of W_0."""
        if self.lines is not None:
            return binned_lines(self.lines, self.place.fold, booleans.whole)
        return booleans.whole.of(self.place.fold, self.attributes)


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """The counts of the types over chosen attributes, with the cuts of W_0."""

    whole: TypeCounts
    """Counts on W_0."""
    test: TypeCounts
    """Counts on the test part."""
    others: tuple[TypeCounts, ...]
    """Counts on the test part for the other readings of the target, if there are any."""


def count_rankings(
    kept: KeptRows, rankings: Rankings, engine: Engine
) -> dict[Wanted, RankedCounts]:
    """Count the rankings of every target on W_train and W_val of every inner split.

    Rankings that have the same attributes, in whatever order, share one count.
    """
    wanted = dict.fromkeys(
        Wanted(target, part, attributes)
        for target, of_target in enumerate(rankings.by_target)
        for part, by_rank in of_target.items()
        if part.split is not None
        for attributes in by_rank.values()
    )
    shared = {want: want._replace(attributes=tuple(sorted(want.attributes))) for want in wanted}
    tallies = _count(COUNT_TYPES, shared.values(), kept.parts, kept, rankings.booleans, engine)
    return {
        want: _in_order(want.attributes, tallies[same], same.attributes)
        for want, same in shared.items()
    }


def count_chosen(
    chosen: Iterable[Chosen], kept: KeptRows, booleans: Booleanization, engine: Engine
) -> dict[Chosen, Counted]:
    """Count chosen attributes on W_0 and on the test part."""
    wanted = {
        each: Wanted(
            each.place.target, LearningPart(each.place.fold, None), each.attributes, each.lines
        )
        for each in chosen
    }
    # The other readings of a target come after all targets.
    n_targets, n_others = len(kept.table.targets), len(kept.table.others)
    others = {
        each: [want._replace(target=n_targets + other) for other in range(n_others)]
        for each, want in wanted.items()
    }
    every = [*wanted.values(), *(other for beside in others.values() for other in beside)]
    tallies = _count(COUNT_CHOSEN, every, whole_parts(kept.table.splits), kept, booleans, engine)

    def types_of(want: Wanted, group: int) -> TypeCounts:
        patterns = counts.from_dense(*tallies[want][group])
        return patterns if not want.by_signs else by_signs(patterns)

    return {
        each: Counted(
            whole=types_of(want, LEARNED),
            test=types_of(want, JUDGED),
            others=tuple(types_of(other, JUDGED) for other in others[each]),
        )
        for each, want in wanted.items()
    }


def prefix_counts(counted: Counted, ell: int) -> Counted:
    """Return the counts of the types over the first ell attributes."""

    def of_prefix(types: TypeCounts) -> TypeCounts:
        return counts.project(types, range(min(ell, types.ell)))

    return Counted(
        of_prefix(counted.whole), of_prefix(counted.test), tuple(map(of_prefix, counted.others))
    )


def _count(
    phase: Phase,
    wanted: Iterable[Wanted],
    parts: Groups,
    kept: KeptRows,
    booleans: Booleanization,
    engine: Engine,
) -> Mapping[Wanted, Ints]:
    """Count each request as tally[group, truth value, type]; equal requests are counted once."""
    distinct = list(dict.fromkeys(wanted))
    check_merge(
        f"type counts of {len(distinct)} tables",
        sum(8 * 4 << want.n_bits for want in distinct),
        fan_in=engine.fan_in,
        worker_bytes=engine.worker_bytes,
        advice="lower select.max_ell, folds.outer or cluster.fan_in, or raise cluster.memory_limit",
        key="select.max_ell",
    )
    row_of = {part: row for row, part in enumerate(parts)}
    requests = tuple(_request(want, row_of[want.part], booleans) for want in distinct)
    scan = CountTypes(
        booleans.bins,
        kept.table.classes,
        requests,
        np.array(list(parts.values())),
        np.concatenate([kept.table.targets, kept.table.others]),
    )
    tallies = engine.reduce(phase.name, kept.rows, scan, counts.merge_tallies)
    return dict(zip(distinct, tallies, strict=True))


def _request(want: Wanted, row: int, booleans: Booleanization) -> TypeRequest:
    """Return the request to a scan: attributes have the cuts of the part that is learned from."""
    spans = booleans.whole if want.part.split is None else booleans.train
    if want.lines is not None:
        return TypeRequest(row, binned_lines(want.lines, want.part.fold, spans), None, want.target)
    return TypeRequest(row, spans.of(want.part.fold, want.attributes), want.attributes, want.target)


def _in_order(attributes: tuple[int, ...], tally: Ints, counted: tuple[int, ...]) -> RankedCounts:
    """Return a tally over the counted attributes as the counts of a ranking, which has them in
    another order.
    """
    order = [counted.index(attribute) for attribute in attributes]
    train, validation = (
        counts.project(counts.from_dense(*tally[group]), order) for group in (LEARNED, JUDGED)
    )
    return RankedCounts(attributes, train, validation)
