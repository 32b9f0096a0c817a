"""Every file that is written keeps to the JSON Schema that is printed for it."""

from __future__ import annotations

import json

import pytest

from dnfscale import IdealClassifier, check, study
from dnfscale.data.models import classes_text, model_text
from dnfscale.jobs.cli import command_parser
from dnfscale.results.schemas import FILES, json_schema
from tests.examples import adult_like
from tests.export import examples
from tests.export.test_several import learned

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")


def keeps(text: str, kind: str) -> None:
    schema = json_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(text), schema)


@pytest.mark.parametrize("kind", FILES)
def test_every_schema_is_one_and_names_the_version(kind):
    schema = json_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert f"dnfscale.{'model' if kind == 'model' else kind}/" in json.dumps(schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"schema": "dnfscale.other/1"}, schema)
    assert command_parser().parse_args(["schema", kind]).kind == kind


def test_models_keep_to_their_schema(case_models):
    for text in case_models:
        keeps(text, "model")


@pytest.fixture
def case_models() -> list[str]:
    several, _ = learned("attributes")
    known = [examples.hostile(), examples.lines(), examples.checklist(), examples.mixed()]
    frame = adult_like()
    frame = frame.filter(frame["income"].is_valid())
    plain = IdealClassifier(profile="paper", missing="indicator", max_ell=3)
    plain.fit(frame.drop_columns(["income"]), frame["income"].to_pylist())
    return [
        *(model_text(case.model) for case in known),
        classes_text(several.models_),
        model_text(plain.models_[0]),
    ]


@pytest.mark.slow
def test_a_study_and_a_check_keep_to_theirs():
    table = adult_like().slice(0, 500)
    found = study(
        table, "income", positive=[">50K"], missing="indicator", max_ell=2, outer=2, stratify=True
    )
    keeps(found.to_json(), "result")
    keeps(found.__dict__["model_texts"]["frontier.json"], "frontier")
    keeps(check(table, "income").to_json(), "check")
    wrong = json.loads(found.to_json())
    wrong["data"]["rows"] = "many"
    with pytest.raises(jsonschema.ValidationError, match="'many' is not"):
        jsonschema.validate(wrong, json_schema("result"))
