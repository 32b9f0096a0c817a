"""The black boxes to compare with: random forests and XGBoost, and the spaces their parameters are
drawn from.

The spaces are the paper's; whatever is not in them keeps its default. XGBoost splits categories
natively; forests get them as ordinal codes, in increasing order of value.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from dnfscale.compare.rows import Matrix, RowsPlan, read_rows
from dnfscale.core.arrays import Floats, Ints
from dnfscale.core.splits import TEST, TRAIN, VALIDATION
from dnfscale.results.confusion import Answers
from dnfscale.spec.checks import one_of, seconds, whole
from dnfscale.spec.keys import key
from dnfscale.spec.registry import COMPETITORS, Competitor

Params = Mapping[str, Any]


class Suggest(Protocol):
    """What a parameter space needs from a trial; Optuna's trials have it."""

    def suggest_categorical(self, name: str, choices: list[Any]) -> Any: ...

    def suggest_int(
        self, name: str, low: int, high: int, *, step: int = 1, log: bool = False
    ) -> int: ...

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float: ...


@dataclass(frozen=True, slots=True)
class Budget:
    """How much tuning a method gets in each fold."""

    trials: int = key(whole(1), 100, "tuning trials per fold, drawn by Optuna")
    timeout_s: float | None = key(
        seconds,
        None,
        "a longer trial fails, even one that would never end; default: no limit",
        example=60.0,
    )
    pruner: str = key(
        one_of("none", "median", "halving"),
        "none",
        'stop poor trials after a ninth or a third of their trees: "median", "halving"',
    )
    """none: every trial grows all its trees; median: a trial below the median of the earlier ones
    is stopped; halving: only the best third continues."""


@dataclass(frozen=True, slots=True)
class Fit:
    """One model to fit: on W_train to be scored on W_val, or with the best parameters on W_0 to be
    tested.
    """

    method: str
    fold: int
    params: Params
    seed: int
    final: bool
    timeout_s: float | None = None
    share: Fraction = Fraction(1)
    """The share of the trees to grow: the first of those that the parameters ask for."""

    @property
    def n_trees(self) -> int:
        return max(1, math.ceil(self.share * int(self.params["n_estimators"])))


@dataclass(frozen=True, slots=True)
class Scored:
    """How a model answered the held-out rows, and how long it took."""

    answers: Answers
    """These rows by their class and by their answer, or their weights."""
    seconds: float


def hard_limit_s(fit: Fit) -> float | None:
    """Return the time after which a trial is given up from outside, if it has not stopped by
    itself.

    A learner checks its deadline between trees only, once the rows are read; what it does in
    between may never end.
    """
    return None if fit.timeout_s is None else 2 * fit.timeout_s + 5


class TrialTimeoutError(Exception):
    """A fit took longer than its time limit."""


@dataclass(frozen=True, slots=True, eq=False)
class FitAndScore:
    """Fits and scores models on the worker that has the rows."""

    plan: RowsPlan

    def __call__(self, fit: Fit) -> Scored:
        started = time.perf_counter()
        rows = read_rows(self.plan)
        splits = self.plan.splits
        learned = rows.part(splits, fit.fold, (TRAIN, VALIDATION) if fit.final else (TRAIN,))
        held_out = rows.part(splits, fit.fold, (TEST,) if fit.final else (VALIDATION,))
        # Learners want the classes that occur to be numbered without gaps.
        classes, codes = np.unique(learned.target, return_inverse=True)
        if len(classes) == 1 or not len(held_out.target):
            # One class to learn from: every learner answers with it. No row to answer for: nothing
            # to learn.
            answers = np.full(len(held_out.target), classes[0])
        else:
            deadline = None if fit.timeout_s is None else time.monotonic() + fit.timeout_s
            known = Known(learned.features, codes, learned.sample_weight, rows.categorical)
            answers = classes[LEARNERS[fit.method](known, held_out.features, fit, deadline)]
        by_answer = held_out.by_answer(answers, len(self.plan.classes))
        return Scored(by_answer, round(time.perf_counter() - started, 3))


