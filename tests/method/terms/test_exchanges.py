"""Exchanges of a formula: what they gain, and that what they are read from adds over rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.method.terms.codes import CodeFormula
from dnfscale.method.terms.conditions import Finder
from dnfscale.method.terms.exchanges import exchange_gains, exchanges, polished
from dnfscale.method.terms.histograms import Layout
from tests.method.terms import made
from tests.strategies import groupings


@given(st.data())
def test_an_exchange_gains_what_it_says(choice):
    sample = choice.draw(made.samples())
    formula = choice.draw(made.formulas(sample.columns))
    finder = Finder(Layout(sample.columns), 3)
    if not finder.slots:
        return
    net = sample.positive - sample.negative
    [gains] = exchange_gains(finder.layout, sample.codes, net, [formula])
    now = made.cost(formula, sample)
    for found in exchanges(formula.terms, gains, finder):
        assert made.cost(CodeFormula(found.terms, formula.complemented), sample) == now - found.gain
    better, gain = polished(formula, gains, finder)
    assert made.cost(better, sample) == now - gain
    assert better.n_literals <= formula.n_literals


@given(st.data())
def test_no_change_of_one_literal_is_better_than_the_exchanges(choice):
    sample = choice.draw(made.samples(max_rows=25))
    formula = choice.draw(made.formulas(sample.columns))
    finder = Finder(Layout(sample.columns), 3)
    if not formula.terms or not finder.slots:
        return
    net = sample.positive - sample.negative
    [gains] = exchange_gains(finder.layout, sample.codes, net, [formula])
    found = list(exchanges(formula.terms, gains, finder))
    best = min(made.cost(formula, sample) - one.gain for one in found)
    for j, term in enumerate(formula.terms):
        for i in range(len(term) + 1):
            rest = (*term[:i], *term[i + 1 :])
            said = {(one.column, one.test(sample.columns[one.column]) == "missing") for one in rest}
            for condition in made.all_conditions(sample.columns, max_values=3):
                is_missing = condition.test(sample.columns[condition.column]) == "missing"
                if (condition.column, is_missing) in said:
                    continue
                terms = (*formula.terms[:j], (*rest, condition), *formula.terms[j + 1 :])
                assert made.cost(CodeFormula(terms, formula.complemented), sample) >= best


@given(st.data())
def test_what_exchanges_are_read_from_does_not_depend_on_how_rows_are_split(choice):
    sample = choice.draw(made.samples())
    formulas = choice.draw(st.lists(made.formulas(sample.columns), max_size=3))
    parts = choice.draw(groupings(sample.n_rows))
    net = sample.positive - sample.negative
    layout = Layout(sample.columns)
    whole = exchange_gains(layout, sample.codes, net, formulas)
    by_part = [exchange_gains(layout, sample.codes[:, rows], net[rows], formulas) for rows in parts]
    for number, found in enumerate(whole):
        assert np.array_equal(found, sum(part[number] for part in by_part))
