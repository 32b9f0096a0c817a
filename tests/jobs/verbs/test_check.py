"""The verb `check`: a table that a person reads, JSON, and what bad input is told."""

from __future__ import annotations

import html
import json

import numpy as np
import pyarrow as pa
import pytest

from dnfscale import study
from dnfscale.results.check import read_check

N = 400
Y = np.random.default_rng(3).random(N) < 0.4


@pytest.fixture(name="visits")
def _visits(desk):
    random = np.random.default_rng(0)
    return desk.table(
        {
            "visit_id": random.permutation(N) + 1000,
            "age": pa.array(random.integers(18, 90, N), mask=random.random(N) < 0.1),
            "ward": random.choice(["surgery", "urology"], N),
            "billed": Y,
            "y": np.where(Y, "ill", "well"),
        },
        row_group_size=100,
    )


def test_a_person_reads_a_table_of_columns_and_what_to_do_about_them(desk, visits):
    done = desk.here("check", visits, "--target", "y")
    assert done.code == 0
    assert f"400 rows, 5 columns; y: ill {Y.sum()}, well {N - Y.sum()}" in done.out
    lines = done.out.splitlines()
    assert any(line.startswith("age ") and "int64" in line and " %" in line for line in lines)
    assert any("identifier" in line and "visit_id" in line for line in lines)
    assert any(line.startswith("error") and "leak" in line and "billed" in line for line in lines)


def test_json_is_the_whole_check_and_nothing_else(desk, visits):
    done = desk.here("check", visits, "--target", "y", "--json")
    assert done.err == ""
    record = json.loads(done.out)
    assert record["schema"] == "dnfscale.check/1"
    assert record["rows"] == N
    assert [column["name"] for column in record["columns"]][:2] == ["visit_id", "age"]
    first = record["columns"][0]["findings"][0]
    assert first["kind"] == "identifier"
    assert set(first) == {"kind", "severity", "evidence", "advice"}
    assert read_check(done.out.encode()).column("billed").findings[0].kind == "leak"


@pytest.mark.usefixtures("visits")
def test_a_spec_is_checked_without_the_columns_that_it_drops(desk):
    spec = desk.spec(data={"positive": ["ill"], "drop": ["visit_id"]})
    done = desk.here("check", spec, "--json")
    assert done.code == 0
    assert "visit_id" not in [column["name"] for column in json.loads(done.out)["columns"]]
    assert desk.here("check", spec, "--target", "y").code == 2


def test_what_a_spec_has_acted_on_is_not_advised_again(desk):
    random = np.random.default_rng(2)
    desk.table(
        {
            "patient": random.integers(0, 80, N),
            "ward_code": random.integers(1, 6, N),
            "sex_code": random.integers(1, 4, N),
            "age": random.normal(50, 10, N),
            "y": np.arange(N) % 30 == 0,
        }
    )

    def found(**tables):
        done = desk.here("check", desk.spec(**tables), "--json")
        record = json.loads(done.out)
        named = [(c["name"], f["kind"]) for c in record["columns"] for f in c["findings"]]
        return {*named, *(("", finding["kind"]) for finding in record["findings"])}

    told = {("patient", "group"), ("ward_code", "codes"), ("sex_code", "codes")}
    assert found(data={"positive": [True]}) == {*told, ("", "rare_class")}
    settled = {
        "data": {"positive": [True], "categorical": ["ward_code"], "protected": ["sex_code"]},
        "folds": {"group": "patient"},
        "formula": {"objective": "balanced_accuracy"},
    }
    assert found(**settled) == set()


@pytest.mark.slow
def test_workers_find_what_one_process_finds(desk, visits):
    alone = desk.here("check", visits, "--target", "y", "--json")
    together = desk.here("check", visits, "--target", "y", "--json", "--workers", "2")
    assert together.code == 0
    assert together.out == alone.out


def test_a_named_dataset_knows_its_target(desk):
    done = desk.here("check", "builtin:breast_cancer")
    assert done.code == 0
    assert "diagnosis: benign 357, malignant 212" in done.out


def test_a_target_that_is_no_column_is_bad_usage(desk, visits):
    done = desk.here("check", visits, "--target", "Y")
    assert done.code == 2
    assert "--target must name a column" in done.message
    assert "'visit_id'" in done.message


def test_a_check_of_data_needs_a_target(desk, visits):
    done = desk.here("check", visits)
    assert done.code == 2
    assert "--target COLUMN" in done.message


def test_a_target_of_very_many_values_is_bad_usage(desk):
    file = desk.table({"x": np.arange(3_000), "y": np.arange(3_000)})
    done = desk.here("check", file, "--target", "y")
    assert done.code == 2
    assert "more than 50" in done.message


def test_a_table_of_no_rows_is_bad_data(desk):
    file = desk.table({"x": pa.nulls(0, pa.int64()), "y": pa.nulls(0, pa.string())})
    done = desk.here("check", file, "--target", "y")
    assert done.code == 3
    assert "expected rows to learn from" in done.message


