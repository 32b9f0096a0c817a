"""Checks of single values: each returns the value as it is used, or says what the value must be.

They take what TOML gives and what Python gives: numbers and arrays of NumPy too.
"""

from __future__ import annotations

import difflib
import math
import numbers
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dnfscale.spec.keys import Check
from dnfscale.spec.registry import Registry

_MOST_WORKER_BYTES = 1 << 50
_LONGEST_S = 366 * 86_400
_LEAST_WORKER_BYTES = 256 << 20
"""With less, Dask keeps pausing or restarting a worker before it has read anything."""
_MOST_DENOMINATOR = 1_000_000
"""Counts can be multiplied by such a fraction within 64 bits."""
MOST_CUTS = 63
"""The most quantile cuts of a column: they are then three percentiles apart."""


def listed(values: Sequence[Any]) -> str:
    """Write out values: the first ten, and how many more there are."""
    written = [repr(value) for value in values]
    return ", ".join(written[:10]) + (
        f" and {len(written) - 10:,} more" if len(written) > 10 else ""
    )


def whole(low: int, high: int | None = None) -> Check:
    bounds = f"of at least {low}" if high is None else f"between {low} and {high}"

    def check(value: Any) -> int:
        number = _whole_number(value)
        if number is None or number < low or (high is not None and number > high):
            raise ValueError(f"a whole number {bounds}")
        return number

    return check


def none_or(check: Check) -> Check:
    """Return the check of a value that Python may also leave out."""
    return lambda value: None if value is None else check(value)


def between(low: float, high: float) -> Check:
    def check(value: Any) -> float:
        if not low <= real(value) <= high:
            raise ValueError(f"a number between {low:g} and {high:g}")
        return float(value)

    return check


def real(value: Any) -> float:
    """Return a number as a float; anything else as nan, for which every comparison is false."""
    value = _alone(value)
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def above_0(value: Any) -> float:
    if not 0 < real(value) < math.inf:
        raise ValueError("a number above 0")
    return float(value)


def fraction_above_0(value: Any) -> Fraction:
    above_0(value)
    return _fraction(value)


def proper_fraction(value: Any) -> Fraction:
    """Return a number between 0 and 1 as the nearest fraction whose denominator is small enough to
    count with.
    """
    found = (
        _fraction(value).limit_denominator(_MOST_DENOMINATOR)
        if 0 < real(value) < 1
        else Fraction(0)
    )
    if not 0 < found < 1:
        raise ValueError("a number above 0 and below 1")
    return found


def some_above_0(value: Any) -> tuple[float, ...]:
    given = list(value) if is_list(value) else [value]
    try:
        found = tuple(above_0(number) for number in given)
    except ValueError:
        found = ()
    if not found or len(set(found)) < len(found):
        raise ValueError("a number above 0, or a list of different ones")
    return found


def seconds(value: Any) -> float:
    if not 0 < real(value) <= _LONGEST_S:
        raise ValueError("a number of seconds greater than 0, and no more than a year's")
    return float(value)


