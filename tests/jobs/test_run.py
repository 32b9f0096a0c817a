"""The verb run, from outside: the files of a run, their shapes, and when a run is not
made again.
"""

from __future__ import annotations

import csv
import json
import math
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dnfscale.jobs.runner import NOTHING_DONE
from dnfscale.spec.job import read_spec
from tests.jobs.running import (
    Desk,
    essence,
    small_table,
    spec_text,
    surprising,
    tidy,
)

FILES = [
    "events.jsonl",
    "model.json",
    "result.json",
    "spec.toml",
    "tables/folds.csv",
    "tables/sweep.csv",
]
"""The files of every run; what else there may be, running.surprising knows."""
RESULT = {"schema", "name", "kind", "seed", "profile", "data", "methods", "timing", "environment"}
LATER = {"comparisons"}
"""What arrives with the baselines."""
DATA = {"rows", "rows_dropped", "columns", "attributes", "positive_rows"}
IDEAL = {"accuracy_mean", "accuracy_std", "ell_mean", "literals_mean", "folds"} | {
    "failed_folds",
    "model",
}
"""The last set is what the design does not list: how many folds failed, and the formula of all
rows.
"""
TESTED = {"metrics", "frontier", "stability", "columns_shared"} | {
    "confusion",
    "calibration",
    "decision_curve",
}
"""What a study adds. The last set is what the design does not list: the answers on all test rows,
and how far probabilities can be trusted.
"""
METRICS = {
    "sensitivity", "specificity", "ppv", "npv", "balanced_accuracy", "f1", "mcc", "auc",
    "average_precision", "brier", "log_loss",
}  # fmt: skip
METRICS |= {"accuracy"}
METRIC = {"mean", "std", "pooled", "low", "high", "interval"}
TOLD = {
    "search", "form", "ell", "rank", "attributes", "formula", "terms", "literals", "curve", "sweep",
}  # fmt: skip
FORMULA = TOLD - {"curve", "form"} | {"used", "lines", "minimized"}
"""The last set is how many attributes the formula needs, its terms as data, and whether it is
proven shortest. A formula that was not chosen by its length has no curve;
its form is that of its fold.
"""
FOLD = {
    "fold",
    "train_rows",
    "validation_rows",
    "test_rows",
    "correct",
    "accuracy",
    "confusion",
    "formulas",
} | TOLD
FOLD |= {"tested", "metrics"}
"""What `correct` is out of, which with weights is not the number of rows; and the metrics of the
fold, which the design lists of all folds.
"""
STEP = {"ell", "rank", "attributes", "validation_accuracy"} | {"by_rank"}
"""The last set is what the design does not list: the accuracy of each ranking."""
MODEL = {
    "schema",
    "target",
    "positive",
    "attributes",
    "terms",
    "counts",
    "formula",
    "certificate",
    "provenance",
}
MODEL |= {"missing", "unseen", "threshold", "unit", "weighted", "columns"}


@pytest.fixture
def studied(laid_desk: Desk) -> Desk:
    """A folder in which a study has run."""
    assert laid_desk.run(kind="study", seed=5).code == 0
    return laid_desk


def test_a_run_leaves_exactly_its_files(studied):
    assert set(FILES) <= set(tidy(studied.folder()))
    assert surprising(studied.folder()) == []
    assert [name for name in tidy(studied.path) if not name.startswith("runs/job/")] == [
        "job.toml",
        "t.parquet",
    ]


def test_a_result_has_the_shape_of_the_design(studied):
    result = studied.result()
    assert set(result) - LATER == RESULT
    assert (result["schema"], result["name"], result["kind"], result["seed"]) == (
        "dnfscale.result/2",
        "job",
        "study",
        5,
    )
    assert set(result["data"]) == DATA
    ideal = result["methods"]["ideal"]
    assert set(ideal) == IDEAL | TESTED
    assert set(ideal["metrics"]) == METRICS
    assert all(set(metric) == METRIC for metric in ideal["metrics"].values())
    assert len(ideal["folds"]) == 10
    for fold in ideal["folds"]:
        assert set(fold) == FOLD
        assert set(fold["metrics"]) == METRICS
        assert set(fold["confusion"]) == {"tp", "fp", "tn", "fn"}
        assert set(fold["formulas"][0]) == FORMULA | {"certificate"}
    assert set(ideal["model"]) == {"rows", "correct", "counted", "training_accuracy", "formulas"}
    assert set(ideal["model"]["formulas"][0]) == FORMULA
    for part in (*ideal["folds"], ideal["model"]):
        [record] = part["formulas"]
        assert set(record["minimized"]) == {"status", "gap_literals"}
        for step in record["sweep"]:
            assert set(step) == STEP


