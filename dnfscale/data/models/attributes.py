"""The attributes of a model file: what each asks of its column, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dnfscale.core.arrays import Scalar
from dnfscale.core.concepts import Concept, Figure
from dnfscale.core.parts import NAMES, ColumnName, Part, Unit, is_zone
from dnfscale.core.quantities import Measure, Quantity, parse_measure, parse_quantity
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    Equals,
    IsIn,
    IsMissing,
    IsTrue,
    values_of,
)
from dnfscale.data.models.checked import entry, scalar, short, typed
from dnfscale.data.models.concepts import parse_concept
from dnfscale.data.models.writing import RELATED, TESTS, measure_name
from dnfscale.errors import DataError

Cut = int | float | Quantity


def parse_attribute(value: Any, place: str) -> Attribute:
    """Return the attribute of an entry of a model file."""
    table = typed(value, dict, place, "an object")
    name, column = entry(table, "name", str, "text", place), _column(table, place)
    asked = "asks" if isinstance(column, Concept) else "test"
    test = entry(table, asked, str, "text", place)
    given = table.get("value")
    if isinstance(column, Part):
        _check_part(column, test, given, place)
    if isinstance(column, Concept):
        _check_concept(column, test, table, place)
    if test in ("above", "between"):
        measure = (
            measure_in(table, place)
            if "measure" in table and not isinstance(column, Part)
            else None
        )
        numbers = _whole(table, place)
        if test == "between":
            return Between(name, column, *_interval(given, measure, f"{place}.value"), *numbers)
        what = "for the test 'above'"
        cut = None if given is None else number_in(given, measure, f"{place}.value", what)
        return Above(name, column, cut, *numbers)
    if test == "missing":
        if given is not None:
            raise DataError(
                f"{place}.value must be null for the test 'missing', got {short(given)}"
            )
        return IsMissing(name, column)
    if test == "equals":
        return Equals(name, column, scalar(given, f"{place}.value"))
    if test == "in":
        return IsIn(name, column, _values(given, f"{place}.value"))
    if test == "true":
        return IsTrue(name, column, scalar(given, f"{place}.value"))
    raise DataError(
        f"{place}.{asked} must be one of {', '.join(TESTS.values())}, got {short(test)}"
    )


def check_columns(attributes: list[Attribute]) -> None:
    """Raise DataError if a column is tested in two ways: each has either cuts or categories of one
    kind.
    """
    known: dict[ColumnName, str] = {}
    for attribute in attributes:
        if isinstance(attribute, IsMissing):
            continue
        if isinstance(attribute, Above | Between):
            kind = measure_name(attribute) or "numbers"
        else:
            kind = kind_of(values_of(attribute)[0])
        before = known.setdefault(attribute.column, kind)
        if kind != before:
            raise DataError(
                f"attributes must test a column in one way, but {str(attribute.column)!r} "
                f"is tested for {before} "
                f"and {kind}"
            )


def kind_of(value: Scalar) -> str:
    """Return what a label or category is, in the plural."""
    if isinstance(value, bool):
        return "truth values"
    return "texts" if isinstance(value, str) else "categories that are numbers"


def _column(table: Mapping[str, Any], place: str) -> ColumnName:
    """Return the column of an attribute, the part of one, or what related rows say."""
    column: str = entry(table, "column", str, "text", place)
    if table.get("test") == RELATED:
        return parse_concept(table.get("related"), column, f"{place}.related")
    if "part" not in table:
        return column
    unit, zone = entry(table, "part", str, "text", place), table.get("zone")
    if unit not in set(Unit):
        raise DataError(f"{place}.part must be one of {', '.join(Unit)}, got {short(unit)}")
    if zone is not None and not is_zone(typed(zone, str, f"{place}.zone", "text")):
        raise DataError(
            f"{place}.zone must be the name of a time zone, or an offset such as +02:00, "
            f"got {short(zone)}"
        )
    return Part(column, Unit(unit), zone)


def _check_part(part: Part, test: str, given: Any, place: str) -> None:
    """Raise DataError unless an hour is cut, and a weekday or month is compared with one that
    exists.
    """
    names = NAMES.get(part.unit)
    expected = ("above", "between") if names is None else ("equals", "in")
    if test not in expected:
        listed = " or ".join(map(repr, expected))
        raise DataError(
            f"{place}.test must be {listed} for the part {str(part.unit)!r}, got {short(test)}"
        )
    asked = given if test == "in" and isinstance(given, list) else [given]
    if names is not None and not all(value in names for value in asked):
        several = "a list of some" if test == "in" else "one"
        listed = ", ".join(names)
        raise DataError(f"{place}.value must be {several} of {listed}, got {short(given)}")


def _check_concept(concept: Concept, test: str, table: Mapping[str, Any], place: str) -> None:
    """Raise DataError unless whether there is a related row is asked as a truth value, and a figure
    as a number, which that of a count is without end.
    """
    given, figure = table.get("value"), str(concept.figure)
    asked = given if isinstance(given, list) else [given]
    if concept.figure is Figure.SOME:
        if test not in ("equals", "in", "true") or not all(isinstance(one, bool) for one in asked):
            raise DataError(
                f"{place} must ask whether the figure {figure!r} is true or false, got "
                f"{short(test)} with the value {short(given)}"
            )
        return
    if table.get("measure") is not None:
        raise DataError(f"{place}.measure must be left out for the figure {figure!r}, a number")
    if test in ("equals", "in", "true") and any(isinstance(one, bool | str) for one in asked):
        raise DataError(
            f"{place}.value must be a number for the figure {figure!r}, got {short(given)}"
        )
    if concept.figure is Figure.COUNT and any(isinstance(one, str) for one in asked):
        raise DataError(f"{place}.value must be finite for a count, got {short(given)}")


def _values(given: Any, place: str) -> tuple[Scalar, ...]:
    """Return the values of a set: at least two of one kind, each once."""
    values = [
        scalar(value, f"{place}[{i}]")
        for i, value in enumerate(typed(given, list, place, "a list of values for the test 'in'"))
    ]
    if len(set(values)) < max(2, len(values)) or len(set(map(kind_of, values))) > 1:
        raise DataError(
            f"{place} must be a list of at least two values of one kind, each once, "
            f"got {short(given)}"
        )
    return tuple(values)


def _whole(table: Mapping[str, Any], place: str) -> tuple[bool, int | None]:
    """Return whether numbers are whole, and the least of them."""
    whole, least = table.get("whole", False), table.get("least")
    typed(whole, bool, f"{place}.whole", "true or false")
    if least is not None and not (whole and type(least) is int):
        raise DataError(f"{place}.least must be a whole number of whole ones, got {short(least)}")
    return whole, least


def measure_in(table: Mapping[str, Any], place: str) -> Measure:
    named = entry(table, "measure", str, "text", place)
    measure = parse_measure(named)
    if measure is None:
        raise DataError(
            f"{place}.measure must be date, time[us], timestamp[us], instant[us], "
            "duration[us] or such, or decimal[2], "
            f"got {short(named)}"
        )
    return measure


def number_in(given: Any, measure: Measure | None, place: str, what: str) -> Cut:
    """Return a number, or a quantity of a measure; `what` says what it is for."""
    if measure is not None:
        quantity = parse_quantity(given, measure) if isinstance(given, str) else None
        if quantity is None:
            raise DataError(f"{place} must be the text of a value of {measure}, got {short(given)}")
        return quantity
    if given in ("inf", "-inf"):
        return float(given)
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise DataError(f"{place} must be a number {what}, got {short(given)}")
    scalar(given, place)
    return given


def _interval(given: Any, measure: Measure | None, place: str) -> tuple[Any, Any]:
    """Return the ends of an interval; both are None if there was no row to take a quantile of."""
    if given is None:
        return None, None
    if not (isinstance(given, list) and len(given) == 2):
        raise DataError(
            f"{place} must be a list of two ends for the test 'between', got {short(given)}"
        )
    # Both are numbers, or of the same measure.
    ends: list[Any] = [
        number_in(end, measure, f"{place}[{i}]", "for the test 'between'")
        for i, end in enumerate(given)
    ]
    if not ends[0] < ends[1]:
        raise DataError(f"{place} must be a lower and a higher end, got {short(given)}")
    return ends[0], ends[1]
