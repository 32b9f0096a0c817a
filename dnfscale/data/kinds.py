"""What the cells of a column of text are: its kind, how Arrow reads it, and the next wider kind.

A kind is the name of an Arrow type, or one of three that Arrow does not read by itself: dates as
people write them (`07.11.2019`), the same with a time of day, and numbers as people write them,
with marks between the thousands, in parentheses where they are negative, or all with one unit
(`number of €`). Those are read as codes of texts, and each distinct text is turned into a value.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

LOCAL_DATE, LOCAL_TIME, _NUMBER = "date", "date and time", "number"
_CODES = pa.dictionary(pa.int32(), pa.string())
_NUMBERS = (pa.null(), pa.int64(), pa.float64())
_MOMENTS = (
    pa.date32(),
    pa.timestamp("s"),
    pa.timestamp("ns"),
    pa.timestamp("s", "UTC"),
    pa.timestamp("ns", "UTC"),
    pa.time32("s"),
    pa.string(),
)
"""In this order they are tried. Any text may begin like a date, so a column that is not all of one
kind is text.
"""
_READ_AS: Mapping[str, pa.DataType] = {
    **{str(kind): kind for kind in (*_NUMBERS, *_MOMENTS, pa.bool_())},
    **dict.fromkeys((LOCAL_DATE, LOCAL_TIME), _CODES),
}
_STORED_AS: Mapping[str, pa.DataType] = {
    LOCAL_DATE: pa.date32(),
    LOCAL_TIME: pa.timestamp("s"),
}
_CHAINS = (tuple(map(str, _NUMBERS)), tuple(map(str, _MOMENTS)), (LOCAL_DATE, LOCAL_TIME, "string"))
_FREE_CHAIN = (*_CHAINS[0], *_CHAINS[1])
"""What a column may become of which the look saw no value."""

_TIME = r"(?:[ T,]+([0-9]{1,2}:[0-9:.]+(?: ?[AaPp]\.?[Mm]\.?)?))?$"
DAY_FIRST = rf"^([0-9]{{1,2}})([./-]) ?([0-9]{{1,2}})([./-]) ?([0-9]{{4}}){_TIME}"
"""A date as most people write it; month first, the first two change places."""
YEAR_FIRST = rf"^([0-9]{{4}})[./]([0-9]{{1,2}})[./]([0-9]{{1,2}}){_TIME}"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH_NAMED = rf"(?i)^([0-9]{{1,2}})[ -]({'|'.join(_MONTHS)})[ -]([0-9]{{4}}){_TIME}"
_AFTERNOON = r"(?i)p\.?m\.?$"
_HALF_OF_DAY = r"(?i) ?[ap]\.?m\.?$"
_MARKS = " '’\u00a0\u202f"
"""What may stand between thousands, besides the point or the comma that is not the decimal sign."""


_UNITS = (
    *("%", "‰", "$", "€", "£", "¥", "₹", "₺", "₽", "₩", "R$", "US$", "kr", "zł", "Kč", "Ft"),
    *("USD", "EUR", "GBP", "CHF", "SEK", "NOK", "DKK", "JPY", "PLN", "CZK", "HUF", "INR", "BRL"),
    *("AUD", "CAD", "CNY", "MXN", "ZAR", "TRY", "RUB", "Fr."),
)
_UNIT = "|".join(map(re.escape, sorted(_UNITS, key=len, reverse=True)))
_MINUS = "\u2212"
_GAP = "[ \u00a0\u202f]?"
_FIGURES = "[0-9][0-9., '’\u00a0\u202f]*"
_WITH_UNIT = re.compile(
    rf"[(+{_MINUS}-]?(?:({_UNIT}){_GAP}[+{_MINUS}-]?{_FIGURES}|{_FIGURES}?{_GAP}({_UNIT}))\)?"
)


def read_as(kind: str) -> pa.DataType:
    """Return the type that Arrow is asked for."""
    return _CODES if is_number(kind) else _READ_AS[kind]


def stored_as(kind: str) -> pa.DataType:
    """Return the type of the column once it is read."""
    return pa.float64() if is_number(kind) else _STORED_AS.get(kind) or _READ_AS[kind]


def is_spelled(kind: str) -> bool:
    """Say whether a kind is one that Arrow does not read by itself."""
    return kind in _STORED_AS or is_number(kind)


def is_number(kind: str) -> bool:
    """Say whether a kind is that of numbers as people write them."""
    return kind == _NUMBER or kind.startswith(f"{_NUMBER} of ")


def number_kind(unit: str) -> str:
    """Return the kind of numbers that all have a unit, or none if it is empty."""
    return f"{_NUMBER} of {unit}" if unit else _NUMBER


def unit_of(kind: str) -> str:
    """Return the unit of a kind of numbers; empty if it has none."""
    return kind.removeprefix(_NUMBER).removeprefix(" of ") if is_number(kind) else ""


def wider(kind: str, *, free: bool) -> str | None:
    """Return the next kind that holds all values of one and more, if there is one."""
    for chain in (_FREE_CHAIN,) if free else _CHAINS:
        for one, other in itertools.pairwise(chain):
            if kind == one:
                return other
    return None


def widest(one: str, other: str) -> str:
    """Return the wider of two kinds that a column was found to have in two blocks."""
    if one == other or "null" in (one, other):
        return other if one == "null" else one
    for chain in (*_CHAINS, _FREE_CHAIN):
        if one in chain and other in chain:
            return max(one, other, key=chain.index)
    return "string"


def values_of(codes: pa.DictionaryArray, kind: str, *, month_first: bool, decimal: str) -> pa.Array:
    """Return the values that texts spell; a text that spells none is an error of Arrow."""
    distinct = pc.utf8_trim_whitespace(codes.dictionary.cast(pa.string()))
    if is_number(kind):
        values = _grouped(_bare(distinct, unit_of(kind)), decimal)
    else:
        values = _moments(distinct, month_first).cast(stored_as(kind))
    return pc.take(values, codes.indices)


def spelled_unit(text: str) -> str | None:
    """Return the unit of a number; None if the text is no number with a unit."""
    match = _WITH_UNIT.fullmatch(text)
    return None if match is None else match[1] or match[2]


def spelled_plainly(text: str, unit: str) -> str:
    """Return how a number is written without its unit, and with a sign if it is negative."""
    for pattern, plain in _plainly(unit):
        text = re.sub(pattern, plain, text)
    return text


def _bare(texts: pa.Array, unit: str) -> pa.Array:
    """Return numbers as `spelled_plainly` does; one without the unit is an error."""
    if unit:
        odd = texts.filter(pc.invert(pc.match_substring(texts, unit)))
        if len(odd):
            raise pa.ArrowInvalid(f"{odd[0].as_py()!r}")
    for pattern, plain in _plainly(unit):
        texts = pc.replace_substring_regex(texts, pattern, plain)
    return texts


def _plainly(unit: str) -> list[tuple[str, str]]:
    """Return what is replaced by what in numbers that people write."""
    sign = re.escape(unit)
    units = [
        (rf"^([(+{_MINUS}-]?){sign}{_GAP}", r"\1"),
        (rf"{_GAP}{sign}(\)?)$", r"\1"),
    ]
    negative = [
        (rf"^\(({_FIGURES})\)$", r"-\1"),
        (rf"^({_FIGURES}[.,][0-9]+)-$", r"-\1"),
        (f"^{_MINUS}", "-"),
    ]
    return [*(units if unit else ()), *negative]


def grouped_pattern(decimal: str) -> str:
    """Return what a number with marks between its thousands looks like."""
    return rf"[+-]?[1-9][0-9]{{0,2}}([{_marks(decimal)}][0-9]{{3}})+({re.escape(decimal)}[0-9]+)?"


def _marks(decimal: str) -> str:
    return _MARKS + ("," if decimal == "." else ".")


def _grouped(distinct: pa.Array, decimal: str) -> pa.Array:
    """Return numbers; a mark elsewhere than before three digits is an error."""
    marked = pc.match_substring_regex(distinct, f"^{grouped_pattern(decimal)}$")
    if decimal == ",":
        odd = distinct.filter(pc.and_(pc.match_substring(distinct, "."), pc.invert(marked)))
        if len(odd):
            raise pa.ArrowInvalid(f"{odd[0].as_py()!r}")
    bare = pc.replace_substring_regex(distinct, f"[{_marks(decimal)}]", "")
    plain = pc.if_else(marked, bare, distinct)
    return pc.replace_substring(plain, decimal, ".").cast(pa.float64())


def _moments(texts: pa.Array, month_first: bool) -> pa.Array:
    """Write dates as ISO 8601 does, which Arrow reads strictly: no 31st of February."""
    spelled = pc.replace_substring_regex(
        texts, DAY_FIRST, r"\5-\1-\3 \6" if month_first else r"\5-\3-\1 \6"
    )
    spelled = pc.replace_substring_regex(spelled, YEAR_FIRST, r"\1-\2-\3 \4")
    if pc.any(pc.match_substring_regex(texts, MONTH_NAMED)).as_py():
        spelled = pc.replace_substring_regex(spelled, MONTH_NAMED, r"\3-\2-\1 \4")
        for number, name in enumerate(_MONTHS, 1):
            spelled = pc.replace_substring_regex(spelled, f"(?i)-{name}-", f"-{number:02d}-")
    padded = pc.replace_substring_regex(spelled, r"-([0-9])\b", r"-0\1")
    padded = pc.replace_substring_regex(padded, r"-([0-9])\b", r"-0\1")
    padded = pc.replace_substring_regex(padded, r" ([0-9]):", r" 0\1:")
    halved = pc.match_substring_regex(padded, _HALF_OF_DAY)
    if not pc.any(halved).as_py():
        return pc.utf8_trim_whitespace(padded)
    clock = pc.utf8_trim_whitespace(pc.replace_substring_regex(padded, _HALF_OF_DAY, ""))
    return _in_whole_days(clock.cast(pa.timestamp("s")), texts, halved)


def _in_whole_days(moments: pa.Array, texts: pa.Array, halved: pa.Array) -> pa.Array:
    """Return moments of a clock of twelve hours as those of one of twenty-four."""
    hour = pc.hour(moments)
    wrong = pc.and_(halved, pc.or_(pc.equal(hour, 0), pc.greater(hour, 12)))
    if pc.any(wrong).as_py():
        raise pa.ArrowInvalid(f"{texts.filter(wrong)[0].as_py()!r}")
    is_late = pc.and_(halved, pc.match_substring_regex(texts, _AFTERNOON))
    hours = pc.subtract(
        pc.multiply(pc.cast(is_late, pa.int64()), 12),
        pc.multiply(pc.cast(pc.and_(halved, pc.equal(hour, 12)), pa.int64()), 12),
    )
    return pc.add(moments, pc.multiply(hours, 3600).cast(pa.duration("s")))
