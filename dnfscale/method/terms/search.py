"""The frontier: the best formula found of every length, each of them expanded until nothing gets
better.

To *expand* a formula is to try all that changes it a little: a new term, one term less, one literal
more, less, or replaced. Whatever is better than all formulas of its length and shorter takes its
place on the frontier, and is expanded in its turn, the shortest first. Effort is bounded in
expansions, so the result depends on nothing but the sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from dnfscale.core.arrays import Ints
from dnfscale.method.terms.beam import Beam, new_terms
from dnfscale.method.terms.bits import Words, pack
from dnfscale.method.terms.codes import CodeFormula, CodeTerm, Condition, Sample
from dnfscale.method.terms.conditions import Finder
from dnfscale.method.terms.exchanges import Exchange, exchanges, near_rows
from dnfscale.method.terms.histograms import CountedRows, Layout
from dnfscale.method.terms.tidy import tidied

_TRUTH_BYTES = 1 << 26
"""How much is kept of which rows satisfy which condition."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long formulas may be, and how far they are searched."""

    max_literals: int = 40
    max_terms: int | None = None
    expansions: int = 1000
    """The most formulas that are expanded."""
    margin: float = 1 / 20_000
    """The share of all weight by which a longer formula must be better."""
    max_values: int = 5
    """The most values of a set."""
    intervals: bool = True
    beam: Beam = field(default_factory=Beam)


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
    gains = sample.positive - sample.negative
    base = int(sample.negative.sum() if complemented else sample.positive.sum())
    search = _Search(sample, -gains if complemented else gains, effort)
    search.run()
    found = (
        Found(CodeFormula(terms, complemented), base - gain) for terms, gain in search.formulas()
    )
    return tuple(found)


class _Search:
    """The state of a search: the best formula of each length, and which are to be expanded."""

    def __init__(self, sample: Sample, gains: Ints, effort: Effort) -> None:
        matters = np.flatnonzero(gains)
        self._codes = sample.codes[:, matters]
        self._gains = gains[matters]
        self._effort = effort
        layout = Layout(sample.columns)
        self._finder = Finder(layout, effort.max_values, effort.intervals)
        self._counted = CountedRows(layout, self._codes, self._gains)
        self._margin = max(1, int(effort.margin * int(np.abs(self._gains).sum())))
        self._truths: dict[Condition, Words] = {}
        always = int(self._gains.sum())
        self._best = {0: Exchange(always, ((),)) if always > 0 else Exchange(0, ())}
        self._least = np.full(effort.max_literals + 1, self._best[0].gain + self._margin)
        """What a formula of each length must gain to be better than all of its length
        and shorter.
        """
        self._waiting: set[int] = set()
        self.expansions = 0

    def run(self) -> None:
        """Expand formulas, the shortest first, until none is left or the effort is spent."""
        if not len(self._gains) or not self._finder.slots:
            return
        self._expand(Exchange(0, ()))
        while self._waiting and self.expansions < self._effort.expansions:
            length = min(self._waiting)
            self._waiting.discard(length)
            self._expand(self._best[length])
            self.expansions += 1

    def formulas(self) -> Iterable[tuple[tuple[CodeTerm, ...], int]]:
        """Return the formulas of the frontier by length, with what they gain over the
        answer «no».
        """
        tidy: dict[int, tuple[int, tuple[CodeTerm, ...]]] = {}
        for found in self._best.values():
            terms, gain = tidied(found.terms, found.gain, self._gains_of, self._finder)
            length = sum(map(len, terms))
            if length not in tidy or gain > tidy[length][0]:
                tidy[length] = (gain, terms)
        most = -1
        for _, (gain, terms) in sorted(tidy.items()):
            if gain > most:
                most = gain
                yield terms, gain

    def _offer(self, terms: tuple[CodeTerm, ...], gain: int) -> None:
        """Put a formula on the frontier if it is better than all of its length and shorter."""
        length = sum(map(len, terms))
        effort = self._effort
        if not 0 < length <= effort.max_literals:
            return
        if effort.max_terms is not None and len(terms) > effort.max_terms:
            return
        if gain < self._least[length]:
            return
        self._best[length] = Exchange(gain, terms)
        self._least[length:] = np.maximum(self._least[length:], gain + self._margin)
        self._waiting.add(length)
        for n in [n for n, one in self._best.items() if n > length and one.gain <= gain]:
            del self._best[n]
            self._waiting.discard(n)

    def _expand(self, found: Exchange) -> None:
        terms = found.terms
        near = near_rows(terms, len(self._gains), self._truth)
        if sum(map(len, terms)) < self._effort.max_literals:
            for gain, term in new_terms(
                self._counted, self._codes, near.uncovered, self._finder, self._effort.beam
            ):
                self._offer((*terms, term), found.gain + gain)
        if not terms:
            return
        counts = self._counted.histograms(near.groups)
        for exchange in exchanges(terms, counts[:, 0] - counts[:, 1], self._finder):
            self._offer(exchange.terms, found.gain + exchange.gain)

    def _gains_of(self, terms: Sequence[CodeTerm]) -> Ints:
        near = near_rows(terms, len(self._gains), self._truth)
        counts = self._counted.histograms(near.groups)
        return np.asarray(counts[:, 0] - counts[:, 1])

    def _truth(self, condition: Condition) -> Words:
        found = self._truths.get(condition)
        if found is None:
            if len(self._truths) * max(8, len(self._gains) // 8) > _TRUTH_BYTES:
                self._truths.clear()
            found = pack(condition.accepts(self._codes[condition.column]))
            self._truths[condition] = found
        return found
