"""What kind of values each column of a model has, as far as its attributes tell."""

from __future__ import annotations

from enum import StrEnum

from dnfscale.core import quantities
from dnfscale.core.concepts import Concept
from dnfscale.core.parts import Part, stored_column
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    IsMissing,
    Vocabulary,
    cuts_of,
    values_of,
)
from dnfscale.errors import DataError


class Kind(StrEnum):
    """What a column is compared with."""

    NUMBER = "a number"
    TEXT = "text"
    FLAG = "true or false"
    MOMENT = "a date, time or duration"
    UNKNOWN = "anything"
    """The model asks only whether the value is missing."""


def check_one_table(tau: Vocabulary, title: str) -> None:
    """Raise DataError for a format that knows one table, if a model asks about related ones."""
    for attribute in tau.attributes:
        if isinstance(attribute.column, Concept):
            table = attribute.column.relation.table
            raise DataError(
                f"{title} knows the columns of one table, but the model asks about related rows in "
                f"{table}; export to SQL or Python"
            )


def kinds(tau: Vocabulary) -> dict[str, Kind]:
    """Return the kind of each column of the dataset; one that is compared with values of two kinds
    is an error.
    """
    found: dict[str, Kind] = {}
    for attribute in tau.attributes:
        kind = _kind(attribute)
        column = stored_column(attribute.column)
        before = found.get(column, Kind.UNKNOWN)
        if Kind.UNKNOWN not in (kind, before) and kind is not before:
            raise DataError(
                f"expected a column to be compared with values of one kind, but the model compares "
                f"{column!r} with {before} and with {kind}; write the model again"
            )
        found[column] = before if kind is Kind.UNKNOWN else kind
    return found


def _kind(attribute: Attribute) -> Kind:
    if isinstance(attribute, IsMissing):
        return Kind.UNKNOWN
    if isinstance(attribute.column, Part):
        return Kind.MOMENT
    if isinstance(attribute, Above | Between):
        measured = (
            cut.measure.kind for cut in cuts_of(attribute) if isinstance(cut, quantities.Quantity)
        )
        return (
            Kind.MOMENT
            if any(kind is not quantities.Kind.DECIMAL for kind in measured)
            else Kind.NUMBER
        )
    value = values_of(attribute)[0]
    if isinstance(value, bool):
        return Kind.FLAG
    return Kind.TEXT if isinstance(value, str) else Kind.NUMBER
