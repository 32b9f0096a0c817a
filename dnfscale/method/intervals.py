"""How often terms are right on the counted rows, with exact intervals for the chance behind it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dnfscale.core.arrays import Floats, Ints
from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf
from dnfscale.method.literals import Line


def term_supports(dnf: Dnf, counts: TypeCounts) -> list[tuple[int, int]]:
    """Return, for each term, how many rows satisfy it, and how many of these have a true target."""
    held = (term.accepts(counts.codes) for term in dnf.terms)
    return [(int(counts.n[own].sum()), int(counts.c[own].sum())) for own in held]


def line_supports(
    lines: Sequence[Line], supports: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the same for lines, given the supports of their terms, no two of which share a row."""
    return [
        (sum(supports[at][0] for at in line.terms), sum(supports[at][1] for at in line.terms))
        for line in lines
    ]


def term_intervals(
    supports: Sequence[tuple[int, int]], *, delta: float, candidates: int
) -> list[tuple[float, float]]:
    """Return intervals for the chance that a case which satisfies a term is positive, given its n
    and c.

    With probability at least 1 - delta the intervals of all candidates hold together. A term that
    was chosen by the labels of the very rows it is counted on is one of 3**ell candidates, all
    terms over its ell attributes, provided that these were chosen without looking at the rows; of
    lines there are `n_candidates`.
    """
    n, c = np.array(supports, dtype=np.int64).reshape(-1, 2).T
    low, high = exact_interval(c, n, delta / max(1, candidates))
    return list(zip(low.tolist(), high.tolist(), strict=True))


def exact_interval(c: Ints, n: Ints, level: float) -> tuple[Floats, Floats]:
    """Return Clopper and Pearson's intervals for the chance behind c successes in n draws.

    Each end is missed with probability at most level / 2. Without draws the interval is all of [0,
    1].
    """
    # SciPy takes 0.3 s to import, and most verbs do without it.
    from scipy.special import betaincinv

    # Without successes the lower end is 0, where the beta distribution would be undefined; the
    # maximum keeps SciPy from returning nan.
    low = np.where(c > 0, betaincinv(np.maximum(c, 1), n - c + 1, level / 2), 0.0)
    return low, upper_limit(c, n, level / 2)


def upper_limit(c: Ints, n: Ints | np.int64, level: float | Floats) -> Floats:
    """Return the chance at which c or fewer successes in n draws have just this probability; 1
    where all succeed.
    """
    from scipy.special import betainccinv

    return np.where(c < n, betainccinv(c + 1, np.maximum(n - c, 1), level), 1.0)
