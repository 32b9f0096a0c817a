"""Chooses a ranking and ell in every place, by how well prefixes of the rankings do on W_val."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dnfscale.core.splits import Splits
from dnfscale.engine.api import Engine
from dnfscale.learn.count import COUNT_TYPES, Wanted, count_rankings
from dnfscale.learn.keeping import KeptRows
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.learn.places import JUDGED, Groups, Place, final_part, inner_parts
from dnfscale.learn.rank import Ranked, Rankings
from dnfscale.method.objective import Objective
from dnfscale.method.shrink import Shrink
from dnfscale.method.sweep import Judging, RankedCounts, Sweep, sweep
from dnfscale.spec.learn import LearnSpec

TRY_PREFIXES = Phase("try prefixes", Reads.COUNTS, "try formulas of each length")


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """The counts by which a place chooses a ranking and ell: those of every ranking in each inner
    split.
    """

    ranked: Mapping[str, tuple[RankedCounts, ...]]
    final: Ranked
    """The rankings whose best attributes are taken once a ranking and ell are chosen."""
    distinct_rows: int
    """The number of different rows that are in some W_val."""


@dataclass(frozen=True, slots=True, eq=False)
class Swept:
    """The sweep of a place, and the counts that it went by."""

    sweep: Sweep
    tried: Tried


@dataclass(frozen=True, slots=True)
class ChooseEll:
    """Chooses a ranking and ell."""

    judging: Judging

    def __call__(self, tried: Tried) -> Sweep:
        return sweep(
            tried.ranked, self.judging, final=tried.final, distinct_rows=tried.distinct_rows
        )


def judging_of(spec: LearnSpec) -> Judging:
    """Return how the ranking and ell are chosen."""
    shrinks = tuple(Shrink(spec.shrink, rows, spec.unit) for rows in spec.shrink_rows)
    return Judging(
        objective_of(spec),
        shrinks if spec.shrink != "none" else shrinks[:1],
        spec.tolerance,
        spec.rule,
    )


def objective_of(spec: LearnSpec) -> Objective:
    """Return what formulas are optimized for."""
    return Objective(spec.objective, spec.threshold, spec.beta)


def choose_ells(
    kept: KeptRows, rankings: Rankings, spec: LearnSpec, engine: Engine
) -> dict[Place, Swept]:
    """Count the rankings of every place on W_train and W_val of its inner splits, and choose a
    ranking and ell.
    """
    tried = _tried(kept, rankings, spec, engine)
    choose = ChooseEll(judging_of(spec))
    jobs = list(tried.values())
    sweeps = (
        engine.map(TRY_PREFIXES.name, jobs, choose)
        if _is_long(spec)
        else [choose(job) for job in jobs]
    )
    return {
        place: Swept(swept, job) for (place, job), swept in zip(tried.items(), sweeps, strict=True)
    }


def plan_choosing(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of choosing a ranking and ell."""
    yield layout.scan(COUNT_TYPES)
    if _is_long(layout.spec):
        yield TRY_PREFIXES.planned(layout.folds)


def _is_long(spec: LearnSpec) -> bool:
    """Return whether choosing is worth a task: without shrinking it compares counts, sooner than
    they are sent.
    """
    return spec.shrink != "none"


def _tried(
    kept: KeptRows, rankings: Rankings, spec: LearnSpec, engine: Engine
) -> dict[Place, Tried]:
    """Count the rankings, and return for every place what it chooses by."""
    splits = kept.table.splits
    counted = count_rankings(kept, rankings, engine)
    validated = [validated_rows(fold, kept.parts, splits) for fold in range(splits.n_folds)]
    tried = {}
    for place in kept.places:
        ranked = rankings.by_target[place.target]
        parts = inner_parts(place.fold, splits)
        by_rank = {
            rank: tuple(counted[Wanted(place.target, part, ranked[part][rank])] for part in parts)
            for rank in spec.rank
        }
        tried[place] = Tried(by_rank, ranked[final_part(place.fold, splits)], validated[place.fold])
    return tried


def validated_rows(fold: int, parts: Groups, splits: Splits) -> int:
    """Return how many different rows of a fold are in W_val of some inner split."""
    validate = np.any([parts[part] == JUDGED for part in inner_parts(fold, splits)], axis=0)
    return int(splits.arc_rows[validate].sum())
