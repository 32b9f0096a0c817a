"""Ranks the attributes in every learning part that has rankings of its own.

Rankings of attributes one by one follow from 2 x 2 tables of all rows. Rankings of attributes
together are found on a sample of the rows, drawn by row number: at most 32,767 rows, enough to show
which attributes go together. How good a ranking is, is then judged on all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core import sample
from dnfscale.core.arrays import Bools, Codes, Floats, Ints, Scalar, narrowest
from dnfscale.core.associations import Associations
from dnfscale.core.bins import Bins, Span, Spans
from dnfscale.core.sample import SampledRows
from dnfscale.core.splits import Splits
from dnfscale.core.vocabulary import Above, Equals
from dnfscale.engine.api import Engine
from dnfscale.engine.reductions import check_merge
from dnfscale.learn.keeping import KeptRows
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.learn.places import LEARNED, Groups, LearningPart, has_many_rows
from dnfscale.learn.scans import Read
from dnfscale.method.booleanize import Booleanization
from dnfscale.method.cuts import keep_telling
from dnfscale.method.flags import Flags
from dnfscale.method.rankings.alone import mutual_info_scores, rankings
from dnfscale.method.rankings.together import Candidates, Pick, first_of_equals, rank_together
from dnfscale.spec.learn import LearnSpec
from dnfscale.spec.registry import RANKINGS

DRAW_ROWS = Phase("draw rows", Reads.KEPT_ROWS, "draw rows to search in")
RANK_ATTRIBUTES = Phase("rank attributes", Reads.DRAWN_ROWS, "rank conditions")
_SAMPLED_ROWS, _SAMPLED_CELLS = (1 << 15) - 1, 1 << 25
"""Limits of the sample: its rows, so that twice as many fit in 16 bits, and its cells, rows x
columns, which make the rows fewer if a table has more than a thousand columns."""
_SEARCHED_ROWS = (1 << 16) - 1
"""The most rows in which terms are searched, if one inner split validates: the more, the less do
long formulas follow chance."""
_CANDIDATES, _CANDIDATE_CELLS = 1 << 10, 1 << 24
"""The most attributes that are ranked together, the best by mutual information; fewer if the sample
has many rows.
"""

_FEW_ROWS = 1 << 11
"""Below this many rows candidates are counted by flags of where they hold: histograms would have
more cells than rows.
"""
_SPARE = 4
"""Rankings one by one are this many times as long as wanted if duplicates are to be left out of
them.
"""

Ranked = dict[str, tuple[int, ...]]
"""The best attributes by each ranking, best first."""
Picked = dict[str, tuple[Pick, ...]]
"""The same, but an attribute may also be a pair of cuts, which stands for the interval between
them.
"""


def sampled_rows(n_rows: int, n_columns: int) -> int:
    """Return the size of the sample on which attributes are ranked together."""
    return min(n_rows, _SAMPLED_ROWS, max(1, _SAMPLED_CELLS // max(1, n_columns)))


def searched_rows(splits: Splits, n_columns: int) -> int:
    """Return the size of the sample in which terms are searched."""
    if not has_many_rows(splits):
        return sampled_rows(splits.n_rows, n_columns)
    return min(splits.n_rows, _SEARCHED_ROWS, max(1, _SAMPLED_CELLS // max(1, n_columns)))


def most_candidates(n_sampled: int) -> int:
    """Return how many attributes are ranked together on a sample of n_sampled rows."""
    return min(_CANDIDATES, _CANDIDATE_CELLS // max(1, n_sampled))


def rank_attributes(
    kept: KeptRows, drawn: Drawn | None, spec: LearnSpec, engine: Engine
) -> Rankings:
    """Rank the attributes for every target in every ranking part, and find intervals
    between cuts; on drawn rows, where attributes are ranked together.
    """
    allowed = [allowed_attributes(of_target, kept, spec) for of_target in kept.associations]
    if drawn is not None and spec.looks_together:
        return _rank_together(kept, drawn.ranked, allowed, spec, engine)
    pairs = zip(kept.associations, allowed, strict=True)
    by_target = tuple(
        _by_scores(of_target, kept.parts, own, spec, spec.max_ell) for of_target, own in pairs
    )
    return Rankings(by_target, kept.booleans, {})


def plan_ranking(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of ranking attributes together; ranking them one by one takes none."""
    if layout.spec.looks_together or layout.spec.by_length:
        yield layout.scan(DRAW_ROWS)
    if layout.spec.looks_together:
        yield RANK_ATTRIBUTES.planned(layout.ranking_parts)


