"""Command lines: `check`, `evaluate`, `explain` and `predict` on tables that do not fit a model."""

from __future__ import annotations

import io
import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from dnfscale.data.models import model_record
from dnfscale.jobs import cli
from tests.fuzz.columns import any_column, any_type
from tests.fuzz.models import any_checklist, any_model
from tests.fuzz.results import bases as results
from tests.fuzz.spoil import TEXTS, any_value, tree_spoiled
from tests.fuzz.tables import parquet_of
from tests.fuzz.verdict import demand

Files = dict[str, bytes]
_CODES = (0, 1, 2, 3, 5)


@cache
def _learned() -> tuple[Any, ...]:
    return tuple(files["model.json"] for files in results() if "model.json" in files)


def make(random: Random) -> Files:
    """Make a model, a table, and a command line for both."""
    if random.random() < 0.5:
        model: Any = random.choice(_learned())
    else:
        model = model_record(random.choice((any_model, any_checklist))(random))
    columns = _columns(random, model)
    if random.random() < 0.2:
        model = tree_spoiled(random, model)
    return {
        "model.json": json.dumps(model).encode("utf-8", "surrogatepass"),
        "t.parquet": parquet_of(random, columns),
        "arguments.json": json.dumps(_arguments(random, list(columns))).encode(),
    }


def _columns(random: Random, model: Any) -> dict[str, Any]:
    """Return the columns of a table that a model fits, or nearly."""
    n_rows = random.choice((0, 1, 5, 40))
    columns: dict[str, Any] = {}
    models = model.get("classes", [model])
    asked = {one["column"]: one for each in models for one in each["attributes"]}
    for name, attribute in asked.items():
        if random.random() < 0.9:
            columns[name] = _column(random, attribute, n_rows)
    if random.random() < 0.8:
        labels = [label for each in models for label in each["positive"]]
        columns[model["target"]] = _values(random, [*labels, "no"], n_rows)
    return columns or {"x": [1] * n_rows}


def _column(random: Random, attribute: Any, n_rows: int) -> Any:
    given = attribute["value"]
    if random.random() < 0.4 or given is None or "measure" in attribute:
        return any_column(random, any_type(random), n_rows)
    asked = given if isinstance(given, list) else [given]
    return _values(random, [*asked, None, None], n_rows)


def _values(random: Random, some: list[Any], n_rows: int) -> Any:
    """Return a column of values of one type, the others left out."""
    kind = type(some[0])
    alike = [value for value in some if type(value) is kind] or ["no"]
    if kind is bool:
        alike = [False, True]
    try:
        return pa.array([random.choice((*alike, None)) for _ in range(n_rows)])
    except (pa.ArrowException, OverflowError):
        return any_column(random, pa.int64(), n_rows)


def _arguments(random: Random, columns: list[str]) -> list[str]:
    def name() -> str:
        return random.choice((*columns, *columns, *TEXTS))

    verb = random.choice(("check", "evaluate", "evaluate", "explain", "predict"))
    if verb == "check":
        return ["check", "t.parquet", f"--target={name()}", *_some(random, ["--json"])]
    options = _some(random, ["--json"])
    if verb == "evaluate":
        metric = random.choice(("accuracy", "brier", "drift", "mcc", name()))
        options += _some(random, [f"--target={name()}"])
        options += _some(random, [f"--positive={name()}"])
        options += _some(random, [f"--slices={name()}"])
        options += _some(random, [f"--require={metric}={any_value(random)}"])
    if verb == "explain":
        options += [f"--row={random.choice((0, 1, 39, -1, 2**64, 'x'))}"]
    if verb == "predict":
        options += ["--output=answers", "--force"]
    return [verb, "model.json", "t.parquet", *options]


def _some(random: Random, options: list[str]) -> list[str]:
    return options if random.random() < 0.3 else []


def check(files: Files, folder: Path) -> None:
    """Carry out a command line: it ends with an answer or a message, and with no other code."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    arguments = json.loads(files["arguments.json"])
    if "\0" in "".join(arguments):
        return
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        try:
            code = cli.main(arguments)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else -1
    shutil.rmtree(folder / "answers", ignore_errors=True)
    told = out.getvalue() + err.getvalue()
    demand(code in _CODES, f"{arguments} ended with {code}: {told}")
    demand(bool(told.strip()), f"{arguments} said nothing")
    demand("Traceback" not in told and "\x1b" not in told, f"{arguments} said {told}")
