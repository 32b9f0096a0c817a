"""The files of models as types, from which their JSON Schema is made; data/models/ writes and reads
them, and checks more than types can say.
"""

from __future__ import annotations

from typing import Any, Literal

from dnfscale.results.formula import Attribute
from dnfscale.results.formula import Literal as Holds
from dnfscale.results.record import Count, Label, Record, Share


class ModelLine(Record, frozen=True, kw_only=True):
    """A line: all of some attributes hold, or at least so many."""

    all: tuple[Holds, ...] | None = None
    at_least: int | None = None
    of: tuple[Holds, ...] | None = None


class TypeRows(Record, frozen=True, kw_only=True):
    """The rows of a type, and those of them that are positive."""

    type: tuple[bool, ...] | Count
    n: Count
    c: Count


class SeenColumnRecord(Record, frozen=True, kw_only=True):
    """What a column held in the rows learned from."""

    name: str
    type: str
    measure: str | None = None
    least: int | float | str | None
    greatest: int | float | str | None
    values: tuple[Label, ...] | None
    unlisted: Count | None = None
    missing: Share


class ModelFile(Record, frozen=True, kw_only=True):
    """A model file, schema dnfscale.model/1 or dnfscale.model/2."""

    schema: Literal["dnfscale.model/1", "dnfscale.model/2"]
    target: str
    positive: tuple[Label, ...]
    missing: Literal["drop", "error", "indicator"]
    unseen: Literal["negative", "dont_care", "follow"]
    threshold: str
    unit: Count
    weighted: bool
    attributes: tuple[Attribute, ...]
    lookalikes: dict[str, tuple[str, ...]] | None = None
    lines: tuple[ModelLine, ...] | None = None
    terms: tuple[tuple[Holds, ...], ...] | None = None
    answer: bool = True
    types: Literal["attributes", "lines", "signs"] | None = None
    counts: tuple[TypeRows, ...]
    columns: tuple[SeenColumnRecord, ...] | None = None
    formula: str
    tree: int | list[Any] | None = None
    about: dict[str, Any] | None = None
    certificate: dict[str, Any]
    provenance: dict[str, Any]


class ClassesFile(Record, frozen=True, kw_only=True):
    """The file of several labels, schema dnfscale.classes/1."""

    schema: Literal["dnfscale.classes/1"]
    target: str
    classes: tuple[ModelFile, ...]
