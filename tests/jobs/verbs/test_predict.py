from __future__ import annotations

import csv
import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale import IdealClassifier
from dnfscale.data.cells import defused, defused_table
from tests.jobs.judging import accepts
from tests.jobs.running import Desk, Ended, small_table, tidy


def learned(desk: Desk, name: str = "m.json", **how: Any) -> dict[str, Any]:
    """Learn a model of the small table, by a job, and put its file under a short name."""
    desk.table(small_table(), "train/t.parquet")
    spec = desk.spec(file="train/job.toml", **{"data": {"path": "t.parquet", "target": "y"}, **how})
    ended = desk.here("run", spec, "--output", "runs", "--force")
    assert ended.code == 0, ended.err
    text = (desk.folder() / "model.json").read_text(encoding="utf-8")
    (desk.path / name).write_text(text, encoding="utf-8")
    record: dict[str, Any] = json.loads(text)
    return record


def fresh(n_rows: int = 90) -> pa.Table:
    """Rows that the model has not seen: with gaps, other categories, and a column more."""
    table = pa.table(small_table(n_rows, seed=11))
    random = np.random.default_rng(12)
    x = pa.array(table["x"].to_numpy(), mask=random.random(n_rows) < 0.2)
    words = pa.array([word if i % 5 else "mauve" for i, word in enumerate(table["s"].to_pylist())])
    return (
        table.set_column(0, "x", x)
        .set_column(2, "s", words)
        .append_column("more", pa.nulls(n_rows))
    )


def answers(desk: Desk, name: str = "out") -> pd.DataFrame:
    return pq.read_table(desk.path / name).to_pandas()


def refused(ended: Ended, code: int, *parts: str) -> None:
    """The command ended with the code and one line that says why."""
    assert ended.code == code, ended.err
    assert ended.message.startswith("dnfscale: ")
    assert "Traceback" not in ended.err
    for part in parts:
        assert part in ended.message


def nothing_left(desk: Desk) -> bool:
    return not [name for name in os.listdir(desk.path) if name == "out" or name.startswith(".")]


@pytest.mark.parametrize("missing", ["drop", "indicator"])
def test_every_row_is_answered_in_its_order(desk, missing):
    model = learned(desk, data={"path": "t.parquet", "target": "y", "missing": missing})
    table = fresh()
    desk.table(table, "new.parquet", row_group_size=13)
    ended = desk.here("predict", "m.json", "new.parquet", "--output", "out")
    assert ended.code == 0, ended.err
    expected = [accepts(model, row) for row in table.to_pylist()]
    assert answers(desk)["prediction"].tolist() == expected
    assert answers(desk)["term"].isna().tolist() == [not answer for answer in expected]
    assert "90 rows in" in ended.out
    used = {attribute["column"] for attribute in model["attributes"]}
    gaps = sum(any(row[name] is None for name in used) for row in table.to_pylist())
    assert f"  {gaps:,} rows lack a value that the model uses: a condition on it does" in ended.out
    assert ended.out.strip().endswith("files  out")


def test_the_estimator_says_the_same(desk):
    learned(desk)
    model = IdealClassifier(profile="paper").fit(desk.path / "train" / "t.parquet", "y")
    desk.table(fresh(), "new.parquet")
    assert desk.here("predict", "m.json", "new.parquet", "--output", "out").code == 0
    assert answers(desk)["prediction"].tolist() == model.predict(desk.path / "new.parquet").tolist()
    assert (
        answers(desk)["probability"].tolist()
        == model.predict_proba(desk.path / "new.parquet")[:, 1].tolist()
    )


def test_files_and_row_groups_change_nothing(desk):
    learned(desk)
    table = fresh()
    desk.table(table, "one/all.parquet")
    for i, (start, stop) in enumerate([(0, 1), (1, 1), (1, 50), (50, 90)]):
        desk.table(table[start:stop], f"four/key={i}/{i}.parquet", row_group_size=7)
    for folder in ("one", "four"):
        assert desk.here("predict", "m.json", folder, "--output", f"out-{folder}").code == 0
    assert answers(desk, "out-one").equals(answers(desk, "out-four"))
    assert desk.here("predict", "m.json", "four/*/*.parquet", "--output", "out-glob").code == 0
    assert answers(desk, "out-glob").equals(answers(desk, "out-one"))


