"""Whether one method is better than another: compared pairwise over folds, allowing for the overlap
of folds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dnfscale.results.method import Comparison


def compare(
    method: str,
    other: str,
    first: Sequence[Fraction],
    second: Sequence[Fraction],
    *,
    test_share: float,
    level: float = 0.95,
) -> Comparison | None:
    """Compare two methods' accuracies in the same folds by the corrected resampled t-interval; None
    for fewer than two.

    Training parts of different folds share most of their rows, so the plain variance of the mean is
    too small. Nadeau and Bengio (2003) replace 1/K by 1/K + n_test/n_train; test_share is that
    ratio.
    """
    k = len(first)
    if k < 2 or k != len(second):
        return None
    differences = [a - b for a, b in zip(first, second, strict=True)]
    mean = sum(differences, start=Fraction()) / k
    variance = sum((difference - mean) ** 2 for difference in differences) / (k - 1)
    # scipy.special holds Student's quantiles and imports ten times faster than scipy.stats.
    from scipy.special import stdtrit

    half = float(stdtrit(k - 1, 0.5 + level / 2)) * math.sqrt(
        (1 / k + test_share) * float(variance)
    )
    return Comparison(
        method=method,
        other=other,
        difference_mean=float(mean),
        low=float(mean) - half,
        high=float(mean) + half,
        level=level,
        folds=k,
    )
