"""What a spec says of data that are not Parquet is said to the verbs without a spec by options."""

from __future__ import annotations

import tomllib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from dnfscale.errors import SpecError
from dnfscale.jobs.verbs.data_options import csv_options
from dnfscale.spec.csv import AS_RECOGNIZED, CsvOptions
from tests.jobs.running import read_json

SAID = ("--csv", "names=['a', 'y']", "--csv", "text=a", "--csv", "missing=-")
"""Of a text whose first line is a row, and whose numbers are codes."""


@pytest.mark.parametrize(
    ("texts", "options"),
    [
        ([], AS_RECOGNIZED),
        (["delimiter=;", "decimal=,"], CsvOptions(delimiter=";", decimal=",")),
        (["delimiter=tab", "encoding=latin1"], CsvOptions(delimiter="\t", encoding="iso8859-1")),
        (["delimiter='='", "header=true"], CsvOptions(delimiter="=", header=True)),
        (["missing=-9", "missing=?", "text=2020"], CsvOptions(missing=("-9", "?"), text=("2020",))),
        (["missing=['a', 'b']", "missing=c"], CsvOptions(missing=("a", "b", "c"))),
        (["dates=day-first", "dates=month-first"], CsvOptions(dates="month-first")),
    ],
)
def test_values_are_those_of_a_spec(texts, options):
    assert csv_options(texts) == options


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("delimiter", r"--csv takes KEY=VALUE, such as delimiter=';', got 'delimiter'"),
        ("delimeter=;", "--csv: unknown key delimeter; did you mean delimiter\\?"),
        ("delimiter=;;", '--csv delimiter must be one character, or "tab", got'),
        ("header=maybe", "--csv header must be true or false, got"),
        ("encoding=utf-99", "--csv encoding must be the name of an encoding"),
    ],
)
def test_a_value_that_a_spec_cannot_have_is_refused(desk, text, message):
    with pytest.raises(SpecError, match=message):
        csv_options([text])
    assert desk.here("check", "t.csv", "--target", "y", "--csv", text).code == 2


def test_every_verb_reads_a_text_as_it_is_told(desk, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(desk.path / "cache"))
    (desk.path / "t.csv").write_text("1;0\n2;1\n-;0\n2;1\n" * 50)
    assert "line 1: expected the names" in desk.here("check", "t.csv", "--target", "y").message
    facts = desk.here("check", "t.csv", "--target", "y", "--json", *SAID)
    assert facts.code == 0, facts.err
    assert '"distinct": 2' in facts.out
    assert desk.here("init", "t.csv", "--target", "y", *SAID).code == 0
    spec = tomllib.loads((desk.path / "t.toml").read_text())
    assert spec["data"]["csv"] == {"names": ["a", "y"], "text": ["a"], "missing": ["-"]}
    ran = desk.here("run", "t.toml", "--set", "folds.outer=2")
    assert ran.code == 0, ran.err
    assert "separated by" not in ran.err, "it is what check has converted"
    model = desk.path / "runs" / "t" / "model.json"
    assert [column["type"] for column in read_json(model)["columns"]] == ["string"]
    for verb in (
        ("predict", model, "t.csv", "--output", "answers"),
        ("evaluate", model, "t.csv"),
        ("explain", model, "t.csv"),
    ):
        assert desk.here(*verb).code == 3
        told = desk.here(*verb, *SAID)
        assert told.code == 0, told.err
    answers = pq.read_table(desk.path / "answers")["prediction"].to_pylist()
    assert answers == [False, True, False, True] * 50


def test_every_verb_reads_the_version_of_a_table_that_it_is_told(desk):
    labels = [False, True] * 55 + [True, False] * 5
    rows = pa.table({"a": [1.0, 2.0] * 60, "b": [1, 1, 5] * 40, "y": labels})
    write_deltalake("lake", rows)
    DeltaTable("lake").update(updates={"y": "not y"})
    first = ("--data-version", "0")
    assert desk.here("check", "lake", "--target", "y", *first).code == 0
    assert desk.here("init", "lake", "--target", "y", *first).code == 0
    assert tomllib.loads((desk.path / "lake.toml").read_text())["data"]["version"] == 0
    assert desk.here("run", "lake.toml", "--set", "folds.outer=2").code == 0
    model = desk.path / "runs" / "lake" / "model.json"
    right = ("--require", "accuracy=0.9")
    assert desk.here("evaluate", model, "lake", *right).code == 1
    assert desk.here("evaluate", model, "lake", *right, *first).code == 0
    assert desk.here("explain", model, "lake", *first).code == 0
    assert desk.here("predict", model, "lake", "--output", "answers", *first).code == 0
    desk.table(rows)
    refused = desk.here("check", "t.parquet", "--target", "y", *first)
    assert refused.code == 2
    assert "data.version is for a Delta or an Iceberg table" in refused.message


def test_a_spec_says_it_itself(laid_desk):
    ended = laid_desk.here("check", laid_desk.spec(), "--csv", "delimiter=;")
    assert ended.code == 2
    assert "--csv and --data-version go with DATA; say it in [data.csv]" in ended.message
