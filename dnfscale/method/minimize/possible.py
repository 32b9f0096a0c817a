"""Which types a row can have, and the smallest change that flips the formula's answer.

The attributes of one column depend on each other. A number above its higher cut is above its lower
one; a colour is at most one of red and blue; a value that is missing is neither above nor equal to
anything. So a type is a choice of one *state* per column. The states that some value can put a
column in are

- for cuts, including the ends of intervals: above none of them, above the lowest, and so on;
- for values to be equal to: each of them, and «some other value» unless they are true and false;
- if tau asks for it: missing. If it does not, «missing» is no state to change to, though a row may
  be in it.

For explanations, only the states that some row learned from was in are *possible*: the attributes
do not say whether there are colours besides red and blue, or numbers between two cuts, but the rows
do. A date and its parts are then one column and change together, because again only the rows show
which months lie before a cut. A type is possible if the state of every column is, even if no row
had this very combination. Where rows were counted by the lines that hold, nothing is known of their
columns, and every state that some value can put a column in is possible.

For writing formulas, what matters is what a row could be, not what was seen: it may be of a new
colour, and even if no row before the cut was in April, one of another year may be. There, a missing
value that tau does not ask for is a state like any other, in which no test of the column holds; and
which parts go with which dates is read off the calendar.

A *change* moves some columns to other possible states. The smallest is the one that changes the
fewest attributes; of several the one that touches the fewest columns; of several the one of the
best ranked attributes. It is found exactly, unless that takes too many steps; then the one that is
given may not be the smallest, and is marked so.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dnfscale.core.arrays import Bools, Ints, Scalar
from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.parts import ColumnName, Part, stored_column
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
from dnfscale.method.minimize.calendar import calendar_states

_BLOCK = 1 << 18
"""Types examined at once: two megabytes."""
_MOST_STEPS = 10_000
"""Changes that are examined in search of the smallest: at most about a second."""
_MOST_GUESSES = 100
"""Changes that are then made larger until they flip the answer."""


@dataclass(frozen=True, slots=True)
class ColumnStates:
    """The states that a column may be in, as truth values of its attributes."""

    column: ColumnName
    mask: int
    """Bit i is set when attribute i asks about this column."""
    states: tuple[int, ...]
    """Each a part of a type: no bit outside mask."""


def column_states(tau: Vocabulary) -> tuple[ColumnStates, ...]:
    """Return the columns that the attributes ask about, in rank order, and the states that some
    value can put each in.

    A part of a date is a column by itself.
    """
    attributes: dict[ColumnName, list[tuple[int, Attribute]]] = {}
    for i, attribute in enumerate(tau.attributes):
        attributes.setdefault(attribute.column, []).append((1 << i, attribute))
    return tuple(
        ColumnStates(column, sum(bit for bit, _ in own), tuple(sorted(_states(own))))
        for column, own in attributes.items()
    )


def row_states(tau: Vocabulary, *, unasked: bool = True) -> tuple[ColumnStates, ...]:
    """Return the columns that the attributes ask about, in rank order, and the states that some row
    can be in.

    A date is one column together with its parts. Missing values that tau does not ask for are a
    state only if `unasked`.
    """
    stored: dict[str, list[tuple[int, Attribute]]] = {}
    for i, attribute in enumerate(tau.attributes):
        stored.setdefault(stored_column(attribute.column), []).append((1 << i, attribute))
    found = []
    for name, own in stored.items():
        has_parts = any(isinstance(attribute.column, Part) for _, attribute in own)
        missing = sum(bit for bit, attribute in own if isinstance(attribute, IsMissing))
        states = calendar_states(own) if has_parts else _states(own)
        if missing or unasked:
            states |= {missing}
        found.append(ColumnStates(name, sum(bit for bit, _ in own), tuple(sorted(states))))
    return tuple(found)


def seen_states(tau: Vocabulary, counts: TypeCounts) -> tuple[ColumnStates, ...]:
    """Return the columns that the attributes ask about, in rank order, and the states that some row
    was in.

    A date is one column together with its parts. If no counted row was in a possible state of all
    of them, the counts do not show how they go together: each is then a column by itself, in any
    state that some value can put it in.
    """
    stored: dict[str, list[ColumnStates]] = {}
    for column in column_states(tau):
        stored.setdefault(stored_column(column.column), []).append(column)
    codes = counts.codes[counts.n > 0]
    found: list[ColumnStates] = []
    for name, columns in stored.items():
        mask = sum(column.mask for column in columns)
        states = np.unique(codes[are_possible(codes, columns)] & mask).tolist()
        found += [ColumnStates(name, mask, tuple(states))] if states else columns
    return tuple(found)


def n_possible(columns: Sequence[ColumnStates]) -> int:
    """Return how many types are possible."""
    return math.prod(len(column.states) for column in columns)


def are_possible(codes: Ints, columns: Sequence[ColumnStates]) -> Bools:
    """Return which types are possible."""
    possible = np.ones(len(codes), dtype=np.bool_)
    for column in columns:
        possible &= np.isin(codes & column.mask, column.states)
    return possible


def possible_types(columns: Sequence[ColumnStates]) -> Iterator[Ints]:
    """Yield all possible types, block by block."""
    block = np.zeros(1, dtype=np.int64)
    outer = []
    for column in columns:
        if len(block) * len(column.states) <= _BLOCK:
            block = (block[:, None] | np.array(column.states, dtype=np.int64)).ravel()
        else:
            outer.append(column.states)
    for states in itertools.product(*outer):
        yield block | sum(states)


class Change(NamedTuple):
    """A change that flips a formula's answer."""

    after: int | None
    """The type afterwards; None if no change flips the answer."""
    proven: bool
    """Whether no other change is known to be possibly smaller."""


