"""The verb `dnfscale card`: a run's model card in Markdown."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from dnfscale.errors import SpecError, visible
from dnfscale.jobs.folders import write_asked
from dnfscale.jobs.verbs.report import runs_in
from dnfscale.jobs.verbs.storage_options import (
    access_from,
    add_storage_options,
    file_from,
    place_from,
)
from dnfscale.report.card import card_text
from dnfscale.report.run import view_runs

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_card_verb(subparsers: Subparsers) -> None:
    """Add `card` to the command line."""
    verb = subparsers.add_parser("card", help="write a run's model card in Markdown")
    verb.add_argument("run", metavar="RUN", help="the folder of a run")
    verb.add_argument("--output", metavar="FILE", help="the file to write (default: print it)")
    add_storage_options(verb)
    verb.set_defaults(verb=_card)


def _card(options: argparse.Namespace) -> int:
    run = place_from("RUN", options.run)
    runs, _ = runs_in(run, access_from(options))
    if len(runs) != 1:
        raise SpecError(
            f"RUN must be the folder of one run, but {visible(run)} has {len(runs):,}; name one of "
            "the folders in it"
        )
    [view] = view_runs(runs)
    text = card_text(view)
    if options.output is None:
        print(text, end="")
        return 0
    write_asked(file_from("--output", options.output), text)
    return 0
