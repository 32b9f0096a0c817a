"""Faults of fits that all workers do together: one of them killed, and all of them lost."""

from __future__ import annotations

import json
import signal
import time

from tests.faults.fault import Fault
from tests.faults.ground import Ground, demand, meanwhile

REPEATED = "the fit is repeated, the study ends"
_GONE_S = 5


def _kill_first(ground: Ground) -> None:
    ground.arm("kill", "fit together")
    _survive(ground)


def _kill_in_the_middle(ground: Ground) -> None:
    ground.arm("kill later", "fit together", seconds=3)
    _survive(ground)


def _lose_all(ground: Ground) -> None:
    ground.arm("wait", "fit together", times=2, seconds=2)

    def lose() -> None:
        ground.marked()
        ground.end_workers(signal.SIGKILL)
        time.sleep(_GONE_S)
        ground.start_cluster()

    ended = meanwhile(lose)
    _survive(ground)
    ended()


def _survive(ground: Ground) -> None:
    """Run a study with a fit of all workers under what has been arranged."""
    name = ground.new_name()
    try:
        ended = ground.run_on_cluster(ground.spec("joint", name))
        ground.check_happened()
    finally:
        ground.disarm()
    demand(ended.code == 0, f"expected exit code 0, got {ended.code}: {ended.err[-600:]}")
    demand("Traceback" not in ended.err, f"a traceback: {ended.err[-1500:]}")
    found = json.loads((ground.output(name) / "result.json").read_text(encoding="utf-8"))
    quiet = json.loads(ground.quiet("joint"))
    figures, others = (result["methods"].pop("xgboost") for result in (found, quiet))
    demand(figures["where"] == "cluster", "XGBoost was not fitted by all workers together")
    demand(figures["reproducible"] is False, "figures that may differ are not marked")
    demand(figures["failed_folds"] == 0, f"a fold failed: {figures['folds']}")
    off = abs(figures["accuracy_mean"] - others["accuracy_mean"])
    demand(off < 0.005, f"the accuracy is another by {off}")
    demand(found["methods"] == quiet["methods"], "another method has another result")
    ground.check_left(name)


FAULTS = (
    Fault("joint-first", "a worker killed when a distributed fit begins", REPEATED, _kill_first),
    Fault("joint-kill", "a worker killed in a distributed fit", REPEATED, _kill_in_the_middle),
    Fault("joint-lost", "all workers lost in a distributed fit", REPEATED, _lose_all),
)
