"""What somebody who gives us a spec, a table, a name, a model file or a folder cannot do; see
deploy/SECURITY.md.
"""

from __future__ import annotations

import ast
import csv
import json
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dnfscale
from dnfscale.datasets.named import open_dataset
from dnfscale.engine.launch import launch
from dnfscale.errors import DataError
from dnfscale.spec.cluster import ClusterSpec
from tests.engine.dask.stranger import listening
from tests.jobs.running import PATIENCE_S, Desk, keeping_signals, small_table, surroundings, tidy

N_ROWS = 120
Y = np.arange(N_ROWS) % 2 == 0
HOSTILE = {
    "html": "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "attribute": '" onmouseover="alert(1)',
    "sql": "\"; DROP TABLE t; --'; DROP TABLE t; --",
    "latex": r"\input{/etc/passwd}\write18{id}$&%",
    "terminal": "\x1b]0;owned\x07\x1b[2J\x9b31m\r\n\u202e",
    "spreadsheet": "=cmd|' /C calc'!A0",
    "python": 'x"""\nimport os\nos.system(\'id\')\n"""',
    "format": "{0.__class__}%s%n${HOME}$(id)`id`",
    "path": "../../../etc/passwd",
}


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        yield Desk(tmp_path, capsys)


# Names and values


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_column_and_category_do_nothing_anywhere(desk, kind):
    """Learn from a table whose names and values attack, and look at all that comes of it."""
    text = HOSTILE[kind]
    labels = np.where(Y, text, f"{text}2").tolist()
    file = desk.table({text: labels, f"{text}n": np.where(Y, 1, 0), "y": labels})
    told = desk.run(data={"positive": [text]})
    assert told.code == 0
    model = desk.folder() / "model.json"
    used = (
        ["explain", model, file],
        ["explain", model, file, "--row", "0"],
        ["export", model, "--to", "text"],
    )
    used += (["predict", model, file, "--output", "answers"],)
    shown = [told.out, told.err, *(desk.here(*verb).out for verb in used)]
    assert all(line.isprintable() for part in shown for line in part.split("\n"))

    page = (desk.folder() / "report.html").read_text(encoding="utf-8")
    assert page.count("<script>") == 1
    assert page.count("<script") == 1 + page.count('<script type="application/json">')
    assert "<img" not in page
    assert ' onmouseover="' not in page
    for figure in (desk.folder() / "figures").glob("*.svg"):
        assert "<script" not in figure.read_text(encoding="utf-8")

    with duckdb.connect() as connection:
        connection.register("seen", pq.read_table(file))
        connection.execute("CREATE TABLE t AS SELECT * FROM seen")
        found = connection.sql(
            desk.here("export", model, "--to", "sql", "--table", "t").out
        ).fetchall()
        assert [row[-1] for row in found] == Y.tolist()
        assert connection.sql("SELECT count(*) FROM t").fetchall() == [(N_ROWS,)]

    source = desk.here("export", model, "--to", "python").out
    assert not [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.Attribute)
    ]
    latex = desk.here("export", model, "--to", "latex").out
    assert "\\input" not in latex
    assert "\\write" not in latex
    assert latex.isascii()


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_cell_of_a_table_is_run_by_a_spreadsheet(desk, kind):
    label = HOSTILE[kind]
    desk.table({"x": np.arange(N_ROWS), "y": [f"{label}{i % 3}" for i in range(N_ROWS)]})
    assert desk.run(data={"classes": "all"}, select={"max_ell": 1}).code == 0
    files = list((desk.folder() / "tables").glob("*.csv"))
    assert files
    for file in files:
        with file.open(encoding="utf-8", newline="") as handle:
            cells = [cell for row in csv.reader(handle) for cell in row]
        assert not [cell for cell in cells if cell.lstrip().startswith(("=", "+", "@"))]


# Specs


@pytest.mark.parametrize(
    "name", ["..", ".", "../up", "a/b", "/tmp/x", "", ".hidden", "a\\b/..", "x\0y", "-rf"]
)
def test_the_name_of_a_run_cannot_lead_out_of_its_folder(desk, name):
    desk.table(small_table())
    before = tidy(desk.path)
    ended = desk.here("run", desk.spec(name=name), "--output", "runs")
    assert ended.code == 2
    assert "name must be" in ended.message
    assert tidy(desk.path) == sorted([*before, "job.toml"])