def test_processes_write_what_one_does(desk):
    learned(desk)
    for i in range(3):
        desk.table(fresh(50 + i), f"data/{i}.parquet")
    assert desk.here("predict", "m.json", "data", "--output", "alone", "--workers", "1").code == 0
    ended = desk.apart("predict", "m.json", "data", "--output", "together", "--workers", "2")
    assert ended.code == 0, ended.err
    names = tidy(desk.path / "alone")
    assert names == tidy(desk.path / "together")
    for name in names:
        assert (desk.path / "alone" / name).read_bytes() == (
            desk.path / "together" / name
        ).read_bytes()


def test_the_summary_is_json_if_that_is_wanted(desk):
    model = learned(desk)
    table = fresh()
    desk.table(table, "new.parquet")
    ended = desk.here("predict", "m.json", "new.parquet", "--output", "out", "--json")
    record = json.loads(ended.out)
    yes = sum(accepts(model, row) for row in table.to_pylist())
    assert record["rows"] == 90
    assert record["answers"] == {"False": 90 - yes, "True": yes}
    assert set(record) == {
        "rows",
        "answers",
        "rows_with_missing_values",
        "rows_of_unseen_types",
        "unfamiliar",
        "elapsed_s",
    }


def strange(n_rows: int = 90) -> pa.Table:
    """Rows of which every fifth says «Red» for red, and of which three have too great an x."""
    table = pa.table(small_table(n_rows, seed=11))
    words = ["Red" if i % 5 == 0 else word for i, word in enumerate(table["s"].to_pylist())]
    x = [99.5 if i in (5, 6, 7) else float(value) for i, value in enumerate(table["x"].to_numpy())]
    x = np.clip(x, -1.0, None)
    return table.set_column(2, "s", [words]).set_column(0, "x", [x])


def test_values_unlike_those_learned_from_are_told_in_one_line(desk):
    model = learned(desk)
    [x] = [column for column in model["columns"] if column["name"] == "x"]
    desk.table(strange(), "new.parquet")
    ended = desk.here("predict", "m.json", "new.parquet", "--output", "out")
    [line] = [line for line in ended.out.splitlines() if "unlike" in line]
    assert line.strip() == (
        "20 rows with values unlike those learned from (s: 18 with a value that no row had, such "
        f"as 'Red'; x: 3 above {x['greatest']})"
    )
    desk.table(small_table(), "same.parquet")
    ended = desk.here("predict", "m.json", "same.parquet", "--output", "out2")
    assert "unlike" not in ended.out


def test_a_model_that_says_nothing_of_its_columns_compares_nothing(desk):
    model = learned(desk, privacy={"columns": False})
    assert "columns" not in model
    desk.table(strange(), "new.parquet")
    ended = desk.here("predict", "m.json", "new.parquet", "--output", "out")
    assert ended.code == 0
    assert "unlike" not in ended.out


def test_unlike_values_are_counted_alike_in_files_row_groups_and_processes(desk):
    learned(desk)
    desk.table(strange(), "one.parquet")
    desk.table(strange(), "many.parquet", row_group_size=7)
    records = [
        json.loads(desk.here("predict", "m.json", data, "--output", data[:3], "--json").out)
        for data in ("one.parquet", "many.parquet")
    ]
    assert records[0]["unfamiliar"] == records[1]["unfamiliar"]
    assert records[0]["unfamiliar"]["rows"] == 20
    s, x = records[0]["unfamiliar"]["columns"]
    assert (s["name"], s["new"], s["examples"]) == ("s", 18, ["Red"])
    assert (x["name"], x["above"], x["below"]) == ("x", 3, 0)