def test_every_method_of_a_result_has_its_accuracies(studied):
    for method in studied.result()["methods"].values():
        accuracies = [fold["accuracy"] for fold in method["folds"]]
        assert method["accuracy_mean"] == pytest.approx(np.mean(accuracies))
        assert method["accuracy_std"] == pytest.approx(np.std(accuracies))
        assert [fold["fold"] for fold in method["folds"]] == list(range(10))


def test_the_figures_of_a_result_agree_with_each_other(studied):
    result = studied.result()
    ideal = result["methods"]["ideal"]
    assert ideal["ell_mean"] == np.mean([fold["ell"] for fold in ideal["folds"]])
    assert sum(fold["test_rows"] for fold in ideal["folds"]) == result["data"]["rows"] == 240
    assert (
        max(f["test_rows"] for f in ideal["folds"]) - min(f["test_rows"] for f in ideal["folds"])
        <= 1
    )
    for fold in ideal["folds"]:
        whole = fold["train_rows"] + fold["validation_rows"]
        assert whole + fold["test_rows"] == 240
        assert fold["validation_rows"] == int(0.3 * whole)
        assert fold["ell"] == len(fold["attributes"])
        assert (fold["accuracy"] * fold["test_rows"]) == pytest.approx(
            round(fold["accuracy"] * fold["test_rows"])
        )
        assert [step["ell"] for step in fold["sweep"]] == list(range(1, len(fold["sweep"]) + 1))
        best = max(step["validation_accuracy"] for step in fold["sweep"])
        allowed = [
            step for step in fold["sweep"] if best - step["validation_accuracy"] <= 0.01 + 1e-12
        ]
        assert (fold["ell"], fold["rank"]) == (allowed[0]["ell"], allowed[0]["rank"])
        for step in fold["sweep"]:
            assert step["validation_accuracy"] == max(step["by_rank"].values())
            first = next(
                rank for rank, r in step["by_rank"].items() if r == step["validation_accuracy"]
            )
            assert step["rank"] == first, "a tie goes to the first ranking of the spec"


def test_a_model_has_the_shape_of_the_design(studied):
    model = studied.model()
    assert set(model) == MODEL
    assert (model["schema"], model["target"], model["positive"]) == (
        "dnfscale.model/1",
        "y",
        [True],
    )
    names = [attribute["name"] for attribute in model["attributes"]]
    for attribute in model["attributes"]:
        assert set(attribute) == {"name", "column", "test", "value"}
        assert attribute["test"] in {"above", "equals", "true", "missing"}
    for term in model["terms"]:
        for literal in term:
            assert set(literal) == {"attribute", "value"}
            assert 0 <= literal["attribute"] < len(names)
    assert len({tuple(cell["type"]) for cell in model["counts"]}) == len(model["counts"])
    for cell in model["counts"]:
        assert set(cell) == {"type", "n", "c"}
        assert len(cell["type"]) == len(names)
        assert 0 <= cell["c"] <= cell["n"]
        assert cell["n"] > 0
    assert sum(cell["n"] for cell in model["counts"]) == 240


def test_the_terms_of_a_model_accept_exactly_the_types_with_at_least_half_positive(studied):
    model = studied.model()
    for cell in model["counts"]:
        accepted = any(
            all(cell["type"][literal["attribute"]] == literal["value"] for literal in term)
            for term in model["terms"]
        )
        assert accepted == (2 * cell["c"] >= cell["n"])


def test_a_model_agrees_with_the_result_beside_it(studied):
    model, whole = studied.model(), studied.result()["methods"]["ideal"]["model"]
    [record] = whole["formulas"]
    assert model["formula"] == record["formula"]
    assert model["attributes"] == record["attributes"]
    assert model["terms"] == [line["all"] for line in record["lines"]]
    assert (len(model["terms"]), sum(map(len, model["terms"]))) == (
        record["terms"],
        record["literals"],
    )
    errors = sum(min(cell["c"], cell["n"] - cell["c"]) for cell in model["counts"])
    assert (whole["correct"], whole["counted"]) == (240 - errors, 240)
    assert whole["training_accuracy"] == (240 - errors) / 240


