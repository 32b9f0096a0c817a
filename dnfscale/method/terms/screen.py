"""Which columns are searched, where there are many: each takes time for every row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from dnfscale.core.arrays import Floats, tally_cells
from dnfscale.method.terms.codes import CodeColumn, CodeFormula, Sample


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
    separations = [_separation(sample, number) for number in range(len(sample.columns))]
    order = np.argsort(-np.array(separations), kind="stable")
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


def _separation(sample: Sample, number: int) -> float:
    """Return how much less impure the classes are, at best, on both sides of a cut or a value;
    Gini's index."""
    column = sample.columns[number]
    positive, negative = (
        tally_cells(sample.codes[number], weights, column.n_codes).astype(np.float64)
        for weights in (sample.positive, sample.negative)
    )
    sides = np.array([_sides(part, column) for part in (positive, negative)])
    totals = np.array([[positive.sum()], [negative.sum()]])
    return -float((_impurity(*sides) + _impurity(*(totals - sides))).min())


def _sides(sums: Floats, column: CodeColumn) -> Floats:
    """Return the sums on one side of each cut, or of each value, and of the missing values."""
    values = sums[: column.size]
    return np.append(
        np.cumsum(values) if column.ordered else values, sums[column.size :][: column.missing]
    )


def _impurity(positive: Floats, negative: Floats) -> Floats:
    return positive * negative / np.maximum(positive + negative, 1)
