"""What the terms of a formula say about columns, in literals: the unit in which formulas are
measured.

Attributes divide the values of a column into *regions*: numbers at their cuts, categories into
those that are named and the others, and missing values where an attribute asks for them. What a
term says about a column is a set of regions, and the literals are the fewest conditions that
together allow just these: a one-sided cut, an interval, a value, a set of values, or the negation
of one.

A *line* is what people read: a term, or several that follow each other and differ in one column
only, such as those of two values that become a set. It says the same as its terms. A line may also
be a checklist, and terms that make one are read as one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from dnfscale.core.arrays import Ints, Scalar
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.parts import ColumnName, Part
from dnfscale.core.quantities import Quantity
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    Equals,
    IsIn,
    IsMissing,
    IsTrue,
    Vocabulary,
    cuts_of,
    values_of,
)
from dnfscale.method.checklists.recognise import recognised

Literal = tuple[int, bool]
"""An attribute, and whether it holds."""
CutValue = int | float | Quantity
NO_WORDS = 99
"""More literals than a term can have: that there are no words for something."""
_MOST_OPEN = 3
"""Lines of sets in so many columns are found among terms."""


@dataclass(frozen=True, slots=True)
class Range:
    """A column's number is above low, and not above high."""

    column: ColumnName
    low: CutValue | None
    """None if there is no lower end. Then, and only then, it also allows missing values."""
    high: CutValue | None
    """None if there is no higher end; one of the two is given."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A column's number is not in an interval: above low, and not above high."""

    column: ColumnName
    low: CutValue
    high: CutValue


@dataclass(frozen=True, slots=True)
class Among:
    """A column's category is one of some values, or it is none of them."""

    column: ColumnName
    values: tuple[Scalar, ...]
    holds: bool


@dataclass(frozen=True, slots=True)
class Missing:
    """A column has no value, or it has one."""

    column: ColumnName
    holds: bool


@dataclass(frozen=True, slots=True)
class Never:
    """An attribute that no row can have, because there was no row to take a cut of; or its
    negation.
    """

    column: ColumnName
    holds: bool


Said = Range | Gap | Among | Missing | Never
"""A literal: what is said about one column in one condition."""