def test_the_certificate_is_that_of_the_papers_theorem(studied):
    model = studied.model()
    certificate = model["certificate"]
    ell = len(model["attributes"])
    assert certificate["rows"] == 240
    least_rows = 2 * math.log(2 ** (ell + 1) / certificate["delta"]) / certificate["epsilon"] ** 2
    assert least_rows == pytest.approx(240)


def test_attributes_are_called_as_in_the_paper(laid_desk):
    laid_desk.table({**small_table(), "s": ["red", "blue"] * 120})
    laid_desk.run(select={"max_ell": 24, "tolerance": 0})
    sweep = laid_desk.result()["methods"]["ideal"]["model"]["formulas"][0]["sweep"]
    assert set(sweep[-1]["attributes"]) == {
        "x_above_median",
        "n_above_median",
        "s_red",
        "s_blue",
        "b",
    }


def test_a_fit_has_a_model_but_no_folds(laid_desk):
    assert laid_desk.run(kind="fit").code == 0
    result = laid_desk.result()
    assert set(result) - LATER == RESULT
    ideal = result["methods"]["ideal"]
    assert set(ideal) == IDEAL
    assert (ideal["accuracy_mean"], ideal["accuracy_std"], ideal["folds"]) == (None, None, [])
    assert ideal["ell_mean"] == ideal["model"]["formulas"][0]["ell"]
    assert set(laid_desk.model()) == MODEL
    assert set(FILES) <= set(tidy(laid_desk.folder()))
    assert surprising(laid_desk.folder()) == []


@pytest.mark.portable
def test_a_study_gives_the_model_of_a_fit(laid_desk):
    laid_desk.run(kind="fit", name="fit")
    laid_desk.run(kind="study", name="study")
    fit, study = laid_desk.model("fit"), laid_desk.model("study")
    for name in ("attributes", "terms", "counts", "formula", "certificate"):
        assert fit[name] == study[name]


def test_the_tables_say_what_the_result_says(studied):
    ideal = studied.result()["methods"]["ideal"]
    with (studied.folder() / "tables" / "folds.csv").open(newline="", encoding="utf-8") as file:
        folds = list(csv.DictReader(file))
    assert len(folds) == 10
    for row, fold in zip(folds, ideal["folds"], strict=True):
        for column, text in row.items():
            assert text == str(fold[column])
    with (studied.folder() / "tables" / "sweep.csv").open(newline="", encoding="utf-8") as file:
        sweep = {
            (row["fold"], row["ell"], row["rank"]): row["validation_accuracy"]
            for row in csv.DictReader(file)
        }
    expected = {
        (str(record.get("fold", "all")), str(step["ell"]), rank): str(accuracy)
        for record in (*ideal["folds"], ideal["model"])
        for step in record["formulas"][0]["sweep"]
        for rank, accuracy in step["by_rank"].items()
    }
    assert sweep == expected


def test_the_resolved_spec_beside_a_result_reads_as_the_spec_did(studied):
    given, resolved = (
        read_spec(path) for path in (studied.path / "job.toml", studied.folder() / "spec.toml")
    )
    assert {**resolved.values, "data.path": ""} == {**given.values, "data.path": ""}


def test_the_resolved_spec_beside_a_result_runs_by_itself(studied):
    before = essence(studied.folder() / "result.json")
    ended = studied.here("run", studied.folder() / "spec.toml", "--output", studied.path / "again")
    assert ended.code == 0, ended.err
    assert essence(studied.path / "again" / "job" / "result.json") == before


