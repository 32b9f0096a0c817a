"""The verb `dnfscale choose`: another formula of a run's frontier as a model, without reading
rows.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from dnfscale.data.models import parse_model
from dnfscale.errors import DataError, SpecError, visible
from dnfscale.export.text import export_text
from dnfscale.jobs.folders import open_folder, write_asked
from dnfscale.jobs.verbs.storage_options import (
    access_from,
    add_storage_options,
    file_from,
    place_from,
)
from dnfscale.report.wording import count, length_bound, share
from dnfscale.results.frontier import FRONTIER_FILE, Frontier, FrontierFormula, read_frontier
from dnfscale.spec.storage import Access

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

CHOSEN = "chosen/model.json"
"""Where the formula is written in the run's folder."""


def add_choose_verb(subparsers: Subparsers) -> None:
    """Add `choose` to the command line."""
    verb = subparsers.add_parser("choose", help="write another formula of a run, of another length")
    verb.add_argument("run", metavar="RUN", help="the folder of a run")
    wish = verb.add_mutually_exclusive_group(required=True)
    wish.add_argument("--literals", type=int, metavar="N", help="at most so many conditions")
    wish.add_argument("--ell", type=int, metavar="N", help="so many attributes")
    wish.add_argument(
        "--accuracy", type=float, metavar="X", help="the shortest that reaches this on test rows"
    )
    verb.add_argument("--output", metavar="FILE", help=f"the file to write (default: RUN/{CHOSEN})")
    add_storage_options(verb)
    verb.set_defaults(verb=_choose, prints_summary=True)


def _choose(options: argparse.Namespace) -> int:
    run, access = place_from("RUN", options.run), access_from(options)
    frontier = _frontier(run, access)
    reached = True
    if options.literals is not None:
        formula = frontier.of_literals(options.literals)
    elif options.ell is not None:
        formula = frontier.of_ell(options.ell)
    else:
        if not 0 < options.accuracy <= 1:
            raise SpecError(
                f"--accuracy must be above 0 and at most 1, got {options.accuracy:g}; "
                "write 0.9 for 90 %"
            )
        formula = frontier.of_accuracy(options.accuracy)
        reached = formula.accuracy >= options.accuracy
    if not reached:
        print(
            f"no formula of {visible(run)} reaches {share(options.accuracy)}; the best comes to "
            f"{_told(formula)}; ask for at most this, or for --literals",
            file=sys.stderr,
        )
        return 1
    try:
        said = export_text(parse_model(formula.model))
    except DataError as error:
        raise DataError(f"{visible(run)}/{FRONTIER_FILE}: {error.message}") from error
    text = json.dumps(formula.model, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    target = _write(text, run, options.output, access)
    print(f"{said}\n\n  {_told(formula)}")
    print(f"\nfiles      {visible(target)}")
    return 0


def _frontier(run: str, access: Access) -> Frontier:
    """Read frontier.json of a run."""
    folder = open_folder(run, access)
    try:
        content = folder.read(FRONTIER_FILE)
    except OSError as error:
        raise SpecError(
            f"{visible(run)} has no {FRONTIER_FILE}; give the folder of a finished run of two "
            "classes, with folds.frontier = true"
        ) from error
    try:
        found = read_frontier(content)
    except DataError as error:
        raise DataError(f"{visible(run)}/{FRONTIER_FILE}: {error.message}") from error
    if not found.formulas:
        raise DataError(f"{visible(run)}/{FRONTIER_FILE}: expected some formula, got none")
    return found


def _write(text: str, run: str, output: str | None, access: Access) -> str:
    """Write a model, and return where it is."""
    if output is None:
        folder = open_folder(run, access)
        target = f"{folder.path.rstrip('/')}/{CHOSEN}"
        try:
            folder.write(CHOSEN, text.encode())
        except OSError as error:
            raise SpecError(f"{target} cannot be written: {error}; give an --output") from error
        return target
    write_asked(file_from("--output", output), text)
    return output


def _told(formula: FrontierFormula) -> str:
    """Say how long a formula is, and what formulas of this length come to."""
    size = f"{count(formula.terms, 'line')}, {count(formula.literals, 'condition')}"
    if formula.tested is None:
        return f"{share(formula.accuracy)} of the rows it was learned from ({size})"
    return f"{share(formula.accuracy)} on test rows by {length_bound(formula.tested)} ({size})"
