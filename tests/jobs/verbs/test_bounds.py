"""`dnfscale bounds` says how many rows a promise takes, what rows promise, and what those of a
model do.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from dnfscale.core.counts import from_dense
from dnfscale.core.formula import Dnf, Term
from dnfscale.method.bounds import class_error, corollary_error, least_error, separation
from dnfscale.method.certificate import certify, certify_terms, sentences, to_record
from dnfscale.results.record import plain
from tests.jobs.running import Desk, Ended

MODEL = {
    "schema": "dnfscale.model/1",
    "target": "ill",
    "positive": [True],
    "attributes": [
        {"name": "age_above_median", "column": "age", "test": "above", "value": 41.5},
        {"name": "smoker", "column": "smoker", "test": "true", "value": True},
    ],
    "terms": [
        [{"attribute": 1, "value": True}],
        [{"attribute": 0, "value": True}, {"attribute": 1, "value": False}],
    ],
    "counts": [
        {"type": [False, False], "n": 300, "c": 12},
        {"type": [True, False], "n": 40, "c": 24},
        {"type": [True, True], "n": 200, "c": 190},
    ],
    "formula": "smoker or (age_above_median and not smoker)",
    "certificate": {"rows": 540, "delta": 0.05, "epsilon": 0.1371, "chosen_on_the_same_rows": True},
    "provenance": {},
}
DNF = Dnf((Term(2, 2), Term(3, 1)))


def bounds(desk: Desk, *arguments: str) -> Ended:
    return desk.here("bounds", *arguments)


def with_model(desk: Desk, *arguments: str, **changes: object) -> Ended:
    (desk.path / "model.json").write_text(json.dumps({**MODEL, **changes}), encoding="utf-8")
    return bounds(desk, "--model", "model.json", *arguments)


def test_the_papers_example_takes_377_742_rows_by_its_corollary_and_8_675_by_the_finite_class(desk):
    ended = bounds(desk, "--attributes", "3", "--delta", "0.01", "--epsilon", "0.05")
    assert (ended.code, ended.err) == (0, "")
    lines = {line.split("  ")[0]: line for line in ended.out.splitlines()}
    assert " 5,903  the best answer for every type" in lines["theorem"]
    assert (
        " 377,742  the formula errs at most 0.05 more often than the best one" in lines["corollary"]
    )
    assert (
        " 8,675  the formula errs at most 0.05 more often than the best one"
        in lines["finite class"]
    )
    assert (
        "3 attributes tell 8 types of rows apart; each promise holds with probability 99 %"
        in ended.out
    )
    assert "attributes chosen without looking at them" in ended.out
    assert "18,887" in ended.out


def test_the_papers_slip_is_told_of_at_its_example_only(desk):
    ended = bounds(desk, "--attributes", "3", "--delta", "0.01", "--epsilon", "0.04")
    assert ended.code == 0
    assert "18,887" not in ended.out


def test_rows_give_the_epsilon_of_each_bound_rounded_up(desk):
    ended = bounds(desk, "--attributes", "3", "--delta", "0.01", "--rows", "8675")
    assert ended.code == 0
    lines = {line.split("  ")[0]: line.split() for line in ended.out.splitlines()}
    assert lines["theorem"][1] == "0.0413"
    assert lines["corollary"][1] == "0.3300"
    assert lines["finite class"][2] == "0.0500"
    assert "what 8,675 rows promise" in ended.out


def test_an_epsilon_of_one_or_more_is_said_to_promise_nothing(desk):
    ended = bounds(desk, "--attributes", "10", "--rows", "100")
    promises = [line for line in ended.out.splitlines() if "nothing: no error is above 1" in line]
    assert [line.split("  ")[0] for line in promises] == ["corollary", "finite class"]


def test_sizes_that_nobody_counts_to_are_written_as_powers_of_ten(desk):
    ended = bounds(desk, "--attributes", "60", "--epsilon", "0.1")
    assert ended.code == 0
    assert "1.15e+18 types" in ended.out
    assert max(len(line) for line in ended.out.splitlines()) <= 120


def test_the_numbers_come_as_json(desk):
    rows = json.loads(
        bounds(desk, "--attributes", "3", "--delta", "0.01", "--epsilon", "0.05", "--json").out
    )
    assert rows == {
        "attributes": 3,
        "delta": 0.01,
        "epsilon": 0.05,
        "rows": {
            "theorem": 5903,
            "corollary": 377_742,
            "finite_class": 8675,
            "least_for_error": 8675,
        },
    }
    epsilons = json.loads(
        bounds(desk, "--attributes", "3", "--delta", "0.01", "--rows", "1000", "--json").out
    )
    assert epsilons["epsilon"] == {
        "theorem": separation(1000, 3, 0.01),
        "corollary": corollary_error(1000, 3, 0.01),
        "finite_class": class_error(1000, 3, 0.01),
        "least_for_error": least_error(1000, 3, 0.01),
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "--attributes 3 --epsilon 0.1 --delta 0",
            "--delta must lie between 0 and 1, got 0.0; 0.05 promises",
        ),
        (
            "--attributes 3 --epsilon 0.1 --delta 1",
            "--delta must lie between 0 and 1, got 1.0; 0.05 promises",
        ),
        (
            "--attributes 3 --epsilon 0.1 --delta nan",
            "--delta must lie between 0 and 1, got nan; 0.05 promises",
        ),
        (
            "--attributes 3 --epsilon 0",
            "--epsilon must be above 0 and at most 1, got 0.0; 0.05 is five points",
        ),
        (
            "--attributes 3 --epsilon 1.5",
            "--epsilon must be above 0 and at most 1, got 1.5; 0.05 is five points",
        ),
        ("--attributes 0 --epsilon 0.1", "--attributes must be between 1 and 60, got 0"),
        ("--attributes 61 --epsilon 0.1", "--attributes must be between 1 and 60, got 61"),
        ("--attributes 3 --rows 0", "--rows must be at least 1, got 0"),
        (
            "--attributes 3",
            "bounds needs either --epsilon or --rows, got neither; add the one that you know",
        ),
        (
            "--attributes 3 --epsilon 0.1 --rows 5",
            "bounds needs either --epsilon or --rows, got both; leave one out",
        ),
        (
            "--epsilon 0.1",
            "bounds needs --attributes ELL with --epsilon or --rows, or --model FILE; got neither",
        ),
        (
            "--model m.json --rows 5",
            "--model brings its own attributes and rows, got --rows as well; leave one",
        ),
    ],
)
def test_what_cannot_be_answered_is_refused_with_what_to_change(desk, arguments, message):
    ended = bounds(desk, *arguments.split())
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.message


def test_a_word_instead_of_a_number_is_refused(desk):
    ended = bounds(desk, "--attributes", "three", "--epsilon", "0.1")
    assert ended.code == 2
    assert "invalid int value: 'three'" in ended.message


# --model


def test_a_model_is_told_of_in_sentences_and_by_term(desk):
    ended = with_model(desk)
    assert (ended.code, ended.err) == (0, "")
    n, c = np.array([300, 40, 0, 200]), np.array([12, 24, 0, 190])
    certificate = certify(from_dense(n - c, c), delta=0.05, chosen_on_these_rows=True, formula=DNF)
    lines = ended.out.splitlines()
    told = sentences(certificate)
    assert lines[: len(told)] == told
    assert "the attributes were chosen on these same rows" in lines[1]
    assert lines[-2].startswith("  smoker: 190 of 200 rows positive, chance 0.8")
    assert lines[-2].endswith("the answer is certified for 100.0 % of them")
    assert lines[-1].startswith("  age > 41.5 and not smoker: 24 of 40 rows positive, chance 0.3")
    assert lines[-1].endswith("the answer is certified for 0.0 % of them")


def test_a_model_is_told_of_as_json(desk):
    ended = with_model(
        desk, "--json", "--delta", "0.2", certificate={"chosen_on_the_same_rows": False}
    )
    n, c = np.array([300, 40, 0, 200]), np.array([12, 24, 0, 190])
    certificate = certify(from_dense(n - c, c), delta=0.2, chosen_on_these_rows=False, formula=DNF)
    terms = certify_terms(DNF, certificate, delta=0.2, formed_on_these_rows=True)
    assert json.loads(ended.out) == plain(to_record(certificate, terms))


def test_a_model_that_does_not_say_is_taken_to_have_chosen_on_its_rows(desk):
    assert (
        json.loads(with_model(desk, "--json", certificate={}).out)["chosen_on_the_same_rows"]
        is True
    )


def test_a_model_without_terms_has_a_certificate_too(desk):
    ended = with_model(desk, terms=[], formula="false")
    assert ended.code == 0
    assert "The opposite answer is certified to be the best for 1" in ended.out
    assert "by term" not in ended.out


def test_the_threshold_of_a_model_is_that_of_its_certificate(desk):
    assert json.loads(with_model(desk, "--json", threshold="1/5").out)["threshold"] == 0.2


def test_weighted_rows_have_no_certificate(desk):
    ended = with_model(desk, weighted=True)
    assert ended.code == 3
    assert (
        "must have counts of plain rows, got weighted ones; learn without weights" in ended.message
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attributes": None}, "attributes must be a list, got None"),
        ({"attributes": ["smoker"]}, "attributes[0] must be an object, got 'smoker'"),
        ({"counts": [{"type": [True], "n": 1, "c": 1}]}, "counts[0].type must list 2 truth values"),
        ({"counts": [{"type": [True, True], "n": 1, "c": 2}]}, "counts[0] must have c <= n"),
        ({"counts": [{"n": 1, "c": 2}]}, "counts[0].type must be a list, but it is not there"),
        (
            {"terms": [[{"attribute": 2, "value": True}]]},
            "terms[0][0].attribute must be below 2, got 2",
        ),
        ({"certificate": 5}, "certificate must be an object, got 5"),
        ({"threshold": "half"}, "threshold must be a fraction such as '1/2', got 'half'"),
    ],
)
def test_a_file_that_is_no_model_is_bad_data(desk, changes, message):
    ended = with_model(desk, **changes)
    assert (ended.code, ended.out) == (3, "")
    assert f"model.json: {message}" in ended.message


def test_a_model_that_is_not_there_is_bad_data(desk):
    ended = bounds(desk, "--model", "m.json")
    assert (ended.code, ended.out) == (3, "")
    assert "m.json: expected a model file, but No such file or directory" in ended.message


def test_a_file_that_is_not_json_is_bad_data(desk):
    (desk.path / "model.json").write_text("a or b", encoding="utf-8")
    ended = bounds(desk, "--model", "model.json")
    assert ended.code == 3
    assert "model.json: expected a model file in JSON" in ended.message


def test_the_verb_needs_no_scipy_for_sample_sizes(desk):
    ended = desk.apart(
        "bounds", "--attributes", "3", "--epsilon", "0.05", PYTHONPROFILEIMPORTTIME="1"
    )
    assert ended.code == 0
    assert "dnfscale.method.certificate" in ended.err
    assert "scipy" not in ended.err
