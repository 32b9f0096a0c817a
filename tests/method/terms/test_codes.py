"""Conditions and formulas over codes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.method.terms.codes import CodeColumn, CodeFormula, Condition, above, one_of
from tests.method.terms import made

NUMBERS = CodeColumn(8, True, missing=True)
WARDS = CodeColumn(4, False, missing=True, other=True)


@given(st.data())
def test_a_formula_accepts_the_rows_that_satisfy_a_term(choice):
    sample = choice.draw(made.samples())
    formula = choice.draw(made.formulas(sample.columns))
    rows = sample.codes.T.tolist()
    assert formula.accepts(sample.codes, sample.n_rows).tolist() == [
        made.accepts(formula, row) for row in rows
    ]
    assert sample.cost(formula) == made.cost(formula, sample)


@pytest.mark.parametrize(
    ("condition", "column", "test"),
    [
        (above(0, 2, 8), NUMBERS, "above"),
        (above(0, 6, 8, holds=False), NUMBERS, "above"),
        (Condition(0, ((2, 5),)), NUMBERS, "between"),
        (Condition(0, ((8, 8),)), NUMBERS, "missing"),
        (one_of(0, [2]), WARDS, "equals"),
        (one_of(0, [0, 1, 3], holds=False), WARDS, "in"),
        (one_of(0, [1, 2]), WARDS, "in"),
        (Condition(0, ((4, 4),)), WARDS, "missing"),
    ],
)
def test_every_condition_is_one_test_of_a_model(condition, column, test):
    assert condition.test(column) == test


def test_a_missing_value_fails_all_but_missing_and_what_is_negated():
    codes = np.array([NUMBERS.missing_code], dtype=np.uint8)
    for condition in (above(0, 2, 8), Condition(0, ((2, 5),))):
        assert not condition.accepts(codes)[0]
        assert Condition(0, condition.runs, holds=False).accepts(codes)[0]
    assert Condition(0, ((8, 8),)).accepts(codes)[0]


def test_a_set_is_written_as_runs_of_neighbouring_codes():
    assert one_of(3, [7, 0, 1, 5, 6]) == Condition(3, ((0, 1), (5, 7)))
    assert one_of(3, [7, 0, 1, 5, 6]).values() == (0, 1, 5, 6, 7)


def test_a_literal_is_one_condition():
    formula = CodeFormula(((above(0, 2, 8), one_of(1, [0, 2])), (Condition(0, ((2, 5),)),)))
    assert formula.n_literals == 3
    assert CodeFormula(()).n_literals == 0
