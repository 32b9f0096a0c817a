"""One contract for the folders of runs, on this machine and in an object store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dnfscale.jobs.folders import Folder, FolderError, open_folder
from dnfscale.spec.storage import Access
from tests.object_store import BUCKET


@pytest.fixture(params=["here", "in a store"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Folder]:
    if request.param == "here":
        yield open_folder(tmp_path / "runs" / "job")
        return
    store = request.getfixturevalue("store")
    request.getfixturevalue("store_keys")
    yield open_folder(f"s3://{BUCKET}/contract/job/", Access(store.endpoint, "us-east-1"))
    store.remove("contract")


@pytest.mark.slow
def test_what_was_written_is_read(folder):
    folder.prepare()
    for content in (b"first", b"", bytes(range(256)) * 5000):
        folder.write("tasks/a.bin", content)
        assert folder.read("tasks/a.bin") == content
    assert folder.has("tasks/a.bin")
    assert not folder.has("tasks")


def test_what_is_not_there_is_not_found(folder):
    folder.prepare()
    assert not folder.has("a.json")
    assert folder.names("tasks", (".json",)) == []
    folder.remove("a.json")
    with pytest.raises(FileNotFoundError, match=r"a\.json"):
        folder.read("a.json")


def test_names_are_those_directly_in_a_folder_that_end_so(folder):
    folder.prepare()
    for name in ("a.json", "tasks/b.json", "tasks/c.bin", "tasks/d.txt", "tasks/deep/e.json"):
        folder.write(name, b"x")
    assert folder.names("tasks", (".json", ".bin")) == ["tasks/b.json", "tasks/c.bin"]
    folder.remove("tasks/b.json")
    assert folder.names("tasks", (".json", ".bin")) == ["tasks/c.bin"]


def test_what_is_added_comes_after_what_is_there(folder):
    folder.prepare()
    folder.write("events.jsonl", b"one\n")
    for line in ("zwei\n", "drei ü\n", "four\n"):
        folder.append("events.jsonl", line)
    folder.flush()
    assert folder.read("events.jsonl").decode() == "one\nzwei\ndrei ü\nfour\n"


def test_a_folder_that_cannot_be_written_says_so(tmp_path, store, store_keys):  # noqa: ARG001
    (tmp_path / "file").write_text("not a folder")
    nowhere = open_folder("s3://no-such-bucket/runs", Access(store.endpoint, "us-east-1"))
    for folder, message in (
        (open_folder(tmp_path / "file"), "File exists"),
        (nowhere, "there is no such bucket"),
    ):
        with pytest.raises(FolderError, match=message):
            folder.write("a.json", b"x")


def test_a_folder_stays_where_it_is_when_the_process_goes_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = open_folder("runs/job")
    folder.prepare()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    folder.write("a.json", b"{}")
    assert folder.path == "runs/job"
    assert (tmp_path / "runs" / "job" / "a.json").read_bytes() == b"{}"
