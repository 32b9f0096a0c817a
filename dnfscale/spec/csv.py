"""The table [data.csv]: how texts are to be read, where what a look at them shows is not right."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Any

from dnfscale.spec import checks
from dnfscale.spec.keys import key

MISSING = ("NA", "N/A", "NaN", "nan", "NULL", "null")
"""What stands for a missing value besides an empty cell, unless the user says otherwise."""


def _delimiter(value: Any) -> str:
    found = "\t" if value in ("tab", "\\t") else value
    if not isinstance(found, str) or len(found) != 1 or found in '"\r\n':
        raise ValueError('one character, or "tab"')
    return found


def _encoding(value: Any) -> str:
    try:
        return codecs.lookup(checks.text(value)).name
    except LookupError as error:
        raise ValueError('the name of an encoding, such as "utf-8" or "cp1252"') from error


@dataclass(frozen=True, slots=True)
class CsvOptions:
    """What a user says of a text; the rest is recognized."""

    delimiter: str | None = key(
        _delimiter, None, 'between columns, or "tab"; recognized, like all of this', example=";"
    )
    encoding: str | None = key(_encoding, None, "of the text", example="cp1252")
    decimal: str | None = key(
        checks.one_of(".", ","), None, "the sign before the fraction of a number", example=","
    )
    dates: str | None = key(
        checks.one_of("day-first", "month-first"),
        None,
        "what 03/04/2024 means; 2024-04-03 is read as ever",
        example="day-first",
    )
    missing: tuple[str, ...] | None = key(
        checks.texts,
        None,
        f"what stands for a missing value; default: {', '.join(MISSING)}, and what is recognized",
        example=["NA", "?"],
    )
    skip: int | None = key(
        checks.whole(0), None, "lines before the header, such as a title", example=2
    )
    header: bool | None = key(
        checks.yes_no, None, "whether the first line names the columns", example=True
    )
    names: tuple[str, ...] | None = key(
        checks.texts, None, "the names of the columns, without a header", example=["age", "sex"]
    )
    text: tuple[str, ...] | None = key(
        checks.texts, None, "columns that are text whatever they look like", example=["postcode"]
    )


AS_RECOGNIZED = CsvOptions()