@pytest.mark.parametrize(
    "link", ["events.jsonl", "spec.toml", "tables", "tasks", "figures", "result.json"]
)
@pytest.mark.parametrize("options", [[], ["--force"]])
def test_a_link_in_a_run_s_folder_is_not_followed(desk, link, options):
    desk.table(small_table())
    dear = desk.path / "dear"
    (dear / "deep").mkdir(parents=True)
    for name in ("folds.csv", "ideal.json", "accuracy.svg"):
        (dear / "deep" / name).write_text("dear")
    (dear / "file").write_text("dear")
    desk.folder().mkdir(parents=True)
    (desk.folder() / link).symlink_to(dear / ("file" if "." in link else "deep"))
    ended = desk.here("run", desk.spec(), *options)
    assert ended.code == 2
    assert f"{link} in it is a link to another place" in ended.message
    assert {file.read_text() for file in dear.rglob("*") if file.is_file()} == {"dear"}


def test_a_folder_that_is_not_a_run_s_is_not_written_over(desk):
    desk.table(small_table())
    desk.folder().mkdir(parents=True)
    (desk.folder() / "report.html").write_text("my own page")
    ended = desk.here("run", desk.spec())
    assert ended.code == 2
    assert "to be empty or to hold a run of this spec" in ended.message
    assert (desk.folder() / "report.html").read_text() == "my own page"


def test_a_run_by_force_removes_nothing_but_what_a_run_leaves(desk):
    desk.table(small_table())
    assert desk.run().code == 0
    mine = [
        desk.folder() / name
        for name in ("notes.txt", "tables/mine.xlsx", "figures/mine.png", "tasks/mine.txt")
    ]
    for file in mine:
        file.write_text("mine")
    assert desk.here("run", desk.spec(seed=5), "--force").code == 0
    assert [file.read_text() for file in mine] == ["mine"] * 4


def test_an_output_folder_above_is_written_with_a_run_and_nothing_else_there_is_touched(
    desk, monkeypatch
):
    """Where a run is written is the spec's to say; what is there already is not."""
    desk.table(small_table())
    below = desk.path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    spec = desk.spec(output={"dir": "../.."})
    mine = [
        desk.path / name
        for name in ("job/notes.txt", "job/tables/mine.csv", "report.html", "tasks/x.json")
    ]
    for file in mine:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("mine")
    before = tidy(desk.path)
    assert desk.here("run", spec).code == 2
    assert tidy(desk.path) == before
    assert desk.here("run", spec, "--force").code == 0
    assert (desk.path / "job" / "result.json").exists()
    assert {name.split("/")[0] for name in set(tidy(desk.path)) - set(before)} == {"job"}
    assert [file.read_text() for file in mine] == ["mine"] * len(mine)


def test_a_spec_cannot_start_more_processes_than_a_machine_bears(desk):
    desk.table(small_table())
    ended = desk.here("validate", desk.spec(cluster={"kind": "local", "workers": 100_000}))
    assert ended.code == 2
    assert "cluster.workers must be at most" in ended.message


def test_validate_and_plan_connect_to_nobody(desk):
    desk.table(small_table())
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(0.2)
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        spec = desk.spec(cluster={"kind": "address", "address": address})
        assert desk.here("validate", spec).code == desk.here("plan", spec).code == 0
        with pytest.raises(TimeoutError, match="timed out"):
            server.accept()


def test_a_path_in_a_message_cannot_command_the_terminal(desk):
    ended = desk.here("validate", desk.spec(data={"path": HOSTILE["terminal"]}))
    assert ended.code == 3
    assert ended.err.rstrip("\n").isprintable()
    assert "owned" in ended.err


# Data files that need more memory than there is

LIMITED = """
import resource, sys
import dnfscale.jobs.runner, dnfscale.learn.line
from dnfscale.jobs.cli import main
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + (1 << 30),) * 2)
sys.exit(main(["run", "job.toml"]))
"""
"""A run with a gigabyte of memory."""


PAGE_BYTES, ENTRIES = "bytes of a page", "entries of a dictionary"


