"""Jobs beyond the paper, from the outside: the best profile, readable peers, and accuracy against
length.
"""

from __future__ import annotations

import json
import tomllib
from decimal import Decimal
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from dnfscale.data.models import read_model
from dnfscale.report.cards.frontier import Point, frontier_points, unbeaten
from dnfscale.report.tables import study_tables
from dnfscale.results.method import Fold, Method
from dnfscale.results.result import Data, Environment, Result, Timing, parse_result
from dnfscale.spec.job import read_spec
from dnfscale.spec.learn import profile_values
from tests.jobs.running import Desk, essence, spec_text
from tests.report.pages import Document


def wavy_table(n_rows: int = 240) -> dict[str, list[object]]:
    """A label that is true in the middle of a number: no median tells."""
    random = np.random.default_rng(5)
    x, z = random.normal(size=n_rows), random.random(n_rows)
    colours = np.array(["red", "green", "blue"])[random.integers(0, 3, n_rows)]
    y = ((np.abs(x) < 0.7) & (colours != "red")) ^ (random.random(n_rows) < 0.05)
    return {"x": x.tolist(), "z": z.tolist(), "colour": colours.tolist(), "y": y.tolist()}


@pytest.fixture
def wavy_desk(desk: Desk) -> Desk:
    desk.table(wavy_table())
    return desk


def test_the_best_profile_finds_what_the_paper_cannot_say(wavy_desk):
    told = {}
    for profile in ("paper", "best"):
        spec = wavy_desk.spec(
            file=f"{profile}.toml",
            kind="study",
            profile=profile,
            folds={"outer": 3},
            **({"select": {"validation_splits": 2}} if profile == "best" else {}),
        )
        ended = wavy_desk.here("run", spec, "--output", profile, "--set", "cluster.kind=serial")
        assert ended.code == 0, ended.err
        told[profile] = json.loads((wavy_desk.path / profile / "job" / "result.json").read_text())
    accuracies = {
        profile: result["methods"]["ideal"]["accuracy_mean"] for profile, result in told.items()
    }
    assert accuracies["best"] > accuracies["paper"] + 0.1
    assert told["paper"]["profile"] == "paper"
    assert told["best"]["profile"] == "best"
    folder = wavy_desk.path / "best" / "job"
    settled = tomllib.loads((folder / "spec.toml").read_text())
    assert settled["select"]["rank"] == list(profile_values("best")["rank"])
    text = wavy_desk.here("export", folder / "model.json", "--to", "text").out
    assert "< x ≤" in text
    assert r"< \text{x} \le" in wavy_desk.here("export", folder / "model.json", "--to", "latex").out
    model = read_model(folder / "model.json")
    assert wavy_desk.here("explain", folder / "model.json").code == 0
    assert (
        wavy_desk.here("predict", folder / "model.json", "t.parquet", "--output", "answers").code
        == 0
    )
    assert "What does accuracy cost in length?" in (folder / "report.html").read_text()
    ideal = told["best"]["methods"]["ideal"]
    assert len(model.tau) == ideal["model"]["formulas"][0]["ell"]
    assert ideal["model"]["formulas"][0]["used"] == len(
        {attribute for term in model.dnf.terms for attribute, _ in term.literals}
    )
    assert {fold["formulas"][0]["shrink_rows"] for fold in ideal["folds"]} <= set(
        profile_values("best")["shrink_rows"]
    )
    assert settled["formula"]["shrink_rows"] == list(profile_values("best")["shrink_rows"])


def test_a_key_goes_before_its_profile(desk):
    spec = read_spec(desk.spec(profile="best", booleanize={"cuts": 3}, select={"rank": ["jmi"]}))
    assert (spec.values["booleanize.cuts"], spec.values["select.rank"]) == (3, ("jmi",))
    assert spec.values["formula.shrink"] == profile_values("best")["shrink"]
    assert read_spec(desk.spec()).values["formula.shrink"] == "none"


