"""Formulas as trees: they say what Python says, and can be written and read again."""

from __future__ import annotations

import functools
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.formula import Term
from dnfscale.core.tree import (
    MOST_SIZE,
    And,
    Formula,
    Not,
    Or,
    Symbol,
    evaluate,
    from_json,
    literals,
    render,
    renumbered,
    size,
    symbols,
    to_dnf,
    to_json,
    without_negations,
)
from tests.strategies import trees

NAMES = ["a", "b b", "not", 'c"']


def formulas() -> st.SearchStrategy[Formula]:
    return st.recursive(
        st.builds(Symbol, st.integers(0, 3)),
        lambda parts: st.one_of(
            st.builds(Not, parts), st.builds(And, parts, parts), st.builds(Or, parts, parts)
        ),
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


def implicants(truth: list[bool], ell: int) -> set[Term]:
    """The judge: every term over ell attributes that holds only where the formula is true, and none
    that is longer.
    """
    terms = [
        Term(care, value)
        for care in range(1 << ell)
        for value in range(1 << ell)
        if not value & ~care
    ]
    sound = [
        term
        for term in terms
        if all(truth[code] for code in range(1 << ell) if code & term.care == term.value)
    ]
    return {
        term
        for term in sound
        if not any(
            o != term and not o.care & ~term.care and term.value & o.care == o.value for o in sound
        )
    }


ASSIGNMENTS = np.array([[code >> i & 1 for i in range(4)] for code in range(16)], dtype=np.bool_)


@given(formulas())
def test_a_formula_is_true_where_python_says_so(formula):
    truth = [eval(python(formula), {"v": row}) for row in ASSIGNMENTS.tolist()]
    assert evaluate(formula, ASSIGNMENTS.T).tolist() == truth


@given(formulas())
def test_a_formula_is_evaluated_alike_on_bits(formula):
    packed = np.packbits(ASSIGNMENTS.T, axis=1)
    assert np.array_equal(
        np.unpackbits(evaluate(formula, packed)).astype(bool), evaluate(formula, ASSIGNMENTS.T)
    )


@given(formulas())
def test_a_rendered_formula_reads_as_python_with_the_same_meaning(formula):
    text = render(formula, ["a", "b", "c", "d"])
    for row in ASSIGNMENTS.tolist():
        assert eval(text, dict(zip("abcd", row, strict=True))) == eval(python(formula), {"v": row})


@given(formulas())
def test_the_size_counts_symbols_and_connectives(formula):
    text = python(formula)
    assert size(formula) == text.count("v[") + text.count("not ") + text.count(
        " and "
    ) + text.count(" or ")
    assert len(list(symbols(formula))) == text.count("v[")


@given(formulas())
def test_a_formula_survives_json(formula):
    assert from_json(json.loads(json.dumps(to_json(formula)))) == formula


@given(formulas(), st.booleans())
def test_moving_negations_down_changes_nothing_and_leaves_them_at_symbols(formula, holds):
    moved = without_negations(formula, holds)
    assert (evaluate(moved, ASSIGNMENTS.T) == (evaluate(formula, ASSIGNMENTS.T) == holds)).all()
    assert "not (" not in render(moved, ["a", "b", "c", "d"])
    written = re.findall(r"(not )?\b([abcd])\b", render(moved, ["a", "b", "c", "d"]))
    assert list(literals(formula, holds)) == [
        ("abcd".index(name), not negated) for negated, name in written
    ]


@given(formulas())
def test_a_formula_multiplied_out_says_the_same(formula):
    dnf = to_dnf(formula)
    truth = evaluate(formula, ASSIGNMENTS.T)
    assert dnf.accepts(np.arange(16)).tolist() == truth.tolist()
    if truth.all():
        assert dnf.terms == (Term(0, 0),)
    assert not any(
        one != other and not one.care & ~other.care and other.value & one.care == one.value
        for one in dnf.terms
        for other in dnf.terms
    )


@given(trees(4))
def test_a_formula_without_opposite_literals_has_its_prime_implicants_for_terms(formula):
    found = set(literals(formula))
    if any((attribute, not holds) in found for attribute, holds in found):
        return
    assert set(to_dnf(formula).terms) == implicants(evaluate(formula, ASSIGNMENTS.T).tolist(), 4)


def test_the_longest_formulas_are_multiplied_out():
    threes = [Or(Symbol(i), Or(Symbol(i + 1), Symbol(i + 2))) for i in range(0, 24, 3)]
    formula = functools.reduce(And, threes)
    assert size(formula) == MOST_SIZE
    assert len(to_dnf(formula).terms) == 3**8


@given(formulas(), st.permutations(range(4)))
def test_symbols_get_other_numbers(formula, places):
    turned = renumbered(formula, dict(enumerate(places)))
    assert list(symbols(turned)) == [places[attribute] for attribute in symbols(formula)]
    assert (
        evaluate(turned, ASSIGNMENTS.T[np.argsort(places)]) == evaluate(formula, ASSIGNMENTS.T)
    ).all()


def test_formulas_are_written_with_as_few_brackets_as_reading_needs():
    a, b, c, d = (Symbol(i) for i in range(4))
    names = ["a", "b b", "not", 'c"']
    assert render(And(And(a, b), c), names) == 'a and "b b" and "not"'
    assert (
        render(Or(And(a, Not(b)), Not(Or(c, d))), names)
        == '(a and not "b b") or not ("not" or "c\\"")'
    )
    assert render(Not(Not(a)), names) == "not not a"
    assert render(Or(a, Or(b, a)), names) == 'a or "b b" or a'


@pytest.mark.parametrize(
    "value", [-1, True, "a", ["xor", 0, 1], ["not", 0, 1], ["and", 0], [], None]
)
def test_what_is_no_formula_is_refused(value):
    with pytest.raises(
        ValueError, match="a formula is a symbol's number or a list that begins with not, and, or"
    ):
        from_json(value)
