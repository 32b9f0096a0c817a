"""What SQL in DuckDB, Python in a bare interpreter and PMML say of every row of a dataset is what
predict says.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from dnfscale.core.model import Model
from dnfscale.data.models import model_text, parse_model
from dnfscale.export.pmml import export_pmml
from dnfscale.export.python import export_python
from dnfscale.export.sql import export_sql
from tests.export import examples
from tests.export.examples import Case, expected, probabilities, used
from tests.export.rule_sets import RuleSet


@pytest.mark.slow
def test_the_rows_are_worth_asking(case):
    answers = expected(case.model, case.table)
    assert 0 < sum(answers) < len(answers)
    assert any(used(case).column(name).null_count for name in used(case).column_names)
    assert len(case.model.dnf.terms) > 1 or case.model.types == "signs"


@pytest.mark.slow
def test_duckdb_says_of_a_parquet_file_what_predict_says(case, tmp_path):
    file = tmp_path / "it's rows.parquet"
    pq.write_table(case.table, file)
    with duckdb.connect() as connection:
        rows = connection.sql(export_sql(case.model, table=str(file), probability=True))
        assert rows.columns[:-2] == case.table.column_names
        found = rows.project("prediction, probability").fetchall()
    assert [prediction for prediction, _ in found] == expected(case.model, case.table)
    assert [probability for _, probability in found] == probabilities(case)


@pytest.mark.slow
def test_duckdb_selects_the_rows_that_predict_accepts(case, tmp_path):
    file = tmp_path / "t.parquet"
    pq.write_table(
        used(case).append_column("row number", pa.array(range(case.table.num_rows))), file
    )
    condition = export_sql(case.model)
    with duckdb.connect() as connection:
        accepted = connection.sql(
            f"""SELECT "row number" FROM '{file}' WHERE {condition} ORDER BY 1"""
        ).fetchall()
        rejected = connection.sql(
            f"""SELECT "row number" FROM '{file}' WHERE NOT {condition} ORDER BY 1"""
        ).fetchall()
    answers = expected(case.model, case.table)
    assert [row for (row,) in accepted] == [row for row, answer in enumerate(answers) if answer]
    assert [row for (row,) in rejected] == [row for row, answer in enumerate(answers) if not answer]


@pytest.mark.slow
def test_a_bare_interpreter_says_what_predict_says(case, tmp_path):
    assert bare_python(case, tmp_path) == expected(case.model, case.table)


@pytest.mark.slow
def test_the_rule_set_says_what_predict_says(case):
    assert RuleSet(export_pmml(case.model)).answers(used(case).to_pylist()) == expected(
        case.model, case.table
    )


def test_the_model_file_says_what_the_model_says(case):
    again = parse_model(json.loads(model_text(case.model)))
    assert expected(again, case.table) == expected(case.model, case.table)
    assert model_text(again) == model_text(case.model)


def test_no_export_changes_when_it_is_made_again(case):
    again = parse_model(json.loads(model_text(case.model)))
    for export in (export_sql, export_python, export_pmml):
        assert export(again) == export(case.model)


@pytest.mark.slow
@pytest.mark.portable
@given(made=examples.cases())
@settings(max_examples=80)
def test_duckdb_agrees_on_any_model_and_any_rows(made):
    with duckdb.connect() as connection:
        connection.register("t", made.table)
        found = connection.sql(export_sql(made.model, table="t", probability=True)).fetchall()
    answers = [(row[-2], row[-1]) for row in found]
    assert answers == list(zip(expected(made.model, made.table), probabilities(made), strict=True))


@pytest.mark.slow
@pytest.mark.portable
@given(made=examples.cases())
@settings(max_examples=80)
def test_python_agrees_on_any_model_and_any_rows(made):
    predict = function(made.model)
    assert [predict(row) for row in made.table.to_pylist()] == expected(made.model, made.table)


@given(made=examples.cases())
@settings(max_examples=40)
def test_the_exported_python_imports_nothing_and_is_one_function(made):
    tree = ast.parse(export_python(made.model))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert functions in (["_value", "predict"], ["predict"])


def function(model: Model):
    """The exported function, made in this interpreter."""
    scope: dict[str, object] = {}
    exec(export_python(model), scope)
    assert scope["COLUMNS"] == model.columns
    return scope["predict"]


def bare_python(case: Case, folder: Path) -> list[bool]:
    """What the exported function says in an interpreter without site-packages."""
    (folder / "exported.py").write_text(export_python(case.model) + "\n", encoding="utf-8")
    driver = (
        "import json, sys\n"
        "source = open(sys.argv[1], 'rb').read()\n"
        "scope = {}\n"
        "exec(compile(source, sys.argv[1], 'exec'), scope)\n"
        "rows = json.loads(sys.stdin.buffer.read())\n"
        "print(json.dumps([scope['predict'](row) for row in rows]))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", driver, str(folder / "exported.py")],
        input=json.dumps(used(case).to_pylist()).encode(),
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr.decode()
    answers = json.loads(ended.stdout)
    assert all(isinstance(answer, bool) for answer in answers)
    return answers
