"""Concepts out of what the columns of related tables hold, in an order of usefulness that no label
has a part in, so that the first of them can be taken.

A test of a related row compares a number with a quantile of all related rows, or asks for a value.
There are five layers: that there is a row, and how many; a row with one test; figures of numbers;
how many rows with one test; a row with two tests at once, and how many. Each has its share of the
concepts that are allowed; what a layer leaves goes to the next.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from dnfscale.core.concepts import MAY_LACK, OF_NUMBERS, Concept, Figure, Relation, RowTest, Sign
from dnfscale.core.vocabulary import distinct_names
from dnfscale.relations.look import ColumnLook

_ABOVE = (Fraction(3, 4), Fraction(9, 10), Fraction(1, 2))
_UP_TO = (Fraction(1, 4), Fraction(1, 10), Fraction(1, 2))
"""Where a number is cut, the most telling first."""
_MOST_CUTS = 6
"""A column with at most one value more is cut at each."""
_MOST_VALUES = 8
"""The most frequent texts are asked for."""
_MOST_PAIR_COST = 6
_SHARES = (Fraction(1), Fraction(3, 10), Fraction(2, 7), Fraction(1, 4), Fraction(1), Fraction(1))
"""The share of what is still allowed that each layer may take."""
_SUM_DIGITS, _DIGITS, _LEAST_DIGITS = 9, 12, -3
_MOST_SUMMED = 1e290
"""Totals of larger numbers may be infinite."""


@dataclass(frozen=True, slots=True)
class Described:
    """A related table, and what its columns hold."""

    relation: Relation
    windows: tuple[int, ...]
    looks: Mapping[str, ColumnLook]
    rows: int


@dataclass(frozen=True, slots=True)
class _Asked:
    """A test, and the place of the table's columns and tests that it comes from."""

    cost: int
    column: int
    test: RowTest


Draft = tuple[int, Concept]
"""A concept and its cost: the cheapest are taken first."""


def generated(
    tables: Sequence[Described], *, most: int, taken: Sequence[str], keep_missing: bool
) -> tuple[tuple[Concept, ...], int]:
    """Return at most so many concepts, and how many are left out; their columns have names that
    are not taken. Without missing values, there are no figures that a row may lack.
    """
    layers: list[list[Draft]] = [[] for _ in _SHARES]
    for table in tables:
        for number, drafts in enumerate(_layers(table, keep_missing=keep_missing)):
            layers[number] += drafts
    chosen: list[Concept] = []
    for share, layer in zip(_SHARES, layers, strict=True):
        allowed = -(-(most - len(chosen)) * share.numerator // share.denominator)
        # A stable sort: among equal costs the order of tables and columns stays.
        cheapest = sorted(layer, key=lambda draft: draft[0])[:allowed]
        chosen += [concept for _, concept in cheapest]
    left = [c for layer in layers for _, c in sorted(layer, key=lambda draft: draft[0])]
    known = set(chosen)
    chosen += [concept for concept in left if concept not in known][: most - len(chosen)]
    labels = [*taken, *(concept.label for concept in chosen)]
    names = distinct_names(labels, [*taken, *(f"{c.label}#" for c in chosen)])[len(taken) :]
    named = (replace(concept, name=name) for concept, name in zip(chosen, names, strict=True))
    return tuple(named), len(left) - len(chosen)


def _layers(table: Described, *, keep_missing: bool) -> Iterator[list[Draft]]:
    spans: list[int | None] = [None, *table.windows]
    tests = list(_tests(table))
    pairs = [
        (one.cost + other.cost, (one.test, other.test))
        for one, other in combinations(tests, 2)
        if one.column != other.column and one.cost + other.cost <= _MOST_PAIR_COST
    ]

    def rows(
        figures: Sequence[Figure], wheres: Sequence[tuple[int, tuple[RowTest, ...]]]
    ) -> list[Draft]:
        return [
            (cost + later, Concept("", table.relation, figure, where, days=days))
            for later, days in enumerate(spans)
            for cost, where in wheres
            for figure in figures
        ]

    single = [(asked.cost, (asked.test,)) for asked in tests]
    yield rows((Figure.SOME, Figure.COUNT), [(0, ())])
    yield rows((Figure.SOME,), single)
    yield [
        (later, _figure(table, figure, column, days))
        for later, days in enumerate(spans)
        for column, look in table.looks.items()
        if look.kind in ("whole", "number") and look.rows
        for figure in _figures(table.relation, keep_missing)
        if look.most <= _MOST_SUMMED or figure not in (Figure.SUM, Figure.MEAN)
    ]
    yield rows((Figure.COUNT,), single)
    yield rows((Figure.SOME,), pairs)
    yield rows((Figure.COUNT,), pairs)


def _figures(relation: Relation, keep_missing: bool) -> list[Figure]:
    return [
        figure
        for figure in Figure
        if figure in OF_NUMBERS
        and (keep_missing or figure not in MAY_LACK)
        and (figure is not Figure.LATEST or relation.time is not None)
    ]


def _figure(table: Described, figure: Figure, column: str, days: int | None) -> Concept:
    look = table.looks[column]
    digits = None
    exact = look.kind == "whole" and look.most * table.rows < float(1 << 62)
    if figure is Figure.MEAN or (figure is Figure.SUM and not exact):
        # Beyond some twelve digits, sums in another order differ.
        whole_digits = max(_LEAST_DIGITS, math.floor(math.log10(look.most)) + 1 if look.most else 1)
        known = _SUM_DIGITS - whole_digits if look.digits is None else look.digits
        room = _DIGITS - whole_digits
        digits = min(known + 6, room) if figure is Figure.MEAN else min(known, room)
    return Concept("", table.relation, figure, of=column, days=days, digits=digits)


def _tests(table: Described) -> Iterator[_Asked]:
    for place, (column, look) in enumerate(table.looks.items()):
        for cost, test in _tests_of(column, look):
            yield _Asked(cost, place, test)


def _tests_of(column: str, look: ColumnLook) -> Iterator[tuple[int, RowTest]]:
    """Yield the tests of a column, each with its cost."""
    if look.kind == "text":
        frequent = sorted(look.texts or (), key=lambda pair: (-pair[1], pair[0]))
        if len(frequent) > 1:
            for place, (text, _) in enumerate(frequent[:_MOST_VALUES]):
                yield place // 2, RowTest(column, Sign.IS, text)
        return
    if len(look.keys.keys) < 2:
        return
    if look.kind == "flag":
        yield 0, RowTest(column, Sign.IS, True)
        yield 1, RowTest(column, Sign.IS, False)
        return
    most = look.value(len(look.keys.keys) - 1)
    if len(look.keys.keys) <= _MOST_CUTS + 1:
        cuts = [look.value(place) for place in range(len(look.keys.keys) - 1)]
        above, up_to = list(reversed(cuts)), cuts
    else:
        above = list(dict.fromkeys(map(look.quantile, _ABOVE)))
        up_to = list(dict.fromkeys(map(look.quantile, _UP_TO)))
    for sign, found in ((Sign.ABOVE, above), (Sign.UP_TO, up_to)):
        for place, cut in enumerate(cut for cut in found if cut < most):
            yield place, RowTest(column, sign, cut)
