"""Made samples for tests of the search of terms, and plain judges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dnfscale.core.arrays import Bools
from dnfscale.method.terms.codes import CodeColumn, CodeFormula, Condition, Sample, above, one_of


@st.composite
def code_columns(draw: st.DrawFn) -> CodeColumn:
    """A column of numbers, of Booleans or of categories, with missing and unknown values or
    without."""
    ordered = draw(st.booleans())
    missing, other = draw(st.booleans()), not ordered and draw(st.booleans())
    return CodeColumn(draw(st.integers(1, 5)), ordered, missing, other)


@st.composite
def samples(draw: st.DrawFn, *, max_rows: int = 40, max_weight: int = 3) -> Sample:
    """Rows of a few columns; each is positive or negative, or a little of both."""
    columns = tuple(draw(st.lists(code_columns(), min_size=1, max_size=4)))
    n_rows = draw(st.integers(0, max_rows))

    def integers(most: int, dtype: type) -> np.ndarray:
        return draw(hnp.arrays(dtype, n_rows, elements=st.integers(0, most), fill=st.nothing()))

    codes = np.array([integers(column.n_codes - 1, np.uint8) for column in columns])
    return Sample(columns, codes, integers(max_weight, np.int64), integers(max_weight, np.int64))


@st.composite
def conditions(draw: st.DrawFn, columns: Sequence[CodeColumn]) -> Condition | None:
    """A condition on some column; None if the column drawn has none."""
    number = draw(st.integers(0, len(columns) - 1))
    column, holds = columns[number], draw(st.booleans())
    if column.missing and draw(st.booleans()):
        return Condition(number, ((column.missing_code, column.missing_code),), holds)
    if not column.ordered:
        values = draw(st.sets(st.integers(0, column.size - 1), min_size=1))
        return one_of(number, sorted(values), holds=holds)
    if column.size < 2:
        return None
    first = draw(st.integers(1, column.size - 1))
    last = draw(st.integers(first, column.size - 1))
    if last == column.size - 1:
        return above(number, first - 1, column.size, holds=holds)
    return Condition(number, ((first, last),), holds)


@st.composite
def formulas(draw: st.DrawFn, columns: Sequence[CodeColumn]) -> CodeFormula:
    """A formula of a few terms, none of which says two things about the values of a column."""
    terms = []
    for _ in range(draw(st.integers(0, 3))):
        drawn = draw(st.lists(conditions(columns), max_size=3))
        by_subject = {
            (one.column, one.test(columns[one.column]) == "missing"): one
            for one in drawn
            if one is not None
        }
        terms.append(tuple(by_subject.values()))
    return CodeFormula(tuple(terms), draw(st.booleans()))


def holds(condition: Condition, code: int) -> bool:
    """The judge of a condition."""
    return any(first <= code <= last for first, last in condition.runs) == condition.holds


def accepts(formula: CodeFormula, row: Sequence[int]) -> bool:
    """The judge of a formula."""
    found = any(all(holds(one, row[one.column]) for one in term) for term in formula.terms)
    return found != formula.complemented


def cost(formula: CodeFormula, sample: Sample) -> int:
    """The judge of what errors cost."""
    return sum(
        negative if accepts(formula, row) else positive
        for row, positive, negative in zip(
            sample.codes.T.tolist(), sample.positive.tolist(), sample.negative.tolist(), strict=True
        )
    )


def all_conditions(
    columns: Sequence[CodeColumn], *, max_values: int, intervals: bool = True
) -> list[Condition]:
    """Every condition that a search may find."""
    found = []
    for number, column in enumerate(columns):
        if column.missing:
            found.append(Condition(number, ((column.missing_code, column.missing_code),)))
        if column.ordered:
            found += [above(number, cut, column.size) for cut in range(column.size - 1)]
            if intervals:
                ends = [
                    (a, b) for a in range(1, column.size - 1) for b in range(a, column.size - 1)
                ]
                found += [Condition(number, (end,)) for end in ends]
        else:
            sets = [
                [value for value in range(column.size) if mask >> value & 1]
                for mask in range(1, 1 << column.size)
            ]
            found += [one_of(number, values) for values in sets if len(values) <= max_values]
    return [Condition(one.column, one.runs, holds) for one in found for holds in (True, False)]


def made_sample(n_rows: int, *, seed: int = 0, weighted: bool = False) -> tuple[Sample, Bools]:
    """Rows whose target is a formula of two lines, with one label in ten reversed; and the
    target."""
    random = np.random.default_rng(seed)
    columns = (
        CodeColumn(16, True, missing=True),
        CodeColumn(16, True),
        CodeColumn(2, True),
        CodeColumn(5, False, other=True),
        CodeColumn(16, True),
    )
    codes = np.array(
        [random.integers(0, column.n_codes, n_rows) for column in columns], dtype=np.uint8
    )
    truth = ((codes[0] > 8) & (codes[0] < 16) & (codes[3] != 2)) | (
        (codes[1] > 4) & (codes[1] <= 9) & (codes[2] == 1)
    )
    target = truth ^ (random.random(n_rows) < 0.1)
    weights = random.integers(1, 5, n_rows) if weighted else np.ones(n_rows, dtype=np.int64)
    return Sample(columns, codes, weights * target, weights * ~target), target
