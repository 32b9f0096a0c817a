"""How far a sample supports the ideal classifier that was formed from it (the paper's theorem on sample sizes)."""

from __future__ import annotations

import math


def separation(n_rows: int, ell: int, delta: float) -> float:
    """Return the epsilon that n_rows give in the paper's theorem.

    With probability at least 1 - delta over the sample, the empirical ideal classifier agrees with the ideal one on
    every type t with |mu(t and q) - mu(t and not q)| >= epsilon, provided that the attributes were chosen without
    looking at these rows: n >= 2 ln(2**(ell + 1) / delta) / epsilon**2, solved for epsilon.
    """
    if n_rows == 0:
        return math.inf
    return math.sqrt(2 * ((ell + 1) * math.log(2) - math.log(delta)) / n_rows)


def sample_size(epsilon: float, ell: int, delta: float) -> int:
    """Return the rows that the theorem asks for, given epsilon: the inverse of separation."""
    return math.ceil(2 * ((ell + 1) * math.log(2) - math.log(delta)) / epsilon**2)
