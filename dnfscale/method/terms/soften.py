"""Soft labels for few rows: what boosted trees think of each row stands for most of its label.

A formula that is searched among many fits the labels that chance has turned over. What trees that
have not seen a row make of it is smoother: a row that stands alone among others of the other class
weighs little.
"""

from __future__ import annotations

import numpy as np

from dnfscale.core.arrays import Bools, Floats, Ints
from dnfscale.method.terms.codes import Sample

UNIT = 100
"""What a row of weight one weighs after softening."""
_SHARE = 0.8
"""How much of a label is the trees'."""
_PARTS = 5
"""The rows of each part are judged by trees of the other parts."""
_ROUNDS = 60
_TREES = {
    "objective": "binary:logistic",
    "base_score": 0.5,
    "max_depth": 3,
    "learning_rate": 0.1,
    "subsample": 0.8,
}


def softened(sample: Sample, seed: int) -> Sample:
    """Return the sample with soft labels, in weights of UNIT times their size; itself if only one
    class occurs."""
    weight = sample.positive + sample.negative
    target = sample.positive > sample.negative
    if not target.any() or target.all():
        return sample
    label = sample.positive / np.maximum(weight, 1)
    share = _SHARE * _judged(sample, target, seed) + (1 - _SHARE) * label
    positive = np.rint(UNIT * share * weight).astype(np.int64)
    return Sample(sample.columns, sample.codes, positive, UNIT * weight - positive)


def _judged(sample: Sample, target: Bools, seed: int) -> Floats:
    """Return how likely trees that have not seen a row take it for positive."""
    from xgboost import Booster, DMatrix

    class Trees(Booster):  # type: ignore[misc, unused-ignore]
        """Trees that take it for granted that all rows have the same columns: XGBoost makes sure of
        it before each tree, which takes longer than a tree of few rows."""

        def _assign_dmatrix_features(self, data: DMatrix) -> None:
            pass

    rows = sample.codes.T.astype(np.float32)
    weight = sample.positive + sample.negative
    parts = _parts(target, seed)
    judged = np.empty(sample.n_rows)
    for part in range(min(_PARTS, sample.n_rows)):
        others, own = parts != part, parts == part
        learned = DMatrix(rows[others], target[others], weight=weight[others], nthread=1)
        # As xgboost.train does, but for callbacks, and a copy of the trees in the end.
        trees = Trees({**_TREES, "seed": seed, "nthread": 1}, [learned])
        for number in range(_ROUNDS):
            trees.update(learned, number)
        judged[own] = trees.predict(DMatrix(rows[own], nthread=1))
    return judged


def _parts(target: Bools, seed: int) -> Ints:
    """Return the part of each row, dealt at random so that each part has its share of both
    classes."""
    order = np.random.default_rng(seed).permutation(len(target))
    dealt = order[np.argsort(target[order], kind="stable")]
    parts = np.empty(len(target), dtype=np.int64)
    parts[dealt] = np.arange(len(target)) % _PARTS
    return parts