def test_files_that_differ_are_told_and_the_rest_is_checked(desk):
    desk.table({"a": [1, 2], "b": [1, 2], "y": [True, False]}, "many/one.parquet")
    desk.table({"a": ["1", "2"], "c": [1, 2], "y": [True, False]}, "many/two.parquet")
    done = desk.here("check", desk.path / "many", "--target", "y", "--json")
    assert done.code == 0
    record = json.loads(done.out)
    found = [finding["evidence"] for finding in record["findings"]]
    assert [finding["kind"] for finding in record["findings"]][:3] == ["files_differ"] * 3
    assert any("'a': its type differs: int64 in" in evidence for evidence in found)
    assert any("'b': 1 of 2 files lack it" in evidence for evidence in found)
    assert [column["name"] for column in record["columns"]] == ["y"]


def test_integers_of_two_widths_do_not_differ(desk):
    for name, kind in (("one", pa.int32()), ("two", pa.int64())):
        desk.table({"a": pa.array([1, 2], kind), "y": [True, False]}, f"many/{name}.parquet")
    done = desk.here("check", desk.path / "many", "--target", "y", "--json")
    differ = [f for f in json.loads(done.out)["findings"] if f["kind"] == "files_differ"]
    assert done.code == 0
    # Whatever `run` would refuse is told, and nothing else.
    run = desk.here("validate", desk.spec(data={"path": "many", "positive": [True]}))
    assert bool(differ) == (run.code != 0)


def test_infinite_numbers_and_odd_names_are_shown(desk):
    file = desk.table(
        {"a\nb": [np.inf, -np.inf, np.nan, 1.0] * 10, "y": [True, False] * 20}, "odd.parquet"
    )
    assert desk.here("check", file, "--target", "y").code == 0
    record = json.loads(desk.here("check", file, "--target", "y", "--json").out)
    assert record["columns"][0]["missing_rows"] == 10


@pytest.mark.slow
def test_thousands_of_columns_are_checked_and_only_those_with_findings_shown(desk):
    random = np.random.default_rng(0)
    columns = {f"c{i}": random.normal(size=50) for i in range(10_000)}
    file = desk.table({**columns, "same": [1] * 50, "y": random.random(50) < 0.5})
    done = desk.here("check", file, "--target", "y")
    assert done.code == 0
    assert "columns without a finding" in done.out
    assert len(done.out.splitlines()) < 200


@pytest.mark.slow
def test_a_million_distinct_texts_are_sampled(desk):
    file = desk.table(
        {"a": [f"t{i}" for i in range(1_000_000)], "y": np.arange(1_000_000) % 2 == 0}
    )
    record = json.loads(desk.here("check", file, "--target", "y", "--json").out)
    column = record["columns"][0]
    assert not column["exact"]
    assert abs(column["distinct"] - 1_000_000) < 100_000
    assert column["findings"][0]["kind"] == "identifier"


@pytest.mark.usefixtures("visits")
def test_a_run_that_checks_its_data_shows_what_was_found(desk):
    tables = {
        "data": {"positive": ["ill"], "drop": ["visit_id"], "missing": "indicator"},
        "report": {"check": True},
    }
    ended = desk.run(kind="study", folds={"outer": 3}, **tables)
    assert ended.code == 0, ended.err
    told = desk.here("check", desk.path / "job.toml", "--json").out
    assert (desk.folder() / "check.json").read_text(encoding="utf-8") == told
    [leak] = [f for f in read_check(told.encode()).column("billed").findings if f.kind == "leak"]
    assert f"warning: leak: billed: {leak.evidence}; {leak.advice}" in ended.err
    pages = [(desk.folder() / "report.html").read_text(encoding="utf-8")]
    assert desk.here("report", desk.folder()).code == 0
    pages.append((desk.folder() / "report.html").read_text(encoding="utf-8"))
    for page in pages:
        assert ">The data</h2>" in page
        assert leak.evidence in html.unescape(page)
        assert "The columns" in page
    # Another run in its place looks at nothing, and leaves nothing of the first.
    tables["report"]["check"] = False
    ended = desk.here("run", desk.spec(kind="study", folds={"outer": 3}, **tables), "--force")
    assert ended.code == 0, ended.err
    assert not (desk.folder() / "check.json").exists()
    assert leak.evidence not in html.unescape(
        (desk.folder() / "report.html").read_text(encoding="utf-8")
    )


def test_a_study_from_python_checks_too(tmp_path):
    random = np.random.default_rng(1)
    frame = {"x": random.normal(size=N), "same": Y, "y": Y}
    with pytest.warns(UserWarning, match="leak: same: "):
        found = study(pa.table(frame), "y", outer=2, profile="paper", check=True)
    found.report(tmp_path / "page.html")
    assert ">The data</h2>" in (tmp_path / "page.html").read_text(encoding="utf-8")