def test_cuts_may_be_given_by_column_and_are_read_back(wavy_desk):
    spec = wavy_desk.spec(
        spec_text(kind="fit") + "\n[booleanize]\ncuts = 2\nat = {x = [-0.7, 0.7]}\n"
    )
    ended = wavy_desk.here("run", spec, "--set", "cluster.kind=serial")
    assert ended.code == 0, ended.err
    again = tomllib.loads((wavy_desk.path / "runs" / "job" / "spec.toml").read_text())
    assert again["booleanize"]["at"] == {"x": [-0.7, 0.7]}
    attributes = json.loads((wavy_desk.path / "runs" / "job" / "model.json").read_text())[
        "attributes"
    ]
    assert {a["value"] for a in attributes if a["column"] == "x"} <= {-0.7, 0.7}


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ("{x = []}", "booleanize.at must be a table of columns and up to 63 cuts each"),
        ("{x = [[1]]}", "booleanize.at must be a table of columns"),
        ('{x = ["a"]}', "booleanize.at: cuts of 'x' must be numbers, got 'a'"),
        ("{x = [2024-02-29]}", "booleanize.at: cuts of 'x' must be numbers, got '2024-02-29'"),
        (
            "{colour = [1]}",
            (
                "booleanize.at must name columns of numbers, dates or times, got 'colour'; "
                "there are 'x', 'z'"
            ),
        ),
    ],
)
def test_cuts_that_cannot_be_are_refused(wavy_desk, at, message):
    spec = wavy_desk.spec(spec_text() + f"\n[booleanize]\nat = {at}\n")
    ended = wavy_desk.here("run", spec, "--set", "cluster.kind=serial")
    assert ended.code == 2
    assert message in ended.message


@pytest.mark.parametrize(
    ("column", "at"),
    [
        ("price", "[500]"),
        ("day", "[1971-05-16]"),
        ("moment", '["1970-01-01T00:08:20"]'),
        ("moment", "[1970-01-01T00:08:20]"),
    ],
)
def test_a_given_cut_of_a_decimal_or_a_date_lies_where_it_says(laid_desk, column, at):
    values = {
        "price": pa.array([Decimal(i) for i in range(1000)], pa.decimal128(12, 2)),
        "day": pa.array(np.arange(1000), pa.int32()).cast(pa.date32()),
        "moment": pa.array(np.arange(1000), pa.timestamp("s")),
    }
    laid_desk.table(pa.table({column: values[column], "y": np.arange(1000) > 500}))
    spec = laid_desk.spec(spec_text(kind="fit") + f"\n[booleanize]\nat = {{{column} = {at}}}\n")
    assert laid_desk.here("run", spec).code == 0
    model = json.loads((laid_desk.folder() / "model.json").read_text())
    assert [(count["n"], count["c"]) for count in model["counts"]] == [(501, 0), (499, 499)]
    given = laid_desk.here(
        "run",
        laid_desk.spec(spec_text(kind="fit")),
        "--force",
        "--set",
        f"booleanize.at={{{column}={at}}}",
    )
    assert given.code == 0, given.err
    assert json.loads((laid_desk.folder() / "model.json").read_text())["counts"] == model["counts"]


@pytest.mark.parametrize(
    ("formula", "scored"),
    [
        ({}, False),
        ({"threshold": 0.2}, True),
        ({"objective": "balanced_accuracy"}, True),
        ({"objective": "f_beta"}, True),
    ],
)
def test_a_sweep_tells_accuracy_and_what_was_judged_by(wavy_desk, formula, scored):
    spec = wavy_desk.spec(kind="fit", formula=formula)
    assert wavy_desk.here("run", spec, "--set", "cluster.kind=serial").code == 0
    [model] = wavy_desk.result()["methods"]["ideal"]["model"]["formulas"]
    for step in model["sweep"]:
        assert ("validation_score" in step) is scored
        assert step["validation_accuracy"] == step["by_rank"][step["rank"]]
        validated = 72  # of 240 rows
        assert (
            round(step["validation_accuracy"] * validated) / validated
            == step["validation_accuracy"]
        )
    if scored:
        assert any(
            step["validation_score"] != step["validation_accuracy"] for step in model["sweep"]
        )


LEARNED_FOR = {
    "balanced accuracy": {"objective": "balanced_accuracy"},
    "F-score with beta 1": {"objective": "f_beta"},
    "of the cost avoided, where a miss costs as much as 4 false alarms": {"threshold": 0.2},
}