@dataclass(frozen=True)
class Scale:
    """The regions of a column's values that some attributes tell apart; a set of them is an integer
    with a bit for each.
    """

    column: ColumnName
    cuts: tuple[CutValue, ...] | None
    """In increasing order; None for categories."""
    values: tuple[Scalar, ...]
    """The categories that are named."""
    asks_missing: bool
    """If not, missing values are in the region of those for which no test holds: the first of
    numbers, or that of other categories.
    """
    whole: bool = False
    least: int | None = None
    """Whether numbers are whole, and the least of them, as for Above."""

    @cached_property
    def _n_known(self) -> int:
        """How many regions there are besides that of missing values."""
        if self.cuts is not None:
            # Nothing is above infinity.
            return len(self.cuts) + (not self.cuts or _amount(self.cuts[-1]) != float("inf"))
        return len(self.values) + self._has_others

    @cached_property
    def _has_others(self) -> bool:
        """Whether a row may have none of the categories: not if they are true and false."""
        return not (self.asks_missing and {True, False} <= set(filter(_is_bool, self.values)))

    @property
    def n_regions(self) -> int:
        return self._n_known + self.asks_missing

    @property
    def in_order(self) -> list[int]:
        """The regions: that of missing values, that of other categories, and the rest in order."""
        named = self._n_known if self.cuts is not None else len(self.values)
        return [*reversed(range(named, self.n_regions)), *range(named)]

    @property
    def everything(self) -> int:
        return (1 << self.n_regions) - 1

    @property
    def _missing(self) -> int:
        return 1 << self._n_known if self.asks_missing else 0

    def regions(self, attribute: Attribute) -> int:
        """Return the regions in which an attribute of the column holds."""
        if isinstance(attribute, IsMissing):
            return self._missing
        if not isinstance(attribute, Above | Between):
            return sum(1 << self.values.index(value) for value in set(values_of(attribute)))
        ends = ends_of(attribute)
        if not ends or self.cuts is None:
            return 0
        above = [-1 << self.cuts.index(end) + 1 for end in ends]
        inside = above[0] & ~above[1] if len(above) == 2 else above[0]
        return inside & (1 << self._n_known) - 1

    def literals(self, regions: int) -> tuple[Said, ...] | None:
        """Return the fewest conditions that together allow some regions, but at least one; None if
        none do.
        """
        if not regions:
            return None
        if regions == self._missing:
            return (Missing(self.column, True),)
        return self._categories(regions) if self.cuts is None else self._numbers(regions)

    def _numbers(self, regions: int) -> tuple[Said, ...] | None:
        """Return the literals of numbers, and perhaps missing values: the holes at both ends are
        left out by a range, each of the others by a gap.
        """
        assert self.cuts is not None
        cuts: tuple[Any, ...] = (None, *self.cuts[: self._n_known - 1], None)
        here = [place for place in range(self._n_known) if regions >> place & 1]
        low, high = cuts[here[0]], cuts[here[-1] + 1]
        at_least = low
        if regions & self._missing and low is not None:
            return None
        said: list[Said] = []
        if low is not None or high is not None:
            said.append(self._only(low, high, True) or Range(self.column, low, high))
        for one, next_ in pairwise(here):
            if one + 1 < next_:
                low, high = cuts[one + 1], cuts[next_]
                said.append(self._only(low, high, False) or Gap(self.column, low, high))
        if self._missing and not regions & self._missing and at_least is None:
            said.append(Missing(self.column, False))
        return tuple(said)

    def lengths(self, regions: Ints) -> tuple[Ints, Ints]:
        """Return how many literals allow each of some sets of regions, and how many values these
        name; the former is NO_WORDS where none do.
        """
        n, missing = self._n_known, (regions & self._missing) != 0
        known = regions & (1 << n) - 1
        if self.cuts is not None:
            first, last = known & 1, known >> n - 1 & 1
            gaps = np.bitwise_count(known & ~(known << 1)).astype(np.int64) - 1
            literals = ((first & last) ^ 1) + gaps
            sizes = (first ^ 1) + (last ^ 1) + 2 * gaps
            unsaid = missing & (first == 0)
            lacks = (self._missing != 0) & ~missing & (first == 1)
        else:
            k = len(self.values)
            inside = np.bitwise_count(known & (1 << k) - 1).astype(np.int64)
            others = (known >> k & 1 != 0) if self._has_others else np.zeros(len(known), np.bool_)
            negated = others | missing
            sizes = np.where(negated, k - inside, inside)
            literals = np.minimum(sizes, 1)
            unsaid = missing & ~others & self._has_others
            lacks = (self._missing != 0) & ~missing & others
        alone = missing & (known == 0)
        literals = np.where(unsaid, NO_WORDS, literals + lacks)
        return np.where(alone, 1, literals), np.where(alone, 1, sizes + lacks)

    def _only(self, low: Any, high: Any, holds: bool) -> Among | None:
        """Return that a whole number is the only one of an interval, or is not; None if it has
        more.
        """
        if not self.whole or high is None or not isinstance(high, int):
            return None
        below = low
        if low is None and self.least is not None and not self.asks_missing:
            below = self.least - 1
        return Among(self.column, (high,), holds) if below == high - 1 else None

    def _categories(self, regions: int) -> tuple[Said, ...] | None:
        inside = [value for place, value in enumerate(self.values) if regions >> place & 1]
        outside = [value for place, value in enumerate(self.values) if not regions >> place & 1]
        others = self._has_others and bool(regions >> len(self.values) & 1)
        if regions & self._missing:
            if self._has_others and not others:
                return None
            return self._among(outside, False)
        known = Missing(self.column, False)
        if others:
            return (*self._among(outside, False), *([known] if self._missing else []))
        # All categories that there are: it is not missing.
        return (known,) if not outside and not self._has_others else self._among(inside, True)

    def _among(self, values: Iterable[Scalar], holds: bool) -> tuple[Said, ...]:
        found = tuple(sorted(values, key=self._order))
        return (Among(self.column, found, holds),) if found else ()

    def _order(self, value: Scalar) -> tuple[str, Any]:
        """Return the place of a value among others: that of a weekday or month is in the
        calendar.
        """
        if isinstance(self.column, Part) and isinstance(value, str):
            return "", self.column.place(value)
        kind = "text" if isinstance(value, str) else "number"
        return kind, value


