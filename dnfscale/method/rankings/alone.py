"""Scores and rankings of attributes, from their 2 x 2 tables with the target.

On Boolean data the F-test, chi-squared and mutual information are closed forms of four counts. The
arithmetic below goes through the same steps as scikit-learn's, so that the scores agree to the last
bit and attributes that tie there tie here: `f_classif`, `chi2` and
`mutual_info_classif(discrete_features=True)` on the attributes as float64.
"""

from __future__ import annotations

import numpy as np

from dnfscale.core.arrays import Floats, Ints
from dnfscale.core.associations import Associations
from dnfscale.spec.registry import RANKINGS, Ranking


def f_scores(tables: Associations) -> Floats:
    """Return the one-way F statistic of each attribute, scores[fold, attribute]; nan where it is
    constant.
    """
    n = tables.n[:, None].astype(np.float64)
    n_true = tables.positive[:, None].astype(np.float64)
    true = tables.holds_positive.astype(np.float64)
    false = (tables.holds - tables.holds_positive).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        all_squared = (false + true) ** 2 / n
        total = (false + true) - all_squared
        between = false**2 / (n - n_true) + true**2 / n_true
        between -= all_squared
        within = total - between
        scores: Floats = between / (within / (n - 2))
    scores[_one_class(tables)] = np.nan
    return scores


def chi2_scores(tables: Associations) -> Floats:
    """Return the chi-squared statistic of each attribute, scores[fold, attribute]; nan where it
    never holds.
    """
    n = tables.n[:, None].astype(np.float64)
    n_true = tables.positive[:, None].astype(np.float64)
    count = tables.holds.astype(np.float64)
    scores: Floats = np.zeros(count.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        for observed, members in (
            (tables.holds - tables.holds_positive, n - n_true),
            (tables.holds_positive, n_true),
        ):
            expected = (members / n) * count
            scores += (observed.astype(np.float64) - expected) ** 2 / expected
    return scores


def mutual_info_scores(tables: Associations) -> Floats:
    """Return the mutual information of each attribute with the target in nats, scores[fold,
    attribute].
    """
    n = tables.n[:, None]
    positive = tables.positive[:, None]
    holds, both = tables.holds, tables.holds_positive
    # The order of the cells is the order in which scikit-learn adds them: it shows in the last bit.
    cells = (
        (n - holds - positive + both, n - holds, n - positive),
        (positive - both, n - holds, positive),
        (holds - both, holds, n - positive),
        (both, holds, positive),
    )
    scores: Floats = np.zeros(holds.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_n = np.log(n.astype(np.float64))
        for count, of_attribute, of_target in cells:
            share = count / n
            # The product of floats is that of whole numbers, rounded once; beyond 2**63 it is still
            # right.
            outer = of_attribute.astype(np.float64) * of_target.astype(np.float64)
            log_outer = -np.log(outer) + log_n + log_n
            information = share * (np.log(count.astype(np.float64)) - log_n) + share * log_outer
            noise = np.abs(information) < np.finfo(np.float64).eps
            scores += np.where(noise | (count == 0), 0.0, information)
    scores = np.maximum(scores, 0.0)
    scores[_one_class(tables)] = 0.0
    scores[(holds == 0) | (holds == n)] = 0.0
    return scores


RANKINGS.register(Ranking(name="f", title="F-test", rank=f_scores))
RANKINGS.register(Ranking(name="mutual_info", title="mutual information", rank=mutual_info_scores))
RANKINGS.register(Ranking(name="chi2", title="χ² test", rank=chi2_scores))


def rankings(scores: Floats, length: int) -> Ints:
    """Return the best attributes of each fold, best first, as `SelectKBest` takes them.

    Ties go to the later attribute; attributes without a score come last.
    """
    cleaned = np.where(np.isnan(scores), np.finfo(np.float64).min, scores)
    return np.argsort(cleaned, axis=1, kind="stable")[:, ::-1][:, :length]


def _one_class(tables: Associations) -> Ints:
    return np.flatnonzero((tables.positive == 0) | (tables.positive == tables.n))
