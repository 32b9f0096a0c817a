"""Jobs whose formulas are checklists, from the outside."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.jobs.running import Desk, essence
from tests.jobs.test_resume import die, model_of, recalled, same_name
from tests.learn.test_checklists import patients, signs_of

SERIAL = ("--set", "cluster.kind=serial")


def checklist_spec(desk: Desk, name: str, **tables: object) -> str:
    """A study of a planted checklist of five signs."""
    frame = patients(n_rows=400, noise=0.0)
    desk.table({key: values.tolist() for key, values in frame.items()})
    return desk.spec(
        file=f"{name}.toml",
        name=name,
        kind="study",
        profile="best",
        data={"drop": ["w", "noise"]},
        select={"validation_splits": 1},
        formula={"forms": ["checklist"]},
        folds={"outer": 2},
        **tables,
    )


@pytest.fixture
def ran(desk: Desk) -> Desk:
    ended = desk.here("run", checklist_spec(desk, "job"), *SERIAL)
    assert ended.code == 0, ended.err
    return desk


def test_a_checklist_is_told_kept_predicted_explained_and_chosen(ran):
    result = json.loads((ran.folder() / "result.json").read_text(encoding="utf-8"))
    ideal = result["methods"]["ideal"]
    assert {"checklist"} == {fold["form"] for fold in ideal["folds"]}
    assert 0 <= ideal["stability"] <= ideal["columns_shared"] <= 1
    model = json.loads((ran.folder() / "model.json").read_text(encoding="utf-8"))
    [line] = model["lines"]
    assert model["types"] == "signs"
    assert sum(each["n"] for each in model["counts"]) == 400

    ended = ran.here("predict", "runs/job/model.json", "t.parquet", "--output", "answers")
    assert ended.code == 0, ended.err
    answers = pq.read_table(ran.path / "answers").to_pandas()
    assert (answers.prediction == (answers.signs >= line["at_least"])).all()
    by_signs = answers.groupby("signs").size().to_dict()
    assert by_signs == {each["type"]: each["n"] for each in model["counts"]}

    ended = ran.here("explain", "runs/job/model.json", "t.parquet", "--row", "0")
    assert ended.code == 0, ended.err
    held, n_signs = answers.signs[0], len(line["of"])
    assert f"{held} of {n_signs} signs hold" in ended.out
    assert f"{line['at_least']} are needed" in ended.out
    assert np.mean(answers.prediction == (signs_of(patients(n_rows=400, noise=0.0)) >= 3)) > 0.9

    ended = ran.here("choose", "runs/job", "--literals", "3")
    assert ended.code == 0, ended.err
    chosen = json.loads((ran.folder() / "chosen" / "model.json").read_text(encoding="utf-8"))
    assert 1 <= sum(len(each.get("all") or each["of"]) for each in chosen["lines"]) <= 3


@pytest.mark.slow
def test_a_study_of_checklists_killed_on_the_way_ends_as_one_that_was_not(desk):
    assert desk.here("run", checklist_spec(desk, "quiet"), *SERIAL).code == 0
    checklist_spec(desk, "job")
    searches = ["shorten types", "search terms", "count formulas"]
    for number, phase in enumerate([*searches, "count chosen types"]):
        die(desk, f"start {phase}", "run", "job.toml", *SERIAL)
        kept = [known for known in recalled(desk.folder()) if known in searches]
        assert kept == searches[: max(0, number - 1)]
    assert desk.here("run", "job.toml", *SERIAL).code == 0
    assert essence(desk.folder() / "result.json") == same_name(
        essence(desk.folder("quiet") / "result.json")
    )
    assert model_of(desk.folder()) == model_of(desk.folder("quiet"))
