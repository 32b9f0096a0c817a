"""What the cells of a column of text are: its kind, how Arrow reads it, and the next wider kind.

A kind is the name of an Arrow type, or one of three that Arrow does not read by itself: dates as
people write them (`07.11.2019`), the same with a time of day, and numbers with marks between the
thousands. Those are read as codes of texts, and each distinct text is turned into a value.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

LOCAL_DATE, LOCAL_TIME, GROUPED = "date", "date and time", "number"
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
    **dict.fromkeys((LOCAL_DATE, LOCAL_TIME, GROUPED), _CODES),
}
_STORED_AS: Mapping[str, pa.DataType] = {
    LOCAL_DATE: pa.date32(),
    LOCAL_TIME: pa.timestamp("s"),
    GROUPED: pa.float64(),
}
_CHAINS = (tuple(map(str, _NUMBERS)), tuple(map(str, _MOMENTS)), (LOCAL_DATE, LOCAL_TIME, "string"))
_FREE_CHAIN = (*_CHAINS[0], *_CHAINS[1])
"""What a column may become of which the look saw no value."""

DAY_FIRST = r"^([0-9]{1,2})([./-])([0-9]{1,2})([./-])([0-9]{4})(?:[ T,]+([0-9]{1,2}:[0-9:.]+))?$"
"""A date as most people write it; month first, the first two change places."""


def read_as(kind: str) -> pa.DataType:
    """Return the type that Arrow is asked for."""
    return _READ_AS[kind]


def stored_as(kind: str) -> pa.DataType:
    """Return the type of the column once it is read."""
    return _STORED_AS.get(kind) or _READ_AS[kind]


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
    if kind == GROUPED:
        plain = pc.replace_substring(distinct, "," if decimal == "." else ".", "")
        values = pc.replace_substring(plain, decimal, ".").cast(pa.float64())
    else:
        values = _moments(distinct, month_first).cast(stored_as(kind))
    return pc.take(values, codes.indices)


def _moments(texts: pa.Array, month_first: bool) -> pa.Array:
    """Write dates as ISO 8601 does, which Arrow reads strictly: no 31st of February."""
    spelled = pc.replace_substring_regex(
        texts, DAY_FIRST, r"\5-\1-\3 \6" if month_first else r"\5-\3-\1 \6"
    )
    padded = pc.replace_substring_regex(spelled, r"-([0-9])\b", r"-0\1")
    padded = pc.replace_substring_regex(padded, r"-([0-9])\b", r"-0\1")
    padded = pc.replace_substring_regex(padded, r" ([0-9]):", r" 0\1:")
    return pc.utf8_trim_whitespace(padded)
