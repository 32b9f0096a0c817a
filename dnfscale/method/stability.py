"""How much formulas learned from different rows say the same: a rule that changes with every tenth
of the rows is not trusted.

Conditions of two formulas match, one to one, where column and direction agree and few rows lie
between their cuts. The index of two formulas is the share of their conditions that match; that of
several is the mean over all pairs. How many columns they share stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from dnfscale.core.parts import ColumnName
from dnfscale.method.literals import CutValue, Gap, Range, Said

MOST_BETWEEN = Fraction(1, 64)
"""The share of the rows that may lie between the cuts of two conditions that match."""
Above = Mapping[tuple[ColumnName, CutValue], Fraction]
"""The share of the rows above each cut of a column."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a formula, and the share of the rows above each of their cuts."""

    said: tuple[Said, ...]
    above: Above

    @property
    def columns(self) -> frozenset[ColumnName]:
        return frozenset(one.column for one in self.said)


@dataclass(frozen=True, slots=True)
class Stability:
    """Means over pairs of formulas."""

    index: Fraction
    """Of the conditions of both, the share that match."""
    columns_shared: Fraction
    """Of the columns of either, the share that both have."""


def stability(formulas: Sequence[Conditions]) -> Stability | None:
    """Return how much some formulas say the same; None if there are no two.

    Two constant answers say the same.
    """
    pairs = list(combinations(formulas, 2))
    if not pairs:
        return None
    return Stability(
        sum((_index(*pair) for pair in pairs), start=Fraction()) / len(pairs),
        sum((_shared(*pair) for pair in pairs), start=Fraction()) / len(pairs),
    )


def matched(one: Conditions, other: Conditions) -> int:
    """Return how many conditions of two formulas match, one to one, at most."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    alike = np.array(
        [[_match(a, b, one.above, other.above) for b in other.said] for a in one.said]
    ).reshape(len(one.said), len(other.said))
    if not alike.any():
        return 0
    return int((maximum_bipartite_matching(csr_array(alike), perm_type="column") >= 0).sum())


def _index(one: Conditions, other: Conditions) -> Fraction:
    n_conditions = len(one.said) + len(other.said)
    return Fraction(2 * matched(one, other), n_conditions) if n_conditions else Fraction(1)


def _shared(one: Conditions, other: Conditions) -> Fraction:
    either = one.columns | other.columns
    return Fraction(len(one.columns & other.columns), len(either)) if either else Fraction(1)


def _match(a: Said, b: Said, above_a: Above, above_b: Above) -> bool:
    if isinstance(a, Range | Gap) and isinstance(b, Range | Gap):
        ends = [(a.low, b.low), (a.high, b.high)]
        return (
            type(a) is type(b)
            and a.column == b.column
            and all((low is None) == (high is None) for low, high in ends)
            and all(
                abs(above_a[a.column, low] - above_b[b.column, high]) <= MOST_BETWEEN
                for low, high in ends
                if low is not None and high is not None
            )
        )
    return a == b
