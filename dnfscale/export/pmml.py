"""A model as PMML 4.4: a RuleSetModel with one rule a term, or one whose predicate follows the
tree.
"""

from __future__ import annotations

import math
import re
import sys
from xml.etree import ElementTree as ET

from dnfscale.core.arrays import Scalar
from dnfscale.core.columns import unused_name
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import Model
from dnfscale.core.parts import Part, stored_column
from dnfscale.core.quantities import Quantity, edge_among
from dnfscale.core.tree import And, Formula, Not, Or, Symbol, chain, without_negations
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    Equals,
    IsIn,
    IsMissing,
    IsTrue,
    cuts_of,
    values_of,
)
from dnfscale.errors import DataError
from dnfscale.export.kinds import Kind, check_one_table, kinds
from dnfscale.method.words import number_text, predicted
from dnfscale.spec.registry import EXPORTS, Export

NAMESPACE = "http://www.dmg.org/PMML-4_4"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MOST_COMBINATIONS = 500
_EXACT = 1 << 53
"""Whole numbers up to here are exact as floats."""
_LEAST_WHOLE = -(1 << 63)
"""The least that a column of whole numbers can hold."""


def export_pmml(model: Model) -> str:
    """Return a PMML document whose output `prediction` is true for the rows that the formula
    accepts.

    Rules apply in order, the first that holds decides; their ids are the terms' numbers. NaN is
    declared a missing value of every field of numbers, and of fields that are only asked whether
    they are missing.
    """
    known = kinds(model.tau)
    _check_exact(model)
    root = ET.Element("PMML", {"xmlns": NAMESPACE, "version": "4.4"})
    header = ET.SubElement(root, "Header", {"description": _xml(predicted(model))})
    ET.SubElement(header, "Application", {"name": "dnfscale"})
    dictionary = ET.SubElement(root, "DataDictionary", {"numberOfFields": str(len(model.columns))})
    for column in model.columns:
        _data_field(dictionary, column, known[column], model)
    rule_model = ET.SubElement(
        root,
        "RuleSetModel",
        {
            "modelName": "dnfscale",
            "functionName": "classification",
            "algorithmName": "ideal classifier" if model.tree is None else "formula size",
        },
    )
    schema = ET.SubElement(rule_model, "MiningSchema")
    for column in model.columns:
        ET.SubElement(schema, "MiningField", {"name": _xml(column), "usageType": "active"})
    output = ET.SubElement(rule_model, "Output")
    prediction = {
        "name": unused_name("prediction", model.columns),
        "optype": "categorical",
        "dataType": "boolean",
    }
    ET.SubElement(output, "OutputField", {**prediction, "feature": "predictedValue"})
    rules = ET.SubElement(rule_model, "RuleSet", {"defaultScore": _flag(not model.answer)})
    ET.SubElement(rules, "RuleSelectionMethod", {"criterion": "firstHit"})
    if model.tree is not None:
        _tree(_rule(rules, 0, model.dnf, model), without_negations(model.tree), model)
    else:
        for number, (term, counted) in enumerate(
            zip(model.dnf.terms, model.over_types.terms, strict=True)
        ):
            _line(_rule(rules, number, Dnf((counted,)), model), term, model)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _check_exact(model: Model) -> None:
    check_one_table(model.tau, "PMML")
    for attribute in model.tau.attributes:
        if isinstance(attribute.column, Part):
            raise DataError(
                "PMML has no parts of dates and times that its readers agree on, but the "
                "model asks for the "
                f"{attribute.column}; export to SQL or Python"
            )
        for cut in cuts_of(attribute) if isinstance(attribute, Above | Between) else ():
            if isinstance(cut, Quantity):
                raise DataError(
                    f"PMML has no exact {cut.measure.kind}s that its readers agree on, but "
                    "the model cuts "
                    f"{attribute.column!r} at {cut}; export to SQL or Python"
                )


def _data_field(parent: ET.Element, column: str, kind: Kind, model: Model) -> None:
    is_cut = any(isinstance(a, Above | Between) for a in model.tau.attributes if a.column == column)
    optype = "continuous" if is_cut else "categorical"
    named = {"name": _xml(column)}
    label = model.about.labels.get(column)
    if label is not None and label.words:
        named["displayName"] = _xml(label.words)
    data_type = _data_type(column, kind, model)
    field = ET.SubElement(parent, "DataField", {**named, "optype": optype, "dataType": data_type})
    if kind in (Kind.NUMBER, Kind.UNKNOWN):
        ET.SubElement(field, "Value", {"value": "NaN", "property": "missing"})


def _data_type(column: str, kind: Kind, model: Model) -> str:
    """Return the type of a field; for numbers the one in which every comparison is exact.

    With a cut below 2**53, whole numbers of any size are compared correctly as doubles, and some
    readers have no integers beyond 32 bits. From 2**53 on, a cut that is an int occurs only in
    columns of whole numbers.
    """
    if kind is not Kind.NUMBER:
        return "boolean" if kind is Kind.FLAG else "string"
    asked = [attribute for attribute in model.tau.attributes if attribute.column == column]
    values = [v for a in asked if isinstance(a, Equals | IsIn | IsTrue) for v in values_of(a)]
    if values:
        return "integer" if all(isinstance(value, int) for value in values) else "double"
    cuts = [cut for a in asked if isinstance(a, Above | Between) for cut in cuts_of(a)]
    return (
        "integer" if any(isinstance(cut, int) and abs(cut) >= _EXACT for cut in cuts) else "double"
    )


