"""The verb choose, from outside: other formulas of a run's frontier, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dnfscale.data.models import parse_models, read_model
from tests.jobs.running import read_json


@pytest.fixture
def ran(laid_desk):
    """A folder in which a study of two classes has run."""
    assert laid_desk.run(kind="study", seed=5).code == 0
    return laid_desk


def choose(desk, *arguments):
    return desk.here("choose", str(desk.folder()), *arguments)


def formulas(desk):
    return read_json(desk.folder() / "frontier.json")["formulas"]


def test_the_frontier_has_the_formula_of_the_model_file_and_marks_it(ran):
    [shown] = [each for each in formulas(ran) if each["shown"]]
    assert shown["model"] == read_json(ran.folder() / "model.json")
    [point] = [p for p in ran.result()["methods"]["ideal"]["frontier"] if p.get("shown")]
    assert shown["tested"] == point


def test_every_formula_of_the_frontier_counts_all_rows_right(ran):
    for each in formulas(ran):
        [model] = parse_models(each["model"])
        accepted = model.accepts(model.counts.codes)
        right = np.where(accepted, model.counts.c, model.counts.n - model.counts.c).sum()
        assert (each["correct"], each["counted"]) == (right, model.counts.n_rows)


def test_a_formula_is_chosen_by_its_attributes(ran):
    ended = choose(ran, "--ell", "1")
    assert ended.code == 0, ended.err
    assert "on test rows by formulas of 1 attribute" in ended.out
    assert len(read_model(ran.folder() / "chosen" / "model.json").tau) == 1


def test_a_formula_is_chosen_by_its_length_into_a_file(ran):
    ended = choose(ran, "--literals", "2", "--output", str(ran.path / "short.json"))
    assert ended.code == 0, ended.err
    longest = max(each["literals"] for each in formulas(ran) if each["literals"] <= 2)
    assert f"{longest} condition" in ended.out
    assert read_json(ran.path / "short.json") in [each["model"] for each in formulas(ran)]


def test_what_is_chosen_is_said_as_a_model_file_is(ran):
    ended = choose(ran, "--literals", "2")
    text = ran.here("export", str(ran.folder() / "chosen" / "model.json"), "--to", "text").out
    assert ended.out.startswith(text)


@pytest.mark.parametrize("change", [{"formulas": []}, {"model": {"formula": 3}}])
def test_a_frontier_without_formulas_or_models_is_bad_data(ran, change):
    file = ran.folder() / "frontier.json"
    frontier = read_json(file)
    if "model" in change:
        frontier["formulas"] = [each | change for each in frontier["formulas"]]
    else:
        frontier |= change
    file.write_text(json.dumps(frontier))
    ended = choose(ran, "--accuracy", "0.5")
    assert (ended.code, "frontier.json: " in ended.err) == (3, True), ended.err
    assert not (ran.folder() / "chosen").exists()


def test_the_shortest_formula_that_is_accurate_enough_is_chosen(ran):
    least = min(each["tested"]["accuracy_mean"] for each in formulas(ran))
    assert choose(ran, "--accuracy", str(least)).code == 0
    chosen = read_json(ran.folder() / "chosen" / "model.json")
    shortest = min(each["literals"] for each in formulas(ran))
    assert any(e["model"] == chosen and e["literals"] == shortest for e in formulas(ran))


def test_an_accuracy_that_no_formula_reaches_ends_with_the_best_there_is(ran):
    ended = choose(ran, "--accuracy", "1")
    best = max(each["tested"]["accuracy_mean"] for each in formulas(ran))
    assert ended.code == 1
    assert f"reaches 100.0 %; the best comes to {100 * best:.1f} %" in ended.err
    assert not (ran.folder() / "chosen").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--ell", "99"), "ell must be between 1 and"),
        (("--literals", "-1"), "literals must be at least"),
        (("--accuracy", "90"), "--accuracy must be above 0 and at most 1, got 90"),
    ],
)
def test_a_wish_that_cannot_be_met_is_told(ran, arguments, said):
    ended = choose(ran, *arguments)
    assert (ended.code, said in ended.err) == (2, True), ended.err


def test_a_folder_without_a_frontier_is_told(laid_desk):
    ended = laid_desk.here("choose", str(laid_desk.path), "--literals", "3")
    assert ended.code == 2
    assert "has no frontier.json; give the folder of a finished run" in ended.err