def test_several_classes_are_answered_by_the_most_probable(desk):
    desk.table(small_table(), "train/t.parquet")
    whole = {"data": {"path": "t.parquet", "target": "s", "classes": "all"}}
    assert desk.here("run", desk.spec(file="train/job.toml", **whole)).code == 0
    model = IdealClassifier(profile="paper").fit(desk.path / "train" / "t.parquet", "s")
    ended = desk.here(
        "predict", desk.folder() / "model.json", "train/t.parquet", "--output", "out", "--json"
    )
    assert ended.code == 0, ended.err
    found = answers(desk)
    assert found["prediction"].tolist() == model.predict(desk.path / "train" / "t.parquet").tolist()
    given = model.predict_proba(desk.path / "train" / "t.parquet")
    assert found["probability"].tolist() == given.max(axis=1).tolist()
    assert json.loads(ended.out)["answers"] == {
        label: int((found["prediction"] == label).sum()) for label in ("blue", "green", "red")
    }


@pytest.mark.parametrize(
    ("positive", "said"),
    [([True], ["False", "True"]), ([False], ["True", "False"]), (["a", "b"], ["not a, b", "a, b"])],
)
def test_answers_are_told_by_the_labels_of_the_target(desk, positive, said):
    (desk.path / "m.json").write_text(json.dumps({**learned(desk), "positive": positive}))
    desk.table(fresh(), "new.parquet")
    ended = desk.here("predict", "m.json", "new.parquet", "--output", "out")
    assert ended.code == 0, ended.err
    assert [line[2:22].rstrip() for line in ended.out.splitlines()[1:3]] == said


def test_an_empty_dataset_gives_an_empty_answer(desk):
    learned(desk)
    desk.table(fresh()[:0], "new.parquet")
    ended = desk.here("predict", "m.json", "new.parquet", "--output", "out")
    assert ended.code == 0, ended.err
    assert len(answers(desk)) == 0
    assert list(answers(desk).columns) == ["prediction", "probability", "term"]


def test_what_is_there_is_replaced_only_by_force(desk):
    learned(desk)
    desk.table(fresh(), "new.parquet")
    (desk.path / "out").mkdir()
    (desk.path / "out" / "old").write_text("old")
    again = ("predict", "m.json", "new.parquet", "--output", "out")
    refused(desk.here(*again), 2, "out is already there", "--force")
    refused(
        desk.here(*again, "--force"),
        2,
        "nothing but an earlier prediction for --force to replace",
        "'old'",
    )
    assert tidy(desk.path / "out") == ["old"]
    (desk.path / "out" / "old").unlink()
    assert desk.here(*again, "--force").code == 0
    assert desk.here("predict", "m.json", "new.parquet", "--output", "out", "--force").code == 0
    assert tidy(desk.path / "out") == ["part-00000.parquet"]


@pytest.mark.parametrize("output", ["data", ".", "data/../data", "new"])
def test_force_does_not_remove_the_data_or_the_model(desk, output):
    learned(desk, name="m.json")
    desk.table(fresh(), "data/new.parquet")
    before = tidy(desk.path)
    given = ("m.json", "data") if output != "new" else ("new/m.json", "data")
    if output == "new":
        (desk.path / "new").mkdir()
        os.replace(desk.path / "m.json", desk.path / "new" / "m.json")
        before = tidy(desk.path)
    refused(
        desk.here("predict", *given, "--output", output, "--force"),
        2,
        "--output must be a folder of its own",
    )
    assert tidy(desk.path) == before


def test_missing_values_that_were_an_error_are_one_again(desk):
    learned(desk, data={"path": "t.parquet", "target": "y", "missing": "error"})
    desk.table(fresh(), "new.parquet")
    ended = desk.here("predict", "m.json", "new.parquet", "--output", "out")
    refused(ended, 3, "missing = 'error', but column 'x' has some")
    assert nothing_left(desk)


