"""`python -m tests.bench`: runs the benchmark suite, or some of its cases, and prints what it
measured.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tests.bench
from tests.bench import record, report
from tests.bench.apart import MeasurementError, measure_apart
from tests.bench.case import Case, Contender, DisagreementError, Measured, NotReadyError, summarized
from tests.bench.cases import CASES, find_case
from tests.bench.setting import Setting


def main(arguments: list[str] | None = None) -> int:
    """Carry out a command line; the exit code is 1 where a case failed."""
    parser = _parser()
    options = parser.parse_args(arguments)
    names = [case.name for case in CASES]
    for name in options.case:
        if name not in names:
            parser.error(f"CASE must be one of {', '.join(names)}, got {name!r}")
    if options.list:
        for case in CASES:
            print(
                f"{case.name:<12}{case.about}\n{'':<12}{', '.join(c.name for c in case.contenders)}"
            )
        return 0
    setting = Setting(data=options.data.resolve(), rows=options.rows)
    cases = [find_case(name) for name in options.case] or list(CASES)
    run = record.describe_run(setting)
    print(report.heading(run), flush=True)
    failed = [case.name for case in cases if not run_case(case, setting, options.repeat, run)]
    if options.compare is not None:
        print(
            "\n## change\n\n"
            + report.changes(json.loads(options.compare.read_text(encoding="utf-8")), run)
        )
    if options.json is not None:
        _write_whole(options.json, json.dumps(run, indent=2) + "\n")
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def run_case(case: Case, setting: Setting, repeat: int, run: dict[str, Any]) -> bool:
    """Run a case, print it and add it to the record; say whether it went well."""
    print(f"\n## {case.name}: {case.about}\n", flush=True)
    try:
        case.prepare(setting)
    except NotReadyError as reason:
        print(f"skipped: {reason}")
        return True
    try:
        runs = _measure_all(case, _ready(case.contenders), setting, repeat)
        for number in range(repeat):
            case.check({name: measured[number].outcome for name, measured in runs.items()})
    except (MeasurementError, DisagreementError) as error:
        print(f"FAILED: {error}", flush=True)
        return False
    summary = {name: summarized(measured) for name, measured in runs.items()}
    found = case.figures(summary)
    run["cases"][case.name] = record.describe_case(case, runs, found)
    print(report.measurements(summary) + "\n\n" + report.figures(found), flush=True)
    return True


def _ready(contenders: Sequence[Contender]) -> list[Contender]:
    """Return the contenders that can run here, and tell of the others."""
    ready = []
    for contender in contenders:
        try:
            contender.check_ready()
        except NotReadyError as reason:
            print(f"skipped {contender.name}: {reason}\n")
        else:
            ready.append(contender)
    return ready


def _measure_all(
    case: Case, contenders: Sequence[Contender], setting: Setting, repeat: int
) -> dict[str, list[Measured]]:
    """Measure every contender so often, in turn, so that a busy moment of the machine does not hit
    one of them only.
    """
    runs: dict[str, list[Measured]] = {contender.name: [] for contender in contenders}
    for number in range(repeat):
        for contender in contenders:
            print(
                f"{case.name}: {contender.name}, run {number + 1} of {repeat} ...",
                file=sys.stderr,
                flush=True,
            )
            runs[contender.name].append(measure_apart(case, contender, setting))
    return runs


def _write_whole(file: Path, text: str) -> None:
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(file)


def _parser() -> argparse.ArgumentParser:
    default = Setting()
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description=tests.bench.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [case.name for case in CASES]
    parser.add_argument(
        "case", nargs="*", metavar="CASE", help=f"cases to run (default: all): {', '.join(names)}"
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=default.data,
        metavar="DIR",
        help="where the data is made (default: %(default)s)",
    )
    parser.add_argument(
        "--rows",
        type=_positive,
        default=default.rows,
        metavar="N",
        help="rows of the data (default: %(default)s)",
    )
    parser.add_argument(
        "--repeat",
        type=_positive,
        default=1,
        metavar="R",
        help="measure so often, and show the fastest (default: 1)",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write everything measured to this file"
    )
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="FILE",
        help="print the change since this earlier --json file",
    )
    parser.add_argument(
        "--list", action="store_true", help="list the cases and their contenders, and stop"
    )
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


if __name__ == "__main__":
    sys.exit(main())
