"""Jobs with a formula for every label, seen from outside."""

from __future__ import annotations

import csv
import json
import statistics
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dnfscale import IdealClassifier
from dnfscale.data.models import read_models
from dnfscale.data.source import open_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.learn.classes import learn_classes
from dnfscale.spec.learn import LearnSpec
from tests.jobs.judging import accepts, recount
from tests.jobs.running import Desk, essence, surprising

LABELS = ["bird", "cat", "dog", "eel"]
ALL = {"path": "t.parquet", "target": "y", "classes": "all"}


def rows(n_rows: int = 230) -> pa.Table:
    """Rows of four classes, some with gaps, sorted by class."""
    random = np.random.default_rng(9)
    y = np.sort(random.integers(0, 4, n_rows))
    x = random.normal(size=n_rows) + y
    words = np.array(["red", "green", "blue"])[(random.integers(0, 2, n_rows) + y) % 3]
    return pa.table(
        {
            "x": pa.array(x, mask=random.random(n_rows) < 0.05),
            "n": random.integers(0, 30, n_rows) - 4 * y,
            "s": words.tolist(),
            "y": [LABELS[label] for label in y.tolist()],
        }
    )


@pytest.fixture
def spread_desk(desk: Desk) -> Desk:
    desk.table(rows(), "t.parquet", row_group_size=29)
    return desk


def study(desk: Desk, **tables: Any) -> dict[str, Any]:
    ended = desk.run(
        **{"kind": "study", "seed": 5, "data": ALL, "select": {"max_ell": 4}, "folds": {"outer": 6}}
        | tables
    )
    assert ended.code == 0, ended.err
    return desk.result()


def test_a_study_tells_what_the_formulas_of_all_labels_say_together(spread_desk):
    result = study(spread_desk)
    table = rows()
    kept = table.filter(table["x"].is_valid())
    labels = kept["y"].to_pylist()
    assert result["data"]["rows"] == kept.num_rows
    assert result["data"]["positive_rows"] is None
    assert result["data"]["classes"] == [
        {"label": label, "rows": labels.count(label)} for label in LABELS
    ]
    ideal = result["methods"]["ideal"]
    for fold in ideal["folds"]:
        confusion = np.array(fold["confusion_matrix"])
        assert confusion.shape == (4, 4)
        assert confusion.sum() == fold["test_rows"]
        assert fold["accuracy"] == confusion.trace() / confusion.sum()
        assert [entry["label"] for entry in fold["formulas"]] == LABELS
        assert all(entry["ell"] == len(entry["attributes"]) <= 4 for entry in fold["formulas"])
    accuracies = [fold["accuracy"] for fold in ideal["folds"]]
    assert ideal["accuracy_mean"] == pytest.approx(statistics.mean(accuracies))
    assert ideal["accuracy_std"] == pytest.approx(statistics.pstdev(accuracies))
    total = np.sum([fold["confusion_matrix"] for fold in ideal["folds"]], axis=0)
    assert total.sum(axis=1).tolist() == [labels.count(label) for label in LABELS]
    assert ideal["accuracy_mean"] > result["methods"]["majority"]["accuracy_mean"] > 0.2
    assert set(result["methods"]) == {"ideal", "majority"}
    ells = [entry["ell"] for fold in ideal["folds"] for entry in fold["formulas"]]
    assert ideal["ell_mean"] == pytest.approx(statistics.mean(ells))


def test_the_confusions_are_those_that_were_judged_row_by_row(spread_desk):
    """learn_classes is judged in plain pandas in tests/learn/test_classes.py; the job says the
    same.
    """
    spec = LearnSpec(target="y", classes="all", max_ell=4, outer=6, seed=5)
    learned = learn_classes(open_source(str(spread_desk.path / "t.parquet")), spec, SerialEngine())
    folds = study(spread_desk)["methods"]["ideal"]["folds"]
    assert [fold["confusion_matrix"] for fold in folds] == learned.confusion.tolist()


