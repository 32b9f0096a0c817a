"""The verbs of `dnfscale data`: list, get, convert, relate, make."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from dnfscale.datasets.convert import Store, convert_csv
from dnfscale.datasets.make import WriteChunk, parse_columns, plan_synthetic, write_description
from dnfscale.datasets.named import describe_named, get, open_dataset
from dnfscale.engine.launch import launch
from dnfscale.errors import DnfscaleError, SpecError, visible
from dnfscale.jobs.related import fact_lines, joined_source
from dnfscale.jobs.runner import conversion_of
from dnfscale.jobs.verbs.storage_options import file_from
from dnfscale.method.words import WRITTEN, concept_text
from dnfscale.relations.tables import CONCEPTS_FILE
from dnfscale.spec.cluster import ClusterSpec
from dnfscale.spec.csv import MISSING, CsvOptions
from dnfscale.spec.job import read_spec
from dnfscale.spec.keys import keys_of

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_REDRAW_S = 0.1
_PLAIN_S = 5.0
"""How often progress is shown: on a terminal, and elsewhere."""
_BAR = 30
_SHOWN = 40
"""How many columns a conversion lists one by one."""


def add_data_verbs(subparsers: Subparsers) -> None:
    """Add `data` and its verbs to the command line."""
    data_verb = subparsers.add_parser("data", help="datasets: list, get, convert, relate, make")
    verbs = data_verb.add_subparsers(metavar="WHAT", required=True)

    list_verb = verbs.add_parser(
        "list", help="list the datasets that have a name, and where they are"
    )
    list_verb.add_argument("--json", action="store_true", help="as JSON")
    list_verb.set_defaults(verb=_list)

    get_verb = verbs.add_parser("get", help="fetch datasets of the paper, and print where they are")
    get_verb.add_argument(
        "names", metavar="NAME", nargs="+", help="a name of `data list`, such as colon"
    )
    get_verb.add_argument(
        "--from", dest="source", metavar="DIR", help="take local copies instead of downloading"
    )
    get_verb.set_defaults(verb=_get)

    convert_verb = verbs.add_parser("convert", help="turn a CSV of any size into Parquet")
    convert_verb.add_argument(
        "csv",
        metavar="CSV",
        help="a CSV file, lines of JSON, or an Arrow file; .gz, .zst and .bz2 are unpacked",
    )
    convert_verb.add_argument("dir", metavar="DIR", help="a new or empty folder")
    convert_verb.add_argument(
        "--separator", metavar="CHAR", help="between columns, or tab (default: recognized)"
    )
    convert_verb.add_argument(
        "--decimal", metavar="CHAR", help="comma or point (default: recognized)"
    )
    convert_verb.add_argument(
        "--dates", metavar="ORDER", help="day-first or month-first (default: recognized)"
    )
    convert_verb.add_argument(
        "--missing",
        action="append",
        metavar="TEXT",
        help=(
            "what stands for a missing value besides an empty cell, once each (default: "
            f"{', '.join(MISSING)}, and what is recognized)"
        ),
    )
    convert_verb.add_argument(
        "--names", metavar="A,B,C", help="column names of a file that has no header"
    )
    convert_verb.add_argument(
        "--text", action="append", default=[], metavar="COLUMN", help="take a column as text"
    )
    convert_verb.add_argument("--encoding", help="such as latin1 (default: recognized)")
    convert_verb.set_defaults(verb=_convert, prints_summary=True)

    relate_verb = verbs.add_parser(
        "relate", help="write the main table of a job with the concepts of its related tables"
    )
    relate_verb.add_argument("spec", metavar="SPEC", help="a job spec with [[data.related]]")
    relate_verb.add_argument("dir", metavar="DIR", help="a new or empty folder for Parquet files")
    relate_verb.set_defaults(verb=_relate, prints_summary=True)

    make_verb = verbs.add_parser("make", help="write a synthetic dataset with a planted formula")
    make_verb.add_argument("dir", metavar="DIR", help="a new or empty folder")
    make_verb.add_argument("--rows", type=int, required=True, metavar="N")
    make_verb.add_argument(
        "--columns", default="20", help='a number, or such as "14 float32, 6 category:4, 1 bool"'
    )
    make_verb.add_argument("--seed", type=int, default=0, metavar="S")
    make_verb.add_argument(
        "--noise", type=float, default=0.1, metavar="SHARE", help="share of labels to flip"
    )
    make_verb.add_argument(
        "--workers", type=int, default=2, metavar="W", help="processes that write"
    )
    make_verb.set_defaults(verb=_make, prints_summary=True)


class Meter:
    """Shows how far a download or a conversion is: a moving bar on a terminal, plain lines
    elsewhere.
    """

    def __init__(
        self, name: str, stream: TextIO, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name = name
        self._stream = stream
        self._clock = clock
        self._live = stream.isatty()
        self._told = clock()
        self._drawn = False

    def bytes(self, done: int, total: int | None) -> None:
        """Show the bytes received so far, and the total if it is known."""
        if total:
            share = min(done / total, 1.0)
            full = round(share * _BAR)
            bar = f"[{'#' * full}{'.' * (_BAR - full)}] " if self._live else ""
            text = f"{bar}{share:4.0%}  {_size(done)} of {_size(total)}"
        else:
            text = _size(done)
        self._tell(text, last=total is not None and done >= total)

    def rows(self, done: int) -> None:
        """Show the rows written so far."""
        self._tell(f"{done:,} rows", last=False)

    def end(self) -> None:
        """End the line of the bar."""
        if self._drawn:
            self._stream.write("\n")
            self._stream.flush()
        self._drawn = False

    def _tell(self, text: str, *, last: bool) -> None:
        now = self._clock()
        if not last and now - self._told < (_REDRAW_S if self._live else _PLAIN_S):
            return
        self._told = now
        line = f"  {self._name}  {text}"
        self._stream.write(f"\r\x1b[K{line}" if self._live else f"{line}\n")
        self._stream.flush()
        self._drawn = self._live


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:,.1f} kB"


def _list(options: argparse.Namespace) -> None:
    listed = describe_named()
    if options.json:
        print(json.dumps([dataclasses.asdict(row) for row in listed], indent=2))
        return
    for row in listed:
        labels = f"target {row.target!r}, positive {', '.join(map(repr, row.positive))}"
        print(
            f"{row.path:<28}{row.title:<28}{row.rows:>9,} rows{row.attributes:>7,} "
            f"attributes  {labels:<42}"
            f"{row.place:<14}{row.licence}"
        )


def _get(options: argparse.Namespace) -> None:
    for name in options.names:
        meter = Meter(name, sys.stderr)
        try:
            file = get(
                name,
                source_folder=file_from("--from", options.source) if options.source else None,
                progress=meter.bytes,
            )
        finally:
            meter.end()
        print(file)


def _convert(options: argparse.Namespace) -> None:
    meter = Meter(Path(options.csv).name, sys.stderr)
    try:
        converted = convert_csv(
            file_from("CSV", options.csv),
            file_from("DIR", options.dir),
            _csv_options(options),
            progress=meter.rows,
        )
    finally:
        meter.end()
    files = "1 file" if converted.files == 1 else f"{converted.files:,} files"
    print(f"{options.dir}: {converted.rows:,} rows, {len(converted.types):,} columns, {files}")
    print(f"  {visible(converted.recognized)}")
    for name, kind in list(converted.types.items())[:_SHOWN]:
        missing = converted.missing.get(name, 0)
        print(f"  {visible(name)}: {kind}" + (f", {missing:,} missing" if missing else ""))
    if len(converted.types) > _SHOWN:
        print(f"  ... and {len(converted.types) - _SHOWN:,} more")


def _relate(options: argparse.Namespace) -> None:
    spec = read_spec(Path(options.spec))
    if not spec.related:
        raise SpecError(f"{options.spec}: expected [[data.related]], but there is none; add it")
    folder = file_from("DIR", options.dir)
    _check_new(folder)
    try:
        main = open_dataset(spec.data_path, spec.data_access, conversion_of(spec))
        found = joined_source(main, spec, conversion_of(spec), repeats=True)
    except DnfscaleError as error:
        raise spec.located(error) from error
    _make_folder(folder)
    kept = Store(str(found.source.folder), spec.output_access)
    for name in kept.parts():
        if name == CONCEPTS_FILE or not name.startswith("_"):
            (folder / name).write_bytes(kept.read(name) or b"")
    concepts, facts = found.source.concepts, found.facts
    print(f"{options.dir}: {facts.rows:,} rows, {len(concepts):,} concepts in {CONCEPTS_FILE}")
    for line in fact_lines(found):
        print(f"  {visible(line)}")
    for name, concept in list(concepts.items())[:_SHOWN]:
        print(f"  {visible(name)}: {visible(concept_text(concept, WRITTEN))}")
    if len(concepts) > _SHOWN:
        print(f"  ... and {len(concepts) - _SHOWN:,} more")


def _check_new(folder: Path) -> None:
    """Raise SpecError unless a folder is new or empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SpecError(f"{folder} must be an empty or a new folder; choose another")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError(f"{folder} cannot be made: {error.strerror}; choose another") from error


