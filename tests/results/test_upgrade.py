"""Results of the first schema, as version 0.1.0 wrote them (in `first/`, without line breaks): read
as ever.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.formula import Dnf, Term
from dnfscale.errors import DataError
from dnfscale.report import render_figures, render_report, report_run
from dnfscale.report.measured import round_share
from dnfscale.results.result import Result, parse_result, result_text
from dnfscale.results.upgrade import parse_terms, upgraded
from tests.report.pages import Document

FIRST = Path(__file__).parent / "first"
CASES = sorted(file.name.removesuffix("-result.json") for file in FIRST.glob("*-result.json"))


def first(case: str, file: str = "result") -> dict[str, Any]:
    record: dict[str, Any] = json.loads((FIRST / f"{case}-{file}.json").read_text(encoding="utf-8"))
    return record


def text_of(result: Result, model: object) -> str:
    return Document(render_report([report_run(result, model)])).text


def test_there_is_a_result_of_every_kind():
    assert CASES == ["balanced", "classes", "cost", "distill", "fit", "study", "weights"]
    assert all(first(case)["schema"] == "dnfscale.result/1" for case in CASES)


@pytest.mark.parametrize("case", CASES)
def test_what_was_recorded_is_kept_and_what_was_not_is_null(case):
    old, new = first(case), parse_result(first(case))
    assert (new.name, new.kind, new.seed) == (old["name"], old["kind"], old["seed"])
    assert list(new.methods) == list(old["methods"])
    for name, method in new.methods.items():
        record = old["methods"][name]
        assert (method.accuracy_mean, method.accuracy_std) == (
            record["accuracy_mean"],
            record["accuracy_std"],
        )
        assert [fold.accuracy for fold in method.folds] == [
            fold.get("accuracy") for fold in record["folds"]
        ]
        assert all(
            fold.correct is None or fold.confusion_matrix is not None for fold in method.folds
        )
        assert all(fold.confusion is None for fold in method.folds)
    assert parse_result(json.loads(result_text(new))) == new


@pytest.mark.parametrize("case", CASES)
def test_the_formulas_of_folds_are_lines_over_their_attributes(case):
    old, new = first(case)["methods"]["ideal"], parse_result(first(case)).methods["ideal"]
    for fold, record in zip(new.folds, old["folds"], strict=True):
        entries = record.get("classes", [record])
        for formula, entry in zip(fold.formulas, entries, strict=True):
            assert formula.lines is not None
            literals = [
                tuple((each.attribute, each.value) for each in line.all) for line in formula.lines
            ]
            terms = [
                Term(sum(1 << i for i, _ in t), sum(1 << i for i, holds in t if holds))
                for t in literals
            ]
            assert (
                Dnf(tuple(terms)).render(formula.attribute_names)
                == formula.formula
                == entry["formula"]
            )


@pytest.mark.parametrize("case", CASES)
def test_a_page_of_the_first_schema_is_written_with_all_its_figures(case):
    result = parse_result(first(case))
    run = report_run(result, first(case, "model"))
    assert run.refused is None
    assert render_figures([run])
    text = text_of(result, first(case, "model"))
    for method in result.methods.values():
        if method.accuracy_mean is not None:
            assert f"{100 * method.accuracy_mean:.1f}" in text


def test_weights_become_whole_numbers_of_the_unit_that_makes_them_so():
    old, new = first("weights"), parse_result(first("weights"))
    assert new.data.weight is not None
    unit = new.data.weight.unit
    assert unit is not None
    for fold, record in zip(
        new.methods["ideal"].folds, old["methods"]["ideal"]["folds"], strict=True
    ):
        lines = fold.formulas[0].lines or ()
        told = [
            (line.n / unit, line.c / unit)
            for line in lines
            if line.n is not None and line.c is not None
        ]
        assert told == [(count["n"], count["c"]) for count in record["term_weights"]]


@pytest.mark.parametrize(
    ("weight", "total", "unit"),
    [
        (20.0, 90.0, 1),
        (2.5, 90.0, 10),
        (19.99, 99.5, 100),
        (1 / 3, 1 / 3, 1 << 54),
        (12345.678901, 20000.0, 10**6),
        (1 / 3, 2.0**30, None),
    ],
)
def test_a_unit_is_found_for_decimals_and_for_binary_fractions(weight, total, unit):
    record = first("fit")
    record["data"]["weight"] = {
        "column": "w",
        "total": total,
        "positive": weight,
        "rows_without": 0,
    }
    model = record["methods"]["ideal"]["model"]
    del model["term_counts"]
    model["term_weights"] = [{"n": weight, "c": 0.0}]
    result = parse_result(record)
    assert result.data.weight is not None
    assert result.data.weight.unit == unit
    [line] = result.methods["ideal"].models[0].lines or ()
    assert line.n is None if unit is None else line.n is not None
    assert line.n is None or line.n / result.unit == weight


def test_the_lines_of_weighted_folds_have_their_support_on_the_page():
    old = first("weights")
    text = text_of(parse_result(old), first("weights", "model"))
    for fold in old["methods"]["ideal"]["folds"]:
        for count in fold["term_weights"]:
            share = round_share(count["c"] / count["n"])
            assert f"weight {count['n']:,.1f}, {share} positive" in text
    assert "interval" not in text.split("The formula of each fold")[-1].split("How stable")[0]


def test_a_result_with_the_least_that_a_result_can_have_is_reported():
    bare = {"schema": "dnfscale.result/1", "name": "bare", "methods": {}}
    assert "bare" in text_of(parse_result(bare), None)
    ideal = {
        "accuracy_mean": 0.5,
        "accuracy_std": 0.1,
        "folds": [{"accuracy": 0.5}, {"accuracy": 0.5}],
    }
    old = {"schema": "dnfscale.result/1", "name": "old", "methods": {"ideal": ideal}}
    assert "50.0 %" in text_of(parse_result(old), None)


def test_without_times_by_method_the_learning_time_is_the_formulas():
    record = first("fit")
    record["timing"] = {"learn_s": 0.5}
    assert parse_result(record).timing.methods_s == {"ideal": 0.5}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("data", 5),
        ("data.weight", 7),
        ("data.weight.total", "much"),
        ("methods", []),
        ("methods.ideal", None),
        ("methods.ideal.folds", 3),
        ("methods.ideal.folds.0", "first"),
        ("methods.ideal.folds.0.formula", ["x"]),
        ("methods.ideal.folds.0.ell", 501),
        ("methods.ideal.folds.0.term_weights.0", {}),
        ("methods.ideal.folds.0.sweep", [[]]),
        ("methods.ideal.model.sweep.0.ell", -1),
        ("timing", "short"),
        ("environment", 0),
    ],
)
def test_damage_is_told_without_a_traceback(path, value):
    record = copy.deepcopy(first("weights"))
    *parents, last = path.split(".")
    place: Any = record
    for key in parents:
        place = place[int(key)] if key.isdigit() else place[key]
    place[int(last) if last.isdigit() else last] = value
    with pytest.raises(DataError, match="damaged"):
        parse_result(record)


NAMES = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4, unique=True)


@given(NAMES, st.data())
def test_a_formula_is_read_back_as_it_was_written(names, data):
    full = (1 << len(names)) - 1
    cares = data.draw(st.lists(st.integers(1, full), min_size=1, max_size=4))
    terms = tuple(Term(care, data.draw(st.integers(0, full)) & care) for care in cares)
    read = parse_terms(Dnf(terms).render(names), names)
    assert read == [list(term.literals) for term in terms]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("false", []),
        ("true", [[]]),
        ("a", [[(0, True)]]),
        ("(a or b) and c", None),
        ("a and (b or c)", None),
        ("not (a and b)", None),
        ("a and", None),
        ("a b", None),
        ("a and d", None),
        ("((a and b))", None),
        ("(a and b", None),
        ("a > 3", None),
        ("", None),
    ],
)
def test_what_is_not_a_disjunction_of_terms_is_not_guessed_at(text, terms):
    assert parse_terms(text, ["a", "b", "c"]) == terms


def test_the_upgrade_leaves_the_record_as_it_was():
    record = first("study")
    upgraded(record)
    assert record == first("study")
