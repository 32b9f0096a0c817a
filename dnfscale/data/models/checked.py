"""Values of parsed JSON, checked: each function returns what it was asked for, or says where
something else is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from dnfscale.core.arrays import Scalar
from dnfscale.errors import DataError

_BIGGEST = 1 << 64
"""Columns of whole numbers have at most 64 bits."""
_T = TypeVar("_T")


def entry(table: Mapping[str, Any], key: str, kind: type, expected: str, place: str = "") -> Any:
    """Return what an object holds under a key, which must be there."""
    path = f"{place}.{key}" if place else key
    if key not in table:
        raise DataError(f"{path} must be {expected}, but it is not there")
    return typed(table[key], kind, path, expected)


def typed(value: Any, kind: type, place: str, expected: str) -> Any:
    """Return a value of a kind."""
    if not isinstance(value, kind):
        raise DataError(f"{place} must be {expected}, got {short(value)}")
    return _unicode(value, place) if isinstance(value, str) else value


def listed(table: Mapping[str, Any], key: str, parse: Callable[[Any, str], _T]) -> list[_T]:
    """Return what the list under a key holds, each element parsed."""
    values = entry(table, key, list, "a list")
    return [parse(value, f"{key}[{i}]") for i, value in enumerate(values)]


def scalar(value: Any, place: str) -> Scalar:
    """Return a label or a category."""
    if isinstance(value, dict) and value in ({"float": "inf"}, {"float": "-inf"}):
        return float(value["float"])
    if not isinstance(value, bool | int | float | str):
        raise DataError(f"{place} must be a number, text, true or false, got {short(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise DataError(f"{place} must be a finite number, got {short(value)}")
    if isinstance(value, int) and abs(value) >= _BIGGEST:
        raise DataError(
            f"{place} must be a whole number of at most 64 bits, got one of {value.bit_length():,}"
        )
    return value if not isinstance(value, str) else _unicode(value, place)


def whole(value: Any, place: str) -> int:
    """Return a whole number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DataError(f"{place} must be a whole number of at least 0, got {short(value)}")
    return value


def choice(table: Mapping[str, Any], key: str, known: tuple[str, ...]) -> str:
    """Return one of the known words; the first where none is given."""
    value = table.get(key, known[0])
    if value not in known:
        raise DataError(f"{key} must be one of {', '.join(known)}, got {short(value)}")
    return str(value)


def short(value: object) -> str:
    """Return a value as a message shows it."""
    shown = (
        ascii(value)
        if isinstance(value, str) and re.search("[\ud800-\udfff]", value)
        else repr(value)
    )
    return shown[:60] + "…" if len(shown) > 60 else shown


def _unicode(text: str, place: str) -> str:
    """Return a text after checking that it can be written again: JSON can spell half a character,
    which cannot.
    """
    if re.search("[\ud800-\udfff]", text):
        raise DataError(
            f"{place} must be Unicode text, got half of a surrogate pair in {short(text)}"
        )
    return text
