"""A dictionary of columns: what people call a model, its columns and their values."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dnfscale.core.about import About, Label
from dnfscale.core.model import Model
from dnfscale.data.models import model_record, parse_model
from dnfscale.errors import DataError
from dnfscale.export.pmml import export_pmml
from dnfscale.export.python import export_python
from dnfscale.export.text import export_text
from dnfscale.method.explain import explain_type
from dnfscale.method.narrate import write
from dnfscale.report.cards.formula import shown_formula
from dnfscale.report.cards.what_if import fields_of
from tests.data.models.small import same, small

ABOUT = About(
    "Smoke",
    "For the <b>clinic</b>.",
    {
        "age": Label("Age", "years"),
        "smoker": Label("Smoking", values={"true": "smokes", "false": "does not"}),
        "colour": Label(note="of the\nlabel", values={"dark red": "dark"}),
    },
)


@pytest.fixture
def labelled() -> Model:
    return small(about=ABOUT)


def test_a_dictionary_is_written_and_read_with_its_model(labelled):
    record = model_record(labelled)
    assert record["about"]["labels"]["age"] == {"title": "Age", "unit": "years"}
    assert same(parse_model(record), labelled)
    assert parse_model(record).about == ABOUT
    assert "about" not in model_record(small())


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ([], "about must be an object"),
        ({"title": 1}, "about.title must be text"),
        ({"labels": {"age": 1}}, r"about.labels\['age'\] must be an object"),
        ({"labels": {"age": {"values": {"1": 2}}}}, r"values\['1'\] must be text, got 2"),
    ],
)
def test_a_damaged_dictionary_is_refused(about, message):
    with pytest.raises(DataError, match=message):
        parse_model({**model_record(small()), "about": about})


def test_conditions_on_the_page_have_titles_units_and_names_of_values(labelled):
    shown = shown_formula(labelled)
    texts = [[asked.text for asked in line.conditions] for line in shown.lines]
    assert [sorted(each) for each in texts] == [
        ["Age > 38.5 years", "Smoking = smokes"],
        ["Age is not missing", "colour = dark"],
    ]
    labels = {field.column: field.label for field in fields_of([labelled])}
    assert labels == {"age": "Age, years", "colour": "colour", "smoker": "Smoking"}
    [colour] = [field for field in fields_of([labelled]) if field.column == "colour"]
    assert [option.text for option in colour.options] == ["dark", "another value", "missing"]


def test_exports_and_explanations_end_with_the_dictionary(labelled):
    told = [
        "Smoke",
        "For the <b>clinic</b>.",
        "age: Age, in years",
        "colour: dark red = dark; of the\\nlabel",
        "smoker: Smoking; true = smokes, false = does not",
    ]
    assert export_text(labelled).splitlines()[-5:] == told
    assert all(f"# {line}" in export_python(labelled).splitlines() for line in told)
    assert write(labelled, explain_type(labelled, 5)).splitlines()[-5:] == told
    assert 'displayName="Age, in years"' in export_pmml(labelled)


def test_a_dictionary_changes_no_formula(labelled):
    assert labelled.formula == small().formula
    plain = export_text(small())
    assert export_text(replace(labelled, about=About())) == plain
    assert export_text(labelled).startswith(plain)


@pytest.mark.parametrize(("value", "name"), [(1, "one"), (1.0, "one"), (True, None), ("1", "one")])
def test_values_are_named_by_their_text(value, name):
    assert Label(values={"1": "one"}).name_of(value) == name
