"""Metrics of methods over folds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn import metrics as judge

from dnfscale.compare.measure import Measuring, measured
from dnfscale.method.metrics import scores_of_rows
from dnfscale.results.confusion import Confusion
from dnfscale.results.method import Fold, Method
from dnfscale.results.result import Data, Result, read_result, result_text

PLAIN = Measuring(test_share=0.5, threshold=None, weighted=False)
RNG = np.random.default_rng(0)
GIVEN = RNG.choice([0.1, 0.3, 0.6, 0.8], (3, 40))
TRUTH = RNG.random((3, 40)) < GIVEN


def method(measuring: Measuring = PLAIN) -> Method:
    """Three folds, each with the answers of its probabilities."""
    ones = np.ones(40, dtype=np.int64)
    folds = [
        Fold(fold=k, confusion=Confusion.of_types(GIVEN[k] > 0.5, ones, TRUTH[k].astype(np.int64)))
        for k in range(3)
    ]
    scores = {k: scores_of_rows(GIVEN[k], TRUTH[k], None) for k in range(3)}
    return measured(Method.over(folds), measuring, scores)


def test_pooled_figures_are_those_of_all_test_rows_and_means_those_of_folds() -> None:
    found = method().metrics
    assert found["auc"].pooled == pytest.approx(judge.roc_auc_score(TRUTH.ravel(), GIVEN.ravel()))
    by_fold = [judge.roc_auc_score(TRUTH[k], GIVEN[k]) for k in range(3)]
    assert found["auc"].mean == pytest.approx(np.mean(by_fold))
    assert found["auc"].std == pytest.approx(np.std(by_fold))
    pooled = judge.recall_score(TRUTH.ravel(), GIVEN.ravel() > 0.5)
    assert found["sensitivity"].pooled == pytest.approx(pooled)


def test_intervals_say_what_they_are() -> None:
    found = method().metrics
    assert {found[name].interval for name in ("sensitivity", "specificity", "ppv", "npv")} == {
        "wilson"
    }
    assert {found[name].interval for name in ("auc", "brier", "mcc", "f1")} == {"resampled_t"}
    for metric in found.values():
        assert metric.low is not None
        assert metric.high is not None
        middle = metric.pooled if metric.interval == "wilson" else metric.mean
        assert metric.low < (middle or 0) < metric.high


def test_no_interval_of_a_mean_leaves_what_its_metric_can_be() -> None:
    right, poor = Confusion(tp=5, fp=0, tn=5, fn=0), Confusion(tp=1, fp=3, tn=2, fn=4)
    folds = [Fold(fold=k, confusion=poor if k == 0 else right) for k in range(3)]
    found = measured(Method.over(folds), PLAIN).metrics
    for name, least in (("balanced_accuracy", 0.0), ("f1", 0.0), ("mcc", -1.0)):
        assert found[name].interval == "resampled_t"
        assert found[name].low == least or (found[name].low or 0) > least
        assert found[name].high == 1.0


def test_rows_with_weights_have_no_intervals() -> None:
    found = method(Measuring(test_share=0.5, threshold=None, weighted=True)).metrics
    assert {(metric.low, metric.high, metric.interval) for metric in found.values()} == {
        (None, None, None)
    }


def test_the_expected_cost_is_the_first_metric_where_errors_differ() -> None:
    found = method(Measuring(test_share=0.5, threshold=Fraction(1, 5), weighted=False))
    assert next(iter(found.metrics)) == "cost"
    assert found.confusion is not None
    cost = (0.2 * found.confusion.fp + 0.8 * found.confusion.fn) / 120
    assert found.metrics["cost"].pooled == pytest.approx(cost)


def test_a_fold_without_one_of_the_classes_has_null_and_the_pooled_figure_is_given() -> None:
    folds = [
        Fold(fold=0, confusion=Confusion(tp=0, fp=2, tn=8, fn=0)),
        Fold(fold=1, confusion=Confusion(tp=3, fp=1, tn=5, fn=1)),
    ]
    found = measured(Method.over(folds), PLAIN)
    assert found.folds[0].metrics["sensitivity"] is None
    assert found.metrics["sensitivity"].pooled == found.metrics["sensitivity"].mean == 0.75
    assert found.metrics["balanced_accuracy"].interval is None
    assert found.metrics["balanced_accuracy"].pooled == pytest.approx((0.75 + 13 / 16) / 2)


def test_folds_that_failed_do_not_count() -> None:
    folds = [
        Fold(fold=0, error="no memory"),
        Fold(fold=1, confusion=Confusion(tp=3, fp=1, tn=5, fn=1)),
    ]
    found = measured(Method.over(folds), PLAIN)
    assert found.folds[0].metrics == {}
    assert found.metrics["accuracy"].pooled == 0.8


def test_several_labels_have_the_metrics_of_their_joint_answers() -> None:
    folds = [Fold(fold=0, confusion_matrix=((5, 1, 0), (0, 4, 1), (1, 0, 3)))]
    found = measured(Method.over(folds), PLAIN)
    assert set(found.metrics) == {"accuracy", "balanced_accuracy", "f1", "mcc"}
    assert found.metrics["accuracy"].pooled == 0.8


def test_metrics_are_read_as_they_were_written() -> None:
    data = Data(rows=120, rows_dropped=0, columns=1, attributes=1, positive_rows=50)
    whole = method()
    result = Result(
        name="a", kind="study", seed=0, profile="paper", data=data, methods={"ideal": whole}
    )
    assert read_result(result_text(result).encode()).methods["ideal"] == whole