def test_columns_that_are_absent_or_of_another_type_are_refused(desk):
    learned(desk)
    desk.table(fresh().drop_columns("s"), "absent.parquet")
    refused(
        desk.here("predict", "m.json", "absent.parquet", "--output", "out"),
        3,
        "'s' is not there",
        "'x'",
    )
    for name, column in {"x": ["1"] * 90, "s": [1] * 90}.items():
        table = fresh()
        desk.table(
            table.set_column(table.column_names.index(name), name, pa.array(column)),
            "wrong.parquet",
        )
        ended = desk.here("predict", "m.json", "wrong.parquet", "--output", "out")
        refused(ended, 3, f"expected column {name!r} to hold")
    assert nothing_left(desk)


def damaged(file: Path) -> None:
    """Spoil the pages of a Parquet file, but not its footer."""
    content = bytearray(file.read_bytes())
    content[4:-3000] = bytes(len(content) - 3004)
    file.write_bytes(content)


@pytest.mark.parametrize("apart", [False, True])
def test_a_task_that_fails_leaves_nothing_behind(desk, apart):
    learned(desk)
    for i in range(4):
        file = desk.table(fresh(70_000), f"data/{i}.parquet", compression="none")
    damaged(file)
    run = desk.apart if apart else desk.here
    ended = run("predict", "m.json", "data", "--output", "out", "--workers", "2" if apart else "1")
    refused(ended, 3, "3.parquet: expected to read its columns, but that failed")
    assert nothing_left(desk)


def test_a_truncated_file_is_refused_before_anything_is_written(desk):
    learned(desk)
    file = desk.table(fresh(), "data/0.parquet")
    file.write_bytes(file.read_bytes()[:-20])
    refused(
        desk.here("predict", "m.json", "data", "--output", "out"),
        3,
        "0.parquet: expected a Parquet file",
    )
    assert nothing_left(desk)


class Exploding:
    def __reduce__(self) -> Any:
        return os.system, ("touch exploded",)


MODELS: dict[str, bytes] = {
    "not JSON": b"{",
    "other JSON": b'{"a": 1}',
    "a list": b"[]",
    "a pickle": pickle.dumps(Exploding()),
    "nothing": b"",
    "deep": b"[" * 100_000,
    "a later version": b'{"schema": "dnfscale.model/3"}',
}


@pytest.mark.parametrize("case", MODELS)
def test_a_file_that_is_no_model_is_refused(desk, case):
    desk.table(fresh(), "new.parquet")
    (desk.path / "m.json").write_bytes(MODELS[case])
    refused(desk.here("predict", "m.json", "new.parquet", "--output", "out"), 3, "m.json: ")
    assert nothing_left(desk)
    assert not (desk.path / "exploded").exists()


def test_a_model_of_classes_whose_labels_do_not_go_together_is_refused(desk):
    record = learned(desk)
    entries = [{**record, "positive": [1]}, {**record, "positive": ["a"]}]
    text = json.dumps({"schema": "dnfscale.classes/1", "target": "y", "classes": entries})
    (desk.path / "m.json").write_text(text)
    desk.table(fresh(), "new.parquet")
    refused(
        desk.here("predict", "m.json", "new.parquet", "--output", "out"), 3, "labels of one kind"
    )


def test_what_cannot_be_done_is_refused(desk):
    learned(desk)
    desk.table(fresh(), "new.parquet")
    (desk.path / "file").write_text("")
    refused(
        desk.here("predict", "none.json", "new.parquet", "--output", "out"),
        3,
        "none.json: expected a model file",
    )
    refused(
        desk.here("predict", "m.json", "none.parquet", "--output", "out"), 3, "nothing at this path"
    )
    refused(
        desk.here("predict", "m.json", "new.parquet", "--output", "file/out"), 2, "can be written"
    )
    for workers in ("0", "-3"):
        ended = desk.here(
            "predict", "m.json", "new.parquet", "--output", "out", "--workers", workers
        )
        refused(ended, 2, f"--workers must be at least 1, got {workers}")
    ended = desk.here(
        "predict", "m.json", "new.parquet", "--output", "out", "--scheduler", "nowhere"
    )
    refused(ended, 4, "expected the address of a Dask scheduler")
    assert desk.here("predict", "m.json", "new.parquet").code == 2
    assert nothing_left(desk)


