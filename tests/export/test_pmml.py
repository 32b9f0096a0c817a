"""The PMML is valid, and its rules say what predict says; the datasets are in test_agreement."""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings

from dnfscale.core.vocabulary import Above, Between, Equals, IsIn, IsMissing, IsTrue, values_of
from dnfscale.errors import DataError
from dnfscale.export.pmml import export_pmml
from tests.export import examples
from tests.export.examples import NAMES, TEXTS, expected, formula, single
from tests.export.rule_sets import SCHEMA, RuleSet

IN = "{http://www.dmg.org/PMML-4_4}"


@pytest.fixture(scope="session")
def schema():
    etree = pytest.importorskip(
        "lxml.etree", reason="lxml, which checks XML by a schema, is not installed"
    )
    return etree.XMLSchema(etree.parse(str(SCHEMA)))


def check(schema, document):
    etree = pytest.importorskip(
        "lxml.etree", reason="lxml, which checks XML by a schema, is not installed"
    )
    schema.assertValid(etree.fromstring(document.encode()))


def field_type(model):
    [field] = ET.fromstring(export_pmml(model).encode()).iter(f"{IN}DataField")
    return field.attrib["optype"], field.attrib["dataType"]


@pytest.mark.slow
def test_the_rules_of_a_dataset_are_valid(case, schema):
    check(schema, export_pmml(case.model))


def test_the_schema_sees_what_is_wrong(schema):
    etree = pytest.importorskip(
        "lxml.etree", reason="lxml, which checks XML by a schema, is not installed"
    )
    right = export_pmml(examples.breast_cancer().model)
    for old, new in (
        ('operator="greaterThan"', 'operator="over"'),
        ("<MiningSchema>", "<MiningSchema /><MiningSchema>"),
        ('criterion="firstHit"', 'criterion="best"'),
        (' score="true"', ""),
        ('version="4.4"', 'version="4.3"'),
    ):
        assert old in right
        assert not schema.validate(etree.fromstring(right.replace(old, new).encode()))


@pytest.mark.slow
@pytest.mark.portable
@given(made=examples.cases())
@settings(max_examples=60)
def test_any_model_is_valid_and_agrees_on_any_rows(made, schema):
    # What only its absence is asked of is a field of texts, of which NaN is no value.
    asked = {a.column for a in made.model.tau.attributes if not isinstance(a, IsMissing)}
    for name in set(made.table.column_names) - asked:
        assume("NaN" not in made.table.column(name).to_pylist())
    named = [a for a in made.model.tau.attributes if isinstance(a, Equals | IsIn | IsTrue)]
    written = [*made.model.columns, *(value for a in named for value in values_of(a))]
    assume(
        not any(
            (c < " " and c not in "\t\n\r") or c in "\ufffe\uffff"
            for text in written
            for c in str(text)
        )
    )
    document = export_pmml(made.model)
    check(schema, document)
    assert RuleSet(document).answers(made.table.to_pylist()) == expected(made.model, made.table)


@pytest.mark.parametrize("text", [*dict.fromkeys([*NAMES, *TEXTS])])
def test_a_name_or_a_text_comes_back_as_it_was_or_is_refused(text, schema):
    model = formula(
        [Equals("a", text or "c", text)], [[(0, True)], [(0, False)]], target=text, positive=(text,)
    )
    if any(ord(c) < 32 and c not in "\t\n\r" for c in text):
        with pytest.raises(
            DataError, match=r"^XML has no character U\+00.., but the model has it in"
        ):
            export_pmml(model)
        return
    document = export_pmml(model)
    check(schema, document)
    field, *_ = ET.fromstring(document.encode()).iter(f"{IN}SimplePredicate")
    assert (field.attrib["field"], field.attrib["value"]) == (text or "c", text)


@pytest.mark.parametrize(
    ("attribute", "kind"),
    [
        (Above("a", "x", 3), ("continuous", "double")),
        (Above("a", "x", 2.5), ("continuous", "double")),
        (Above("a", "x", 2**53 + 1), ("continuous", "integer")),
        (Between("a", "x", 2.5, 3), ("continuous", "double")),
        (Between("a", "x", -2.5, 2**53 + 1), ("continuous", "integer")),
        (Between("a", "x", -math.inf, 2**53 + 1), ("continuous", "integer")),
        (Between("a", "x", None, None), ("continuous", "double")),
        (Equals("a", "x", 3), ("categorical", "integer")),
        (Equals("a", "x", 3.5), ("categorical", "double")),
        (Equals("a", "x", "3"), ("categorical", "string")),
        (IsTrue("a", "x", True), ("categorical", "boolean")),
        (IsMissing("a", "x"), ("categorical", "string")),
    ],
)
def test_a_field_has_the_type_in_which_comparisons_are_exact(attribute, kind):
    assert field_type(single(attribute)) == kind


@pytest.mark.parametrize(
    "attribute",
    [
        *(Above("a", "x", cut) for cut in (math.inf, -math.inf, None)),
        Between("a", "x", -math.inf, 0.0),
        Between("a", "x", 0.0, math.inf),
        Between("a", "x", -math.inf, math.inf),
        Between("a", "x", None, None),
        Between("a", "x", 0.0, -math.inf),
    ],
)
@pytest.mark.parametrize("holds", [True, False])
def test_a_cut_at_infinity_needs_no_word_for_it(attribute, holds, schema):
    model = single(attribute, holds)
    document = export_pmml(model)
    check(schema, document)
    assert "INF" not in document.upper()
    table = pa.table({"x": [-math.inf, -1e308, 0.0, math.inf, math.nan, None]})
    assert RuleSet(document).answers(table.to_pylist()) == expected(model, table)


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("low", [-math.inf, 2.5, 2**53 - 1])
def test_whole_numbers_beyond_floats_are_told_apart(low, holds, schema):
    model = single(Between("a", "x", low, 2**53 + 1), holds)
    document = export_pmml(model)
    check(schema, document)
    table = pa.table(
        {"x": [-(2**63), 2, 3, *(2**53 + step for step in range(-2, 4)), 2**63 - 1, None]}
    )
    assert RuleSet(document).answers(table.to_pylist()) == expected(model, table)


def test_a_rule_has_its_rows():
    model = formula(
        [Above("a", "x", 1), Above("b", "z", 1)], [[(0, True)], [(0, False), (1, True)]]
    )
    first, second = ET.fromstring(export_pmml(model).encode()).iter(f"{IN}SimpleRule")
    assert first.attrib == {
        "id": "0",
        "score": "true",
        "recordCount": "2",
        "nbCorrect": "2",
        "confidence": "1",
    }
    assert second.attrib == {
        "id": "1",
        "score": "true",
        "recordCount": "1",
        "nbCorrect": "1",
        "confidence": "1",
    }


def test_the_output_has_a_name_of_its_own():
    document = export_pmml(single(Above("a", "prediction", 1)))
    [output] = ET.fromstring(document.encode()).iter(f"{IN}OutputField")
    assert output.attrib["name"] == "prediction_"