@pytest.mark.parametrize("objective", ["balanced_accuracy", "f_beta"])
def test_job_library_verb_and_estimator_agree_where_thresholds_differ(desk, objective):
    random = np.random.default_rng(11)
    a, b = random.random(600) < 0.2, random.random(600) < 0.5
    y = np.where(a & (random.random(600) < 0.35), "eel", np.where(b, "cat", "dog"))
    path = str(desk.table({"a": a, "b": b, "y": y.tolist()}))
    result = study(desk, select={"max_ell": 2}, formula={"objective": objective})
    spec = LearnSpec(target="y", classes="all", max_ell=2, outer=6, seed=5, objective=objective)
    learned = learn_classes(open_source(path), spec, SerialEngine())
    confusions = [fold["confusion_matrix"] for fold in result["methods"]["ideal"]["folds"]]
    assert confusions == learned.confusion.tolist()
    assert np.sum(confusions, axis=0)[:, 2].sum() > 0
    assert "measured by the share" in (desk.folder() / "report.html").read_text(encoding="utf-8")
    ended = desk.here("predict", desk.folder() / "model.json", path, "--output", desk.path / "p")
    assert ended.code == 0, ended.err
    given = pq.read_table(desk.path / "p")["prediction"].to_pylist()
    estimator = IdealClassifier(
        profile="paper", max_ell=2, objective=objective, random_state=5
    ).fit(path, "y")
    assert given == estimator.predict(path).tolist()
    assert given.count("eel") > 0


def test_the_majority_is_the_most_frequent_label_of_the_rows_learned_from(spread_desk):
    result = study(spread_desk)
    sizes = np.array([entry["rows"] for entry in result["data"]["classes"]])
    for fold, found in zip(
        result["methods"]["ideal"]["folds"], result["methods"]["majority"]["folds"], strict=True
    ):
        tested = np.sum(fold["confusion_matrix"], axis=1)
        assert found["accuracy"] == tested[np.argmax(sizes - tested)] / tested.sum()


def test_the_model_holds_a_formula_of_every_label_with_its_counts(spread_desk):
    study(spread_desk)
    model = spread_desk.model()
    assert model["schema"] == "dnfscale.classes/1"
    kept = [row for row in rows().to_pylist() if row["x"] is not None]
    for label, entry in zip(LABELS, model["classes"], strict=True):
        assert entry["positive"] == [label]
        assert entry["counts"] == recount(kept, entry)
        assert entry["certificate"]
        for cell in entry["counts"]:
            row = next(r for r in kept if recount([r], entry)[0]["type"] == cell["type"])
            assert accepts(entry, row) == (2 * cell["c"] >= cell["n"])
    assert len(read_models(spread_desk.folder() / "model.json")) == 4


def test_a_run_writes_its_tables_and_its_report(spread_desk):
    study(spread_desk)
    folder = spread_desk.folder()
    assert surprising(folder) == []
    assert all(label in (folder / "report.html").read_text(encoding="utf-8") for label in LABELS)
    with (folder / "tables" / "folds.csv").open(encoding="utf-8") as file:
        folds = list(csv.DictReader(file))
    assert [(row["fold"], row["label"]) for row in folds] == [
        (str(f), label) for f in range(6) for label in LABELS
    ]
    with (folder / "tables" / "sweep.csv").open(encoding="utf-8") as file:
        assert {row["label"] for row in csv.DictReader(file)} == set(LABELS)


def test_the_summary_shows_every_formula(spread_desk):
    for kind in ("fit", "study"):
        ended = spread_desk.run(name=kind, kind=kind, data=ALL, select={"max_ell": 3})
        assert ended.code == 0, ended.err
        for label in LABELS:
            assert f"\ny is {label} " in ended.out
    assert "over 10 test folds" in ended.out
    metrics = spread_desk.result("study")["methods"]["ideal"]["metrics"]
    shares = [metrics[name]["pooled"] for name in ("balanced_accuracy", "f1", "mcc")]
    told = "balanced accuracy {:.1f} %, macro F1 {:.3f}, MCC {:.3f}"
    assert told.format(100 * shares[0], *shares[1:]) in ended.out


def test_a_fit_learns_the_models_of_the_study(spread_desk):
    study(spread_desk)
    expected = spread_desk.model()
    assert (
        spread_desk.run(name="fit", kind="fit", seed=5, data=ALL, select={"max_ell": 4}).code == 0
    )
    found = spread_desk.model("fit")
    for one, other in zip(found["classes"], expected["classes"], strict=True):
        assert {k: v for k, v in one.items() if k != "provenance"} == {
            k: v for k, v in other.items() if k != "provenance"
        }
    assert spread_desk.result("fit")["methods"]["ideal"]["folds"] == []


