"""New terms: a beam search from the empty term, one condition at a time.

A term is worth P - N, the weight of its positive rows less that of its negative ones. Its
beginnings are not: a first condition that keeps most positives is a better start than one that is
pure already. So each level keeps the best beginnings by P - mu N for several mu.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core.arrays import Ints
from dnfscale.method.terms.codes import ByColumn, CodeTerm, Condition
from dnfscale.method.terms.conditions import Finder
from dnfscale.method.terms.histograms import CountedRows


@dataclass(frozen=True, slots=True)
class Beam:
    """How wide and how far new terms are searched."""

    shares: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 1.0)
    """mu; the last is 1."""
    width: int = 2
    """Beginnings that are kept for each mu."""
    longest: int = 4
    """The most literals of a new term."""


@dataclass(frozen=True, slots=True, eq=False)
class _Start:
    """The beginning of a term, and the rows that satisfy it."""

    term: CodeTerm
    rows: Ints
    counted: Ints
    """The rows to count: these, or those that its last condition leaves out if they are fewer."""
    before: Ints | None = None
    """The counts without the last condition, from which those of the rows left out are taken."""


def new_terms(
    counted: CountedRows, codes: ByColumn, rows: Ints, finder: Finder, beam: Beam
) -> list[tuple[int, CodeTerm]]:
    """Return the best term found of each number of literals, with what it gains on some rows; only
    those that gain."""
    starts = [_Start((), rows, rows)]
    found: list[tuple[int, CodeTerm]] = []
    for level in range(beam.longest):
        counts = counted.histograms([start.counted for start in starts])
        for own, start in zip(counts, starts, strict=True):
            if start.before is not None:
                np.subtract(start.before, own, out=own)
        picked = _Picked(finder, starts, counts)
        lanes = [picked.best(share, beam.width) for share in beam.shares]
        if lanes[-1] and lanes[-1][0].gain > 0:
            top = lanes[-1][0]
            found.append((top.gain, (*starts[top.start].term, top.condition)))
        if level == beam.longest - 1:
            break
        chosen: dict[tuple[int, int], _Next] = {}
        for lane in lanes:
            for one in lane:
                # A term without negative rows cannot get better.
                if one.negative:
                    chosen.setdefault((one.positive, one.negative), one)
        starts = [
            _after(starts[one.start], one.condition, codes, counts[one.start])
            for one in chosen.values()
        ]
        if not starts:
            break
    return found


@dataclass(frozen=True, slots=True)
class _Next:
    """A condition that goes on from a beginning, and the weight of the rows that it leaves."""

    start: int
    condition: Condition
    positive: int
    negative: int

    @property
    def gain(self) -> int:
        return self.positive - self.negative


class _Picked:
    """The best conditions that go on from some beginnings."""

    def __init__(self, finder: Finder, starts: Sequence[_Start], counts: Ints) -> None:
        self._finder = finder
        self._positive = finder.arrange(counts[:, 0])
        self._negative = finder.arrange(counts[:, 1])
        self._counts = counts
        self._banned = finder.banned([start.term for start in starts])
        self._known: dict[tuple[int, Condition], _Next] = {}

    def best(self, share: float, width: int) -> list[_Next]:
        """Return the best few by P - share N, of which no two leave rows of the same weights."""
        sums = self._positive.less(self._negative, share)
        scores = self._finder.scores(sums)
        scores[self._banned] = -np.inf
        flat = scores.ravel()
        n_slots = scores.shape[1]
        few = min(len(flat), 4 * width)
        # To sort what reaches the least of the best few gives the same on every machine; an
        # argpartition does not.
        places = np.flatnonzero(flat >= np.partition(flat, len(flat) - few)[len(flat) - few])
        picked: dict[tuple[int, int], _Next] = {}
        for place in places[np.argsort(-flat[places], kind="stable")].tolist():
            start, slot = divmod(place, n_slots)
            if len(picked) == width or flat[place] == -np.inf:
                break
            condition = self._finder.condition(sums, start, slot)
            if condition is None:
                continue
            one = self._next(start, condition)
            if one.positive:
                picked.setdefault((one.positive, one.negative), one)
        return list(picked.values())

    def _next(self, start: int, condition: Condition) -> _Next:
        key = (start, condition)
        if key not in self._known:
            base = int(self._finder.layout.starts[condition.column])
            bins = [base + value for value in condition.values()]
            inside = self._counts[start][:, bins].sum(axis=1)
            if not condition.holds:
                n_codes = self._finder.layout.columns[condition.column].n_codes
                inside = self._counts[start][:, base : base + n_codes].sum(axis=1) - inside
            self._known[key] = _Next(start, condition, int(inside[0]), int(inside[1]))
        return self._known[key]


def _after(start: _Start, condition: Condition, codes: ByColumn, counts: Ints) -> _Start:
    kept = condition.accepts(codes[condition.column][start.rows])
    rows = start.rows[kept]
    term = (*start.term, condition)
    if 2 * len(rows) <= len(start.rows):
        return _Start(term, rows, rows)
    return _Start(term, rows, start.rows[~kept], counts)
