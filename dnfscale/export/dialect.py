"""What an SQL dialect has to say: how an engine spells names, texts, numbers and comparisons, and
what several of them spell alike.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dnfscale.core.parts import Part
from dnfscale.core.quantities import Quantity

Value = int | float | str
_BIGGEST_WHOLE = 1 << 64
"""Columns of whole numbers have at most 64 bits."""


def cases(number: list[str], known: Mapping[int, str], others: list[str]) -> list[str]:
    cases = [f"  WHEN {key} THEN {value}" for key, value in known.items()]
    return ["CASE", *number, *cases, *(["ELSE", *others] if others else []), "END"]


def is_truth(column: str, truth: str, holds: bool) -> str:
    """Write that a column has a truth value, or that it has not."""
    return f"{column} {'IS' if holds else 'IS NOT'} {truth}"


@dataclass(frozen=True, slots=True)
class Dialect:
    """One engine's SQL."""

    title: str
    name: Callable[[str], str]
    """Quote the name of a column or table."""
    text: Callable[[str], str]
    number: Callable[[int | float], str]
    quantity: Callable[[Quantity], str]
    """Write a date, time, duration or decimal."""
    below_nan: Callable[[str], str] | None
    """Write that a number is not NaN; None if comparisons with NaN are false anyway."""
    is_nan: Callable[[str], str] | None
    """Write that the number in a column is NaN; None if the engine has no NaN."""
    any_is_nan: Callable[[str], str] | None
    """Write the same for a column that may hold numbers or anything else."""
    same_name: Callable[[str], str]
    """Map all names that the engine takes for equal to one of them."""
    part: Callable[[str, Part], str]
    """Write the number of the hour, weekday or month of a column, as the clock of its zone shows
    it.
    """
    place: Callable[[Part, str], int]
    """Return the number of a weekday or month."""
    double: str
    """The type of floating-point numbers."""
    looked_up: Callable[[list[str], Mapping[int, str], list[str]], list[str]] = cases
    """Write the value of a number, given its lines, among those known; others have the value of the
    last lines, or occur in no row."""
    sign: str = ""
    """What stands before a column that is compared with numbers, to refuse one of another type."""
    compared_by_like: Callable[[str], bool] = lambda _: False
    """Whether a column is compared with a text by LIKE."""
    nan_note: str | None = None
    """What the conditions about NaN are for; None if the engine has no NaN."""
    distinct: str = "IS DISTINCT FROM"
    """Between two values that differ, or of which one is missing."""
    is_truth: Callable[[str, str, bool], str] = is_truth
    """Write that a column has one of the truths, or has not; never NULL."""
    greatest: str = "GREATEST"
    """The function that returns the greatest of some numbers."""
    rounded: Callable[[str, int], str] | None = None
    """Round a number to decimal places; None where related tables are not written."""
    related: Mapping[str, str] = field(default_factory=dict)
    """What related tables are called in this query, as it is written there."""
    remainder: Callable[[str, int], str] = lambda number, divisor: f"{number} % {divisor}"
    truths: tuple[str, str] = ("FALSE", "TRUE")
    """False and true as values by themselves."""

    def same(self, column: str, value: Value) -> str:
        """Write that a column has a value; NULL where it is missing."""
        if isinstance(value, str) and self.compared_by_like(value):
            return f"{column} LIKE {self.text(value)}"
        return f"{self._compared(column, value)} = {self._literal(value)}"

    def differs(self, column: str, value: Value) -> str:
        """Write that a column has another value or none; never NULL."""
        if isinstance(value, str) and self.compared_by_like(value):
            return f"({column} NOT LIKE {self.text(value)} OR {column} IS NULL)"
        return f"{self._compared(column, value)} {self.distinct} {self._literal(value)}"

    def _compared(self, column: str, value: Value) -> str:
        return column if isinstance(value, str) else f"{self.sign}{column}"

    def _literal(self, value: Value) -> str:
        return self.text(value) if isinstance(value, str) else self.number(value)


def written_number(
    value: int | float, *, infinite: Callable[[str], str], finite: Callable[[float], str] = repr
) -> str:
    """Write a number; `infinite` writes infinity with a sign before it."""
    whole = exact_number(value)
    if whole is not None:
        return whole
    return infinite("" if value > 0 else "-") if math.isinf(value) else finite(value)


def exact_number(value: int | float) -> str | None:
    """Write a number as a whole one if it could stand in a column of whole numbers; else return
    None.

    Beyond 2**53 a whole number must not be compared as a float. A float that is whole is the same
    number either way.
    """
    if isinstance(value, float) and (not value.is_integer() or abs(value) >= _BIGGEST_WHOLE):
        return None
    return str(int(value))


def quoted_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def standard_text(value: str, escaped: str) -> str:
    """Quote a text; with E'' and backslashes if it contains a character that `escaped` matches."""
    doubled = value.replace("'", "''")
    if not re.search(escaped, value):
        return f"'{doubled}'"
    named = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    spelled = (
        named.get(c) or (f"\\x{ord(c):02x}" if c < " " or c == "\x7f" else c) for c in doubled
    )
    return "E'" + "".join(spelled) + "'"


def castable(value: str) -> bool:
    """Return whether a text could be cast to a number, a date or a truth value: '=' would do so,
    LIKE does not.
    """
    word = value.strip().lstrip("+-.").lower()
    looks_so = word[:1].isdigit() or word in (
        "t",
        "f",
        "y",
        "n",
        "true",
        "false",
        "yes",
        "no",
        "on",
        "off",
        "nan",
    )
    return (looks_so or word.startswith("inf")) and not re.search(r"[%_\\]", value)


def backslashed(value: str, delimiter: str) -> str:
    """Quote a text or a name by backslashes, on one line."""
    named = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", delimiter: f"\\{delimiter}"}
    spelled = []
    for c in value:
        if c in named:
            spelled.append(named[c])
        elif c.isprintable():
            spelled.append(c)
        else:
            spelled.append(f"\\u{ord(c):04x}" if ord(c) < 1 << 16 else f"\\U{ord(c):08x}")
    return delimiter + "".join(spelled) + delimiter
