"""The frontier: what it costs, that nothing can be left out, and that it finds what is there."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dnfscale.method.terms.codes import CodeColumn, CodeFormula, Condition, Sample, above, one_of
from dnfscale.method.terms.search import FEW_ROWS, Effort, effort_for, frontier, frontiers
from tests.method.terms import made

SMALL = Effort(max_literals=6, expansions=30, max_values=3)


def simpler(formula: CodeFormula, columns: tuple[CodeColumn, ...]):
    """The judge: the same formula with something left out."""
    for j, term in enumerate(formula.terms):
        yield replace(formula, terms=(*formula.terms[:j], *formula.terms[j + 1 :]))
        for i, condition in enumerate(term):
            for fewer in (
                (),
                *((one,) for one in simpler_conditions(condition, columns[condition.column])),
            ):
                changed = (*term[:i], *fewer, *term[i + 1 :])
                yield replace(formula, terms=(*formula.terms[:j], changed, *formula.terms[j + 1 :]))


def simpler_conditions(condition: Condition, column: CodeColumn):
    if condition.test(column) == "between":
        [(first, last)] = condition.runs
        yield above(condition.column, first - 1, column.size, holds=condition.holds)
        yield above(condition.column, last, column.size, holds=not condition.holds)
    if condition.test(column) == "in":
        for value in condition.values():
            yield one_of(
                condition.column,
                [v for v in condition.values() if v != value],
                holds=condition.holds,
            )


@settings(max_examples=60)
@given(made.samples(), st.booleans())
def test_a_frontier_gets_better_with_length_and_nothing_of_it_can_be_left_out(sample, complemented):
    found = frontier(sample, SMALL, complemented=complemented)
    assert found[0].n_literals == 0
    for one in found:
        assert one.cost == made.cost(one.formula, sample)
        assert one.formula.complemented == complemented
        for other in simpler(one.formula, sample.columns):
            assert made.cost(other, sample) > one.cost
    assert all(b.n_literals > a.n_literals and b.cost < a.cost for a, b in pairwise(found))
    assert found[-1].n_literals <= 6


def test_what_is_found_of_some_rows_is_where_the_search_of_all_begins():
    whole, _ = made.made_sample(3000, weighted=True)
    some = replace(
        whole,
        codes=whole.codes[:, ::3],
        positive=whole.positive[::3],
        negative=whole.negative[::3],
    )
    effort = Effort(max_literals=8)
    first, second = frontiers([some, whole], effort)
    assert first == frontier(some, effort)
    for known in first:
        best = [one for one in second if one.n_literals <= known.n_literals][-1]
        # A longer formula must be better by the margin.
        assert best.cost <= made.cost(known.formula, whole) + effort.margin * 2 * whole.n_rows * 3
    assert all(one.cost == made.cost(one.formula, whole) for one in second)


@given(made.samples(), st.booleans())
def test_of_one_literal_the_best_is_found(sample, complemented):
    found = frontier(sample, replace(SMALL, max_literals=1, margin=0.0), complemented=complemented)
    formulas = [
        CodeFormula(((condition,),), complemented)
        for condition in made.all_conditions(sample.columns, max_values=3)
    ]
    constants = [CodeFormula(()), CodeFormula(((),))]
    assert found[-1].cost == min(made.cost(formula, sample) for formula in (*constants, *formulas))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_formula_that_made_the_rows_is_found(weighted):
    sample, _ = made.made_sample(3000, weighted=weighted)
    best = {found.n_literals: found.formula for found in frontier(sample, Effort(max_literals=10))}
    lines = {frozenset(term) for term in best[4].terms}
    assert lines == {
        frozenset({above(0, 8, 16), one_of(3, [2], holds=False)}),
        frozenset({Condition(1, ((5, 9),)), above(2, 0, 2)}),
    }


def test_the_complement_of_a_formula_is_found_as_one():
    sample, _ = made.made_sample(3000)
    swapped = Sample(sample.columns, sample.codes, sample.negative, sample.positive)
    plain = frontier(sample, Effort(max_literals=8))
    reverse = frontier(swapped, Effort(max_literals=8), complemented=True)
    assert [(one.cost, one.formula.terms) for one in plain] == [
        (one.cost, one.formula.terms) for one in reverse
    ]


def test_rows_that_weigh_twice_are_rows_that_come_twice():
    sample, _ = made.made_sample(400, weighted=True)
    repeats = sample.positive + sample.negative
    twice = Sample(
        sample.columns,
        np.repeat(sample.codes, repeats, axis=1),
        np.repeat((sample.positive > 0).astype(np.int64), repeats),
        np.repeat((sample.negative > 0).astype(np.int64), repeats),
    )
    assert frontier(sample, SMALL) == frontier(twice, SMALL)


def test_the_order_of_the_rows_does_not_matter():
    sample, _ = made.made_sample(500)
    order = np.random.default_rng(1).permutation(500)
    shuffled = Sample(
        sample.columns, sample.codes[:, order], sample.positive[order], sample.negative[order]
    )
    assert frontier(sample, SMALL) == frontier(shuffled, SMALL)


def test_of_few_rows_a_longer_formula_sets_some_right():
    sample, _ = made.made_sample(600)
    costs = [found.cost for found in frontier(sample, effort_for(sample.n_rows))]
    assert len(costs) > 2
    assert all(shorter - longer >= 3 for shorter, longer in pairwise(costs))


def test_of_few_rows_effort_grows_with_them():
    few, many = effort_for(FEW_ROWS - 1), effort_for(FEW_ROWS)
    assert effort_for(0).max_literals == 10 < few.max_literals < many.max_literals
    assert (few.intervals, many.intervals) == (False, True)
    assert effort_for(100).margin > few.margin > many.margin


def test_budgets_are_obeyed():
    sample, _ = made.made_sample(1000)
    for found in frontier(sample, Effort(max_literals=9, max_terms=2)):
        assert found.n_literals <= 9
        assert len(found.formula.terms) <= 2


@pytest.mark.parametrize(("positive", "formula"), [(1, CodeFormula(((),))), (0, CodeFormula(()))])
def test_rows_of_one_class_have_a_constant_answer(positive, formula):
    sample, _ = made.made_sample(20)
    ones = np.ones(20, dtype=np.int64)
    constant = Sample(sample.columns, sample.codes, positive * ones, (1 - positive) * ones)
    assert [found.formula for found in frontier(constant, SMALL)] == [formula]
    none = Sample(sample.columns, sample.codes[:, :0], ones[:0], ones[:0])
    assert [found.formula for found in frontier(none, SMALL)] == [CodeFormula(())]
