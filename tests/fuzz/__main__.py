"""The command: a process that makes and checks inputs, and one that watches it.

What the inner process cannot tell of itself (that it crashed, hung where no signal reaches it, or
ran out of memory) the outer one tells by the number of the input at hand, and goes on with the
next.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.kinds import KINDS, SHARES, check_files, files_of
from tests.fuzz.verdict import TIME_LIMIT_S, FuzzError

MEMORY_BYTES = 6 << 30
_STUCK_CPU_S = 3 * TIME_LIMIT_S
_STUCK_S = 900.0
"""How long an input may take before its process is ended from outside: of the processor's time, and
by the clock.
"""
_FOLDER = next((folder for folder in ("/dev/shm",) if os.access(folder, os.W_OK)), None)
"""Where the files of an input lie: in memory, where there is a place for it."""


def main() -> int:
    """Fuzz, and return 1 where something failed."""
    options = _parser().parse_args()
    if options.inner is not None:
        return _inner(options)
    kinds = [options.kind] if options.kind else list(KINDS)
    failed = total = 0
    for kind in kinds:
        count = (
            options.count
            if options.kind
            else -(-options.count * SHARES[kind] // sum(SHARES.values()))
        )
        started = time.monotonic()
        failures = _watched(kind, options, count)
        elapsed = time.monotonic() - started
        failed, total = failed + failures, total + count
        print(
            (
                f"{kind:<7} {count:>9,} inputs {elapsed:>8.1f} s {count / elapsed:>8,.0f}/s  "
                f"{failures} failed"
            ),
            flush=True,
        )
    print(f"{'in all':<7} {total:>9,} inputs, {failed} failed")
    return 1 if failed else 0


def _watched(kind: str, options: argparse.Namespace, count: int) -> int:
    """Run the inner process, again after each crash, and return how many inputs failed."""
    failures, next_number, end = 0, options.first, options.first + count
    with tempfile.TemporaryDirectory(dir=_FOLDER) as name:
        place = Path(name, "at")
        while next_number < end:
            place.write_text(f"{next_number} 0")
            inner = [*(sys.executable, "-m", "tests.fuzz", "--inner", str(place), "--kind", kind)]
            inner += [
                "--seed",
                str(options.seed),
                "--first",
                str(next_number),
                "--count",
                str(end - next_number),
            ]
            if options.keep:
                inner += ["--keep", options.keep]
            process = subprocess.Popen(inner)
            stuck = _wait(process, place)
            number, failed = map(int, place.read_text().split())
            failures += failed
            if not stuck and process.returncode == 0:
                break
            failures += 1
            how = "did not come to an end" if stuck else f"ended with {process.returncode}"
            print(f"FAILED {kind} {number} of seed {options.seed}: the process {how}", flush=True)
            _keep(options.keep, kind, options.seed, number)
            next_number = number + 1
    return failures


def _wait(process: subprocess.Popen[bytes], place: Path) -> bool:
    """Wait for a process; end it, and return True, where the number it is at does not change for
    too long.
    """
    seen, since, used = "", time.monotonic(), 0.0
    while process.poll() is None:
        time.sleep(0.1)
        now = place.read_text()
        if now != seen:
            seen, since, used = now, time.monotonic(), _cpu_s(process.pid)
        if time.monotonic() - since > _STUCK_S or _cpu_s(process.pid) - used > _STUCK_CPU_S:
            process.kill()
            process.wait()
            return True
    return False


def _cpu_s(pid: int) -> float:
    """Return the processor's time that a process has used."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _inner(options: argparse.Namespace) -> int:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    failures = 0
    with tempfile.TemporaryDirectory(dir=_FOLDER) as name, Path(options.inner).open("r+") as place:
        os.chdir(name)
        for number in range(options.first, options.first + options.count):
            os.pwrite(place.fileno(), f"{number} {failures}".encode(), 0)
            try:
                check_files(options.kind, files_of(options.kind, options.seed, number), Path(name))
            except FuzzError as failure:
                failures += 1
                print(
                    f"FAILED {options.kind} {number} of seed {options.seed}: {failure}\n",
                    flush=True,
                )
                _keep(options.keep, options.kind, options.seed, number)
        os.pwrite(place.fileno(), f"{number} {failures}".encode(), 0)
    return 0


def _keep(folder: str | None, kind: str, seed: int, number: int) -> None:
    """Write the files of an input that failed, for the corpus."""
    if folder is None:
        return
    for name, content in files_of(kind, seed, number).items():
        file = Path(folder, kind, f"{seed}-{number}", name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Make bad input and see what becomes of it."
    )
    parser.add_argument("--count", type=int, default=1000, help="inputs to make")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--first",
        type=int,
        default=0,
        help="the number of the first input; with --count 1 that one only",
    )
    parser.add_argument(
        "--kind",
        choices=list(KINDS),
        help="only this kind (default: all, most of them the quick ones)",
    )
    parser.add_argument("--keep", metavar="DIR", help="keep the files of inputs that fail")
    parser.add_argument("--inner", help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
