"""Soft labels for few rows: what a forest thinks of each row stands for most of its label.

A formula that is searched among many fits the labels that chance has turned over. A forest's votes
on rows that its trees have not seen are smoother: a row that stands alone among others of the other
class weighs little.
"""

from __future__ import annotations

import warnings

import numpy as np

from dnfscale.core.arrays import Floats
from dnfscale.method.terms.codes import Sample

UNIT = 100
"""What a row of weight one weighs after softening."""
_SHARE = 0.65
"""How much of a label is the forest's."""
_TREES = 100


def softened(sample: Sample, seed: int) -> Sample:
    """Return the sample with soft labels, in weights of UNIT times their size; itself if only one
    class occurs."""
    weight = sample.positive + sample.negative
    target = sample.positive > sample.negative
    if not target.any() or target.all():
        return sample
    label = sample.positive / np.maximum(weight, 1)
    share = _SHARE * _votes(sample, seed) + (1 - _SHARE) * label
    positive = np.rint(UNIT * share * weight).astype(np.int64)
    return Sample(sample.columns, sample.codes, positive, UNIT * weight - positive)


def _votes(sample: Sample, seed: int) -> Floats:
    """Return the share of trees that have not seen a row and take it for positive; its label if
    there is none."""
    from sklearn.ensemble import RandomForestClassifier

    weight = sample.positive + sample.negative
    target = sample.positive > sample.negative
    forest = RandomForestClassifier(
        _TREES, bootstrap=True, oob_score=True, random_state=seed, n_jobs=1
    )
    with warnings.catch_warnings():
        # A row that every tree has seen keeps its label.
        warnings.simplefilter("ignore", UserWarning)
        forest.fit(sample.codes.T.astype(np.float32), target, sample_weight=weight)
    votes = np.asarray(forest.oob_decision_function_)[:, 1]
    return np.where(np.isnan(votes), target, votes)