@dataclass(frozen=True)
class Scales:
    """The scales of the columns that some attributes ask about, in rank order."""

    attributes: tuple[Attribute, ...]

    @cached_property
    def _found(self) -> tuple[tuple[Scale, ...], tuple[int, ...]]:
        """The scales, and which of them each attribute is on."""
        own: dict[ColumnName, list[Attribute]] = {}
        for attribute in self.attributes:
            own.setdefault(attribute.column, []).append(attribute)
        place = {column: at for at, column in enumerate(own)}
        return (
            tuple(_scale(column, asked) for column, asked in own.items()),
            tuple(place[attribute.column] for attribute in self.attributes),
        )

    @property
    def scales(self) -> tuple[Scale, ...]:
        return self._found[0]

    @property
    def of_attribute(self) -> tuple[int, ...]:
        """Which of the scales each attribute is on."""
        return self._found[1]

    @cached_property
    def regions(self) -> tuple[int, ...]:
        """The regions of its scale in which each attribute holds."""
        return tuple(
            self.scales[at].regions(attribute)
            for at, attribute in zip(self.of_attribute, self.attributes, strict=True)
        )

    def states(self, at: int) -> list[int]:
        """Return the truth values of its attributes in each region of a scale, as parts of
        types.
        """
        own = [i for i, scale in enumerate(self.of_attribute) if scale == at]
        return [
            sum(1 << i for i in own if self.regions[i] >> region & 1)
            for region in range(self.scales[at].n_regions)
        ]

    def failing(self, line: Line, code: int) -> tuple[Said, ...]:
        """Return what a line says about the first column that a type does not allow it of; nothing
        if it allows all.
        """
        for at, regions in line.allowed:
            own = (i for i, scale in enumerate(self.of_attribute) if scale == at)
            state = self.allowed((i, bool(code >> i & 1)) for i in own)[at]
            if not state & regions:
                column = self.scales[at].column
                return tuple(said for said in line.literals if said.column == column)
        return ()

    def allowed(self, literals: Iterable[Literal]) -> dict[int, int]:
        """Return the regions that literals allow together, by scale; in the order in which the
        scales come first.
        """
        found: dict[int, int] = {}
        for i, holds in literals:
            at = self.of_attribute[i]
            left = self.regions[i] if holds else ~self.regions[i]
            found[at] = found.get(at, self.scales[at].everything) & left
        return found

    def said(self, literals: Sequence[Literal]) -> tuple[Said, ...]:
        """Return what literals say together, in the fewest literals; of a column about which they
        say nothing or contradict each other, each as it is.
        """
        found: list[Said] = []
        for at, regions in self.allowed(literals).items():
            scale = self.scales[at]
            if regions not in (0, scale.everything):
                found += scale.literals(regions) or ()
            elif not regions:
                # What contradicts itself shows best as it is.
                own = [literal for literal in literals if self.of_attribute[literal[0]] == at]
                found += [said for i, holds in own for said in self.alone(i, holds)]
        return tuple(found)

    def alone(self, i: int, holds: bool) -> tuple[Said, ...]:
        """Return what an attribute, or its negation, says by itself."""
        attribute = self.attributes[i]
        scale = _scale(attribute.column, [attribute])
        regions = scale.regions(attribute)
        if isinstance(attribute, Above | Between) and not regions:
            match ends_of(attribute):
                case (low, high):
                    return ((Range if holds else Gap)(attribute.column, low, high),)
                case (end,) if holds:
                    return (Range(attribute.column, end, None),)
                case (end,):
                    return (Range(attribute.column, None, end),)
            return (Never(attribute.column, holds),)
        return scale.literals(regions if holds else scale.everything & ~regions) or ()


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a formula."""

    terms: tuple[int, ...]
    """The places of the terms that it stands for; unless it is a checklist, they follow each other,
    and a row satisfies at most one of them if they are several.
    """
    allowed: tuple[tuple[int, int], ...]
    """The scales that it restricts, and the regions that it allows of each; none of a checklist."""
    literals: tuple[Said, ...]
    at_least: int | None = None
    """How many literals of a checklist must hold."""
    asked: tuple[Literal, ...] = ()
    """The literals of a checklist as attributes; each is one of `literals`."""

    @property
    def is_always_true(self) -> bool:
        return not self.literals


def lines_of(tau: Vocabulary, dnf: Dnf) -> tuple[Line, ...]:
    """Return the lines of a formula: the fewest literals, then lines, that terms which follow each
    other can be joined to.
    """
    scales = Scales(tau.attributes)
    single = terms_as_lines(tau, dnf)
    best: list[tuple[int, int, tuple[Line, ...]]] = [(0, 0, ())]
    """For each number of terms, the literals and lines of the first so many, and these lines."""
    reached: dict[int, list[Line]] = {}
    for start in range(len(single)):
        for line in _joined_from(scales, single[start:]):
            reached.setdefault(line.terms[-1] + 1, []).append(line)
        found = [
            (best[line.terms[0]][0] + len(line.literals), best[line.terms[0]][1] + 1, line)
            for line in reached.pop(start + 1)
        ]
        literals, lines, last = min(found, key=lambda each: each[:2])
        best.append((literals, lines, (*best[last.terms[0]][2], last)))
    return best[-1][2]


def _joined_from(scales: Scales, lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines that the first of some lines becomes, joined with those that follow it."""
    stack: list[Line] = []
    for line in lines:
        stack.append(line)
        while len(stack) > 1 and (joined := _joined(scales, *stack[-2:])) is not None:
            stack[-2:] = [joined]
        if len(stack) > _MOST_OPEN:
            return
        if len(stack) == 1:
            yield stack[0]


