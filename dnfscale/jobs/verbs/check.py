"""The verb `check`: what a table holds, and what a person should know before learning from it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

from msgspec.structs import replace as changed

from dnfscale.data.source import Source
from dnfscale.datasets.convert import AS_USUAL, Conversion
from dnfscale.datasets.named import open_alike, open_dataset, open_named
from dnfscale.engine.api import Engine, Progress
from dnfscale.engine.launch import cores, launch
from dnfscale.errors import DnfscaleError, SpecError
from dnfscale.jobs import endings
from dnfscale.jobs.progress import Step, display_for
from dnfscale.jobs.relation_findings import relation_findings
from dnfscale.jobs.runner import conversion_of
from dnfscale.jobs.verbs.data_options import TABLE, add_data_options, conversion_from, says_of_data
from dnfscale.jobs.verbs.storage_options import access_from, add_storage_options, place_from
from dnfscale.learn.check import CHECK_COLUMNS, check_source, without_settled
from dnfscale.report.checked import check_lines
from dnfscale.results.check import Check, check_text
from dnfscale.spec.cluster import ClusterSpec
from dnfscale.spec.job import JobSpec
from dnfscale.spec.storage import DEFAULT_ACCESS, Access, is_named
from dnfscale.spec.suite import SuiteSpec

_SERIAL_VALUES = 40_000_000
"""Up to so many values one process is done before several have started."""


def add_check_verb(
    verbs: Any, *, read: Callable[[argparse.Namespace], JobSpec | SuiteSpec]
) -> None:
    """Add the verb to the command line."""
    verb = verbs.add_parser(
        "check", help="look at every column before learning: facts and findings, in one scan"
    )
    verb.add_argument(
        "data",
        metavar="DATA",
        help=f"{TABLE}; or a job spec",
    )
    verb.add_argument("--target", metavar="COLUMN", help="the column to predict")
    verb.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="replace a value of a spec"
    )
    verb.add_argument(
        "--workers", metavar="N", type=int, help="processes (default: by the size of the table)"
    )
    verb.add_argument("--json", action="store_true", help="everything as JSON")
    add_data_options(verb)
    add_storage_options(verb)
    verb.set_defaults(verb=lambda options: _check(options, read))


def _check(
    options: argparse.Namespace, read: Callable[[argparse.Namespace], JobSpec | SuiteSpec]
) -> None:
    check = _of_spec(options, read) if _is_spec(options.data) else _of_data(options)
    print(check_text(check) if options.json else check_lines(check, options.data) + "\n", end="")


def _is_spec(given: str) -> bool:
    return not is_named(given) and given.endswith(".toml") and Path(given).is_file()


def _of_spec(
    options: argparse.Namespace, read: Callable[[argparse.Namespace], JobSpec | SuiteSpec]
) -> Check:
    if options.target is not None:
        raise SpecError("--target goes with DATA; the spec names its target; leave one out")
    if says_of_data(options):
        raise SpecError(
            "--csv and --data-version go with DATA; say it in [data.csv] and data.version of the "
            "spec, or by --set"
        )
    options.spec = options.data
    spec = read(options)
    if isinstance(spec, SuiteSpec):
        raise SpecError(f"{options.data}: check takes the spec of one job, got a suite")
    learned = spec.learn
    others = (learned.weight, spec.data.key, spec.data.as_of)
    aside = [*learned.drop, *(name for name in others if name is not None)]
    conversion = conversion_of(spec)
    try:
        looked_at = checked(
            spec.data_path,
            learned.target or None,
            spec.data_access,
            asked=conversion,
            drop=aside,
            workers=options.workers,
            quiet=options.json,
        )
        check = without_settled(looked_at, learned)
        if not spec.related:
            return check
        main = open_dataset(spec.data_path, spec.data_access, conversion)
        found = relation_findings(main, spec, conversion)
        # Rows that are alike besides their keys are not copies; keys that repeat are told.
        rest = (finding for finding in check.findings if finding.kind != "repeated_rows")
        return changed(check, findings=(*found, *rest))
    except DnfscaleError as error:
        raise spec.located(error) from error


def _of_data(options: argparse.Namespace) -> Check:
    target = options.target
    if target is None and is_named(options.data):
        target = open_named(options.data)[1].target
    if target is None:
        raise SpecError("check takes --target COLUMN, the column to predict; or a job spec")
    return checked(
        place_from("DATA", options.data),
        target,
        access_from(options),
        asked=conversion_from(options),
        workers=options.workers,
        quiet=options.json,
    )


def checked(
    path: str,
    target: str | None,
    access: Access = DEFAULT_ACCESS,
    *,
    asked: Conversion = AS_USUAL,
    drop: Iterable[str] = (),
    workers: int | None = None,
    quiet: bool = False,
) -> Check:
    """Check a dataset on as many processes as its size is worth, and show how far it is."""
    source, differing = open_alike(path, access, asked)
    shown = None if quiet else display_for(sys.stderr)

    def watch(progress: Progress) -> None:
        endings.check()
        if shown is not None:
            shown.progress("check", progress)

    with shown or nullcontext(), closing(_launched(source, workers)) as engine:
        if shown is not None:
            steps = [Step(CHECK_COLUMNS.name, CHECK_COLUMNS.title, is_scan=True)]
            shown.begin("check", source.n_rows, len(source.partitions), steps)
        return check_source(
            source, target, engine.watched_by(watch), drop=drop, differing=differing
        )


def _launched(source: Source, workers: int | None) -> Engine:
    if workers is not None and workers < 1:
        raise SpecError(f"--workers must be at least 1, got {workers}")
    if workers is None:
        small = source.n_rows * len(source.types) <= _SERIAL_VALUES
        workers = 1 if small or len(source.partitions) < 2 else cores()
    if workers == 1:
        return launch(ClusterSpec(kind="serial"))
    cluster = ClusterSpec(kind="local", workers=workers)
    return launch(cluster, loaded=[check_source.__module__])