def smallest_flip(dnf: Dnf, columns: Sequence[ColumnStates], code: int) -> Change:
    """Return the smallest change that flips the formula's answer for a type.

    A column that stays as it is may be in any state, even one that is not among the possible ones.
    """
    if any(code & term.care == term.value for term in dnf.terms):
        return _nearest_rejected(dnf, columns, code)
    found = [
        after for term in dnf.terms if (after := _nearest_accepted(term, columns, code)) is not None
    ]
    return Change(min(found, key=lambda after: _size(code ^ after, columns), default=None), True)


def telling_literals(
    tau: Vocabulary, code: int, columns: Collection[ColumnName] | None = None
) -> tuple[tuple[int, bool], ...]:
    """Return literals that describe the state of some columns, by default all, without those that
    others imply.

    For a column that equals a value or is missing, that literal says it all; for a number, the
    nearest cuts do; for one of some values, also which of them it is not.
    """
    own: dict[ColumnName, list[tuple[int, Attribute, bool]]] = {}
    for i, attribute in enumerate(tau.attributes):
        if columns is None or attribute.column in columns:
            own.setdefault(attribute.column, []).append((i, attribute, bool(code >> i & 1)))
    return tuple(sorted(literal for column in own.values() for literal in _telling(column)))


def _states(attributes: Sequence[tuple[int, Attribute]]) -> set[int]:
    """Return the states that some value can put a column in."""
    turned: dict[int | float | Fraction, int] = {}
    """For each cut, the attributes whose truth value flips when a number passes it."""
    values: dict[Scalar, int] = {}
    missing = 0
    for bit, attribute in attributes:
        if isinstance(attribute, IsMissing):
            missing |= bit
        elif isinstance(attribute, Equals | IsIn | IsTrue):
            for value in values_of(attribute):
                values[value] = values.get(value, 0) | bit
        else:
            for cut in _turns(attribute):
                turned[cut] = turned.get(cut, 0) ^ bit
    states = {
        0,
        *itertools.accumulate((turned[cut] for cut in sorted(turned)), int.__xor__),
        *values.values(),
    }
    if {True, False} <= {value for value in values if isinstance(value, bool)}:
        states.remove(0)
    return states | {missing} if missing else states


def _nearest_accepted(term: Term, columns: Sequence[ColumnStates], code: int) -> int | None:
    """Return the type after the smallest change that makes a term hold, or None; each column is
    changed by itself.
    """
    for column in columns:
        care = term.care & column.mask
        if (code ^ term.value) & care:
            fitting = [state for state in column.states if not (state ^ term.value) & care]
            if not fitting:
                return None
            before = code & column.mask
            code ^= before ^ min(fitting, key=lambda state: _size(state ^ before, (column,)))
    return code


def _nearest_rejected(dnf: Dnf, columns: Sequence[ColumnStates], code: int) -> Change:
    """Return the smallest change that makes every term fail, by a best-first search.

    While a term holds, every solution changes some column of it that has not been changed yet; so
    it is enough to branch there, and the first type found that satisfies no term is the nearest.
    """
    branches = _Branches(dnf, columns, code)
    queue = [(_size(0, columns), code)]
    met = {code}
    for _ in range(_MOST_STEPS):
        if not queue:
            return Change(None, True)
        _, now = heapq.heappop(queue)
        term = branches.holding(now)
        if term is None:
            return Change(now, True)
        for after in branches.after(now, term):
            if after not in met:
                met.add(after)
                heapq.heappush(queue, (_size(code ^ after, columns), after))
    guesses = (branches.enlarged(now) for _, now in heapq.nsmallest(_MOST_GUESSES, queue))
    found = [after for after in guesses if after is not None]
    return Change(min(found, key=lambda after: _size(code ^ after, columns), default=None), False)


