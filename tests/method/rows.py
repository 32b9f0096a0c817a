"""Rows that can exist: a slow and obvious judge of what a formula says, and of what could be left
out of it.

A column takes a value between any two of the cuts asked about and at each of them, each category
and one that nobody asked about, every hour for more than a year before and after any cut, and none
at all.
"""

from __future__ import annotations

import datetime
import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dnfscale.core.arrays import Bools
from dnfscale.core.formula import Dnf
from dnfscale.core.parts import Part, Unit, stored_column
from dnfscale.core.quantities import Kind, Quantity
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    Equals,
    IsMissing,
    IsTrue,
    Vocabulary,
    cuts_of,
)
from dnfscale.method.literals import Among, Gap, Missing, Never, Range, Said, lines_of

ANOTHER = "a value that nobody asked about"
_START = datetime.datetime(2019, 2, 1)


class Rows:
    """Every row that can exist, as far as some attributes, and the cuts that they name, tell rows
    apart.
    """

    def __init__(self, tau: Vocabulary, whole: frozenset[str] = frozenset()) -> None:
        """`whole` are columns of whole numbers, besides those whose attributes say so."""
        self.tau = tau
        own: dict[str, list[Attribute]] = {}
        for attribute in tau.attributes:
            own.setdefault(stored_column(attribute.column), []).append(attribute)
        self._values = {
            name: _telling_values(asked, name in whole or any(map(_is_whole, asked)))
            for name, asked in own.items()
        }
        sizes = [len(values) for values in self._values.values()]
        self._places = dict(
            zip(self._values, np.indices(sizes).reshape(len(sizes), -1), strict=True)
        )
        self.n = int(np.prod(sizes))

    def hold(self, attribute: Attribute) -> Bools:
        """Return in which rows an attribute holds."""
        name = stored_column(attribute.column)
        holds = np.array([is_so(attribute, value) for value in self._values[name]], dtype=np.bool_)
        return holds[self._places[name]]

    def meet(self, said: Said) -> Bools:
        """Return which rows meet a condition."""
        name = stored_column(said.column)
        met = np.array([is_met(said, value) for value in self._values[name]], dtype=np.bool_)
        return met[self._places[name]]

    def types(self) -> np.ndarray[Any, Any]:
        """Return the type of each row."""
        codes = np.zeros(self.n, dtype=np.int64)
        for i, attribute in enumerate(self.tau.attributes):
            codes |= self.hold(attribute).astype(np.int64) << i
        return codes


def _is_whole(attribute: Attribute) -> bool:
    return isinstance(attribute, Above | Between) and attribute.whole


def is_so(attribute: Attribute, value: Any) -> bool:
    """Return whether an attribute holds for a value of its column, None if it is missing."""
    if isinstance(attribute, IsMissing):
        return value is None
    if value is None:
        return False
    if isinstance(attribute.column, Part):
        value = _part(value, attribute.column.unit)
    if isinstance(attribute, Equals | IsTrue):
        return bool(value == attribute.value)
    cuts = [_plain(cut) for cut in cuts_of(attribute)]
    if not cuts:
        return False
    return bool(cuts[0] < value and (len(cuts) == 1 or value <= cuts[1]))


def left_out(tau: Vocabulary, dnf: Dnf, rows: Rows) -> list[str]:
    """Return what can be left out of a formula, as people read it, without another answer for any
    row.

    That is a line, a condition of a line, an end of an interval, or a value of a set. Of a negated
    interval, leaving out an end leaves one side.
    """
    lines = [[_held(said, rows) for said in line.literals] for line in lines_of(tau, dnf)]
    accepted = [_all(rows, [whole for whole, _ in line]) for line in lines]
    answers = _any(rows, accepted)
    found = []
    for number, (line, own) in enumerate(zip(lines, accepted, strict=True)):
        rest = _any(rows, [other for at, other in enumerate(accepted) if at != number])
        if (rest == answers).all():
            found.append(f"line {number}")
        for place, (_, shorter) in enumerate(line):
            others = _all(rows, [whole for at, (whole, _) in enumerate(line) if at != place])
            for what, left in [("condition", np.ones(rows.n, dtype=np.bool_)), *shorter]:
                if ((rest | others & left) == answers).all():
                    found.append(f"{what} {place} of line {number}")
        assert (own <= answers).all()
    return found


def answers(tau: Vocabulary, dnf: Dnf, rows: Rows) -> Bools:
    """Return what a formula answers for each row."""
    hold = {i: rows.hold(attribute) for i, attribute in enumerate(tau.attributes)}
    return _any(
        rows, [_all(rows, [hold[i] == holds for i, holds in term.literals]) for term in dnf.terms]
    )


