"""The verb export, from outside: a run's model in every language, on stdout and in files, and what
is refused.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from dnfscale.core.model import Model
from dnfscale.core.vocabulary import Above, Between, Equals
from dnfscale.data.models import classes_text, model_text, read_model
from dnfscale.export.latex import export_latex
from dnfscale.export.pmml import export_pmml
from dnfscale.export.python import export_python
from dnfscale.export.sql import export_sql
from dnfscale.export.text import export_text
from tests.export import examples
from tests.jobs.running import command, surroundings, tidy

NAN_NOTES = {
    "duckdb": (
        "/* least(x, 'inf'): no condition holds for NaN, which DuckDB takes for the greatest "
        "number. */\n"
    ),
    "postgres": (
        "/* 'NaN': no condition holds for NaN, which PostgreSQL takes for the greatest number. */\n"
    ),
    "bigquery": "",
}
"""The comment before SQL that has a condition about NaN, as a comparison has in these dialects."""


def noted_sql(model: Model, dialect: str = "duckdb", table: str | None = None) -> str:
    return NAN_NOTES[dialect] + export_sql(model, dialect, table)


EXPORTS = {
    "sql": noted_sql,
    "python": export_python,
    "latex": export_latex,
    "text": export_text,
    "pmml": export_pmml,
}


@pytest.fixture
def model(laid_desk) -> Path:
    """The model file of a run."""
    assert laid_desk.run().code == 0
    return laid_desk.folder() / "model.json"


@pytest.mark.parametrize("to", EXPORTS)
def test_stdout_has_the_export_and_nothing_else(laid_desk, model, to):
    ended = laid_desk.here("export", model, "--to", to)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == EXPORTS[to](read_model(model)) + "\n"


@pytest.mark.parametrize("to", EXPORTS)
def test_an_interval_is_exported_as_it_is_read(desk, to):
    attributes = [Between("a", "größe", 1.5, float("inf")), Between("b", "n", 2**53, 2**53 + 1)]
    model = examples.formula(attributes, [[(0, True), (1, False)]])
    Path("m.json").write_text(model_text(model), encoding="utf-8")
    ended = desk.here("export", "m.json", "--to", to)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == EXPORTS[to](model) + "\n"


def test_json_is_the_file_of_the_run(laid_desk, model):
    ended = laid_desk.here("export", model, "--to", "json")
    assert ended.out == model.read_text(encoding="utf-8")
    shuffled = laid_desk.path / "shuffled.json"
    record = json.loads(ended.out)
    shuffled.write_text(json.dumps(dict(reversed(record.items()))), encoding="utf-8")
    assert laid_desk.here("export", shuffled, "--to", "json").out == ended.out


def test_the_select_runs_on_the_data_of_the_job(laid_desk, model):
    ended = laid_desk.here("export", model, "--to", "sql", "--table", "t.parquet", "--probability")
    with duckdb.connect() as connection:
        rows = connection.sql(ended.out)
        assert rows.columns == ["x", "n", "s", "b", "y", "prediction", "probability"]
        right = connection.execute(
            f"SELECT avg((prediction = y)::int) FROM ({ended.out})"
        ).fetchone()
    result = laid_desk.result()["methods"]["ideal"]["model"]["training_accuracy"]
    assert right == (pytest.approx(result),)


def test_the_expression_is_ready_for_a_where_clause_with_its_comment(laid_desk, model):
    condition = laid_desk.here("export", model, "--to", "sql").out
    select = laid_desk.here("export", model, "--to", "sql", "--table", "t.parquet").out
    assert condition.startswith(NAN_NOTES["duckdb"])
    with duckdb.connect() as connection:
        accepted, rejected = (
            connection.sql(f"SELECT * FROM 't.parquet' WHERE {negation}{condition}").fetchall()
            for negation in ("", "NOT ")
        )
        answers = [row[-1] for row in connection.sql(select).fetchall()]
    assert accepted
    assert rejected
    assert (len(accepted), len(rejected)) == (answers.count(True), answers.count(False))


@pytest.mark.parametrize(
    ("noise", "column", "drop", "same"),
    [
        ([], "Y", [], "'Y' and 'y'"),
        (["X"], "x", [], "'x' and 'X'"),
        (["X"], "x", ["X"], "'x' and 'X'"),
        (["z", "Z"], "z_1", [], "'z' and 'Z'"),
    ],
)
@pytest.mark.parametrize("labels", [2, 3])
def test_sql_that_would_read_another_column_of_the_dataset_is_refused(
    desk, noise, column, drop, same, labels
):
    random = np.random.default_rng(1)
    y = random.integers(0, labels, 200)
    desk.table(
        {
            "y": y,
            **{name: random.normal(size=200) for name in noise},
            column: random.normal(size=200) + 9 * y,
        }
    )
    data = {"drop": drop, "classes": "all" if labels > 2 else "two"}
    sized = {"baselines.formula_size": {"max_size": 3}}
    assert (
        desk.run(kind="study", data=data, folds={"outer": 2}, select={"max_ell": 1}, **sized).code
        == 0
    )
    label = ["--label", "0"] if labels > 2 else []
    for name in ("model.json", "model_formula_size.json"):
        file = desk.folder() / name
        assert read_model(file, *label[1:]).columns == (column,)
        ended = desk.here("export", file, "--to", "sql", "--table", "t.parquet", *label)
        assert (ended.code, ended.out) == (3, "")
        assert f"DuckDB takes the columns {same} of the dataset for the same" in ended.message
        assert (
            f"may read another column as {column!r} than the one learned from; name one otherwise"
            in ended.message
        )
        for to in (
            ["sql", "--dialect", "postgres"],
            ["python"],
            ["text"],
            ["latex"],
            ["pmml"],
            ["json"],
        ):
            assert desk.here("export", file, "--to", *to, *label).code == 0
        file.write_text(json.dumps(_without_lookalikes(json.loads(file.read_text()))))
        assert desk.here("export", file, "--to", "sql", *label).code == 0


def _without_lookalikes(record: dict[str, Any]) -> dict[str, Any]:
    """The file of a model as it was before such columns were noted."""
    kept = {key: value for key, value in record.items() if key not in ("lookalikes", "classes")}
    classes = [_without_lookalikes(entry) for entry in record.get("classes", ())]
    return {**kept, "classes": classes} if classes else kept


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "bigquery"])
def test_the_dialect_is_the_one_that_was_asked_for(laid_desk, model, dialect):
    ended = laid_desk.here("export", model, "--to", "sql", "--dialect", dialect, "--table", "a.b")
    assert ended.out == noted_sql(read_model(model), dialect, "a.b") + "\n"


def test_a_process_of_its_own_prints_the_same(laid_desk, model):
    ended = laid_desk.apart("export", model, "--to", "python")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == export_python(read_model(model)) + "\n"


def test_a_file_is_written_whole_and_replaced_by_force_only(laid_desk, model):
    before = set(tidy(laid_desk.path))
    ended = laid_desk.here("export", model, "--to", "text", "--output", "out/f.txt")
    assert (ended.code, ended.out, ended.err) == (0, "", "out/f.txt: written\n")
    assert Path("out/f.txt").read_text(encoding="utf-8") == export_text(read_model(model)) + "\n"
    ended = laid_desk.here("export", model, "--to", "sql", "--output", "out/f.txt")
    assert ended.code == 2
    assert ended.message == (
        "dnfscale: out/f.txt is already there; choose another --output, or pass --force to "
        "replace it"
    )
    assert Path("out/f.txt").read_text(encoding="utf-8") == export_text(read_model(model)) + "\n"
    assert (
        laid_desk.here("export", model, "--to", "sql", "--output", "out/f.txt", "--force").code == 0
    )
    assert Path("out/f.txt").read_text(encoding="utf-8") == noted_sql(read_model(model)) + "\n"
    assert set(tidy(laid_desk.path)) - before == {"out/f.txt"}


def test_a_file_that_cannot_be_written_is_refused(laid_desk, model):
    ended = laid_desk.here("export", model, "--to", "text", "--output", "t.parquet/f.txt")
    assert ended.code == 2
    assert "t.parquet/f.txt cannot be written" in ended.message


def test_a_model_of_several_classes_is_exported_whole_or_by_label(desk):
    models = [
        examples.formula(
            list(examples.hostile().model.tau.attributes), [[(0, True)]], positive=(c,)
        )
        for c in "ab"
    ]
    Path("m.json").write_text(classes_text(models), encoding="utf-8")
    assert (
        desk.here("export", "m.json", "--to", "text", "--label", "b").out
        == export_text(models[1]) + "\n"
    )
    assert desk.here("export", "m.json", "--to", "json").out == classes_text(models) + "\n"
    assert desk.here("export", "m.json", "--to", "text").out.startswith("y is a if")
    ended = desk.here("export", "m.json", "--to", "pmml")
    assert ended.code == 3
    assert (
        "expected one of its labels, 'a', 'b', but no label was given; pass --label"
        in ended.message
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "sql", "--dialect", "oracle"], "invalid choice: 'oracle'"),
        (["--to", "cobol"], "invalid choice: 'cobol'"),
        ([], "the following arguments are required: --to"),
        (
            ["--to", "python", "--dialect", "duckdb"],
            "--dialect goes with --to sql, got --to python; leave it out",
        ),
        (
            ["--to", "text", "--table", "t"],
            "--table goes with --to sql, got --to text; leave it out",
        ),
        (
            ["--to", "json", "--probability"],
            "--probability goes with --to sql, got --to json; leave it out",
        ),
        (
            ["--to", "sql", "--probability"],
            "a probability is a column of a whole SELECT; name a table too",
        ),
        (["--to", "sql", "--table", ""], "--table must be a string that is not empty"),
        (["--to", "sql", "--table", "a..b"], "a table must be a name such as customers"),
        (["--to", "sql", "--force"], "--force replaces the file of --output, but there is none"),
    ],
)
def test_bad_usage_ends_with_2(laid_desk, model, arguments, message):
    ended = laid_desk.here("export", model, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.message


@pytest.mark.parametrize(
    "content", [None, "", "{", "[]", '{"schema": "dnfscale.model/9"}', '{"schema": "x"}']
)
def test_a_bad_model_ends_with_3_in_one_line(desk, content):
    if content is not None:
        Path("m.json").write_text(content)
    ended = desk.here("export", "m.json", "--to", "sql", "--output", "f.sql")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.startswith("dnfscale: m.json: ")
    assert ended.err.count("\n") == 1
    assert not Path("f.sql").exists()


def test_what_the_language_cannot_say_ends_with_3(desk):
    Path("m.json").write_text(
        model_text(examples.single(Equals("a", "c", "x\0y"))), encoding="utf-8"
    )
    assert desk.here("export", "m.json", "--to", "sql").code == 0
    for arguments, message in (
        (["sql", "--dialect", "postgres"], "PostgreSQL has no texts with the character NUL"),
        (["pmml"], "XML has no character U+0000"),
    ):
        ended = desk.here("export", "m.json", "--to", *arguments)
        assert (ended.code, ended.out) == (3, "")
        assert message in ended.message


def test_a_terminal_that_cannot_show_a_name_gets_an_error_and_no_other_name(desk):
    Path("m.json").write_text(model_text(examples.single(Above("a", "größe", 1))), encoding="utf-8")
    ended = desk.apart("export", "m.json", "--to", "sql", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (ended.code, ended.out) == (2, "")
    assert "stdout takes ascii only, which has no '\\xf6'; use --output" in ended.message
    ended = desk.apart(
        "export", "m.json", "--to", "sql", "--output", "f.sql", PYTHONIOENCODING="ascii"
    )
    assert ended.code == 0
    assert '"größe" > 1' in Path("f.sql").read_text(encoding="utf-8")


def test_whoever_stops_reading_gets_no_complaint(laid_desk, model):
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run(
        command("export", model, "--to", "sql"),
        cwd=laid_desk.path,
        env=surroundings(),
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    os.close(write)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_export_starts_neither_dask_nor_scikit_learn():
    script = (
        "import sys; from dnfscale.jobs.verbs.export import add_export_verb; "
        "print([name for name in ('dask', 'sklearn', 'duckdb', 'xgboost') if name in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env=surroundings(),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ended.stdout == "[]\n"
