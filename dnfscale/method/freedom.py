"""What a formula has to say, and where it is free to say whatever makes it shortest.

Required are the types that the rule for few rows accepts. Free are, unless `unseen` is "negative", the types that no
row can have (a number above its higher cut and not above its lower one); with "dont_care" all types that no row had;
and, with some freedom, the types whose answer matters least: those of the smallest |c_t - (n_t - c_t)|, as long as
together they are at most that share of all rows. So the formula errs on at most that share of the rows more.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dnfscale.core.counts import TypeCounts, to_dense
from dnfscale.core.vocabulary import Vocabulary
from dnfscale.method.ideal import weighed
from dnfscale.method.minimize import Truth
from dnfscale.method.possible import are_possible, column_states
from dnfscale.method.shrink import Shrink, accepted_types

UNSEEN = ("negative", "dont_care", "follow")
"""What is said of types that no row had: no; whatever is shortest; or what the rule for few rows says."""


@dataclass(frozen=True, slots=True)
class Freedom:
    """What leaves a formula free."""

    unseen: str = "negative"
    share: float = 0.0
    """The share of the rows that a shorter formula may get wrong beyond those that the ideal one does."""


def truth_of(counts: TypeCounts, tau: Vocabulary, *, shrink: Shrink, threshold: Fraction, freedom: Freedom) -> Truth:
    """Return the types over tau that a formula must accept, and those it may answer as it likes."""
    accepted = accepted_types(counts, shrink, threshold)
    n, _ = to_dense(counts)
    free = np.zeros(len(n), dtype=np.bool_)
    if freedom.unseen == "negative":
        accepted = accepted & (n > 0)
    else:
        nothing = TypeCounts(counts.ell, *(np.empty(0, dtype=np.int64) for _ in range(3)))
        free |= ~are_possible(np.arange(len(n)), column_states(tau, nothing)) & (n == 0)
    if freedom.unseen == "dont_care":
        free |= n == 0
    if freedom.share:
        rows = weighed(counts, threshold)
        stakes = np.abs(2 * rows.c - rows.n)
        order = np.argsort(stakes, kind="stable")
        within = np.cumsum(stakes[order]) <= int(Fraction(str(freedom.share)) * rows.n_rows)
        free[counts.codes[order[within]]] = True
    required = np.flatnonzero(accepted & ~free)
    return Truth(counts.ell, tuple(required.tolist()), tuple(np.flatnonzero(free).tolist()))
