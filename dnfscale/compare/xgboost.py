"""XGBoost, tuned: a competitor. It splits categories natively."""

from __future__ import annotations

from typing import Any

import numpy as np

from dnfscale.compare.rows import Matrix
from dnfscale.compare.trial import Fit, Known, Params, check_deadline
from dnfscale.compare.tuning import Suggest, TunedCompetitor
from dnfscale.core.arrays import Ints
from dnfscale.spec.registry import COMPETITORS


def suggest(trial: Suggest) -> Params:
    """Draw parameters from the paper's space; whatever is not in it keeps its default.

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


def learn(known: Known, held_out: Matrix, fit: Fit, deadline: float | None) -> Ints:
    """Boost trees on some rows and answer others."""
    import xgboost

    class Deadline(xgboost.callback.TrainingCallback):
        def after_iteration(self, _model: Any, _epoch: int, _log: Any) -> bool:
            check_deadline(deadline)
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


COMPETITORS.register(
    TunedCompetitor(
        name="xgboost", title="XGBoost", colour="green", place=20, suggest=suggest, learn=learn
    )
)
