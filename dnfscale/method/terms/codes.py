"""Rows as small codes, and formulas over them: what a search learns from, and what it finds.

A code is how many cuts lie below a number, or which value a category has. A condition asks whether
the code of one column lies in some runs of codes, or whether it does not; so a value that is
missing fails every condition except «missing» and those that are negated, as it does for the
attributes of a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints


@dataclass(frozen=True, slots=True)
class CodeColumn:
    """What the codes of a column mean.

    The codes below `size` are its values: of numbers the bins in increasing order, so that a code
    above k is a number above cut k; of a Boolean column false and true. Then comes the code of a
    missing value, then that of all values that cannot be named: those never seen, and those too
    rare.
    """

    size: int
    ordered: bool
    missing: bool = False
    """Whether values may be missing, which a condition can ask."""
    other: bool = False
    """Whether there may be values that cannot be named."""

    @property
    def n_codes(self) -> int:
        return self.size + (2 if self.other else int(self.missing))

    @property
    def missing_code(self) -> int:
        return self.size


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """One literal: whether the code of a column lies in one of the runs first..last, or in none of
    them."""

    column: int
    runs: tuple[tuple[int, int], ...]
    """Increasing, and not adjacent to one another."""
    holds: bool = True
    """False for the negation."""

    def accepts(self, codes: Codes) -> Bools:
        """Return for which of the column's codes the condition is true."""
        inside = _within(codes, *self.runs[0])
        for first, last in self.runs[1:]:
            inside |= _within(codes, first, last)
        return inside if self.holds else ~inside

    def values(self) -> tuple[int, ...]:
        """Return the codes in the runs."""
        return tuple(code for first, last in self.runs for code in range(first, last + 1))

    def test(self, column: CodeColumn) -> str:
        """Return which test of a model's attribute it is; a Boolean column's "above" is "true"."""
        first, last = self.runs[0]
        if first == column.missing_code:
            return "missing"
        if column.ordered:
            return "above" if last == column.size - 1 else "between"
        return "equals" if self.runs == ((first, first),) else "in"


def above(column: int, cut: int, size: int, *, holds: bool = True) -> Condition:
    """Return the condition that a number lies above a cut; the column has `size` bins."""
    return Condition(column, ((cut + 1, size - 1),), holds)


def one_of(column: int, values: Sequence[int], *, holds: bool = True) -> Condition:
    """Return the condition that a category has one of some values."""
    runs: list[tuple[int, int]] = []
    for value in sorted(values):
        if runs and runs[-1][1] == value - 1:
            runs[-1] = (runs[-1][0], value)
        else:
            runs.append((value, value))
    return Condition(column, tuple(runs), holds)


ByColumn = Codes | Sequence[Codes] | Mapping[int, Codes]
"""The codes of all rows in each column, codes[column]; of a mapping, those columns that are asked
for."""
CodeTerm = tuple[Condition, ...]
"""Conditions that must all be true."""


@dataclass(frozen=True, slots=True)
class CodeFormula:
    """A disjunction of terms, or its negation. No term: false. The term without conditions:
    true. Or a checklist: so many of the terms must be true."""

    terms: tuple[CodeTerm, ...]
    complemented: bool = False
    """Whether the answer is yes where no term is true."""
    at_least: int = 1
    """More than one of a checklist."""

    @property
    def n_literals(self) -> int:
        return sum(len(term) for term in self.terms)

    def accepts(self, codes: ByColumn, n_rows: int) -> Bools:
        """Return for which rows the answer is yes."""
        true = np.zeros(n_rows, dtype=np.int16)
        for term in self.terms:
            holds = np.ones(n_rows, dtype=np.bool_)
            for condition in term:
                holds &= condition.accepts(codes[condition.column])
            true += holds
        return np.asarray((true >= self.at_least) != self.complemented)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The rows that a search learns from."""

    columns: tuple[CodeColumn, ...]
    codes: Codes
    """codes[column, row], in one byte each."""
    positive: Ints
    """What a wrong «no» costs for each row: its weight if it is positive, and 0 if it is negative;
    or both have a share."""
    negative: Ints
    """What a wrong «yes» costs for each row."""

    @property
    def n_rows(self) -> int:
        return len(self.positive)

    def cost(self, formula: CodeFormula) -> int:
        """Return what the errors of a formula cost."""
        accepted = formula.accepts(self.codes, self.n_rows)
        return int(self.negative[accepted].sum() + self.positive[~accepted].sum())


def _within(codes: Codes, first: int, last: int) -> Bools:
    if first == last:
        return np.asarray(codes == first)
    # Codes below the first wrap around to large ones: one comparison instead of two.
    return np.asarray((codes - codes.dtype.type(first)) <= last - first)