def suggest_random_forest(trial: Suggest) -> dict[str, Any]:
    """Draw the parameters of a forest."""
    return {
        "max_depth": trial.suggest_categorical("max_depth", [None, 2, 3, 4]),
        "n_estimators": trial.suggest_int("n_estimators", 10, 3000, log=True),
        "criterion": trial.suggest_categorical("criterion", ["gini", "entropy"]),
        "max_features": trial.suggest_categorical(
            "max_features", ["sqrt", "log2", None, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
        ),
        "min_samples_split": trial.suggest_categorical("min_samples_split", [2, 3]),
        "min_samples_leaf": trial.suggest_int("min_samples_leaf", 2, 50),
        "bootstrap": trial.suggest_categorical("bootstrap", [True, False]),
        "min_impurity_decrease": trial.suggest_categorical(
            "min_impurity_decrease", [0.0, 0.01, 0.02, 0.05]
        ),
    }


def suggest_xgboost(trial: Suggest) -> dict[str, Any]:
    """Draw the parameters of boosted trees.

    colsample_bytree is in the authors' script and in the benchmark they take their spaces from; the
    paper omits it.
    """
    return {
        "max_depth": trial.suggest_int("max_depth", 1, 11),
        "n_estimators": trial.suggest_int("n_estimators", 100, 5900, step=200),
        "min_child_weight": trial.suggest_float("min_child_weight", 1.0, 100.0, log=True),
        "subsample": trial.suggest_float("subsample", 0.5, 1.0),
        "learning_rate": trial.suggest_float("learning_rate", 1e-5, 0.7, log=True),
        "colsample_bylevel": trial.suggest_float("colsample_bylevel", 0.5, 1.0),
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.5, 1.0),
        "gamma": trial.suggest_float("gamma", 1e-8, 7.0, log=True),
        "reg_lambda": trial.suggest_float("reg_lambda", 1.0, 4.0, log=True),
        "reg_alpha": trial.suggest_float("reg_alpha", 1e-8, 100.0, log=True),
    }


SPACES: Mapping[str, Callable[[Suggest], dict[str, Any]]] = {
    "random_forest": suggest_random_forest,
    "xgboost": suggest_xgboost,
}


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Rows to learn from, in the form that learners expect."""

    features: Matrix
    target: Ints
    weights: Floats | None
    categorical: tuple[bool, ...]


def _random_forest(known: Known, held_out: Matrix, fit: Fit, deadline: float | None) -> Ints:
    from sklearn.ensemble import RandomForestClassifier

    n_trees = fit.n_trees
    # With a deadline the forest grows in steps; the trees are the same as those grown at once.
    step = n_trees if deadline is None else 50
    params = {**fit.params, "n_estimators": n_trees}
    forest = RandomForestClassifier(
        **params, n_jobs=1, random_state=fit.seed, warm_start=deadline is not None
    )
    for grown in range(min(step, n_trees), n_trees + step, step):
        forest.set_params(n_estimators=min(grown, n_trees))
        forest.fit(known.features, known.target, sample_weight=known.weights)
        _check_deadline(deadline)
    return np.asarray(forest.predict(held_out), dtype=np.int64)


def _xgboost(known: Known, held_out: Matrix, fit: Fit, deadline: float | None) -> Ints:
    import xgboost

    class Deadline(xgboost.callback.TrainingCallback):
        def after_iteration(self, _model: Any, _epoch: int, _log: Any) -> bool:
            _check_deadline(deadline)
            return False

    booster = xgboost.XGBClassifier(
        **{**fit.params, "n_estimators": fit.n_trees},
        n_jobs=1,
        random_state=fit.seed,
        enable_categorical=True,
        feature_types=["c" if is_category else "q" for is_category in known.categorical],
        callbacks=[Deadline()] if deadline is not None else None,
    )
    booster.fit(known.features, known.target, sample_weight=known.weights)
    return np.asarray(booster.predict(held_out), dtype=np.int64)


def _check_deadline(deadline: float | None) -> None:
    if deadline is not None and time.monotonic() > deadline:
        raise TrialTimeoutError("the trial took longer than its timeout_s")


Learner = Callable[[Known, Matrix, Fit, float | None], Ints]
LEARNERS: Mapping[str, Learner] = {"random_forest": _random_forest, "xgboost": _xgboost}
"""For each method, the function that fits on some rows and predicts others."""


COMPETITORS.register(
    Competitor(
        name="random_forest",
        title="Random forest",
        colour="orange",
        family="tuned",
        place=10,
        options=Budget,
    )
)
COMPETITORS.register(
    Competitor(
        name="xgboost", title="XGBoost", colour="green", family="tuned", place=20, options=Budget
    )
)
COMPETITORS.register(
    Competitor(name="one_rule", title="One rule", colour="ochre", family="counted", place=70)
)
COMPETITORS.register(
    Competitor(name="majority", title="Majority", colour="grey", family="counted", place=80)
)