def _rule(parent: ET.Element, number: int, rule: Dnf, model: Model) -> ET.Element:
    """Add a rule, yet without its predicate, with the counts of the rows that satisfy it."""
    covered = rule.accepts(model.counts.codes)
    n, c = int(model.counts.n[covered].sum()), int(model.counts.c[covered].sum())
    right = c if model.answer else n - c
    confidence = {"confidence": number_text(right / n)} if n else {}
    return ET.SubElement(
        parent,
        "SimpleRule",
        {
            "id": str(number),
            "score": _flag(model.answer),
            "recordCount": number_text(n / model.unit),
            "nbCorrect": number_text(right / model.unit),
            **confidence,
        },
    )


def _line(parent: ET.Element, term: Term, model: Model) -> None:
    """Add the predicate of a line: of a checklist, that all of some of its literals hold."""
    if term.at_least is not None:
        n_terms = math.comb(term.care.bit_count(), term.at_least)
        if n_terms > _MOST_COMBINATIONS:
            raise DataError(
                f"PMML writes a checklist by its combinations, at most {_MOST_COMBINATIONS}, but "
                f"{term.at_least} of {term.care.bit_count()} are {n_terms:,}; export to SQL or "
                "Python"
            )
        parent = ET.SubElement(parent, "CompoundPredicate", {"booleanOperator": "or"})
    for each in term.multiplied_out():
        _literals(parent, each.literals, model)


def _literals(parent: ET.Element, literals: tuple[tuple[int, bool], ...], model: Model) -> None:
    if not literals:
        ET.SubElement(parent, "True")
    if len(literals) > 1:
        parent = ET.SubElement(parent, "CompoundPredicate", {"booleanOperator": "and"})
    for i, holds in literals:
        _predicate(parent, model.tau.attributes[i], holds, model)


def _tree(parent: ET.Element, tree: Formula, model: Model) -> None:
    """Add a formula with negations at its symbols only: unknown and false then have the same
    effect.
    """
    match tree:
        case Symbol(attribute):
            _predicate(parent, model.tau.attributes[attribute], True, model)
        case Not(Symbol(attribute)):
            _predicate(parent, model.tau.attributes[attribute], False, model)
        case And() | Or():
            operator = "and" if isinstance(tree, And) else "or"
            together = ET.SubElement(parent, "CompoundPredicate", {"booleanOperator": operator})
            for part in chain(tree, type(tree)):
                _tree(together, part, model)


def _predicate(parent: ET.Element, attribute: Attribute, holds: bool, model: Model) -> None:
    field = _xml(stored_column(attribute.column))
    if isinstance(attribute, IsMissing):
        ET.SubElement(
            parent,
            "SimplePredicate",
            {"field": field, "operator": "isMissing" if holds else "isNotMissing"},
        )
        return
    comparisons = _comparisons(attribute, holds, model)
    if not comparisons:
        ET.SubElement(parent, "False" if holds else "True")
        return
    # One of several values is enough for a set, and both ends must hold for an interval.
    joint = "or" if isinstance(attribute, IsIn) == holds else "and"
    if not holds:
        parent = ET.SubElement(parent, "CompoundPredicate", {"booleanOperator": "or"})
    together = parent
    if len(comparisons) > 1 and (holds or joint == "and"):
        together = ET.SubElement(parent, "CompoundPredicate", {"booleanOperator": joint})
    for operator, value in comparisons:
        ET.SubElement(
            together, "SimplePredicate", {"field": field, "operator": operator, "value": value}
        )
    if not holds:
        # A missing value makes the comparisons unknown, and the negation holds.
        ET.SubElement(parent, "SimplePredicate", {"field": field, "operator": "isMissing"})


def _comparisons(attribute: Attribute, holds: bool, model: Model) -> list[tuple[str, str]]:
    """Return the comparisons that must all hold for a value, or of which one must if the attribute
    is not to hold; for a set, the other way round.

    There are none if the attribute never holds.
    """
    assert not isinstance(attribute, IsMissing)
    if not isinstance(attribute, Above | Between):
        operator = "equal" if holds else "notEqual"
        return [(operator, _value(value)) for value in values_of(attribute)]
    whole = _data_type(stored_column(attribute.column), Kind.NUMBER, model) == "integer"
    edges = [edge_among(cut, None, whole=whole) for cut in cuts_of(attribute)]
    if not edges or edges[0] >= max(edges[1:], default=math.inf):
        return []
    above, up_to = ("greaterThan", "lessOrEqual") if holds else ("lessOrEqual", "greaterThan")
    found = [(above, repr(edges[0]))]
    if edges[0] == -math.inf:
        # Readers do not agree on how infinity is written; a value above minus infinity is at least
        # the least finite number.
        found = [
            (
                "greaterOrEqual" if holds else "lessThan",
                repr(_LEAST_WHOLE if whole else -sys.float_info.max),
            )
        ]
    return found + [(up_to, repr(edge)) for edge in edges[1:] if edge < math.inf]


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _value(value: Scalar) -> str:
    if isinstance(value, bool):
        return _flag(value)
    if isinstance(value, float) and math.isinf(value):
        return "INF" if value > 0 else "-INF"
    return _xml(value) if isinstance(value, str) else repr(value)


def _xml(text: str) -> str:
    found = _NOT_XML.search(text)
    if found:
        raise DataError(
            f"XML has no character U+{ord(found[0]):04X}, but the model has it in {text!r}; "
            "export to another format, or learn without it"
        )
    return text


EXPORTS.register(Export(name="pmml", title="a PMML rule set", ending=".pmml", write=export_pmml))
