"""A slow and obvious reading of model.json: attributes, counts and the written formula, in plain
Python.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

Row = Mapping[str, Any]

_TOKEN = re.compile(r'\s*(?:(?P<quoted>"(?:\\.|[^"\\])*")|(?P<mark>[()])|(?P<word>[^\s()"]+))')


def is_missing(value: Any) -> bool:
    """A null and a nan are missing; infinity is a number."""
    return value is None or value != value


def holds(attribute: Mapping[str, Any], row: Row) -> bool:
    """Whether an attribute of a model file is true of a row; whole numbers are compared as such,
    however large.
    """
    value, test, against = row[attribute["column"]], attribute["test"], attribute["value"]
    if is_missing(value):
        return bool(test == "missing")
    if test == "above":
        return against is not None and bool(value > _cut(against, attribute))
    if test == "between":
        return against is not None and bool(
            _cut(against[0], attribute) < value <= _cut(against[1], attribute)
        )
    if test == "in":
        return any(holds({**attribute, "test": "equals", "value": one}, row) for one in against)
    if test in ("equals", "true"):
        against = _label(against)
        return bool(value == against and isinstance(value, bool) == isinstance(against, bool))
    assert test == "missing"
    return False


def _cut(written: Any, attribute: Mapping[str, Any]) -> Any:
    if "measure" in attribute:
        return exact(written)
    return float(written) if isinstance(written, str) else written


def used(
    rows: Iterable[Row], columns: Sequence[str], target: str, *, keep_missing: bool
) -> list[Row]:
    """The rows that are learned from."""
    return [
        row
        for row in rows
        if not is_missing(row[target])
        and (keep_missing or not any(is_missing(row[name]) for name in columns))
    ]


def recount(rows: Iterable[Row], model: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The counts of a model file, made again from rows: types that occur, in the order of their
    codes.
    """
    table: dict[int, list[int]] = {}
    positive = [_label(label) for label in model["positive"]]
    for row in rows:
        code = sum(
            1 << i for i, attribute in enumerate(model["attributes"]) if holds(attribute, row)
        )
        cell = table.setdefault(code, [0, 0])
        cell[0] += 1
        cell[1] += row[model["target"]] in positive
    ell = len(model["attributes"])
    return [
        {"type": [bool(code >> i & 1) for i in range(ell)], "n": n, "c": c}
        for code, (n, c) in sorted(table.items())
    ]


def _label(written: Any) -> Any:
    """A label as it is in the rows: JSON has no infinity, and model files spell it as an object."""
    return float(written["float"]) if isinstance(written, dict) else written


def accepts(model: Mapping[str, Any], row: Row) -> bool:
    """Whether some term of a model file is true of a row."""
    truth = [holds(attribute, row) for attribute in model["attributes"]]
    return any(
        all(truth[literal["attribute"]] == literal["value"] for literal in term)
        for term in model["terms"]
    )


def says(formula: str, truth: Mapping[str, bool]) -> bool:
    """Evaluate a formula as it is written: or, and, not, parentheses, names plain or in double
    quotes.
    """
    tokens: list[tuple[str, str]] = []
    position = 0
    while position < len(formula.rstrip()):
        match = _TOKEN.match(formula, position)
        assert match is not None, f"cannot read {formula[position:]!r}"
        kind = str(match.lastgroup)
        tokens.append((kind, ast.literal_eval(match[kind]) if kind == "quoted" else match[kind]))
        position = match.end()
    value, rest = _either(tokens, truth)
    assert not rest, f"cannot read {rest!r} of {formula!r}"
    return value


def _either(
    tokens: list[tuple[str, str]], truth: Mapping[str, bool]
) -> tuple[bool, list[tuple[str, str]]]:
    value, rest = _both(tokens, truth)
    while rest[:1] == [("word", "or")]:
        other, rest = _both(rest[1:], truth)
        value = value or other
    return value, rest


def _both(
    tokens: list[tuple[str, str]], truth: Mapping[str, bool]
) -> tuple[bool, list[tuple[str, str]]]:
    value, rest = _one(tokens, truth)
    while rest[:1] == [("word", "and")]:
        other, rest = _one(rest[1:], truth)
        value = value and other
    return value, rest


def _one(
    tokens: list[tuple[str, str]], truth: Mapping[str, bool]
) -> tuple[bool, list[tuple[str, str]]]:
    (kind, text), rest = tokens[0], tokens[1:]
    if (kind, text) == ("word", "not"):
        value, rest = _one(rest, truth)
        return not value, rest
    if (kind, text) == ("mark", "("):
        value, rest = _either(rest, truth)
        assert rest[0] == ("mark", ")")
        return value, rest[1:]
    if kind == "word" and text in ("true", "false"):
        return text == "true", rest
    return truth[text], rest


def middle(values: Sequence[Any]) -> Fraction:
    """The median of whole numbers, exactly."""
    ordered = sorted(values)
    return Fraction(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2], 2)


_STEPS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_SPAN = re.compile(r"(-?)P(\d+)DT(\d+)H(\d+)M(\d+(?:\.\d+)?)S")


def exact(text: str) -> Fraction:
    """What a model file says of a date (in days), a time or duration (in seconds) or a decimal, as
    a fraction.
    """
    if span := _SPAN.fullmatch(text):
        sign, days, hours, minutes, seconds = span.groups()
        amount = 86400 * int(days) + 3600 * int(hours) + 60 * int(minutes) + Fraction(seconds)
        return -amount if sign else amount
    date, _, clock = text.removesuffix("Z").partition("T")
    if clock:
        return 86400 * exact(date) + exact(clock)
    if ":" in text:
        hours, minutes, seconds = text.removeprefix("-").split(":")
        amount = 3600 * int(hours) + 60 * int(minutes) + Fraction(seconds)
        return -amount if text.startswith("-") else amount
    if "-" in text[1:]:
        return Fraction(int(np.datetime64(text.removeprefix("+"), "D").astype(np.int64)))
    return Fraction(text)


def exact_rows(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table, with dates, times, durations and decimals as fractions of days, seconds
    and ones.
    """
    columns = {name: _exact_column(table.column(name)) for name in table.column_names}
    return [{name: values[i] for name, values in columns.items()} for i in range(table.num_rows)]


def _exact_column(column: pa.ChunkedArray) -> list[Any]:
    kind = column.type
    if pa.types.is_decimal(kind):
        return [None if value is None else Fraction(value) for value in column.to_pylist()]
    if not pa.types.is_temporal(kind):
        return list(column.to_pylist())
    numbers = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
    steps = 1 if pa.types.is_date(kind) else _STEPS[kind.unit]
    return [None if number is None else Fraction(number, steps) for number in numbers]
