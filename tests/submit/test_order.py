"""What is sent to a driver means there what it meant where it was submitted."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from dnfscale.jobs.runner import Options
from dnfscale.spec.job import read_spec
from dnfscale.spec.suite import SuiteSpec, read_suite
from dnfscale.submit.order import options_in, order_for, run_folder_of, spec_in, use_data_folder

CLUSTER = {
    "cluster.kind": "address",
    "cluster.address": "tcp://127.0.0.1:1",
    "cluster.insecure": True,
}


def sent(spec: object, **options: bool) -> dict[str, object]:
    """An order as it arrives: nothing but JSON."""
    order: dict[str, object] = json.loads(json.dumps(order_for(spec, Options(**options))))
    return order


def test_a_spec_arrives_with_its_paths_its_values_and_the_lines_of_its_file(
    laid_desk, monkeypatch, tmp_path_factory
):
    path = laid_desk.spec(
        kind="study",
        seed=4,
        cluster={"kind": "local", "workers": 7, "fan_in": 3},
        methods=["ideal"],
    )
    spec = read_spec(Path("job.toml"), {"select.max_ell": 3, "output.dir": "out"})
    order = sent(spec)
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    found = spec_in(order, CLUSTER)
    assert found.data_path == str(laid_desk.path / "t.parquet")
    assert str(found.run_folder) == run_folder_of(found) == str(laid_desk.path / "out" / "job")
    assert (found.values["select.max_ell"], found.values["seed"], found.methods) == (
        3,
        4,
        ("ideal",),
    )
    assert (found.cluster.kind, found.cluster.options.address, found.cluster.fan_in) == (
        "address",
        "tcp://127.0.0.1:1",
        3,
    )
    assert (found.file, found.place("data.path")) == (Path("job.toml"), spec.place("data.path"))
    assert found.essence() == read_spec(path, {"select.max_ell": 3}).essence()


def test_nothing_of_the_submitters_cluster_is_sent_but_what_holds_on_any(laid_desk):
    laid_desk.spec(cluster={"kind": "local", "memory_limit": "2GiB", "start_timeout_s": 5})
    order = sent(read_spec(Path("job.toml")))
    assert set(tomllib.loads(order["spec"]["text"])["cluster"]) == {
        "fan_in",
        "start_timeout_s",
        "lost_timeout_s",
    }


def test_addresses_of_stores_stay_as_they_are(laid_desk):
    laid_desk.spec(data={"path": "s3://bucket/rows"}, output={"dir": "s3://bucket/runs"})
    document = tomllib.loads(sent(read_spec(Path("job.toml")))["spec"]["text"])
    assert (document["data"]["path"], document["output"]["dir"]) == (
        "s3://bucket/rows",
        "s3://bucket/runs",
    )


def test_a_suite_arrives_with_all_its_jobs(laid_desk, monkeypatch, tmp_path_factory):
    laid_desk.spec(file="specs/a.toml", name="a", data={"path": "../t.parquet"})
    laid_desk.spec(file="specs/b.toml", name="b", data={"path": "../t.parquet"}, seed=1)
    text = (
        'schema_version = 1\nkind = "suite"\njobs = ["a.toml", {spec = "b.toml", seed = '
        "2}]\n\n[select]\nmax_ell = 2\n"
    )
    laid_desk.spec(text, file="specs/both.toml")
    suite = read_suite(Path("specs/both.toml"))
    order = sent(suite)
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    found = spec_in(order, CLUSTER)
    assert isinstance(found, SuiteSpec)
    assert run_folder_of(found) == str(laid_desk.path / "runs" / "both")
    assert [str(job.run_folder) for job in found.jobs] == [
        str(laid_desk.path / "runs" / "both" / "jobs" / name) for name in "ab"
    ]
    assert [os.path.realpath(job.data_path) for job in found.jobs] == [
        str(laid_desk.path / "t.parquet")
    ] * 2
    assert [(job.values["seed"], job.values["select.max_ell"]) for job in found.jobs] == [
        (0, 2),
        (2, 2),
    ]
    assert [job.file for job in found.jobs] == [job.file for job in suite.jobs]
    monkeypatch.chdir(laid_desk.path)
    assert [job.essence() for job in found.jobs] == [job.essence() for job in suite.jobs]


@pytest.mark.parametrize(
    ("resume", "attempt", "resumes"), [(False, 1, False), (True, 1, True), (False, 2, True)]
)
def test_a_second_driver_resumes_whatever_was_asked(laid_desk, resume, attempt, resumes):
    laid_desk.spec()
    order = sent(read_spec(Path("job.toml")), resume=resume, force=True)
    assert options_in(order, attempt=attempt) == Options(force=True, resume=resumes)


def test_named_datasets_are_looked_for_where_the_submitter_looks_if_that_is_there(
    laid_desk, monkeypatch
):
    laid_desk.spec()
    monkeypatch.setenv("DNFSCALE_DATA", "sets")
    order = sent(read_spec(Path("job.toml")))
    assert order["data_folder"] == str(laid_desk.path / "sets")
    monkeypatch.setenv("DNFSCALE_DATA", "/own")
    use_data_folder(order)
    assert os.environ["DNFSCALE_DATA"] == "/own"
    (laid_desk.path / "sets").mkdir()
    use_data_folder(order)
    assert os.environ["DNFSCALE_DATA"] == str(laid_desk.path / "sets")
