"""Logistic regression on counts: the log-odds of the target as a sum of one weight per attribute.

Rows of one type are alike, so a fit needs no rows, only how many each type has and how many of them
are positive. A penalty of one unit pulls each weight towards zero, so that there is always exactly
one solution.
"""

from __future__ import annotations

import numpy as np

from dnfscale.core.arrays import Floats

_STEPS = 50
_CLOSE = 1e-9
PENALTY = 1.0


def fit(holds: Floats, n: Floats, c: Floats) -> Floats:
    """Return the weights of the attributes, the constant first; holds[type, attribute] is 0
    or 1.
    """
    features = with_constant(holds)
    penalty = np.full(features.shape[1], PENALTY)
    penalty[0] = 1e-6
    weights = np.zeros(features.shape[1])
    weights[0] = np.log((c.sum() + 1) / (n.sum() - c.sum() + 1))
    for _ in range(_STEPS):
        p = _sigmoid(features @ weights)
        # Sums without BLAS: their last bit must not depend on its threads.
        slope = np.einsum("ti,t->i", features, c - n * p) - penalty * weights
        bend = np.einsum("ti,tj->ij", features * (n * p * (1 - p))[:, None], features)
        step = np.linalg.solve(bend + np.diag(penalty), slope)
        # Long steps are shortened: they may overshoot where the curvature is small.
        weights = weights + step / max(1.0, float(np.abs(step).max()) / 4)
        if np.abs(step).max() < _CLOSE:
            break
    return weights


def probabilities(weights: Floats, holds: Floats) -> Floats:
    """Return the chance of a true target for each row of attributes."""
    return _sigmoid(np.einsum("ti,i->t", with_constant(holds), weights))


def with_constant(holds: Floats) -> Floats:
    """Return the attributes preceded by a constant."""
    return np.concatenate([np.ones((len(holds), 1)), holds], axis=1)


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(x, -500, 500))))
