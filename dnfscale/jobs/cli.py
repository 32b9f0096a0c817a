"""The command line: verbs, options, and what each exit code means."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import NoReturn

import dnfscale
from dnfscale.data.datasets import describe_named
from dnfscale.data.synthetic import WriteChunk, parse_columns, plan_synthetic, write_description
from dnfscale.engine.launch import ClusterSpec, launch
from dnfscale.errors import DnfscaleError, SpecError
from dnfscale.jobs.plan import plan, write_plan
from dnfscale.jobs.runner import Options, open_data, run
from dnfscale.jobs.spec import JobSpec, parse_override, read_spec
from dnfscale.jobs.starter import starter_spec

_EXIT_CODES = """\
exit codes: 0 done; 1 finished, some task failed; 2 bad spec or usage; 3 bad data; 4 no cluster, or lost;
5 over a limit; 130 and 143 after a signal"""


def main(arguments: list[str] | None = None) -> int:
    """Carry out a command line and return its exit code."""
    signal.signal(signal.SIGTERM, _terminated)
    options = _parser().parse_args(arguments)
    try:
        options.verb(options)
    except DnfscaleError as error:
        print(f"dnfscale: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("dnfscale: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    return 0


def _terminated(_signal: int, _frame: object) -> NoReturn:
    # Unwinds the stack, so that the cluster is taken down before the process ends.
    raise SystemExit(128 + signal.SIGTERM)


def _run(options: argparse.Namespace) -> None:
    run(_read(options), Options(force=options.force, resume=options.resume, json=options.json))


def _validate(options: argparse.Namespace) -> None:
    spec = _read(options)
    source, _ = open_data(spec)
    size = f"{source.n_rows:,} rows, {len(source.types):,} columns, {len(source.partitions):,} partitions"
    print(f"{spec.file}: valid; {size}")


def _plan(options: argparse.Namespace) -> None:
    spec = _read(options)
    source, to_learn = open_data(spec)
    print(write_plan(plan(spec, source, to_learn), spec))


def _init(options: argparse.Namespace) -> None:
    target = Path(options.output or Path(options.data).stem + ".toml")
    if target.exists() and not options.force:
        raise SpecError(f"{target} is already there; choose another --output, or pass --force to replace it")
    text = starter_spec(options.data, options.target, target.parent)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SpecError(f"{target} cannot be written: {error.strerror}; choose another --output") from error
    print(f"{target}: written; look it over, then: python -m dnfscale.jobs run {target}")


def _data_list(options: argparse.Namespace) -> None:
    rows = describe_named()
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print(f"{row['path']:<32}{row['rows']:>10,} rows  target {row['target']!r}, positive {row['positive']}")


def _data_make(options: argparse.Namespace) -> None:
    if options.rows < 1:
        raise SpecError(f"--rows must be at least 1, got {options.rows}")
    if not 0 <= options.noise < 0.5:
        raise SpecError(f"--noise must be at least 0 and below 0.5, got {options.noise}")
    folder = Path(options.dir)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SpecError(f"{folder} must be an empty or a new folder; choose another")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError(f"{folder} cannot be made: {error.strerror}; choose another") from error
    synthetic = plan_synthetic(options.rows, parse_columns(options.columns), seed=options.seed, noise=options.noise)
    many = synthetic.n_chunks > 1
    engine = launch(ClusterSpec(kind="local" if many else "serial", workers=options.workers))
    try:
        written = engine.map("write chunks", range(synthetic.n_chunks), WriteChunk(synthetic, str(folder.resolve())))
    finally:
        engine.close()
    write_description(synthetic, folder)
    columns = ", ".join(map(str, synthetic.kinds))
    print(f"{folder}: {sum(written):,} rows, {columns}, target y")
    print(f"planted: {synthetic.planted}")
    print(f"then {synthetic.noise:.0%} of the labels were flipped")


def _read(options: argparse.Namespace) -> JobSpec:
    overrides = dict(parse_override(text) for text in options.set)
    if getattr(options, "output", None) is not None:
        overrides["output.dir"] = options.output
    if getattr(options, "scheduler", None) is not None:
        overrides |= {"cluster.kind": "address", "cluster.address": options.scheduler}
    return read_spec(Path(options.spec), overrides)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dnfscale",
        description="Learn short Boolean formulas from tables of any size.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"dnfscale {dnfscale.__version__}")
    verbs = parser.add_subparsers(metavar="VERB", required=True)

    run_verb = verbs.add_parser("run", help="run a job")
    _add_spec(run_verb, _run)
    run_verb.add_argument("--scheduler", metavar="ADDR", help="run on the Dask cluster of this scheduler")
    run_verb.add_argument("--output", metavar="DIR", help="put the run's folder here instead of output.dir")
    run_verb.add_argument("--resume", action="store_true", help="do nothing if this run has already finished")
    run_verb.add_argument("--force", action="store_true", help="replace the run of another spec in the same folder")
    run_verb.add_argument("--json", action="store_true", help="result on stdout and events on stderr as JSON")

    _add_spec(verbs.add_parser("validate", help="check a spec and the footers of its data"), _validate)
    _add_spec(verbs.add_parser("plan", help="say what a job would read and hold; runs nothing"), _plan)

    init_verb = verbs.add_parser("init", help="write a starter spec for a Parquet dataset")
    init_verb.add_argument("data", metavar="DATA", help="a Parquet file or directory")
    init_verb.add_argument("--target", metavar="COLUMN", required=True, help="the column to predict")
    init_verb.add_argument("--output", metavar="FILE", help="the spec to write (default: the data's name with .toml)")
    init_verb.add_argument("--force", action="store_true", help="replace the spec if it is there")
    init_verb.set_defaults(verb=_init)

    data_verb = verbs.add_parser("data", help="datasets: list, make")
    data_verbs = data_verb.add_subparsers(metavar="WHAT", required=True)
    list_verb = data_verbs.add_parser("list", help="list the datasets that have a name")
    list_verb.add_argument("--json", action="store_true", help="as JSON")
    list_verb.set_defaults(verb=_data_list)
    make_verb = data_verbs.add_parser("make", help="write a synthetic dataset with a planted formula")
    make_verb.add_argument("dir", metavar="DIR", help="a new or empty folder")
    make_verb.add_argument("--rows", type=int, required=True, metavar="N")
    make_verb.add_argument("--columns", default="20", help='a number, or such as "14 float32, 6 category:4, 1 bool"')
    make_verb.add_argument("--seed", type=int, default=0, metavar="S")
    make_verb.add_argument("--noise", type=float, default=0.1, metavar="SHARE", help="share of labels to flip")
    make_verb.add_argument("--workers", type=int, default=2, metavar="W", help="processes that write")
    make_verb.set_defaults(verb=_data_make)
    return parser


def _add_spec(parser: argparse.ArgumentParser, verb: object) -> None:
    parser.add_argument("spec", metavar="SPEC", help="a job spec in TOML")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="replace a value of the spec")
    parser.set_defaults(verb=verb)