def visits(n_rows: int = 90) -> pa.Table:
    """Fresh rows that have a name each, some of which a spreadsheet would run."""
    names = [f'{"=-+@"[i % 4]}v{i}, "x"' if i % 3 == 0 else f" v{i}\n" for i in range(n_rows)]
    names[5] = None
    table = fresh(n_rows).append_column("visit", pa.array(names))
    return table.append_column("ward", pa.array(["a", None, "b"] * 30).dictionary_encode())


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_columns_are_carried_along_in_their_order(desk, form):
    learned(desk)
    table = visits()
    desk.table(table.slice(0, 50), "new/a.parquet", row_group_size=13)
    # As another writer stores them.
    rest = table.slice(50).set_column(
        table.column_names.index("ward"), "ward", table["ward"].slice(50).cast(pa.string())
    )
    desk.table(rest, "new/b.parquet", row_group_size=13)
    assert desk.here("predict", "m.json", "new", "--output", "out").code == 0
    alone = answers(desk)
    ended = desk.here(
        *("predict", "m.json", "new", "--output", "kept", "--keep", "visit,ward,n", "--to", form)
    )
    assert ended.code == 0, ended.err
    if form == "parquet":
        found = pq.read_table(desk.path / "kept")
        assert found.select(["visit", "ward", "n"]).to_pydict() == {
            name: table[name].to_pylist() for name in ("visit", "ward", "n")
        }
        found = found.to_pandas()
    else:
        [file] = (desk.path / "kept").iterdir()
        with file.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.reader(lines))
        assert rows[0][:3] == ["visit", "ward", "n"]
        told = [defused(name or "") for name in table["visit"].to_pylist()]
        assert [row[0] for row in rows[1:]] == told
        assert sum(name.startswith("'") for name in told) == 30
        found = pd.read_csv(file)
        assert found["n"].tolist() == table["n"].to_pylist()
    assert list(found.columns) == ["visit", "ward", "n", *alone.columns]
    assert found["prediction"].tolist() == alone["prediction"].tolist()
    assert found["probability"].tolist() == alone["probability"].tolist()
    again = desk.here("predict", "m.json", "new", "--output", "kept", "--force")
    assert again.code == 0, again.err
    assert answers(desk, "kept").equals(alone)


def test_labels_are_written_as_text_that_no_spreadsheet_runs(desk):
    desk.table({**small_table(), "y": np.where(small_table()["x"] > 0, "=1+1", "-2").tolist()})
    ended = desk.run(data={"target": "y", "classes": "all"})
    assert ended.code == 0, ended.err
    ended = desk.here(
        *("predict", desk.folder() / "model.json", "t.parquet", "--output", "out", "--to", "csv")
    )
    assert ended.code == 0, ended.err
    [file] = (desk.path / "out").iterdir()
    assert set(pd.read_csv(file)["prediction"]) == {"'=1+1", "'-2"}


def test_columns_that_cannot_be_carried_along_are_refused(desk):
    learned(desk)
    table = fresh().append_column("many", pa.array([[1]] * 90))
    desk.table(table.append_column("term", pa.array(range(90))), "new.parquet")
    for keep, form, words in (
        ("visit", "parquet", "--keep must list columns of new.parquet, but 'visit' is none"),
        ("n,term", "parquet", "--keep term: the answers have a column of this name"),
        ("many", "csv", "--keep many: CSV has no place for the type list<"),
    ):
        ended = desk.here(
            *("predict", "m.json", "new.parquet", "--output", "out", "--keep", keep, "--to", form)
        )
        refused(ended, 2, words)
    assert nothing_left(desk)


@given(st.text(min_size=1))
def test_texts_of_a_table_are_defused_as_single_ones_are(text):
    table = pa.table({"x": [text, None]})
    assert defused_table(table)["x"].to_pylist() == [defused(text), None]
