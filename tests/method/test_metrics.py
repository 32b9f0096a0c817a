"""Metrics from counts against scikit-learn's on the rows themselves."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as judge
from sklearn.linear_model import LogisticRegression

from dnfscale.core.arrays import Bools, Floats, Ints
from dnfscale.method import metrics
from dnfscale.results.confusion import Confusion

Table = tuple[Bools, Floats, Ints | None]


@st.composite
def scored_rows(draw: st.DrawFn) -> Table:
    """The truth of some rows of both classes, their probabilities with many ties, and weights."""
    n = draw(st.integers(2, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth = rng.random(n) < draw(st.floats(0.05, 0.95))
    truth[:2] = True, False
    levels = rng.random(draw(st.integers(1, 12))) * 0.98 + 0.01
    weights = rng.integers(1, 9, n) if draw(st.booleans()) else None
    return truth, rng.choice(levels, n), weights


def _confusion(truth: Bools, answer: Bools, weights: Ints | None) -> Confusion:
    weigh = np.ones(len(truth), dtype=np.int64) if weights is None else weights
    return Confusion.of_types(answer, weigh, np.where(truth, weigh, 0))


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(scored_rows())
def test_every_metric_equals_that_of_scikit_learn(table: Table) -> None:
    truth, given_, weights = table
    answer = given_ >= 0.5
    scores = metrics.scores_of_rows(given_, truth, weights)
    found = metrics.figures(_confusion(truth, answer, weights), scores)
    by_answer: dict[str, Any] = {
        "accuracy": judge.accuracy_score,
        "sensitivity": judge.recall_score,
        "specificity": lambda y, a, **kw: judge.recall_score(y, a, pos_label=False, **kw),
        "balanced_accuracy": judge.balanced_accuracy_score,
        "f1": judge.f1_score,
        "mcc": judge.matthews_corrcoef,
    }
    by_score: dict[str, Any] = {
        "auc": judge.roc_auc_score,
        "average_precision": judge.average_precision_score,
        "brier": judge.brier_score_loss,
        "log_loss": judge.log_loss,
    }
    for name, function in by_answer.items():
        assert found[name] == pytest.approx(function(truth, answer, sample_weight=weights)), name
    for name, function in by_score.items():
        assert found[name] == pytest.approx(function(truth, given_, sample_weight=weights)), name
    precision = judge.precision_score(truth, answer, sample_weight=weights, zero_division=np.nan)
    assert found["ppv"] == (None if math.isnan(precision) else pytest.approx(precision))
    negative = judge.precision_score(
        truth, answer, pos_label=False, sample_weight=weights, zero_division=np.nan
    )
    assert found["npv"] == (None if math.isnan(negative) else pytest.approx(negative))


@settings(max_examples=100, deadline=None)
@given(scored_rows(), st.integers(1, 59))
def test_scores_of_parts_together_are_those_of_all_rows(table: Table, cut: int) -> None:
    truth, given_, weights = table
    whole = metrics.scores_of_rows(given_, truth, weights)
    parts = [
        metrics.scores_of_rows(
            given_[rows], truth[rows], None if weights is None else weights[rows]
        )
        for rows in (slice(cut), slice(cut, None))
    ]
    pooled, by_auc, by_precision = metrics.pooled_scores(parts)
    assert pooled == whole
    assert by_auc == by_precision == 0.0


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    st.integers(2, 5).flatmap(
        lambda k: st.lists(
            st.lists(st.integers(0, 9), min_size=k, max_size=k), min_size=k, max_size=k
        )
    )
)
def test_metrics_of_several_labels_equal_those_of_scikit_learn(cells: list[list[int]]) -> None:
    cells[0][0] += 1
    cells[1][0] += 1
    truth = [i for i, row in enumerate(cells) for n in row for _ in range(n)]
    answer = [j for row in cells for j, n in enumerate(row) for _ in range(n)]
    found = metrics.label_figures(tuple(map(tuple, cells)))
    recalls = [row[i] / sum(row) for i, row in enumerate(cells) if sum(row)]
    assert found["accuracy"] == pytest.approx(judge.accuracy_score(truth, answer))
    assert found["balanced_accuracy"] == pytest.approx(np.mean(recalls))
    assert found["f1"] == pytest.approx(judge.f1_score(truth, answer, average="macro"))
    assert found["mcc"] == pytest.approx(judge.matthews_corrcoef(truth, answer))


def test_many_scores_are_counted_in_bins_whose_error_is_stated() -> None:
    rng = np.random.default_rng(0)
    given_ = rng.beta(0.3, 6, 40_000)
    truth = rng.random(40_000) < given_
    halves = [
        metrics.scores_of_rows(given_[rows], truth[rows], None)
        for rows in (slice(20_000), slice(20_000, None))
    ]
    assert all(half.binned and len(half.value) <= metrics.MOST_SCORES for half in halves)
    assert halves[0].auc == pytest.approx(judge.roc_auc_score(truth[:20_000], given_[:20_000]))
    pooled, by_auc, by_precision = metrics.pooled_scores(halves)
    assert pooled.auc is not None
    assert pooled.average_precision is not None
    assert 0 < by_auc < 0.001
    assert 0 < by_precision < 0.01
    assert abs(pooled.auc - judge.roc_auc_score(truth, given_)) <= by_auc
    exact = judge.average_precision_score(truth, given_)
    assert abs(pooled.average_precision - exact) <= by_precision
    assert pooled.brier == pytest.approx(judge.brier_score_loss(truth, given_))
    assert pooled.log_loss == pytest.approx(judge.log_loss(truth, given_))


def test_what_one_class_leaves_undefined_is_none() -> None:
    truth = np.ones(4, dtype=np.bool_)
    given_ = np.array([0.2, 0.4, 0.6, 0.8])
    scores = metrics.scores_of_rows(given_, truth, None)
    found = metrics.figures(_confusion(truth, given_ > 0.5, None), scores)
    undefined = ("specificity", "balanced_accuracy", "mcc", "auc", "average_precision")
    assert all(found[name] is None for name in undefined)
    assert found["sensitivity"] == 0.5
    assert found["brier"] is not None


def test_no_rows_leave_everything_undefined() -> None:
    nothing = np.zeros(0)
    scores = metrics.scores_of_rows(nothing, nothing > 0, None)
    found = metrics.figures(Confusion(tp=0, fp=0, tn=0, fn=0), scores, Fraction(1, 4))
    assert set(found.values()) == {None}
    assert metrics.calibration(scores).table == ()
    assert metrics.decision_curve(scores) == ()


def test_counts_beyond_64_bits_do_not_overflow() -> None:
    many = 1 << 60
    scores = metrics.scores_of_types(
        np.array([0.2, 0.8]), np.array([many, many]), np.array([many // 4, many // 2])
    )
    # Of the pairs: positive and negative above and below; both below, both above.
    assert scores.auc == pytest.approx((0.5 * 0.75 + 0.5 * 0.25 * 0.75 + 0.5 * 0.5 * 0.5) / 0.9375)
    confusion = Confusion(tp=many, fp=many // 2, tn=many, fn=many // 4)
    assert metrics.figures(confusion)["mcc"] == pytest.approx(7 / 15)


def test_the_expected_cost_comes_first_where_errors_differ() -> None:
    confusion = Confusion(tp=10, fp=8, tn=80, fn=2)
    found = metrics.figures(confusion, None, Fraction(1, 10))
    assert next(iter(found)) == "cost"
    assert found["cost"] == pytest.approx((0.1 * 8 + 0.9 * 2) / 100)
    assert "cost" not in metrics.figures(confusion)


def test_the_calibration_is_that_of_a_logistic_regression() -> None:
    rng = np.random.default_rng(1)
    given_ = rng.choice([0.05, 0.2, 0.4, 0.7, 0.9], 4_000)
    truth = rng.random(4_000) < given_**1.5
    found = metrics.calibration(metrics.scores_of_rows(given_, truth, None))
    log_odds = np.log(given_ / (1 - given_))
    line = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1_000).fit(log_odds[:, None], truth)
    assert found.slope == pytest.approx(line.coef_[0, 0], rel=1e-4)
    assert found.intercept is not None
    expected = 1 / (1 + np.exp(-(log_odds + found.intercept)))
    assert expected.sum() == pytest.approx(truth.sum())
    assert [group.predicted for group in found.table] == pytest.approx([0.05, 0.2, 0.4, 0.7, 0.9])
    assert sum(group.n for group in found.table) == 4_000


def test_many_probabilities_are_calibrated_in_ten_groups_that_keep_ties_together() -> None:
    rng = np.random.default_rng(2)
    given_ = np.round(rng.random(2_000), 2)
    truth = rng.random(2_000) < given_
    table = metrics.calibration(metrics.scores_of_rows(given_, truth, None)).table
    assert len(table) == 10
    assert sum(group.n for group in table) == 2_000
    assert [group.predicted for group in table] == sorted(group.predicted for group in table)


def test_probabilities_that_tell_all_rows_apart_have_no_slope() -> None:
    truth = np.array([False] * 10 + [True] * 10)
    given_ = np.where(truth, 0.9, 0.1)
    assert metrics.calibration(metrics.scores_of_rows(given_, truth, None)).slope is None


def test_the_decision_curve_is_counted_row_by_row() -> None:
    rng = np.random.default_rng(3)
    given_ = rng.random(500)
    truth = rng.random(500) < given_
    for point in metrics.decision_curve(metrics.scores_of_rows(given_, truth, None)):
        acted = given_ >= point.threshold
        odds = point.threshold / (1 - point.threshold)
        benefit = (truth[acted].sum() - odds * (~truth[acted]).sum()) / 500
        assert point.net_benefit == pytest.approx(benefit)
        assert point.treat_all == pytest.approx((truth.sum() - odds * (~truth).sum()) / 500)
        counted = judge.confusion_matrix(truth, acted, labels=[False, True])
        assert point.confusion == Confusion.of_two(counted.tolist())


def test_wilson_intervals_of_a_fixed_formula_cover_in_93_to_97_of_100_draws() -> None:
    rng = np.random.default_rng(4)
    chance = 0.83
    covered = 0
    for part in rng.binomial(200, chance, 1_000).tolist():
        interval = metrics.wilson(part, 200)
        assert interval is not None
        covered += interval[0] <= chance <= interval[1]
    assert 930 <= covered <= 970


def test_wilson_intervals_equal_those_of_scipy() -> None:
    from scipy.stats import binomtest

    for part, whole in ((0, 7), (7, 7), (3, 10), (812, 1_000)):
        expected = binomtest(part, whole).proportion_ci(method="wilson")
        assert metrics.wilson(part, whole) == pytest.approx((expected.low, expected.high))
    assert metrics.wilson(0, 0) is None


def test_the_interval_of_a_mean_over_folds_is_wider_than_that_of_students() -> None:
    from scipy.stats import sem, t

    values = [0.8, 0.83, 0.79, 0.9, 0.85]
    plain = t.interval(0.95, 4, loc=np.mean(values), scale=sem(values))
    assert metrics.resampled_t(values, test_share=0.0) == pytest.approx(plain)
    wider = metrics.resampled_t(values, test_share=0.25)
    assert wider is not None
    assert wider[0] < plain[0]
    assert wider[1] > plain[1]
    assert metrics.resampled_t([0.8], test_share=0.25) is None


def test_no_interval_leaves_what_its_metric_can_be() -> None:
    wide = metrics.resampled_t([0.2, 1.0, 1.0], test_share=0.5)
    assert wide is not None
    assert wide[1] > 1
    assert metrics.within("auc", wide) == (max(0.0, wide[0]), 1.0)
    assert metrics.within("balanced_accuracy", (-0.1, 0.4)) == (0.0, 0.4)
    assert metrics.within("mcc", (-1.2, 1.3)) == (-1.0, 1.0)
    assert metrics.within("mcc", (-0.2, 0.3)) == (-0.2, 0.3)
    assert metrics.within("log_loss", (-0.2, 1.7)) == (0.0, 1.7)
