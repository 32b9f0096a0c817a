"""Checklists from the rows themselves: the best found of every length, «at least m of these n».

With its other conditions fixed, a condition matters to the rows alone in which exactly m - 1 of
these hold. So one histogram of the rows by how many of the others hold gives the best condition of
every column, for every m at once. A checklist of n conditions grows out of several of n - 1, and
each of its conditions is replaced by a better one until there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dnfscale.core.arrays import Bools, Ints, tally_cells
from dnfscale.method.terms.codes import CodeFormula, Condition, Sample
from dnfscale.method.terms.conditions import Finder
from dnfscale.method.terms.histograms import CountedRows, Layout
from dnfscale.method.terms.screen import narrowed, telling_columns, thinned, widened
from dnfscale.method.terms.search import FEW_ROWS, Found

LONGEST = 12
"""The most conditions of a checklist: who ticks off more?"""
_MANY_ROWS = 10_000
"""Of more rows, so many are searched: a list of some conditions needs no more to be told from
others."""
_COLUMNS = 24
_TRIED = 6
_WIDTH = 3
"""How many checklists of a length have their conditions replaced, and how many of these grow."""
_PER_THRESHOLD = 2
"""How many of these may ask for the same number of conditions."""
_PATIENCE = 3
"""After so many lengths that are not better than those before, the search ends."""
_STEPS = 40
"""The most conditions of a checklist that are replaced one after the other."""
_MOST_TRIED = 4
"""Forms of columns of which the best is tried: it may be there already."""
_NEVER = -(1 << 62)
_MAX_VALUES = 5
_SET_RIGHT = 2
"""How many of few rows a longer checklist must set right."""


Signs = npt.NDArray[np.int8]
"""How many conditions hold in each row."""


@dataclass(frozen=True, slots=True)
class _Checklist:
    """Conditions, of which so many must hold, and what it gains over the answer «no»."""

    conditions: tuple[Condition, ...]
    at_least: int
    gain: int

    @property
    def is_plain(self) -> bool:
        """Whether it says no two things about a column in one line, or in lines that are one."""
        own = self.conditions
        return 1 < self.at_least < len(own) or len({one.column for one in own}) == len(own)

    @property
    def key(self) -> tuple[int, tuple[Condition, ...]]:
        return self.at_least, tuple(sorted(self.conditions))


def checklists(sample: Sample, *, longest: int = LONGEST) -> tuple[Found, ...]:
    """Return the best checklists found, each longer than the one before and better; the first has
    no literal, and is the better constant answer.

    Those that ask for one condition or for all are formulas as well.
    """
    columns = list(range(len(sample.columns)))
    if len(columns) > _COLUMNS:
        columns = sorted(telling_columns(sample, _COLUMNS))
    few = narrowed(sample, columns)
    thin = thinned(few, _MANY_ROWS) if few.n_rows > _MANY_ROWS else few
    base = int(sample.positive.sum())
    found = []
    for one in _Search(thin).run(min(longest, LONGEST)):
        formula = widened(_formula(one), columns)
        found.append(Found(formula, sample.cost(formula) if thin is not few else base - one.gain))
    return tuple(found)


def _formula(checklist: _Checklist) -> CodeFormula:
    own, least = checklist.conditions, checklist.at_least
    if not own:
        return CodeFormula(((),) if checklist.gain > 0 else ())
    if least == len(own):
        return CodeFormula((own,))
    return CodeFormula(tuple((one,) for one in own), at_least=least)


class _Place(NamedTuple):
    """Where a condition is missing."""

    others: tuple[Condition, ...]
    level: int
    """How many of the others hold in the rows to which it matters: all but one that must."""
    signs: Signs
    """How many of the others hold in each row."""


class _Search:
    """The state of a search."""

    def __init__(self, sample: Sample) -> None:
        gains = sample.positive - sample.negative
        matters = np.flatnonzero(gains)
        self._codes = sample.codes[:, matters]
        self._gains = gains[matters]
        self._columns = sample.columns
        # With many rows a number may count more the higher it is; few rows fit that to chance.
        self._repeats = sample.n_rows >= FEW_ROWS
        layout = Layout(sample.columns)
        self._finder = Finder(layout, _MAX_VALUES, intervals=self._repeats)
        self._counted = CountedRows(layout, self._codes, self._gains)
        share = 1 / 20_000 if self._repeats else _SET_RIGHT / max(1, sample.n_rows)
        self._margin = max(1, int(share * int(np.abs(self._gains).sum())))
        self._truths: dict[Condition, Bools] = {}

    def run(self, longest: int) -> Iterator[_Checklist]:
        """Yield the best checklists, the shortest first."""
        best = _Checklist((), 1, max(0, int(self._gains.sum())))
        yield best
        if not len(self._gains) or not self._finder.slots:
            return
        beam: list[_Checklist] = [_Checklist((), 1, 0)]
        patience = _PATIENCE
        for _ in range(longest):
            grown = _diverse([one for own in beam for one in self._grown(own)], _TRIED)
            beam = _diverse([self._descended(one) for one in grown], _WIDTH)
            if not beam:
                return
            better = next((one for one in beam if one.is_plain), best)
            if better.gain >= best.gain + self._margin:
                best, patience = better, _PATIENCE
                yield best
                continue
            patience -= 1
            if not patience:
                return

    def _grown(self, checklist: _Checklist) -> Iterator[_Checklist]:
        """Yield a checklist with one more condition, for every number of them that may hold."""
        signs = self._signs(checklist.conditions)
        places = [
            _Place(checklist.conditions, level, signs)
            for level in range(len(checklist.conditions) + 1)
        ]
        return self._completed(places, int(np.iinfo(np.int64).min))

    def _descended(self, checklist: _Checklist) -> _Checklist:
        """Replace one condition after the other, each time the one that gains most."""
        for _ in range(_STEPS):
            better = next(self._completed(self._places(checklist), checklist.gain), None)
            if better is None:
                return checklist
            checklist = better
        return checklist

    def _places(self, checklist: _Checklist) -> list[_Place]:
        """Return a checklist without each of its conditions, with as many to hold in the end, one
        less, or one more.
        """
        own, least = checklist.conditions, checklist.at_least
        signs = self._signs(own)
        return [
            _Place(own[:i] + own[i + 1 :], level, without)
            for i, without in enumerate(signs - self._truth(one) for one in own)
            for level in range(max(0, least - 2), min(least + 1, len(own)))
        ]

    def _completed(self, places: Sequence[_Place], more_than: int) -> Iterator[_Checklist]:
        """Yield each of some lists with the condition that is missing, the best first, as long as
        they gain more.
        """
        groups = [(place.signs == place.level).nonzero()[0] for place in places]
        counts = self._counted.histograms(groups)
        sums = self._finder.arrange(counts[:, 0] - counts[:, 1])
        scores = np.asarray(self._finder.scores(sums))
        scores[self._banned([place.others for place in places])] = _NEVER
        above = self._above(places)
        most = above + scores.max(axis=1)
        for group in np.argsort(-most, kind="stable").tolist():
            if most[group] <= more_than:
                return
            others, level = places[group].others, places[group].level
            for slot in np.argsort(-scores[group], kind="stable")[:_MOST_TRIED].tolist():
                gain = above[group] + int(scores[group, slot])
                if scores[group, slot] == _NEVER or gain <= more_than:
                    break
                condition = self._finder.condition(sums, group, slot)
                if condition is not None and not any(_same(condition, one) for one in others):
                    yield _Checklist((*others, condition), level + 1, gain)
                    break

    def _above(self, places: Sequence[_Place]) -> list[int]:
        """Return what the rows gain that each place accepts whatever is missing."""
        by_level: dict[int, Ints] = {}
        for place in places:
            key = id(place.signs)
            if key not in by_level:
                own = tally_cells(place.signs, self._gains, len(place.others) + 2)
                by_level[key] = np.cumsum(own[::-1])[::-1]
        return [int(by_level[id(place.signs)][place.level + 1]) for place in places]

    def _banned(self, rests: Sequence[tuple[Condition, ...]]) -> Bools:
        """Return which slots may not complete which conditions."""
        if self._repeats:
            return np.zeros((len(rests), len(self._finder.slots)), dtype=np.bool_)
        # Places with the same others come one after the other.
        runs = [(own, len(list(run))) for own, run in groupby(rests)]
        banned = self._finder.banned([own for own, _ in runs])
        return banned.repeat([length for _, length in runs], axis=0)

    def _signs(self, conditions: Sequence[Condition]) -> Signs:
        signs = np.zeros(len(self._gains), dtype=np.int8)
        for one in conditions:
            signs += self._truth(one)
        return signs

    def _truth(self, condition: Condition) -> Bools:
        found = self._truths.get(condition)
        if found is None:
            found = condition.accepts(self._codes[condition.column])
            self._truths[condition] = found
        return found


def _same(one: Condition, other: Condition) -> bool:
    """Return whether two conditions are the same, or the negations of one another."""
    return one.column == other.column and one.runs == other.runs


def _diverse(found: Sequence[_Checklist], most: int) -> list[_Checklist]:
    """Return the best of some checklists, not too many of which ask for as many conditions."""
    kept: dict[tuple[int, tuple[Condition, ...]], _Checklist] = {}
    of_threshold: dict[int, int] = {}
    for one in sorted(found, key=lambda one: -one.gain):
        if len(kept) == most:
            break
        if one.key not in kept and of_threshold.get(one.at_least, 0) < _PER_THRESHOLD:
            kept[one.key] = one
            of_threshold[one.at_least] = of_threshold.get(one.at_least, 0) + 1
    return list(kept.values())
