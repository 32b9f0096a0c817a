"""What the types of results are made of: a frozen record, numbers with bounds, and labels.

A field without a default is always written, and so is one that `null` makes null. Any other is
written only where it differs from its default. Bounds are checked when a file is read.
"""

from __future__ import annotations

from threading import RLock
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from dnfscale.errors import DataError

_T = TypeVar("_T")

_converting = RLock()
"""Held while a record is made of parsed JSON: msgspec looks at the types of a record when the first
is made, and ends the process where two threads do so at once.
"""


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An object of a result."""


class Note(Record, frozen=True, kw_only=True):
    """A finished step of a job, noted so that a job that is resumed need not repeat it."""

    step: str
    """Its name; a later note of the same step takes its place."""


def null() -> None:
    """Return the default of a key that is written even where nothing is known: null."""
    return


Count = Annotated[int, Meta(ge=0, le=1 << 62)]
"""A number of rows, or what they weigh in units."""
Share = Annotated[float, Meta(ge=0, le=1)]
Figure = Annotated[float, Meta(ge=-(2.0**62), le=2.0**62)]
"""Any other number; infinity is none."""
Seconds = Annotated[float, Meta(ge=0, le=1e12)]
Ell = Annotated[int, Meta(ge=0, le=64)]
"""A number of attributes: charts have a tick for each, and no formula has more."""
Conditions = Annotated[int, Meta(ge=0, le=500)]
"""A number of attributes of a formula that was found by its lines."""
Size = Annotated[int, Meta(ge=0, le=64)]
"""The size of a formula: charts have a tick for each, too."""


class Infinite(msgspec.Struct, frozen=True):
    """A label or value that is infinite, which JSON has no number for."""

    float: Annotated[str, Meta(pattern="^-?inf$")]


Label = bool | int | float | str | Infinite


def label_record(label: bool | int | float | str) -> Label:
    """Return a label, or the value of an attribute, as it is written."""
    is_infinite = isinstance(label, float) and label in (float("inf"), float("-inf"))
    return Infinite(str(label)) if is_infinite else label


def label_text(label: Label) -> str:
    """Return a label as it is shown."""
    return label.float if isinstance(label, Infinite) else str(label)


def plain(record: msgspec.Struct) -> dict[str, Any]:
    """Return a record as the JSON object that it is written as."""
    content: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(record))
    return content


def converted(value: object, kind: type[_T]) -> _T:
    """Return parsed JSON as a record, or raise a ValidationError; for any thread."""
    with _converting:
        return msgspec.convert(value, kind)


def read_file(content: bytes, kind: type[_T], schema: str, what: str) -> _T:
    """Read a file of a schema; one that is damaged, or of another schema, raises a DataError."""
    try:
        record = msgspec.json.decode(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"expected JSON, but {error}") from error
    found = record.get("schema") if isinstance(record, dict) else None
    if found != schema:
        raise DataError(f"expected {what}, schema {schema}, got schema {found!r:.60}")
    return checked(record, kind, what)


def checked(value: object, kind: type[_T], what: str) -> _T:
    """Return parsed JSON as a record, or raise a DataError that says which part of it is none."""
    try:
        return converted(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise DataError(f"expected {what}, but it is damaged: {error}") from error
