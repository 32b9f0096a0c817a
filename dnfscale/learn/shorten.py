"""Shortens the table of types: in every learning part, the best formula of every length over the
attributes that its sweep found best.

The types say how likely a row is positive (`method/shrink.py`), and the drawn rows which codes go
together; so a formula over the cuts and values of tau is searched as one over all columns is, by
the expected cost of its answers instead of the labels (`method/shortened.py`). The best checklists
of these attributes follow from the same costs, exactly (`method/checklists/exact.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints
from dnfscale.core.counts import TypeCounts, project, to_dense
from dnfscale.core.parts import ColumnName
from dnfscale.core.sample import SampledRows
from dnfscale.engine.api import Engine
from dnfscale.learn.choose import Swept
from dnfscale.learn.count import Counted
from dnfscale.learn.keeping import KeptRows
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.learn.places import Groups, LearningPart, Place, final_part, inner_parts
from dnfscale.learn.rank import Rankings
from dnfscale.learn.terms import (
    Asked,
    ByForm,
    Found,
    Lines,
    coded_columns,
    codes_of,
    costs_of,
    learned_rows,
    lines_of_codes,
)
from dnfscale.method.booleanize import Booleanization
from dnfscale.method.checklists.exact import MOST_ATTRIBUTES, BestChecklist, best_checklists
from dnfscale.method.checklists.search import LONGEST as LONGEST_CHECKLIST
from dnfscale.method.shortened import shortened
from dnfscale.method.shrink import Shrink, shares
from dnfscale.method.sweep import RankedCounts, Step
from dnfscale.method.terms.codes import Sample
from dnfscale.spec.learn import LearnSpec

SHORTEN_TYPES = Phase("shorten types", Reads.DRAWN_ROWS, "search shorter formulas")
_UNIT = 1_000
"""What a row of weight one weighs, so that its share of positives is a whole number."""
LONGEST = 40
"""The most literals of a formula over types where there is no budget."""


class TypesJob(NamedTuple):
    """The attributes of a learning part whose types are to be shortened."""

    target: int
    part: LearningPart
    threshold: Fraction
    attributes: tuple[int, ...]
    counts: TypeCounts
    """Their types in the rows learned from."""
    shrink: Shrink


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ShortenTypes:
    """Finds the best formula of every length over the attributes of a job."""

    rows: SampledRows
    booleans: Booleanization
    ends: Mapping[int, tuple[int, int]]
    """The cuts between which each interval lies."""
    parts: Groups
    targets: Bools
    forms: tuple[str, ...]
    max_literals: int
    max_terms: int | None

    def __call__(self, job: TypesJob) -> ByForm:
        found = {}
        if "lines" in self.forms:
            found["lines"] = self._lines(job)
        if "checklist" in self.forms:
            found["checklist"] = self._checklists(job)
        return found

    def _checklists(self, job: TypesJob) -> tuple[Lines, ...]:
        """Return the best checklists over the first attributes, by the expected cost of types."""
        ell = min(MOST_ATTRIBUTES, job.counts.ell)
        longest = min(LONGEST_CHECKLIST, self.max_literals)
        n, _ = to_dense(job.counts)
        share = np.rint(_UNIT * shares(job.counts, job.shrink)).astype(np.int64)
        wrong_yes, wrong_no = costs_of(job.threshold)
        of_row = wrong_no * share - wrong_yes * (_UNIT - share)
        gains = _with_room(n, _UNIT * max(wrong_yes, wrong_no)) * of_row
        by_prefix = gains.reshape(-1, 1 << ell).sum(axis=0)
        constant = Lines(((),) if gains.sum() > 0 else ())
        found = best_checklists(by_prefix, longest=longest)
        columns = [self.booleans.attributes[self._cuts(a)[0]].column for a in job.attributes[:ell]]
        return (
            constant,
            *(self._asked(one, job.attributes) for one in found if _is_plain(one, columns)),
        )

    def _cuts(self, attribute: int) -> tuple[int, ...]:
        return self.ends.get(attribute, (attribute,))

    def _asked(self, checklist: BestChecklist, attributes: Sequence[int]) -> Lines:
        """Return a checklist over types as questions about attributes."""
        literals = tuple(
            Asked(self._cuts(attribute), bool(checklist.value >> bit & 1))
            for bit, attribute in enumerate(attributes)
            if checklist.care >> bit & 1
        )
        if checklist.at_least == len(literals):
            return Lines((literals,))
        least = checklist.at_least if checklist.at_least > 1 else None
        return Lines(tuple((literal,) for literal in literals), least)

    def _lines(self, job: TypesJob) -> tuple[Lines, ...]:
        booleans, fold = self.booleans, job.part.fold
        spans = booleans.whole if job.part.split is None else booleans.train
        drawn = learned_rows(self.rows, self.parts[job.part], self.targets[job.target])
        allowed = np.zeros(len(booleans.attributes), dtype=np.bool_)
        for attribute in job.attributes:
            allowed[list(self._cuts(attribute))] = True
        # Every value of tau may be named, so that it does not matter how often each occurs.
        columns = coded_columns(booleans, spans, fold, allowed, np.zeros_like(spans.column))
        types = np.zeros(len(drawn.own), dtype=np.int64)
        for bit, span in enumerate(spans.of(fold, job.attributes)):
            types |= (
                span.true_in(
                    {span.column: self.rows.columns[span.column][drawn.own]}, booleans.bins
                ).astype(np.int64)
                << bit
            )
        share = np.rint(_UNIT * shares(job.counts, job.shrink)).astype(np.int64)[types]
        wrong_yes, wrong_no = costs_of(job.threshold)
        table = _distinct(
            codes_of(self.rows, drawn, columns),
            wrong_no * share * drawn.weights,
            wrong_yes * (_UNIT - share) * drawn.weights,
        )
        if not columns:
            # As in a part in which no column of tau has a cut or two values.
            _, positive, negative = table
            return (Lines(((),) if positive.sum() > negative.sum() else ()),)
        sample = Sample(tuple(column.codes for column in columns), *table)
        found = shortened(
            sample, max_literals=self.max_literals, max_terms=self.max_terms, proven=()
        )
        return tuple(lines_of_codes(one.formula, columns) for one in found)


def _with_room(n: Ints, times: int) -> Ints:
    """Return counts, in a larger unit where their sum would not fit so many times in 64 bits."""
    return n >> max(0, (int(n.sum()) * times).bit_length() - 62)


def _is_plain(checklist: BestChecklist, columns: Sequence[ColumnName]) -> bool:
    """Return whether a checklist says no two things about a column in lines that could be one."""
    asked = [column for bit, column in enumerate(columns) if checklist.care >> bit & 1]
    return 1 < checklist.at_least < len(asked) or len(set(asked)) == len(asked)


def _distinct(codes: Codes, positive: Ints, negative: Ints) -> tuple[Codes, Ints, Ints]:
    """Return rows of the same codes as one, with what they weigh together."""
    same, rows = np.unique(codes, axis=1, return_inverse=True)
    weights = np.zeros((same.shape[1], 2), dtype=np.int64)
    np.add.at(weights, rows.ravel(), np.stack([positive, negative], axis=1))
    return same, weights[:, 0], weights[:, 1]


def best_step(swept: Swept) -> Step:
    """Return the step with the best score; the smallest of several."""
    return max(swept.sweep.steps, key=lambda step: step.score)


def shorten_types(
    kept: KeptRows,
    drawn: SampledRows,
    rankings: Rankings,
    swept: Mapping[Place, Swept],
    counted: Mapping[Place, Counted],
    spec: LearnSpec,
    engine: Engine,
) -> Found:
    """Find formulas over the attributes of every place's best step, in every learning part.

    `counted` has the counts of these attributes on W_0.
    """
    jobs = [
        TypesJob(
            place.target,
            part,
            swept[place].sweep.threshold,
            own.attributes,
            own.train,
            best_step(swept[place]).shrink,
        )
        for place in kept.places
        for part, own in _by_part(place, swept[place], counted[place], kept).items()
    ]
    scan = ShortenTypes(
        rows=drawn,
        booleans=rankings.booleans,
        ends=rankings.ends,
        parts=kept.parts,
        targets=kept.table.targets,
        forms=spec.forms,
        max_literals=LONGEST if spec.most_literals is None else spec.most_literals,
        max_terms=spec.max_terms,
    )
    found = engine.map(SHORTEN_TYPES.name, jobs, scan)
    return {(job.target, job.part): own for job, own in zip(jobs, found, strict=True)}


def plan_shortening(layout: Layout) -> PlannedPhase:
    """Return the phase of shortening types."""
    return SHORTEN_TYPES.planned(layout.ranking_parts)


def _by_part(
    place: Place, swept: Swept, counted: Counted, kept: KeptRows
) -> dict[LearningPart, RankedCounts]:
    """Return the attributes of a place's best step, as each learning part ranks them, with their
    counts.
    """
    step, splits = best_step(swept), kept.table.splits
    inner = dict(zip(inner_parts(place.fold, splits), swept.tried.ranked[step.rank], strict=True))
    final = final_part(place.fold, splits)
    whole = RankedCounts(step.attributes, counted.whole, counted.test)
    parts = inner if final in inner else {**inner, final: whole}
    return {part: _prefix(own, step.ell) for part, own in parts.items()}


def _prefix(ranked: RankedCounts, ell: int) -> RankedCounts:
    kept = range(min(ell, len(ranked.attributes)))
    return RankedCounts(
        ranked.attributes[: len(kept)],
        project(ranked.train, kept),
        project(ranked.validation, kept),
    )
