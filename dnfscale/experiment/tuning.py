"""Tuning by Optuna, asked and told from the driver in a fixed order.

Each (method, fold) is a chain: its trials follow one another, because what Optuna draws next depends on the results
before; chains run side by side, which keeps all workers busy while the answer does not depend on their number. A chain
records every trial it finishes. When it runs again, it asks Optuna the same questions, takes the recorded answers, and
continues where the records end.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from dnfscale.engine.api import Failure
from dnfscale.experiment.baselines import SPACES, Fit, Scored


class Notes(Protocol):
    """The finished steps of a chain, kept where a crash does not reach them."""

    def recall(self, chain: str) -> list[dict[str, Any]]: ...

    def note(self, chain: str, entry: dict[str, Any]) -> None: ...


@dataclass(frozen=True, slots=True)
class Budget:
    """How much tuning a method gets in each fold."""

    trials: int = 100
    timeout_s: float | None = None
    """How long one trial may take; a trial that takes longer fails."""
    pruner: str = "none"
    """Which trials are stopped after a ninth or a third of their trees: see PRUNERS."""


PRUNERS = ("none", "median", "halving")
"""none: every trial grows all its trees; median: a trial below the median of the earlier ones is stopped; halving: only
the best third continues."""
_RUNGS = (Fraction(1, 9), Fraction(1, 3))
"""The shares of a trial's trees after which it may be stopped; the trees are the first of those it would grow."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """The outcome of a chain."""

    method: str
    fold: int
    params: dict[str, Any]
    validation_correct: int
    validation_rows: int
    test_correct: int
    test_rows: int
    trials: int
    failed_trials: int
    pruned_trials: int
    seconds: float
    """Time spent in tasks, whether run now or recorded earlier."""


@dataclass(frozen=True, slots=True)
class Untuned:
    """A chain without an outcome: no trial succeeded, or the last fit did not."""

    method: str
    fold: int
    error: str


def tune(
    method: str, fold: int, budget: Budget, *, seed: int, notes: Notes
) -> Generator[Fit, Scored | Failure, Tuned | Untuned]:
    """Draw trials, keep the best on W_val (the first in a tie), fit it on W_0 and test it."""
    # Optuna takes half a second to import, which a job without tuning is spared.
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    name = f"{method}-fold{fold}"
    chain_seed = zlib.crc32(f"{seed} {name}".encode())
    noted = notes.recall(name)
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=chain_seed), pruner=_pruner(budget.pruner)
    )
    best: tuple[int, dict[str, Any], int] | None = None
    failed = pruned = 0
    seconds = 0.0
    error = ""
    for number in range(budget.trials):
        trial = study.ask()
        params = SPACES[method](trial)
        fit = Fit(method, fold, params, chain_seed, final=False, timeout_s=budget.timeout_s)
        parts = [*(replace(fit, share=share) for share in _RUNGS if budget.pruner != "none"), fit]
        for rung, part in enumerate(parts):
            step = f"trial {number}" if part is fit else f"trial {number} rung {rung}"
            entry = yield from _entry(name, step, part, noted, notes)
            seconds += entry["seconds"]
            if entry["error"] is not None or part is fit:
                break
            trial.report(entry["correct"] / max(1, entry["rows"]), rung)
            if trial.should_prune():
                break
        if entry["error"] is None and part is not fit:
            pruned += 1
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            continue
        if entry["error"] is not None:
            failed += 1
            error = entry["error"]
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        study.tell(trial, entry["correct"] / max(1, entry["rows"]))
        if best is None or entry["correct"] > best[0]:
            best = entry["correct"], params, entry["rows"]
    if best is None:
        return Untuned(method, fold, f"no trial succeeded; the last said: {error}")
    validation_correct, params, validation_rows = best
    entry = yield from _entry(name, "final", Fit(method, fold, params, chain_seed, final=True), noted, notes)
    if entry["error"] is not None:
        return Untuned(method, fold, entry["error"])
    return Tuned(
        method=method,
        fold=fold,
        params=params,
        validation_correct=validation_correct,
        validation_rows=validation_rows,
        test_correct=entry["correct"],
        test_rows=entry["rows"],
        trials=budget.trials,
        failed_trials=failed,
        pruned_trials=pruned,
        seconds=seconds + entry["seconds"],
    )


def _pruner(name: str) -> Any:
    import optuna

    if name == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=5)
    if name == "halving":
        return optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3)
    return optuna.pruners.NopPruner()


def _entry(
    chain: str, step: str, fit: Fit, noted: list[dict[str, Any]], notes: Notes
) -> Generator[Fit, Scored | Failure, dict[str, Any]]:
    """Return the result of a fit: from the records if it is there, else by having it done and recording it."""
    if noted and noted[0]["step"] == step and noted[0]["params"] == dict(fit.params):
        return noted.pop(0)
    noted.clear()
    answer = yield fit
    entry: dict[str, Any] = {"step": step, "params": dict(fit.params)}
    if isinstance(answer, Failure):
        entry |= {"correct": 0, "rows": 0, "seconds": 0.0, "error": answer.message}
    else:
        entry |= {"correct": answer.correct, "rows": answer.rows, "seconds": answer.seconds, "error": None}
    notes.note(chain, entry)
    return entry
