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
from dnfscale.method.terms.histograms import CountedRows, Layout


@dataclass(frozen=True, slots=True)
class Beam:
    """How wide and how far new terms are searched."""

    shares: tuple[float, ...] = (0.1, 0.4, 1.0)
    """mu; the last is 1."""
    width: int = 1
    """Beginnings that are kept for each mu."""
    longest: int = 3
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
    most = 0
    for level in range(1, beam.longest + 1):
        counts = counted.histograms([start.counted for start in starts])
        for own, start in zip(counts, starts, strict=True):
            if start.before is not None:
                np.subtract(start.before, own, out=own)
        is_last = level == beam.longest
        # Nothing goes on from the last level, so only what its terms gain matters.
        lanes = _best(finder, starts, counts, (1.0,) if is_last else beam.shares, beam.width)
        if lanes[-1] and lanes[-1][0].gain > 0:
            top = lanes[-1][0]
            found.append((top.gain, (*starts[top.start].term, top.condition)))
            most = max(most, top.gain)
        chosen: dict[tuple[int, int], _Next] = {}
        for one in (one for lane in lanes for one in lane):
            # A term without negative rows cannot get better, and none gains more than its positive
            # rows weigh.
            if one.negative and one.positive > most:
                chosen.setdefault((one.positive, one.negative), one)
        if is_last or not chosen:
            break
        starts = [
            _after(starts[one.start], one.condition, codes, counts[one.start])
            for one in chosen.values()
        ]
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


def _best(
    finder: Finder, starts: Sequence[_Start], counts: Ints, shares: Sequence[float], width: int
) -> list[list[_Next]]:
    """Return for each share the best few conditions by P - share N that go on from some beginnings,
    of which no two leave rows of the same weights."""
    positive, negative = finder.arrange(counts[:, 0]), finder.arrange(counts[:, 1])
    sums = positive.less(negative, np.array(shares))
    scores = finder.scores(sums).reshape(len(shares), len(starts), -1)
    scores[:, finder.banned([start.term for start in starts])] = -np.inf
    n_slots = scores.shape[2]
    flat = scores.reshape(len(shares), -1)
    few = min(flat.shape[1], 4 * width)
    # To sort what reaches the least of the best few gives the same on every machine; an
    # argpartition does not.
    least = np.partition(flat, flat.shape[1] - few, axis=1)[:, flat.shape[1] - few]
    known: dict[tuple[int, Condition], _Next] = {}
    lanes = []
    for lane, own in enumerate(flat):
        places = np.flatnonzero(own >= least[lane])
        picked: dict[tuple[int, int], _Next] = {}
        for place in places[np.argsort(-own[places], kind="stable")].tolist():
            if len(picked) == width or own[place] == -np.inf:
                break
            start, slot = divmod(place, n_slots)
            condition = finder.condition(sums, lane * len(starts) + start, slot)
            if condition is None:
                continue
            if (start, condition) not in known:
                known[start, condition] = _next(finder.layout, start, condition, counts[start])
            one = known[start, condition]
            if one.positive:
                picked.setdefault((one.positive, one.negative), one)
        lanes.append(list(picked.values()))
    return lanes


def _next(layout: Layout, start: int, condition: Condition, counts: Ints) -> _Next:
    first, end = layout.starts[condition.column : condition.column + 2].tolist()
    own = counts[:, first:end]
    inside = own[:, list(condition.values())].sum(axis=1)
    positive, negative = (inside if condition.holds else own.sum(axis=1) - inside).tolist()
    return _Next(start, condition, positive, negative)


def _after(start: _Start, condition: Condition, codes: ByColumn, counts: Ints) -> _Start:
    kept = condition.accepts(codes[condition.column][start.rows])
    rows = start.rows[kept]
    term = (*start.term, condition)
    if 2 * len(rows) <= len(start.rows):
        return _Start(term, rows, rows)
    return _Start(term, rows, start.rows[~kept], counts)
