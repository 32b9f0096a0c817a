"""Checklists that are found on rows: as good as they say, each better than those that are
shorter, and as good as the best that there is where that is known.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from dnfscale.method.checklists.search import checklists
from dnfscale.method.terms.codes import CodeColumn, CodeFormula, Sample, above
from tests.method.terms.made import all_conditions, cost, made_sample, samples


def judged(formula: CodeFormula, sample: Sample) -> int:
    """What errors cost, counted condition by condition."""
    if formula.at_least == 1:
        return cost(formula, sample)
    single = [CodeFormula((term,)) for term in formula.terms]
    signs = sum(one.accepts(sample.codes, sample.n_rows).astype(int) for one in single)
    accepted = signs >= formula.at_least
    return int(sample.negative[accepted].sum() + sample.positive[~accepted].sum())


def points(n_rows: int = 3_000, noise: float = 0.1, seed: int = 0) -> Sample:
    """Rows with a target of at least 3 of 5 signs, and as many columns of chance."""
    random = np.random.default_rng(seed)
    columns = tuple(CodeColumn(8, ordered=True) for _ in range(10))
    codes = random.integers(0, 8, (10, n_rows)).astype(np.uint8)
    signs = (codes[:5] > np.array([2, 3, 4, 3, 2])[:, None]).sum(axis=0)
    target = (signs >= 3) ^ (random.random(n_rows) < noise)
    return Sample(columns, codes, target.astype(np.int64), (~target).astype(np.int64))


@settings(deadline=None)
@given(samples())
def test_what_errors_cost_is_what_they_cost_row_by_row(sample):
    found = checklists(sample)
    assert found[0].n_literals == 0
    costs = [one.cost for one in found]
    lengths = [one.n_literals for one in found]
    assert costs == [judged(one.formula, sample) for one in found]
    assert costs == sorted(costs, reverse=True)
    assert lengths == sorted(set(lengths))


@settings(deadline=None)
@given(samples(max_rows=20))
def test_no_single_condition_sets_more_than_some_rows_right_beyond_what_is_found(sample):
    found = checklists(sample)
    singles = all_conditions(sample.columns, max_values=5, intervals=False)
    costs = [judged(CodeFormula(((one,),)), sample) for one in singles]
    at_most_one = [one.cost for one in found if one.n_literals <= 1]
    weight = int(np.abs(sample.positive - sample.negative).sum())
    set_right = max(1, 2 * weight // max(1, sample.n_rows))
    assert all(cost > min(at_most_one) - set_right for cost in costs)


def test_a_planted_checklist_is_found_among_columns_of_chance():
    by_length = {one.n_literals: one for one in checklists(points())}
    formula = by_length[5].formula
    assert formula.at_least == 3
    cuts = {0: 2, 1: 3, 2: 4, 3: 3, 4: 2}
    assert set(formula.terms) == {(above(column, cut, 8),) for column, cut in cuts.items()}
    assert max(by_length) == 5


def test_no_pair_of_conditions_beats_the_one_that_is_found():
    sample = points(n_rows=300)
    singles = all_conditions(sample.columns, max_values=1, intervals=False)
    holds = [CodeFormula(((one,),)).accepts(sample.codes, sample.n_rows) for one in singles]
    gains = sample.positive - sample.negative
    best = max(
        int(gains[joined].sum())
        for a, b in combinations(range(len(singles)), 2)
        if singles[a].column != singles[b].column
        for joined in (holds[a] & holds[b], holds[a] | holds[b])
    )
    [pair] = [one for one in checklists(sample) if one.n_literals == 2]
    assert pair.cost == sample.positive.sum() - best


@pytest.mark.parametrize("longest", [1, 3])
def test_a_budget_is_kept(longest):
    assert max(one.n_literals for one in checklists(points(), longest=longest)) == longest


def test_weights_count_rows_as_often():
    sample, _ = made_sample(400, weighted=True)
    weight = sample.positive + sample.negative
    again = np.repeat(np.arange(400), weight)
    many = Sample(
        sample.columns,
        sample.codes[:, again],
        (sample.positive > 0)[again].astype(np.int64),
        (sample.negative > 0)[again].astype(np.int64),
    )
    short, long = ({one.n_literals: one.cost for one in checklists(s)} for s in (sample, many))
    assert short[1] == long[1]
    assert short[2] == long[2]