def _csv_options(options: argparse.Namespace) -> CsvOptions:
    """Return what the command line says of a CSV; errors name the option."""
    said = {
        "delimiter": options.separator,
        "decimal": {"comma": ",", "point": "."}.get(options.decimal, options.decimal),
        "dates": options.dates,
        "missing": options.missing,
        "names": options.names.split(",") if options.names else None,
        "text": options.text or None,
        "encoding": options.encoding,
    }
    keys = keys_of(CsvOptions)
    shown = {"delimiter": "separator"}
    checked = {
        name: keys[name].checked(value, f"--{shown.get(name, name)}")
        for name, value in said.items()
        if value is not None
    }
    return CsvOptions(**checked)


def _make(options: argparse.Namespace) -> None:
    if options.rows < 1:
        raise SpecError(f"--rows must be at least 1, got {options.rows}")
    if not 0 <= options.noise < 0.5:
        raise SpecError(f"--noise must be at least 0 and below 0.5, got {options.noise}")
    if options.seed < 0:
        raise SpecError(f"--seed must be at least 0, got {options.seed}")
    if options.workers < 1:
        raise SpecError(f"--workers must be at least 1, got {options.workers}")
    synthetic = plan_synthetic(
        options.rows, parse_columns(options.columns), seed=options.seed, noise=options.noise
    )
    folder = file_from("DIR", options.dir)
    _check_new(folder)
    _make_folder(folder)
    many = synthetic.n_chunks > 1
    cluster = ClusterSpec(kind="local" if many else "serial", workers=options.workers)
    engine = launch(cluster, loaded=[WriteChunk.__module__])
    try:
        written = engine.map(
            "write chunks", range(synthetic.n_chunks), WriteChunk(synthetic, str(folder.resolve()))
        )
    finally:
        engine.close()
    write_description(synthetic, folder)
    columns = ", ".join(map(str, synthetic.kinds))
    print(f"{folder}: {sum(written):,} rows, {columns}, target y")
    print(f"planted: {synthetic.planted}")
    print(f"then {synthetic.noise:.0%} of the labels were flipped")
