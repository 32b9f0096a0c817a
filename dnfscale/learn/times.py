"""Spans of time that folds learn from and test: train before, test after.

With K test folds, time is cut at its quantiles 1/(K+1), ..., K/(K+1): each fold tests from one cut
to the next, learns from all that was before, and validates on the latest of it. Rows of the same
time stay together, so a cut lies where it divides the rows nearest to its quantile; cuts that fall
together are one. The quantiles are exact: one scan of the column keeps its values, as numbers of 64
bits, and these are counted a few bits at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from dnfscale.core import ranks
from dnfscale.core.columns import Numbers, Reading, Rows
from dnfscale.core.dealing import DealColumn, TimeStages
from dnfscale.core.hashes import key_value, order_keys
from dnfscale.core.quantities import Quantity
from dnfscale.core.ranks import Count, CountBeginnings, KeyRows, Ranked
from dnfscale.data.measures import measure_of
from dnfscale.data.roles import number_dtype
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.errors import DataError, SpecError
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.learn.places import asked_folds
from dnfscale.spec.learn import LearnSpec

READ_TIMES = Phase("read times", Reads.SOME_COLUMNS, "read the times of rows")
RANK_TIMES = Phase("rank times", Reads.COUNTS, "cut time into spans")


@dataclass(frozen=True, slots=True)
class ReadTimes:
    """A scan that keeps the times of a partition's rows, each with its number of rows."""

    reading: Reading
    time: DealColumn

    def __call__(self, rows: Rows) -> KeyRows:
        found = []
        for block in rows.blocks(self.reading):
            data = self.time.of(block)
            assert isinstance(data, Numbers)
            found.append(ranks.key_rows(order_keys(data.values)))
        return ranks.merge(found)


def time_stages(
    source: Source, reading: Reading, time: DealColumn, spec: LearnSpec, engine: Engine
) -> TimeStages:
    """Return the spans of time that folds learn from and test."""
    kept = engine.keep(READ_TIMES.name, source.partitions, ReadTimes(reading, time))

    def count(beginnings: CountBeginnings) -> KeyRows:
        return engine.reduce(RANK_TIMES.name, kept, beginnings, ranks.merge)

    # The rows that are there, not those that the footers tell of: rows of weight 0 are left out.
    first = ranks.begun(count)
    befores = _befores(time, spec, first, count)
    tested, late = _cuts(befores, first, spec, count)
    dtype, measure = number_dtype(source, time.name), measure_of(source.types[time.name])
    starts = [key_value(key, dtype) for key in tested]
    return TimeStages(
        time,
        tested=tuple(tested),
        late=tuple(late),
        starts=tuple(
            str(start) if measure is None else str(Quantity(measure, start)) for start in starts
        ),
    )


def plan_times(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of time_stages."""
    time = layout.spec.time
    assert time is not None
    yield READ_TIMES.planned(len(layout.source.partitions), layout.source.column_bytes.get(time, 0))
    for _ in range(2 * ranks.PASSES - 1 if layout.folds > 1 else ranks.PASSES):
        yield layout.scan(RANK_TIMES)


def _befores(time: DealColumn, spec: LearnSpec, first: KeyRows, count: Count) -> list[int]:
    """Return how many rows are before each test part."""
    n_rows = first.n_rows
    wanted = min(asked_folds(n_rows, spec), n_rows - 1)
    if wanted < 1:
        return []
    quantiles = [number * n_rows // (wanted + 1) for number in range(1, wanted + 1)]
    ranked = ranks.find([_rank(before, n_rows) for before in quantiles], first, count)
    nearest = [_nearest(*each, n_rows) for each in zip(ranked, quantiles, strict=True)]
    # Cuts between the same two times are one, whichever of these was found.
    befores = sorted({cut.before for cut in nearest if cut is not None})
    if not befores:
        raise DataError(
            f"expected at least 2 different times to test after what was learned from, but column "
            f"{time.name!r} has one; choose another {time.key}, or leave it out",
            time.key,
        )
    if spec.outer is not None and len(befores) < int(spec.outer):
        raise SpecError(
            f"folds.outer must be at most the number of spans that the times in column "
            f"{time.name!r} can be cut into, here {len(befores):,}, got {spec.outer}; leave it out "
            "to have as many as there are",
            "folds.outer",
        )
    return befores


def _cuts(
    befores: Sequence[int], first: KeyRows, spec: LearnSpec, count: Count
) -> tuple[list[int], list[int | None]]:
    """Return the keys of the first times of the test parts, given how many rows are before each;
    and those at which W_val of every fold begins, None where a fold learns from one time only.
    """
    if not first.n_rows:
        return [], [None]
    share = Fraction(str(spec.validation))
    learned = [*befores, first.n_rows]
    early = [rows - int(share * rows) for rows in learned]
    late_ranks = [_rank(*each) for each in zip(early, learned, strict=True)]
    found = ranks.find([*(before + 1 for before in befores), *late_ranks], first, count)
    tested, ranked = found[: len(befores)], found[len(befores) :]
    late = [_nearest(*each) for each in zip(ranked, early, learned, strict=True)]
    return [first.key for first in tested], [None if cut is None else cut.key for cut in late]


def _rank(before: int, rows: int) -> int:
    """Return the rank of the first row after a cut with about so many of the first rows before
    it.
    """
    return min(max(1, before), rows - 1) + 1


class _Cut(NamedTuple):
    """A cut of time."""

    key: int
    """No time before it has this key or a greater one, and no time after it a smaller one."""
    before: int
    """The number of rows before it."""


def _nearest(ranked: Ranked, before: int, rows: int) -> _Cut | None:
    """Return the cut before or after a time, whichever is nearer to a number of the first rows;
    None if these cannot be cut there.
    """
    cuts = _Cut(ranked.key, ranked.below), _Cut(ranked.key + 1, ranked.below + ranked.rows)
    possible = [cut for cut in cuts if 0 < cut.before < rows]
    return min(possible, key=lambda cut: abs(cut.before - before), default=None)
