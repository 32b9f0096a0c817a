"""The verb `evaluate`: what a person reads, JSON, the page, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dnfscale.results.evaluation import read_evaluation

N = 600


@pytest.fixture(name="model")
def _model(desk) -> str:
    """A model of a small table, and new rows in new.parquet."""
    for name, seed in (("t.parquet", 0), ("new.parquet", 1)):
        random = np.random.default_rng(seed)
        x, ward = random.normal(size=N), random.choice(["a", "b"], N)
        y = random.random(N) < np.where(x > 0, 0.9, 0.1)
        desk.table({"x": x, "ward": ward, "y": y}, name)
    done = desk.here("run", desk.spec(kind="fit", data={"positive": [True]}))
    assert done.code == 0
    return str(next(Path().rglob("model.json")))


def test_a_person_reads_metrics_drift_and_slices(desk, model):
    done = desk.here("evaluate", model, "new.parquet", "--slices", "ward")
    assert done.code == 0
    for words in ("sensitivity", "By ward", "Gaps between groups", "the greatest PSI is"):
        assert words in done.out
    # What nothing is known of is left out: columns of a table, and gaps that are none.
    [heads] = [line for line in done.out.splitlines() if "Is missing, %" in line]
    assert heads.split()[-2:] == ["PSI", "Effect"]


def test_slices_can_be_named_one_by_one(desk, model):
    done = desk.here("evaluate", model, "new.parquet", "--slices", "ward", "--slices", "y")
    assert "By ward" in done.out
    assert "By y" in done.out


def test_json_is_the_whole_evaluation_and_nothing_else(desk, model):
    done = desk.here("evaluate", model, "new.parquet", "--json")
    assert done.err == ""
    record = json.loads(done.out)
    assert (record["schema"], record["rows"]) == ("dnfscale.evaluation/1", N)
    assert set(record["drift"]) >= {"greatest", "types", "lines", "columns"}
    assert read_evaluation(done.out.encode()).metrics == record["metrics"]


def test_what_is_required_sets_the_exit_code(desk, model):
    met = ["--require", "sensitivity=0.5", "--require", "brier=0.3", "--require", "drift=0.1"]
    assert desk.here("evaluate", model, "new.parquet", *met).code == 0
    for unmet, said in (
        ("accuracy=0.99", "required: accuracy at least 99 %, but it is "),
        ("brier=0.01", "required: Brier score at most 0.01, but it is "),
        ("drift=0.000001", "required: drift at most 1e−06, but it is 0.0"),
    ):
        done = desk.here("evaluate", model, "new.parquet", "--require", unmet)
        assert done.code == 1
        assert said in done.err
    for bad in ("colour=1", "accuracy", "accuracy=nan", "accuracy=90", "brier=-0.1", "drift=-1"):
        assert desk.here("evaluate", model, "new.parquet", "--require", bad).code == 2


def test_a_page_is_written(desk, model):
    done = desk.here("evaluate", model, "new.parquet", "--slices", "ward", "--report", "e.html")
    assert "e.html: written" in done.out
    page = Path("e.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Is it as good for everyone?" in page


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (["--slices", "z"], 2),
        (["--target", "z"], 2),
        (["--target", "ward"], 3),
        (["--positive", "maybe"], 2),
    ],
)
def test_bad_input_has_its_exit_code(desk, model, more, code):
    assert desk.here("evaluate", model, "new.parquet", *more).code == code


@pytest.mark.slow
def test_workers_find_what_one_process_finds(desk, model):
    more = ["--slices", "ward", "--json"]
    alone = desk.here("evaluate", model, "new.parquet", *more)
    together = desk.here("evaluate", model, "new.parquet", *more, "--workers", "2")
    assert together.code == 0
    assert together.out == alone.out
