"""result.json: written and read by the same class, its shares made of integers, and no damage let
in.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dnfscale.compare.comparison import compare
from dnfscale.errors import DataError
from dnfscale.jobs.runner import Options, run
from dnfscale.results.method import Fold, Method
from dnfscale.results.result import parse_result, read_result, result_text
from dnfscale.spec.job import read_spec
from tests.jobs.running import read_json, small_table, spec_text, write_table
from tests.report.runs import labels_run, plain_run, sized_run

FOLDS = {"folds": {"outer": 3}, "select": {"max_ell": 3}}
LABELLED = {"target": "s", "classes": "all"}
STUDIES: dict[str, dict[str, Any]] = {
    "two": {"baselines.random_forest": {"trials": 1}, "baselines.decision_tree": {}},
    "weighted": {
        "data": {"weight": "w"},
        "baselines.random_forest": {"trials": 1},
        "baselines.decision_tree": {},
    },
    "labels": {"data": LABELLED, "baselines.random_forest": {"trials": 1}},
}


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Runs a study once, and returns its folder."""

    @cache
    def run_study(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        table = small_table()
        if name == "weighted":
            table["w"] = np.round(np.random.default_rng(5).gamma(2, 1, 240), 2)
        write_table(folder / "t.parquet", table)
        data = {"path": str(folder / "t.parquet"), **STUDIES[name].get("data", {})}
        spec = {**FOLDS, **STUDIES[name], "data": data, "output": {"dir": str(folder)}}
        (folder / "job.toml").write_text(spec_text(kind="study", **spec), encoding="utf-8")
        with open(os.devnull, "w") as nowhere:
            run(read_spec(folder / "job.toml"), Options(), out=nowhere, err=nowhere)
        return folder / "job"

    return run_study


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_a_result_is_written_as_it_was_read(studied, name):
    content = (studied(name) / "result.json").read_bytes()
    assert result_text(read_result(content)).encode() == content


@pytest.mark.parametrize("name", STUDIES)
def test_every_accuracy_is_made_of_the_integers_beside_it(studied, name):
    result = read_json(studied(name) / "result.json")
    for method in result["methods"].values():
        for fold in method["folds"]:
            assert fold["accuracy"] == fold["correct"] / fold["tested"]
            if name == "labels":
                matrix = np.array(fold["confusion_matrix"])
                assert (matrix.trace(), matrix.sum()) == (fold["correct"], fold["tested"])
            else:
                tp, fp, tn, fn = (fold["confusion"][key] for key in ("tp", "fp", "tn", "fn"))
                assert (tp + tn, tp + fp + tn + fn) == (fold["correct"], fold["tested"])
        shares = [Fraction(fold["correct"], fold["tested"]) for fold in method["folds"]]
        assert method["accuracy_mean"] == float(sum(shares) / len(shares))
    model = result["methods"]["ideal"]["model"]
    if name != "labels":
        assert model["training_accuracy"] == model["correct"] / model["counted"]


@pytest.mark.parametrize("name", ["two", "weighted"])
def test_comparisons_are_those_of_the_exact_shares(studied, name):
    result = read_json(studied(name) / "result.json")
    folds = {
        method: [Fraction(fold["correct"], fold["tested"]) for fold in record["folds"]]
        for method, record in result["methods"].items()
    }
    first = result["methods"]["ideal"]["folds"]
    trained = sum(fold["train_rows"] + fold["validation_rows"] for fold in first)
    share = sum(fold["test_rows"] for fold in first) / trained
    assert len(result["comparisons"]) == len(folds) - 1
    for record in result["comparisons"]:
        other = record["other"]
        found = compare("ideal", other, folds["ideal"], folds[other], test_share=share)
        assert found is not None
        assert record == {key: getattr(found, key) for key in record}


def test_units_of_weight_make_up_the_weights(studied):
    result = read_json(studied("weighted") / "result.json")
    weight = result["data"]["weight"]
    tested = sum(fold["tested"] for fold in result["methods"]["ideal"]["folds"])
    assert weight["unit"] > 1
    assert tested / weight["unit"] == weight["total"]
    [line, *_] = result["methods"]["ideal"]["model"]["formulas"][0]["lines"]
    model = read_json(studied("weighted") / "model.json")
    held = [
        (count["n"], count["c"])
        for count in model["counts"]
        if all(count["type"][each["attribute"]] is each["value"] for each in line["all"])
    ]
    assert (line["n"], line["c"]) == tuple(map(sum, zip(*held, strict=True)))


def test_the_keys_of_a_folds_only_formula_are_those_that_programs_rely_on(studied):
    for fold in read_json(studied("two") / "result.json")["methods"]["ideal"]["folds"]:
        [formula] = fold["formulas"]
        for key in ("search", "ell", "rank", "formula", "terms", "literals", "sweep"):
            assert fold[key] == formula[key]
        assert fold["attributes"] == [attribute["name"] for attribute in formula["attributes"]]
        assert fold["search"] == "attributes"


def test_the_formulas_of_a_fold_have_their_attributes_as_model_files_do(studied):
    result = read_json(studied("two") / "result.json")
    [formula] = result["methods"]["ideal"]["model"]["formulas"]
    model = read_json(studied("two") / "model.json")
    assert formula["attributes"] == model["attributes"]
    assert [line["all"] for line in formula["lines"]] == model["terms"]


def test_several_labels_have_a_formula_each_and_no_keys_of_a_single_one(studied):
    for fold in read_json(studied("labels") / "result.json")["methods"]["ideal"]["folds"]:
        assert [formula["label"] for formula in fold["formulas"]] == ["blue", "green", "red"]
        assert not {"formula", "ell", "rank", "attributes", "sweep", "confusion"} & set(fold)


def test_a_fold_derives_its_shares_whatever_a_file_says_of_them():
    fold = Fold(fold=0, correct=3, tested=4, accuracy=0.1)
    assert fold.accuracy == 0.75
    assert fold.share == Fraction(3, 4)
    assert Method.over([fold, Fold(fold=1, error="lost")]).failed_folds == 1


SIZED = sized_run().result["methods"]["formula_size"]["folds"][0]["sized"][0]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("methods.ideal.folds.0.formulas.0.ell", 501, "Expected `int` <= 500"),
        ("methods.ideal.folds.0.formulas.0.ell", "three", "Expected `int`, got `str`"),
        ("methods.ideal.folds.0.formulas.0.lines.0.all.0.attribute", 9, "uses attribute 9 of 3"),
        ("methods.ideal.folds.0.accuracy", 1.5, "Expected `float` <= 1.0"),
        ("methods.ideal.folds.0.confusion_matrix", [[1, 2]], "a line and a column for each"),
        (
            "methods.ideal.folds.0.formulas.0.lines.0",
            {"all": [], "n": 3, "c": 4},
            "4 of 3 rows cannot be positive",
        ),
        (
            "methods.ideal.folds.0.sized",
            [SIZED, SIZED],
            "each of 2 formulas must have a label of its own",
        ),
        ("methods.ideal.folds.0.correct", 21, "21 of 20 rows cannot be right"),
        ("methods.ideal.folds", {}, "Expected `array`, got `object`"),
        ("methods.ideal.model.formulas", None, "Expected `array`, got `null`"),
        ("methods.formula_size.folds.0.sized.0.path.0.size", 10**9, "Expected `int` <= 64"),
        ("data.rows", -1, "Expected `int` >= 0"),
        ("timing.total_s", "long", "Expected `float | null`, got `str` - at `$.timing.total_s`"),
        ("name", 5, "Expected `str`, got `int`"),
    ],
)
def test_a_damaged_part_is_told_and_where_it_is(path, value, message):
    record = copy.deepcopy(sized_run().result)
    record["methods"]["ideal"]["folds"][0]["tested"] = 20
    *parents, last = path.split(".")
    place: Any = record
    for key in parents:
        place = place[int(key)] if key.isdigit() else place[key]
    place[int(last) if last.isdigit() else last] = value
    with pytest.raises(
        DataError, match=f"expected a result, but it is damaged: .*{re.escape(message)}"
    ):
        parse_result(record)


