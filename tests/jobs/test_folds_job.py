"""Jobs whose rows are dealt into folds as the table [folds] says: the same parts for every method,
and the same result however the job runs.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from tests.jobs.running import (
    PATIENCE_S,
    Desk,
    essence,
    read_json,
    small_table,
    surroundings,
)

N_ROWS = 240
METHODS: dict[str, Any] = {
    "baselines.random_forest": {"trials": 1},
    "baselines.decision_tree": {"max_leaves": 4},
    "baselines.formula_size": {"max_size": 3},
}


def visits() -> dict[str, Any]:
    """A small table with the patient, the site and the day of each visit."""
    random = np.random.default_rng(21)
    return {
        **small_table(N_ROWS),
        "patient": [f"p{number}" for number in random.integers(0, 50, N_ROWS)],
        "site": random.choice(["east", "north", "west"], N_ROWS).tolist(),
        "day": pa.array(random.integers(18_000, 18_400, N_ROWS).astype(np.int32), pa.date32()),
    }


DEALINGS: dict[str, dict[str, Any]] = {
    "group": {"group": "patient", "outer": 3},
    "stratify": {"stratify": True, "outer": 3},
    "stratified groups": {"group": "patient", "stratify": True, "outer": 3},
    "time": {"time": "day", "outer": 3},
    "groups in time": {"time": "day", "outer": 3, "group": "patient"},
    "by": {"by": "site"},
    "groups by site": {"by": "site", "group": "patient"},
    "holdout": {"holdout": 0.25},
    "stratified holdout of groups": {"holdout": 0.25, "group": "patient", "stratify": True},
}


def study(desk: Desk, folds: dict[str, Any], **tables: Any) -> dict[str, Any]:
    tables = {"data": {"drop": ["site", "day", "patient"]}, **tables}
    ended = desk.run(kind="study", folds=folds, **tables)
    assert ended.code == 0, ended.err
    return desk.result()


def rows_tested(method: dict[str, Any]) -> list[int]:
    return [fold["tested"] for fold in method["folds"]]


@pytest.mark.slow
@pytest.mark.parametrize("name", DEALINGS)
def test_every_method_is_tested_on_the_same_rows(desk: Desk, name: str) -> None:
    desk.table(visits(), row_group_size=37)
    result = study(desk, DEALINGS[name], **METHODS)
    methods = result["methods"]
    assert set(methods) >= {"ideal", "majority", "one_rule", "random_forest", "decision_tree"}
    sizes = rows_tested(methods["ideal"])
    positives = [
        fold["confusion"]["tp"] + fold["confusion"]["fn"] for fold in methods["ideal"]["folds"]
    ]
    for method in methods.values():
        assert rows_tested(method) == sizes
        known = [f["confusion"]["tp"] + f["confusion"]["fn"] for f in method["folds"]]
        assert known == positives


@pytest.mark.slow
@pytest.mark.parametrize("name", DEALINGS)
def test_the_result_does_not_depend_on_files_row_groups_or_workers(desk: Desk, name: str) -> None:
    on_workers = name in ("stratified groups", "groups in time")
    table = pa.table(visits())
    for number, start in enumerate(range(0, N_ROWS, 50)):
        desk.table(table.slice(start, 50), f"many/{number}.parquet", row_group_size=11)
    desk.table(table, "one/all.parquet")
    found = []
    clusters = {"kind": "serial"}, {"kind": "local" if on_workers else "serial", "workers": 2}
    for path, cluster in zip(("one", "many"), clusters, strict=True):
        study(
            desk,
            DEALINGS[name],
            profile="best" if on_workers else "paper",
            data={"path": path, "drop": ["site", "day", "patient"]},
            cluster=cluster,
            **{"baselines.decision_tree": {"max_leaves": 4}},
        )
        found.append(essence(desk.folder() / "result.json"))
        found.append((desk.folder() / "model.json").read_text(encoding="utf-8"))
        (desk.path / "job.toml").unlink()
        subprocess.run(["rm", "-r", str(desk.folder())], check=True)
    assert found[:2] == found[2:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("stratified groups", "end look at folds"),
        ("stratified groups", "start count types"),
        ("groups in time", "end rank times"),
        ("groups in time", "start fit peers"),
        ("stratified holdout of groups", "start fit peers"),
    ],
)
def test_a_killed_study_ends_as_if_nothing_had_befallen_it(
    desk: Desk, name: str, moment: str
) -> None:
    desk.table(visits(), row_group_size=37)
    tables = {"baselines.decision_tree": {"max_leaves": 4}}
    study(desk, DEALINGS[name], **tables)
    quiet = essence(desk.folder() / "result.json")
    subprocess.run(["rm", "-r", str(desk.folder())], check=True)
    ended = subprocess.run(
        [sys.executable, "-m", "tests.jobs.dying", moment, "run", "job.toml"],
        cwd=desk.path,
        env=surroundings(),
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert desk.here("run", desk.path / "job.toml", "--resume").code == 0
    assert essence(desk.folder() / "result.json") == quiet


def test_the_result_and_the_summary_say_how_rows_were_dealt(desk: Desk) -> None:
    desk.table(visits())
    folds = {"group": "patient", "stratify": True, "outer": 3}
    ended = desk.run(kind="study", folds=folds, data={"drop": ["site", "day"]})
    assert ended.code == 0, ended.err
    n_groups = len(set(visits()["patient"]))
    words = f"{n_groups} groups of patient kept together, labels in proportion"
    assert words in ended.out
    assert desk.result()["data"]["dealing"] == {
        "group": "patient",
        "groups": n_groups,
        "stratified": True,
    }
    assert words in (desk.folder() / "report.html").read_text(encoding="utf-8")
    assert not any("patient" in name for name in read_json(desk.folder() / "model.json")["formula"])


def test_a_fit_keeps_groups_together_as_a_study_does(desk: Desk) -> None:
    desk.table(visits())
    tables = {"data": {"drop": ["site", "day"]}}
    study(desk, {"group": "patient", "outer": 3}, **tables)
    of_study = (desk.folder() / "model.json").read_text(encoding="utf-8")
    ended = desk.run(kind="fit", name="fit", folds={"group": "patient"}, **tables)
    assert ended.code == 0, ended.err
    of_fit = (desk.folder("fit") / "model.json").read_text(encoding="utf-8")
    assert of_fit.replace('"name": "fit"', '"name": "job"') == of_study


BAD: dict[str, tuple[dict[str, Any], int, str]] = {
    "no such column": (
        {"group": "pateint"},
        2,
        "folds.group must name columns of .*, got 'pateint'; did you mean 'patient'",
    ),
    "more folds than groups": (
        {"group": "site", "outer": 9},
        2,
        "folds.outer must be at most the number of groups, and column 'site' has 3; got 9",
    ),
    "both": (
        {"by": "site", "holdout": 0.2},
        2,
        "rows are tested in one way, but folds.by and folds.holdout are given; leave out all but",
    ),
    "a number of sites": (
        {"by": "site", "outer": 4},
        2,
        "folds.by says what the folds are, but folds.outer is 4; leave out one",
    ),
    "a date by site": (
        {"by": "day"},
        3,
        "folds.by must name a column of numbers, booleans or strings, but 'day' has the type date",
    ),
    "all held out": ({"holdout": 1.0}, 2, "folds.holdout must be .*between 0.01 and 0.9, got 1"),
    "no text": ({"group": 3}, 2, "folds.group must be the name of a column, got 3"),
    "no yes or no": ({"stratify": "yes"}, 2, "folds.stratify must be true or false, got 'yes'"),
}


def test_a_fit_has_nothing_to_hold_out(desk: Desk) -> None:
    desk.table(visits())
    ended = desk.run(kind="fit", folds={"holdout": 0.2})
    assert ended.code == 2
    message = 'kind = "fit" tests nothing; leave out folds.holdout, or use kind = "study"'
    assert message in ended.message


def test_a_holdout_without_positives_is_told(desk: Desk) -> None:
    table = visits()
    desk.table({**table, "y": np.arange(N_ROWS) == 7})
    ended = desk.run(kind="study", folds={"holdout": 0.05})
    assert ended.code == 3
    assert "expected both classes among the 12 rows to test" in ended.message
    assert "none of them are positive; change it, or set folds.stratify = true" in ended.message


def test_the_formula_shown_is_the_one_that_was_tested_on_rows_held_out(desk: Desk) -> None:
    desk.table(visits())
    result = study(desk, {"holdout": 0.25})
    [fold] = result["methods"]["ideal"]["folds"]
    assert fold["test_rows"] == 60
    assert fold["train_rows"] + fold["validation_rows"] == 180
    model = read_json(desk.folder() / "model.json")
    assert sum(count["n"] for count in model["counts"]) == 180
    assert fold["formula"] == model["formula"]


def test_the_first_time_that_each_fold_tests_is_told(desk: Desk) -> None:
    desk.table(visits())
    ended = desk.run(
        kind="study", folds={"time": "day", "outer": 2}, data={"drop": ["site", "patient"]}
    )
    assert ended.code == 0, ended.err
    assert "tested later in day than learned" in ended.out
    days = np.sort(np.array(visits()["day"].cast(pa.int32())))
    starts = [str(np.datetime64(int(days[place]), "D")) for place in (80, 160)]
    dealing = desk.result()["data"]["dealing"]
    assert dealing["column"] == "day"
    shown = [np.datetime64(start) for start in dealing["parts"]]
    assert all(
        abs(a - np.datetime64(b)).astype(int) <= 1 for a, b in zip(shown, starts, strict=True)
    )


def test_every_site_is_named_with_its_fold(desk: Desk) -> None:
    table = visits()
    desk.table(table)
    result = study(desk, {"by": "site"}, data={"drop": ["day", "patient"]})
    sites = result["data"]["dealing"]["parts"]
    assert sites == ["east", "north", "west"]
    rows = [table["site"].count(site) for site in sites]
    assert [fold["test_rows"] for fold in result["methods"]["ideal"]["folds"]] == rows


@pytest.mark.parametrize("name", BAD)
def test_folds_that_cannot_be_had_are_told_with_what_to_change(desk: Desk, name: str) -> None:
    folds, code, message = BAD[name]
    desk.table(visits())
    ended = desk.run(kind="study", folds=folds)
    assert ended.code == code
    assert re.search(message, ended.message), ended.message
    assert "Traceback" not in ended.err


N_LEARNED = 180


def years(desk: Desk, *, flipped: bool = False, **options: Any) -> None:
    """Write the visits of a year to learn from, and those of the next."""
    table = visits()
    n = np.array(table["n"], dtype=float)
    n[5:9] = np.nan
    labels = np.array(table["y"])
    labels[N_LEARNED:] ^= flipped
    whole = pa.table({**table, "n": n, "y": labels}).drop_columns(["site", "day", "patient"])
    desk.table(whole.slice(0, N_LEARNED), "visits/2024/all.parquet", **options)
    desk.table(whole.slice(N_LEARNED), "visits/2025/all.parquet", **options)


def study_on_files(desk: Desk, path: str = "visits", **tables: Any) -> dict[str, Any]:
    tables = {"data": {"path": path}, "folds": {"test": "visits/2025/*.parquet"}, **tables}
    ended = desk.run(kind="study", **tables)
    assert ended.code == 0, ended.err
    assert "tested on files that nothing is learned from" in ended.out
    return desk.result()


@pytest.mark.parametrize("path", ["visits", "visits/2024"])
def test_files_of_their_own_are_tested_and_never_learned_from(desk: Desk, path: str) -> None:
    years(desk)
    result = study_on_files(desk, path, **{"baselines.decision_tree": {"max_leaves": 4}})
    assert result["data"]["dealing"] == {"tested": "test"}
    methods = result["methods"]
    assert set(methods) == {"ideal", "majority", "one_rule", "decision_tree"}
    assert all(rows_tested(method) == [N_ROWS - N_LEARNED] for method in methods.values())
    [fold] = result["methods"]["ideal"]["folds"]
    assert fold["train_rows"] + fold["validation_rows"] == N_LEARNED - 4
    model = desk.model()
    assert sum(count["n"] for count in model["counts"]) == N_LEARNED - 4
    # The judge: the model's answers for these files, one by one.
    done = desk.here(
        *("predict", desk.folder() / "model.json", desk.path / "visits/2025"),
        *("--output", desk.path / "answers"),
    )
    assert done.code == 0, done.err
    answers = np.array(pq.read_table(desk.path / "answers")["prediction"])
    truth = np.array(pq.read_table(desk.path / "visits/2025/all.parquet")["y"])
    assert fold["confusion"] == {
        "tp": int((answers & truth).sum()),
        "fp": int((answers & ~truth).sum()),
        "tn": int((~answers & ~truth).sum()),
        "fn": int((~answers & truth).sum()),
    }
    years(desk, flipped=True)
    subprocess.run(["rm", "-r", str(desk.folder())], check=True)
    study_on_files(desk, path, **{"baselines.decision_tree": {"max_leaves": 4}})
    assert desk.model()["counts"] == model["counts"]
    assert desk.model()["formula"] == model["formula"]


def test_how_files_are_cut_does_not_change_what_is_tested_on_them(desk: Desk) -> None:
    found = []
    for options in ({}, {"row_group_size": 7}):
        years(desk, **options)
        study_on_files(desk)
        found.append(essence(desk.folder() / "result.json"))
        found.append((desk.folder() / "model.json").read_text(encoding="utf-8"))
        subprocess.run(["rm", "-r", str(desk.folder())], check=True)
    assert found[:2] == found[2:]


def test_texts_can_be_tested_on_too(desk: Desk) -> None:
    years(desk)
    as_parquet = study_on_files(desk)
    for year in ("2024", "2025"):
        folder = desk.path / "visits" / year
        csv.write_csv(pq.read_table(folder / "all.parquet"), folder / "all.csv")
        (folder / "all.parquet").unlink()
    subprocess.run(["rm", "-r", str(desk.folder())], check=True)
    as_text = study_on_files(desk, folds={"test": "visits/2025"})
    folds = [run["methods"]["ideal"]["folds"][0] for run in (as_parquet, as_text)]
    assert folds[0]["confusion"] == folds[1]["confusion"]


BAD_FILES: dict[str, tuple[dict[str, Any], int, str]] = {
    "all files": (
        {"folds": {"test": "visits/*/*.parquet"}},
        3,
        "expected files to learn from besides those to test, but .* means all files of",
    ),
    "no file": ({"folds": {"test": "visits/2026"}}, 3, "there is nothing at this path"),
    "one dataset": (
        {"data": {"path": "builtin:breast_cancer"}, "folds": {"test": "visits"}},
        2,
        "folds.test tells files apart, but builtin:breast_cancer is one dataset; test by",
    ),
    "another kind": (
        {"folds": {"test": "texts"}},
        2,
        "folds.test must name files of the kind of .*, but only one of the two is Parquet",
    ),
    "another table": (
        {"folds": {"test": "others"}},
        3,
        "expected the same columns in all files, but 'x' of .* is not in it",
    ),
    "with a number of folds": (
        {"folds": {"test": "visits/2025", "outer": 3}},
        2,
        "folds.test says what the folds are, but folds.outer is 3; leave out one",
    ),
    "with a holdout": (
        {"folds": {"test": "visits/2025", "holdout": 0.2}},
        2,
        "rows are tested in one way, but folds.test and folds.holdout are given",
    ),
    "a fit": ({"kind": "fit"}, 2, 'kind = "fit" tests nothing; leave out folds.test'),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_files_that_cannot_be_tested_on_are_told(desk: Desk, name: str) -> None:
    tables, code, message = BAD_FILES[name]
    years(desk)
    desk.table({"z": [1, 2], "y": [True, False]}, "others/all.parquet")
    (desk.path / "texts").mkdir()
    (desk.path / "texts" / "all.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    ended = desk.run(
        **{
            "kind": "study",
            "data": {"path": "visits"},
            "folds": {"test": "visits/2025/*.parquet"},
            **tables,
        }
    )
    assert ended.code == code, ended.err
    assert re.search(message, ended.message), ended.message


@pytest.mark.slow
def test_slices_survive_a_death_between_their_scan_and_the_next(desk: Desk) -> None:
    desk.table(visits(), row_group_size=37)
    tables = {"report": {"slices": ["site", "s"]}, "baselines.decision_tree": {"max_leaves": 4}}
    study(desk, {"outer": 3}, **tables)
    quiet = essence(desk.folder() / "result.json")
    assert [part["column"] for part in desk.result()["methods"]["ideal"]["slices"]] == ["site", "s"]
    for moment in ("start count slices", "end count slices"):
        subprocess.run(["rm", "-r", str(desk.folder())], check=True)
        ended = subprocess.run(
            [sys.executable, "-m", "tests.jobs.dying", moment, "run", "job.toml"],
            cwd=desk.path,
            env=surroundings(),
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        assert desk.here("run", desk.path / "job.toml", "--resume").code == 0
        assert essence(desk.folder() / "result.json") == quiet
