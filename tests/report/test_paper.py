"""The paper's figures, against values copied by hand from its figure, its tables and
its appendix.
"""

from __future__ import annotations

import re
import tomllib

import pytest

from dnfscale.report.paper import PAPER, Percent, paper_dataset
from dnfscale.results.upgrade import parse_terms


def read_terms(text: str) -> list[list[tuple[str, bool]]] | None:
    """Return the terms of a formula by the names of its attributes, which are plain words."""
    names = [
        word for word in dict.fromkeys(re.findall(r"\w+", text)) if word not in ("not", "and", "or")
    ]
    terms = parse_terms(text, names)
    return terms and [[(names[i], holds) for i, holds in term] for term in terms]


def test_the_twelve_come_in_the_order_of_the_figure():
    assert [entry.title for entry in PAPER.values()] == [
        "BankMarketing",
        "BreastCancer",
        "CongressionalVoting",
        "GermanCredit",
        "HeartDisease",
        "Hepatitis",
        "StudentDropout",
        "Covertype",
        "Electricity",
        "EyeMovement",
        "RoadSafety",
        "Colon",
    ]


@pytest.mark.parametrize(
    ("name", "method", "mean", "deviation"),
    [
        ("bank_marketing", "ideal", 88.8, 1.3),
        ("breast_cancer", "ideal", 95.9, 1.7),
        ("breast_cancer", "random_forest", 97.4, 2.1),
        ("breast_cancer", "xgboost", 97.1, 2.2),
        ("congressional_voting", "xgboost", 95.4, 2.0),
        ("german_credit", "formula_size", 70.1, 3.6),
        ("heart_disease", "formula_size", 73.6, 12.2),
        ("hepatitis", "ideal", 80.7, 14.2),
        ("hepatitis", "random_forest", 78.2, 12.5),
        ("student_dropout", "xgboost", 87.4, 1.3),
        ("covertype", "xgboost", 97.8, 0.08),
        ("covertype", "ideal", 74.7, 0.3),
        ("electricity", "random_forest", 88.1, 6.7),
        ("eye_movement", "ideal", 55.3, 1.7),
        ("road_safety", "xgboost", 83.2, 0.4),
        ("colon", "ideal", 80.6, None),
        ("colon", "random_forest", 83.9, None),
    ],
)
def test_accuracies_are_those_of_figure_1(name, method, mean, deviation):
    assert PAPER[name].accuracies[method] == Percent(mean, deviation)


def test_literature_is_given_for_ten_datasets():
    given = {name: entry.literature.mean for name, entry in PAPER.items() if entry.literature}
    assert given == {
        "breast_cancer": 96.6,
        "congressional_voting": 96.3,
        "german_credit": 78.0,
        "heart_disease": 81.6,
        "hepatitis": 87.2,
        "covertype": 92,
        "electricity": 89,
        "eye_movement": 65,
        "road_safety": 77,
        "colon": 84,
    }


def test_formula_size_was_run_on_the_seven_uci_sets():
    assert [name for name, entry in PAPER.items() if "formula_size" in entry.accuracies] == list(
        PAPER
    )[:7]


def test_features_and_dimensions_are_those_of_table_1():
    table = [(e.ell_mean, e.attributes, e.columns, e.rows) for e in PAPER.values()]
    assert table == [
        (1.3, 51, 51, 4521),
        (3.8, 9, 9, 683),
        (1.0, 48, 16, 435),
        (3.9, 61, 20, 1000),
        (3.9, 25, 13, 303),
        (2.7, 74, 17, 155),
        (5.8, 112, 36, 4424),
        (2.5, 54, 54, 423680),
        (7.5, 14, 8, 38474),
        (5.5, 26, 23, 7608),
        (5.4, 324, 32, 111762),
        (2.1, 5997, 2000, 63),
    ]


def test_run_times_are_those_of_the_appendix():
    minutes = [
        (1, 30),
        (0, 13),
        (0, 10),
        (0, 26),
        (0, 11),
        (0, 2),
        (1, 26),
        (45, 10),
        (11, 54),
        (3, 0),
        (28, 37),
        (0, 19),
    ]
    assert [entry.split_s for entry in PAPER.values()] == [
        60 * minute + second for minute, second in minutes
    ]


@pytest.mark.parametrize(
    ("name", "terms", "literals"),
    [
        ("bank_marketing", 1, 1),
        ("breast_cancer", 6, 15),
        ("hepatitis", 3, 3),
        ("electricity", 17, 78),
        ("colon", 1, 1),
    ],
)
def test_first_formulas_have_the_size_they_have_in_the_appendix(name, terms, literals):
    read = read_terms(PAPER[name].first_formula)
    assert read is not None
    assert (len(read), sum(map(len, read))) == (terms, literals)


def test_heart_disease_has_the_formula_of_the_appendix():
    assert read_terms(PAPER["heart_disease"].first_formula) == [
        [("caa_0", True), ("thall_2", True)],
        [("caa_0", True), ("oldpeak_above_median", False)],
        [("thall_2", True), ("oldpeak_above_median", False)],
    ]


def test_a_dataset_is_found_by_the_name_a_spec_uses():
    assert paper_dataset("paper:colon") is PAPER["colon"]
    assert paper_dataset("colon") is None
    assert paper_dataset("builtin:breast_cancer") is None
    assert paper_dataset("paper:adult") is None
    assert paper_dataset(None) is None


def test_names_targets_and_labels_are_those_of_the_datasets(paper_data):
    index = tomllib.loads((paper_data / "index.toml").read_text("utf-8"))["datasets"]
    assert list(index) == list(PAPER)
    for name, entry in PAPER.items():
        assert (index[name]["title"], index[name]["target"]) == (entry.title, entry.target)
        assert index[name]["positive"] == [entry.positive]