def test_files_and_workers_change_nothing(spread_desk):
    table = rows()
    for i, (start, stop) in enumerate([(0, 1), (1, 1), (1, 90), (90, 93), (93, 230)]):
        spread_desk.table(table[start:stop], f"five/{i}.parquet", row_group_size=17)
    common: dict[str, Any] = {
        "kind": "study",
        "seed": 5,
        "select": {"max_ell": 3},
        "folds": {"outer": 4},
    }
    runs = {
        "one": {"data": ALL, "cluster": {"kind": "serial"}},
        "five": {"data": {**ALL, "path": "five"}, "cluster": {"kind": "serial", "fan_in": 2}},
        "workers": {"data": {**ALL, "path": "five"}, "cluster": {"kind": "local", "workers": 2}},
    }
    for folder, tables in runs.items():
        file = spread_desk.spec(file=f"{folder}.toml", **common, **tables)
        run = spread_desk.apart if folder == "workers" else spread_desk.here
        ended = run("run", file, "--output", f"out-{folder}")
        assert ended.code == 0, ended.err
    ran = [spread_desk.path / f"out-{folder}" / "job" for folder in runs]
    results = {essence(folder / "result.json") for folder in ran}
    models = {(folder / "model.json").read_bytes() for folder in ran}
    assert len(results) == len(models) == 1


def test_labels_may_be_numbers_or_truth_values(desk):
    table = rows()
    codes = [LABELS.index(label) - 1 for label in table["y"].to_pylist()]
    desk.table(table.set_column(3, "y", pa.array(codes)))
    result = study(desk)
    assert [entry["label"] for entry in result["data"]["classes"]] == [-1, 0, 1, 2]
    desk.table(table.set_column(3, "y", pa.array([code > 0 for code in codes])))
    ended = desk.run(name="two", kind="study", data=ALL, select={"max_ell": 2})
    assert ended.code == 0, ended.err
    assert [entry["label"] for entry in desk.result("two")["data"]["classes"]] == [False, True]


def test_trees_are_compared_with_the_formulas(spread_desk):
    result = study(
        spread_desk,
        folds={"outer": 2},
        **{"baselines.random_forest": {"trials": 1}, "baselines.xgboost": {"trials": 1}},
    )
    for name in ("random_forest", "xgboost"):
        method = result["methods"][name]
        assert method["failed_folds"] == 0
        assert all(0 < fold["accuracy"] <= 1 for fold in method["folds"])
        for fold, ours in zip(method["folds"], result["methods"]["ideal"]["folds"], strict=True):
            correct = fold["accuracy"] * ours["test_rows"]
            assert correct == pytest.approx(round(correct))
    assert {entry["other"] for entry in result["comparisons"]} == {
        "majority",
        "random_forest",
        "xgboost",
    }


def test_positive_labels_beside_all_are_refused(spread_desk):
    ended = spread_desk.run(kind="fit", data={**ALL, "positive": ["cat"]})
    assert ended.code == 2
    assert "job.toml" in ended.message
    assert "leave out one of the two" in ended.message


def test_another_word_for_all_is_refused(spread_desk):
    ended = spread_desk.run(kind="fit", data={**ALL, "classes": "every"})
    assert ended.code == 2
    assert "data.classes must be one of 'two', 'all', got 'every'" in ended.message


def test_too_many_labels_are_over_the_limit_and_one_is_bad_data(desk):
    desk.table({"a": list(range(251)), "y": list(range(251))})
    ended = desk.run(kind="fit", data=ALL)
    assert ended.code == 5
    assert "at most 250 labels, but the target 'y' has 251" in ended.message
    desk.table({"a": list(range(20)), "y": ["same"] * 20})
    ended = desk.run(kind="fit", data=ALL)
    assert ended.code == 3
    assert "only the value 'same'" in ended.message
    assert "Traceback" not in ended.err


def test_more_than_two_labels_without_all_name_the_way_out(spread_desk):
    ended = spread_desk.run(kind="fit")
    assert ended.code == 2
    assert 'set data.classes = "all"' in ended.message


def test_the_result_as_json_is_the_file(spread_desk):
    ended = spread_desk.here("run", spread_desk.spec(kind="fit", data=ALL), "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out) == spread_desk.result()