@dataclass(frozen=True, slots=True, eq=False)
class Rankings:
    """The best attributes for every target in every learning part that ranks them."""

    by_target: tuple[Mapping[LearningPart, Ranked], ...]
    booleans: Booleanization
    """The attributes and, after them, the intervals that were found."""
    ends: Mapping[int, tuple[int, int]]
    """The cuts between which each interval lies, the lower first."""


def _rank_together(
    kept: KeptRows, drawn: SampledRows, allowed: Sequence[Bools], spec: LearnSpec, engine: Engine
) -> Rankings:
    """Rank attributes by what they tell together about the target, on a sample of the rows."""
    table, booleans = kept.table, kept.booleans
    scan = RankTogether(
        rows=drawn,
        bins=booleans.bins,
        spans=booleans.train,
        parts=kept.parts,
        targets=table.targets,
        ranks=spec.rank,
        max_ell=spec.max_ell,
        drop_duplicates=spec.drop_duplicates,
        is_cut=np.array([isinstance(attribute, Above) for attribute in booleans.attributes]),
        intervals=spec.intervals,
        unit=spec.unit,
    )
    jobs = _rank_jobs(kept, allowed, spec, most=most_candidates(len(drawn.numbers)))
    return _numbered(jobs, engine.map(RANK_ATTRIBUTES.name, jobs, scan), booleans)


def _rank_jobs(
    kept: KeptRows, allowed: Sequence[Bools], spec: LearnSpec, *, most: int
) -> list[RankJob]:
    """Return a job for every target in every part: its best attributes by mutual information, at
    most `most`.
    """
    length = _SPARE * spec.max_ell if spec.drop_duplicates else spec.max_ell
    jobs = []
    for target, (tables, own) in enumerate(zip(kept.associations, allowed, strict=True)):
        telling = _orders(np.where(own, mutual_info_scores(tables), -1.0), own, most)
        scored = _by_scores(tables, kept.parts, own, spec, length)
        jobs += [
            RankJob(target, part, candidates, scored[part])
            for part, candidates in zip(kept.parts, telling, strict=True)
        ]
    return jobs


def _numbered(
    jobs: Sequence[RankJob], picked: Sequence[Picked], booleans: Booleanization
) -> Rankings:
    """Return the picks as rankings: pairs of cuts become intervals, numbered after
    all attributes.
    """
    ends = sorted(
        {
            (pick[0], pick[1])
            for ranking in picked
            for order in ranking.values()
            for pick in order
            if len(pick) == 2
        }
    )
    numbers: dict[Pick, int] = {
        pair: len(booleans.attributes) + place for place, pair in enumerate(ends)
    }
    by_target: dict[int, dict[LearningPart, Ranked]] = {}
    for job, ranking in zip(jobs, picked, strict=True):
        by_target.setdefault(job.target, {})[job.part] = {
            rank: tuple(numbers[pick] if len(pick) == 2 else pick[0] for pick in order)
            for rank, order in ranking.items()
        }
    return Rankings(
        tuple(by_target.values()),
        booleans.with_intervals(ends),
        dict(enumerate(ends, start=len(booleans.attributes))),
    )


