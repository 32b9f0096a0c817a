"""Objectives, exact from counts: brute force over all Boolean functions is the judge."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, fbeta_score

from dnfscale.core.counts import TypeCounts
from dnfscale.core.vocabulary import IsTrue, Vocabulary
from dnfscale.method.ideal import weighed
from dnfscale.method.objective import Objective
from dnfscale.method.shrink import Shrink, accepted_types
from dnfscale.results.confusion import Confusion
from tests.judges import tally
from tests.strategies import boolean_rows

OBJECTIVES = [
    Objective(),
    Objective(threshold=Fraction(1, 5)),
    Objective("balanced_accuracy"),
    Objective("f_beta"),
    Objective("f_beta", beta=Fraction(2)),
    Objective("f_beta", beta=Fraction(1, 2)),
]


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
@given(rows=boolean_rows(min_rows=2, max_attributes=2))
def test_no_function_of_the_attributes_does_better_on_the_rows_learned_from(objective, rows):
    holds, target = rows
    counts = tally(holds, target)
    if target.all() or not target.any():
        return
    accepted = accepted_types(counts, Shrink(), objective.threshold_of(counts))
    found = objective.score(accepted[counts.codes], counts)
    best = max(
        objective.score(np.array(answers), counts)
        for answers in itertools.product([False, True], repeat=len(counts.codes))
    )
    assert found == best


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("unit", [1, 3, 2**45])
def test_what_a_row_counts_changes_no_answer_even_where_products_do_not_fit_64_bits(
    objective, unit
):
    random = np.random.default_rng(4)
    n = random.integers(1, 30, 8)
    counts = TypeCounts(3, np.arange(8), n, random.integers(0, n + 1))
    heavy = TypeCounts(3, np.arange(8), unit * counts.n, unit * counts.c)
    # One more than a multiple, so that the shares have large denominators.
    uneven = TypeCounts(3, np.arange(8), unit * counts.n + 1, unit * counts.c + 1)
    for each in (counts, heavy, uneven):
        threshold = objective.threshold_of(each)
        expected = [
            Fraction(c, n) >= threshold
            for n, c in zip(each.n.tolist(), each.c.tolist(), strict=True)
        ]
        assert accepted_types(each, Shrink(), threshold).tolist() == expected
        assert accepted_types(each, Shrink("support", 1), threshold).tolist() == expected
        weights = weighed(each, threshold)
        assert (2 * weights.c >= weights.n).tolist() == expected
        assert weights.n_rows == sum(weights.n.tolist())
    answers = [
        accepted_types(each, Shrink(), objective.threshold_of(each)).tolist()
        for each in (counts, heavy)
    ]
    assert answers[0] == answers[1]


@given(boolean_rows(min_rows=2, max_attributes=3), st.data())
def test_scores_are_those_of_scikit_learn(rows, choice):
    holds, target = rows
    counts = tally(holds, target)
    accepted = np.array(
        choice.draw(st.lists(st.booleans(), min_size=1 << counts.ell, max_size=1 << counts.ell))
    )
    answers = accepted[holds @ (1 << np.arange(counts.ell))]
    if 0 < target.sum() < len(target):
        found = Objective("balanced_accuracy").score(accepted[counts.codes], counts)
        assert float(found) == pytest.approx(balanced_accuracy_score(target, answers))
        for beta in (Fraction(1), Fraction(2)):
            found = Objective("f_beta", beta=beta).score(accepted[counts.codes], counts)
            assert float(found) == pytest.approx(
                fbeta_score(target, answers, beta=float(beta), zero_division=0)
            )
    assert Objective().score(accepted[counts.codes], counts) == Fraction(
        int((answers == target).sum()), len(target)
    )


@given(
    st.lists(st.integers(1, 40), min_size=4, max_size=4),
    st.sampled_from(["accuracy", "balanced_accuracy", "f_beta"]),
    st.sampled_from([Fraction(1, 2), Fraction(1, 10), Fraction(3, 4)]),
)
def test_the_score_of_counted_answers_is_that_of_their_rows(cells, name, threshold):
    tp, fp, tn, fn = cells
    goal = Objective(name, threshold, Fraction(2))
    counts = TypeCounts(
        Vocabulary((IsTrue("a", "a", True),)),
        np.array([0, 1]),
        np.array([tn + fn, tp + fp]),
        np.array([fn, tp]),
    )
    answers = Confusion(tp=tp, fp=fp, tn=tn, fn=fn)
    assert goal.score_of(answers) == goal.score(np.array([False, True]), counts)
