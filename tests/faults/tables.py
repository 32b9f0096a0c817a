"""Faults of tables that are made before rows are read: texts that become Parquet, and related rows
that are joined.
"""

from __future__ import annotations

import os
import shutil
import signal
from functools import partial
from pathlib import Path

from tests.faults.fault import IDENTICAL, RESUMED, Fault
from tests.faults.ground import Ground, demand
from tests.faults.storage import small_disk

TEXTS, RELATED = "texts", "related"
"""The studies; what each writes first is called `convert` and `relate` on workers."""
PHASES = {TEXTS: "convert", RELATED: "relate"}


def _kill(ground: Ground, study: str) -> None:
    """Kill three workers at work on a table."""
    _forget(ground)
    ground.arm("kill", PHASES[study], times=3, share=0.5)
    name = ground.new_name()
    try:
        ended = ground.run_on_cluster(ground.spec(study, name))
        ground.check_happened()
    finally:
        ground.disarm()
    _check(ground, study, name, ended)


def _kill_runner(ground: Ground, study: str) -> None:
    """Kill the runner while a table is written; the same command again goes on with it."""
    name = _left_behind(ground, study)
    spec = ground.folder / f"{name}.toml"
    _check(ground, study, name, ground.run_on_cluster(spec))


def _tear(ground: Ground) -> None:
    """Cut short a part that a killed runner has left, beside one that was never given its name."""
    name = _left_behind(ground, TEXTS)
    [*parts] = sorted(_tables(ground).glob("*/part-*.parquet"))
    demand(parts, "no part was written before the runner was killed")
    os.truncate(parts[0], parts[0].stat().st_size // 2)
    (parts[0].parent / ".draft-0123456789abcdef").write_bytes(parts[0].read_bytes())
    _check(ground, TEXTS, name, ground.run_on_cluster(ground.folder / f"{name}.toml"))


def _left_behind(ground: Ground, study: str) -> str:
    """Have a runner killed that has written a part of a table, and return the job's name."""
    _forget(ground)
    name = ground.new_name()
    spec = ground.spec(study, name)
    ground.start_cluster()
    # The last of its pieces wait, on one of two workers; the others are written.
    ground.arm("wait", PHASES[study], seconds=5)
    runner = ground.start_runner(spec, "--scheduler", ground.address)
    try:
        ground.marked()
        ground.processes.wait_for(
            lambda: (
                any(_tables(ground).glob("*/*.parquet")) or any(_tables(ground).glob("*/_main-*"))
            ),
            "a part of a table",
        )
    finally:
        os.kill(runner.pid, signal.SIGKILL)
        ended = ground.wait_for_runner(runner)
        ground.disarm()
    demand(ended.code == -signal.SIGKILL, f"the runner was done before: {ended.code}")
    demand(not any(_tables(ground).glob("*/_whole.json")), "the table was written already")
    return name


def _fill(ground: Ground, study: str) -> None:
    """Have no room for a table; then make room."""
    _forget(ground)
    name = ground.new_name()
    spec = ground.spec(study, name)
    with small_disk(_tables(ground), kib=64) as enlarge:
        ended = ground.run_on_cluster(spec)
        ground.check_refused(name, ended, 5, "free some room, and run again")
        enlarge(64 << 10)
        _check(ground, study, name, ground.run_on_cluster(spec))


def _check(ground: Ground, study: str, name: str, ended: object) -> None:
    ground.check_identical(study, name, ended)  # type: ignore[arg-type]
    whole = sorted(_tables(ground).glob("*/_whole.json"))
    demand(len(whole) == 1, f"expected one table that is whole, found {whole}")
    left = [
        file.name
        for file in _tables(ground).rglob("*")
        if file.suffix == ".lock"
        or file.name.startswith((".draft", "_main", "_related", "_bucket"))
    ]
    demand(not left, f"left behind: {left}")


def _tables(ground: Ground) -> Path:
    return ground.folder / "runs" / ".tables"


def _forget(ground: Ground) -> None:
    """Let tables be written anew."""
    for study in PHASES:
        ground.quiet(study)
    shutil.rmtree(_tables(ground), ignore_errors=True)


FAULTS = (
    Fault(
        "convert-kill",
        "three workers killed (-9) in the conversion of CSV files",
        IDENTICAL,
        partial(_kill, study=TEXTS),
    ),
    Fault(
        "convert-runner",
        "the runner killed (-9) in the conversion of CSV files, then the same command",
        RESUMED,
        partial(_kill_runner, study=TEXTS),
    ),
    Fault(
        "convert-torn",
        "a part of an interrupted conversion cut short, then the same command",
        RESUMED,
        _tear,
    ),
    Fault(
        "convert-full",
        "no room for the Parquet of CSV files (exit code 5)",
        RESUMED,
        partial(_fill, study=TEXTS),
    ),
    Fault(
        "relate-kill",
        "three workers killed (-9) in the join of related tables",
        IDENTICAL,
        partial(_kill, study=RELATED),
    ),
    Fault(
        "relate-runner",
        "the runner killed (-9) in the join of related tables, then the same command",
        RESUMED,
        partial(_kill_runner, study=RELATED),
    ),
    Fault(
        "relate-full",
        "no room for the join of related tables (5)",
        RESUMED,
        partial(_fill, study=RELATED),
    ),
)
