"""Leaves out of a formula whatever can be left out without a cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dnfscale.core.arrays import Ints
from dnfscale.method.terms.codes import CodeColumn, CodeTerm, Condition, above, one_of
from dnfscale.method.terms.conditions import Finder
from dnfscale.method.terms.exchanges import Exchange, group_starts

Gains = Callable[[Sequence[CodeTerm]], Ints]
"""What a «yes» gains for the rows near a formula, gains[group, bin]."""


def tidied(found: Exchange, gains_near: Gains, finder: Finder) -> Exchange:
    """Return the formula without what it can do without, and what it gains then: as much or
    more."""
    while found.terms:
        simpler = _simpler_formula(found.terms, gains_near(found.terms), finder)
        if simpler is None:
            break
        found = Exchange(found.gain + simpler.gain, simpler.terms)
    return found


def _simpler_formula(terms: tuple[CodeTerm, ...], gains: Ints, finder: Finder) -> Exchange | None:
    """Return the first simpler formula that gains as much, and how much more it gains."""
    n_own = int(finder.layout.starts[1])
    totals = gains[:, :n_own].sum(axis=1).tolist()
    starts = group_starts(terms)
    for j, start in enumerate(starts):
        if totals[start] <= 0:
            return Exchange(-totals[start], (*terms[:j], *terms[j + 1 :]))
    for j, (start, term) in enumerate(zip(starts, terms, strict=True)):
        for i in range(len(term)):
            more = totals[start + 1 + i]
            if more >= 0:
                return Exchange(more, _with(terms, j, (*term[:i], *term[i + 1 :])))
    for j, (start, term) in enumerate(zip(starts, terms, strict=True)):
        for i, condition in enumerate(term):
            first = int(finder.layout.starts[condition.column])
            column = finder.layout.columns[condition.column]
            by_code = (gains[start] + gains[start + 1 + i])[first : first + column.n_codes]
            now = _gain(condition, by_code)
            for simpler in _simpler(condition, column):
                more = _gain(simpler, by_code) - now
                if more >= 0:
                    return Exchange(more, _with(terms, j, (*term[:i], simpler, *term[i + 1 :])))
    return None


def _with(terms: tuple[CodeTerm, ...], j: int, term: CodeTerm) -> tuple[CodeTerm, ...]:
    return (*terms[:j], term, *terms[j + 1 :])


def _gain(condition: Condition, by_code: Ints) -> int:
    inside = int(by_code[list(condition.values())].sum())
    return inside if condition.holds else int(by_code.sum()) - inside


def _simpler(condition: Condition, column: CodeColumn) -> Iterator[Condition]:
    """Yield the same condition with an end of its interval, or a value of its set, left out."""
    c, holds = condition.column, condition.holds
    match condition.test(column):
        case "between":
            [(first, last)] = condition.runs
            # What lies above the upper end, or not above it, is the interval without its lower end.
            yield above(c, first - 1, column.size, holds=holds)
            yield above(c, last, column.size, holds=not holds)
        case "in":
            values = condition.values()
            for value in values:
                yield one_of(c, [other for other in values if other != value], holds=holds)
