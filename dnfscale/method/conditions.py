"""Conditions as people write them: an attribute, or its negation, spelled out with its column and value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dnfscale.core.arrays import Scalar
from dnfscale.core.formula import quote
from dnfscale.core.parts import ColumnName, Part
from dnfscale.core.quantities import Quantity
from dnfscale.core.vocabulary import Above, Attribute, IsMissing

Literal = tuple[int, bool]
"""An attribute, and whether it holds."""
PlacedCut = tuple[ColumnName, int | float | Quantity]
"""A column and a value that it is cut at."""


def conditions(attributes: Sequence[Attribute], literals: Iterable[Literal]) -> list[str]:
    """Write some literals that hold together; two cuts of a column become one interval: `12.5 < bmi ≤ 30`."""
    written = []
    for group in grouped(placed_cuts(attributes), literals):
        if len(group) == 1:
            written.append(condition(attributes[group[0][0]], group[0][1]))
            continue
        low, high = (attributes[i] for i, _ in group)
        assert isinstance(low, Above)
        assert isinstance(high, Above)
        assert low.value is not None
        assert high.value is not None
        written.append(f"{number_text(low.value)} < {column_text(low.column)} ≤ {number_text(high.value)}")
    return written


def placed_cuts(attributes: Sequence[Attribute]) -> list[PlacedCut | None]:
    """Return the column and the value of the attributes that are cuts."""
    return [
        (attribute.column, attribute.value) if isinstance(attribute, Above) and attribute.value is not None else None
        for attribute in attributes
    ]


def grouped(cuts: Sequence[PlacedCut | None], literals: Iterable[Literal]) -> list[tuple[Literal, ...]]:
    """Return literals that hold together as they are best written: alone, or the two ends of an interval, lower first.

    Cuts of a column that follow from another one are left out; what is left stands where its column came first.
    """
    groups: dict[object, list[Literal]] = {}
    for i, holds in literals:
        cut = cuts[i]
        groups.setdefault(i if cut is None else cut[0], []).append((i, holds))
    found: list[tuple[Literal, ...]] = []
    for group in groups.values():
        # The values of one column are all numbers, or all of one measure.
        lower: list[tuple[Any, int]] = [(cut[1], i) for i, holds in group if (cut := cuts[i]) is not None and holds]
        upper: list[tuple[Any, int]] = [(cut[1], i) for i, holds in group if (cut := cuts[i]) is not None and not holds]
        ends = [(max(lower)[1], True)] if lower else []
        ends += [(min(upper)[1], False)] if upper else []
        found.append(tuple(ends) if ends else tuple(group))
    return found


def condition(attribute: Attribute, holds: bool) -> str:
    """Write that an attribute holds, or that it does not: `age > 38` and `age ≤ 38`, `smoker` and `not smoker`.

    The negation of a test also holds where the value is missing. Names and texts that are not plain words are quoted.
    """
    column = column_text(attribute.column)
    if isinstance(attribute, IsMissing):
        return f"{column} is missing" if holds else f"{column} is not missing"
    if isinstance(attribute, Above):
        # Without a cut there was no value to compare with, and none is above it.
        cut = "nothing" if attribute.value is None else number_text(attribute.value)
        return f"{column} > {cut}" if holds else f"{column} ≤ {cut}"
    if attribute.value is True:
        return column if holds else f"not {column}"
    return f"{column} = {value_text(attribute.value)}" if holds else f"{column} ≠ {value_text(attribute.value)}"


def measured(column: ColumnName, value: Quantity) -> str:
    """Write that a column has a date, time, duration or decimal as its value."""
    return f"{column_text(column)} = {value}"


def column_text(column: ColumnName) -> str:
    """Write a column: `bmi`, `weekday of admitted`, or `hour of admitted (UTC)`, as the clock of that zone shows it."""
    if not isinstance(column, Part):
        return quote(column)
    return f"{column.unit} of {quote(column.of)}" + zone_text(column.zone)


def zone_text(zone: str | None) -> str:
    """Write the zone of a clock, if it is known, after what it shows."""
    return "" if zone is None else f" ({zone})"


def value_text(value: Scalar) -> str:
    """Write a label or category; a text that could be taken for something else is in double quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return quote(value) if isinstance(value, str) else number_text(value)


def number_text(value: int | float | Quantity) -> str:
    """Write a number so that it reads back as the same one, without a fraction where it has none."""
    if isinstance(value, Quantity):
        return str(value)
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e16
    return str(int(value)) if whole else repr(value)


def holds_where_missing(attribute: Attribute, holds: bool) -> bool:
    """Say whether an attribute, or its negation, holds in a row where the value of its column is missing."""
    return holds == isinstance(attribute, IsMissing)