def lines_read(tau: Vocabulary, dnf: Dnf, *, by_lines: bool = False) -> tuple[Line, ...]:
    """Return the lines of a formula as people read them: terms that make a checklist are read as
    one where that takes fewer literals. With by_lines, no other terms are joined.
    """
    joined = terms_as_lines if by_lines else lines_of
    plain, found = joined(tau, dnf), recognised(dnf)
    if len(found.terms) == len(dnf.terms):
        return plain
    shorter = tuple(
        replace(line, terms=tuple(place for at in line.terms for place in found.terms[at]))
        for line in joined(tau, found.dnf)
    )
    return shorter if n_literals(shorter) < n_literals(plain) else plain


def terms_as_lines(tau: Vocabulary, dnf: Dnf) -> tuple[Line, ...]:
    """Return each term of a formula as a line."""
    scales = Scales(tau.attributes)
    return tuple(_line(scales, place, term) for place, term in enumerate(dnf.terms))


def n_literals(lines: Iterable[Line]) -> int:
    """Return the length of a formula."""
    return sum(len(line.literals) for line in lines)


def n_candidates(tau: Vocabulary, *, checklists: bool = False) -> int:
    """Return how many lines there are over some attributes, as types tell them apart: 3**ell if
    each attribute has a column of its own. A checklist may ask for any number of a line's literals.
    """
    if checklists:
        return int(3 ** len(tau)) * max(1, len(tau))
    scales = Scales(tau.attributes)
    n_states = (len(set(scales.states(at))) for at in range(len(scales.scales)))
    return math.prod((1 << n) - 1 for n in n_states)


def _line(scales: Scales, place: int, term: Term) -> Line:
    if term.at_least is not None:
        said = tuple(said for literal in term.literals for said in scales.alone(*literal))
        return Line((place,), (), said, term.at_least, term.literals)
    allowed = scales.allowed(term.literals)
    telling = {at: own for at, own in allowed.items() if own != scales.scales[at].everything}
    return Line((place,), tuple(telling.items()), scales.said(term.literals))


def _joined(scales: Scales, one: Line, other: Line) -> Line | None:
    """Return two lines as one, if they differ in one column only and have no row in common; None if
    that is not possible, or longer.
    """
    left, right = dict(one.allowed), dict(other.allowed)
    if left.keys() != right.keys() or one.at_least or other.at_least:
        return None
    differing = [at for at in left if left[at] != right[at]]
    if len(differing) != 1 or 0 in left.values():
        return None
    [at] = differing
    if left[at] & right[at]:
        return None
    scale = scales.scales[at]
    left[at] |= right[at]
    if left[at] == scale.everything:
        del left[at]
    said: list[Said] = []
    for place, regions in left.items():
        literals = scales.scales[place].literals(regions)
        if literals is None:
            return None
        said += literals
    if len(said) > len(one.literals) + len(other.literals):
        return None
    return Line(one.terms + other.terms, tuple(left.items()), tuple(said))


def _scale(column: ColumnName, attributes: Sequence[Attribute]) -> Scale:
    numbers = [each for each in attributes if isinstance(each, Above | Between)]
    named = [
        value
        for each in attributes
        if isinstance(each, Equals | IsIn | IsTrue)
        for value in values_of(each)
    ]
    cuts = sorted({cut for each in numbers for cut in ends_of(each)}, key=_amount)
    return Scale(
        column,
        tuple(cuts) if numbers else None,
        tuple(dict.fromkeys(named)),
        any(isinstance(each, IsMissing) for each in attributes),
        whole=bool(numbers) and all(each.whole for each in numbers),
        least=next((each.least for each in numbers), None),
    )


def ends_of(attribute: Above | Between) -> tuple[CutValue, ...]:
    """Return the cuts of an attribute; of whole numbers those above 1.5 are those above 1."""
    return tuple(
        math.floor(cut)
        if attribute.whole and isinstance(cut, float) and math.isfinite(cut)
        else cut
        for cut in cuts_of(attribute)
    )


def _amount(cut: CutValue) -> Any:
    return cut.amount if isinstance(cut, Quantity) else cut


def _is_bool(value: Scalar) -> bool:
    return isinstance(value, bool)