@dataclass(frozen=True, slots=True)
class RankJob:
    """A target and a learning part to rank attributes for."""

    target: int
    part: LearningPart
    candidates: tuple[int, ...]
    scored: Mapping[str, tuple[int, ...]]
    """The rankings of attributes one by one."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RankTogether:
    """Ranks the attributes of a learning part on the sampled rows."""

    rows: SampledRows
    bins: tuple[Bins, ...]
    spans: Spans
    parts: Groups
    targets: Bools
    ranks: tuple[str, ...]
    max_ell: int
    drop_duplicates: bool
    is_cut: Bools
    """Which attributes say that a number is above a cut."""
    intervals: bool
    """Whether an interval between two cuts may be picked."""
    unit: int
    """What one row counts; more than 1 if fractional weights were scaled to whole numbers."""

    def __call__(self, job: RankJob) -> Picked:
        arcs, classes = np.divmod(self.rows.labels.astype(np.int64), self.targets.shape[1])
        own = np.flatnonzero(self.parts[job.part][arcs] == LEARNED)
        # The first of equal attributes stays; candidates come first, so that none is replaced by a
        # non-candidate.
        others = {a for order in job.scored.values() for a in order}.difference(job.candidates)
        attributes = [*sorted(job.candidates), *sorted(others)]
        weights = None if self.rows.weights is None else self.rows.weights[own]
        target = self.targets[job.target][classes[own]]
        found = self._candidates(job.part.fold, attributes, own, target, weights)
        place_of = {attribute: place for place, attribute in enumerate(attributes)}
        first = first_of_equals(found) if self.drop_duplicates else np.arange(len(attributes))
        telling = [a for a in job.candidates if first[place_of[a]] == place_of[a]] or list(
            job.candidates
        )
        narrow = found.only([place_of[a] for a in telling])
        ranked: Picked = {}
        together = rank_together(
            narrow, [rank for rank in self.ranks if RANKINGS[rank].together], self.max_ell
        )
        for rank in self.ranks:
            if rank in together:
                ranked[rank] = tuple(tuple(telling[i] for i in pick) for pick in together[rank])
            else:
                # Of equal attributes the best ranked stays, at its place.
                distinct: dict[int, int] = {}
                for a in job.scored[rank]:
                    distinct.setdefault(int(first[place_of[a]]), a)
                ranked[rank] = tuple((a,) for a in list(distinct.values())[: self.max_ell])
        return ranked

    def _candidates(
        self, fold: int, attributes: Sequence[int], own: Ints, target: Bools, weights: Ints | None
    ) -> Candidates:
        """Return attributes as candidates: cuts as steps of their column, others, or all if rows
        are few, as flags.
        """
        spans = self.spans.of(fold, attributes)
        place, column, flag = (np.full(len(spans), -1) for _ in range(3))
        cuts: dict[int, list[int]] = {}
        for i, (attribute, span) in enumerate(zip(attributes, spans, strict=True)):
            # A given cut that every value of the column's type exceeds divides nothing, so it is no
            # step.
            if self.is_cut[attribute] and span.first <= span.last:
                cuts.setdefault(span.column, []).append(i)
        steps: list[Codes] = []
        for number, ladder in cuts.items():
            first = np.array([spans[i].first for i in ladder])
            column[ladder] = len(steps)
            place[ladder] = (first[:, None] >= first).sum(axis=1)
            steps.append(
                _steps(
                    self.rows.columns[number][own],
                    [spans[i] for i in ladder],
                    self.bins[number].n_codes,
                )
            )
        flagged = np.flatnonzero((column < 0) | (len(own) < _FEW_ROWS))
        flag[flagged] = np.arange(len(flagged))
        holds = np.empty((len(flagged), len(own)), dtype=np.bool_)
        for i, candidate in enumerate(flagged.tolist()):
            span = spans[candidate]
            holds[i] = span.holds(
                self.rows.columns[span.column][own], self.bins[span.column].n_codes
            )
        flags = Flags.of(holds, weights)
        return Candidates(
            flags=flags,
            flag=flag,
            target=target,
            column=column,
            place=place,
            steps=steps,
            weights=weights,
            unit=self.unit,
            intervals=self.intervals,
        )


def _steps(codes: Codes, cuts: Sequence[Span], n_codes: int) -> Codes:
    """Return for each code how many of the column's cuts it is above."""
    every = np.arange(n_codes, dtype=narrowest(n_codes))
    above = np.sum([cut.holds(every, n_codes) for cut in cuts], axis=0)
    return np.asarray(above, dtype=narrowest(len(cuts))).take(codes)


