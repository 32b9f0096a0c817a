"""The command line: verbs, usage, and the exit code of each kind of error."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import signal
import subprocess
import sys
from importlib import metadata
from typing import Any

import pyarrow as pa
import pytest

from dnfscale import __version__
from dnfscale.engine.serial import SerialEngine
from dnfscale.jobs.__main__ import _seems_to_start_workers
from dnfscale.jobs.cli import main
from tests.jobs.running import ROOT, small_table, tidy


@pytest.mark.parametrize(
    "arguments", [[], ["run"], ["fly"], ["data"], ["init", "t.parquet"], ["run", "a", "--sett=1"]]
)
def test_bad_usage_ends_with_2_and_says_what_is_expected(desk, arguments):
    ended = desk.here(*arguments)
    assert ended.code == 2
    assert "usage: dnfscale" in ended.err


def test_help_lists_the_verbs_and_the_exit_codes(desk):
    ended = desk.here("--help")
    assert ended.code == 0
    for word in ("run", "validate", "plan", "init", "data", "exit codes", "143"):
        assert word in ended.out


def test_the_version_is_that_of_the_package(desk):
    assert desk.here("--version").out == f"dnfscale {__version__}\n"
    assert "--verbose goes with --version" in desk.here("--verbose", "data", "list").err


@pytest.mark.slow
@pytest.mark.portable
@pytest.mark.parametrize("libraries", ["as they are", "broken", "missing"])
def test_a_bug_report_needs_no_library_and_tells_no_secret(tmp_path, libraries):
    broken = tmp_path / "broken"
    for name in ("numpy", "pyarrow", "pandas", "dask", "distributed", "scipy", "sklearn"):
        (broken / name).mkdir(parents=True)
        (broken / name / "__init__.py").write_text("raise ImportError('broken')", "utf-8")
    path = [str(broken), str(ROOT)] if libraries == "broken" else [str(ROOT)]
    command = [sys.executable, *(["-S"] if libraries == "missing" else []), "-m", "dnfscale.jobs"]
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "AWS_SECRET_ACCESS_KEY": "wJalrXUt",
        "https_proxy": "http://me:wJalrXUt@proxy",
        "OMP_NUM_THREADS": "3",
    }
    short = subprocess.run([*command, "--version"], env=variables, capture_output=True, text=True)
    assert (short.returncode, short.stdout, short.stderr) == (0, f"dnfscale {__version__}\n", "")
    told = subprocess.run(
        [*command, "--version", "--verbose"], env=variables, capture_output=True, text=True
    )
    assert (told.returncode, told.stderr) == (0, "")
    lines = told.stdout.splitlines()
    assert lines[0].startswith(f"dnfscale: {__version__}")
    assert any(line.startswith(f"python: {platform.python_version()}") for line in lines)
    assert {
        "default cluster: auto",
        "AWS_SECRET_ACCESS_KEY: (not shown)",
        "OMP_NUM_THREADS: '3'",
    } <= set(lines)
    assert "wJalrXUt" not in told.stdout
    if libraries != "missing":
        found = {
            line.split()[0]: line.split()[1] for line in lines if re.match(r"[\w-]+: \d", line)
        }
        assert found["numpy:"] == metadata.version("numpy")
        assert found["numba:"] == metadata.version("numba")
        assert "extra formula-size:" in lines
        assert not {"extra test:", "extra all:"} & set(lines)


def test_a_job_that_is_done_ends_with_0(laid_desk):
    assert laid_desk.run().code == 0


def test_a_bad_spec_ends_with_2(laid_desk):
    ended = laid_desk.run(select={"max_ell": 40})
    assert ended.code == 2
    assert ended.err == (
        f"dnfscale: {laid_desk.path / 'job.toml'}:6: select.max_ell must be a whole number "
        "between 1 and 24, got 40\n"
    )


def test_bad_data_end_with_3(desk):
    ended = desk.run()
    assert ended.code == 3
    assert ended.message.startswith(
        f"dnfscale: {desk.path / 'job.toml'}:6: {desk.path / 't.parquet'}: expected a Par"
    )


def test_a_limit_ends_with_5(laid_desk):
    ended = laid_desk.run(data={"max_categories": 2})
    assert ended.code == 5
    assert "column 's': at most 2 different values are taken as categories" in ended.message


def test_an_error_is_one_line_on_stderr_and_nothing_on_stdout(desk):
    ended = desk.apart("run", desk.spec())
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("verb", ["validate", "plan"])
def test_validate_and_plan_write_nothing(laid_desk, verb):
    laid_desk.spec()
    assert laid_desk.here(verb, "job.toml").code == 0
    assert tidy(laid_desk.path) == ["job.toml", "t.parquet"]


def test_validate_says_how_large_the_data_are(laid_desk):
    ended = laid_desk.here("validate", laid_desk.spec())
    assert ended.out == f"{laid_desk.path / 'job.toml'}: valid; 240 rows, 5 columns, 1 partition\n"


@pytest.mark.parametrize("verb", ["validate", "plan", "run"])
@pytest.mark.parametrize(
    ("path", "output", "code"),
    [("data", "data", 2), ("data", "data/_runs", 0), ("data/*.parquet", "data", 0)],
)
def test_a_run_does_not_write_among_its_data(desk, verb, path, output, code):
    desk.table(small_table(), "data/a.parquet")
    ended = desk.here(verb, desk.spec(data={"path": path}, output={"dir": output}))
    assert ended.code == code
    if code:
        assert "output.dir must lie outside of the data" in ended.message
        assert sorted(file.name for file in (desk.path / "data").iterdir()) == ["a.parquet"]


@pytest.mark.parametrize("verb", ["validate", "plan", "run"])
def test_a_hive_key_that_is_also_a_column_is_refused_by_name(desk, verb):
    for number in (1, 2):
        desk.table({**small_table(), "k": [3] * 240}, f"t.parquet/k={number}/a.parquet")
    ended = desk.here(verb, desk.spec())
    assert ended.code == 3
    assert (
        "t.parquet/k=1/a.parquet: expected 'k' to be a column of the files or a folder k=..."
        in ended.message
    )
    assert "rename the folders, or write the files without the column" in ended.message


@pytest.mark.parametrize("verb", ["validate", "plan", "run"])
@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        (
            "booleanize.at={nosuch=[1]}",
            2,
            "booleanize.at must name columns of numbers, dates or times",
        ),
        ("booleanize.at={x=['much']}", 2, "cuts of 'x' must be numbers, got 'much'"),
        ("folds.outer=241", 2, "folds.outer must be at most the number of rows, 240"),
        ("data.path='empty.parquet'", 3, "expected rows to learn from, but the dataset has none"),
        ("data.path='one.parquet'", 3, "expected at least 2 rows to cross-validate, got 1"),
        ("data.path='null.parquet'", 3, "but 'void' has no value at all; add it to data.drop"),
    ],
)
def test_what_footers_show_to_be_impossible_is_told_before_anything_is_started(
    laid_desk, verb, asked, code, message
):
    table = pa.table(small_table())
    laid_desk.table(table[:0], name="empty.parquet")
    laid_desk.table(table[:1], name="one.parquet")
    laid_desk.table(table.append_column("void", pa.nulls(table.num_rows)), name="null.parquet")
    ended = laid_desk.here(verb, laid_desk.spec(kind="study"), "--set", asked)
    assert (ended.code, ended.out) == (code, "")
    assert message in ended.message
    assert not laid_desk.folder().exists()


def test_validate_starts_neither_dask_nor_scikit_learn(laid_desk):
    ended = laid_desk.apart(
        "validate", laid_desk.spec(cluster={"kind": "local"}), PYTHONPROFILEIMPORTTIME="1"
    )
    assert ended.code == 0
    imported = {line.rsplit("|", 1)[-1].strip() for line in ended.err.splitlines()}
    assert "pyarrow.parquet" in imported
    assert not imported & {"dask", "distributed", "sklearn", "sympy", "pandas"}


@pytest.mark.parametrize("verb", ["validate", "plan", "run"])
@pytest.mark.parametrize(
    ("key", "value", "code", "line"),
    [
        ("path", "nowhere.parquet", 3, 6),
        ("target", "Y", 2, 7),
        ("drop", ["Z"], 2, 8),
        ("categorical", ["Z"], 2, 8),
        ("boolean", ["Z"], 2, 8),
        ("drop", ["x", "n", "s", "b"], 2, 8),
    ],
)
def test_every_verb_finds_what_the_footers_tell(laid_desk, verb, key, value, code, line):
    ended = laid_desk.here(verb, laid_desk.spec(data={key: value}))
    assert ended.code == code
    assert ended.message.startswith(f"dnfscale: {laid_desk.path / 'job.toml'}:{line}: ")


def test_a_column_has_one_role(laid_desk):
    ended = laid_desk.run(data={"categorical": ["b"], "boolean": ["b"]})
    assert ended.code == 2
    assert (
        "a column has one role, but 'b' is in data.categorical and in data.boolean" in ended.message
    )


def test_several_overrides_are_all_obeyed(laid_desk):
    ended = laid_desk.here(
        "run",
        laid_desk.spec(),
        "--set",
        "select.max_ell=2",
        "--set",
        "name=other",
        "--set",
        'data.drop=["s"]',
    )
    assert ended.code == 0
    sweep = laid_desk.result("other")["methods"]["ideal"]["model"]["formulas"][0]["sweep"]
    assert len(sweep) == 2
    assert not any("s_red" in step["attributes"] for step in sweep)


def test_datasets_with_a_name_are_listed(desk):
    assert desk.here("data", "list").out.startswith("builtin:breast_cancer")
    first = json.loads(desk.here("data", "list", "--json").out)[0]
    expected = {
        "path": "builtin:breast_cancer",
        "rows": 569,
        "target": "diagnosis",
        "positive": ["malignant"],
    }
    assert first == first | expected


def test_the_papers_datasets_are_listed_where_their_folder_is_known(desk, paper_data):
    rows = {row["path"]: row for row in json.loads(desk.here("data", "list", "--json").out)}
    assert len([path for path in rows if path.startswith("paper:")]) == 12
    assert rows["paper:breast_cancer"] == rows["paper:breast_cancer"] | {
        "rows": 699,
        "target": "class",
        "positive": [2],
    }
    assert len(desk.here("data", "list").out.splitlines()) >= len(rows)
    assert paper_data.is_dir()


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("builtin:brest_cancer", "did you mean 'breast_cancer'?"),
        ("builtin:zzz", "known are breast_cancer"),
    ],
)
def test_a_wrong_name_of_a_dataset_is_told_with_the_nearest(desk, path, hint):
    ended = desk.run(data={"path": path})
    assert ended.code == 3
    assert hint in ended.message


def test_the_papers_datasets_need_a_place_to_lie(desk, monkeypatch):
    monkeypatch.delenv("DNFSCALE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(desk.path / "cache"))
    monkeypatch.setenv("HOME", str(desk.path))
    ended = desk.run(data={"path": "paper:colon"})
    assert ended.code == 3
    assert "DNFSCALE_DATA" in ended.message


def test_the_record_of_a_named_dataset_holds_unless_the_spec_says_otherwise(desk):
    desk.run(name="own", data={"path": "builtin:breast_cancer", "target": None})
    desk.run(
        name="other",
        data={
            "path": "builtin:breast_cancer",
            "target": None,
            "positive": ["benign"],
            "drop": ["worst_area"],
        },
    )
    assert desk.model("own")["positive"] == ["malignant"]
    assert desk.model("other")["positive"] == ["benign"]
    assert desk.result("own")["data"] == {
        "rows": 569,
        "rows_dropped": 0,
        "columns": 30,
        "attributes": 30,
        "positive_rows": 212,
    }
    assert desk.result("other")["data"]["columns"] == 29
    assert desk.result("other")["data"]["positive_rows"] == 357


def test_a_url_that_nobody_can_open_is_refused_in_words(laid_desk):
    ended = laid_desk.here(
        "validate", laid_desk.spec(data={"path": "https://example.org/t.parquet"})
    )
    assert ended.code == 2
    assert "data.path must be a path, or an URL that begins with s3://, gs://" in ended.message
    assert "https://example.org/t.parquet" in ended.message


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_that_a_library_swallows_still_ends_the_job(laid_desk, monkeypatch, number, code):
    """An import that runs C code may clear the exception that a signal handler raised:
    numpy.random's does.
    """
    reduce = SerialEngine.reduce

    def swallowing(*arguments: Any) -> Any:
        with contextlib.suppress(BaseException):
            signal.raise_signal(number)
        return reduce(*arguments)

    monkeypatch.setattr(SerialEngine, "reduce", swallowing)
    assert laid_desk.here("run", laid_desk.spec()).code == code
    assert not (laid_desk.folder() / "result.json").exists()


def test_names_that_the_terminal_cannot_show_do_not_lose_the_run(laid_desk):
    laid_desk.table({**small_table(), "量": small_table()["y"]})
    ended = laid_desk.apart("run", laid_desk.spec(), PYTHONIOENCODING="latin-1")
    assert ended.code == 0
    assert "Traceback" not in ended.err
    assert laid_desk.model()["formula"] == "量"


def test_what_a_run_says_goes_where_stdout_points_at_that_moment(laid_desk, capsys):
    assert main(["run", str(laid_desk.spec())]) == 0
    said = capsys.readouterr()
    assert "y is true if\n     s = red and x > -0.11969\n" in said.out
    assert "240 rows" in said.err


@pytest.mark.parametrize(
    ("arguments", "starts"),
    [
        (["run", "job.toml"], True),
        (["run", "job.toml", "--set", "cluster.workers=3"], True),
        (["run", "job.toml", "--set", "cluster.kind=serial"], False),
        (["run", "job.toml", "--set=cluster.kind=scheduler_file"], False),
        (["run", "job.toml", "--scheduler", "tcp://127.0.0.1:1"], False),
        (["run", "job.toml", "--set", 'cluster.kind="serial"'], False),
        (["run", "serial.toml"], False),
        (["run", "serial.toml", "--set", "cluster.kind=local"], True),
        (["run", "--output", "serial", "named.toml"], False),
        (["run", "job.toml", "--set", f"data.drop=['{'x' * 300}']"], True),
        (["run", "broken.toml"], False),
        (["run", "nowhere.toml"], False),
        (["run", "large.toml"], True),
        (["run", "tuned.toml"], True),
        (["validate", "job.toml"], False),
    ],
)
def test_workers_are_prepared_for_only_where_some_will_be_started(
    desk, monkeypatch, arguments, starts
):
    monkeypatch.chdir(desk.path)
    desk.spec('[cluster]\nkind = "local"\n')
    desk.spec('[cluster]\nkind = "serial"\n', file="serial.toml")
    desk.spec('name = "serial"\n', file="named.toml")
    (desk.path / "broken.toml").write_text("[cluster\n", encoding="utf-8")
    desk.spec('[data]\npath = "large"\n', file="large.toml")
    desk.spec('[data]\npath = "small"\n[baselines.xgboost]\n', file="tuned.toml")
    with (desk.path / "large").open("wb") as large:
        large.truncate(100 << 20)
    assert _seems_to_start_workers(arguments) is starts
