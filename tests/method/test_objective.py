"""Objectives, exact from counts: brute force over all Boolean functions is the judge."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, fbeta_score

from dnfscale.core.counts import tally
from dnfscale.method.objective import Objective
from dnfscale.method.shrink import Shrink, accepted_types
from tests.strategies import boolean_rows

OBJECTIVES = [
    Objective(),
    Objective(threshold=Fraction(1, 5)),
    Objective("balanced_accuracy"),
    Objective("f_beta"),
    Objective("f_beta", beta=Fraction(2)),
    Objective("f_beta", beta=Fraction(1, 2)),
]


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


@given(boolean_rows(min_rows=2, max_attributes=3), st.data())
def test_scores_are_those_of_scikit_learn(rows, choice):
    holds, target = rows
    counts = tally(holds, target)
    accepted = np.array(choice.draw(st.lists(st.booleans(), min_size=1 << counts.ell, max_size=1 << counts.ell)))
    answers = accepted[holds @ (1 << np.arange(counts.ell))]
    if 0 < target.sum() < len(target):
        found = Objective("balanced_accuracy").score(accepted[counts.codes], counts)
        assert float(found) == pytest.approx(balanced_accuracy_score(target, answers))
        for beta in (Fraction(1), Fraction(2)):
            found = Objective("f_beta", beta=beta).score(accepted[counts.codes], counts)
            assert float(found) == pytest.approx(fbeta_score(target, answers, beta=float(beta), zero_division=0))
    assert Objective().score(accepted[counts.codes], counts) == Fraction(int((answers == target).sum()), len(target))
