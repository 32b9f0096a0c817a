"""Explainable boosting machines, by interpret: a readable competitor, which has no length."""

from __future__ import annotations

import numpy as np

from dnfscale.compare.peers import Answered, Peer, PeerFit
from dnfscale.compare.rows import Matrix, RowMatrix
from dnfscale.core.splits import TRAIN, VALIDATION, Splits
from dnfscale.spec.registry import COMPETITORS


def learn(rows: RowMatrix, splits: Splits, fit: PeerFit, tested: Matrix) -> Answered:
    """Boost on W_0 and answer other rows."""
    from interpret.glassbox import ExplainableBoostingClassifier

    known = rows.part(splits, fit.fold, (TRAIN, VALIDATION))
    kinds = ["nominal" if is_category else "continuous" for is_category in rows.categorical]
    machine = ExplainableBoostingClassifier(feature_types=kinds, random_state=fit.seed, n_jobs=1)
    machine.fit(
        known.features.astype(np.float64), known.target == 1, sample_weight=known.sample_weight
    )
    return np.asarray(machine.predict(tested.astype(np.float64)), dtype=np.bool_), None


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
