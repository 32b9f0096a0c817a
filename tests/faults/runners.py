"""Faults of those who run a job: its scheduler, its runner, and the runner's clock."""

from __future__ import annotations

import os
import shutil
import signal
from functools import partial
from pathlib import Path
from typing import Any

from tests.faults.acting import CLOCK_S
from tests.faults.fault import IDENTICAL, RESUMED, Fault
from tests.faults.ground import Ground, demand, meanwhile

_LOCAL = {"kind": "local", "workers": 2, "memory_limit": "1GiB"}
_LOST_S = 20


def _kill_scheduler(ground: Ground) -> None:
    name = ground.new_name()
    spec = ground.spec("formula", name)
    ground.start_cluster()
    ground.arm("wait", "count types", seconds=3)

    def kill() -> None:
        ground.marked()
        ground.end_cluster(signal.SIGKILL)

    ended = meanwhile(kill)
    refused = ground.run_on_cluster(spec)
    ended()
    ground.disarm()
    ground.check_refused(name, refused, 4, "go on with --resume")
    ground.check_identical("formula", name, ground.run_on_cluster(spec, "--resume"))


def _freeze_scheduler(ground: Ground) -> None:
    name = ground.new_name()
    spec = ground.spec("formula", name)
    ground.start_cluster()
    ground.arm("wait", "count types", seconds=3)

    def freeze() -> None:
        ground.marked()
        os.kill(ground.processes.pids()[0], signal.SIGSTOP)

    ended = meanwhile(freeze)
    refused = ground.run_on_cluster(spec, "--set", f"cluster.lost_timeout_s={_LOST_S}")
    ended()
    ground.disarm()
    ground.end_cluster(signal.SIGKILL)
    ground.check_refused(name, refused, 4, "go on with --resume")
    ground.check_identical("formula", name, ground.run_on_cluster(spec, "--resume"))


def _end_runner(
    ground: Ground, numbers: tuple[signal.Signals, ...], codes: tuple[int, ...]
) -> None:
    """End a runner, and with it the cluster that it has started; what it had counted is gone on
    with.
    """
    name = ground.new_name()
    spec = ground.spec("formula", name, cluster=_LOCAL)
    ground.arm("wait", "count types", seconds=3)
    runner = ground.start_runner(spec)
    ground.marked()
    for number in numbers:
        os.kill(runner.pid, number)
    ended = ground.wait_for_runner(runner)
    ground.disarm()
    demand(ended.code in codes, f"expected exit code {codes}, got {ended.code}: {ended.err[-600:]}")
    demand("Traceback" not in ended.err, f"a traceback: {ended.err[-1500:]}")
    demand(
        not (ground.output(name) / "result.json").exists(),
        "there is a result, though the runner was ended",
    )
    again = ground.run_on_cluster(spec, "--resume")
    events = (ground.output(name) / "events.jsonl").read_text(encoding="utf-8")
    demand('"recalled"' in events, "nothing that was finished was kept")
    ground.check_identical("formula", name, again)


def _same_command(ground: Ground, study: str, phase: str) -> None:
    """Kill a runner on a cluster, and give the same command again, which goes on by itself."""
    name, spec = _killed_in(ground, study, phase)
    again = ground.run_on_cluster(spec)
    demand("goes on with an earlier run" in again.err, f"it did not go on: {again.err[:600]}")
    ground.check_identical(study, name, again)


def _another_file(ground: Ground) -> None:
    """Kill a runner, and replace a file before the run goes on; then bring the file back."""
    data = ground.folder / "changing"
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(ground.folder / "table", data)
    file = data / "1.parquet"
    name, spec = _killed_in(ground, "formula", "count types", data={"path": data.name})
    times = file.stat()
    file.rename(data / "_aside")
    shutil.copy(data / "2.parquet", file)
    refused = ground.run_on_cluster(spec, "--resume")
    ground.check_refused(name, refused, 3, "this file has changed since")
    (data / "_aside").rename(file)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    again = ground.run_on_cluster(spec)
    demand("goes on with an earlier run" in again.err, f"it did not go on: {again.err[:600]}")
    ground.check_identical("formula", name, again)
    shutil.rmtree(data)