@pytest.mark.parametrize("words", LEARNED_FOR)
@pytest.mark.parametrize("classes", ["two", "all"])
def test_a_study_says_how_good_it_is_at_what_it_was_learned_for(wavy_desk, words, classes):
    spec = wavy_desk.spec(
        kind="study",
        data={"classes": classes},
        formula=LEARNED_FOR[words],
        folds={"outer": 3},
        select={"max_ell": 4},
    )
    ended = wavy_desk.here("run", spec)
    assert ended.code == 0, ended.err
    objective = wavy_desk.result()["methods"]["ideal"]["objective"]
    assert 0 < objective["mean"] <= 1
    told = f"{100 * objective['mean']:.1f} %"
    assert f"objective {told} ± {100 * objective['std']:.1f} {words}" in " ".join(ended.out.split())
    page = Document((wavy_desk.folder() / "report.html").read_text(encoding="utf-8")).text
    assert f"the procedure reaches {told} {words}." in page
    title = "expected cost" if "threshold" in LEARNED_FOR[words] else words
    assert f"close enough to the best by {title}, which the formula is learned for." in page
    assert f"always the same answer gives {100 * objective['constant_mean']:.1f} %" in " ".join(
        ended.out.split()
    )


def test_a_certificate_of_unequal_costs_promises_no_right_answers(wavy_desk):
    for name, formula in (("plain", {}), ("costs", {"threshold": 0.2})):
        assert wavy_desk.run(name=name, kind="study", formula=formula, folds={"outer": 3}).code == 0
    pages = [
        Document((wavy_desk.folder(name) / "report.html").read_text(encoding="utf-8")).text
        for name in ("plain", "costs")
    ]
    right = (
        "no other answer would be right more often",
        "More cases right",
        "The paper's theorem on sample sizes",
    )
    cost = (
        "no other answer would cost less",
        "Less cost with another formula",
        "a missed positive counts as 1.6 errors",
    )
    assert [words in pages[0] for words in (*right, *cost)] == [True] * 3 + [False] * 3
    assert [words in pages[1] for words in (*right, *cost)] == [False] * 3 + [True] * 3


def test_a_budget_too_small_for_anything_gives_the_constant_answer_and_says_so(desk):
    random = np.random.default_rng(2)
    left, right = random.random((2, 400)) < 0.5
    desk.table({"left": left, "right": right, "y": (left != right) & (random.random(400) < 0.8)})
    tables = {"profile": "best", "select": {"validation_splits": 1}, "formula": {"max_literals": 1}}
    ended = desk.run(kind="study", folds={"outer": 2}, **tables)
    assert ended.code == 0, ended.err
    assert "constant" in ended.out.splitlines()[0]
    assert desk.result()["methods"]["ideal"]["folds"][0]["literals"] == 0


def test_a_frontier_of_one_attribute_has_nothing_to_write(wavy_desk):
    spec = wavy_desk.spec(profile="best", kind="study", select={"max_ell": 1}, folds={"outer": 2})
    ended = wavy_desk.here("run", spec)
    assert ended.code == 0, ended.err
    points = wavy_desk.result()["methods"]["ideal"]["frontier"]
    assert all(1 <= point["literals"] <= 40 for point in points)


@pytest.mark.portable
def test_a_boosting_machine_runs_in_the_same_folds_and_is_noted(wavy_desk, monkeypatch):
    glassbox = pytest.importorskip(
        "interpret.glassbox", reason="the explainable boosting machine is an extra: dnfscale[peers]"
    )
    # The mean of two machines in place of fourteen, which take a dozen seconds.
    machine = partial(glassbox.ExplainableBoostingClassifier, outer_bags=2)
    monkeypatch.setattr(glassbox, "ExplainableBoostingClassifier", machine)
    text = spec_text(kind="study", folds={"outer": 2}, select={"max_ell": 2})
    spec = wavy_desk.spec(text + "\n[baselines.ebm]\n")
    ended = wavy_desk.here("run", spec, "--set", "cluster.kind=serial")
    assert ended.code == 0, ended.err
    result = wavy_desk.result()
    machine = result["methods"]["ebm"]
    assert [fold["fold"] for fold in machine["folds"]] == [0, 1]
    # Columns by themselves, each as a curve, tell what no median does.
    assert machine["accuracy_mean"] > result["methods"]["ideal"]["accuracy_mean"] + 0.1
    assert machine["accuracy_mean"] > 0.8
    # It has no length, and so no place among formulas of some length.
    assert machine["literals_mean"] is None
    assert "ebm" not in {point.method for point in frontier_points(parse_result(result))}
    assert "ebm" in {paired["other"] for paired in result["comparisons"]}
    before = essence(wavy_desk.path / "runs" / "job" / "result.json")
    (wavy_desk.path / "runs" / "job" / "result.json").unlink()
    assert wavy_desk.here("run", spec, "--resume", "--set", "cluster.kind=serial").code == 0
    assert essence(wavy_desk.path / "runs" / "job" / "result.json") == before


