"""Specs: TOML of known and unknown keys with values of any type, and of bytes that are no TOML."""

from __future__ import annotations

import io
import math
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dnfscale.jobs import cli
from dnfscale.spec.job import JobSpec, job_keys, read_spec
from dnfscale.spec.suite import SuiteSpec, is_suite, read_suite
from dnfscale.spec.toml import parse_override, write_toml
from tests.fuzz.spoil import TEXTS, any_value, bytes_spoiled, tree_spoiled
from tests.fuzz.verdict import attempt, demand

ROOT = Path(__file__).parents[2]
BASES = [path.read_bytes() for path in sorted((ROOT / "jobs").rglob("*.toml"))]
_RELATED = {"name": "orders", "path": "t.parquet", "key": "k"}
LIKELY: dict[str, tuple[Any, ...]] = {
    "schema_version": (1,),
    "kind": ("fit", "study", "distill", "suite"),
    "data.path": (
        "t.parquet",
        "none.parquet",
        "builtin:breast_cancer",
        "builtin:",
        "*.parquet",
        "../",
        "t.parquet\0",
        "s3://a/b",
    ),
    "data.target": ("y", "x", "nothing"),
    "cluster.kind": ("serial", "local", "address", "scheduler_file"),
    "methods": (["ideal"], ["xgboost", "majority"], ["formula_size"]),
    "cluster.memory_limit": ("4GiB", "1e9GiB", "9" * 400 + "GiB", "256MiB"),
    "jobs": (
        ["job.toml"],
        ["other.toml", {"spec": "none.toml"}],
        [{"spec": "job.toml", "seed": 3}],
    ),
    "name": ("job", "..", ".", "a/b", "-x", "CON", "x" * 300),
    "profile": ("best", "paper", "worst"),
    "labels": ({"x": {"title": "X", "unit": "kg"}}, {"x": {"values": {"a": "A"}}}, {"x": 3}),
    "data.key": ("k", "y", "nothing"),
    "data.as_of": ("at", "y"),
    "data.related": (
        [_RELATED],
        [_RELATED, {**_RELATED, "name": "visits", "drop": ["n"], "id": "n"}],
        [{**_RELATED, "time": "at", "windows": [30, 90]}],
        [{**_RELATED, "windows": [0, -1, 2**63]}, "orders"],
        [{"name": "orders", "unknown": [_RELATED]}],
    ),
    "relations.max_concepts": (0, 1, 400, 10**9),
    "booleanize.at": ({"x": [1, 2]}, {"x": [2, 1]}, {"x": []}, {"x": "1"}),
    "booleanize.parts": (["weekday", "hour"], {"x": ["month"]}, ["minute"], {"x": []}),
    "select.search": (["terms"], ["attributes", "terms"], [], ["terms", "terms"]),
    "formula.forms": (["checklist"], ["lines", "checklist"], []),
    "formula.max_literals": (1, 40, "none", 501),
    "folds.outer": (2, "leave-one-out", 10**9),
    "folds.group": ("s", "y", "x", "nothing"),
    "folds.time": ("x", "at"),
    "folds.by": ("s", "x"),
    "folds.holdout": (0.2, 0.0, 1.0),
    "folds.test": ("t.parquet", "none.parquet"),
    "report.slices": (["s"], ["s", "s"], ["y"]),
    "report.check": (True,),
    "data.protected": (["s"], ["y"]),
}
Files = dict[str, bytes]


def make(random: Random) -> Files:
    """Make a spec."""
    if random.random() < 0.3:
        return {"job.toml": bytes_spoiled(random, random.choice(BASES))}
    document: dict[str, Any] = {}
    wanted = {
        "schema_version",
        "data.path",
        "data.target",
        *random.sample([*job_keys(), "jobs"], random.randrange(12)),
    }
    for key in sorted(wanted):
        if random.random() < 0.05:
            continue
        *tables, last = key.split(".")
        table = document
        for name in tables:
            table = table.setdefault(name, {})
        default = job_keys()[key].default if key in job_keys() else None
        likely = [*LIKELY.get(key, ()), *([] if default is None else [_plain(default)])]
        table[last] = (
            random.choice(likely) if likely and random.random() < 0.8 else _toml_value(random)
        )
    if random.random() < 0.3:
        document = _without_nothing(tree_spoiled(random, document))
    try:
        content = write_toml(document).encode("utf-8", "surrogatepass")
    except (TypeError, AttributeError):
        content = repr(document).encode("utf-8", "surrogatepass")
    return {"job.toml": bytes_spoiled(random, content) if random.random() < 0.3 else content}


def check(files: Files, folder: Path) -> None:
    """Read a spec as every verb does; what is accepted says the same when it is written out and
    read again.
    """
    file = folder / "job.toml"
    file.write_bytes(files["job.toml"])
    spec = attempt(lambda: read_suite(file) if is_suite(file) else read_spec(file))
    if spec is None:
        return
    jobs = spec.jobs if isinstance(spec, SuiteSpec) else (spec,)
    for job in jobs:
        _check_job(job, folder)
    if not isinstance(spec, SuiteSpec) and len(files["job.toml"]) % 20 == 0:
        _check_verbs(spec, folder)


def _check_job(spec: JobSpec, folder: Path) -> None:
    inside = Path(spec.values["output.dir"]).resolve()
    demand(
        Path(spec.run_folder).resolve().parent == inside,
        f"the run's folder {spec.run_folder} lies outside {inside}",
    )
    text = spec.resolved()
    again = folder / "again.toml"
    again.write_text(text, encoding="utf-8")
    written = attempt(lambda: read_spec(again))
    demand(written is not None, f"a spec that was written out is refused:\n{text}")
    assert written is not None
    demand(
        written.resolved() == text,
        f"a spec that was written out says something else:\n{text}\n{written.resolved()}",
    )
    demand(
        math.isfinite(float(tomllib.loads(text)["formula"]["threshold"])),
        "a threshold that is no number",
    )


def _check_verbs(spec: JobSpec, folder: Path) -> None:
    table = folder / "t.parquet"
    if not table.exists():
        pq.write_table(
            pa.table(
                {"x": [1.5, 2.5, 3.5] * 9, "s": ["a", "b", None] * 9, "y": [True, False, True] * 9}
            ),
            table,
        )
    if "://" in str(spec.values["data.path"]) or str(spec.values["data.path"]).startswith("paper:"):
        return
    for verb in ("validate", "plan"):
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            code = cli.main([verb, str(spec.file)])
        told = out.getvalue() if code == 0 else err.getvalue()
        demand(code in (0, 2, 3, 5), f"{verb} ended with {code}: {told}")
        demand(bool(told.strip()) and "\x1b" not in told, f"{verb} said {told!r}")


def make_override(random: Random) -> str:
    """Make a KEY=VALUE of the command line."""
    return f"{random.choice([*job_keys(), *TEXTS])}={random.choice(TEXTS)}"


def check_override(text: str) -> None:
    """Read it as --set does."""
    attempt(lambda: parse_override(text))


def _toml_value(random: Random) -> Any:
    return _without_nothing(any_value(random)) or 0


def _without_nothing(value: Any) -> Any:
    """Return a value without null, which TOML does not have."""
    if isinstance(value, dict):
        return {key: _without_nothing(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [
            _without_nothing(inner)
            for inner in value
            if inner is not None and not isinstance(inner, dict)
        ]
    return value


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
