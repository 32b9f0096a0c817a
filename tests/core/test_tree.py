"""Formulas as trees: they say what Python says, and can be written and read again."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.tree import (
    And,
    Formula,
    Not,
    Or,
    Symbol,
    evaluate,
    from_json,
    render,
    size,
    symbols,
    to_json,
)

NAMES = ["a", "b b", "not", 'c"']


def formulas() -> st.SearchStrategy[Formula]:
    return st.recursive(
        st.builds(Symbol, st.integers(0, 3)),
        lambda parts: st.one_of(st.builds(Not, parts), st.builds(And, parts, parts), st.builds(Or, parts, parts)),
        max_leaves=12,
    )


def python(formula: Formula) -> str:
    """The formula as Python, with every bracket written."""
    match formula:
        case Symbol(attribute):
            return f"v[{attribute}]"
        case Not(operand):
            return f"(not {python(operand)})"
        case And(left, right):
            return f"({python(left)} and {python(right)})"
        case Or(left, right):
            return f"({python(left)} or {python(right)})"


ASSIGNMENTS = np.array([[code >> i & 1 for i in range(4)] for code in range(16)], dtype=np.bool_)


@given(formulas())
def test_a_formula_is_true_where_python_says_so(formula):
    truth = [eval(python(formula), {"v": row}) for row in ASSIGNMENTS.tolist()]
    assert evaluate(formula, ASSIGNMENTS.T).tolist() == truth


@given(formulas())
def test_a_formula_is_evaluated_alike_on_bits(formula):
    packed = np.packbits(ASSIGNMENTS.T, axis=1)
    assert np.array_equal(np.unpackbits(evaluate(formula, packed)).astype(bool), evaluate(formula, ASSIGNMENTS.T))


@given(formulas())
def test_a_rendered_formula_reads_as_python_with_the_same_meaning(formula):
    text = render(formula, ["a", "b", "c", "d"])
    for row in ASSIGNMENTS.tolist():
        assert eval(text, dict(zip("abcd", row, strict=True))) == eval(python(formula), {"v": row})


@given(formulas())
def test_the_size_counts_symbols_and_connectives(formula):
    text = python(formula)
    assert size(formula) == text.count("v[") + text.count("not ") + text.count(" and ") + text.count(" or ")
    assert len(list(symbols(formula))) == text.count("v[")


@given(formulas())
def test_a_formula_survives_json(formula):
    assert from_json(json.loads(json.dumps(to_json(formula)))) == formula


def test_formulas_are_written_with_as_few_brackets_as_reading_needs():
    a, b, c, d = (Symbol(i) for i in range(4))
    names = ["a", "b b", "not", 'c"']
    assert render(And(And(a, b), c), names) == 'a and "b b" and "not"'
    assert render(Or(And(a, Not(b)), Not(Or(c, d))), names) == '(a and not "b b") or not ("not" or "c\\"")'
    assert render(Not(Not(a)), names) == "not not a"
    assert render(Or(a, Or(b, a)), names) == 'a or "b b" or a'


@pytest.mark.parametrize("value", [-1, True, "a", ["xor", 0, 1], ["not", 0, 1], ["and", 0], [], None])
def test_what_is_no_formula_is_refused(value):
    with pytest.raises(ValueError, match="a formula is a symbol's number or a list that begins with not, and, or"):
        from_json(value)
