"""Which columns are searched, where there are many: each takes time for every row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from dnfscale.core.arrays import Floats, tally_cells
from dnfscale.method.terms.codes import CodeColumn, CodeFormula, Sample

_BLOCK = 1 << 18
"""Codes that are counted at a time."""


def narrowed(sample: Sample, columns: Sequence[int]) -> Sample:
    """Return the sample with some of its columns."""
    return replace(
        sample, columns=tuple(sample.columns[c] for c in columns), codes=sample.codes[list(columns)]
    )


def widened(formula: CodeFormula, columns: Sequence[int]) -> CodeFormula:
    """Return a formula over some columns as one over all."""
    terms = tuple(
        tuple(replace(one, column=columns[one.column]) for one in term) for term in formula.terms
    )
    return replace(formula, terms=terms)


def thinned(sample: Sample, most: int) -> Sample:
    """Return the sample with about so many of its rows, evenly spaced; all if there are no more."""
    step = -(-sample.n_rows // most)
    return replace(
        sample,
        codes=sample.codes[:, ::step],
        positive=sample.positive[::step],
        negative=sample.negative[::step],
    )


def telling_columns(sample: Sample, most: int) -> list[int]:
    """Return the columns that separate the classes best by one cut or value, the best first."""
    separations = _separations(sample)
    order = np.argsort(-separations, kind="stable")
    return [int(number) for number in order[:most]]


def used_columns(formulas: Iterable[CodeFormula], most: int) -> list[int]:
    """Return the columns that most of some formulas use, these first."""
    times = Counter(
        column
        for formula in formulas
        for column in sorted({condition.column for term in formula.terms for condition in term})
    )
    return [column for column, _ in sorted(times.items(), key=lambda item: (-item[1], item[0]))][
        :most
    ]


def _separations(sample: Sample) -> Floats:
    """Return how much less impure the classes are in each column, at best, on both sides of a cut
    or a value; Gini's index."""
    separations = np.empty(len(sample.columns))
    alike: dict[CodeColumn, list[int]] = {}
    for number, column in enumerate(sample.columns):
        alike.setdefault(column, []).append(number)
    for column, numbers in alike.items():
        at_once = max(1, _BLOCK // max(1, sample.n_rows))
        for start in range(0, len(numbers), at_once):
            own = numbers[start : start + at_once]
            separations[own] = _separations_of(sample, own, column)
    return separations


def _separations_of(sample: Sample, numbers: Sequence[int], column: CodeColumn) -> Floats:
    """Return the same of columns whose codes mean the same."""
    n, size = len(numbers), column.n_codes
    cells = sample.codes[numbers] + size * np.arange(n)[:, None]
    positive, negative = (
        tally_cells(cells.ravel(), np.tile(weights, n), n * size)
        .reshape(n, size)
        .astype(np.float64)
        for weights in (sample.positive, sample.negative)
    )
    sides = [_sides(sums, column) for sums in (positive, negative)]
    others = [
        sums.sum(axis=1)[:, None] - side
        for sums, side in zip((positive, negative), sides, strict=True)
    ]
    return np.asarray(-(_impurity(*sides) + _impurity(*others)).min(axis=1))


def _sides(sums: Floats, column: CodeColumn) -> Floats:
    """Return the sums on one side of each cut, or of each value, and of the missing values."""
    values = sums[:, : column.size]
    missing = sums[:, column.size :][:, : column.missing]
    return np.concatenate(
        [np.cumsum(values, axis=1) if column.ordered else values, missing], axis=1
    )


def _impurity(positive: Floats, negative: Floats) -> Floats:
    return positive * negative / np.maximum(positive + negative, 1)
