"""The verb explain, from outside: every row against a slow and obvious reading of the
model file.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dnfscale.core.formula import Dnf
from dnfscale.data.models import classes_record, read_model
from tests.jobs.judging import accepts, holds
from tests.jobs.running import Desk, small_table

HOSTILE = 'a "b"\n\x1b[31m<i>'


def mixed_table(n_rows: int = 120, seed: int = 3) -> pa.Table:
    """Numbers, colours and truth values, some of them missing, and a target that depends
    on them.
    """
    random = np.random.default_rng(seed)
    x = random.normal(size=n_rows).astype(np.float32)
    colour = random.choice(["red", "green", "blue"], n_rows)
    smoker = random.random(n_rows) < 0.4
    target = ((x > 0) & (colour != "green")) ^ (random.random(n_rows) < 0.1)
    gone = random.random((3, n_rows)) < 0.1
    return pa.table(
        {
            "x": pa.array(x, mask=gone[0]),
            "colour": pa.array(colour, mask=gone[1]),
            "smoker": pa.array(smoker, mask=gone[2]),
            "y": target,
        }
    )


@pytest.fixture
def learned(desk: Desk) -> Desk:
    """A folder with a table, missing values and all, and the model of a fit of it."""
    desk.table(mixed_table())
    assert desk.run(data={"missing": "indicator"}, select={"tolerance": 0.0}).code == 0
    return desk


def model_file(desk: Desk) -> Path:
    return desk.folder() / "model.json"


def explained(desk: Desk, *arguments: str | Path) -> dict[str, Any]:
    ended = desk.here("explain", *arguments, "--json")
    assert (ended.code, ended.err) == (0, "")
    record: dict[str, Any] = json.loads(ended.out)
    assert record["schema"] == "dnfscale.explanation/1"
    return record


def truth(model: dict[str, Any], row: dict[str, Any]) -> tuple[bool, ...]:
    return tuple(holds(attribute, row) for attribute in model["attributes"])


def test_every_row_is_explained_as_the_model_file_says(learned):
    model = learned.model()
    assert {attribute["test"] for attribute in model["attributes"]} >= {"above", "equals"}
    counted = {tuple(count["type"]): (count["n"], count["c"]) for count in model["counts"]}
    for number, row in enumerate(mixed_table().to_pylist()):
        record = explained(learned, model_file(learned), "t.parquet", "--row", str(number))
        assert record["row"] == number
        used = {attribute["column"] for attribute in model["attributes"]}
        assert record["values"] == {
            column: pytest.approx(value, rel=1e-6) if column == "x" and value is not None else value
            for column, value in row.items()
            if column in used
        }
        kind = truth(model, row)
        assert tuple(record["type"]) == kind
        assert record["accepted"] == accepts(model, row)
        assert (record["n"], record["c"]) == counted.get(kind, (0, 0))
        for index, term in enumerate(model["terms"]):
            failing = [
                literal for literal in term if kind[literal["attribute"]] != literal["value"]
            ]
            assert (index in record["terms"]) == (not failing)
            clashes = [clash for clash in record["clashes"] if clash["term"] == index]
            assert [(clash["attribute"], clash["value"]) for clash in clashes] == [
                (literal["attribute"], literal["value"]) for literal in failing[:1]
            ]
        after = list(kind)
        for change in record["flip"]["changes"]:
            assert after[change["attribute"]] != change["value"]
            after[change["attribute"]] = change["value"]
        turned = any(
            all(after[lit["attribute"]] == lit["value"] for lit in term) for term in model["terms"]
        )
        assert turned != record["accepted"]
        assert record["flip"]["type"] == after


def test_the_types_of_a_dataset_are_counted_however_it_is_laid_out(learned):
    table, model = mixed_table(), learned.model()
    expected = Counter(truth(model, row) for row in table.to_pylist())
    (learned.path / "parts").mkdir()
    for number in range(4):
        pq.write_table(
            table.slice(30 * number, 30),
            learned.path / "parts" / f"{number}.parquet",
            row_group_size=7,
        )
    records = [
        explained(learned, model_file(learned), data)
        for data in ("t.parquet", "parts", "parts/*.parquet")
    ]
    for record in records:
        found = {tuple(kind["type"]): kind["rows"] for kind in record["types"]}
        assert found == expected
        assert record["rows"] == sum(found.values()) == table.num_rows
        assert record["types_found"] == len(expected)
        assert record["accepted_rows"] == sum(accepts(model, row) for row in table.to_pylist())
        assert record["rows_of_unseen_types"] == 0
        assert record["types"] == records[0]["types"]
        rows = [kind["rows"] for kind in record["types"]]
        assert rows == sorted(rows, reverse=True)


def test_rows_are_counted_over_files_and_row_groups(learned):
    table = mixed_table()
    (learned.path / "parts").mkdir()
    for number, (start, stop) in enumerate([(0, 1), (1, 50), (50, 120)]):
        piece = table.slice(start, stop - start)
        pq.write_table(piece, learned.path / "parts" / f"{number}.parquet", row_group_size=9)
    for row in (0, 1, 49, 50, 119):
        whole = explained(learned, model_file(learned), "t.parquet", "--row", str(row))
        apart = explained(learned, model_file(learned), "parts", "--row", str(row))
        assert apart == {**whole, "data": "parts"}


def test_the_target_need_not_be_there_and_other_columns_are_not_looked_at(learned):
    expected = explained(learned, model_file(learned), "t.parquet")
    table = mixed_table().drop_columns("y").append_column("when", pa.array([[1]] * 120))
    learned.table(table, "new.parquet")
    assert explained(learned, model_file(learned), "new.parquet") == {
        **expected,
        "data": "new.parquet",
    }


def test_types_that_were_not_learned_from_are_told(laid_desk):
    laid_desk.run(select={"tolerance": 0.0})
    model = laid_desk.model()
    assert {"x", "s"} <= {attribute["column"] for attribute in model["attributes"]}
    seen = {tuple(count["type"]) for count in model["counts"]}
    rows = [
        {"x": None, "n": 1, "s": "purple", "b": None},
        {"x": 5.0, "n": 1, "s": "red", "b": True},
    ]
    laid_desk.table(pa.Table.from_pylist(rows), "odd.parquet")
    record = explained(laid_desk, laid_desk.folder() / "model.json", "odd.parquet")
    unseen = [row for row in rows if truth(model, row) not in seen]
    assert record["rows_of_unseen_types"] == len(unseen)
    [odd] = [kind for kind in record["types"] if tuple(kind["type"]) == truth(model, rows[0])]
    assert odd["rows"] == 1
    told = {column["name"]: column for column in record["unfamiliar"]["columns"]}
    assert told["s"]["examples"] == ["purple"]
    assert record["unfamiliar"]["rows"] >= 1
    alone = explained(laid_desk, laid_desk.folder() / "model.json", "odd.parquet", "--row", "0")
    assert {"name": "s", "new": 1, "examples": ["purple"]}.items() <= {
        column["name"]: column for column in alone["unfamiliar"]
    }["s"].items()
    other = explained(laid_desk, laid_desk.folder() / "model.json", "odd.parquet", "--row", "1")
    assert "s" not in {column["name"] for column in other["unfamiliar"]}


def test_without_data_the_formula_and_its_lines_are_told(learned):
    model = learned.model()
    record = explained(learned, model_file(learned))
    assert record["formula"] == model["formula"]
    assert record["rows"] == sum(count["n"] for count in model["counts"]) == 120
    assert len(record["terms"]) == len(model["terms"]) > 0
    for told, term in zip(record["terms"], model["terms"], strict=True):
        inside = [
            c
            for c in model["counts"]
            if all(c["type"][lit["attribute"]] == lit["value"] for lit in term)
        ]
        assert (told["n"], told["c"]) == (sum(c["n"] for c in inside), sum(c["c"] for c in inside))
        assert told["low"] <= told["confidence"] <= told["high"]
        assert [(lit["attribute"], lit["value"]) for lit in told["literals"]] == [
            (lit["attribute"], lit["value"]) for lit in term
        ]
    whole = learned.result()["methods"]["ideal"]["model"]
    assert record["accuracy"] == pytest.approx(whole["training_accuracy"])
    lines = whole["formulas"][0]["lines"]
    assert [(line["n"], line["c"]) for line in lines] == [
        (told["n"], told["c"]) for told in record["terms"]
    ]
    text = learned.here("explain", model_file(learned)).out
    assert f"{record['correct_rows']:,} ({100 * record['accuracy']:.1f} %)" in text
    for told in record["terms"]:
        assert (
            f"{told['n']:,} rows, {told['c']:,} positive ({100 * told['confidence']:.1f} %" in text
        )
        assert " and ".join(literal["condition"] for literal in told["literals"]) in text


def test_the_text_of_a_row_tells_its_values_its_reasons_and_the_way_out(learned):
    number = next(i for i, row in enumerate(mixed_table().to_pylist()) if row["x"] is None)
    record = explained(learned, model_file(learned), "t.parquet", "--row", str(number))
    ended = learned.here("explain", model_file(learned), "t.parquet", "--row", str(number))
    assert ended.code == 0
    assert ended.out.startswith(f"t.parquet, row {number} of 120")
    assert f"The formula says {'yes: y' if record['accepted'] else 'no: not y'}." in ended.out
    assert "x is missing" in ended.out
    assert f"{record['n']:,} of the 120 rows learned from" in ended.out
    for clash in record["clashes"]:
        assert f"{clash['term'] + 1}. asks for {clash['condition']}, but " in ended.out


def test_the_text_of_a_dataset_shows_the_most_frequent_types(learned):
    record = explained(learned, model_file(learned), "t.parquet")
    ended = learned.here("explain", model_file(learned), "t.parquet", "--limit", "2")
    lines = ended.out.splitlines()
    assert lines[0] == f"t.parquet: 120 rows of {record['types_found']} types"
    assert [line.split()[0] for line in lines[4:6]] == [
        str(kind["rows"]) for kind in record["types"][:2]
    ]
    left = sum(kind["rows"] for kind in record["types"][2:])
    assert (
        lines[6]
        == f"and {record['types_found'] - 2} more types with {left} rows; raise --limit to see them"
    )
    assert len(explained(learned, model_file(learned), "t.parquet", "--limit", "2")["types"]) == 2


def test_a_named_dataset_is_explained(desk):
    desk.spec(data={"path": "builtin:breast_cancer", "target": None})
    assert desk.here("run", "job.toml").code == 0
    record = explained(desk, model_file(desk), "builtin:breast_cancer")
    assert record["rows"] == 569
    assert {tuple(kind["type"]): kind["rows"] for kind in record["types"]} == {
        tuple(count["type"]): count["n"] for count in desk.model()["counts"]
    }
    assert (
        "diagnosis = malignant"
        in desk.here("explain", model_file(desk), "builtin:breast_cancer", "--row", "0").out
    )


def test_hostile_names_come_out_escaped(desk):
    table = small_table()
    desk.table({HOSTILE: table["x"], "s": table["s"], "y": table["y"]})
    desk.run()
    for arguments in ([], ["t.parquet"], ["t.parquet", "--row", "5"]):
        ended = desk.here("explain", model_file(desk), *arguments)
        assert ended.code == 0
        assert r"a \"b\"\n\x1b[31m<i>" in ended.out
        assert "\x1b" not in ended.out


def test_a_dataset_without_rows_has_no_types(learned):
    learned.table(mixed_table().slice(0, 0), "empty.parquet")
    assert explained(learned, model_file(learned), "empty.parquet")["types"] == []
    ended = learned.here("explain", model_file(learned), "empty.parquet")
    assert ended.out.startswith("empty.parquet: 0 rows of 0 types\n")
    assert learned.here("explain", model_file(learned), "empty.parquet", "--row", "0").code == 2


@pytest.mark.parametrize(
    ("value", "written"), [(float("inf"), {"float": "inf"}), (float("-inf"), {"float": "-inf"})]
)
def test_infinite_values_are_json_all_the_same(learned, value, written):
    learned.table({"x": [value], "colour": ["red"], "smoker": [True]}, "one.parquet")
    assert (
        explained(learned, model_file(learned), "one.parquet", "--row", "0")["values"]["x"]
        == written
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--row", "3"], 2, "--row needs the data"),
        (["t.parquet", "--row", "-1"], 2, "--row must be at least 0"),
        (
            ["t.parquet", "--row", "120"],
            2,
            "--row must be below 120, the rows of t.parquet, got 120",
        ),
        (["t.parquet", "--limit", "0"], 2, "--limit must be at least 1, got 0"),
        (["none.parquet"], 3, "there is nothing at this path"),
        (["builtin:none"], 3, "expected the name of a dataset"),
        (["job.toml"], 3, "expected a Parquet file"),
        (
            ["short.parquet"],
            3,
            "short.parquet: expected the columns that the model uses, but 'x' is not there",
        ),
        (["words.parquet"], 3, "expected column 'x' to hold numbers as in the data"),
        (
            ["codes.parquet"],
            3,
            "got the type int64; convert it, or of a CSV say --csv text=colour",
        ),
        (["lists.parquet"], 3, "expected column 'x' to hold numbers as in the data"),
    ],
)
def test_what_cannot_be_explained_is_said_and_how(learned, arguments, code, message):
    table = {"x": [1.0], "colour": ["red"], "smoker": [True]}
    learned.table({name: values for name, values in table.items() if name != "x"}, "short.parquet")
    learned.table({**table, "x": ["one"]}, "words.parquet")
    learned.table({**table, "colour": [3]}, "codes.parquet")
    learned.table({**table, "x": [[1.0]]}, "lists.parquet")
    ended = learned.here("explain", model_file(learned), *arguments)
    assert ended.code == code
    assert message in ended.message
    assert ended.out == ""


def test_a_damaged_model_is_said_without_a_traceback(learned):
    file = learned.path / "model.json"
    for text, message in (
        (model_file(learned).read_text("utf-8")[:-50], "expected a model file in JSON"),
        (
            json.dumps({**learned.model(), "terms": [[{"attribute": 99, "value": True}]]}),
            "terms[0][0].attribute",
        ),
    ):
        file.write_text(text, encoding="utf-8")
        ended = learned.apart("explain", "model.json", "t.parquet")
        assert ended.code == 3
        assert message in ended.message
        assert "Traceback" not in ended.err
    assert learned.here("explain", "nowhere.json").code == 3


def test_of_a_model_of_several_classes_one_formula_is_explained_by_its_label(learned):
    model = read_model(model_file(learned))
    swapped = replace(model, dnf=Dnf(model.dnf.terms[:1]))
    models = [
        replace(model, positive=("low",)),
        replace(swapped, positive=("high",)),
        replace(model, positive=("no",)),
    ]
    (learned.path / "classes.json").write_text(json.dumps(classes_record(models)), encoding="utf-8")
    assert explained(learned, "classes.json", "--label", "high")["formula"] == swapped.formula
    assert explained(learned, "classes.json", "t.parquet", "--label", "low")["rows"] == 120
    for arguments in ([], ["--label", "middle"]):
        ended = learned.here("explain", "classes.json", *arguments)
        assert ended.code == 3
        assert "expected one of its labels, 'low', 'high', 'no'" in ended.message


def test_a_column_compared_by_size_and_by_value_is_refused(learned):
    record = learned.model()
    above = next(attribute for attribute in record["attributes"] if attribute["test"] == "above")
    other = next(attribute for attribute in record["attributes"] if attribute["test"] == "equals")
    other |= {"column": above["column"], "value": 3}
    (learned.path / "model.json").write_text(json.dumps(record), encoding="utf-8")
    ended = learned.here("explain", "model.json", "t.parquet")
    assert ended.code == 3
    assert above["column"] in ended.message


def test_a_column_that_is_missing_throughout_is_explained_as_missing(learned):
    table = {"x": pa.nulls(2), "colour": pa.nulls(2), "smoker": pa.nulls(2)}
    learned.table(table, "gone.parquet")
    record = explained(learned, model_file(learned), "gone.parquet", "--row", "1")
    assert set(record["values"].values()) == {None}
    model = learned.model()
    assert tuple(record["type"]) == truth(model, {"x": None, "colour": None, "smoker": None})
