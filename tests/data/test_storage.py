"""Paths and URLs: which are taken, which are refused, and that a secret is never repeated."""

from __future__ import annotations

import pyarrow.fs as pafs
import pytest

from dnfscale.data.storage import is_within, located, spelled, split, told
from dnfscale.spec.storage import Access, CredentialError, check_endpoint, check_path, joined

GOOD = [
    "runs",
    "/abs/t.parquet",
    "a:b.parquet",
    "s3://b",
    "s3://b/a b/ü=1/*.parquet",
    "gs://b/x",
    "abfs://c@account/x",
]


@pytest.mark.parametrize("path", GOOD)
def test_paths_and_urls_are_taken_as_they_are(path):
    assert check_path(path) == path


@pytest.mark.parametrize(
    "path", ["http://h/x", "ftp://h/x", "file:///x", "s3://", "s3:///x", "s3://b/../x", "s3://b//x"]
)
def test_other_urls_are_refused(path):
    with pytest.raises(ValueError, match="URL"):
        check_path(path)


SECRET = "s3cr3tOfSomebody"
TELLING = [
    f"s3://AKIA123:{SECRET}@bucket/x",
    f"s3://{SECRET}@bucket/x",
    f"gs://user:{SECRET}@bucket/x",
    f"abfs://container:{SECRET}@account/x",
    f"s3://bucket/x?X-Amz-Signature={SECRET}",
    f"abfs://container@account/x?sig={SECRET}",
    f"s3://bucket/x?access_key=a&secret_key={SECRET}",
    f"s3://bucket/x?api_key={SECRET}",
    f"s3://bucket/x?access_token={SECRET}",
    f"s3://user:a/{SECRET}@bucket/x",
    f"https://user:{SECRET}@host/x",
    f"https://host/x?token={SECRET}",
    f"postgresql://user:{SECRET}@host/db",
]


@pytest.mark.parametrize("path", TELLING)
def test_credentials_in_an_url_are_refused_and_not_repeated(path):
    with pytest.raises(CredentialError, match="must not hold credentials") as caught:
        check_path(path)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:9000", "https://minio.example", "https://[::1]:9000/"]
)
def test_the_url_of_a_server_is_taken(endpoint):
    assert check_endpoint(endpoint) == endpoint


@pytest.mark.parametrize(
    "endpoint", ["", "127.0.0.1:9000", "ftp://h", "http://", "http://h:port", "http://h/bucket"]
)
def test_anything_else_is_not_a_server(endpoint):
    with pytest.raises(ValueError, match="the URL of a server, such as https://"):
        check_endpoint(endpoint)


@pytest.mark.parametrize("endpoint", [f"http://user:{SECRET}@h:9000", f"{SECRET}@h"])
def test_credentials_of_a_server_are_refused_and_not_repeated(endpoint):
    with pytest.raises(CredentialError, match="must not hold credentials") as caught:
        check_endpoint(endpoint)
    assert SECRET not in str(caught.value)


def test_paths_are_taken_apart_and_put_together():
    assert joined("s3://b/runs/", "job") == "s3://b/runs/job"
    assert joined("runs", "job") == "runs/job"
    assert split("s3://b/runs/page.html") == ("s3://b/runs", "page.html")
    assert split("page.html") == (".", "page.html")
    assert split("/page.html") == ("/", "page.html")
    assert is_within("s3://b/runs/job/model.json", "s3://b/runs/job")
    assert not is_within("s3://b/runs/job2", "s3://b/runs/job")
    assert not is_within("runs/job", "s3://b/runs")


@pytest.mark.parametrize(
    ("url", "kind", "inner"),
    [
        ("s3://bucket/a/b.parquet", "S3FileSystem", "bucket/a/b.parquet"),
        ("s3://bucket", "S3FileSystem", "bucket"),
        ("gs://bucket/a/", "GcsFileSystem", "bucket/a"),
        ("abfs://container@account/a", "AzureFileSystem", "container/a"),
        ("abfss://container@account.dfs.core.windows.net/a", "AzureFileSystem", "container/a"),
    ],
)
@pytest.mark.parametrize("anonymous", [False, True])
def test_each_url_has_its_store(url, kind, inner, anonymous, monkeypatch):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AZURE_STORAGE_KEY", "aGVsbG8=")
    filesystem, path = located(
        url, Access(region="eu-north-1" if kind[0] == "S" else None, anonymous=anonymous)
    )
    assert isinstance(filesystem, getattr(pafs, kind))
    assert path == inner
    if path.count("/"):
        assert spelled(path, url) == url.rstrip("/")


def test_an_azure_url_without_an_account_says_what_is_missing(monkeypatch):
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT", raising=False)
    with pytest.raises(
        OSError, match="the URL names no account, as abfs://container@account/folder does"
    ):
        located("abfs://container/x", Access())


def test_another_account_in_the_environment_is_another_store(monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_KEY", "aGVsbG8=")
    found = []
    for account in ("ours", "theirs", "ours"):
        monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", account)
        found.append(located("abfs://container/x", Access())[0])
    assert found[0] == found[2] != found[1]


def test_a_message_of_a_store_is_told_without_its_secrets(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    assert told(OSError(f"odd: {SECRET} is odd"), "s3://b") == "odd: *** is odd"
    assert "access is denied" in told(
        OSError("AWS Error ACCESS_DENIED during HeadObject operation"), "s3://b"
    )
    assert (
        told(OSError("AWS Error NO_SUCH_BUCKET during X: none"), "s3://b")
        == "there is no such bucket"
    )
    away = (
        "When getting information for key 'oauth' in bucket 'no_such_bucket': AWS Error "
        "NETWORK_CONNECTION in X"
    )
    assert told(OSError(away), "s3://b").startswith("the store does not answer")
    assert told(OSError(28, "No space left on device"), "/runs") == "No space left on device"