@dataclass(frozen=True, slots=True, eq=False)
class DrawRows:
    """A scan that draws a sample of the rows."""

    bins: tuple[Bins, ...]
    classes: tuple[tuple[Scalar, ...], ...]
    n_arcs: int
    n_rows: int
    drawn: int
    seed: int

    def __call__(self, read: Read) -> SampledRows:
        n_rows = read.rough.n_rows
        drawn = sample.is_drawn(
            read.first_row, n_rows, of=self.n_rows, drawn=self.drawn, seed=self.seed
        )
        rows = np.flatnonzero(drawn)
        table = read.rough.take(rows).binned(self.bins, self.classes, n_arcs=self.n_arcs)
        return sample.numbered(table, rows + read.first_row)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """The rows that are drawn."""

    ranked: SampledRows
    """Those on which attributes are ranked together and types are shortened."""
    searched: SampledRows
    """Those in which terms are searched: the same, or more."""


def draw_rows(kept: KeptRows, spec: LearnSpec, engine: Engine) -> Drawn | None:
    """Draw the rows on which attributes are ranked together and formulas of every length are
    searched, if they are.
    """
    if not (spec.looks_together or spec.by_length):
        return None
    table, booleans = kept.table, kept.booleans
    n_rows, n_columns = table.splits.n_rows, len(booleans.bins)
    few = most = sampled_rows(n_rows, n_columns)
    if "terms" in spec.search:
        most = searched_rows(table.splits, n_columns)
    check_merge(
        f"a sample of {most:,} rows",
        most * (n_columns + 24),
        fan_in=1,
        worker_bytes=engine.worker_bytes,
        advice="raise cluster.memory_limit",
        key="cluster.memory_limit",
    )
    scan = DrawRows(booleans.bins, table.classes, table.splits.n_arcs, n_rows, most, spec.seed)
    searched = engine.reduce(DRAW_ROWS.name, kept.rows, scan, sample.merge)
    return Drawn(sample.fewer(searched, of=n_rows, drawn=few, seed=spec.seed), searched)


def allowed_attributes(tables: Associations, kept: KeptRows, spec: LearnSpec) -> Bools:
    """Return allowed[part, attribute]: which attributes may be ranked in each part.

    Left out are cuts that repeat another of their column, categories of too few rows and, with the
    cuts "entropy", cuts that do not tell about the target. Each part decides by its own rows,
    because a fold must not depend on its test rows.
    """
    booleans = kept.booleans
    cuts = booleans.cuts_by_column()
    allowed = np.ones(tables.holds.shape, dtype=np.bool_)
    if spec.cuts == "entropy":
        allowed &= keep_telling(tables, cuts, unit=spec.unit)
    folds = [part.fold for part in kept.parts]
    for own in (column for column in cuts if len(column) > 1):
        first = booleans.train.first[:, own]
        repeats = (first[:, :, None] == first[:, None, :]) & np.tri(len(own), k=-1, dtype=np.bool_)
        allowed[:, own] &= ~repeats.any(axis=2)[folds]
    is_category = np.array([isinstance(attribute, Equals) for attribute in booleans.attributes])
    allowed &= ~is_category | (tables.holds >= spec.rare * spec.unit)
    return allowed


def _by_scores(
    tables: Associations, parts: Groups, allowed: Bools, spec: LearnSpec, length: int
) -> dict[LearningPart, Ranked]:
    """Return the best attributes of each part by each ranking of attributes one by one."""
    orders = {
        rank: _orders(np.where(allowed, RANKINGS[rank].rank(tables), np.nan), allowed, length)
        for rank in spec.rank
        if not RANKINGS[rank].together
    }
    return {
        part: {rank: order[row] for rank, order in orders.items()} for row, part in enumerate(parts)
    }


def _orders(scores: Floats, allowed: Bools, length: int) -> list[tuple[int, ...]]:
    """Return the best allowed attributes of each part; the best of all if none is allowed."""
    found = []
    for order, own in zip(rankings(scores, scores.shape[1]).tolist(), allowed, strict=True):
        found.append(tuple(a for a in order if own[a])[:length] or tuple(order[:length]))
    return found
