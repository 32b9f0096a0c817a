"""Checks of single values: each returns the value as the job uses it, or says what the value must be."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dnfscale.core.arrays import is_whole

Check = Callable[[Any], Any]

_MOST_WORKER_BYTES = 1 << 50
_LONGEST_S = 366 * 86_400
_LEAST_WORKER_BYTES = 256 << 20
"""With less, Dask keeps pausing or restarting a worker before it has read anything."""


@dataclass(frozen=True, slots=True)
class Field:
    """A key of the spec: how its value is checked, and its default."""

    check: Check
    default: Any = None
    required: bool = False


def whole(low: int, high: int | None = None) -> Check:
    bounds = f"a whole number of at least {low}" if high is None else f"a whole number between {low} and {high}"

    def check(value: Any) -> int:
        if not is_whole(value, low, math.inf if high is None else high):
            raise ValueError(bounds)
        return int(value)

    return check


def one_of(*choices: str) -> Check:
    def check(value: Any) -> str:
        if value not in choices or not isinstance(value, str):
            near = difflib.get_close_matches(value, choices, n=1) if isinstance(value, str) else []
            raise ValueError(
                "one of " + ", ".join(map(repr, choices)) + (f" (did you mean {near[0]!r}?)" if near else "")
            )
        return value

    return check


def yes_no(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def text(value: Any) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError("a string that is not empty, without the character NUL")
    return value


def texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("a list of strings")
    return tuple(value)


def memory_bytes(value: Any) -> float:
    """Return an amount of memory in bytes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kKMGT]?)(i?)B", value) if isinstance(value, str) else None
    if match is None:
        raise ValueError('an amount of memory, such as "4GiB" or "700MiB"')
    power = ("", "k", "m", "g", "t").index(match[2].lower())
    return float(match[1]) * (1024.0 if match[3] else 1000.0) ** power


def memory(value: Any) -> str:
    n_bytes = memory_bytes(value)
    if n_bytes > _MOST_WORKER_BYTES:
        raise ValueError(f"at most {_MOST_WORKER_BYTES >> 50} PiB")
    if n_bytes < _LEAST_WORKER_BYTES:
        raise ValueError(f"at least {_LEAST_WORKER_BYTES >> 20} MiB, which a worker needs for its libraries alone")
    return str(value)


def real(value: Any) -> float:
    """Return a number as a float; anything else as nan, for which every comparison is false."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def seconds(value: Any) -> float:
    if not 0 < real(value) <= _LONGEST_S:
        raise ValueError("a number of seconds greater than 0, and no more than a year's")
    return float(value)
