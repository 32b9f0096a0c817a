"""Fits of all workers together, against the same fits of one worker with all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dnfscale.compare.joint import FitTogether
from dnfscale.compare.rows import RowsPlan
from dnfscale.compare.trial import Fit, FitAndScore, Scored
from dnfscale.compare.xgboost import learn
from dnfscale.core.columns import Column, Reading, Role
from dnfscale.core.splits import VALIDATION, Splits
from dnfscale.data.source import open_source
from dnfscale.engine.api import Engine, Failure, JointWork
from dnfscale.engine.dask.engine import ClusterEngine
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DataError
from dnfscale.results.confusion import correct_of, counted_of
from dnfscale.spec.registry import COMPETITORS

ROWS, PARTS = 1_800, 3
PARAMS = {"n_estimators": 12, "max_depth": 4, "learning_rate": 0.3}
FIT = Fit("xgboost", 0, PARAMS, 5, final=True)


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> RowsPlan:
    """Three partitions of two numbers, with missing values, and a category."""
    folder = tmp_path_factory.mktemp("joint")
    random = np.random.default_rng(0)
    x = random.normal(size=(2, ROWS))
    kind = random.choice(["blue", "green", "red"], ROWS)
    y = (x[0] + (kind == "red") * x[1] + random.normal(0, 0.2, ROWS)) > 0
    missing = random.random(ROWS) < 0.05
    table = pa.table({"a": pa.array(x[0], mask=missing), "b": x[1], "kind": kind, "y": y})
    partitions = []
    for part in range(PARTS):
        file = folder / f"{part}.parquet"
        pq.write_table(table.slice(part * ROWS // PARTS, ROWS // PARTS), file)
        [rows] = open_source(str(file)).partitions
        partitions.append(replace(rows, ordinal=part))
    columns = (Column("a", Role.NUMBER), Column("b", Role.NUMBER), Column("kind", Role.CATEGORY))
    size = ROWS // PARTS
    return RowsPlan(
        token=str(folder),
        partitions=tuple(partitions),
        reading=Reading(columns, "y", keep_missing=True),
        classes=((False,), (True,)),
        class_rows=(int((~y).sum()), int(y.sum())),
        row_numbers={part: range(part * size, (part + 1) * size) for part in range(PARTS)},
        splits=Splits(ROWS, 2, 0.3, 0),
        values=(None, None, ("blue", "green", "red")),
    )


def together(engine: Engine, plan: RowsPlan, fit: Fit) -> Scored | Failure:
    joining = COMPETITORS["xgboost"].joining  # type: ignore[attr-defined]
    fitting = FitTogether(plan, joining)

    def asking() -> Any:
        return (yield fit)

    [answer] = engine.together(
        "fit together",
        [asking()],
        JointWork(fitting, plan.partitions, joining.meet, fitting.merge),
        expected=1,
    )
    found: Scored | Failure = answer
    return found


def share(scored: Scored | Failure) -> float:
    assert isinstance(scored, Scored), scored
    return correct_of(scored.answers) / counted_of(scored.answers)


@pytest.mark.parametrize("final", [False, True])
def test_one_share_answers_as_a_worker_with_all_rows(plan: RowsPlan, final: bool) -> None:
    fit = replace(FIT, final=final)
    alone = FitAndScore(plan, {"xgboost": learn})(fit)
    joint = together(SerialEngine(), plan, fit)
    assert isinstance(joint, Scored)
    assert counted_of(joint.answers) == counted_of(alone.answers)
    assert share(joint) == pytest.approx(share(alone), abs=0.01)
    assert (joint.scores is not None) is final


def test_the_workers_of_a_cluster_fit_all_rows_together(
    cluster: ClusterEngine, plan: RowsPlan
) -> None:
    alone = FitAndScore(plan, {"xgboost": learn})(FIT)
    joint = together(cluster, plan, FIT)
    assert isinstance(joint, Scored)
    assert counted_of(joint.answers) == counted_of(alone.answers) == ROWS // 2
    assert share(joint) == pytest.approx(share(alone), abs=0.02)
    assert share(joint) > 0.85
    assert joint.scores is not None
    assert sum(joint.scores.n) == ROWS // 2


def test_a_fit_of_all_workers_ends_at_its_deadline_and_leaves_them_at_work(
    cluster: ClusterEngine, plan: RowsPlan
) -> None:
    long = replace(FIT, params={**PARAMS, "n_estimators": 100_000}, timeout_s=0.2)
    late = together(cluster, plan, long)
    assert isinstance(late, Failure)
    assert "TrialTimeoutError: the trial took longer than its timeout_s" in late.message
    assert isinstance(together(cluster, plan, FIT), Scored)


def test_shares_that_are_not_all_rows_are_noticed(plan: RowsPlan) -> None:
    fewer = replace(plan, class_rows=(plan.class_rows[0] - 1, plan.class_rows[1]))
    with pytest.raises(DataError, match="run again on data that does not change"):
        together(SerialEngine(), fewer, FIT)


EAGER = replace(FIT, final=False, patience=3, params={**PARAMS, "n_estimators": 300})


@pytest.mark.parametrize("name", ["xgboost", "lightgbm"])
def test_a_trial_that_stops_early_is_one_of_as_many_trees(plan: RowsPlan, name: str) -> None:
    if COMPETITORS[name].missing:
        pytest.skip(f"{name} is not installed")
    fits = FitAndScore(plan, {name: COMPETITORS[name].learn})  # type: ignore[attr-defined]
    params = {**EAGER.params, "max_depth": 4}
    early = fits(replace(EAGER, method=name, params=params))
    assert early.n_trees is not None
    assert 0 < early.n_trees < 100
    same = {**params, "n_estimators": early.n_trees}
    whole = fits(replace(EAGER, method=name, params=same, patience=None))
    assert whole.answers == early.answers
    assert whole.n_trees is None


def test_a_trial_of_all_workers_stops_early_on_the_rows_of_all(plan: RowsPlan) -> None:
    early = together(SerialEngine(), plan, EAGER)
    assert isinstance(early, Scored)
    assert early.n_trees is not None
    assert 0 < early.n_trees < 100
    same = {**EAGER.params, "n_estimators": early.n_trees}
    whole = together(SerialEngine(), plan, replace(EAGER, params=same, patience=None))
    assert isinstance(whole, Scored)
    assert whole.answers == early.answers


def test_the_workers_of_a_cluster_agree_when_to_stop(
    cluster: ClusterEngine, plan: RowsPlan
) -> None:
    early = together(cluster, plan, EAGER)
    assert isinstance(early, Scored)
    assert early.n_trees is not None
    assert 0 < early.n_trees < 100


def test_a_share_without_rows_to_learn_from_takes_part(
    cluster: ClusterEngine, plan: RowsPlan
) -> None:
    # The second worker has the empty partitions only.
    more = range(PARTS, 2 * PARTS)
    empty = tuple(replace(plan.partitions[0], ordinal=part, pieces=()) for part in more)
    numbers = {**plan.row_numbers, **{part: range(ROWS, ROWS) for part in more}}
    wider = replace(plan, partitions=(*plan.partitions, *empty), row_numbers=numbers)
    found = together(cluster, wider, replace(EAGER, final=False))
    assert isinstance(found, Scored), found
    assert counted_of(found.answers) == plan.splits.rows_of(0, [VALIDATION])