class _Branches:
    """The ways to make the terms of a formula fail, one column at a time."""

    def __init__(self, dnf: Dnf, columns: Sequence[ColumnStates], code: int) -> None:
        self._terms, self._columns, self._code = dnf.terms, columns, code
        # The shortest term has the fewest branches.
        lengths = [term.care.bit_count() for term in dnf.terms]
        self._order = np.argsort(lengths, kind="stable")
        dtype = np.int64 if max(term.care.bit_length() for term in dnf.terms) < 63 else object
        self._care = np.array([dnf.terms[i].care for i in self._order], dtype=dtype)
        self._value = np.array([dnf.terms[i].value for i in self._order], dtype=dtype)

    def holding(self, now: int) -> Term | None:
        """Return the shortest term that holds, or None."""
        holds = (self._care & now) == self._value
        place = int(np.argmax(holds))
        return self._terms[self._order[place]] if holds[place] else None

    def after(self, now: int, term: Term) -> Iterator[int]:
        """Yield the types that follow when a column, yet unchanged, makes a term fail."""
        for column in self._columns:
            own = term.care & column.mask
            if own and not (now ^ self._code) & column.mask:
                for state in column.states:
                    if (state ^ term.value) & own:
                        yield now & ~column.mask | state

    def enlarged(self, now: int) -> int | None:
        """Return the type after a change that is made larger, as little as possible at a time,
        until no term holds; None if that fails.
        """
        while (term := self.holding(now)) is not None:
            found = list(self.after(now, term))
            if not found:
                return None
            now = min(found, key=lambda after: _size(self._code ^ after, self._columns))
        return now


def _size(changed: int, columns: Sequence[ColumnStates]) -> tuple[int, int, tuple[int, ...]]:
    """Return the key by which changes are compared: the number of attributes, then of columns, then
    the ranks.
    """
    touched = sum(changed & column.mask != 0 for column in columns)
    return (
        changed.bit_count(),
        touched,
        tuple(i for i in range(changed.bit_length()) if changed >> i & 1),
    )


def _telling(own: Sequence[tuple[int, Attribute, bool]]) -> list[tuple[int, bool]]:
    settled = [
        (i, True)
        for i, attribute, holds in own
        if holds and isinstance(attribute, Equals | IsTrue | IsMissing)
    ]
    if settled:
        return settled
    sets = [
        set(attribute.values)
        for _, attribute, holds in own
        if holds and isinstance(attribute, IsIn)
    ]
    if sets:
        left = set.intersection(*sets)
        return [
            (i, holds)
            for i, attribute, holds in own
            if isinstance(attribute, Equals | IsIn | IsTrue)
            and (holds or left & set(values_of(attribute)))
        ]
    low, high = _ends(own)
    told = {(end.attribute, end.holds): None for end in (low, high) if end is not None}
    for i, attribute, holds in own:
        if isinstance(attribute, Between) and not holds:
            ends = [_amount(cut) for cut in cuts_of(attribute)]
            # An interval that the number cannot lie in anyway says nothing.
            if ends and (low is None or ends[1] > low.cut) and (high is None or ends[0] < high.cut):
                told[i, False] = None
        elif not isinstance(attribute, Above | Between) and low is None:
            # A value above a cut cannot be missing, so there is nothing to say about it.
            told[i, False] = None
    return list(told)


class _End(NamedTuple):
    """An end of the range that a number lies in, and the literal that gives it."""

    cut: int | float | Fraction
    place: int
    """Breaks ties between literals that name the same cut: an interval goes first, because it names
    the other end too."""
    attribute: int
    holds: bool


def _ends(own: Sequence[tuple[int, Attribute, bool]]) -> tuple[_End | None, _End | None]:
    """Return the highest cut that a number is above, and the lowest that it is not above."""
    lower: list[_End] = []
    higher: list[_End] = []
    for i, attribute, holds in own:
        cuts = (
            [_amount(cut) for cut in cuts_of(attribute)]
            if isinstance(attribute, Above | Between)
            else []
        )
        if len(cuts) == 1:
            (lower if holds else higher).append(_End(cuts[0], 0, i, holds))
        elif cuts and holds:
            lower.append(_End(cuts[0], 1, i, True))
            higher.append(_End(cuts[1], -1, i, True))
    return max(lower, default=None), min(higher, default=None)


def _turns(attribute: Above | Between) -> list[int | float | Fraction]:
    """Return the finite cuts at which an attribute flips; none if they are out of order, so that it
    never holds.
    """
    cuts = [_amount(cut) for cut in cuts_of(attribute)]
    return [cut for cut in cuts if cut < math.inf] if cuts == sorted(cuts) else []


def _amount(cut: int | float | Quantity) -> int | float | Fraction:
    return cut.amount if isinstance(cut, Quantity) else cut