def test_keys_of_later_versions_are_passed_over():
    record = plain_run().result
    record["methods"]["ideal"]["folds"][0]["stability"] = [{"literals": 3}]
    assert parse_result({**record, "later": {"x": 1}}) == plain_run().read


@pytest.mark.parametrize(
    "schema", ["dnfscale.result/3", "dnfscale.suite/1", "something/1", None, 5]
)
def test_a_result_of_another_schema_is_refused(schema):
    with pytest.raises(
        DataError, match=r"expected the result\.json of a study or a fit, schema dnfscale.result/2"
    ):
        parse_result({**plain_run().result, "schema": schema})
    with pytest.raises(DataError, match="got schema None"):
        parse_result([])


@pytest.mark.parametrize("content", [b"{", b'{"schema": NaN}', b'"\xff"', b"[" * 100_000, b""])
def test_what_is_not_json_is_refused(content):
    with pytest.raises(DataError, match="expected"):
        read_result(content)


def test_the_confusion_of_labels_is_known_if_every_fold_has_one_of_these_labels():
    run = labels_run()
    assert run.read.confusion is not None
    folds = run.result["methods"]["ideal"]["folds"]
    folds[0]["confusion_matrix"] = [[1, 0], [0, 1]]
    assert run.read.confusion is None
    del folds[0]["confusion_matrix"]
    assert run.read.confusion is None


def test_infinite_labels_are_written_as_objects():
    run = labels_run([{"float": "-inf"}, 0.5, {"float": "inf"}])
    assert run.read.labels == ("-inf", "0.5", "inf")
    assert json.loads(result_text(run.read))["data"]["classes"][0]["label"] == {"float": "-inf"}
