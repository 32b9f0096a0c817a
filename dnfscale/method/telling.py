"""How well one column alone tells the classes apart, from counts of its values by class."""

from __future__ import annotations

import numpy as np

from dnfscale.core.arrays import Floats, Ints


def best_attribute(counts: Ints, *, ordered: bool) -> int:
    """Return how many rows the best single attribute gets right, and its opposite counts too.

    `counts[value, 0]` are the rows of one class, `counts[value, 1]` those of the other; of ordered
    values, in increasing order, an attribute is «above a cut», of others «equal to a value».
    """
    total = int(counts.sum())
    if not len(counts):
        return 0
    told = np.cumsum(counts, axis=0) if ordered else counts
    rest = counts.sum(axis=0) - told
    right = told[:, 1] + rest[:, 0]
    return int(max(right.max(), total - right.min()))


def concordance(counts: Ints, *, ordered: bool) -> float:
    """Return the share of pairs of rows of two classes that the column orders right, from 0.5 on;
    values that are not ordered are ordered by their share of the second class.
    """
    if not ordered:
        shares = counts[:, 1] / np.maximum(1, counts.sum(axis=1))
        counts = counts[np.argsort(shares, kind="stable")]
    first, second = counts[:, 0].astype(np.float64), counts[:, 1].astype(np.float64)
    pairs = first.sum() * second.sum()
    if not pairs:
        return 0.5
    below = np.cumsum(first) - first
    area = float((second * (below + first / 2)).sum() / pairs)
    return max(area, 1 - area)


def departs_from_trend(values: Floats, counts: Ints) -> bool:
    """Say whether the share of the second class depends on the values, but not as a trend.

    Of the chi-squared of the table, the part of the linear trend (Cochran, Armitage) must be less
    than half, and the rest far beyond chance.
    """
    n_v = counts.sum(axis=1).astype(np.float64)
    total, positive = float(n_v.sum()), float(counts[:, 1].sum())
    share = positive / total if total else 0.0
    if len(values) < 3 or not 0 < share < 1:
        return False
    excess = counts[:, 1] - n_v * share
    scale = share * (1 - share)
    whole = float((excess**2 / n_v).sum() / scale)
    centred = values - float((n_v * values).sum() / total)
    spread = float((n_v * centred**2).sum())
    trend = float((centred * excess).sum() ** 2 / (scale * spread)) if spread else 0.0
    from scipy import stats  # slow to load: many verbs never ask

    chance = float(stats.chi2.sf(max(0.0, whole - trend), len(values) - 2))
    return trend < whole / 2 and chance < 1e-6
