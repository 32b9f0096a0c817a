"""The verb `dnfscale export`: a model in another language."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dnfscale.data.models import classes_text, model_text, read_model, read_models
from dnfscale.errors import SpecError
from dnfscale.jobs.folders import write_whole
from dnfscale.jobs.storage_options import access_from, add_storage_options
from dnfscale.method.export import DIALECTS, export_latex, export_pmml, export_python, export_sql, export_text

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_FORMATS = {
    "python": export_python,
    "latex": export_latex,
    "json": model_text,
    "text": export_text,
    "pmml": export_pmml,
}


def add_export_verb(subparsers: Subparsers) -> None:
    """Add `export` to the command line."""
    verb = subparsers.add_parser("export", help="write a model as SQL, Python, LaTeX, PMML, JSON or plain text")
    verb.add_argument("model", metavar="MODEL", help="the model.json of a run")
    verb.add_argument("--to", required=True, choices=["sql", *_FORMATS], help="the language to write")
    verb.add_argument("--label", metavar="LABEL", help="which formula of a model of several classes")
    verb.add_argument("--dialect", choices=list(DIALECTS), help="whose SQL (default: duckdb)")
    verb.add_argument(
        "--table",
        metavar="NAME",
        help="a whole SELECT of this table, such as customers or sales.customers; for DuckDB also a Parquet file",
    )
    verb.add_argument("--probability", action="store_true", help="a column `probability` in that SELECT")
    verb.add_argument("--output", metavar="FILE", help="the file to write (default: stdout)")
    verb.add_argument("--force", action="store_true", help="replace that file if it is there")
    add_storage_options(verb)
    verb.set_defaults(verb=_export)


def _export(options: argparse.Namespace) -> None:
    _check(options)
    target = Path(options.output) if options.output is not None else None
    if target is not None and target.exists() and not options.force:
        raise SpecError(f"{target} is already there; choose another --output, or pass --force to replace it")
    text = _written(options.model, options) + "\n"
    if target is None:
        _print(text)
        return
    try:
        write_whole(target, text)
    except OSError as error:
        raise SpecError(f"{target} cannot be written: {error.strerror}; choose another --output") from error
    print(f"{target}: written", file=sys.stderr)


def _check(options: argparse.Namespace) -> None:
    for name in ("dialect", "table", "probability"):
        if options.to != "sql" and getattr(options, name):
            raise SpecError(f"--{name} goes with --to sql, got --to {options.to}; leave it out")
    if options.probability and options.table is None:
        raise SpecError("--probability is a column of a whole SELECT; add --table")
    if options.force and options.output is None:
        raise SpecError("--force replaces the file of --output, but there is none; leave it out")


def _written(file: str, options: argparse.Namespace) -> str:
    if options.to == "json" and options.label is None:
        models = read_models(file, access_from(options))
        return model_text(models[0]) if len(models) == 1 else classes_text(models)
    model = read_model(file, options.label, access_from(options))
    if options.to == "sql":
        return export_sql(model, options.dialect or "duckdb", options.table, probability=options.probability)
    return _FORMATS[options.to](model)


def _print(text: str) -> None:
    """Write to stdout, or raise SpecError if it cannot show every character: spelled otherwise, names would change."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError as error:
        raise SpecError(
            f"stdout takes {sys.stdout.encoding} only, which has no {error.object[error.start]!a}; use --output"
        ) from error
    sys.stdout.write(text)
