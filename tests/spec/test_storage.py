"""What a spec may say of object stores, and that it never holds a secret."""

from __future__ import annotations

import pytest

from dnfscale.spec.job import read_spec
from dnfscale.spec.storage import Access
from dnfscale.spec.suite import read_suite
from tests.jobs.running import Desk

SECRET = "s3cr3tOfSomebody"
DATA = {"path": "s3://bucket/t.parquet"}


def accesses(desk: Desk, **tables: object) -> tuple[Access, Access]:
    spec = read_spec(desk.spec(**tables))
    return spec.data_access, spec.output_access


def test_without_a_word_a_store_is_reached_as_its_provider_says(desk):
    assert accesses(desk) == (Access(), Access())


def test_what_is_said_of_the_data_holds_for_an_output_in_the_same_kind_of_store(desk):
    storage = {"endpoint": "http://127.0.0.1:9000", "region": "here", "anonymous": True}
    told = {"data": DATA, "data.storage": storage, "output": {"dir": "s3://bucket/runs"}}
    assert accesses(desk, **told) == (Access(**storage), Access(**storage))
    assert accesses(desk, **{**told, "output.storage": {"anonymous": False}})[1] == Access(
        "http://127.0.0.1:9000", "here", False
    )
    assert accesses(desk, **{**told, "output": {"dir": "gs://bucket/runs"}})[1] == Access()
    assert accesses(desk, **{**told, "output": {"dir": "runs"}})[1] == Access()


def test_the_folder_of_a_run_is_below_the_output(desk):
    assert (
        read_spec(desk.spec(output={"dir": "s3://bucket/runs/"})).run_folder
        == "s3://bucket/runs/job"
    )


def test_the_jobs_of_a_suite_are_below_the_suite(desk):
    desk.spec()
    suite = 'schema_version = 1\nkind = "suite"\nname = "all"\njobs = ["job.toml"]\n'
    suite += '[output]\ndir = "s3://bucket/runs"\n[output.storage]\nregion = "there"\n'
    read = read_suite(desk.spec(suite, file="all.toml"))
    assert (read.run_folder, read.output_access) == ("s3://bucket/runs/all", Access(region="there"))
    [job] = read.jobs
    assert (job.run_folder, job.output_access) == (
        "s3://bucket/runs/all/jobs/job",
        Access(region="there"),
    )


TELLING = {
    "a key": {"data.storage": {"access_key": SECRET}},
    "a secret": {"data.storage": {"secret_access_key": SECRET}},
    "a token": {"output.storage": {"token": SECRET}},
    "a password in the path": {"data": {"path": f"s3://user:{SECRET}@bucket/x"}},
    "a signature in the path": {"data": {"path": f"s3://bucket/x?X-Amz-Signature={SECRET}"}},
    "a password in the output": {"output": {"dir": f"s3://user:{SECRET}@bucket/runs"}},
    "a password in an URL of another kind": {
        "data": {"path": f"https://user:{SECRET}@host/x.parquet"}
    },
    "a password of the server": {
        "data.storage": {"endpoint": f"http://user:{SECRET}@127.0.0.1:9000"}
    },
}


@pytest.mark.parametrize("what", TELLING)
def test_a_spec_with_credentials_is_refused_and_does_not_repeat_them(laid_desk, what):
    ended = laid_desk.here("run", laid_desk.spec(**TELLING[what]))
    assert ended.code == 2
    assert "job.toml:" in ended.message
    assert "credentials" in ended.message
    assert SECRET not in ended.out + ended.err
    assert [
        file.name for file in laid_desk.path.iterdir() if file.name not in ("job.toml", "t.parquet")
    ] == []


def test_credentials_on_the_command_line_are_refused_and_not_repeated(laid_desk):
    spec = laid_desk.spec()
    url = f"s3://user:{SECRET}@bucket/x"
    for arguments in (
        ("run", spec, "--output", f"https://user:{SECRET}@host/x"),
        ("export", f"https://user:{SECRET}@host/model.json", "--to", "text"),
        ("run", spec, "--output", url),
        ("run", spec, "--set", f"data.path={url}"),
        ("predict", "model.json", "t.parquet", "--output", url),
        ("predict", url, "t.parquet", "--output", "answers"),
        (
            "predict",
            "model.json",
            "t.parquet",
            "--output",
            "answers",
            "--endpoint",
            f"http://u:{SECRET}@h",
        ),
        ("init", url, "--target", "y"),
        ("report", url),
        ("export", url, "--to", "text"),
    ):
        ended = laid_desk.here(*arguments)
        assert ended.code in (2, 3)
        assert "must not hold credentials" in ended.message
        assert SECRET not in ended.out + ended.err


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        (
            {"data.storage": {"endpoint": "127.0.0.1:9000"}},
            "data.storage.endpoint must be the URL of a server",
        ),
        ({"data.storage": {"anonymous": "yes"}}, "data.storage.anonymous must be true or false"),
        (
            {"data.storage": {"regoin": "x"}},
            "unknown key data.storage.regoin; did you mean data.storage.region?",
        ),
        (
            {"output": {"dir": "ftp://host/runs"}},
            "output.dir must be a path, or an URL that begins with s3://",
        ),
        (
            {"kind": "distill", "distill": {"model": "s3://b/m.json"}},
            "distill.model must be a path of this machine",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(laid_desk, tables, said):
    ended = laid_desk.here("validate", laid_desk.spec(**tables))
    assert ended.code == 2
    assert "job.toml:" in ended.message
    assert said in ended.message


def test_the_url_of_a_model_must_be_of_a_known_kind(laid_desk):
    ended = laid_desk.here("export", "https://host/model.json", "--to", "text")
    assert ended.code == 3
    assert "the path of a model must be a path, or an URL that begins with s3://" in ended.message


def test_a_password_in_the_address_of_a_scheduler_is_refused_and_not_repeated(laid_desk):
    for address in (f"tls://user:{SECRET}@127.0.0.1:8786", f"tcp://{SECRET}@127.0.0.1:8786"):
        cluster = {"kind": "address", "address": address}
        ran = laid_desk.here("run", laid_desk.spec(cluster=cluster))
        assert ran.code == 4
        assert "***@127.0.0.1:8786" in ran.message
        listed = laid_desk.here("list", "--scheduler", address)
        assert listed.code == 2
        assert "--scheduler must not hold credentials" in listed.message
        for ended in (ran, listed):
            assert SECRET not in ended.out + ended.err
    assert sorted(file.name for file in laid_desk.path.iterdir()) == ["job.toml", "t.parquet"]
