"""`predict`: a model's answer for every row of a dataset."""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import closing, nullcontext
from typing import Any

from dnfscale.apply.predict import Files, Predicted, predict
from dnfscale.core.model import Model
from dnfscale.data.models import read_models
from dnfscale.data.source import Source
from dnfscale.data.storage import is_within
from dnfscale.datasets.named import open_dataset
from dnfscale.engine.api import Progress
from dnfscale.errors import SpecError, visible
from dnfscale.jobs import endings
from dnfscale.jobs.progress import Step, display_for
from dnfscale.jobs.verbs.cluster_options import add_cluster_options, joined_workers, launched
from dnfscale.jobs.verbs.data_options import (
    TABLE,
    add_data_options,
    add_tables_option,
    conversion_from,
)
from dnfscale.jobs.verbs.related_options import add_related_option, joined_for
from dnfscale.jobs.verbs.storage_options import access_from, add_storage_options, place_from
from dnfscale.report.unfamiliar import unfamiliar_record, unfamiliar_words
from dnfscale.report.wording import MISSING_WORDS
from dnfscale.spec.storage import is_named


def add_predict_verb(verbs: Any) -> None:
    """Add the verb to the command line."""
    verb = verbs.add_parser("predict", help="write a model's answer for every row of a dataset")
    verb.add_argument("model", metavar="MODEL", help="the model.json of a run")
    verb.add_argument(
        "data",
        metavar="DATA",
        help=TABLE,
    )
    verb.add_argument(
        "--output",
        metavar="DIR",
        required=True,
        help="the folder or URL for the files of answers",
    )
    verb.add_argument(
        "--keep",
        metavar="COLUMNS",
        default="",
        help="columns of DATA to carry along, separated by commas, such as id,visit",
    )
    verb.add_argument(
        "--to", choices=("parquet", "csv"), default="parquet", help="what the files are"
    )
    add_cluster_options(verb)
    verb.add_argument(
        "--force", action="store_true", help="replace the folder if it holds an earlier prediction"
    )
    verb.add_argument("--json", action="store_true", help="the summary as JSON")
    add_related_option(verb)
    add_tables_option(add_data_options(verb))
    add_storage_options(verb)
    verb.set_defaults(verb=_predict, prints_summary=True)


def _predict(options: argparse.Namespace) -> None:
    access = access_from(options)
    output = place_from("--output", options.output)
    for given in (options.model, options.data):
        # With --force the folder is replaced, and an earlier prediction may well be read as data.
        if not is_named(given) and is_within(given, output):
            raise SpecError(
                f"--output must be a folder of its own, but {given} lies in {output}; change it"
            )
    models = read_models(options.model, access)
    asked = conversion_from(options, launch=joined_workers(options))
    source, _ = joined_for(models, open_dataset(options.data, access, asked), options, asked)
    started = time.monotonic()
    shown = None if options.json else display_for(sys.stderr)
    with (
        shown or nullcontext(),
        closing(launched(options, source.n_rows, [predict.__module__])) as engine,
    ):
        if shown is not None:
            steps = [Step("predict", "predict", is_scan=True)]
            shown.begin("predict", source.n_rows, len(source.partitions), steps)

        def watch(progress: Progress) -> None:
            endings.check()
            if shown is not None:
                shown.progress("predict", progress)

        found = predict(
            models,
            source,
            engine.watched_by(watch),
            output,
            access=access,
            force=options.force,
            files=Files(_kept(options.keep, source), options.to),
        )
    elapsed = time.monotonic() - started
    if options.json:
        print(json.dumps(_record(found, models, elapsed), indent=2, ensure_ascii=False))
    else:
        print(_summary(found, models, options.output, elapsed))


def _kept(text: str, source: Source) -> tuple[str, ...]:
    """Return the columns of --keep; a name with a comma is taken by itself."""
    if text in source.types:
        return (text,)
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _labels(models: tuple[Model, ...]) -> list[str]:
    if len(models) > 1:
        return [str(model.positive[0]) for model in models]
    labels = models[0].positive
    if len(labels) == 1 and isinstance(labels[0], bool):
        return [str(not labels[0]), str(labels[0])]
    positive = ", ".join(map(str, labels))
    return [f"not {positive}", positive]


def _record(found: Predicted, models: tuple[Model, ...], elapsed: float) -> dict[str, Any]:
    return {
        "rows": found.rows,
        "answers": dict(zip(_labels(models), found.answers, strict=True)),
        "rows_with_missing_values": found.missing,
        "rows_of_unseen_types": found.unseen,
        "unfamiliar": unfamiliar_record(found.unfamiliar.rows, found.unfamiliar.columns),
        "elapsed_s": round(elapsed, 3),
    }


def _summary(found: Predicted, models: tuple[Model, ...], output: str, elapsed: float) -> str:
    lines = [f"{found.rows:,} rows in {elapsed:.1f} s: {visible(models[0].target)}"]
    for label, rows in zip(_labels(models), found.answers, strict=True):
        share = f" ({100 * rows / found.rows:.1f} %)" if found.rows else ""
        lines.append(f"  {visible(label):<20} {rows:>14,}{share}")
    if found.missing:
        lines.append(f"  {found.missing:,} rows lack a value that the model uses: {MISSING_WORDS}")
    if found.unseen:
        lines.append(f"  {found.unseen:,} rows are of a type that no row had in the learning")
    unlike = unfamiliar_words(found.unfamiliar.rows, found.unfamiliar.columns, models)
    lines += [f"  {unlike}"] if unlike else []
    lines.append(f"files  {output}")
    return "\n".join(lines)
