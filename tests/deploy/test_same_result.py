"""The quickstart's spec gives the same result on every kind of cluster that can be had here:
unchanged on local processes, and with two folds elsewhere.
"""

from __future__ import annotations

import json

import pytest

from tests.deploy.conftest import result_in_one_process, tls_settings
from tests.deploy.hosts import hosts, why_no_hosts
from tests.deploy.processes import Processes, start_scheduler, start_worker
from tests.jobs.running import read_json


def test_on_local_processes_it_ends_with_a_formula_an_accuracy_and_its_files(
    quickstart, tmp_path, tmp_path_factory
):
    found, environment = quickstart(whole=True)
    assert (environment["engine"], environment["workers"], environment["hosts"]) == ("dask", 2, 1)
    assert found == result_in_one_process(tmp_path_factory.mktemp("whole"))
    result = json.loads(found)
    assert result["data"]["rows"] == 569
    accuracy = result["methods"]["ideal"]["accuracy_mean"]
    assert accuracy > 0.9
    said = (tmp_path / "job.log").read_text(encoding="utf-8")
    assert f"{100 * accuracy:.1f} % ± " in said
    folder = tmp_path / "runs" / "quickstart"
    assert str(folder.relative_to(tmp_path)) in said.rstrip().splitlines()[-1]
    assert read_json(folder / "model.json")["positive"] == ["malignant"]
    assert (folder / "report.html").stat().st_size < 400_000


def test_on_local_processes_over_tls_that_come_as_there_is_work(quickstart, serially, certificates):
    moving = ["--set", "cluster.adaptive.minimum=1", "--set", "cluster.adaptive.maximum=2"]
    result, environment = quickstart(*tls_settings(certificates), *moving)
    assert result == serially
    assert environment["workers"] in (1, 2)


def test_on_a_scheduler_and_two_workers_over_tls(
    quickstart, serially, certificates, encrypted_cluster
):
    result, environment = quickstart("--scheduler", encrypted_cluster, *tls_settings(certificates))
    assert result == serially
    assert environment["workers"] == 2


def test_on_three_hosts_over_tls(quickstart, serially, certificates, tmp_path):
    reason = why_no_hosts()
    if reason:
        pytest.skip(reason)
    (tmp_path / "cluster").mkdir()
    with hosts(3) as (first, *others), Processes(tmp_path / "cluster") as processes:
        address = start_scheduler(processes, certificates, host=first.address, before=first.inside)
        assert address.startswith(f"tls://{first.address}:")
        for host in others:
            start_worker(processes, address, certificates, name=host.name, before=host.inside)
        result, environment = quickstart(
            "--scheduler", address, *tls_settings(certificates), before=first.inside
        )
    assert result == serially
    assert environment["hosts"] == environment["workers"] == 2
