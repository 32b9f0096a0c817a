"""Figures of related rows in Python: over lists of mappings, one list for each table."""

from __future__ import annotations

from collections.abc import Sequence

from dnfscale.core.concepts import Concept
from dnfscale.core.vocabulary import Attribute

NEEDS = ("import datetime", "import decimal", "import math")
HELPERS = '''\
def _moment(value):
    """Return a date or time as a time, that of a zone in UTC, to be compared with others."""
    if isinstance(value, datetime.datetime):
        return value if value.tzinfo is None else value.astimezone(datetime.timezone.utc)
    if not isinstance(value, datetime.date):
        return value
    return datetime.datetime(value.year, value.month, value.day)


def _plain(value):
    """Return a decimal as the number next to it, which it is compared with cuts as."""
    if not isinstance(value, decimal.Decimal):
        return value
    return int(value) if value == value.to_integral_value() else float(value)


def _holds(other, column, sign, wanted):
    """Say whether a test holds for a related row; not where it lacks the value."""
    value = _plain(_value(other, column, isinstance(wanted, str)))
    if value is None:
        return False
    return bool(value > wanted if sign == "above" else value <= wanted if sign == "up_to" else value == wanted)


def _meant(row, related, table, keys, times, days, tests, of):
    """Return the related rows that a condition means."""
    (key, main_key), (time, as_of) = keys, times
    if table not in related:
        raise KeyError(f"expected the rows of {table!r} in related, but they are not there")
    now = None if as_of is None else _moment(_value(row, as_of, None))
    found = []
    for other in related[table]:
        if _value(other, key, None) != _value(row, main_key, None):
            continue
        if as_of is not None:
            then = _moment(_value(other, time, None))
            if now is None or then is None or not then < now:
                continue
            if days is not None and now - then > datetime.timedelta(days):
                continue
        known = of is None or _value(other, of, False) is not None
        if known and all(_holds(other, *test) for test in tests):
            found.append(other)
    return found


def _figure(figure, found, of, time, digits):
    """Return a figure of some related rows; None where there is none."""
    if figure == "some":
        return bool(found)
    if figure == "count":
        return len(found)
    values = [_plain(other[of]) for other in found]
    if figure == "sum":
        return sum(values) if digits is None else round(math.fsum(values), digits)
    if not values:
        return None
    if figure == "mean":
        return round(math.fsum(values) / len(values), digits)
    if figure in ("least", "greatest"):
        return min(values) if figure == "least" else max(values)
    times = [_moment(_value(other, time, None)) for other in found]
    latest = max((moment for moment in times if moment is not None), default=None)
    return max(value for value, moment in zip(values, times) if moment == latest)'''  # noqa: E501 (it is written to files of its own)


def concepts_in(attributes: Sequence[Attribute]) -> dict[str, Concept]:
    """Return the concepts that attributes ask for, by their columns."""
    columns = (attribute.column for attribute in attributes)
    return {column.name: column for column in columns if isinstance(column, Concept)}


def main_columns(columns: Sequence[str], concepts: dict[str, Concept]) -> tuple[str, ...]:
    """Return the columns of the main table that stand behind some columns, each once."""
    found: list[str | None] = []
    for column in columns:
        concept = concepts.get(column)
        own = [column] if concept is None else [concept.relation.main_key, concept.relation.as_of]
        found += own
    return tuple(dict.fromkeys(name for name in found if name is not None))


def figure_expression(concept: Concept) -> str:
    """Return the value of a concept as an expression over `row` and `related`."""
    relation = concept.relation
    keys, times = (relation.key, relation.main_key), (relation.time, relation.as_of)
    tests = tuple((test.column, str(test.sign), test.value) for test in concept.where)
    asked = (relation.table, keys, times, concept.days, tests, concept.of)
    rows = f"_meant(row, related, {', '.join(map(repr, asked))})"
    said = f"{concept.of!r}, {relation.time!r}, {concept.digits!r}"
    return f"_figure({str(concept.figure)!r}, {rows}, {said})"
