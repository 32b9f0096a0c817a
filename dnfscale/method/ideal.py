"""The empirical ideal classifier: the Boolean function of tau with the least training error."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dnfscale.core.arrays import Bools, Exact, Ints, scaled
from dnfscale.core.counts import TypeCounts, to_dense
from dnfscale.results.confusion import Confusion


def weighed(counts: TypeCounts, threshold: Fraction) -> TypeCounts:
    """Return the counts with rows weighed so that half of a type's weight is positive at the
    threshold.

    With the threshold a / b a positive row weighs b - a and a negative one a: c_t / n_t >= a / b
    exactly when the weighed share is at least 1/2. So the ideal classifier of the weighed counts is
    the one of least expected cost, where a wrong «yes» costs a and a wrong «no» b - a, and
    everything decided from counts serves it unchanged. Counts that do not fit in 64 bits are
    Python's own integers.
    """
    return TypeCounts(counts.ell, counts.codes, *weighed_rows(counts.n, counts.c, threshold))


def weighed_rows(n: Ints, c: Ints, threshold: Fraction) -> tuple[Exact, Exact]:
    """Return the weight, by the threshold, of n rows of which c are positive, and that of the
    positive ones alone.
    """
    false, true = threshold.numerator, threshold.denominator - threshold.numerator
    positive = scaled(c, true)
    return positive + scaled(n - c, false), positive


def correct_rows(accepted: Bools, counts: TypeCounts) -> int:
    """Return how many counted rows a classifier gets right; accepted[i] is its answer for type
    counts.codes[i].
    """
    return int(np.where(accepted, counts.c, counts.n - counts.c).sum())


def confusion_of(accepted: Bools, counts: TypeCounts) -> Confusion:
    """Return how a classifier answers counted rows; accepted[i] is its answer for type
    counts.codes[i].
    """
    return Confusion.of_types(accepted, counts.n, counts.c)


def ideal_correct(fitted: TypeCounts, held_out: TypeCounts) -> int:
    """Return how many held-out rows the ideal classifier of the fitted rows gets right; unseen
    types are false.
    """
    return correct_rows(ideal_accepts(fitted, held_out), held_out)


def ideal_accepts(fitted: TypeCounts, held_out: TypeCounts) -> Bools:
    """Return which held-out types the ideal classifier of the fitted rows accepts; unseen types are
    false.
    """
    n, c = to_dense(fitted)
    accepted: Bools = ((2 * c >= n) & (n > 0))[held_out.codes]
    return accepted