@dataclass(frozen=True, slots=True)
class OneOf:
    """The check of a name out of some."""

    choices: Collection[str]
    """They may be those of a registry, which is not asked before a value is."""

    def __call__(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.choices:
            raise ValueError(
                "one of " + ", ".join(map(repr, self.choices)) + _nearest(value, self.choices)
            )
        return value


def one_of(*choices: str) -> Check:
    return OneOf(choices)


def some_registered(registry: Registry[Any], what: str) -> Check:
    """Return the check of a list of different names out of a registry."""

    def check(value: Any) -> tuple[str, ...]:
        names = list(value) if is_list(value) else []
        known = all(isinstance(name, str) and name in registry for name in names)
        if not names or not known or len(set(names)) < len(names):
            raise ValueError(f"a list of different {what} out of " + ", ".join(map(repr, registry)))
        return tuple(map(str, names))

    return check


def some_of(*choices: str) -> Check:
    """Return the check of a list of different words out of some."""

    def check(value: Any) -> tuple[str, ...]:
        names = list(value) if is_list(value) else []
        known = all(isinstance(name, str) and name in choices for name in names)
        if not names or not known or len(set(names)) < len(names):
            raise ValueError("a list of one or more of " + ", ".join(map(repr, choices)))
        return tuple(map(str, names))

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
    found = list(value) if is_list(value) else [None]
    if not all(isinstance(item, str) for item in found):
        raise ValueError("a list of strings")
    return tuple(map(str, found))


def column(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("the name of a column")
    return value


def labels(value: Any) -> tuple[Any, ...]:
    found = list(value) if is_list(value) else [value]
    if not found or not all(isinstance(item, str | int | float | bool) for item in found):
        raise ValueError("a list of labels: strings, numbers or booleans")
    return tuple(found)


def words(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _MOST_WORDS:
        raise ValueError(f"a text of at most {_MOST_WORDS:,} characters")
    return value


def column_labels(value: Any) -> dict[str, Any]:
    """Return a dictionary of columns: what each is called, its unit, names of values, a note."""
    found = pairs(value)
    if not found:
        raise ValueError('a table of columns, such as {age = {title = "Age", unit = "years"}}')
    return {column: _column_label(column, label) for column, label in found.items()}


def _column_label(column: str, given: Any) -> dict[str, Any]:
    label = pairs(given)
    names = pairs(label.get("values", {}))
    others = {key: text for key, text in label.items() if key != "values"}
    texts = [*others.values(), *names.values()]
    known = {"title", "unit", "note"}
    if (
        not label
        or not others.keys() <= known
        or not all(isinstance(text, str) and len(text) <= _MOST_WORDS for text in texts)
        or ("values" in label and not names)
    ):
        raise ValueError(
            f"a table with title, unit, note (texts) and values (a table of texts) for {column!r}, "
            'such as {title = "Age", unit = "years"}'
        )
    return {**others, **({"values": names} if names else {})}


_MOST_WORDS = 2_000
"""Letters of a text that people read beside a formula."""


def job_name(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", value):
        raise ValueError(
            "a name of letters, digits, dots, hyphens and underscores, because the run's "
            "folder is called so"
        )
    return value


def cuts(*choices: str) -> Check:
    """Return the check of where numbers are cut: a name, or a number of quantiles."""

    def check(value: Any) -> str | int:
        if isinstance(value, str) and value in choices:
            return value
        try:
            return int(whole(1, MOST_CUTS)(value))
        except ValueError:
            known = ", ".join(map(repr, choices))
            raise ValueError(
                f"one of {known}, or a number of quantiles between 1 and {MOST_CUTS}"
            ) from None

    return check


def given_cuts(value: Any) -> tuple[tuple[str, tuple[int | float | str, ...]], ...]:
    """Return the cuts that a user gave, by column; dates and times are written in ISO 8601."""
    by_column = pairs(value)
    listed_cuts = all(is_list(own) and 0 < len(own) <= MOST_CUTS for own in by_column.values())
    if value is None or (not by_column and not _is_empty(value)) or not listed_cuts:
        raise ValueError(
            f"a table of columns and up to {MOST_CUTS} cuts each, such as {{age = [18, 65]}}"
        )
    if not all(_is_cut(cut) for own in by_column.values() for cut in list(own)):
        raise ValueError(
            "a table of columns and finite numbers, dates or times, such as {age = [18, 65]}"
        )
    return tuple((name, tuple(map(written_cut, list(own)))) for name, own in by_column.items())


def written_cut(value: Any) -> int | float | str:
    """Return a cut that a user gave as a number or a text."""
    if isinstance(value, int | float | str):
        return value
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    found = (
        value.item() if isinstance(value, numbers.Real) and hasattr(value, "item") else str(value)
    )
    return found if isinstance(found, int | float) else str(found)


def parts_of_times(known: Collection[str]) -> Check:
    """Return the check of parts of dates and times: of all columns that have them, or of some, by
    column.
    """

    def are_parts(given: Any) -> bool:
        return (
            is_list(given)
            and all(isinstance(part, str) and part in known for part in list(given))
            and len(set(given)) == len(given)
        )

    def check(value: Any) -> tuple[Any, ...]:
        if are_parts(value):
            return tuple(value)
        by_column = pairs(value)
        listed = [is_list(own) and len(own) > 0 for own in by_column.values()] if by_column else []
        if not listed or not all(listed) or not all(map(are_parts, by_column.values())):
            raise ValueError(
                f"a list out of {', '.join(map(repr, known))}, for all dates and times, or "
                "a table of columns and "
                'such lists, as in {admitted = ["weekday"]}'
            )
        return tuple((name, tuple(own)) for name, own in by_column.items())

    return check


def whole_or(word: str, low: int, high: int | None = None) -> Check:
    """Return the check of a whole number, or of one word in its place."""
    number = whole(low, high)

    def check(value: Any) -> int | str:
        if isinstance(value, str) and value == word:
            return word
        try:
            return int(number(value))
        except ValueError as error:
            raise ValueError(f'{error}, or "{word}"') from None

    return check


def memory_bytes(value: Any) -> float:
    """Return an amount of memory in bytes."""
    match = (
        re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kKMGT]?)(i?)B", value)
        if isinstance(value, str)
        else None
    )
    if match is None:
        raise ValueError('an amount of memory, such as "4GiB" or "700MiB"')
    power = ("", "k", "m", "g", "t").index(match[2].lower())
    return float(match[1]) * (1024.0 if match[3] else 1000.0) ** power


def memory(value: Any) -> str:
    n_bytes = memory_bytes(value)
    if n_bytes > _MOST_WORKER_BYTES:
        raise ValueError(f"at most {_MOST_WORKER_BYTES >> 50} PiB")
    if n_bytes < _LEAST_WORKER_BYTES:
        raise ValueError(
            f"at least {_LEAST_WORKER_BYTES >> 20} MiB, which a worker needs for its "
            "libraries alone"
        )
    return str(value)


def plain_word(what: str, pattern: str = r"[A-Za-z0-9_][A-Za-z0-9_.@:+/-]*") -> Check:
    """Return the check of a word that is safe in a script or on another host: no value is ever
    code.
    """

    def check(value: Any) -> str:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise ValueError(what)
        return value

    return check


def is_list(value: Any) -> bool:
    """Return whether a value is a list, another sequence that is no text, or an array of one
    dimension.
    """
    is_sequence = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return is_sequence or getattr(value, "ndim", None) == 1


def pairs(value: Any) -> dict[str, Any]:
    """Return a table by its keys, which may be written as pairs too; an empty one for anything
    else.
    """
    try:
        found = dict(value)
    except (TypeError, ValueError):
        return {}
    return found if all(isinstance(name, str) for name in found) else {}


def _is_empty(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str) and len(value) == 0


def _is_cut(cut: Any) -> bool:
    if isinstance(cut, numbers.Real):
        return abs(real(cut)) < math.inf
    return cut is not None and not isinstance(cut, Mapping) and not is_list(cut)


def _whole_number(value: Any) -> int | None:
    value = _alone(value)
    return (
        int(value) if isinstance(value, numbers.Integral) and not isinstance(value, bool) else None
    )


def _alone(value: Any) -> Any:
    """Return the number in an array without dimensions; anything else as it is."""
    return value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value


def _fraction(value: Any) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(str(value))


def _nearest(value: Any, choices: Collection[str]) -> str:
    near = difflib.get_close_matches(value, list(choices), n=1) if isinstance(value, str) else []
    return f" (did you mean {near[0]!r}?)" if near else ""
