from __future__ import annotations

import numpy as np
import pytest

from dnfscale.jobs import workers
from dnfscale.jobs.runner import open_data
from dnfscale.jobs.workers import Opened, chosen_cluster
from dnfscale.spec.cluster import ClusterSpec
from dnfscale.spec.job import read_spec
from tests.jobs.running import Desk, small_table


def opened(desk: Desk, **tables: object) -> Opened:
    spec = read_spec(desk.spec(kind="study", **tables))
    return Opened(spec, *open_data(spec))


def test_a_small_job_runs_in_its_own_process(desk):
    desk.table(small_table())
    choice = chosen_cluster(ClusterSpec(), [opened(desk)])
    assert choice.cluster.kind == "serial"
    assert choice.reason == "runs in this process, as workers would save no time"


def test_a_job_that_fits_other_methods_runs_on_workers(desk):
    desk.table(small_table())
    choice = chosen_cluster(ClusterSpec(), [opened(desk, baselines={}, methods=["xgboost"])])
    assert choice.cluster.kind == "local"
    assert "as other methods are fitted too" in str(choice.reason)


@pytest.mark.parametrize(("cores", "kind"), [(1, "serial"), (8, "local")])
def test_many_small_jobs_run_on_workers_where_there_are_cores_for_them(
    desk, monkeypatch, cores, kind
):
    monkeypatch.setattr(workers, "cores", lambda: cores)
    desk.table({"x": np.arange(4000.0), "y": np.arange(4000) % 3 == 0})
    choice = chosen_cluster(ClusterSpec(), 40 * [opened(desk, profile="best")])
    assert choice.cluster.kind == kind
    assert choice.cluster.workers == (8 if kind == "local" else 2)


def test_what_a_spec_says_is_not_chosen_again(desk):
    desk.table(small_table())
    asked = ClusterSpec(kind="local", workers=3)
    choice = chosen_cluster(asked, [opened(desk)])
    assert (choice.cluster, choice.reason) == (asked, None)
