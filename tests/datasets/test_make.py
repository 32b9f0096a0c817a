"""Synthetic datasets: the same whoever writes them, labelled by the formula that they say was
planted.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from dnfscale.datasets.make import CHUNK_ROWS, Kind, make_chunk, parse_columns, plan_synthetic
from dnfscale.errors import SpecError
from tests.jobs.running import Desk, keeping_signals, tidy


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        yield Desk(tmp_path, capsys)


def digests(folder: Path) -> dict[str, str]:
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in tidy(folder)}


def said(planted: str, frame: pd.DataFrame) -> np.ndarray:
    """Evaluate a planted formula as it is printed."""
    answer = np.zeros(len(frame), dtype=bool)
    for term in re.findall(r"\(([^()]*)\)", planted):
        holds = np.ones(len(frame), dtype=bool)
        for literal in term.split(" and "):
            match literal.split():
                case ["not", name]:
                    holds &= ~frame[name].to_numpy()
                case [name]:
                    holds &= frame[name].to_numpy()
                case [name, ">", value]:
                    holds &= (frame[name] > float(value)).to_numpy()
                case [name, "<=", value]:
                    holds &= (frame[name] <= float(value)).to_numpy()
                case [name, "=", value]:
                    holds &= (frame[name] == value).to_numpy()
                case [name, "!=", value]:
                    holds &= (frame[name] != value).to_numpy()
                case _:
                    raise AssertionError(f"cannot read {literal!r}")
        answer |= holds
    return answer


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "columns", ["20", "3 float64, 2 int64, 2 bool, 2 category:12", "4 bool", "3 category:2"]
)
def test_labels_without_noise_follow_the_formula_that_is_printed(seed, columns):
    synthetic = plan_synthetic(3000, parse_columns(columns), seed=seed, noise=0.0)
    frame = make_chunk(synthetic, 0, 3000).to_pandas()
    assert (said(synthetic.planted, frame) == frame["y"].to_numpy()).all()


def test_the_asked_share_of_labels_is_flipped():
    clean, noisy = (
        plan_synthetic(50_000, parse_columns("4"), seed=3, noise=noise) for noise in (0.0, 0.2)
    )
    assert clean.planted == noisy.planted
    before, after = (make_chunk(s, 0, 50_000).to_pandas() for s in (clean, noisy))
    assert before.drop(columns="y").equals(after.drop(columns="y"))
    # 50,000 coins of 0.2: the share deviates by 0.0018, and five times that is never seen.
    assert abs((before["y"] != after["y"]).mean() - 0.2) < 0.009


@pytest.mark.parametrize("columns", ["1 bool", "1 float32", "2 bool", "1 category:2", "20"])
@pytest.mark.parametrize("seed", range(3))
def test_both_classes_occur_so_that_the_dataset_can_be_learned(columns, seed):
    synthetic = plan_synthetic(2000, parse_columns(columns), seed=seed, noise=0.0)
    assert len(set(make_chunk(synthetic, 0, 2000)["y"].to_pylist())) == 2


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("20", (Kind(14, "float32"), Kind(6, "category", 4))),
        ("1", (Kind(1, "float32"),)),
        ("14 float32, 6 category:4", (Kind(14, "float32"), Kind(6, "category", 4))),
        (" 2 int64 ,1 bool,3 float64", (Kind(2, "int64"), Kind(1, "bool"), Kind(3, "float64"))),
        ("2 category", (Kind(2, "category", 4),)),
        ("0 bool, 1 int64", (Kind(1, "int64"),)),
    ],
)
def test_columns_are_read_as_a_number_or_as_kinds(text, kinds):
    assert parse_columns(text) == kinds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "0 bool",
        "float32",
        "3 string",
        "-1 bool",
        "3 float32:4",
        "3 category:",
        "1 bool;",
        "²",
        "2 category:0",
    ],
)
def test_columns_that_cannot_be_made_are_refused(text):
    with pytest.raises(SpecError, match="--columns"):
        parse_columns(text)


def test_columns_have_the_kinds_that_were_asked_for():
    text = "2 float32, 1 float64, 2 int64, 1 bool, 2 category:9, 1 category:2"
    table = make_chunk(plan_synthetic(500, parse_columns(text), seed=0, noise=0.1), 0, 500)
    assert {
        name: str(kind) for name, kind in zip(table.column_names, table.schema.types, strict=True)
    } == {
        "x0": "float",
        "x1": "float",
        "x2": "double",
        "n0": "int64",
        "n1": "int64",
        "b0": "bool",
        "s0": "string",
        "s1": "string",
        "s2": "string",
        "y": "bool",
    }
    assert [len(set(table[name].to_pylist())) for name in ("s0", "s1", "s2")] == [9, 9, 2]


def test_chunks_differ_from_each_other_and_seeds_from_each_other():
    one, two = (plan_synthetic(100, parse_columns("3"), seed=seed, noise=0.1) for seed in (1, 2))
    assert not make_chunk(one, 0, 100).equals(make_chunk(one, 1, 100))
    assert not make_chunk(one, 0, 100).equals(make_chunk(two, 0, 100))
    assert make_chunk(one, 0, 100).equals(make_chunk(one, 0, 100))


def test_make_writes_the_rows_and_says_what_it_planted(desk):
    ended = desk.here(
        "data", "make", "made", "--rows", "5000", "--columns", "6", "--seed", "4", "--noise", "0"
    )
    assert ended.code == 0
    record = json.loads((desk.path / "made" / "_planted.json").read_text())
    assert record["planted"] in ended.out
    assert "5,000 rows" in ended.out
    assert {key: record[key] for key in ("rows", "seed", "noise")} == {
        "rows": 5000,
        "seed": 4,
        "noise": 0.0,
    }
    frame = pq.read_table(desk.path / "made" / "part-00000.parquet").to_pandas()
    assert len(frame) == 5000
    assert (said(record["planted"], frame) == frame["y"].to_numpy()).all()
    assert tidy(desk.path / "made") == ["_planted.json", "part-00000.parquet"]


def test_make_writes_the_same_bytes_again(desk):
    for folder in ("one", "two"):
        assert desk.here("data", "make", folder, "--rows", "3000", "--seed", "9").code == 0
    assert digests(desk.path / "one") == digests(desk.path / "two")


def test_make_writes_the_same_bytes_whoever_writes_them(desk):
    rows = CHUNK_ROWS + 1234
    for workers in (1, 2):
        ended = desk.apart(
            "data",
            "make",
            f"w{workers}",
            "--rows",
            str(rows),
            "--columns",
            "1 bool, 1 int64",
            "--workers",
            str(workers),
        )
        assert ended.code == 0, ended.err
    assert digests(desk.path / "w1") == digests(desk.path / "w2")
    sizes = [
        pq.read_metadata(file).num_rows for file in sorted((desk.path / "w1").glob("*.parquet"))
    ]
    assert sizes == [CHUNK_ROWS, 1234]


@pytest.mark.parametrize("seed", range(4))
def test_a_study_of_a_planted_dataset_finds_it_again(desk, seed):
    desk.here(
        "data",
        "make",
        "made",
        "--rows",
        "20000",
        "--columns",
        "6",
        "--seed",
        str(seed),
        "--noise",
        "0",
    )
    assert desk.run(kind="study", data={"path": "made"}).code == 0
    assert desk.result()["methods"]["ideal"]["accuracy_mean"] > 0.98


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rows", "0"], "--rows must be at least 1, got 0"),
        (["--rows", "-5"], "--rows must be at least 1, got -5"),
        (["--rows", "10", "--noise", "0.5"], "--noise must be at least 0 and below 0.5, got 0.5"),
        (["--rows", "10", "--noise", "-0.1"], "--noise must be at least 0 and below 0.5, got -0.1"),
        (["--rows", "10", "--noise", "nan"], "--noise must be at least 0 and below 0.5, got nan"),
        (["--rows", "10", "--columns", "3 foo"], "--columns takes a number of columns"),
        (["--rows", "10", "--columns", "0"], "--columns must ask for at least one column"),
        (["--rows", "10", "--columns", "2 category:0"], "--columns"),
        (["--rows", "10", "--seed", "-1"], "--seed must be"),
        (["--rows", "10", "--workers", "0"], "--workers must be"),
    ],
)
def test_make_refuses_what_cannot_be_made_and_leaves_nothing(desk, options, message):
    ended = desk.here("data", "make", "made", *options)
    assert ended.code == 2
    assert message in ended.message
    assert not (desk.path / "made").exists()


def test_make_does_not_write_into_what_is_there(desk):
    (desk.path / "full").mkdir()
    (desk.path / "full" / "precious").write_text("mine")
    (desk.path / "file").write_text("mine")
    for place in ("full", "file", "file/below"):
        ended = desk.here("data", "make", place, "--rows", "10")
        assert ended.code == 2
        assert place in ended.message
    assert tidy(desk.path) == ["file", "full/precious"]


def test_make_may_use_an_empty_folder(desk):
    (desk.path / "empty").mkdir()
    assert desk.here("data", "make", "empty", "--rows", "10").code == 0
