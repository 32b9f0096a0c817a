"""The command line: verbs, options, and what each exit code means."""

from __future__ import annotations

import argparse
import io
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import dnfscale
from dnfscale.engine.streams import require_stdout
from dnfscale.errors import visible
from dnfscale.jobs.endings import exit_code_of, listen
from dnfscale.jobs.plan import check_fits, plan, tuning_left, write_plan
from dnfscale.jobs.runner import Options, check_place, foresee_data, notes_of, run
from dnfscale.jobs.suite import run_suite
from dnfscale.jobs.verbs.bounds import add_bounds_verb
from dnfscale.jobs.verbs.card import add_card_verb
from dnfscale.jobs.verbs.check import add_check_verb
from dnfscale.jobs.verbs.choose import add_choose_verb
from dnfscale.jobs.verbs.data import add_data_verbs
from dnfscale.jobs.verbs.detached import add_detached_verbs
from dnfscale.jobs.verbs.evaluate import add_evaluate_verb
from dnfscale.jobs.verbs.explain import add_explain_verb
from dnfscale.jobs.verbs.export import add_export_verb
from dnfscale.jobs.verbs.init import add_init_verb
from dnfscale.jobs.verbs.predict import add_predict_verb
from dnfscale.jobs.verbs.report import report_again
from dnfscale.jobs.verbs.schema import add_schema_verb
from dnfscale.jobs.verbs.storage_options import (
    access_from,
    add_storage_options,
    place_from,
    refuse_credentials,
)
from dnfscale.jobs.ways import settled
from dnfscale.jobs.workers import Opened, chosen_cluster
from dnfscale.learn.dropped import foresee_dropped
from dnfscale.learn.table import features
from dnfscale.report.wording import count
from dnfscale.spec.job import JobSpec, command_line, read_spec
from dnfscale.spec.suite import SuiteSpec, is_suite, read_suite

_EXIT_CODES = """\
exit codes: 0 done; 1 finished, some task failed or --require not met; 2 bad spec or usage;
3 bad data; 4 no cluster, or lost; 5 over a limit; 75 (status) not ended yet;
130 and 143 after a signal; 141 after a closed pipe"""


def main(arguments: list[str] | None = None) -> int:
    """Carry out a command line and return its exit code."""
    listen()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name that the terminal cannot show is spelled out, because it must not make a run
            # fail.
            stream.reconfigure(errors="backslashreplace")
    return exit_code_of(lambda: _carry_out(arguments))


def _carry_out(arguments: list[str] | None) -> int | None:
    require_stdout(True)
    parser = command_parser()
    try:
        options = parser.parse_args(arguments)
        if options.verbose:
            parser.error("--verbose goes with --version")
    except SystemExit as end:
        # After --help, --version or bad usage.
        return end.code if isinstance(end.code, int) else 0
    # What --set says is checked with the spec.
    refuse_credentials({name: given for name, given in vars(options).items() if name != "set"})
    options.arguments = sys.argv[1:] if arguments is None else arguments
    # A command that only sums up what it has done has done it, whether or not somebody hears of it.
    require_stdout(options.json or not options.prints_summary)
    code: int | None = options.verb(options)
    return code


def _run(options: argparse.Namespace) -> None:
    how = Options(
        options.force,
        options.resume,
        options.json,
        options.performance_report,
        command=_going_on(options.arguments),
    )
    spec = _read(options)
    if isinstance(spec, SuiteSpec):
        run_suite(spec, how, out=sys.stdout, err=sys.stderr)
    else:
        run(spec, how, out=sys.stdout, err=sys.stderr)


def _going_on(arguments: Sequence[str]) -> str:
    """Return the command line that goes on where this one stops: --force would begin anew."""
    return shlex.join(["dnfscale", *(each for each in arguments if each != "--force")])


def _validate(options: argparse.Namespace) -> None:
    read = _read(options)
    check_place(read, Options())
    for spec in _jobs(read):
        source, to_learn, joining = foresee_data(spec)
        settled(spec, source, to_learn)
        concepts = f"at most {spec.relations.max_concepts:,}" if joining else len(source.concepts)
        sizes = (
            (source.n_rows, "row"),
            (len(source.types), "column"),
            (len(source.partitions), "partition"),
        )
        size = ", ".join(count(number, noun) for number, noun in sizes)
        if spec.related:
            size += f", of which {concepts} are concepts of related rows"
        print(f"{visible(str(spec.file))}: valid; {size}")
        foreseen = foresee_dropped(source, to_learn, features(source, to_learn))
        if foreseen is not None and foreseen.worth_telling:
            print(f"  {foreseen.words(to_learn.max_dropped)}")


