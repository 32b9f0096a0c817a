"""`python -m tests.faults`: does every kind of fault to a job, or some, and prints what came of it
as a table.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.faults import (
    detached,
    evaluating,
    joint,
    load,
    runners,
    soak,
    storage,
    tables,
    trials,
    workers,
)
from tests.faults.fault import Fault, NotReadyError
from tests.faults.ground import Ground, ground, say

FAULTS: tuple[Fault, ...] = (
    *workers.FAULTS,
    *runners.FAULTS,
    *storage.FAULTS,
    *tables.FAULTS,
    *evaluating.FAULTS,
    *detached.FAULTS,
    *trials.FAULTS,
    *joint.FAULTS,
)


HEADER = ("| fault | runs | outcome |", "| --- | --: | --- |")


@dataclass
class Tried:
    """What came of a fault."""

    name: str
    about: str
    runs: int
    outcome: str
    survived: bool
    elapsed_s: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command line; the exit code is 1 where a job did not survive."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["soak"]:
        return soak.main(given[1:])
    if given[:1] == ["load"]:
        return load.main(given[1:])
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument(
        "fault",
        nargs="*",
        help="names of faults; all of them, if none is named; or `soak` or `load`, see there",
    )
    parser.add_argument("--repeat", type=int, default=1, help="how often each is done")
    parser.add_argument("--json", type=Path, help="write what came of them to a file")
    parser.add_argument("--list", action="store_true", help="name the faults")
    options = parser.parse_args(given)
    known = {fault.name: fault for fault in FAULTS}
    for name in options.fault:
        if name not in known:
            parser.error(f"FAULT must be one of {', '.join(known)}, got {name!r}")
    chosen = [known[name] for name in options.fault] or list(FAULTS)
    if options.list:
        for fault in chosen:
            print(f"{fault.name:<28}{fault.about}")
        return 0
    tried = []
    # Row by row: of what is interrupted, the rows so far are there.
    print("\n".join(HEADER), flush=True)
    with (
        tempfile.TemporaryDirectory(prefix="faults-") as parent,
        ground(Path(parent) / "ground") as place,
    ):
        for fault in chosen:
            tried.append(try_fault(fault, place, options.repeat))
            print(as_row(tried[-1]), flush=True)
    if options.json is not None:
        options.json.write_text(
            json.dumps([asdict(one) for one in tried], indent=2) + "\n", encoding="utf-8"
        )
    return 0 if all(one.survived for one in tried) else 1


def try_fault(fault: Fault, place: Ground, repeat: int) -> Tried:
    """Do a fault some times; stop at the first that was not survived."""
    started = time.monotonic()
    outcome, survived, runs = fault.outcome, True, 0
    for _ in range(repeat):
        try:
            fault.happen(place)
            runs += 1
        except NotReadyError as reason:
            outcome = f"skipped: {reason}"
            break
        except Exception as error:
            outcome, survived = f"NOT SURVIVED: {error}", False
            place.disarm()
            break
    elapsed_s = round(time.monotonic() - started, 1)
    say(f"{fault.name}: {outcome} ({elapsed_s} s)")
    return Tried(fault.name, fault.about, runs, outcome, survived, elapsed_s)


def as_row(tried: Tried) -> str:
    """Write what came of a fault as a row of Markdown."""
    return f"| {tried.about} | {tried.runs} | {' '.join(tried.outcome.split())} |"


if __name__ == "__main__":
    sys.exit(main())
