from __future__ import annotations

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dnfscale.compare.tuning import FitNote
from dnfscale.jobs import forecast
from dnfscale.jobs.plan import plan
from dnfscale.jobs.runner import notes_of, open_data
from dnfscale.jobs.ways import settled
from dnfscale.spec.job import read_spec
from tests.jobs.running import Desk, small_table


def planned(desk: Desk, **tables):
    spec = read_spec(desk.spec(**tables))
    return plan(spec, *open_data(spec))


def chosen_formulas(plan) -> int:
    """Return how many formulas are planned to be written, before those of other lengths."""
    return next(phase.tasks for phase in plan.phases if phase.name == "minimize formulas")


def phases_begun(desk: Desk) -> list[str]:
    """Return the phases of a run in the order in which they began."""
    events = [
        json.loads(line)
        for line in (desk.folder() / "events.jsonl").read_text("utf-8").splitlines()
    ]
    return [event["phase"] for event in events if event["event"] == "phase" and event["done"] == 0]


def test_a_plan_reads_as_many_bytes_as_the_footers_say(laid_desk):
    with pq.ParquetFile(laid_desk.path / "t.parquet") as parquet:
        group = parquet.metadata.row_group(0)
        size = {
            group.column(i).path_in_schema: group.column(i).total_compressed_size for i in range(5)
        }
    phases = {phase.name: phase for phase in planned(laid_desk).phases}
    assert phases["read rows"].read_bytes == sum(size.values())
    assert phases["count types"].read_bytes == 0


def test_columns_that_are_dropped_are_not_read(laid_desk):
    whole, less = planned(laid_desk), planned(laid_desk, data={"drop": ["x"]})
    assert less.phases[0].read_bytes < whole.phases[0].read_bytes
    assert less.rough_bytes == whole.rough_bytes - 240


def test_rows_are_counted_first_only_where_some_may_be_dropped(desk):
    table = pa.table(small_table(n_rows=200))
    desk.table(table)
    assert planned(desk).phases[0].name == "read rows"
    first = table.column(0).combine_chunks()
    holes = pa.concat_arrays([pa.nulls(150, first.type), first[150:]])
    desk.table(table.set_column(0, table.column_names[0], holes))
    dropping = planned(desk, data={"max_dropped": 1.0}).phases[:2]
    assert [phase.name for phase in dropping] == ["summarize columns", "read rows"]
    assert planned(desk, data={"missing": "indicator"}).phases[0].name == "read rows"


def test_a_large_table_is_sampled_first(desk):
    desk.table(pa.concat_tables([pa.table(small_table(n_rows=70_000))] * 5), row_group_size=70_000)
    first, second = planned(desk).phases[:2]
    assert (first.name, second.name) == ("sample columns", "read rows")
    assert 0 < first.read_bytes < second.read_bytes


@pytest.mark.parametrize(
    "tables",
    [
        {},
        {
            "kind": "study",
            "folds": {"outer": 2},
            "formula": {"minimize": "sympy"},
            "report": {"check": True},
        },
        {
            "kind": "study",
            "folds": {"outer": 2},
            "profile": "best",
            "select": {"validation_splits": 2},
        },
        {
            "kind": "study",
            "folds": {"outer": 2},
            "baselines.xgboost": {"trials": 1},
            "baselines.formula_size": {"max_size": 3},
            "baselines.decision_tree": {"max_leaves": 4},
        },
        {"kind": "study", "folds": {"outer": 2, "group": "n", "stratify": True}},
        {"kind": "study", "folds": {"outer": 2, "time": "n"}},
    ],
    ids=["fit", "sympy", "best", "baselines", "groups", "times"],
)
def test_a_plan_names_the_phases_that_a_run_goes_through(laid_desk, tables):
    names = [phase.name for phase in planned(laid_desk, **tables).phases]
    assert laid_desk.here("run", "job.toml").code == 0
    begun = phases_begun(laid_desk)
    # The last phase writes formulas of other lengths, if any of these answers types of attributes.
    assert begun in (names, names[:-1])


@pytest.mark.parametrize(
    "tables",
    [
        {"kind": "fit"},
        {"kind": "study", "folds": {"outer": 2}},
        {"kind": "study", "folds": {"outer": 2}, "baselines.formula_size": {"max_size": 2}},
        {"kind": "study", "folds": {"outer": 2}, "profile": "best", "data": {"weight": "w"}},
    ],
    ids=["fit", "study", "sizes", "weights"],
)
def test_the_joint_answers_of_several_labels_are_planned_as_they_are_counted(desk, tables):
    random = np.random.default_rng(0)
    x = random.normal(size=200)
    desk.table(
        {
            "x": x,
            "w": np.abs(x) + 0.5,
            "y": np.digitize(x + random.normal(0, 0.1, 200), [-0.5, 0.5]),
        }
    )
    tables = {**tables, "data": {"classes": "all", **tables.get("data", {})}}
    if "weight" not in tables["data"]:
        tables["data"]["drop"] = ["w"]
    names = [phase.name for phase in planned(desk, **tables).phases]
    assert desk.here("run", "job.toml").code == 0
    assert phases_begun(desk) == names