def promising(file: Path, what: str) -> None:
    """Write a dictionary of two entries whose header promises 2**31 - 1 of something."""
    pq.write_table(
        pa.table({"y": Y, "s": ["red", "green"] * (N_ROWS // 2)}), file, compression="zstd"
    )
    whole = file.read_bytes()
    begin = pq.read_metadata(file).row_group(0).column(1).dictionary_page_offset
    # The header is written by Thrift: the kind of the page, its bytes, those on disk, and a struct
    # with the entries.
    place = begin + 3 if what == PAGE_BYTES else whole.index(bytes([0x4C, 0x15, 2 << 1]), begin) + 2
    file.write_bytes(whole[:place] + bytes([0xFE, 0xFF, 0xFF, 0xFF, 0x0F]) + whole[place + 1 :])


@pytest.mark.parametrize("what", [PAGE_BYTES, ENTRIES])
def test_a_file_that_inflates_beyond_memory_ends_the_job_with_one_line(desk, what):
    promising(desk.path / "t.parquet", what)
    desk.spec()
    ended = subprocess.run(
        [sys.executable, "-c", LIMITED],
        cwd=desk.path,
        env=surroundings(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode == 5, ended.stderr
    message = ended.stderr.strip().splitlines()[-1]
    assert (
        "t.parquet: expected its pages and dictionaries to fit in memory, but they do not"
        in message
    )
    assert "Traceback" not in ended.stderr


# Credentials


def test_nothing_that_a_run_on_a_local_cluster_writes_holds_a_secret_of_its_environment(
    desk, monkeypatch
):
    secrets = {
        "AWS_ACCESS_KEY_ID": "AKIAofSomebody",
        "AWS_SECRET_ACCESS_KEY": "s3cr3tOfSomebody",
        "AZURE_STORAGE_SAS_TOKEN": "sv=1&sig=s1gnature",
        "DATABASE_URL": "postgresql://somebody:passw0rd@host/db",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    desk.table(small_table())
    ended = desk.here(
        "run", desk.spec(cluster={"kind": "local", "workers": 1, "memory_limit": "1GiB"}), "--json"
    )
    assert ended.code == 0, ended.err
    written = [file.read_bytes() for file in desk.path.rglob("*") if file.is_file()]
    assert len(written) > 10
    for content in (*written, ended.out.encode(), ended.err.encode()):
        assert not [name for name, value in secrets.items() if value.encode() in content]
        assert b"PRIVATE KEY" not in content


SECRET = "sEcReT9"
OPEN_URLS = [
    f"s3://AKIAX:{SECRET}@bucket/x.csv",
    f"s3://bucket/x.parquet?secret={SECRET}",
    f"abfs://c@account.dfs.core.windows.net/x?sig={SECRET}",
    f"postgresql://somebody:{SECRET}@host/db",
]
TAKES_A_URL = [
    *("check URL --target y", "init URL --target y", "init t.parquet --target y --output URL"),
    *("evaluate URL t.parquet", "evaluate model.json URL", "evaluate m.json t.csv --report URL"),
    *("evaluate m.json t.csv --tables URL", "evaluate m.json t.csv --related a=URL"),
    *(
        "predict model.json URL --output o",
        "predict m.json t.csv --output URL",
        "explain m.json URL",
    ),
    *("choose URL --ell 1", "choose RUN --ell 1 --output URL", "card URL", "card RUN --output URL"),
    *("export URL --to sql", "export m.json --to sql --output URL", "bounds --model URL"),
    *("report URL", "report RUN --output URL", "run URL", "run job.toml --output URL"),
    *(
        "run job.toml --set data.path=URL",
        "run job.toml --scheduler URL",
        "status x --scheduler URL",
    ),
    *("data convert URL d", "data convert t.csv URL", "data make --rows 5 URL"),
    *("data relate job.toml URL", "data get colon --from URL", "check t.parquet --endpoint URL"),
]


@pytest.mark.parametrize("verb", TAKES_A_URL)
def test_a_url_with_credentials_is_refused_by_every_verb_and_not_repeated(desk, verb):
    desk.table(small_table())
    desk.spec()
    for url in OPEN_URLS:
        ended = desk.here(*(part.replace("URL", url) for part in verb.split()))
        assert ended.code in (2, 3)
        assert SECRET not in ended.out + ended.err
    assert tidy(desk.path) == ["job.toml", "t.parquet"]


@pytest.mark.parametrize("url", OPEN_URLS)
def test_a_url_with_credentials_is_refused_in_python_and_not_repeated(url):
    with pytest.raises(DataError) as refused:
        open_dataset(url)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "verb",
    [
        *(
            "data make --rows 5 URL",
            "data convert t.csv URL",
            "init t.parquet --target y --output URL",
        ),
        *("choose runs/job --ell 1 --output URL", "card runs/job --output URL"),
        *("export runs/job/model.json --to sql --output URL",),
        *("evaluate runs/job/model.json t.parquet --report URL",),
    ],
)
def test_what_is_written_to_this_machine_alone_is_not_written_to_a_folder_called_s3(desk, verb):
    desk.table(small_table())
    assert desk.run(folds={"frontier": True}).code == 0
    ended = desk.here(*(part.replace("URL", "s3://bucket/x") for part in verb.split()))
    assert ended.code == 2
    assert "must be a path of this machine, got the URL 's3://bucket/x'" in ended.message
    assert not list(desk.path.glob("s3*"))


# Model files, results, pickles


def test_a_suite_s_result_cannot_show_what_lies_outside_its_folder(desk):
    desk.table(small_table())
    assert desk.run().code == 0
    suite = desk.path / "suite"
    suite.mkdir()
    for folder in ("../runs/job", str(desk.folder()), "."):
        jobs = [{"name": "job", "status": "done", "folder": folder}]
        (suite / "result.json").write_text(
            json.dumps({"schema": "dnfscale.suite/1", "name": "s", "jobs": jobs})
        )
        ended = desk.here("report", suite)
        assert ended.code == 2
        assert "expected jobs in its own folder" in ended.message
        assert tidy(suite) == ["result.json"]


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.folder,)


def test_no_file_of_ours_is_ever_unpickled(desk):
    """A pickle in the place of each file that is read: it is refused, or taken for damaged, and
    never run.
    """
    file = desk.table(small_table())
    assert desk.run().code == 0
    trap = pickle.dumps(Trap(desk.path / "sprung"))
    model = desk.path / "model.json"
    model.write_bytes(trap)
    for verb in (
        ["export", model, "--to", "sql"],
        ["explain", model],
        ["predict", model, file, "--output", "o"],
    ):
        assert desk.here(*verb).code == 3
    (desk.path / "trap.toml").write_bytes(trap)
    assert desk.here("run", "trap.toml").code == 2
    (desk.path / "trap.parquet").write_bytes(trap)
    assert desk.here("run", desk.spec(data={"path": "trap.parquet"}, name="other")).code == 3
    for part in ("result.json", "model.json"):
        (desk.folder() / part).write_bytes(trap)
        assert desk.here("report", desk.folder()).code == 2
    for note in (desk.folder() / "tasks").glob("*.json"):
        note.write_bytes(trap)
    assert desk.here("run", desk.spec(), "--resume").code == 0
    assert not (desk.path / "sprung").exists()


@pytest.mark.slow
def test_the_package_has_nothing_that_would_run_what_it_reads():
    forbidden = {
        "pickle",
        "cloudpickle",
        "dill",
        "joblib",
        "marshal",
        "shelve",
        "subprocess",
        "pty",
        "code",
        "yaml",
    }
    for file in sorted(Path(dnfscale.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found = {name.split(".")[0] for name in names} & forbidden
            # The driver of a detached job is this very package, and queues are asked by their own
            # tools.
            allowed = {"subprocess"} if file.name in ("supervisor.py", "queues.py") else set()
            assert found <= allowed, f"{file} imports {names}"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec", "compile", "__import__"), (
                    f"{file}:{node.lineno}"
                )
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                called = ast.unparse(node.func)
                assert called not in ("os.system", "os.popen"), f"{file}:{node.lineno}"
                assert node.func.attr != "extractall", f"{file}:{node.lineno}"


# The network


@pytest.mark.slow
def test_a_local_cluster_listens_to_this_machine_alone():
    # Servers that other tests of this process have started are none of the cluster's.
    before = listening()
    engine = launch(ClusterSpec(kind="local", workers=1))
    try:
        opened = listening() - before
        assert opened
        assert {address for address, _port in opened} == {"127.0.0.1"}
    finally:
        engine.close()


def test_a_column_of_a_hive_path_cannot_lead_elsewhere(desk):
    """A folder that is called like a path is a value, and nothing is opened by it."""
    desk.table({"x": np.arange(N_ROWS), "y": Y}, "t.parquet/k=..%2F..%2Fetc%2Fpasswd/a.parquet")
    assert desk.run().code == 0
    assert desk.model()["target"] == "y"
