"""`evaluate`: how good a model is on new rows, and how far these differ from those it was learned
from.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing, nullcontext
from typing import Any

import pyarrow as pa

from dnfscale.apply.evaluation import EVALUATE, Asked, evaluate_models
from dnfscale.core.arrays import Scalar
from dnfscale.data.models import read_models
from dnfscale.data.source import Source
from dnfscale.datasets.named import open_dataset
from dnfscale.engine.api import Progress
from dnfscale.engine.streams import require_stdout
from dnfscale.errors import SpecError
from dnfscale.jobs import endings
from dnfscale.jobs.folders import write_asked
from dnfscale.jobs.progress import Step, display_for
from dnfscale.jobs.verbs.cluster_options import add_cluster_options, joined_workers, launched
from dnfscale.jobs.verbs.data_options import (
    TABLE,
    add_data_options,
    add_tables_option,
    conversion_from,
)
from dnfscale.jobs.verbs.related_options import add_related_option, joined_for
from dnfscale.jobs.verbs.storage_options import access_from, add_storage_options, file_from
from dnfscale.report.evaluated import evaluation_lines, evaluation_page
from dnfscale.report.measured import METRICS, exact_text, metric_title
from dnfscale.results.evaluation import DRIFT, Evaluation, evaluation_text
from dnfscale.results.metrics import LOWER_IS_BETTER
from dnfscale.spec.checks import listed

_REQUIRED = (*(name for name in METRICS if name != "selection_rate"), DRIFT)


def add_evaluate_verb(verbs: Any) -> None:
    """Add the verb to the command line."""
    verb = verbs.add_parser(
        "evaluate",
        help="metrics of a model on new rows, and how far these differ from those learned from",
        description="Counts everything in one scan. Without the truth: what is answered, and how "
        "far the rows differ.",
    )
    verb.add_argument("model", metavar="MODEL", help="the model.json of a run")
    verb.add_argument(
        "data",
        metavar="DATA",
        help=TABLE,
    )
    verb.add_argument(
        "--target", metavar="COLUMN", help="the column of labels (default: the model's)"
    )
    verb.add_argument(
        "--positive",
        metavar="LABEL",
        nargs="+",
        help="the labels that mean yes (default: the model's)",
    )
    verb.add_argument(
        "--slices",
        metavar="COLUMN",
        nargs="+",
        action="extend",
        default=[],
        help="the same for each value of these",
    )
    verb.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="METRIC=X",
        help="exit with 1 unless a metric is at least X; brier, log_loss, cost and drift (the "
        "greatest PSI) at most X",
    )
    verb.add_argument("--report", metavar="FILE", help="write a page")
    add_cluster_options(verb)
    verb.add_argument("--json", action="store_true", help="everything as JSON")
    add_related_option(verb)
    add_tables_option(add_data_options(verb))
    add_storage_options(verb)
    verb.set_defaults(verb=_evaluate)


def _evaluate(options: argparse.Namespace) -> int:
    required = [_required(text) for text in options.require]
    page = None if options.report is None else file_from("--report", options.report)
    access = access_from(options)
    models = read_models(options.model, access)
    conversion = conversion_from(options, launch=joined_workers(options))
    main = open_dataset(options.data, access, conversion)
    source, _ = joined_for(models, main, options, conversion)
    target = models[0].target if options.target is None else options.target
    asked = Asked(
        target=options.target,
        positive=_positive(options.positive, source, target),
        slices=tuple(options.slices),
    )
    shown = None if options.json else display_for(sys.stderr)
    loaded = [evaluate_models.__module__]
    with shown or nullcontext(), closing(launched(options, source.n_rows, loaded)) as engine:
        if shown is not None:
            steps = [Step(EVALUATE, EVALUATE, is_scan=True)]
            shown.begin(EVALUATE, source.n_rows, len(source.partitions), steps)

        def watch(progress: Progress) -> None:
            endings.check()
            if shown is not None:
                shown.progress(EVALUATE, progress)

        found = evaluate_models(models, source, engine.watched_by(watch), asked)
    # Where the page or the exit code is what was asked for, what is printed only sums it up.
    require_stdout(options.json or not (required or page))
    if page is not None:
        write_asked(page, evaluation_page(found, options.data), "--report")
    if options.json:
        print(evaluation_text(found), end="")
    else:
        print(evaluation_lines(found, options.data))
    if page is not None:
        print(f"{options.report}: written", file=sys.stderr if options.json else sys.stdout)
    failed = [line for name, bound in required for line in _unmet(found, name, bound)]
    for line in failed:
        print(line, file=sys.stderr)
    return int(bool(failed))


def _required(text: str) -> tuple[str, float]:
    """Return a metric and its bound, as --require says them."""
    name, _, bound = text.partition("=")
    if name not in _REQUIRED:
        raise SpecError(
            f"--require must be METRIC=X with a metric among {', '.join(_REQUIRED)}, got {text!r}"
        )
    try:
        number = float(bound)
    except ValueError:
        number = float("nan")
    if not abs(number) < float("inf"):
        raise SpecError(f"--require {name} must be a number, as in {name}=0.9, got {text!r}")
    is_loss = name in (*LOWER_IS_BETTER, DRIFT)
    if number < 0 if is_loss else number > 1:
        reached = "less than 0" if is_loss else "more than 1; write 0.9 for 90 %"
        raise SpecError(f"--require {text}: {metric_title(name)} is never {reached}")
    return name, number


def _unmet(found: Evaluation, name: str, bound: float) -> list[str]:
    """Say that a figure is not good enough, if so."""
    if found.meets(name, bound):
        return []
    figure = found.figure(name)
    least = "at most" if name in (*LOWER_IS_BETTER, DRIFT) else "at least"
    wanted = exact_text(name, bound, digits=10)
    texts = [] if figure is None else [exact_text(name, figure, digits=n) for n in (4, 8, 17)]
    said = next((f"is {text}" for text in texts if text != wanted), "is not known")
    return [f"required: {metric_title(name)} {least} {wanted}, but it {said}"]


def _positive(
    labels: Sequence[str] | None, source: Source, target: str
) -> tuple[Scalar, ...] | None:
    """Return the labels of --positive as values of the target's type."""
    if labels is None:
        return None
    if target not in source.types:
        raise SpecError(
            f"--positive needs the column of labels, but {source.path} has no column {target!r}; "
            f"give --target; it has {listed(list(source.types))}"
        )
    kind = source.types[target]
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    try:
        return tuple(pa.scalar(label).cast(kind).as_py() for label in labels)
    except pa.ArrowException as error:
        raise SpecError(
            f"--positive must list labels of the type {kind}, as column {target!r} has them, "
            f"got {listed(list(labels))}"
        ) from error
