"""What is written comes back."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.quantities import Kind, Measure, Quantity
from dnfscale.core.seen import SeenColumn
from dnfscale.core.tree import to_dnf
from dnfscale.core.vocabulary import Above, Between, Equals, IsIn, Vocabulary
from dnfscale.data.models import (
    classes_text,
    model_record,
    model_text,
    parse_model,
    read_model,
    read_models,
)
from dnfscale.errors import DataError
from tests.data.models.small import ATTRIBUTES, SEEN, TREE, lined, same, small, ticked, written
from tests.export import examples


def test_a_model_comes_back_from_its_file(tmp_path):
    model = small(
        threshold=Fraction(2, 7),
        missing="indicator",
        unseen="dont_care",
        certificate={"delta": 0.05, "types": [1, None, "ä"]},
        provenance={"name": "job"},
    )
    again = read_model(written(tmp_path, model_text(model)))
    assert same(again, model)
    assert again.certificate == {"delta": 0.05, "types": [1, None, "ä"]}


def test_a_constant_of_no_attribute_comes_back(tmp_path):
    model = small(
        tau=Vocabulary(()),
        dnf=Dnf(()),
        counts=TypeCounts(0, np.array([0]), np.array([7]), np.array([1])),
    )
    assert same(read_model(written(tmp_path, model_text(model))), model)


@pytest.mark.parametrize("model", [small(seen=SEEN), replace(lined(), seen=SEEN)])
def test_what_columns_held_comes_back_from_files_of_both_versions(model, tmp_path):
    record = json.loads(model_text(model))
    assert record["columns"][0] == {
        "name": "age",
        "type": "int64",
        "least": 18,
        "greatest": 97,
        "values": None,
        "missing": 0.25,
    }
    assert record["columns"][1]["values"] == ["dark red", "red"]
    assert record["columns"][1]["unlisted"] == 3
    again = read_model(written(tmp_path, record))
    assert same(again, model)
    assert again.seen == SEEN


def test_ends_that_are_dates_or_infinite_come_back(tmp_path):
    day = Measure(Kind.DATE, 1)
    seen = (
        SeenColumn("age", "date32[day]", 0.0, Quantity(day, 19_000), Quantity(day, 20_000)),
        SeenColumn("smoker", "double", 0.0, -math.inf, math.inf),
        SeenColumn("colour", "null", 1.0),
    )
    again = read_model(written(tmp_path, model_text(small(seen=seen))))
    assert again.seen == seen


def test_what_columns_held_is_no_part_of_a_file_where_it_is_not_known():
    assert "columns" not in model_record(small())


def test_columns_that_may_be_taken_for_others_come_back(tmp_path):
    model = small(lookalikes={"age": ("Age", "AGE"), "smoker": ("Smoker",)})
    record = json.loads(model_text(model))
    assert record["lookalikes"] == {"age": ["Age", "AGE"], "smoker": ["Smoker"]}
    again = read_model(written(tmp_path, record))
    assert same(again, model)
    assert again.lookalikes == model.lookalikes


def test_a_file_without_columns_that_may_be_taken_for_others_does_not_speak_of_any():
    assert "lookalikes" not in model_record(small())
    assert parse_model(model_record(small())).lookalikes == {}


def test_a_formula_of_bounded_size_comes_back_as_its_tree(tmp_path):
    model = small(dnf=to_dnf(TREE), tree=TREE)
    record = json.loads(model_text(model))
    assert record["schema"] == "dnfscale.model/1"
    assert record["tree"] == ["or", ["and", 0, ["not", 1]], ["not", ["and", 2, 3]]]
    assert (
        record["formula"]
        == '(age_above_median and not "colour_dark red") or not (smoker and age_missing)'
    )
    assert len(record["terms"]) == 3
    assert same(read_model(written(tmp_path, record)), model)


def test_a_model_of_lines_comes_back(tmp_path):
    record = json.loads(model_text(lined()))
    assert (record["schema"], record["types"]) == ("dnfscale.model/2", "lines")
    assert record["lines"] == [{"all": term} for term in record["terms"]]
    assert record["attributes"][4]["test"] == "in"
    assert record["attributes"][4]["value"] == ["red", "dark blue"]
    assert record["counts"][1] == {"type": [True, False], "n": 3, "c": 3}
    again = read_model(written(tmp_path, record))
    assert same(again, lined())
    del record["terms"]
    assert same(read_model(written(tmp_path, record)), lined())


def test_a_checklist_comes_back_with_its_counts_by_the_number_of_signs(tmp_path):
    record = json.loads(model_text(ticked()))
    assert (record["schema"], record["types"]) == ("dnfscale.model/2", "signs")
    [line] = record["lines"]
    assert line["at_least"] == 2
    assert [each["value"] for each in line["of"]] == [True, True, True, False]
    assert len(record["terms"]) == 6
    assert record["counts"] == [
        {"type": 0, "n": 7, "c": 1},
        {"type": 1, "n": 3, "c": 1},
        {"type": 3, "n": 1, "c": 1},
    ]
    assert same(read_model(written(tmp_path, record)), ticked())
    del record["terms"]
    assert same(read_model(written(tmp_path, record)), ticked())


def test_a_formula_of_the_other_answer_comes_back(tmp_path):
    model = replace(lined(), answer=False)
    record = model_record(model)
    assert (record["answer"], "terms" in record) == (False, False)
    assert record["formula"] == f"not ({lined().formula})"
    assert same(read_model(written(tmp_path, record)), model)
    assert "answer" not in model_record(lined())


def test_a_set_of_values_is_written_in_the_second_version_and_anything_else_in_the_first():
    tau = Vocabulary((*ATTRIBUTES[:3], IsIn("colour_in", "colour", ("red", "blue"))))
    record = model_record(small(tau=tau))
    assert (record["schema"], record["types"]) == ("dnfscale.model/2", "attributes")
    assert same(parse_model(record), small(tau=tau))
    assert "lines" not in model_record(small())
    later = {**model_record(small()), "schema": "dnfscale.model/2", "types": "attributes"}
    later["lines"] = [{"all": term} for term in later["terms"]]
    assert model_record(parse_model(later)) == model_record(small())


def test_a_formula_of_more_terms_than_a_hundred_is_written_by_its_lines_alone():
    tau = Vocabulary((*ATTRIBUTES[:3], IsIn("colour_in", "colour", ("red", "blue"))))
    model = small(tau=tau, dnf=Dnf(tuple(Term(i % 16, 0) for i in range(101))))
    record = model_record(model)
    assert ("terms" in record, len(record["lines"])) == (False, 101)
    assert same(parse_model(record), model)


@pytest.mark.slow
@given(made=examples.cases())
def test_any_model_comes_back(made):
    again = parse_model(json.loads(model_text(made.model)))
    assert same(again, made.model)
    assert list(map(repr, again.tau.attributes)) == list(map(repr, made.model.tau.attributes))


@pytest.mark.parametrize(
    "value", [math.inf, -math.inf, 1e300, 5e-324, -0.0, 2**64 - 1, -(2**63), 38, 38.0, None]
)
def test_a_cut_keeps_its_value_and_its_type(value):
    model = examples.single(Above("a", "x", value))
    [attribute] = parse_model(json.loads(model_text(model))).tau.attributes
    assert isinstance(attribute, Above)
    assert (attribute.value, type(attribute.value)) == (value, type(value))


@pytest.mark.parametrize(
    "ends",
    [
        (-math.inf, math.inf),
        (1, 2.0),
        (-0.0, 5e-324),
        (-(2**63), 2**64 - 1),
        (2**53, 2**53 + 1),
        (None, None),
    ],
)
def test_an_interval_keeps_its_ends_and_their_types(ends):
    interval = Between("a", "x", *ends)
    [attribute] = parse_model(json.loads(model_text(examples.single(interval)))).tau.attributes
    assert repr(attribute) == repr(interval)


def test_an_interval_is_written_as_the_list_of_its_ends():
    day = Measure(Kind.DATE, 1)
    attributes = [
        Between("a", "x", -math.inf, 2.5),
        Between("b", "when", Quantity(day, 0), Quantity(day, 366)),
    ]
    number, date = model_record(examples.formula(attributes, []))["attributes"]
    assert number == {"name": "a", "column": "x", "test": "between", "value": ["-inf", 2.5]}
    written = {"value": ["1970-01-01", "1971-01-02"], "measure": "date"}
    assert date == {"name": "b", "column": "when", "test": "between", **written}


@pytest.mark.parametrize("value", [math.inf, "inf", True, 1, 1.0, "1", "", "ä\n\0😀"])
def test_a_category_keeps_its_value_and_its_type(value):
    model = examples.formula([Equals("a", "x", value)], [[(0, True)]], positive=(value,))
    again = parse_model(json.loads(model_text(model)))
    [attribute] = again.tau.attributes
    assert isinstance(attribute, Equals)
    assert (attribute.value, type(attribute.value)) == (value, type(value))
    assert (again.positive, type(again.positive[0])) == ((value,), type(value))


def test_a_model_without_counts_or_terms_comes_back():
    model = small(
        dnf=Dnf(()), counts=TypeCounts(4, *(np.empty(0, dtype=np.int64) for _ in range(3)))
    )
    assert same(parse_model(model_record(model)), model)


def test_several_classes_come_back(tmp_path):
    models = [small(positive=(label,)) for label in ("a", "b", "3")]
    file = written(tmp_path, classes_text(models))
    assert [same(one, other) for one, other in zip(read_models(file), models, strict=True)] == [
        True
    ] * 3
    assert same(read_model(file, "3"), models[2])
    with pytest.raises(
        DataError, match=r"expected one of its labels, 'a', 'b', '3', but got 'c'; pass --label"
    ):
        read_model(file, "c")
