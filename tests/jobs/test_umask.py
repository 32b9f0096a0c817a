"""Files and folders have the permissions that the umask leaves them, like those of any other
program.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.jobs.running import Ended

RELATED = """\
schema_version = 1
name = "related"
kind = "fit"
profile = "paper"
[data]
path = "main.parquet"
target = "y"
key = "k"
[[data.related]]
name = "visits"
path = "visits.parquet"
key = "k"
[cluster]
kind = "serial"
"""


@contextmanager
def under(umask: int) -> Iterator[None]:
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)


def made_by(carry_out: Callable[[], Ended], folder: Path, umask: int) -> set[str]:
    """Do something under a umask, check the permissions of all that it has made in a folder, and
    return the names.
    """
    before = set(folder.rglob("*"))
    with under(umask):
        ended = carry_out()
    assert ended.code == 0, ended.err
    made = set(folder.rglob("*")) - before
    found = {path: stat.S_IMODE(path.stat().st_mode) for path in made}
    assert found == {path: (0o777 if path.is_dir() else 0o666) & ~umask for path in made}
    return {str(path.relative_to(folder)) for path in made}


@pytest.mark.parametrize("umask", [0o077, 0o027, 0o002], ids=oct)
def test_every_verb_that_writes_files_follows_the_umask(laid_desk, umask):
    (laid_desk.path / "t.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    spec, run = laid_desk.spec(kind="study", folds={"outer": 2}), laid_desk.folder()
    related = laid_desk.spec(RELATED, file="related.toml")
    keys = list(range(240))
    laid_desk.table({"k": keys, "y": [key % 2 == 0 for key in keys]}, "main.parquet")
    laid_desk.table({"k": keys * 2, "x": keys * 2}, "visits.parquet")
    predict = ("predict", run / "model.json", "t.parquet", "--output", "deep/answers")
    files = {
        ("run", spec): {
            "runs",
            "runs/job/model.json",
            "runs/job/tables/folds.csv",
            "runs/job/events.jsonl",
        },
        predict: {"deep", "deep/answers", "deep/answers/part-00000.parquet"},
        ("export", run / "model.json", "--to", "sql", "--output", "exports/m.sql"): {
            "exports",
            "exports/m.sql",
        },
        ("init", "t.parquet", "--target", "y", "--output", "specs/new.toml"): {
            "specs",
            "specs/new.toml",
        },
        ("choose", run, "--ell", "1"): {"runs/job/chosen", "runs/job/chosen/model.json"},
        ("card", run, "--output", "cards/card.md"): {"cards", "cards/card.md"},
        ("evaluate", run / "model.json", "t.parquet", "--report", "pages/e.html"): {
            "pages",
            "pages/e.html",
        },
        ("data", "relate", related, "joined"): {
            "joined",
            "joined/part-00000-0000.parquet",
            "runs/.tables",
        },
        ("run", related): {"runs/related/model.json"},
        ("report", run, run, "--output", "both.html"): {"both.html"},
        ("data", "make", "--rows", "20", "made"): {"made", "made/part-00000.parquet"},
        ("data", "convert", "t.csv", "converted"): {"converted", "converted/part-00000.parquet"},
    }
    for verb, expected in files.items():
        assert expected <= made_by(lambda verb=verb: laid_desk.here(*verb), laid_desk.path, umask)
    with under(umask):
        assert laid_desk.here(*predict, "--force").code == 0
    assert stat.S_IMODE((laid_desk.path / "deep" / "answers").stat().st_mode) == 0o777 & ~umask


def test_what_workers_write_and_leave_follows_the_umask(laid_desk):
    cluster = {
        "kind": "local",
        "workers": 2,
        "memory_limit": "1GiB",
        "local_directory": str(laid_desk.path / "spill"),
    }
    spec = laid_desk.spec(cluster=cluster)
    made = made_by(lambda: laid_desk.apart("run", spec), laid_desk.path, 0o077)
    assert {"spill", "runs/job/model.json"} <= made


def test_fetched_datasets_follow_the_umask(desk, paper_data, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(desk.path / "cache"))
    made = made_by(
        lambda: desk.here("data", "get", "colon", "--from", paper_data), desk.path, 0o077
    )
    assert any(name.endswith("colon.parquet") for name in made)