def _held(said: Said, rows: Rows) -> tuple[Bools, list[tuple[str, Bools]]]:
    """Return in which rows a condition holds, and in which it would without an end or a value."""
    shorter: list[tuple[str, Said]] = []
    match said:
        case Range(column, low, high) if low is not None and high is not None:
            shorter = [
                ("an end of condition", Range(column, low, None)),
                ("an end of condition", Range(column, None, high)),
            ]
        case Gap(column, low, high):
            shorter = [
                ("an end of condition", Range(column, None, low)),
                ("an end of condition", Range(column, high, None)),
            ]
        case Among(column, values, holds) if len(values) > 1:
            shorter = [
                ("a value of condition", Among(column, tuple(v for v in values if v != out), holds))
                for out in values
            ]
    return rows.meet(said), [(what, rows.meet(other)) for what, other in shorter]


def is_met(said: Said, value: Any) -> bool:
    """Return whether a value of its column, None if it is missing, meets a condition."""
    if isinstance(said, Missing):
        return (value is None) == said.holds
    if isinstance(said, Never):
        return not said.holds
    if value is not None and isinstance(said.column, Part):
        value = _part(value, said.column.unit)
    if isinstance(said, Among):
        return (value is not None and value in said.values) == said.holds
    if value is None:
        return isinstance(said, Gap) or said.low is None
    above = said.low is None or value > _plain(said.low)
    within = above and (said.high is None or value <= _plain(said.high))
    return within != isinstance(said, Gap)


def _all(rows: Rows, conditions: Iterable[Bools]) -> Bools:
    return functools.reduce(np.logical_and, conditions, np.ones(rows.n, dtype=np.bool_))


def _any(rows: Rows, terms: Iterable[Bools]) -> Bools:
    return functools.reduce(np.logical_or, terms, np.zeros(rows.n, dtype=np.bool_))


def _telling_values(asked: Sequence[Attribute], whole: bool) -> list[Any]:
    """Return values of a column, one for each way in which the attributes and the cuts in them turn
    out.
    """
    cuts = [
        cut
        for attribute in asked
        if isinstance(attribute, Above | Between)
        for cut in cuts_of(attribute)
    ]
    seen = {}
    single = [Above("", attribute.column, cut) for attribute in asked for cut in _cuts(attribute)]
    for value in (*_values(asked, cuts, whole), None):
        seen.setdefault(tuple(is_so(attribute, value) for attribute in (*asked, *single)), value)
    return list(seen.values())


def _cuts(attribute: Attribute) -> tuple[Any, ...]:
    return cuts_of(attribute) if isinstance(attribute, Above | Between) else ()


def _values(asked: Sequence[Attribute], cuts: Sequence[Any], whole: bool) -> list[Any]:
    if any(isinstance(attribute.column, Part) for attribute in asked) or any(
        isinstance(cut, Quantity) for cut in cuts
    ):
        second = datetime.timedelta(seconds=1)
        plain = [_plain(cut) for cut in cuts if isinstance(cut, Quantity)]
        return [*_hours(), *plain, *(cut + second for cut in plain)]
    if cuts:
        numbers = sorted({float(cut) for cut in cuts})
        between = [(low + high) / 2 for low, high in itertools.pairwise(numbers)]
        leasts = [each.least for each in asked if isinstance(each, Above | Between)]
        lowest = -np.inf if leasts[0] is None else float(leasts[0])
        found = [lowest, *(number for number in (*numbers, *between) if number > lowest), np.inf]
        return [*map(np.floor, found), *map(np.ceil, found)] if whole else found
    values = [attribute.value for attribute in asked if isinstance(attribute, Equals | IsTrue)]
    if values and all(isinstance(value, bool) for value in values):
        return [True, False]
    return [*values, ANOTHER]


@functools.cache
def _hours() -> list[datetime.datetime]:
    return [_START + datetime.timedelta(hours=hour) for hour in range(830 * 24)]


@functools.cache
def _part(moment: datetime.datetime, unit: Unit) -> Any:
    return (
        moment.hour
        if unit is Unit.HOUR
        else f"{moment:%A}"
        if unit is Unit.WEEKDAY
        else f"{moment:%B}"
    )


@functools.cache
def _plain(cut: Any) -> Any:
    if not isinstance(cut, Quantity):
        return cut
    assert cut.measure.kind is Kind.TIMESTAMP
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=float(cut.amount))
