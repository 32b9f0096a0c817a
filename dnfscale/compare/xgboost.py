"""XGBoost, tuned: a competitor. It splits categories natively."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dnfscale.compare.joint import Joining, KnownShare
from dnfscale.compare.rows import Matrix, RowPart
from dnfscale.compare.trial import Answer, Fit, Known, Params, answer_of, check_deadline
from dnfscale.compare.tuning import BoostingBudget, Suggest, TunedCompetitor
from dnfscale.compare.ways import CLUSTER, SAMPLE, WORKER, where_key
from dnfscale.core.arrays import Floats
from dnfscale.engine.api import Share
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


def learn(known: Known, fit: Fit, deadline: float | None) -> Answer:
    """Boost trees on some rows and return what gives others their probabilities."""
    import xgboost

    class Deadline(xgboost.callback.TrainingCallback):
        def after_iteration(self, _model: Any, _epoch: int, _log: Any) -> bool:
            check_deadline(deadline)
            return False

    judged = known.judged
    booster = xgboost.XGBClassifier(
        **{**fit.params, "n_estimators": fit.n_trees},
        n_jobs=1,
        random_state=fit.seed,
        enable_categorical=True,
        feature_types=["c" if is_category else "q" for is_category in known.categorical],
        callbacks=[Deadline()] if deadline is not None else None,
        early_stopping_rounds=None if judged is None else fit.patience,
    )
    booster.fit(
        known.features,
        known.target,
        sample_weight=known.weights,
        eval_set=None if judged is None else [(judged.features, judged.target)],
        sample_weight_eval_set=None if judged is None else [judged.weights],
        verbose=False,
    )
    return answer_of(booster, None if judged is None else booster.best_iteration + 1)


@dataclass(frozen=True, slots=True)
class XGBoostBudget(BoostingBudget):
    """How much tuning XGBoost gets, and where."""

    where: str = where_key(WORKER, CLUSTER, SAMPLE)


def meet(host: str, size: int) -> dict[str, Any]:
    """Start what workers find each other by, and return its address; it ends when they do."""
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=size, host_ip=host, sortby="task")
    tracker.start()
    threading.Thread(target=_await, args=[tracker], daemon=True).start()
    return dict(tracker.worker_args())


def _await(tracker: Any) -> None:
    # A fit that failed is told of by its workers.
    with suppress(Exception):
        tracker.wait_for()


def learn_together(known: KnownShare, fit: Fit, deadline: float | None, share: Share) -> Answer:
    """Boost trees on the rows of all workers; each worker has them all in the end."""
    import xgboost
    from xgboost import collective

    class Rows(xgboost.DataIter):
        """The rows to learn from, as often as they are asked for."""

        def __init__(self, chunks: Callable[[], Iterator[RowPart]]) -> None:
            super().__init__(release_data=True)
            self._chunks = chunks
            self._left = chunks()

        def next(self, input_data: Any) -> bool:
            part = next(self._left, None)
            if part is None:
                return False
            input_data(
                data=part.features,
                label=part.target,
                weight=part.sample_weight,
                feature_types=["c" if each else "q" for each in known.categorical],
            )
            return True

        def reset(self) -> None:
            self._left = self._chunks()

    class Deadline(xgboost.callback.TrainingCallback):
        def after_iteration(self, _model: Any, _epoch: int, _log: Any) -> bool:
            # All stop at once, or the others would wait for ever for the one that has stopped.
            late = np.array([deadline is not None and time.monotonic() > deadline], dtype=np.int32)
            if collective.allreduce(late, collective.Op.MAX)[0]:
                check_deadline(0.0)
            return False

    classifier = xgboost.XGBClassifier(**fit.params, n_jobs=1, random_state=fit.seed)
    params = classifier.get_xgb_params()
    if known.n_classes > 2:
        params |= {"objective": "multi:softprob", "num_class": known.n_classes}
    # Ranks follow from the names of tasks, and so does the order in which shares are added up.
    named = {**share.meeting, "dmlc_task_id": f"[{share.rank:06d}]"}
    with ExitStack() as joined:
        with redirect_stdout(None):
            # It prints its rank.
            joined.enter_context(collective.CommunicatorContext(**named))
        matrix = xgboost.QuantileDMatrix(Rows(known.chunks), enable_categorical=True)
        judged = []
        if known.judged is not None:
            rows = Rows(known.judged)
            held_out = xgboost.QuantileDMatrix(rows, ref=matrix, enable_categorical=True)
            judged = [(held_out, "W_val")]
        booster = xgboost.train(
            params,
            matrix,
            num_boost_round=fit.n_trees,
            callbacks=[Deadline()] if deadline is not None else None,
            evals=judged,
            early_stopping_rounds=fit.patience if judged else None,
            verbose_eval=False,
        )
    del matrix
    n_trees = booster.best_iteration + 1 if judged else None
    return Answer(partial(_answered, booster, n_trees or 0), n_trees)


def _answered(booster: Any, n_trees: int, features: Matrix) -> Floats:
    """Return the probabilities by the first trees; 0: by all of them."""
    given = np.asarray(
        booster.inplace_predict(features, iteration_range=(0, n_trees), validate_features=False),
        dtype=np.float64,
    )
    return given if given.ndim == 2 else np.column_stack([1 - given, given])


COMPETITORS.register(
    TunedCompetitor(
        name="xgboost",
        title="XGBoost",
        colour="green",
        place=20,
        suggest=suggest,
        learn=learn,
        options=XGBoostBudget,
        joining=Joining(meet, learn_together),
        together=2,
    )
)
