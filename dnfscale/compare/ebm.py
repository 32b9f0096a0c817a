"""Explainable boosting machines, by interpret: a readable competitor, which has no length."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dnfscale.compare.peers import Answered, Peer, PeerFit, of_yes
from dnfscale.compare.rows import Matrix, RowMatrix
from dnfscale.core.splits import WHOLE, Splits
from dnfscale.spec.registry import COMPETITORS


def learn(rows: RowMatrix, splits: Splits, fit: PeerFit) -> Callable[[Matrix], Answered]:
    """Boost on W_0 and return what answers other rows."""
    from interpret.glassbox import ExplainableBoostingClassifier

    known = rows.part(splits, fit.fold, WHOLE)
    kinds = ["nominal" if is_category else "continuous" for is_category in rows.categorical]
    machine = ExplainableBoostingClassifier(feature_types=kinds, random_state=fit.seed, n_jobs=1)
    machine.fit(
        known.features.astype(np.float64), known.target == 1, sample_weight=known.sample_weight
    )

    def answer(tested: Matrix) -> Answered:
        features = tested.astype(np.float64)
        return Answered(
            answers=np.asarray(machine.predict(features), dtype=np.bool_),
            probability=of_yes(machine.predict_proba(features), machine.classes_),
        )

    return answer


COMPETITORS.register(
    Peer(
        name="ebm",
        title="Boosting machine",
        place=40,
        learn=learn,
        package="interpret",
        extra="peers",
    )
)
