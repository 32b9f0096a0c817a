"""The rule file, carried out by twenty lines of plain Python, says what predict says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from dnfscale.core.model import Model
from dnfscale.core.vocabulary import Above
from dnfscale.export.rules import export_rules
from dnfscale.results.schemas import json_schema
from tests.export import examples
from tests.export.examples import expected, formula
from tests.export.test_several import LABELS, holds, learned

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")


def plain(value: Any) -> Any:
    return float(value["float"]) if isinstance(value, dict) else value


def met(condition: dict[str, Any], row: dict[str, Any]) -> bool:
    """Whether a row meets a condition, as the format says."""
    value = row[condition["column"]]
    missing = value is None or value != value
    if "missing" in condition:
        return condition["missing"] == missing
    if "in" in condition:
        asked = [plain(each) for each in condition["in"]]
        inside = not missing and any(value == each for each in asked)
        return inside != condition.get("negated", False)
    low, high = (plain(condition.get(end)) for end in ("above", "up_to"))
    if low is None:
        return missing or value <= high
    inside = not missing and value > low and (high is None or value <= high)
    return inside != condition.get("negated", False)


def answers(file: dict[str, Any], rows: list[dict[str, Any]]) -> list[list[bool]]:
    """What each formula of a rule file says of each row."""
    return [[says(formula, row) for row in rows] for formula in file["formulas"]]


def says(formula: dict[str, Any], row: dict[str, Any]) -> bool:
    held = False
    for line in formula["lines"]:
        hits = [met(condition, row) for condition in line["conditions"]]
        held |= sum(hits) >= line.get("at_least", len(hits))
    return held == formula["answer"]


def read(model: Model) -> dict[str, Any]:
    file = json.loads(export_rules(model))
    jsonschema.validate(file, json_schema("rules"))
    return file


@pytest.mark.slow
def test_a_reader_of_rules_says_what_predict_says(case):
    [found] = answers(read(case.model), case.table.to_pylist())
    assert found == expected(case.model, case.table)


@given(made=examples.cases())
@settings(max_examples=40)
def test_a_reader_agrees_on_any_model_and_any_rows(made):
    [found] = answers(read(made.model), made.table.to_pylist())
    assert found == expected(made.model, made.table)


def test_several_labels_have_a_formula_each():
    model, frame = learned("attributes")
    file = json.loads(model.to_rules())
    jsonschema.validate(file, json_schema("rules"))
    assert [each["labels"] for each in file["formulas"]] == [[label] for label in LABELS]
    rows = [
        {key: None if value is None or value != value else value for key, value in row.items()}
        for row in frame.astype(object).where(frame.notna(), None).to_dict("records")
    ]
    assert answers(file, rows) == holds(model, frame)


def test_a_rule_is_small_and_says_how_many_rows_meet_it():
    [line] = read(formula([Above("a", "age", 38)], [[(0, True)]]))["formulas"][0]["lines"]
    assert line == {
        "conditions": [{"column": "age", "above": 38}],
        "rows": 1,
        "positive_rows": 1,
    }