def test_only_a_cluster_that_is_started_takes_time_to_start(laid_desk, monkeypatch):
    monkeypatch.setattr(forecast, "_machine_s", lambda: 0.002)
    local = planned(laid_desk, cluster={"kind": "local"})
    joined = planned(laid_desk, cluster={"kind": "address", "address": "tcp://127.0.0.1:1"})
    assert local.seconds - joined.seconds == pytest.approx(forecast.LAUNCH_S)


@pytest.mark.parametrize(
    ("tables", "formulas"),
    [
        ({"kind": "fit"}, 1),
        ({"kind": "study"}, 11),
        ({"kind": "study", "folds": {"outer": 4}}, 5),
        ({"kind": "study", "folds": {"outer": "leave-one-out"}}, 241),
    ],
)
def test_a_plan_has_a_formula_per_fold_and_one_for_all_rows(laid_desk, tables, formulas):
    assert chosen_formulas(planned(laid_desk, **tables)) == formulas


def test_small_tables_are_planned_with_a_fold_per_row(desk):
    desk.table(small_table(n_rows=20))
    assert chosen_formulas(planned(desk, kind="study")) == 21


def test_the_plan_is_printed_with_its_sums(laid_desk):
    ended = laid_desk.here("plan", laid_desk.spec(kind="study"))
    found = planned(laid_desk, kind="study")
    assert ended.code == 0
    assert ended.out.startswith(
        "job: 240 rows in 1 partition, 4 columns (2 number, 1 category, 1 boolean)\n"
    )
    total = next(line for line in ended.out.splitlines() if line.startswith("in all"))
    assert int(total.split()[2]) == sum(phase.tasks for phase in found.phases)
    assert "memory per worker" in ended.out


def test_an_empty_table_can_be_planned(desk):
    desk.table(small_table(n_rows=0))
    assert desk.here("plan", desk.spec(kind="study")).code in (0, 3)


def test_tuning_is_planned_with_all_its_fits(laid_desk):
    spec = laid_desk.spec(kind="study", folds={"outer": 4}, **{"baselines.xgboost": {"trials": 9}})
    [line] = [
        line
        for line in laid_desk.here("plan", spec).out.splitlines()
        if line.startswith("tune baselines")
    ]
    assert " 40 " in line


def test_more_work_is_planned_to_take_longer(laid_desk, monkeypatch):
    # The machine's own speed is measured at each plan, and another test may be in its way just
    # then.
    monkeypatch.setattr(forecast, "_machine_s", lambda: 0.002)
    short, long = (
        planned(laid_desk, kind="study", folds={"outer": k}, cluster={"kind": "serial"})
        for k in (2, 200)
    )
    assert 2 * short.seconds < long.seconds


def test_what_cannot_fit_is_refused_after_the_plan_is_printed(laid_desk):
    spec = laid_desk.spec(
        kind="study", select={"max_ell": 20}, cluster={"kind": "local", "memory_limit": "600MiB"}
    )
    ended = laid_desk.here("plan", spec)
    assert ended.code == 5
    assert "memory per worker" in ended.out
    assert "a worker will need about" in ended.err
    assert "raise cluster.memory_limit" in ended.err


def test_a_plan_says_how_long_tuning_takes_once_a_run_has_measured_some(laid_desk):
    tables = {"folds": {"outer": 2}, "baselines.random_forest": {"trials": 3}}
    file = laid_desk.spec(kind="study", **tables)
    assert "more, by" not in laid_desk.here("plan", file).out
    spec = read_spec(file)
    source, to_learn = open_data(spec)
    notes = notes_of(settled(spec, source, to_learn), source)
    for fold in (0, 1):
        noted = FitNote(step="trial 0", params={"n_estimators": 100}, seconds=10.0)
        notes.note(f"random_forest-fold{fold}", noted)
    told = laid_desk.here("plan", file)
    [line] = [line for line in told.out.splitlines() if line.startswith("Random forest")]
    # Three trials and a last fit in each of two folds, two of which are done.
    assert re.search(r"; about (30|60) s more, by the 2 fits that the run in .* has measured", line)
    changed = laid_desk.here("plan", file, "--set", "seed=1")
    assert "more, by" not in changed.out, "those are fits of another job"
