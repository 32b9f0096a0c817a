"""Rankings that look at attributes together, from the joint counts of all candidates with the types
so far.

    forward   the attribute that leaves the least entropy of the target, given the types so far;
              and so on
    exchange  the same, then each attribute in turn replaced by the one that leaves the fewest
              errors, each row being judged by the others of its type; then put in the order of
              `forward`. Where intervals are looked for, what lies between two cuts of a column is
              tried as well
    additive  the attribute that a logistic regression on those so far misses most, by Rao's score;
              and so on
    jmi       the attribute that tells most together with each of those so far, one pair at a time

All candidates are counted with the types so far at once: each by the rows in which it holds (see
flags.py); or the cuts of a column together, by a histogram of how many of them each row is above,
since a value above a cut is above every lower one. That takes one value per column instead of one
per cut, and is faster unless rows are few.

The counts of an interval between two cuts are those above the lower less those above the higher. Of
the many pairs only some are tried: every cut with the best of its column, then every cut with the
best partner found. Only `exchange` tries intervals, so that validation can tell whether they pay:
with few rows they seldom do, and there are many of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dnfscale.core.arrays import AnyInts, Bools, Codes, Floats, Ints, narrowest, tally_cells
from dnfscale.method import logistic
from dnfscale.method.flags import Flags
from dnfscale.method.left_out import CountedTypes
from dnfscale.spec.registry import RANKINGS, Ranking

_EXCHANGES = 8
"""How often each attribute is tried for replacement, at most; the exchange ends sooner if nothing
changes any more.
"""
_MANY_ROWS = 1 << 14
"""From this many rows on, one of two ways to begin is given up early."""
_PARTNERS = 2
"""How often the cuts of a column are paired with the best one found so far."""
_TABLED = 1 << 20
"""Up to this many rows, or this much weight, logarithms are looked up in a table."""
_BLOCK = 1 << 16
"""Values processed at once, so that they stay in the cache."""

Pick = tuple[int, ...]
"""A candidate, or two cuts of one column, the lower first: the interval between them."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Candidates:
    """Rows by the candidates that hold in them, and their target."""

    flags: Flags
    flag: Ints
    """The flag that each candidate is counted by; -1 for cuts that are counted by the steps of
    their column.
    """
    target: Bools
    column: Ints
    """The column of each candidate that is a cut; -1 for others."""
    place: Ints
    """How many cuts of its column a row must be above to be above this one."""
    steps: Sequence[Codes] = ()
    """steps[column][row]: how many of the cuts of a column the row is above."""
    weights: Ints | None = None
    unit: int = 1
    """The weight of a row that counts once; more than 1 if fractional weights were scaled to whole
    numbers.
    """
    intervals: bool = False
    """Whether intervals between two cuts may be picked."""

    @property
    def n_rows(self) -> int:
        return len(self.target)

    @property
    def total(self) -> int:
        """The rows, or what they weigh."""
        return self.n_rows if self.weights is None else int(self.weights.sum())

    def __len__(self) -> int:
        return len(self.column)

    def ladders(self) -> Ladders | None:
        """Return the cuts that intervals may lie between, if any may."""
        ends = np.flatnonzero(self.column >= 0)
        return Ladders.of(self, ends) if self.intervals and len(ends) else None

    def joint(self, types: Ints, n_types: int) -> JointCounts:
        """Count, for every type and candidate, the rows where it holds, and the positive ones among
        them.
        """
        rows, held = self._tallied(types, n_types)
        c, c_held = rows[n_types:], held[:, n_types:]
        return JointCounts(rows[:n_types] + c, c, held[:, :n_types] + c_held, c_held)

    def counted(self, codes: Ints) -> CountedTypes:
        """Count the same for the types that codes are, in a form from which those of fewer
        attributes follow.
        """
        distinct = np.flatnonzero(np.bincount(codes))
        return CountedTypes.of(distinct, *self._tallied(*_without_gaps(codes)), self.unit)

    def _tallied(self, types: Ints, n_types: int) -> tuple[AnyInts, AnyInts]:
        """Return rows[cell] and held[candidate, cell]; the cells are the types, first of the
        negative rows and then of the positive ones.
        """
        n_cells = 2 * n_types
        cells = n_types * self.target + types
        # The narrowest dtype that holds twice the rows, because what follows is bound by memory
        # speed.
        narrow = narrowest(2 * max(self.total, self.unit))
        rows = tally_cells(cells, self.weights, n_cells).astype(narrow)
        held = np.empty((len(self), n_cells), dtype=narrow)
        is_flag = self.flag >= 0
        if is_flag.any():
            held[is_flag] = self.flags.count(cells, n_cells, self.weights, narrow)[
                self.flag[is_flag]
            ]
        for first, above in self._above_in(cells, n_cells, narrow) if not is_flag.all() else ():
            own = np.flatnonzero((self.column >= first) & (self.column < first + len(above)))
            # A cut that no row is above reads the last place, where all counts are 0.
            known = np.minimum(self.place[own], above.shape[1] - 1)
            held[own] = above[self.column[own] - first, known]
        return rows, held

    def _above_in(
        self, cells: Ints, n_cells: int, narrow: np.dtype[Any]
    ) -> Iterator[tuple[int, AnyInts]]:
        """Yield the number of a first column, and above[column, k, cell] from it on: the rows above
        at least k cuts.
        """
        at_once = max(1, _BLOCK // max(1, self.n_rows))
        for first in range(0, len(self.steps), at_once):
            steps = np.array(self.steps[first : first + at_once])
            n_columns, most = len(steps), int(steps.max(initial=0)) + 2
            places = (np.arange(n_columns) * most)[:, None] + steps
            places *= n_cells
            places += cells
            weights = None if self.weights is None else np.tile(self.weights, n_columns)
            rows = tally_cells(places.ravel(), weights, n_columns * most * n_cells).astype(narrow)
            above = rows.reshape(n_columns, most, n_cells)
            # Thrice as fast as a sum along the axis, which does not go along the memory.
            for step in reversed(range(most - 1)):
                above[:, step] += above[:, step + 1]
            yield first, above

    def held(self, pick: Pick) -> Bools:
        """Return the rows in which a candidate holds, or in which a number lies between
        two cuts.
        """
        if len(pick) == 2:
            low, high = map(self.held, zip(pick))
            return low & ~high
        [candidate] = pick
        if self.flag[candidate] >= 0:
            return np.asarray(self.flags.holds[self.flag[candidate]])
        return np.asarray(self.steps[self.column[candidate]] >= self.place[candidate])

    def refined(self, types: Ints, pick: Pick) -> tuple[Ints, int]:
        """Return the types after splitting them by one more pick, numbered without gaps, and how
        many there are.
        """
        return _without_gaps(2 * types + self.held(pick))

    def only(self, candidates: Sequence[int]) -> Candidates:
        """Return the same rows with some of the candidates."""
        chosen = list(candidates)
        return replace(
            self, flag=self.flag[chosen], column=self.column[chosen], place=self.place[chosen]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Ladders:
    """The cuts of each column."""

    ends: Ints
    """All cuts, as candidates."""
    place: Ints
    """How many cuts of its column a row must be above to be above each."""
    column: Ints
    """The number of each cut's column among those that have cuts."""
    order: Ints
    """The places of the cuts in ends, column by column."""
    starts: Ints
    """Where each column begins in order."""

    @classmethod
    def of(cls, rows: Candidates, ends: Ints) -> Ladders:
        """Return the columns of some candidates, all of which are cuts."""
        _, column = np.unique(rows.column[ends], return_inverse=True)
        order = np.argsort(column, kind="stable")
        starts = np.searchsorted(column[order], np.arange(column.max() + 1))
        return cls(ends, rows.place[ends], column, order, starts)

    def pairs(self, costs: Floats) -> tuple[Ints, Ints, Bools]:
        """Return each cut paired with the cheapest cut of its column, the first of these in a tie:
        the lower of each two, the higher, and whether nothing lies between them.
        """
        by_column = costs[self.order]
        least = np.minimum.reduceat(by_column, self.starts)[self.column[self.order]]
        places = np.where(by_column == least, np.arange(len(costs)), len(costs))
        partner = self.order[np.minimum.reduceat(places, self.starts)][self.column]
        above = self.place > self.place[partner]
        others = self.ends[partner]
        low, high = np.where(above, others, self.ends), np.where(above, self.ends, others)
        return low, high, self.place == self.place[partner]


@dataclass(frozen=True, slots=True, eq=False)
class JointCounts:
    """Rows and positive rows of each type, and those of them where each candidate holds."""

    n: AnyInts
    c: AnyInts
    n_held: AnyInts
    c_held: AnyInts
    """n_held and c_held are indexed [candidate, type]."""

    def cost(self, of: Cost) -> Floats:
        """Return the total cost of all types when each candidate splits them."""
        costs = np.empty(len(self.n_held))
        at_once = max(1, _BLOCK // len(self.n))
        for first in range(0, len(costs), at_once):
            n_held, c_held = (
                self.n_held[first : first + at_once],
                self.c_held[first : first + at_once],
            )
            split = of(n_held, c_held) + of(self.n - n_held, self.c - c_held)
            costs[first : first + at_once] = split.sum(axis=1, dtype=np.float64)
        return costs

    def between(self, low: Ints, high: Ints) -> JointCounts:
        """Return the counts of the intervals between pairs of cuts."""
        n_held, c_held = (held[low] - held[high] for held in (self.n_held, self.c_held))
        return JointCounts(self.n, self.c, n_held, c_held)


Cost = Callable[[AnyInts, AnyInts], Any]
"""The cost of types that have n rows, c of them positive."""


def forward(rows: Candidates, length: int) -> list[Pick]:
    """Return candidates, each leaving the least entropy of the target given those before it."""
    return greedy(replace(rows, intervals=False), length)


def exchange(rows: Candidates, length: int, ahead: Sequence[Pick] | None = None) -> list[Pick]:
    """Return the picks of `forward`, each replaced by others as long as that lowers the
    leave-one-out errors.

    `ahead` is what `forward` returned, if that is known.

    With intervals there are two ways to begin, with them and without them; the one that leaves
    fewer errors in the end is kept. With many rows, only the one that leaves fewer errors after
    each pick has been tried once is continued: that takes half the time, and cost nothing on the
    larger of 39 datasets, but 0.3 points on the smaller.
    """
    ahead = forward(rows, length) if ahead is None else ahead
    starts = [list(ahead)]
    if rows.ladders() is not None:
        with_intervals = greedy(rows, length)
        starts = [with_intervals, *(start for start in starts if start != with_intervals)]
    undecided = len(starts) > 1 and rows.n_rows >= _MANY_ROWS
    found = [
        _exchanged(rows, _Exchange(start), rounds=1 if undecided else _EXCHANGES)
        for start in starts
    ]
    best = min(found, key=lambda exchange: exchange.errors)
    if undecided:
        best = _exchanged(rows, best, rounds=_EXCHANGES - 1)
    ordered = sorted(best.order)
    return [ordered[place] for (place,) in forward(as_flags(rows, ordered), length)]


def greedy(rows: Candidates, length: int) -> list[Pick]:
    """Return picks, intervals too if allowed, each leaving the least entropy given those before
    it.
    """
    entropy, ladders = _entropy_of(rows), rows.ladders()
    types, n_types = np.zeros(rows.n_rows, dtype=np.int64), 1
    order: list[Pick] = []
    while len(order) < min(length, len(rows)):
        joint = rows.joint(types, n_types)
        between = partial(_between, joint, entropy)
        pick, _ = _cheapest(joint.cost(entropy), between, order, ladders)
        order.append(pick)
        types, n_types = rows.refined(types, pick)
    return order


class _Exchange(NamedTuple):
    """The state of an exchange."""

    order: Sequence[Pick]
    errors: float = np.inf
    """Twice the errors that the picks leave."""
    settled: int = 0
    """How many consecutive places were last tried without a change; when that is all of them, none
    is left to try.
    """


def _exchanged(rows: Candidates, begun: _Exchange, *, rounds: int) -> _Exchange:
    """Continue an exchange: for some rounds, replace picks wherever that lowers the errors."""
    order, settled, ladders = list(begun.order), begun.settled, rows.ladders()
    # Bit i of a row's code is the pick at place i.
    codes = np.zeros(rows.n_rows, dtype=np.int64)
    for i, pick in enumerate(order):
        codes |= rows.held(pick).astype(np.int64) << i
    counted = rows.counted(codes)
    errors = counted.errors()
    for _ in range(rounds):
        for place in reversed(range(len(order))):
            if settled == len(order):
                return _Exchange(order, errors, settled)
            rest = order[:place] + order[place + 1 :]
            split = counted.without(place)
            best, cost = _cheapest(split.of(), split.of, rest, ladders)
            settled += 1
            if cost < errors:
                order[place], errors = best, cost
                codes = codes & ~(1 << place) | (rows.held(best).astype(np.int64) << place)
                counted = rows.counted(codes)
                # The new pick is the best for this place, and need not be tried again unless
                # another changes.
                settled = 1
    return _Exchange(order, errors, settled)


def additive(rows: Candidates, length: int) -> list[Pick]:
    """Return candidates in the order in which a logistic regression would add them."""
    types, n_types = np.zeros(rows.n_rows, dtype=np.int64), 1
    order: list[int] = []
    while len(order) < min(length, len(rows)):
        joint = rows.joint(types, n_types)
        first = np.zeros(n_types, dtype=np.int64)
        first[types] = np.arange(rows.n_rows)
        told = np.empty((n_types, len(order)))
        for place, candidate in enumerate(order):
            told[:, place] = rows.held((candidate,))[first]
        scores = _score_tests(joint, told, rows.unit)
        scores[order] = -1.0
        order.append(int(np.argmax(scores)))
        types, n_types = rows.refined(types, (order[-1],))
    return [(candidate,) for candidate in order]


def jmi(rows: Candidates, length: int) -> list[Pick]:
    """Return candidates in the order of their joint mutual information with the target and those
    before them.
    """
    entropy = _entropy_of(rows)
    costs = rows.joint(np.zeros(rows.n_rows, dtype=np.int64), 1).cost(entropy)
    total = np.zeros_like(costs)
    order: list[int] = []
    while len(order) < min(length, len(rows)):
        ranked = (total if order else costs).copy()
        ranked[order] = np.inf
        order.append(int(np.argmin(ranked)))
        total += rows.joint(rows.held((order[-1],)).astype(np.int64), 2).cost(entropy)
    return [(candidate,) for candidate in order]


RANKINGS.register(Ranking(name="forward", title="forward selection", rank=forward, together=True))
RANKINGS.register(
    Ranking(
        name="exchange",
        title="forward selection and exchange",
        rank=exchange,
        together=True,
        intervals=True,
        after="forward",
    )
)
RANKINGS.register(
    Ranking(name="additive", title="logistic regression", rank=additive, together=True)
)
RANKINGS.register(Ranking(name="jmi", title="joint mutual information", rank=jmi, together=True))


def rank_together(rows: Candidates, ranks: Sequence[str], length: int) -> dict[str, list[Pick]]:
    """Return several rankings of the same candidates; one may start from what another found, if
    that is known.
    """
    if not rows.n_rows:
        # The part is so small that the sample has none of its rows.
        return {
            rank: [(candidate,) for candidate in range(min(length, len(rows)))] for rank in ranks
        }
    found: dict[str, list[Pick]] = {}
    for ranking in sorted(
        (RANKINGS[rank] for rank in ranks), key=lambda ranking: ranking.after is not None
    ):
        start = () if ranking.after is None else (found.get(ranking.after),)
        found[ranking.name] = ranking.rank(rows, length, *start)
    return found


def as_flags(rows: Candidates, picks: Sequence[Pick]) -> Candidates:
    """Return the same rows with the picks as independent candidates."""
    return flags_alone(np.array([rows.held(pick) for pick in picks]), rows.target, rows.weights)


def flags_alone(holds: Bools, target: Bools, weights: Ints | None = None) -> Candidates:
    """Return independent candidates, given holds[candidate, row]."""
    no_cuts = np.full(len(holds), -1)
    flags = Flags.of(holds, weights)
    return Candidates(
        flags=flags,
        flag=np.arange(len(holds)),
        target=target,
        column=no_cuts,
        place=no_cuts,
        weights=weights,
    )


def first_of_equals(rows: Candidates) -> Ints:
    """Return, for each candidate, the first one that holds in the same rows, or in exactly the
    other rows.
    """
    seen: dict[bytes, int] = {}
    first = np.empty(len(rows), dtype=np.int64)
    at_once = max(1, _BLOCK // max(1, rows.n_rows))
    for start in range(0, len(rows), at_once):
        block = range(start, min(start + at_once, len(rows)))
        held = np.array([rows.held((candidate,)) for candidate in block])
        # Of two opposites, the one that does not hold in the first row stands for both.
        packed = np.packbits(held ^ held[:, :1], axis=1)
        for candidate, row in zip(block, packed, strict=True):
            first[candidate] = seen.setdefault(row.tobytes(), candidate)
    return first


def _cheapest(
    costs: Floats,
    between: Callable[[Ints, Ints], Floats],
    taken: Sequence[Pick],
    ladders: Ladders | None,
) -> tuple[Pick, float]:
    """Return the cheapest pick that is not taken, and its cost; in a tie a single candidate, and
    the first of these.
    """
    costs[[pick[0] for pick in taken if len(pick) == 1]] = np.inf
    place = int(np.argmin(costs))
    best: Pick = (place,)
    least = float(costs[place])
    if ladders is None:
        return best, least
    costs = costs[ladders.ends]
    for _ in range(_PARTNERS):
        low, high, is_empty = ladders.pairs(costs)
        costs = between(low, high)
        costs[is_empty] = np.inf
        for pick in taken:
            if len(pick) == 2:
                costs[(low == pick[0]) & (high == pick[1])] = np.inf
        place = int(np.argmin(costs))
        if costs[place] < least:
            best, least = (int(low[place]), int(high[place])), float(costs[place])
    return best, least


def _between(joint: JointCounts, of: Cost, low: Ints, high: Ints) -> Floats:
    return joint.between(low, high).cost(of)


def _without_gaps(codes: Ints) -> tuple[Ints, int]:
    """Renumber small numbers in order, without gaps, and return how many distinct ones
    there are.
    """
    # Counting finds the numbers that occur in a tenth of the time that sorting takes.
    places = np.cumsum(np.bincount(codes) > 0) - 1
    return places[codes], int(places[-1]) + 1


def _score_tests(joint: JointCounts, told: Floats, unit: int) -> Floats:
    """Return Rao's score of each candidate, given a logistic regression on the attributes that
    define the types.
    """
    n, c, n_held, c_held = (
        counts / unit for counts in (joint.n, joint.c, joint.n_held, joint.c_held)
    )
    features = logistic.with_constant(told)
    p = logistic.probabilities(logistic.fit(told, n, c), told)
    bend = p * (1 - p)
    slope = np.einsum("at->a", c_held - p * n_held)
    own = np.einsum("t,at->a", bend, n_held)
    shared = np.einsum("ti,at->ia", features * bend[:, None], n_held)
    known = np.einsum("ti,tj->ij", features * (bend * n)[:, None], features) + 1e-6 * np.eye(
        features.shape[1]
    )
    explained = np.einsum("ia,ia->a", shared, np.linalg.solve(known, shared))
    variance = own - explained
    scores = np.where(variance > 1e-6, slope**2 / (variance + logistic.PENALTY), 0.0)
    # Candidates that tie must do so whatever the last bits of sums taken in another order.
    return np.asarray(np.round(scores, 6))


def _entropy_of(rows: Candidates) -> Cost:
    """Return a cost function: n times the entropy of a type that has n rows, c of them positive."""
    if rows.total <= _TABLED:
        table = _x_log_x(np.arange(rows.total + 1, dtype=np.float64))
        return lambda n, c: table[n] - table[c] - table[n - c]
    return lambda n, c: _x_log_x(n) - _x_log_x(c) - _x_log_x(n - c)


def _x_log_x(x: Floats | AnyInts) -> Floats:
    return np.asarray(x * np.log(np.maximum(x, 1.0)))
