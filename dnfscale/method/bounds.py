"""Sample sizes: how many rows make the empirical ideal classifier as good as the ideal one, before
any row is seen.

All bounds are about a sample of n rows drawn independently from one distribution mu over (type,
target), and of ell attributes that were fixed without looking at these rows. Each holds with
probability at least 1 - delta over the sample, whatever mu is, and comes in two directions: the
rows that an epsilon takes, and the epsilon that rows give. An epsilon of 1 or more promises
nothing: no error is larger. `certificate.py` says what a given sample shows, which is usually much
more. Where there are K types that are not those of attributes, ell is the logarithm of K to base
2.

The theorem and the corollary are the paper's. Its example for the corollary (|tau| = 3, delta =
0.01, epsilon = 0.05) says that 18,887 rows suffice; that number divides by epsilon where the
corollary divides by epsilon squared, which gives 377,742. The finite class of all formulas over tau
gives 8,675 for the same promise.

The bounds are stated for the threshold 1/2. They hold as they are for any threshold theta, when a
missed positive weighs 2 (1 - theta) and a false alarm 2 theta: what a type adds is then 2 (mu(t and
q) - theta mu(t)), and the terms of that sum still range over an interval of length 2, which is all
that Hoeffding's inequality asks.
"""

from __future__ import annotations

import math


def separation_rows(epsilon: float, ell: float, delta: float) -> int:
    """Return the rows that the paper's theorem asks for: n >= 2 ln(2**(ell + 1) / delta) /
    epsilon**2.

    With that many, the empirical ideal classifier agrees with the ideal one on every type t that mu
    epsilon-separates, that is, with |mu(t and q) - mu(t and not q)| >= epsilon. The theorem says
    nothing about the other types.
    """
    return math.ceil(2 * _log_types(ell, delta) / epsilon**2)


def separation(n_rows: int, ell: float, delta: float) -> float:
    """Return the epsilon that n_rows give in the paper's theorem."""
    return math.sqrt(2 * _log_types(ell, delta) / n_rows) if n_rows else math.inf


def corollary_rows(epsilon: float, ell: float, delta: float) -> int:
    """Return the rows that the paper's corollary asks for: n >= 2**(2 ell + 1) ln(2**(ell + 1) /
    delta) / epsilon**2.

    With that many, the error of the empirical ideal classifier exceeds that of the ideal one by
    less than epsilon. Proof: take the theorem with eta = epsilon / 2**ell. The two classifiers
    differ only on types that are not eta-separated, each of these costs |mu(t and q) - mu(t and not
    q)| < eta, and there are at most 2**ell of them.
    """
    return separation_rows(epsilon / 2**ell, ell, delta)


def corollary_error(n_rows: int, ell: float, delta: float) -> float:
    """Return the excess error that n_rows leave by the paper's corollary."""
    return 2**ell * separation(n_rows, ell, delta)


def class_rows(epsilon: float, ell: float, delta: float) -> int:
    """Return the rows that the classical bound for a finite class asks for.

    They are n >= 2 ln(2 * 2**(2**ell) / delta) / epsilon**2. With that many, the error of the
    empirical ideal classifier exceeds that of the ideal one by at most epsilon. Proof: over tau
    there are 2**(2**ell) formulas that differ. For each, the empirical error is a mean of n
    independent values in [0, 1], so by Hoeffding it is off by more than epsilon / 2 with
    probability at most 2 exp(-n epsilon**2 / 2). By the union bound none of them is, except with
    probability at most 2 * 2**(2**ell) exp(-n epsilon**2 / 2) <= delta. Then

        err_mu(empirical) <= err_M(empirical) + epsilon/2 <= err_M(ideal) + epsilon/2 <=
        err_mu(ideal) + epsilon,

    the step in the middle because no formula over tau has a smaller empirical error than the
    empirical ideal one.
    """
    return math.ceil(2 * _log_formulas(ell, delta) / epsilon**2)


def class_error(n_rows: int, ell: float, delta: float) -> float:
    """Return the excess error that n_rows leave by the bound for a finite class."""
    return math.sqrt(2 * _log_formulas(ell, delta) / n_rows) if n_rows else math.inf


def least_rows(epsilon: float, ell: float, delta: float) -> int:
    """Return the rows for an excess error of epsilon by the corollary or the finite class,
    whichever asks for fewer.

    With K = 2**ell the corollary needs K**2 ln(2 K / delta) where the class needs K ln 2 + ln(2 /
    delta). The first is at least K**2 (ln 2 + ln(1 / delta)) + K**2 ln K, which is not less than
    the second as soon as K >= 2: the class wins for every ell >= 1, and loses only without
    attributes.
    """
    return min(corollary_rows(epsilon, ell, delta), class_rows(epsilon, ell, delta))


def least_error(n_rows: int, ell: float, delta: float) -> float:
    """Return the excess error that n_rows leave by the corollary or the finite class, whichever is
    smaller.
    """
    return min(corollary_error(n_rows, ell, delta), class_error(n_rows, ell, delta))


def _log_types(ell: float, delta: float) -> float:
    """Return ln(2**(ell + 1) / delta)."""
    return (ell + 1) * math.log(2) - math.log(delta)


def _log_formulas(ell: float, delta: float) -> float:
    """Return ln(2 * 2**(2**ell) / delta), without the number of formulas, which no float holds from
    ell = 10 on.
    """
    return (2**ell + 1) * math.log(2) - math.log(delta)
