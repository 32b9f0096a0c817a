"""The verb `dnfscale export`: a model in another language."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from dnfscale.data.models import read_model, read_models
from dnfscale.errors import SpecError
from dnfscale.jobs.folders import write_asked
from dnfscale.jobs.verbs.storage_options import access_from, add_storage_options, file_from
from dnfscale.spec.checks import OneOf
from dnfscale.spec.keys import Key, keys_of
from dnfscale.spec.registry import EXPORTS, Export

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_export_verb(subparsers: Subparsers) -> None:
    """Add `export` to the command line."""
    verb = subparsers.add_parser("export", help=f"write a model as {_listed()}")
    verb.add_argument("model", metavar="MODEL", help="the model.json of a run")
    verb.add_argument("--to", required=True, choices=list(EXPORTS), help=_described())
    verb.add_argument(
        "--label", metavar="LABEL", help="which formula of a model of several classes"
    )
    for name, export in EXPORTS.items():
        for known in _options(export):
            text = f"with --to {name}: {known.help}" + (
                f" (default: {known.default})" if known.default else ""
            )
            if known.default is False:
                verb.add_argument(f"--{known.name}", action="store_true", default=None, help=text)
            elif known.default == ():
                verb.add_argument(f"--{known.name}", action="append", metavar="NAME=X", help=text)
            else:
                choices = list(known.check.choices) if isinstance(known.check, OneOf) else None
                metavar = None if choices else known.name.upper()
                verb.add_argument(f"--{known.name}", metavar=metavar, choices=choices, help=text)
    verb.add_argument("--output", metavar="FILE", help="the file to write (default: stdout)")
    verb.add_argument("--force", action="store_true", help="replace that file if it is there")
    add_storage_options(verb)
    verb.set_defaults(verb=_export)


def _export(options: argparse.Namespace) -> None:
    _check(options)
    target = file_from("--output", options.output) if options.output is not None else None
    if target is not None and target.exists() and not options.force:
        raise SpecError(
            f"{target} is already there; choose another --output, or pass --force to replace it"
        )
    written = _written(options.model, options)
    if target is None:
        _print(f"{written}\n")
        return
    write_asked(target, written if isinstance(written, bytes) else f"{written}\n")
    print(f"{target}: written", file=sys.stderr)


def _check(options: argparse.Namespace) -> None:
    for name, export in EXPORTS.items():
        for known in _options(export):
            if name != options.to and getattr(options, known.name) is not None:
                raise SpecError(
                    f"--{known.name} goes with --to {name}, got --to {options.to}; leave it out"
                )
    if EXPORTS[options.to].binary and options.output is None:
        raise SpecError(
            f"--to {options.to} is a binary format; name the file to write with --output"
        )
    if options.force and options.output is None:
        raise SpecError("--force replaces the file of --output, but there is none; leave it out")


def _written(file: str, options: argparse.Namespace) -> Any:
    export = EXPORTS[options.to]
    given = {
        known.name: known.checked(getattr(options, known.name), f"--{known.name}")
        for known in _options(export)
        if getattr(options, known.name) is not None
    }
    if export.write_several is not None and options.label is None:
        models = read_models(file, access_from(options))
        if len(models) > 1:
            return export.write_several(models, **given)
    return export.write(read_model(file, options.label, access_from(options)), **given)


def _options(export: Export) -> list[Key]:
    return [] if export.options is None else list(keys_of(export.options).values())


def _listed() -> str:
    names = sorted(EXPORTS)
    return ", ".join(names[:-1]) + f" or {names[-1]}"


def _described() -> str:
    return "; ".join(f"{name}: {export.title}" for name, export in EXPORTS.items())


def _print(text: str) -> None:
    """Write to stdout, or raise SpecError if it cannot show every character: spelled otherwise,
    names would change.
    """
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError as error:
        raise SpecError(
            f"stdout takes {sys.stdout.encoding} only, which has no "
            f"{error.object[error.start]!a}; use --output"
        ) from error
    sys.stdout.write(text)