def _plan(options: argparse.Namespace) -> None:
    for number, spec in enumerate(_jobs(_read(options))):
        source, to_learn, joining = foresee_data(spec)
        spec = settled(spec, source, to_learn)
        choice = chosen_cluster(spec.cluster, [Opened(spec, source, to_learn)])
        placed = replace(spec, cluster=choice.cluster)
        planned = plan(placed, source, to_learn)
        left = tuning_left(placed, source, to_learn, notes_of(spec, source))
        written = write_plan(planned, placed, joining=joining, reason=choice.reason, left=left)
        print("\n" * (number > 0) + written, flush=True)
        check_fits(planned, placed)


def _report(options: argparse.Namespace) -> None:
    folders = [place_from("DIR", folder) for folder in options.dirs]
    output = None if options.output is None else place_from("--output", options.output)
    target = report_again(folders, output, access_from(options))
    print(f"{target}: written")


def _jobs(spec: JobSpec | SuiteSpec) -> tuple[JobSpec, ...]:
    return spec.jobs if isinstance(spec, SuiteSpec) else (spec,)


def _read(options: argparse.Namespace) -> JobSpec | SuiteSpec:
    overrides = command_line(options.set)
    if getattr(options, "output", None) is not None:
        overrides["output.dir"] = options.output
    if getattr(options, "scheduler", None) is not None:
        overrides |= {"cluster.kind": "address", "cluster.address": options.scheduler}
    file = Path(options.spec)
    return read_suite(file, overrides) if is_suite(file) else read_spec(file, overrides)


def command_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    parser = argparse.ArgumentParser(
        prog="dnfscale",
        description="Learn short Boolean formulas from tables of any size.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"dnfscale {dnfscale.__version__}")
    parser.add_argument(
        "--verbose", action="store_true", help="with --version, also what a bug report needs"
    )
    parser.set_defaults(prints_summary=False, json=False)
    verbs = parser.add_subparsers(metavar="VERB", required=True)

    run_verb = verbs.add_parser("run", help="run a job")
    _add_spec(run_verb, _run)
    run_verb.set_defaults(prints_summary=True)
    run_verb.add_argument(
        "--scheduler", metavar="ADDR", help="run on the Dask cluster of this scheduler"
    )
    run_verb.add_argument(
        "--output", metavar="DIR", help="put the run's folder here instead of output.dir"
    )
    run_verb.add_argument(
        "--resume",
        action="store_true",
        help="as without it, but refuse where data or code changed since the run began",
    )
    run_verb.add_argument(
        "--force",
        action="store_true",
        help=(
            "begin anew, also where the folder holds the run of another spec; with --resume, "
            "only where data or code changed"
        ),
    )
    run_verb.add_argument(
        "--json", action="store_true", help="result on stdout and events on stderr as JSON"
    )
    run_verb.add_argument(
        "--performance-report", metavar="FILE", help="write Dask's own report of the run here"
    )

    _add_spec(
        verbs.add_parser("validate", help="check a spec and the footers of its data"), _validate
    )
    _add_spec(
        verbs.add_parser("plan", help="say what a job would read and hold; runs nothing"), _plan
    )

    add_init_verb(verbs)

    report_verb = verbs.add_parser(
        "report", help="render report.html again; several runs side by side"
    )
    report_verb.add_argument(
        "dirs", metavar="DIR", nargs="+", help="the folder of a run or of a suite"
    )
    report_verb.add_argument(
        "--output", metavar="FILE", help="the page to write (default: in the run's folder)"
    )
    add_storage_options(report_verb)
    report_verb.set_defaults(verb=_report, prints_summary=True)

    add_detached_verbs(verbs, add_spec=_add_spec, read=_read)
    add_check_verb(verbs, read=_read)
    add_bounds_verb(verbs)
    add_predict_verb(verbs)
    add_evaluate_verb(verbs)
    add_data_verbs(verbs)
    add_explain_verb(verbs)
    add_export_verb(verbs)
    add_choose_verb(verbs)
    add_card_verb(verbs)
    add_schema_verb(verbs)
    return parser


def _add_spec(parser: argparse.ArgumentParser, verb: object) -> None:
    parser.add_argument("spec", metavar="SPEC", help="a job spec in TOML")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="replace a value of the spec",
    )
    parser.set_defaults(verb=verb)
