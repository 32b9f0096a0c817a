"""The choice of columns, where there are many."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from dnfscale.method.terms.codes import CodeColumn, CodeFormula, Condition, Sample, above
from dnfscale.method.terms.screen import telling_columns, thinned, used_columns
from dnfscale.method.terms.search import Effort, frontier
from tests.method.terms import made


def impurity(positive: float, negative: float) -> float:
    return positive * negative / max(positive + negative, 1)


@given(made.samples())
def test_the_columns_that_separate_the_classes_best_come_first(sample):
    def separation(number):
        """The judge: try all cuts, values and missing values."""
        column = sample.columns[number]
        tests = [
            Condition(number, ((0, cut) if column.ordered else (cut, cut),))
            for cut in range(column.size)
        ]
        if column.missing:
            tests.append(Condition(number, ((column.missing_code, column.missing_code),)))
        found = []
        for test in tests:
            yes = test.accepts(sample.codes[number])
            found.append(
                sum(
                    impurity(sample.positive[side].sum(), sample.negative[side].sum())
                    for side in (yes, ~yes)
                )
            )
        return -min(found)

    order = telling_columns(sample, 9)
    scores = [separation(number) for number in order]
    assert sorted(order) == list(range(len(sample.columns)))
    assert np.allclose(scores, sorted(scores, reverse=True))


def test_columns_used_most_come_first():
    one, two = above(3, 1, 4), above(1, 1, 4)
    formulas = [
        CodeFormula(((one,),)),
        CodeFormula(((one, two), (two,))),
        CodeFormula(((above(0, 1, 4),),)),
    ]
    assert used_columns(formulas, 2) == [3, 0]
    assert used_columns(formulas, 9) == [3, 0, 1]


def test_a_formula_is_found_among_many_columns_of_many_rows():
    sample, _ = made.made_sample(9000)
    noise = np.random.default_rng(5).integers(0, 16, (70, 9000)).astype(np.uint8)
    wide = Sample(
        (CodeColumn(16, True),) * 70 + sample.columns,
        np.concatenate([noise, sample.codes]),
        sample.positive,
        sample.negative,
    )
    effort = Effort(max_literals=4)
    narrow = {found.n_literals: found for found in frontier(sample, effort)}
    found = {found.n_literals: found for found in frontier(wide, effort)}
    assert found[4].cost == narrow[4].cost == wide.cost(found[4].formula)


def test_rows_are_thinned_evenly():
    sample, _ = made.made_sample(100)
    assert thinned(sample, 100).n_rows == 100
    assert np.array_equal(thinned(sample, 40).codes, sample.codes[:, ::3])
