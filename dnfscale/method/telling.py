"""How well one column alone tells the classes apart, from counts of its values by class."""

from __future__ import annotations

import numpy as np

from dnfscale.core.arrays import Floats, Ints

FEW_OF_A_VALUE = 10
"""Of fewer rows of a value, all may be of one class by chance."""


def best_attribute(counts: Ints, *, ordered: bool) -> int:
    """Return how many rows the best single attribute gets right, and its opposite counts too.

    `counts[value, 0]` are the rows of one class, `counts[value, 1]` those of the other; of ordered
    values, in increasing order, an attribute is «above a cut» or «between two», of others «one of
    some values», each of which enough rows have.
    """
    if not len(counts):
        return 0
    no, yes = (int(of_class) for of_class in counts.sum(axis=0))
    gain = counts[:, 1] - counts[:, 0]
    if ordered:
        return max(no + _greatest_run(gain), yes + _greatest_run(-gain))
    told = np.where(counts.sum(axis=1) >= FEW_OF_A_VALUE, gain, 0)
    return max(no + int(told[told > 0].sum()), yes - int(told[told < 0].sum()))


def best_value(counts: Ints) -> int:
    """Return how many rows «equal to a value» gets right, of its best value."""
    if not len(counts):
        return 0
    no, yes = (int(of_class) for of_class in counts.sum(axis=0))
    gain = counts[:, 1] - counts[:, 0]
    return max(no + int(gain.max()), yes - int(gain.min()))


def _greatest_run(gain: Ints) -> int:
    """Return the greatest sum of values that follow each other; 0 for none of them."""
    total = np.concatenate([[0], np.cumsum(gain)])
    return int((total - np.minimum.accumulate(total)).max())


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
