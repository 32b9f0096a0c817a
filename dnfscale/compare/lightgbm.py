"""LightGBM, tuned: a competitor. It splits categories natively, and missing values go to the better
side of a split.
"""

from __future__ import annotations

import math
from typing import Any

from dnfscale.compare.trial import Answer, Fit, Known, Params, answer_of, check_deadline
from dnfscale.compare.tuning import BoostingBudget, Suggest, TunedCompetitor
from dnfscale.spec.registry import COMPETITORS


def suggest(trial: Suggest) -> Params:
    """Draw parameters from a published space; whatever is not in it keeps its default.

    It is that of Hollmann, Müller, Eggensperger and Hutter, «TabPFN» (ICLR 2023, arXiv 2207.01848),
    as their code has it (automl/TabPFN, tabular_baselines.py), where the upper ends of whole
    numbers are left out.
    """
    return {
        "num_leaves": trial.suggest_int("num_leaves", 5, 49),
        "max_depth": trial.suggest_int("max_depth", 3, 19),
        "learning_rate": trial.suggest_float("learning_rate", math.exp(-3), 1.0, log=True),
        "n_estimators": trial.suggest_int("n_estimators", 50, 1999),
        "min_child_weight": trial.suggest_categorical(
            "min_child_weight", [1e-5, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0, 10000.0]
        ),
        "subsample": trial.suggest_float("subsample", 0.2, 0.8),
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.2, 0.8),
        "reg_alpha": trial.suggest_categorical(
            "reg_alpha", [0.0, 0.1, 1.0, 2.0, 5.0, 7.0, 10.0, 50.0, 100.0]
        ),
        "reg_lambda": trial.suggest_categorical(
            "reg_lambda", [0.0, 0.1, 1.0, 5.0, 10.0, 20.0, 50.0, 100.0]
        ),
    }


def learn(known: Known, fit: Fit, deadline: float | None) -> Answer:
    """Boost trees on some rows and return what gives others their probabilities."""
    import lightgbm

    def stop_in_time(_progress: Any) -> None:
        check_deadline(deadline)

    booster = lightgbm.LGBMClassifier(
        **{**fit.params, "n_estimators": fit.n_trees},
        # Without a frequency LightGBM draws no rows, whatever the share; the authors give none.
        subsample_freq=1,
        n_jobs=1,
        random_state=fit.seed,
        # Otherwise it measures which layout of the histograms is faster, and sums in that order.
        deterministic=True,
        force_col_wise=True,
        verbosity=-1,
    )
    callbacks: list[Any] = [] if deadline is None else [stop_in_time]
    judged = known.judged
    on_validation: dict[str, Any] = {}
    if judged is not None and fit.patience is not None:
        on_validation = {"eval_X": (judged.features,), "eval_y": (judged.target,)}
        if judged.weights is not None:
            on_validation["eval_sample_weight"] = [judged.weights]
        callbacks.append(lightgbm.early_stopping(fit.patience, verbose=False))
    categories = [column for column, is_category in enumerate(known.categorical) if is_category]
    booster.fit(
        known.features,
        known.target,
        sample_weight=known.weights,
        categorical_feature=categories,
        callbacks=callbacks or None,
        **on_validation,
    )
    return answer_of(booster, None if judged is None else booster.best_iteration_)


COMPETITORS.register(
    TunedCompetitor(
        name="lightgbm",
        title="LightGBM",
        colour="red",
        place=25,
        suggest=suggest,
        learn=learn,
        options=BoostingBudget,
        package="lightgbm",
        extra="lightgbm",
    )
)