@pytest.mark.portable
def test_peers_run_in_the_same_folds_and_are_noted(wavy_desk):
    pytest.importorskip("wittgenstein", reason="RIPPER is an extra")
    text = spec_text(
        kind="study",
        profile="best",
        folds={"outer": 3},
        select={"validation_splits": 2, "max_ell": 4},
    )
    spec = wavy_desk.spec(
        text + "\n[baselines.decision_tree]\nmax_leaves = 5\n[baselines.ripper]\n"
    )
    ended = wavy_desk.here("run", spec, "--set", "cluster.kind=serial")
    assert ended.code == 0, ended.err
    result = wavy_desk.result()
    before = essence(wavy_desk.path / "runs" / "job" / "result.json")
    for peer in ("decision_tree", "ripper"):
        folds = result["methods"][peer]["folds"]
        assert [fold["fold"] for fold in folds] == [0, 1, 2]
        assert all(fold["accuracy"] > 0.5 for fold in folds)
        assert all(fold["literals"] >= 0 for fold in folds)
    assert {paired["other"] for paired in result["comparisons"]} >= {"decision_tree", "ripper"}
    points = frontier_points(parse_result(result))
    assert {"decision_tree", "ripper", "ideal"} <= {point.method for point in points}
    (wavy_desk.path / "runs" / "job" / "result.json").unlink()
    assert wavy_desk.here("run", spec, "--resume", "--set", "cluster.kind=serial").code == 0
    assert essence(wavy_desk.path / "runs" / "job" / "result.json") == before


def test_peers_are_for_studies_of_two_classes(desk):
    desk.table(wavy_table(30))
    fit = desk.here("validate", desk.spec(spec_text(kind="fit") + "\n[baselines.decision_tree]\n"))
    assert (fit.code, "decision_tree is to be compared" in fit.message) == (2, True)
    several = desk.spec(kind="study", data={"classes": "all"}, methods=["ideal", "decision_tree"])
    ended = desk.here("validate", several)
    assert (ended.code, "decision_tree tells two classes apart" in ended.message) == (2, True)


def test_points_that_another_beats_in_both_are_not_on_the_frontier():
    points = [
        Point("ideal", "1", 1, 0.8),
        Point("ideal", "2", 4, 0.9),
        Point("ripper", "RIPPER", 4, 0.85),
        Point("decision_tree", "Decision tree", 9, 0.9),
        Point("ideal", "3", 20, 0.95),
    ]
    assert [point.name for point in unbeaten(points)] == ["1", "2", "3"]


def test_runs_of_a_dataset_are_averaged_over_seeds_and_stand_beside_the_paper():
    def result(profile: str, seed: int, accuracy: float) -> Result:
        fold = {"accuracy": accuracy, "test_rows": 30}
        ideal = Method(
            accuracy_mean=accuracy,
            accuracy_std=0.02,
            ell_mean=3.0,
            literals_mean=4.0 + seed,
            folds=tuple(Fold(fold=i, **fold) for i in range(2)),
        )
        return Result(
            name=f"heart-{profile}-{seed}",
            kind="study",
            profile=profile,
            seed=seed,
            data=Data(rows=60, rows_dropped=0, columns=3, attributes=5, positive_rows=30),
            methods={"ideal": ideal},
            timing=Timing(methods_s={"ideal": 1.5}),
            environment=Environment(dataset="paper:heart_disease"),
        )

    runs = [result("best", 0, 0.84), result("best", 1, 0.86), result("paper", 0, 0.81)]
    table = study_tables(runs)["profiles"]
    [row] = [dict(zip(table.header, map(str, row), strict=True)) for row in table.rows]
    assert row["Dataset"] == "HeartDisease"
    assert row["best, accuracy"] == "85.0 ± 2.0"
    assert row["paper, accuracy"] == "81.0 ± 2.0"
    assert row["best, conditions"] == "4.5"
    assert row["Formula (paper)"].startswith("81.2")
    assert "profiles" not in study_tables([runs[2]])
