"""Faults of `evaluate` on a cluster: its workers killed or frozen, and its reader gone."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import Any

from dnfscale.engine.dask.settings import ALLOWED_FAILURES
from tests.faults.fault import IDENTICAL, REFUSED, Fault
from tests.faults.ground import PATIENCE_S, Ground, demand
from tests.jobs.running import command, surroundings

_PHASE = "evaluate"


def _kill(ground: Ground) -> None:
    _survive(ground, "kill", times=2)


def _freeze(ground: Ground) -> None:
    _survive(ground, "pause", times=1)


def _survive(ground: Ground, act: str, times: int) -> None:
    expected = _evaluated(ground)
    ground.start_cluster()
    ground.arm(act, _PHASE, times=times)
    try:
        found = _evaluated(ground, "--scheduler", ground.address)
        ground.check_happened(times)
    finally:
        ground.disarm()
    demand(found == expected, "the evaluation is another")


def _always_kill(ground: Ground) -> None:
    """Kill every worker that begins, until the scan is given up."""
    ground.start_cluster()
    ground.arm("kill", _PHASE, times=10 * ALLOWED_FAILURES)
    try:
        ended = _ended(ground, "--scheduler", ground.address)
        ground.check_happened(ALLOWED_FAILURES)
    finally:
        ground.disarm()
    _demand_told(ended, 4, "dnfscale: ")


def _leave(ground: Ground) -> None:
    """Close the pipe that an evaluation is to be printed to, while it is made."""
    ground.start_cluster()
    ground.arm("wait", _PHASE, seconds=2)
    process = _started(ground, "--scheduler", ground.address)
    try:
        ground.marked()
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        code = process.wait(timeout=PATIENCE_S)
        process.stderr.close()
    finally:
        ground.disarm()
    _demand_told(subprocess.CompletedProcess([], code, "", said), 141, "")


def _evaluated(ground: Ground, *options: str) -> dict[str, Any]:
    ended = _ended(ground, *options)
    _demand_told(ended, 0, "")
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def _demand_told(ended: subprocess.CompletedProcess[str], code: int, said: str) -> None:
    told = ended.stderr
    demand(ended.returncode == code, f"expected code {code}, got {ended.returncode}: {told[-600:]}")
    demand("Traceback" not in told, f"a traceback: {told[-1500:]}")
    demand(said in told, f"expected {said!r} in: {told[-600:]}")


def _ended(ground: Ground, *options: str) -> subprocess.CompletedProcess[str]:
    process = _started(ground, *options)
    try:
        out, err = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        demand(False, "the evaluation hangs")
    return subprocess.CompletedProcess([], process.returncode, out, err)


def _started(ground: Ground, *options: str) -> subprocess.Popen[str]:
    ground.quiet("formula")
    model = ground.output("quiet-formula") / "model.json"
    return subprocess.Popen(
        command("evaluate", model, ground.folder / "table", "--json", "--slices", "s", *options),
        cwd=ground.folder,
        env=surroundings(**ground.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


FAULTS = (
    Fault("evaluate-kill", "two workers killed (-9) in `evaluate`", IDENTICAL, _kill),
    Fault(
        "evaluate-freeze", "a worker frozen (SIGSTOP) for good in `evaluate`", IDENTICAL, _freeze
    ),
    Fault(
        "evaluate-crashes",
        "every worker killed (-9) that begins to `evaluate` (exit code 4)",
        REFUSED,
        _always_kill,
    ),
    Fault("evaluate-unread", "the reader of what `evaluate` prints gone (141)", REFUSED, _leave),
)
