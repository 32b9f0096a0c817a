"""Families of competitors: one that cannot run leaves its reason, and the others run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest

from dnfscale.compare.competitor import Outcome, Study
from dnfscale.compare.families import failure, run_family
from dnfscale.compare.ways import RowLearner, Table
from dnfscale.errors import ClusterError, DataError, LimitError, TaskError
from dnfscale.spec.registry import Competitor, Family

TABLE = Table(rows=1_000_000, columns=20)
"""Its matrix is 76 MiB large."""


@dataclass
class _Engine:
    worker_bytes: int | None = 1 << 30

    def describe(self) -> dict[str, Any]:
        return {"workers": 2}


@dataclass
class _Plan:
    table: Table = TABLE


@dataclass
class _Options:
    where: str = "worker"


def begin() -> Study:
    return Study(
        spec=cast(Any, None),
        engine=cast(Any, _Engine()),
        notes=cast(Any, None),
        plan_rows=lambda: cast(Any, _Plan()),
        provenance={},
        clock=lambda: 0.0,
    )


def learner(name: str, matrices: int = 4) -> RowLearner:
    return RowLearner(name=name, title=name.title(), colour="red", place=1, matrices=matrices)


def given(*learners: RowLearner, where: str = "worker") -> dict[Competitor, Any]:
    return {each: _Options(where) for each in learners}


def family(error: BaseException | None = None) -> Family:
    def run(_study: Study, options: dict[Competitor, Any]) -> dict[str, Outcome]:
        if error is not None:
            raise error
        return {each.name: failure(TaskError("ran"), 1) for each in options}

    return Family(run=run, plan=lambda *_: iter(()))


def reasons(outcomes: Any) -> dict[str, set[str]]:
    return {
        name: {fold.error for fold in outcome.method.folds} for name, outcome in outcomes.items()
    }


def test_a_learner_without_the_memory_leaves_its_reason_and_the_others_run() -> None:
    done = run_family(family(), given(learner("large", 8), learner("small")), begin, folds=2)
    told = reasons(done.outcomes)
    assert told["small"] == {"ran"}
    [reason] = told["large"]
    assert reason.startswith("Large holds all rows in each worker, which may need 956 MiB")
    assert reason.endswith('raise cluster.memory_limit, or set baselines.large.where = "auto"')
    assert [fold.fold for fold in done.outcomes["large"].method.folds] == [0, 1]
    assert done.lost is None


def test_a_family_whose_learners_all_lack_the_memory_does_not_run() -> None:
    done = run_family(family(RuntimeError()), given(learner("large", 8)), begin, folds=1)
    assert "set baselines.large.where" in str(reasons(done.outcomes)["large"])


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (LimitError("too much"), "too much"),
        (RuntimeError("a bug of a library"), "unexpected RuntimeError: a bug of a library"),
        (ImportError("no module"), "unexpected ImportError: no module"),
    ],
)
def test_a_family_that_fails_leaves_its_reason(error: Exception, reason: str) -> None:
    done = run_family(family(error), given(learner("a"), learner("b")), begin, folds=1)
    assert reasons(done.outcomes) == {"a": {reason}, "b": {reason}}
    assert done.lost is None


def test_a_lost_cluster_is_remembered_and_nothing_more_is_tried_on_it() -> None:
    lost = run_family(family(ClusterError("gone")), given(learner("a")), begin, folds=1).lost
    assert lost is not None

    def never() -> Study:
        raise AssertionError("the cluster was asked again")

    done = run_family(family(), given(learner("b")), never, folds=1, lost=lost)
    assert reasons(done.outcomes) == {"b": {"gone"}}
    assert done.lost is lost


@pytest.mark.parametrize(
    "error", [DataError("changed"), OSError("no room"), KeyboardInterrupt("stopped")]
)
def test_what_makes_the_study_untrue_ends_it(error: BaseException) -> None:
    with pytest.raises(type(error), match=str(error)):
        run_family(family(error), given(learner("a")), begin, folds=1)


def test_auto_is_all_rows_in_a_worker_where_they_fit_and_a_sample_where_not() -> None:
    learners = given(learner("large", 8), learner("small"), where="auto")
    outcomes = run_family(family(), learners, begin, folds=1).outcomes
    large, small = outcomes["large"].method, outcomes["small"].method
    assert (small.where, small.sample_rows) == ("worker", None)
    assert large.where == "sample"
    assert large.sample_rows is not None
    assert 0 < large.sample_rows < TABLE.rows
    assert large.reproducible