def _new_file(ground: Ground) -> None:
    """Kill a runner, and replace a file for good: the same command begins anew with it."""
    data = ground.folder / "changing"
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(ground.folder / "table", data)
    (data / "1.parquet").unlink()
    shutil.copy(data / "2.parquet", data / "1.parquet")
    name, spec = _killed_in(ground, "formula", "count types", data={"path": data.name})
    shutil.copy(ground.folder / "table" / "1.parquet", data / "1.parquet")
    again = ground.run_on_cluster(spec)
    demand("starts anew, as the data" in again.err, f"it did not say so: {again.err[-600:]}")
    ground.check_identical("formula", name, again)
    shutil.rmtree(data)


def _killed_in(ground: Ground, study: str, phase: str, **tables: Any) -> tuple[str, Path]:
    """Kill a runner at work on a phase, and return the job's name and spec."""
    name = ground.new_name()
    spec = ground.spec(study, name, **tables)
    ground.start_cluster()
    ground.arm("wait", phase, seconds=3)
    runner = ground.start_runner(spec, "--scheduler", ground.address)
    ground.marked()
    os.kill(runner.pid, signal.SIGKILL)
    ended = ground.wait_for_runner(runner)
    ground.disarm()
    demand(ended.code == -signal.SIGKILL, f"the runner was done before: {ended.code}")
    return name, spec


def _jump(ground: Ground, seconds: int) -> None:
    """Have the clock of the runner and its workers jump in the middle."""
    name = ground.new_name()
    spec = ground.spec("formula", name, cluster=_LOCAL)
    ground.arm("wait", "associate attributes", seconds=0.5)
    ended = ground.wait_for_runner(ground.start_runner(spec, **{CLOCK_S: str(seconds)}))
    ground.check_happened()
    ground.disarm()
    ground.check_identical("formula", name, ended)


FAULTS = (
    Fault("scheduler", "the scheduler killed (exit code 4)", RESUMED, _kill_scheduler),
    Fault(
        "scheduler-freeze",
        "the scheduler frozen (SIGSTOP) for good (4)",
        RESUMED,
        _freeze_scheduler,
    ),
    Fault(
        "runner-kill",
        "the runner killed (-9)",
        RESUMED,
        partial(_end_runner, numbers=(signal.SIGKILL,), codes=(-signal.SIGKILL,)),
    ),
    Fault(
        "runner-term",
        "the runner ended by SIGTERM (143)",
        RESUMED,
        partial(_end_runner, numbers=(signal.SIGTERM,), codes=(143,)),
    ),
    Fault(
        "runner-ctrl-c",
        "Ctrl-C twice (130)",
        RESUMED,
        partial(_end_runner, numbers=(signal.SIGINT, signal.SIGINT), codes=(130,)),
    ),
    Fault(
        "same-command",
        "the runner killed (-9), then the same command without --resume",
        RESUMED,
        partial(_same_command, study="formula", phase="count types"),
    ),
    Fault(
        "same-command-search",
        'the runner killed (-9) in "search terms" of the profile "best", then the same command',
        RESUMED,
        partial(_same_command, study="best", phase="search terms"),
    ),
    Fault(
        "another-file",
        "the runner killed (-9), another file before --resume (3), then the same command",
        RESUMED,
        _another_file,
    ),
    Fault(
        "new-file",
        "the runner killed (-9), another file for good, then the same command",
        "begins anew and says so, result of the new files",
        _new_file,
    ),
    Fault(
        "clock-forward", "the clock jumps a day forward", IDENTICAL, partial(_jump, seconds=86_400)
    ),
    Fault("clock-back", "the clock jumps a day back", IDENTICAL, partial(_jump, seconds=-86_400)),
)
