"""What concepts say, in plain Python: every related row is looked at for every main row."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dnfscale.core.concepts import Concept, Figure, RowTest, Sign

Row = Mapping[str, Any]
_NO_TIME = datetime.datetime.min


def said(concept: Concept, row: Row, related: Sequence[Row]) -> Any:
    """Return what a concept says of a main row."""
    own = [other for other in related if _is_seen(concept, row, other)]
    meant = [other for other in own if all(_holds(test, other) for test in concept.where)]
    if concept.figure is Figure.SOME:
        return bool(meant)
    if concept.figure is Figure.COUNT:
        return len(meant)
    known = [other for other in meant if _known(other[str(concept.of)])]
    values = [_plain(other[str(concept.of)]) for other in known]
    if concept.figure is Figure.SUM:
        return _rounded(sum(map(Fraction, values), Fraction(0)), concept)
    if not values:
        return None
    if concept.figure is Figure.LEAST:
        return min(values)
    if concept.figure is Figure.GREATEST:
        return max(values)
    if concept.figure is Figure.MEAN:
        return _rounded(sum(map(Fraction, values), Fraction(0)) / len(values), concept)
    latest = max(known, key=lambda other: (_time(concept, other), other[str(concept.of)]))
    return _plain(latest[str(concept.of)])


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, decimal.Decimal) else value


def _rounded(value: Fraction, concept: Concept) -> Any:
    return int(value) if concept.digits is None else round(float(value), concept.digits)


def _time(concept: Concept, other: Row) -> Any:
    time = other[str(concept.relation.time)]
    return _moment(time) if time is not None else _NO_TIME


def _is_seen(concept: Concept, row: Row, other: Row) -> bool:
    relation = concept.relation
    if row[relation.main_key] != other[relation.key]:
        return False
    if relation.as_of is None:
        return True
    now, then = row[relation.as_of], other[str(relation.time)]
    if now is None or then is None or not _moment(then) < _moment(now):
        return False
    return concept.days is None or _moment(now) - _moment(then) <= datetime.timedelta(concept.days)


def _moment(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value
    return datetime.datetime(value.year, value.month, value.day)


def _known(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def _holds(test: RowTest, other: Row) -> bool:
    value = _plain(other[test.column])
    if not _known(value):
        return False
    if test.sign is Sign.ABOVE:
        return bool(value > test.value)
    if test.sign is Sign.UP_TO:
        return bool(value <= test.value)
    return bool(value == test.value)
