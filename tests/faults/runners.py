"""Faults of those who run a job: its scheduler, its runner, and the runner's clock."""

from __future__ import annotations

import os
import signal
from functools import partial

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
        "clock-forward", "the clock jumps a day forward", IDENTICAL, partial(_jump, seconds=86_400)
    ),
    Fault("clock-back", "the clock jumps a day back", IDENTICAL, partial(_jump, seconds=-86_400)),
)
