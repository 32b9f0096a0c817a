"""Whether one method is better than another: compared pairwise over folds, allowing for the overlap
of folds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from dnfscale.results.method import Comparison, Method
from dnfscale.results.result import IDEAL


def comparisons(methods: Mapping[str, Method]) -> tuple[Comparison, ...]:
    """Compare the ideal method with every other method that finished all folds."""
    ideal = methods[IDEAL]
    trained = sum((fold.train_rows or 0) + (fold.validation_rows or 0) for fold in ideal.folds)
    test_share = sum(fold.test_rows or 0 for fold in ideal.folds) / max(1, trained)
    ours = _shares(ideal)
    found = []
    for other, method in methods.items():
        theirs = _shares(method)
        if other != IDEAL and ours is not None and theirs is not None:
            found.append(compare(IDEAL, other, ours, theirs, test_share=test_share))
    return tuple(comparison for comparison in found if comparison is not None)


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


def _shares(method: Method) -> list[Fraction] | None:
    """Return the exact accuracy of each fold; None if one is not known."""
    shares = [fold.share for fold in method.folds if fold.share is not None]
    return shares if len(shares) == len(method.folds) else None
