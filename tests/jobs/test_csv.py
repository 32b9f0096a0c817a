"""A table as people have it, from `init` to the result, beside the same rows as Parquet."""

from __future__ import annotations

import gzip
import json
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pytest

from tests.jobs.running import essence
from tests.readme import README, blocks

ROWS = 400


@pytest.fixture
def careful():
    """The rows as a careful analyst reads them."""
    random = np.random.default_rng(5)
    bmi = random.normal(27, 4, ROWS).round(1)
    stay = random.integers(1, 30, ROWS)
    return pa.table(
        {
            "größe": bmi,
            "tage": pa.array(stay, mask=random.random(ROWS) < 0.1),
            "entlassen": [date(2019, int(m), int(d)) for m, d in random.integers(1, 13, (ROWS, 2))],
            "station": random.choice(["Süd", "Nord", "Ost"], ROWS),
            "wieder": np.where((bmi > 28) ^ (random.random(ROWS) < 0.1), "ja", "nein"),
        }
    )


def as_german(table):
    """Write a table as a German spreadsheet does."""
    lines = [";".join(table.column_names)]
    for row in table.to_pylist():
        size, days, left, ward, again = row.values()
        number = str(size).replace(".", ",")
        lines.append(f"{number};{'?' if days is None else days};{left:%d.%m.%Y};{ward};{again}")
    return ("\r\n".join(lines) + "\r\n").encode("cp1252")


@pytest.mark.parametrize("name", ["besuche.csv", "besuche.csv.gz"])
def test_init_and_run_on_a_csv_give_the_result_of_the_same_rows_as_parquet(
    desk, monkeypatch, careful, name
):
    monkeypatch.chdir(desk.path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(desk.path / "cache"))
    desk.table(careful, "rows.parquet")
    text = as_german(careful)
    (desk.path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    made = desk.here("init", name, "--target", "wieder", "--positive", "ja")
    assert made.code == 0, made.err
    told = "5 columns separated by ';'; in cp1252; decimal comma; dates with the day first; "
    assert f"{name}: {told}missing where '?'; 400 rows, kept as Parquet in" in made.err
    [spec] = desk.path.glob("*.toml")
    fast = ("--set", "folds.outer=2", "--set", "select.max_ell=3")
    ended = desk.here("run", spec, "--output", "csv", *fast)
    assert ended.code == 0, ended.err
    assert "separated by" not in ended.err, "it was converted once, by init"
    twin = desk.path / "twin.toml"
    twin.write_text(spec.read_text().replace(f'"{name}"', '"rows.parquet"'))
    ended = desk.here("run", twin, "--output", "parquet", *fast)
    assert ended.code == 0, ended.err
    [one] = desk.path.glob("csv/*/model.json")
    [other] = desk.path.glob("parquet/*/model.json")
    assert one.read_bytes() == other.read_bytes()
    assert essence(one.parent / "result.json") == essence(other.parent / "result.json")
    answers = desk.here("predict", one, name, "--output", "answers", "--json")
    assert answers.code == 0, answers.err
    for verb in (("check", name, "--target", "wieder"), ("explain", one, name)):
        ended = desk.here(*verb)
        assert ended.code == 0, ended.err


def as_files(table, kind):
    """Write a table in some way that is not Parquet, and return the path that means it."""
    german = as_german(table)
    if kind == "glob":
        lines = german.splitlines(keepends=True)
        Path("1.csv").write_bytes(b"".join(lines[:150]))
        Path("2.csv").write_bytes(lines[0] + b"".join(lines[150:]))
        return "?.csv"
    if kind in ("gz", "zst", "bz2"):
        with pa.output_stream(f"t.csv.{kind}") as stream:
            stream.write(german)
        return f"t.csv.{kind}"
    if kind == "utf-16":
        Path("t.tsv").write_bytes(german.decode("cp1252").replace(";", "\t").encode("utf-16"))
        return "t.tsv"
    if kind == "jsonl":
        rows = [{**row, "entlassen": str(row["entlassen"])} for row in table.to_pylist()]
        Path("t.jsonl").write_text("\n".join(map(json.dumps, rows)))
        return "t.jsonl"
    feather.write_feather(table, f"t.{kind}", chunksize=150)
    return f"t.{kind}"


KINDS = ("glob", "gz", "zst", "bz2", "utf-16", "arrow", "feather")


@pytest.mark.parametrize("kind", [*KINDS, "jsonl"])
def test_whatever_holds_the_rows_the_model_is_the_same(desk, monkeypatch, careful, kind):
    monkeypatch.setenv("XDG_CACHE_HOME", str(desk.path / "cache"))
    data = {"target": "wieder", "positive": ["ja"], "missing": "indicator"}
    if kind == "jsonl":
        # Lines of JSON know no dates but moments.
        data["drop"] = ["entlassen"]
    desk.table(careful)
    files = as_files(careful, kind)
    for path, output in (("t.parquet", "parquet"), (files, "other")):
        ended = desk.here("run", desk.spec(data={**data, "path": path}), "--output", output)
        assert ended.code == 0, ended.err
    [one, other] = (desk.path / output / "job" for output in ("parquet", "other"))
    assert (one / "model.json").read_bytes() == (other / "model.json").read_bytes()
    assert essence(one / "result.json") == essence(other / "result.json")


def test_a_csv_that_cannot_be_read_ends_a_run_with_3_and_its_line(desk, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(desk.path / "cache"))
    (desk.path / "t.csv").write_text("a,y\n" + "1,0\n2,1\n" * 50 + "3\n")
    ended = desk.run(data={"path": "t.csv", "target": "y", "positive": [1]})
    assert ended.code == 3
    assert "line 102: expected 2 columns, got 1" in ended.message
    assert not list(desk.path.rglob("*.parquet"))


def test_what_the_spec_says_of_a_csv_is_heard(desk, monkeypatch):
    monkeypatch.chdir(desk.path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(desk.path / "cache"))
    (desk.path / "t.csv").write_text("1;0\n2;1\n" * 50)
    said = ("--set", "data.csv.names=['a', 'y']", "--set", "data.csv.text=['a']")
    spec = desk.spec(data={"path": "t.csv", "target": "y", "positive": [1]})
    assert "line 1: expected the names of the columns" in desk.here("validate", spec).message
    ended = desk.here("run", spec, *said)
    assert ended.code == 0, ended.err
    assert desk.model()["attributes"][0]["test"] == "equals"


def test_the_four_commands_of_the_first_page_run_on_a_csv(desk, monkeypatch):
    monkeypatch.chdir(desk.path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(desk.path / "cache"))
    random = np.random.default_rng(3)
    age = random.integers(20, 90, 200)
    stay, again = random.random(200).round(2), (age > 60) ^ (random.random(200) < 0.1)
    lines = [
        f"{a};{s}".replace(".", ",") + f";{'yes' if y else 'no'}"
        for a, s, y in zip(age, stay, again, strict=True)
    ]
    (desk.path / "visits.csv").write_text("age;stay;readmitted\n" + "\n".join(lines) + "\n")
    [shown] = blocks(README, "Your own table", "sh")
    commands = [line.partition("#")[0].split() for line in shown.splitlines()]
    assert [command[:2] for command in commands] == [
        ["dnfscale", verb] for verb in ("check", "init", "plan", "run")
    ]
    for _, *arguments in commands:
        ended = desk.here(*arguments)
        assert ended.code == 0, ended.err
    assert "decimal comma" not in ended.err, "it was converted once, by the first command"
    assert "readmitted is yes if" in ended.out
