"""Competitors that follow from the counts of the formula: they cost nothing, so every study has
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dnfscale.compare.measure import Measuring
from dnfscale.compare.records import LearnedLabels
from dnfscale.results.method import Method
from dnfscale.spec.learn import LearnSpec
from dnfscale.spec.registry import COMPETITORS, Competitor


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedCompetitor(Competitor):
    """A competitor that needs the counts of what was learned, and nothing else."""

    count: Callable[[LearnedLabels, Measuring], Method]


def counted_methods(learned: LearnedLabels, spec: LearnSpec) -> dict[str, Method]:
    """Return what each of them comes to in the folds; none in a study without folds."""
    if not learned.first.folds:
        return {}
    measuring = Measuring.of(spec, learned.first.table.splits)
    return {
        name: competitor.count(learned, measuring)
        for name, competitor in sorted(COMPETITORS.items())
        if isinstance(competitor, CountedCompetitor)
        and (competitor.many_classes or not learned.labels)
    }
