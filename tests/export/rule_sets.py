"""A PMML rule set, checked and executed as the standard says, in plain Python."""

from __future__ import annotations

import operator as op
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

_IN = "{http://www.dmg.org/PMML-4_4}"
_OPERATORS = {
    "equal": op.eq,
    "notEqual": op.ne,
    "greaterThan": op.gt,
    "greaterOrEqual": op.ge,
    "lessThan": op.lt,
    "lessOrEqual": op.le,
}
Truth = Callable[[Mapping[str, Any]], bool | None]
"""What a predicate says of a row; None is PMML's UNKNOWN."""
SCHEMA = Path(__file__).with_name("rule_set.xsd")


class RuleSet:
    """The rules of a document, ready to be asked."""

    def __init__(self, document: str) -> None:
        root = ET.fromstring(document.encode())
        model = root.find(f"{_IN}RuleSetModel")
        assert model is not None
        self._types = {}
        self._missing: dict[str, list[str]] = {}
        for field in root.iter(f"{_IN}DataField"):
            self._types[field.attrib["name"]] = field.attrib["dataType"]
            self._missing[field.attrib["name"]] = [
                value.attrib["value"]
                for value in field
                if value.attrib.get("property") == "missing"
            ]
        self.fields = [field.attrib["name"] for field in model.iter(f"{_IN}MiningField")]
        rules = model.find(f"{_IN}RuleSet")
        assert rules is not None
        method, *listed = rules
        assert method.attrib == {"criterion": "firstHit"}
        self._rules = []
        for rule in listed:
            [predicate] = rule
            self._rules.append((rule.attrib["score"], self._predicate(predicate)))
        self._default = rules.attrib["defaultScore"]

    def answers(self, rows: Sequence[Mapping[str, Any]]) -> list[bool]:
        """The score of each row."""
        return [self._score(row) == "true" for row in rows]

    def _score(self, row: Mapping[str, Any]) -> str:
        values = {name: self._value(name, row[name]) for name in self.fields}
        return next((score for score, holds in self._rules if holds(values)), self._default)

    def _value(self, name: str, value: Any) -> Any:
        """A value as the field's type has it; None where it is missing."""
        if value is None:
            return None
        written = "NaN" if value != value else str(value)
        return None if written in self._missing[name] else self._typed(name, value)

    def _typed(self, name: str, value: Any) -> Any:
        match self._types[name]:
            case "double":
                return float(value)
            case "integer":
                assert isinstance(value, str) or value == int(value)
                return int(value)
            case "boolean":
                assert value in (True, False, "true", "false")
                return value in (True, "true")
            case "string":
                return str(value)
        raise AssertionError(self._types[name])

    def _predicate(self, predicate: ET.Element) -> Truth:
        match predicate.tag.removeprefix(_IN):
            case "True":
                return lambda _: True
            case "False":
                return lambda _: False
            case "SimplePredicate":
                return self._comparison(**predicate.attrib)
            case "CompoundPredicate":
                parts = [self._predicate(part) for part in predicate]
                assert len(parts) > 1
                return partial(_together, parts, predicate.attrib["booleanOperator"] == "or")
        raise AssertionError(predicate.tag)

    def _comparison(self, field: str, operator: str, value: str | None = None) -> Truth:
        if value is None:
            assert operator in ("isMissing", "isNotMissing")
            return lambda values: (values[field] is None) == (operator == "isMissing")
        compare, other = _OPERATORS[operator], self._typed(field, value)
        return lambda values: None if values[field] is None else compare(values[field], other)


def _together(parts: Sequence[Truth], decisive: bool, values: Mapping[str, Any]) -> bool | None:
    """One part that is decisive decides: true for or, false for and."""
    found = [part(values) for part in parts]
    if decisive in found:
        return decisive
    return None if None in found else not decisive