def test_events_are_numbered_json_lines_in_which_every_phase_begins_and_ends(studied):
    lines = (studied.folder() / "events.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    assert (events[0]["event"], events[-1]["event"]) == ("started", "finished")
    assert events[0]["rows"] == 240
    phases = [event for event in events if event["event"] == "phase"]
    begun = [event["phase"] for event in phases if event["done"] == 0]
    ended = [event["phase"] for event in phases if event["done"] == event["total"]]
    assert begun == ended
    assert {"locate medians", "count types", "minimize formulas"} <= set(begun)


def test_the_timing_covers_the_phases(studied):
    timing = studied.result()["timing"]
    assert sum(timing["phases_s"].values()) <= timing["total_s"] + 0.1
    assert all(seconds >= 0 for seconds in timing["phases_s"].values())


def test_a_file_without_any_value_in_a_column_is_learned_from_as_if_it_said_the_type(desk):
    table = small_table(300)
    for folder, kind in (("typed", pa.string()), ("untyped", pa.null())):
        for number in range(3):
            part = {
                name: values[100 * number : 100 * number + 100] for name, values in table.items()
            }
            part |= {"s": pa.nulls(100, kind)} if number == 1 else {}
            desk.table(part, f"{folder}/{number}.parquet")
        data = {"path": folder, "missing": "indicator"}
        assert desk.run(kind="study", name=folder, folds={"outer": 2}, data=data).code == 0
    typed, untyped = (essence(desk.folder(name) / "result.json") for name in ("typed", "untyped"))
    assert untyped.replace('"untyped"', '"typed"') == typed
    assert "s_missing" in (desk.folder("typed") / "result.json").read_text()


def test_a_finished_run_prints_its_summary_and_that_nothing_was_done(studied):
    os.utime(studied.folder() / "result.json", (0, 0))
    ended = studied.here("run", "job.toml")
    assert ended.code == 0
    assert "y is true if" in ended.out
    assert ended.out.splitlines()[-1] == NOTHING_DONE
    assert (studied.folder() / "result.json").stat().st_mtime == 0
    assert json.loads(studied.here("run", "job.toml", "--json").out)["name"] == "job"


def test_a_run_whose_data_changed_starts_anew_and_says_so(studied):
    studied.table(small_table(seed=8))
    ended = studied.here("run", "job.toml")
    assert ended.code == 0
    assert "starts anew, as the data is not that of the earlier run" in ended.err


def test_the_same_spec_runs_again_with_the_same_result(studied):
    before, model = (
        essence(studied.folder() / "result.json"),
        (studied.folder() / "model.json").read_bytes(),
    )
    os.utime(studied.folder() / "result.json", (0, 0))
    assert studied.here("run", "job.toml", "--force").code == 0
    assert (studied.folder() / "result.json").stat().st_mtime > 0, "the file was not written again"
    assert essence(studied.folder() / "result.json") == before
    assert (studied.folder() / "model.json").read_bytes() == model
    assert surprising(studied.folder()) == []


def test_another_seed_gives_other_folds(studied):
    ideal = studied.result()["methods"]["ideal"]["folds"]
    studied.here("run", "job.toml", "--set", "seed=6", "--set", "name=other")
    assert studied.result("other")["methods"]["ideal"]["folds"] != ideal


def test_a_run_of_another_spec_is_left_alone_unless_forced(studied):
    before = {name: (studied.folder() / name).read_bytes() for name in FILES}
    ended = studied.here("run", "job.toml", "--set", "select.max_ell=3")
    assert ended.code == 2
    assert ended.message.startswith("dnfscale: ")
    assert "--force" in ended.message
    assert {name: (studied.folder() / name).read_bytes() for name in FILES} == before
    assert studied.here("run", "job.toml", "--set", "select.max_ell=3", "--force").code == 0
    assert len(studied.result()["methods"]["ideal"]["model"]["formulas"][0]["sweep"]) == 3
    assert surprising(studied.folder()) == []


def test_specs_that_differ_only_in_where_their_data_lies_are_different(laid_desk):
    """Two specs of the same text in two folders name two datasets."""
    for folder in ("one", "two"):
        laid_desk.spec(spec_text(kind="fit"), file=f"{folder}/job.toml")
    laid_desk.table(small_table(seed=1), "one/t.parquet")
    laid_desk.table(small_table(seed=2, n_rows=100), "two/t.parquet")
    assert laid_desk.here("run", "one/job.toml").code == 0
    ended = laid_desk.here("run", "two/job.toml")
    assert ended.code == 2
    assert "--force" in ended.message
    assert laid_desk.result()["data"]["rows"] == 240


def test_resuming_never_shows_the_result_of_other_data(laid_desk):
    for folder in ("one", "two"):
        laid_desk.spec(spec_text(kind="fit"), file=f"{folder}/job.toml")
    laid_desk.table(small_table(seed=1), "one/t.parquet")
    laid_desk.table(small_table(seed=2, n_rows=100), "two/t.parquet")
    laid_desk.here("run", "one/job.toml")
    ended = laid_desk.here("run", "two/job.toml", "--resume")
    assert ended.code == 2 or laid_desk.result()["data"]["rows"] == 100


def test_resuming_after_a_forced_run_that_failed_does_not_show_the_old_result(studied):
    changed = ["--set", "select.max_ell=3", "--set", 'data.positive=["never"]', "--force"]
    assert studied.here("run", "job.toml", *changed).code == 2
    ended = studied.here("run", "job.toml", *changed[:-1], "--resume")
    assert ended.code == 2
    assert "never" in ended.message


def test_a_run_that_failed_does_not_stand_in_the_way_of_the_corrected_spec(laid_desk):
    assert laid_desk.run(data={"positive": ["never"]}).code == 2
    assert not (laid_desk.folder() / "result.json").exists()
    assert laid_desk.run(data={"positive": [True]}).code == 0


def test_resuming_a_finished_run_changes_nothing(studied):
    for name in FILES:
        os.utime(studied.folder() / name, (0, 0))
    assert studied.here("run", "job.toml", "--resume").code == 0
    assert studied.here("run", "job.toml", "--resume", "--set", "cluster.workers=7").code == 0
    assert [(studied.folder() / name).stat().st_mtime for name in FILES] == [0] * len(FILES)


def test_a_model_file_that_was_changed_by_hand_is_told_by_the_summary_and_by_the_report(studied):
    file = studied.folder() / "model.json"
    file.write_text(json.dumps({**studied.model(), "formula": "something else"}), encoding="utf-8")
    ended = studied.here("run", "job.toml", "--resume")
    assert ended.code == 3
    assert "model.json: formula must say what terms say" in ended.message
    assert studied.here("run", "job.toml", "--resume", "--json").code == 0
    assert studied.here("report", studied.folder()).code == 0
    page = (studied.folder() / "report.html").read_text(encoding="utf-8")
    assert "model.json cannot be used: </strong>formula must say what terms say" in page


def test_resuming_an_unfinished_run_finishes_it(studied):
    before = essence(studied.folder() / "result.json")
    (studied.folder() / "result.json").unlink()
    assert studied.here("run", "job.toml", "--resume").code == 0
    assert essence(studied.folder() / "result.json") == before


def test_resuming_with_a_changed_spec_does_not_pass_for_finished(studied):
    assert studied.here("run", "job.toml", "--resume", "--set", "select.max_ell=3").code == 2


def test_a_run_that_fails_leaves_an_earlier_result_of_the_same_spec(studied, monkeypatch):
    before = (studied.folder() / "result.json").read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        rename = os.replace

        def unless_result(source: str, target: Path) -> None:
            (fail if Path(target).name == "result.json" else rename)(source, target)

        patched.setattr(os, "replace", unless_result)
        ended = studied.here("run", "job.toml", "--force")
    assert ended.code != 0
    assert "No space left on device" in ended.message
    assert (studied.folder() / "result.json").read_bytes() == before
    assert surprising(studied.folder()) == []


def test_the_output_option_moves_the_run_and_is_relative_to_the_working_directory(laid_desk):
    laid_desk.spec(file="specs/job.toml", data={"path": "../t.parquet"}, output={"dir": "unused"})
    assert laid_desk.here("run", "specs/job.toml", "--output", "here").code == 0
    assert set(FILES) <= set(tidy(laid_desk.path / "here" / "job"))
    assert not (laid_desk.path / "unused").exists()


def test_a_run_ends_with_the_formula_its_accuracy_and_where_the_files_are(laid_desk):
    ended = laid_desk.run(kind="study")
    assert ended.code == 0
    mean = 100 * laid_desk.result()["methods"]["ideal"]["accuracy_mean"]
    assert f"{mean:.1f} % ± " in ended.out
    assert "\ny is true if\n     s = red and x > " in ended.out
    assert ended.out.rstrip().endswith("runs/job")
    assert "count rows by conditions" in ended.err
    assert "\x1b" not in ended.err


def test_json_gives_the_result_on_stdout_and_events_on_stderr(laid_desk):
    ended = laid_desk.here("run", laid_desk.spec(kind="study"), "--json")
    assert ended.code == 0
    assert json.loads(ended.out) == laid_desk.result()
    events = [json.loads(line) for line in ended.err.splitlines()]
    journal = (laid_desk.folder() / "events.jsonl").read_text(encoding="utf-8").splitlines()
    for event, noted in zip(events, map(json.loads, journal), strict=True):
        assert event == event | noted


def test_a_process_asked_for_json_gives_json_and_nothing_else(laid_desk):
    ended = laid_desk.apart("run", laid_desk.spec(), "--json")
    assert ended.code == 0
    assert json.loads(ended.out) == laid_desk.result()
    assert [json.loads(line)["event"] for line in ended.err.splitlines()][-1] == "finished"


def test_resuming_a_finished_run_tells_its_result_again(laid_desk):
    laid_desk.run()
    first = laid_desk.apart("run", "job.toml", "--resume")
    assert first.code == 0
    assert "\ny is true if\n     s = red and x > " in first.out
    again = laid_desk.apart("run", "job.toml", "--resume", "--json")
    assert json.loads(again.out) == laid_desk.result()
    assert again.err == ""


def test_roles_and_labels_of_the_spec_decide_the_attributes(laid_desk):
    laid_desk.run(
        kind="fit", name="listed", data={"drop": ["n"], "categorical": ["b"], "positive": [False]}
    )
    model = laid_desk.model("listed")
    assert model["positive"] == [False]
    columns = {attribute["column"] for attribute in model["attributes"]}
    assert "n" not in columns
    names = [
        step["attributes"]
        for step in laid_desk.result("listed")["methods"]["ideal"]["model"]["formulas"][0]["sweep"]
    ]
    assert {"b_True", "b_False"} <= set(names[-1])


def test_free_types_make_a_formula_no_longer(laid_desk):
    for unseen in ("negative", "dont_care"):
        laid_desk.run(kind="fit", name=unseen, formula={"unseen": unseen})
    negative, free = (
        laid_desk.result(u)["methods"]["ideal"]["model"]["formulas"][0]
        for u in ("negative", "dont_care")
    )
    assert negative["attributes"] == free["attributes"]
    assert free["literals"] <= negative["literals"]
    assert laid_desk.model("negative")["counts"] == laid_desk.model("dont_care")["counts"]


@pytest.mark.portable
@pytest.mark.parametrize("minimize", ["sympy", "none"])
def test_other_ways_to_write_a_formula_say_the_same(laid_desk, minimize):
    laid_desk.run(kind="fit", name="exact", select={"max_ell": 4, "tolerance": 0})
    laid_desk.run(
        kind="fit",
        name=minimize,
        formula={"minimize": minimize},
        select={"max_ell": 4, "tolerance": 0},
    )
    exact, other = laid_desk.model("exact"), laid_desk.model(minimize)
    assert exact["counts"] == other["counts"]
    literals = [sum(map(len, model["terms"])) for model in (exact, other)]
    assert literals[0] <= literals[1]
    status = laid_desk.result("exact")["methods"]["ideal"]["model"]["formulas"][0]["minimized"]
    assert status == {"status": "proven", "gap_literals": 0}


def test_fewer_than_a_hundred_rows_are_left_out_one_by_one(laid_desk):
    laid_desk.table(small_table(n_rows=30))
    laid_desk.run(kind="study")
    folds = laid_desk.result()["methods"]["ideal"]["folds"]
    assert [fold["test_rows"] for fold in folds] == [1] * 30
    assert Counter(fold["accuracy"] for fold in folds).keys() <= {0.0, 1.0}


@pytest.mark.parametrize(("outer", "n_folds"), [(2, 2), (7, 7), ("leave-one-out", 40), (40, 40)])
def test_a_study_has_the_folds_it_asks_for(laid_desk, outer, n_folds):
    laid_desk.table(small_table(n_rows=40))
    laid_desk.run(kind="study", folds={"outer": outer})
    folds = laid_desk.result()["methods"]["ideal"]["folds"]
    assert len(folds) == n_folds
    assert sum(fold["test_rows"] for fold in folds) == 40


def test_columns_that_tell_no_rows_apart_are_named_with_what_to_do(desk):
    smoker = [2 if i % 5 else 1 for i in range(240)]
    desk.table({**small_table(), "smoker": smoker, "clinic": ["north"] * 240, "year": [2024] * 240})
    ended = desk.run()
    assert ended.code == 0, ended.err
    assert desk.result()["data"]["silent_columns"] == ["smoker", "clinic", "year"]
    told = (
        "unused smoker, clinic, year: the same in every row once cut; list columns of two "
        "values in data.boolean"
    )
    assert told in " ".join(ended.out.split())
    assert "smoker, clinic, year" in (desk.folder() / "report.html").read_text(encoding="utf-8")
    listed = desk.run(name="listed", data={"boolean": ["smoker"], "drop": ["clinic", "year"]})
    assert "unused" not in listed.out
    assert "silent_columns" not in desk.result("listed")["data"]


def test_a_flag_of_few_rows_is_not_called_silent(desk):
    for place in range(8):
        desk.table(
            {"flag": [row == place for row in range(60)], "y": [row % 3 == 0 for row in range(60)]}
        )
        assert desk.run(name=f"job{place}").code == 0
        assert "silent_columns" not in desk.result(f"job{place}")["data"]
