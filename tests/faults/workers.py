"""Faults of workers: killed, lost, paused, over their memory, cut off, and fought for."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from functools import partial

from tests.deploy.hosts import Host, hosts, why_no_hosts
from tests.deploy.processes import Processes, start_scheduler, start_worker
from tests.faults.fault import IDENTICAL, Fault, NotReadyError
from tests.faults.ground import Ground, demand, meanwhile

SCANS = (
    *("sample columns", "read rows", "locate medians", "collect medians", "associate attributes"),
    *("count types", "count chosen types", "minimize formulas"),
)
BEST_SCANS = (
    *("draw rows", "rank attributes", "try prefixes"),
    *("shorten types", "search terms", "count formulas"),
)
"""What a study of the profile "best" does besides."""
_SEVERAL = 6
_GONE_S = 60
_PAUSED_S = 5
_CUT_S = 18
"""Longer than a silent connection lives, which is 12 s here: Dask takes no less."""


def _survive(ground: Ground, study: str, name: str) -> None:
    """Run a study on the cluster under what has been arranged."""
    try:
        ended = ground.run_on_cluster(ground.spec(study, name))
        ground.check_identical(study, name, ended)
        ground.check_happened()
    finally:
        ground.disarm()


def _kill_in(ground: Ground, phase: str, study: str = "formula") -> None:
    ground.arm("kill", phase)
    _survive(ground, study, ground.new_name())


def _kill_several(ground: Ground) -> None:
    ground.arm("kill", times=_SEVERAL, share=0.3)
    _survive(ground, "formula", ground.new_name())


def _lose_all(ground: Ground) -> None:
    ground.arm("wait", "associate attributes", seconds=2)

    def lose() -> None:
        ground.marked()
        ground.end_workers(signal.SIGKILL)
        time.sleep(_GONE_S)
        ground.start_cluster()

    ended = meanwhile(lose)
    _survive(ground, "formula", ground.new_name())
    ended()


def _pause(ground: Ground) -> None:
    ground.arm("pause", "count types")

    def resume() -> None:
        process = ground.marked()
        time.sleep(_PAUSED_S)
        os.kill(process, signal.SIGCONT)

    ended = meanwhile(resume)
    _survive(ground, "formula", ground.new_name())
    ended()


def _freeze(ground: Ground, phase: str = "count types", study: str = "formula") -> None:
    ground.arm("pause", phase)
    name = ground.new_name()
    _survive(ground, study, name)
    events = (ground.output(name) / "events.jsonl").read_text(encoding="utf-8")
    demand('"worker_silent"' in events, "nobody was told that a worker does not answer")
    demand('"worker_lost"' in events, "nobody was told that a worker was thrown out")


def _overeat(ground: Ground) -> None:
    ground.arm("eat", "associate attributes")
    _survive(ground, "formula", ground.new_name())


def _fight(ground: Ground) -> None:
    """Two jobs at once on the same two workers, one of which is killed."""
    ground.start_cluster()
    ground.arm("kill", "count types")
    names = ground.new_name(), ground.new_name()
    other = ground.start_runner(ground.spec("formula", names[1]), "--scheduler", ground.address)
    try:
        _survive(ground, "formula", names[0])
    finally:
        ended = ground.wait_for_runner(other)
    ground.check_identical("formula", names[1], ended)


def _cut(ground: Ground) -> None:
    """Cut the network of one worker for longer than a connection lives, and restore it."""
    reason = why_no_hosts()
    if reason is not None:
        raise NotReadyError(reason)
    folder = ground.folder / "hosts"
    folder.mkdir(exist_ok=True)
    brief = {**ground.environment, "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s"}
    name = ground.new_name()
    ground.arm("wait", "count types", seconds=3)
    with hosts(3) as (first, *others), Processes(folder) as processes:
        address = start_scheduler(processes, None, host=first.address, before=first.inside, **brief)
        for number, host in enumerate(others):
            start_worker(
                processes, address, None, name=f"worker{number}", before=host.inside, **brief
            )
        spec = ground.spec(
            "formula", name, cluster={"kind": "address", "address": address, "insecure": True}
        )
        runner = processes.start(
            "runner",
            [*first.inside, *ground.runner_command(spec)],
            **brief,
        )
        ground.marked()
        _link(others[0], "down")
        time.sleep(_CUT_S)
        _link(others[0], "up")
        ended = ground.wait_for_logged(runner, folder / "runner.log")
        processes.end_all()
    ground.disarm()
    ground.check_identical("formula", name, ended)


def _link(host: Host, state: str) -> None:
    subprocess.run(
        ["ip", "-n", host.name, "link", "set", "eth0", state], check=True, capture_output=True
    )


FAULTS = (
    *(
        Fault(
            f"kill-{phase.replace(' ', '-')}",
            f'a worker killed (-9) in "{phase}"',
            IDENTICAL,
            partial(_kill_in, phase=phase),
        )
        for phase in SCANS
    ),
    *(
        Fault(
            f"kill-{phase.replace(' ', '-')}",
            f'a worker killed (-9) in "{phase}" of the profile "best"',
            IDENTICAL,
            partial(_kill_in, phase=phase, study="best"),
        )
        for phase in BEST_SCANS
    ),
    Fault(
        "kill-trial",
        "a worker killed (-9) in a trial of a baseline",
        IDENTICAL,
        partial(_kill_in, phase="tune baselines", study="tuned"),
    ),
    Fault(
        "kill-several",
        f"{_SEVERAL} workers killed (-9) at random in one job",
        IDENTICAL,
        _kill_several,
    ),
    Fault("lose-all", f"all workers lost, others back after {_GONE_S} s", IDENTICAL, _lose_all),
    Fault("pause", f"a worker paused (SIGSTOP) for {_PAUSED_S} s", IDENTICAL, _pause),
    Fault("freeze", "a worker frozen (SIGSTOP) for good", IDENTICAL, _freeze),
    Fault(
        "freeze-search",
        'a worker frozen (SIGSTOP) for good in "search terms" of the profile "best"',
        IDENTICAL,
        partial(_freeze, phase="search terms", study="best"),
    ),
    Fault("memory", "a worker over its memory limit", IDENTICAL, _overeat),
    Fault("network", f"the network of a worker cut for {_CUT_S} s", IDENTICAL, _cut),
    Fault(
        "two-jobs",
        "two jobs at once on the same workers, one of which is killed",
        IDENTICAL,
        _fight,
    ),
)
