"""The frontier: the best formula found of every length, expanded until nothing gets better.

To *expand* a formula is to try all that changes it a little: a new term, one term less, a term that
another formula has, one literal more, less, or replaced. Whatever is better than all formulas of
its length and shorter takes its place on the frontier, and is expanded in its turn, the shortest
first. Where nothing is left to expand, formulas are *rebuilt*: each of their terms is searched anew
beside the others. Effort is bounded in expansions and new terms, so the result depends on nothing
but the sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dnfscale.core.arrays import Ints
from dnfscale.method.terms.beam import Beam, new_terms
from dnfscale.method.terms.bits import Words, pack, rows_of
from dnfscale.method.terms.codes import CodeFormula, CodeTerm, Condition, Sample
from dnfscale.method.terms.conditions import Finder
from dnfscale.method.terms.exchanges import Exchange, Near, exchanges, group_starts, near_rows
from dnfscale.method.terms.histograms import CountedRows, Layout
from dnfscale.method.terms.pool import Pool
from dnfscale.method.terms.screen import narrowed, telling_columns, thinned, used_columns, widened
from dnfscale.method.terms.tidy import tidied

FEW_ROWS = 2000
"""Below so many rows an interval fits chance more often than it tells something."""
_SET_RIGHT = 3
"""How many of few rows a longer formula must set right: to say which condition is added takes as
much as to name some rows that are exceptions."""
_RARE = 0.6
"""Where positives weigh less than this share of negatives, terms also begin by what that share
makes worth while."""
_MANY_ROWS = 8000
_SOME_ROWS = 4000
_COLUMNS_OF_MANY_ROWS = 20
_QUICK_LITERALS = 20
"""Of many rows, columns beyond a number are chosen by formulas of some literals, found on some of
the rows."""
_ROWS_OF_ALL_SHARES = 18_000
"""From so many rows on more beginnings of terms are told apart than chance would."""
_EXPANSIONS_OF_KNOWN = 60
"""How many formulas are expanded where those of other rows are known."""
_TRUTH_BYTES = 1 << 26
"""How much is kept of which rows satisfy which condition."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long formulas may be, and how far they are searched."""

    max_literals: int = 40
    max_terms: int | None = None
    expansions: int = 400
    """The most formulas that are expanded."""
    rebuilt: int = 10
    """The most terms that are searched anew."""
    margin: float = 1 / 20_000
    """The share of all weight by which a longer formula must be better."""
    max_values: int = 5
    """The most values of a set."""
    intervals: bool = True
    columns: int = 48
    """The most columns that are searched."""
    pool: int = 256
    """How many terms are kept to be tried in other formulas."""
    beam: Beam = field(default_factory=Beam)


