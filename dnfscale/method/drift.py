"""Drift: how far the shares of some rows differ from those of the rows that were learned from.

Both are counts by class and by cell. The population stability index and Cohen's w compare the
shares of the cells; a chi-squared test says whether the difference is beyond chance. Where classes
are more or less frequent than before, whatever goes with them is, too; so the same is asked within
classes, which tells a column that changed from one that follows its class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from dnfscale.core.arrays import Floats, Ints
from dnfscale.results.evaluation import Shift

LEVEL = 0.01
"""A drift is told if chance makes one as large, anywhere, at most so often."""
SMALL = 0.1
"""Cohen's w below this is no drift that matters."""
_MOST_CELLS = 20
_SMALLEST_SHARE = 0.01
"""Cells are compared one by one if they are among the largest, and hold such a share of the rows
learned from; all others together."""


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Rows by class and cell: those learned from, and those of now. One class stands for all where
    the truth is not known.
    """

    learned: Ints
    now: Ints
    weighted: bool = False
    """Whether those learned from are weights: these say no more than shares."""

    @property
    def expected(self) -> Floats:
        """Those learned from; weights as if they were as many rows as there are now of each
        class.
        """
        if not self.weighted:
            return self.learned.astype(np.float64)
        scale = self.now.sum(axis=1) / np.maximum(1, self.learned.sum(axis=1))
        return np.asarray(self.learned * scale[:, np.newaxis])


def shift_of(compared: Compared, by_class: Compared | None = None) -> Shift | None:
    """Return how far the cells of now differ, also within classes, where these are known; None if
    there are no rows to compare. Whether they drifted is told by `settled`.
    """
    learned, now = compared.learned.sum(axis=0), compared.now.sum(axis=0)
    if not learned.sum() or not now.sum():
        return None
    before, after = _smoothed(compared.expected.sum(axis=0)), _smoothed(now)
    if compared.weighted:
        chi_squared, freedom = _chi_squared_of_shares(before, now)
    else:
        chi_squared, freedom = _chi_squared(learned, now)
    return Shift(
        psi=math.fsum((after - before) * np.log(after / before)),
        effect=_effect(before, after),
        chi_squared=chi_squared,
        p=_chance(chi_squared, freedom),
        within_classes=None if by_class is None else _within_classes(by_class),
        drifted=False,
    )


def grouped(compared: Compared) -> Compared:
    """Return the same with all cells as one that few of the rows learned from were in."""
    learned = compared.learned.sum(axis=0)
    order = np.argsort(-learned, kind="stable")[:_MOST_CELLS]
    kept = order[learned[order] >= _SMALLEST_SHARE * learned.sum()]
    rest = np.setdiff1d(np.arange(len(learned)), kept)
    if len(rest) < 2:
        return compared
    before, after = (
        np.column_stack([counts[:, kept], counts[:, rest].sum(axis=1)])
        for counts in (compared.learned, compared.now)
    )
    return Compared(before, after, compared.weighted)


def settled(shifts: Sequence[Shift | None]) -> list[Shift | None]:
    """Return shifts that say whether they are drifts, all taken together."""
    n_tests = sum(shift is not None for shift in shifts)
    return [None if shift is None else _settled(shift, n_tests) for shift in shifts]


def _settled(shift: Shift, n_tests: int) -> Shift:
    is_large = shift.effect >= SMALL
    beyond_chance = shift.p * n_tests < LEVEL
    own = shift.within_classes is None or shift.within_classes >= SMALL
    return replace(shift, drifted=is_large and beyond_chance and own)


def _smoothed(counts: Ints | Floats) -> Floats:
    """Return shares in which no cell is empty: each has half a row more."""
    return np.asarray((counts + 0.5) / (counts.sum() + 0.5 * len(counts)))


def _effect(before: Floats, after: Floats) -> float:
    """Return Cohen's w."""
    return math.sqrt(math.fsum((after - before) ** 2 / before))


def _within_classes(compared: Compared) -> float | None:
    """Return Cohen's w against what is expected of the classes as frequent as they are now."""
    of_class = compared.now.sum(axis=1)
    known = (compared.learned.sum(axis=1) > 0) & (of_class > 0)
    if not known.any():
        return None
    expected = sum(
        rows * _smoothed(learned)
        for rows, learned in zip(of_class[known].tolist(), compared.expected[known], strict=True)
    )
    return _effect(
        np.asarray(expected) / int(of_class[known].sum()),
        _smoothed(compared.now[known].sum(axis=0)),
    )


def _chi_squared(learned: Ints, now: Ints) -> tuple[float, int]:
    """Return the statistic of homogeneity of two samples, and its degrees of freedom."""
    table = np.array([learned, now], dtype=np.float64)
    table = table[:, table.any(axis=0)]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return math.fsum(((table - expected) ** 2 / expected).ravel()), table.shape[1] - 1


def _chi_squared_of_shares(expected: Floats, now: Ints) -> tuple[float, int]:
    """Return the statistic of rows against the shares that they should have, and its degrees of
    freedom.
    """
    rows = now.sum() * expected
    return math.fsum((now - rows) ** 2 / rows), len(now) - 1


def _chance(statistic: float, freedom: int) -> float:
    if not freedom:
        return 1.0
    from scipy.special import chdtrc

    return float(chdtrc(freedom, statistic))
