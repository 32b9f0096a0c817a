from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

from dnfscale.errors import SpecError
from dnfscale.jobs.folders import LocalFolder
from dnfscale.jobs.store import Journal, RunFolder
from dnfscale.spec.toml import write_toml
from tests.jobs.running import tidy

SPEC = {
    "schema_version": 1,
    "name": "job",
    "data": {"path": "t"},
    "cluster": {"workers": 2},
    "output": {"dir": "a"},
}


def claimed(path: Path, spec: dict[str, object] = SPEC, *, force: bool = False) -> RunFolder:
    folder = RunFolder(path)
    folder.claim(spec, write_toml(spec), force=force)
    return folder


def fail(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    folder = RunFolder(tmp_path)
    folder.write_text("result.json", "old")
    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail)
        with pytest.raises(OSError, match="No space left"):
            folder.write_text("result.json", "new")
    assert tidy(tmp_path) == ["result.json"]
    assert (tmp_path / "result.json").read_text() == "old"


def test_a_write_that_is_interrupted_leaves_no_draft(tmp_path, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        RunFolder(tmp_path).write_text("tables/folds.csv", "new")
    assert tidy(tmp_path) == []


def test_a_file_appears_under_its_name_only_when_it_is_whole(tmp_path, monkeypatch):
    seen = []
    rename = os.replace

    def look(source: str, target: Path) -> None:
        seen.append(
            (
                Path(source).read_text(encoding="utf-8"),
                target.exists(),
                Path(source).parent == target.parent,
            )
        )
        rename(source, target)

    monkeypatch.setattr(os, "replace", look)
    RunFolder(tmp_path).write_text("a.txt", "größe\n")
    assert seen == [("größe\n", False, True)]
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "größe\n"


def test_json_is_readable_text_and_refuses_what_json_has_not(tmp_path):
    folder = RunFolder(tmp_path)
    folder.write_json("a.json", {"name": "größe 量", "x": 0.1})
    assert "größe 量" in (tmp_path / "a.json").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {
        "name": "größe 量",
        "x": 0.1,
    }
    with pytest.raises(ValueError, match="not JSON compliant"):
        folder.write_json("a.json", {"x": float("nan")})
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["x"] == 0.1


def test_a_csv_file_gives_back_hostile_cells(tmp_path):
    rows = [["a,b", 'c"d'], ["e\nf", "量"], ["", "g;h"]]
    RunFolder(tmp_path).write_csv("tables/t.csv", ["x", "y"], rows)
    with (tmp_path / "tables" / "t.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["x", "y"], *rows]


def test_a_folder_is_made_with_its_parents(tmp_path):
    claimed(tmp_path / "deep" / "runs" / "job")
    assert tidy(tmp_path / "deep" / "runs" / "job") == ["events.jsonl", "spec.toml"]


def test_the_run_of_another_spec_is_not_overwritten(tmp_path):
    claimed(tmp_path).write_text("result.json", "precious")
    with pytest.raises(
        SpecError, match=r"holds one of another; change name or output\.dir, or run with --force"
    ):
        claimed(tmp_path, {**SPEC, "seed": 1})
    assert (tmp_path / "result.json").read_text() == "precious"
    assert (tmp_path / "spec.toml").read_text() == write_toml(SPEC)


def test_the_run_of_another_spec_is_replaced_by_force(tmp_path):
    claimed(tmp_path)
    claimed(tmp_path, {**SPEC, "seed": 1}, force=True)
    assert (tmp_path / "spec.toml").read_text() == write_toml({**SPEC, "seed": 1})


def test_what_force_replaces_does_not_pass_for_the_result_of_the_new_spec(tmp_path):
    folder = claimed(tmp_path)
    folder.write_text("model.json", "{}")
    folder.write_text("result.json", "{}")
    other = {**SPEC, "seed": 1}
    assert not claimed(tmp_path, other, force=True).has_result(other)


@pytest.mark.parametrize("table", ["cluster", "output"])
def test_where_a_job_runs_does_not_make_it_another(tmp_path, table):
    claimed(tmp_path)
    claimed(tmp_path, {**SPEC, table: {"changed": True}})


def test_a_run_whose_spec_cannot_be_read_is_not_overwritten(tmp_path):
    claimed(tmp_path).write_text("result.json", "precious")
    (tmp_path / "spec.toml").write_text("not = = toml")
    with pytest.raises(SpecError, match="--force"):
        claimed(tmp_path)
    claimed(tmp_path, force=True)


@pytest.mark.parametrize("place", ["runs", "runs/job"])
@pytest.mark.parametrize("force", [False, True])
def test_a_file_in_place_of_the_folder_is_told_as_such(tmp_path, place, force):
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("a file")
    with pytest.raises(
        SpecError, match=r"output\.dir must be a folder that can be written"
    ) as caught:
        claimed(tmp_path / "runs" / "job", force=force)
    assert str(tmp_path / "runs" / "job") in str(caught.value)
    assert caught.value.key == "output.dir"
    assert (tmp_path / place).read_text() == "a file"


def test_a_run_has_finished_when_its_files_are_there_and_its_spec_is_the_same(tmp_path):
    folder = claimed(tmp_path)
    assert not folder.has_result(SPEC)
    folder.write_text("model.json", "{}")
    assert not folder.has_result(SPEC)
    folder.write_text("result.json", "{}")
    assert folder.has_result(SPEC)
    assert folder.has_result({**SPEC, "cluster": {"workers": 9}})
    assert not folder.has_result({**SPEC, "seed": 1})


def test_the_journal_numbers_its_events(tmp_path):
    journal = Journal(LocalFolder(tmp_path))
    entries = [
        journal.record("started", name="größe"),
        journal.record("phase", done=0),
        journal.record("finished"),
    ]
    lines = (tmp_path / "events.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == entries
    assert [entry["sequence"] for entry in entries] == [1, 2, 3]
    assert entries[0]["name"] == "größe"
