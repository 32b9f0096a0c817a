"""The corrected resampled t-interval, against its definition and against simulation."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, fbeta_score

from dnfscale.compare.comparison import compare, comparisons, reached
from dnfscale.report.wording import difference_words, fitted_words
from dnfscale.results.confusion import Confusion
from dnfscale.results.method import Fold, Method, Objective, Tuning


def test_the_interval_is_the_corrected_resampled_t_interval() -> None:
    first = [Fraction(80, 100), Fraction(85, 100), Fraction(90, 100), Fraction(70, 100)]
    second = [Fraction(75, 100), Fraction(85, 100), Fraction(80, 100), Fraction(72, 100)]
    differences = np.array([float(a - b) for a, b in zip(first, second, strict=True)])
    half = stats.t.ppf(0.975, 3) * np.sqrt((1 / 4 + 1 / 3) * differences.var(ddof=1))
    found = compare("ideal", "xgboost", first, second, test_share=1 / 3)
    assert found is not None
    assert found.difference_mean == pytest.approx(differences.mean())
    assert (found.low, found.high) == pytest.approx(
        (differences.mean() - half, differences.mean() + half)
    )
    assert (found.level, found.folds) == (0.95, 4)


def test_equal_accuracies_have_an_interval_of_nothing_around_zero() -> None:
    same = [Fraction(1, 2)] * 10
    found = compare("ideal", "xgboost", same, same, test_share=1 / 9)
    assert found is not None
    assert (found.difference_mean, found.low, found.high) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("folds", [0, 1])
def test_fewer_than_two_folds_cannot_be_compared(folds: int) -> None:
    assert (
        compare(
            "ideal", "xgboost", [Fraction(1, 2)] * folds, [Fraction(1, 2)] * folds, test_share=0.1
        )
        is None
    )


def test_the_interval_of_two_equal_methods_holds_zero_at_least_as_often_as_it_says() -> None:
    random = np.random.default_rng(0)
    held = 0
    for _ in range(1000):
        first = [Fraction(int(right), 50) for right in random.binomial(50, 0.8, 10)]
        second = [Fraction(int(right), 50) for right in random.binomial(50, 0.8, 10)]
        found = compare("ideal", "xgboost", first, second, test_share=1 / 9)
        assert found is not None
        held += found.low <= 0 <= found.high
    assert held >= 950


def fold(tp: int, fp: int, tn: int, fn: int, **more: Any) -> Fold:
    answers = Confusion(tp=tp, fp=fp, tn=tn, fn=fn)
    return Fold(fold=0, correct=tp + tn, tested=tp + fp + tn + fn, confusion=answers, **more)


def goal(name: str, **more: Any) -> Objective:
    told = {"beta": None, "threshold": None, **more}
    return Objective(name=name, mean=0.5, std=0.0, constant_mean=0.5, **told)


@given(st.lists(st.integers(0, 30), min_size=4, max_size=4).filter(any))
def test_what_a_fold_comes_to_is_what_scikit_learn_says(cells: list[int]) -> None:
    tp, fp, tn, fn = cells
    truth = [True] * tp + [False] * fp + [False] * tn + [True] * fn
    said = [True] * (tp + fp) + [False] * (tn + fn)
    own = fold(*cells)
    balanced = reached(goal("balanced_accuracy"), own)
    if tp + fn and tn + fp:
        assert float(balanced) == pytest.approx(balanced_accuracy_score(truth, said))
    else:
        assert balanced is None
    if tp + fp + fn:
        judged = fbeta_score(truth, said, beta=2, zero_division=0)
        assert float(reached(goal("f_beta", beta=2.0), own)) == pytest.approx(judged)
    cost = (0.2 * fp + 0.8 * fn) / len(truth)
    assert float(reached(goal("cost", threshold=0.2), own)) == pytest.approx(-cost)


def test_several_labels_come_to_the_mean_of_their_recalls() -> None:
    labels = Fold(fold=0, confusion_matrix=((8, 2, 0), (1, 1, 0), (0, 0, 0)))
    assert reached(goal("balanced_accuracy"), labels) == Fraction(8 + 5, 20)


def test_methods_are_compared_by_what_the_formula_was_learned_for() -> None:
    """A formula for balanced accuracy gives up accuracy on a rare class, as it should."""
    ours = [fold(9, 20 + i, 70 - i, 1, train_rows=900, test_rows=100) for i in range(3)]
    theirs = [fold(1, 0, 90, 9, train_rows=900, test_rows=100) for _ in range(3)]
    methods = {"ideal": Method.over(ours), "xgboost": Method.over(theirs)}
    [by_accuracy] = comparisons(methods)
    assert by_accuracy.high < 0
    assert by_accuracy.metric == "accuracy"
    aimed = replace(methods["ideal"], objective=goal("balanced_accuracy"))
    [by_goal] = comparisons({**methods, "ideal": aimed})
    assert by_goal.low > 0
    assert (by_goal.metric, by_goal.mean) == ("balanced_accuracy", pytest.approx(0.55))
    assert "the formula is better" in difference_words(by_goal)


def test_few_trials_are_no_fair_comparison() -> None:
    def tuned(trials: int) -> Method:
        how = Tuning(
            validation_correct=None,
            validated=None,
            validation_accuracy=None,
            params={},
            trials=trials,
            failed_trials=0,
            pruned_trials=0,
        )
        return Method.over([fold(9, 1, 9, 1, tuning=how)])

    assert fitted_words(tuned(10), 20) == ""
    assert fitted_words(tuned(3), 20) == "; no fair comparison: only 3 tuning trials a fold"
