"""Faults of trials: one that kills every worker it meets, and one that never ends."""

from __future__ import annotations

import json
from typing import Any

from tests.faults.fault import Fault
from tests.faults.ground import FIRST_TREES, STUDIES, Ground, demand
from tests.jobs.running import essence

FAILED = "trial recorded as failed, the rest identical"
_ALWAYS = 1000


def _crash(ground: Ground) -> None:
    ground.arm("kill", "tune baselines", times=_ALWAYS, trees=FIRST_TREES)
    _lose_trial(ground, {})


def _hang(ground: Ground) -> None:
    ground.arm("wait", "tune baselines", times=_ALWAYS, seconds=3600, trees=FIRST_TREES)
    _lose_trial(ground, {"timeout_s": 2})


def _lose_trial(ground: Ground, more: dict[str, Any]) -> None:
    """Run a study whose first trial cannot succeed."""
    name = ground.new_name()
    forest = {**STUDIES["tuned"]["baselines.random_forest"], **more}
    ended = ground.run_on_cluster(ground.spec("tuned", name, **{"baselines.random_forest": forest}))
    tries = ground.marks()
    ground.disarm()
    demand(ended.code == 0, f"expected exit code 0, got {ended.code}: {ended.err[-600:]}")
    demand("Traceback" not in ended.err, f"a traceback: {ended.err[-1500:]}")
    demand(tries >= 2, f"the trial was tried {tries} times only")
    found = json.loads(essence(ground.output(name) / "result.json"))
    quiet = json.loads(ground.quiet("tuned"))
    lost = found["methods"]["random_forest"]["folds"].pop(0)
    quiet["methods"]["random_forest"]["folds"].pop(0)
    demand(lost["tuning"]["failed_trials"] == 1, f"expected one failed trial in {lost}")
    for result in (found, quiet):
        for summary in ("accuracy_mean", "accuracy_std"):
            result["methods"]["random_forest"].pop(summary, None)
        result["comparisons"] = [
            one for one in result["comparisons"] if one["other"] != "random_forest"
        ]
        result.pop("name")
    demand(found == quiet, "another part of the result is another")
    ground.check_left(name)


FAULTS = (
    Fault("trial-crashes", "a trial that kills its worker, every time", FAILED, _crash),
    Fault("trial-hangs", "a trial that never ends (`timeout_s`)", FAILED, _hang),
)
