"""Which types a formula accepts, when the rows of a type are too few to go by alone.

Every rule turns the counts of a type into a share p_t, and accepts the type when p_t reaches the
threshold, a tie being true:

    none      p_t = c_t / n_t; a type without rows is false
    support   a type of fewer than m rows has the share of its parent: the type of the first
              ell - 1 attributes
    parent    p_t = (c_t + m p) / (n_t + m), with p the share of the parent, and so on up to all
              rows
    linear    p_t = (c_t + m q_t) / (n_t + m), with q_t the share that a logistic regression on the
              same counts gives
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial

import numpy as np

from dnfscale.core.arrays import Bools, Floats, Ints, scaled
from dnfscale.core.counts import TypeCounts, to_dense
from dnfscale.method import logistic

_CLOSE = 1e-9
"""Shares are floats here; one this close to the threshold is a tie."""


@dataclass(frozen=True, slots=True)
class Shrink:
    """A rule, and its m: how many rows the share that a type is shrunk to counts for, or the least
    support.
    """

    rule: str = "none"
    rows: float = 8.0
    unit: int = 1
    """What one row counts; more than 1 if fractional weights were scaled to whole numbers."""

    @property
    def counted(self) -> float:
        """m in units of the counts."""
        return self.rows * self.unit


def accepted_types(counts: TypeCounts, shrink: Shrink, threshold: Fraction) -> Bools:
    """Return for every type whether it is accepted; bit i of a type is attribute i, in
    rank order.
    """
    [accepted] = accepted_by_each(counts, [shrink], threshold)
    return accepted


def accepted_by_each(
    counts: TypeCounts, shrinks: Sequence[Shrink], threshold: Fraction
) -> list[Bools]:
    """Return the same for several rules; those that use a logistic regression share it."""
    n, c = to_dense(counts)
    linear = cache(partial(_linear_shares, counts))

    def accepted(shrink: Shrink) -> Bools:
        if shrink.rule == "none":
            return np.asarray((n > 0) & _reaches(n, c, threshold))
        if shrink.rule == "support":
            return _supported(counts, shrink.counted, threshold)
        p = (
            _pulled(n, c, linear(shrink.unit), shrink.counted)
            if shrink.rule == "linear"
            else shares(counts, shrink)
        )
        return np.asarray(p >= float(threshold) - _CLOSE)

    return [accepted(shrink) for shrink in shrinks]


def shares(counts: TypeCounts, shrink: Shrink) -> Floats:
    """Return p_t of every type; with the rule "none", that of a type without rows is 0."""
    n, c = to_dense(counts)
    if shrink.rule == "none":
        return np.asarray(c / np.maximum(n, 1))
    if shrink.rule == "linear":
        return _pulled(n, c, _linear_shares(counts, shrink.unit), shrink.counted)
    (all_n, all_c), *levels = _levels(counts)
    p = all_c / np.maximum(all_n, 1)
    for n, c in levels:
        parent = np.resize(p, len(n))
        if shrink.rule == "support":
            p = np.where(n >= shrink.counted, c / np.maximum(n, 1), parent)
        else:
            p = _pulled(n, c, parent, shrink.counted)
    return np.asarray(p)


def _supported(counts: TypeCounts, rows: float, threshold: Fraction) -> Bools:
    answers: Bools | None = None
    for n, c in _levels(counts):
        own = _reaches(n, c, threshold)
        answers = own if answers is None else np.where(n >= rows, own, np.resize(answers, len(n)))
    assert answers is not None
    return answers


def _reaches(n: Ints, c: Ints, threshold: Fraction) -> Bools:
    """Return where c / n is at least the threshold, compared in whole numbers."""
    return np.asarray(
        scaled(c, threshold.denominator) >= scaled(n, threshold.numerator), dtype=np.bool_
    )


def _pulled(n: Ints, c: Ints, to: Floats, rows: float) -> Floats:
    """Return shares pulled towards others, which count as much as `rows` rows."""
    return np.asarray((c + rows * to) / (n + rows))


def _linear_shares(counts: TypeCounts, unit: int) -> Floats:
    weights = logistic.fit(_bits(counts.codes, counts.ell), counts.n / unit, counts.c / unit)
    return logistic.probabilities(weights, _bits(np.arange(1 << counts.ell), counts.ell))


def _bits(codes: Ints, ell: int) -> Floats:
    return ((codes[:, None] >> np.arange(ell)) & 1).astype(np.float64)


def _levels(counts: TypeCounts) -> list[tuple[Ints, Ints]]:
    """Return n_t and c_t over the first 0, 1, ..., ell attributes."""
    n, c = to_dense(counts)
    levels = [(n, c)]
    for _ in range(counts.ell):
        # The last attribute is the highest bit: its two halves add up to the types without it.
        n, c = n.reshape(2, -1).sum(axis=0), c.reshape(2, -1).sum(axis=0)
        levels.append((n, c))
    return levels[::-1]
