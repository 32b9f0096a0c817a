"""Conditions as people write them: an attribute, or its negation, spelled out with its column and value."""

from __future__ import annotations

from dnfscale.core.arrays import Scalar
from dnfscale.core.formula import quote
from dnfscale.core.quantities import Quantity
from dnfscale.core.vocabulary import Above, Attribute, IsMissing


def condition(attribute: Attribute, holds: bool) -> str:
    """Write that an attribute holds, or that it does not: `age > 38` and `age ≤ 38`, `smoker` and `not smoker`.

    The negation of a test also holds where the value is missing. Names and texts that are not plain words are quoted.
    """
    column = quote(attribute.column)
    if isinstance(attribute, IsMissing):
        return f"{column} is missing" if holds else f"{column} is not missing"
    if isinstance(attribute, Above):
        # Without a cut there was no value to compare with, and none is above it.
        cut = "nothing" if attribute.value is None else number_text(attribute.value)
        return f"{column} > {cut}" if holds else f"{column} ≤ {cut}"
    if attribute.value is True:
        return column if holds else f"not {column}"
    return f"{column} = {value_text(attribute.value)}" if holds else f"{column} ≠ {value_text(attribute.value)}"


def measured(column: str, value: Quantity) -> str:
    """Write that a column has a date, time, duration or decimal as its value."""
    return f"{quote(column)} = {value}"


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
