"""Answers of formulas, counted by bits and judged row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dnfscale.method.terms.answers import AnswerCounts, count_answers
from dnfscale.method.terms.codes import CodeFormula, above
from dnfscale.results.confusion import Confusion
from tests.method.terms import made
from tests.strategies import groupings


def same(one: AnswerCounts, other: AnswerCounts) -> bool:
    return np.array_equal(one.accepted, other.accepted) and np.array_equal(one.rows, other.rows)


@pytest.mark.slow
@given(st.data())
def test_every_row_is_counted_in_its_cell_by_every_formula_that_accepts_it(choice):
    sample = choice.draw(made.samples(max_rows=150))
    formulas = choice.draw(st.lists(made.formulas(sample.columns), max_size=3))
    cells = choice.draw(hnp.arrays(np.uint8, sample.n_rows, elements=st.integers(0, 4)))
    weights = choice.draw(
        st.none()
        | hnp.arrays(np.int64, sample.n_rows, elements=st.sampled_from([0, 1, 2, 5, (1 << 40) + 3]))
    )
    found = count_answers(sample.codes, formulas, cells, 5, weights=weights)
    each = np.ones(sample.n_rows, dtype=np.int64) if weights is None else weights
    assert found.rows.tolist() == [int(each[cells == cell].sum()) for cell in range(5)]
    rows = sample.codes.T.tolist()
    for number, formula in enumerate(formulas):
        accepted = np.array([made.accepts(formula, row) for row in rows], dtype=bool)
        assert found.accepted[number].tolist() == [
            int(each[accepted & (cells == cell)].sum()) for cell in range(5)
        ]


@given(st.data())
def test_counts_of_answers_do_not_depend_on_how_rows_are_split(choice):
    sample = choice.draw(made.samples())
    formulas = choice.draw(st.lists(made.formulas(sample.columns), max_size=3))
    cells = choice.draw(hnp.arrays(np.uint8, sample.n_rows, elements=st.integers(0, 3)))
    first, *others = (
        count_answers(sample.codes[:, rows], formulas, cells[rows], 4)
        for rows in choice.draw(groupings(sample.n_rows))
    )
    assert same(sum(others, start=first), count_answers(sample.codes, formulas, cells, 4))


def test_a_confusion_is_read_from_the_cells_of_a_part():
    sample, target = made.made_sample(500)
    cells = (2 * (np.arange(500) % 2) + target).astype(np.uint8)
    one = CodeFormula(((above(0, 8, 16),),))
    counts = count_answers(sample.codes, [one], cells, 4)
    accepted = one.accepts(sample.codes, 500)
    part = np.arange(500) % 2 == 1
    assert counts.confusion(
        0, np.array([False, True] * 2), np.array([False, False, True, True])
    ) == Confusion(
        tp=int((accepted & target & part).sum()),
        fp=int((accepted & ~target & part).sum()),
        tn=int((~accepted & ~target & part).sum()),
        fn=int((~accepted & target & part).sum()),
    )