def effort_for(n_rows: int, *, max_literals: int = 40, max_terms: int | None = None) -> Effort:
    """Return the effort that pays for so many rows.

    Few rows cannot tell long formulas apart: every hundred of them allows a literal more, and a
    literal must set some of them right.
    """
    longest = min(max_literals, 10 + n_rows // 100)
    if n_rows >= _ROWS_OF_ALL_SHARES:
        return Effort(longest, max_terms, beam=Beam(shares=(0.1, 0.25, 0.5, 0.75, 1.0)))
    if n_rows >= FEW_ROWS:
        return Effort(longest, max_terms)
    return Effort(longest, max_terms, margin=_SET_RIGHT / max(1, n_rows), intervals=False)


@dataclass(frozen=True, slots=True)
class Found:
    """A formula of the frontier."""

    formula: CodeFormula
    cost: int
    """What its errors cost on the sample."""

    @property
    def n_literals(self) -> int:
        return self.formula.n_literals


def frontier(sample: Sample, effort: Effort, *, complemented: bool = False) -> tuple[Found, ...]:
    """Return the best formulas found, each longer than the one before and better; the first has no
    literal.

    None can do without one of its terms, literals, values of a set or ends of an interval at no
    cost. With `complemented`, they are negations of a disjunction.
    """
    [found] = frontiers([sample], effort, complemented=complemented)
    return found


def frontiers(
    samples: Sequence[Sample], effort: Effort, *, complemented: bool = False
) -> tuple[tuple[Found, ...], ...]:
    """Return the frontier of every sample of the same columns, each of which begins with what was
    found in the one before.
    """
    columns = _columns(samples[0], effort, complemented=complemented)
    known: tuple[Found, ...] = ()
    every = []
    for sample in samples:
        known = _found(narrowed(sample, columns), effort, known, complemented=complemented)
        every.append(tuple(replace(one, formula=widened(one.formula, columns)) for one in known))
    return tuple(every)


def _columns(sample: Sample, effort: Effort, *, complemented: bool) -> list[int]:
    """Return the columns to search: all, or those that tell something, and of many rows those that
    some rows use."""
    columns = list(range(len(sample.columns)))
    if len(columns) > effort.columns:
        columns = sorted(telling_columns(sample, effort.columns))
    few = narrowed(sample, columns)
    if sample.n_rows < _MANY_ROWS or len(Layout(few.columns).joints) <= _COLUMNS_OF_MANY_ROWS:
        return columns
    quick = replace(effort, rebuilt=0, max_literals=min(_QUICK_LITERALS, effort.max_literals))
    found = _found(thinned(few, _SOME_ROWS), quick, complemented=complemented)
    used = used_columns((one.formula for one in found), _COLUMNS_OF_MANY_ROWS)
    more = [column for column in telling_columns(few, len(columns)) if column not in used]
    return sorted(columns[column] for column in (used + more)[:_COLUMNS_OF_MANY_ROWS])


def _found(
    sample: Sample, effort: Effort, known: Sequence[Found] = (), *, complemented: bool
) -> tuple[Found, ...]:
    """Search a sample; what is known from other rows is not searched as far."""
    if known:
        effort = replace(effort, expansions=min(_EXPANSIONS_OF_KNOWN, effort.expansions))
    gains = sample.positive - sample.negative
    base = int(sample.negative.sum() if complemented else sample.positive.sum())
    search = _Search(sample, -gains if complemented else gains, effort)
    search.run(one.formula for one in known)
    return tuple(
        Found(CodeFormula(one.terms, complemented), base - one.gain) for one in search.formulas()
    )


class _Search:
    """The state of a search: the best formula of each length, and what is still to be tried."""

    def __init__(self, sample: Sample, gains: Ints, effort: Effort) -> None:
        # Rows that cost as much with either answer do not matter.
        matters = np.flatnonzero(gains)
        self._codes = sample.codes[:, matters]
        self._gains = gains[matters]
        self._effort = effort
        self._beam = _with_rare(effort.beam, self._gains)
        layout = Layout(sample.columns)
        self._finder = Finder(layout, effort.max_values, effort.intervals)
        self._counted = CountedRows(layout, self._codes, self._gains)
        self._pool = Pool(self._gains, effort.pool)
        self._everything = pack(np.ones(len(self._gains), dtype=np.bool_))
        self._truths: dict[Condition, Words] = {}
        self._terms_on: dict[bytes, list[tuple[int, CodeTerm]]] = {}
        """The new terms found on each set of rows."""
        always = int(self._gains.sum())
        self._best = {0: Exchange(always, ((),)) if always > 0 else Exchange(0, ())}
        self._margin = max(1, int(effort.margin * int(np.abs(self._gains).sum())))
        self._least = np.full(effort.max_literals + 1, self._best[0].gain + self._margin)
        """What a formula of each length must gain to be better than all of its length and
        shorter."""
        self._to_expand: set[int] = set()
        self._to_rebuild: set[int] = set()
        self._n_rebuilt = 0

    def run(self, starts: Iterable[CodeFormula] = ()) -> None:
        """Expand and rebuild formulas, the shortest first, until none is left or the effort is
        spent; some may be known already."""
        if not len(self._gains) or not self._finder.slots:
            return
        self._expand(Exchange(0, ()))
        for start in starts:
            self._offer(start.terms, self._gain(start.terms))
        for _ in range(self._effort.expansions):
            if self._to_expand:
                length = min(self._to_expand)
                self._to_expand.discard(length)
                self._expand(self._best[length])
            elif self._to_rebuild and self._n_rebuilt < self._effort.rebuilt:
                length = min(self._to_rebuild)
                self._to_rebuild.discard(length)
                self._rebuild(self._best[length])
            else:
                return

    def formulas(self) -> Iterator[Exchange]:
        """Yield the formulas of the frontier by length, with what they gain over the answer
        «no»."""
        by_length: dict[int, Exchange] = {}
        for found in self._best.values():
            tidy = tidied(found, self._gains_near, self._finder)
            length = sum(map(len, tidy.terms))
            if length not in by_length or tidy.gain > by_length[length].gain:
                by_length[length] = tidy
        most = -1
        for _, found in sorted(by_length.items()):
            if found.gain > most:
                most = found.gain
                yield found

    def _offer(self, terms: tuple[CodeTerm, ...], gain: int) -> None:
        """Put a formula on the frontier if it is better than all of its length and shorter."""
        length = sum(map(len, terms))
        effort = self._effort
        if not 0 < length <= effort.max_literals or gain < self._least[length]:
            return
        if effort.max_terms is not None and len(terms) > effort.max_terms:
            return
        self._least[length:] = np.maximum(self._least[length:], gain + self._margin)
        for n in [n for n, one in self._best.items() if n > length and one.gain <= gain]:
            del self._best[n]
            self._to_expand.discard(n)
            self._to_rebuild.discard(n)
        self._best[length] = Exchange(gain, terms)
        self._to_expand.add(length)
        self._to_rebuild.add(length)
        for term in terms:
            self._pool.add(term, self._rows(term))

    def _expand(self, found: Exchange) -> None:
        terms = found.terms
        near = near_rows(terms, len(self._gains), self._truth)
        if sum(map(len, terms)) < self._effort.max_literals:
            self._search_term(terms, near.uncovered, found.gain)
        if not terms:
            return
        counts = self._counted.histograms(near.groups)
        for exchange in exchanges(terms, counts[:, 0] - counts[:, 1], self._finder):
            self._offer(exchange.terms, found.gain + exchange.gain)
        for gain, term in self._pool.best(near.uncovered):
            self._offer((*terms, term), found.gain + gain)
        for rest, without, free in self._without_each(found, near):
            for gain, term in self._pool.best(free):
                self._offer((*rest, term), without + gain)

    def _rebuild(self, found: Exchange) -> None:
        near = near_rows(found.terms, len(self._gains), self._truth)
        for rest, without, free in self._without_each(found, near):
            if self._n_rebuilt < self._effort.rebuilt:
                self._n_rebuilt += 1
                self._search_term(rest, free, without)

    def _without_each(
        self, found: Exchange, near: Near
    ) -> Iterator[tuple[tuple[CodeTerm, ...], int, Words]]:
        """Yield the formula without each of its terms, what it gains then, and the rows that it
        does not accept."""
        terms = found.terms
        for j, (start, free) in enumerate(zip(group_starts(terms), near.free, strict=True)):
            own = int(self._gains[near.groups[start]].sum())
            yield (*terms[:j], *terms[j + 1 :]), found.gain - own, free

    def _search_term(self, terms: tuple[CodeTerm, ...], rows: Words, gain: int) -> None:
        """Search one more term for a formula, on the rows that it does not accept."""
        # Formulas that share their other terms leave the same rows.
        key = rows.tobytes()
        if key not in self._terms_on:
            self._terms_on[key] = new_terms(
                self._counted, self._codes, rows_of(rows), self._finder, self._beam
            )
        for more, term in self._terms_on[key]:
            self._offer((*terms, term), gain + more)
            self._pool.add(term, self._rows(term))

    def _gain(self, terms: Sequence[CodeTerm]) -> int:
        """Return what a formula gains over the answer «no»."""
        accepted = np.zeros_like(self._everything)
        for term in terms:
            accepted |= self._rows(term)
        return int(self._gains[rows_of(accepted)].sum())

    def _gains_near(self, terms: Sequence[CodeTerm]) -> Ints:
        near = near_rows(terms, len(self._gains), self._truth)
        counts = self._counted.histograms(near.groups)
        return np.asarray(counts[:, 0] - counts[:, 1])

    def _rows(self, term: CodeTerm) -> Words:
        rows = self._everything
        for condition in term:
            rows = rows & self._truth(condition)
        return rows

    def _truth(self, condition: Condition) -> Words:
        found = self._truths.get(condition)
        if found is None:
            if len(self._truths) * max(1, self._everything.nbytes) > _TRUTH_BYTES:
                self._truths.clear()
            found = pack(condition.accepts(self._codes[condition.column]))
            self._truths[condition] = found
        return found


def _with_rare(beam: Beam, gains: Ints) -> Beam:
    """Return the beam with shares of negatives that suit rare positives, if they are rare."""
    positive, negative = int(gains[gains > 0].sum()), int(-gains[gains < 0].sum())
    ratio = positive / max(1, negative)
    if not 0 < ratio < _RARE:
        return beam
    return replace(beam, shares=tuple(sorted({*beam.shares, ratio, ratio / 2})))
