"""Concepts in JSON: as model files and descriptions of joined tables hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dnfscale.core.concepts import MAY_LACK, OF_NUMBERS, Concept, Figure, Relation, RowTest, Sign
from dnfscale.data.models.checked import entry, scalar, short, typed, whole
from dnfscale.errors import DataError
from dnfscale.spec.related import MOST_DAYS

_RELATION = ("table", "key", "main_key", "time", "as_of", "id")


def concept_record(concept: Concept) -> dict[str, Any]:
    """Return what a concept says as a JSON object; its column's name stands beside it."""
    relation = {
        name: getattr(concept.relation, name)
        for name in _RELATION
        if getattr(concept.relation, name) is not None
    }
    where = [
        {"column": test.column, "test": str(test.sign), "value": test.value}
        for test in concept.where
    ]
    optional = {"of": concept.of, "days": concept.days, "digits": concept.digits}
    return {
        **relation,
        **({"zoned": True} if concept.relation.zoned else {}),
        "figure": str(concept.figure),
        **({"where": where} if where else {}),
        **{name: value for name, value in optional.items() if value is not None},
    }


def parse_concept(value: Any, name: str, place: str) -> Concept:
    """Return the concept of a JSON object, with the name of its column."""
    table = typed(value, dict, place, "an object")
    figure = entry(table, "figure", str, "text", place)
    if figure not in set(Figure):
        known = ", ".join(Figure)
        raise DataError(f"{place}.figure must be one of {known}, got {short(figure)}")
    of, days, digits = table.get("of"), table.get("days"), table.get("digits")
    if (Figure(figure) in OF_NUMBERS) != isinstance(of, str):
        raise DataError(
            f"{place}.of must be a column where the figure is of numbers, and only then"
        )
    if days is not None and not 1 <= whole(days, f"{place}.days") <= MOST_DAYS:
        raise DataError(f"{place}.days must be between 1 and {MOST_DAYS:,}, got {short(days)}")
    if digits is not None and (type(digits) is not int or not -400 <= digits <= 400):
        raise DataError(f"{place}.digits must be a whole number, got {short(digits)}")
    relation = _relation(table, place)
    if (days is not None and relation.as_of is None) or (
        figure == Figure.LATEST and relation.time is None
    ):
        raise DataError(f"{place} must have time, and as_of where it has days")
    tests = typed(table.get("where", []), list, f"{place}.where", "a list")
    where = tuple(_test(test, f"{place}.where[{i}]") for i, test in enumerate(tests))
    return Concept(name, relation, Figure(figure), where, of, days, digits)


def may_lack(concept: Concept) -> bool:
    """Say whether a row without related rows has no value."""
    return concept.figure in MAY_LACK


def _relation(table: Mapping[str, Any], place: str) -> Relation:
    names = {name: entry(table, name, str, "text", place) for name in _RELATION[:3]}
    others = {
        name: typed(table[name], str, f"{place}.{name}", "text")
        for name in _RELATION[3:]
        if table.get(name) is not None
    }
    zoned = typed(table.get("zoned", False), bool, f"{place}.zoned", "true or false")
    if "as_of" in others and "time" not in others:
        raise DataError(f"{place}.time must be given beside as_of")
    return Relation(**names, **others, zoned=zoned)


def _test(value: Any, place: str) -> RowTest:
    table = typed(value, dict, place, "an object")
    sign = entry(table, "test", str, "text", place)
    if sign not in set(Sign):
        raise DataError(f"{place}.test must be one of {', '.join(Sign)}, got {short(sign)}")
    found = scalar(table.get("value"), f"{place}.value")
    if sign != Sign.IS and (isinstance(found, str | bool)):
        raise DataError(f"{place}.value must be a number, got {short(found)}")
    return RowTest(entry(table, "column", str, "text", place), Sign(sign), found)
