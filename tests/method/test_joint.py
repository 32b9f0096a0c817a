"""Rankings of attributes together: slow versions, row by row, are the judges."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dnfscale.core.arrays import Bools
from dnfscale.method import logistic
from dnfscale.method.joint import JOINT, Candidates, additive, exchange, first_of_equals, forward, jmi, left_out_errors


def some_rows(seed: int, n_rows: int = 200, n_candidates: int = 9) -> tuple[Bools, Bools]:
    """Attributes that matter one by one, only together, and not at all."""
    random = np.random.default_rng(seed)
    holds = random.random((n_rows, n_candidates)) < random.uniform(0.2, 0.8, n_candidates)
    target = (holds[:, 0] & holds[:, 3]) | (holds[:, 5] ^ holds[:, 1]) | (random.random(n_rows) < 0.1)
    return holds, target


def candidates(holds: Bools, target: Bools) -> Candidates:
    return Candidates(holds.astype(np.float32), target)


def groups_of(holds: Bools, target: Bools, chosen: list[int]) -> list[list[bool]]:
    found = defaultdict(list)
    for row, label in zip(holds[:, chosen].tolist(), target.tolist(), strict=True):
        found[tuple(row)].append(label)
    return list(found.values())


def conditional_entropy(holds: Bools, target: Bools, chosen: list[int]) -> float:
    """n H(target | chosen), in nats."""
    return -sum(
        count * math.log(count / len(labels))
        for labels in groups_of(holds, target, chosen)
        for count in (sum(labels), len(labels) - sum(labels))
        if count
    )


def judged_left_out(holds: Bools, target: Bools, chosen: list[int]) -> float:
    """Errors when each row is judged by the others of its type, a toss where there are none, a tie being true."""
    errors = 0.0
    for labels in groups_of(holds, target, chosen):
        for label in labels:
            others, yes = len(labels) - 1, sum(labels) - label
            errors += 0.5 if not others else (2 * yes >= others) != label
    return errors


@pytest.mark.parametrize("seed", range(5))
def test_forward_takes_what_leaves_the_least_entropy(seed):
    holds, target = some_rows(seed)
    order = forward(candidates(holds, target), 6)
    for place, chosen in enumerate(order):
        left = {a: conditional_entropy(holds, target, [*order[:place], a]) for a in range(9) if a not in order[:place]}
        assert left[chosen] == pytest.approx(min(left.values()))


@pytest.mark.parametrize("seed", range(5))
def test_exchange_leaves_no_more_errors_on_rows_left_out_and_no_single_exchange_leaves_fewer(seed):
    holds, target = some_rows(seed)
    rows = candidates(holds, target)
    before, after = forward(rows, 4), exchange(rows, 4)
    errors = judged_left_out(holds, target, after)
    assert len(set(after)) == 4
    assert errors <= judged_left_out(holds, target, before)
    assert after == [sorted(after)[i] for i in forward(rows.only(sorted(after)), 4)]


def test_errors_of_rows_left_out_are_those_of_each_row_judged_by_the_others():
    for n in range(1, 9):
        for c in range(n + 1):
            labels = np.array([True] * c + [False] * (n - c))
            judged = judged_left_out(np.ones((n, 1), bool), labels, [0])
            assert left_out_errors(np.array([float(n)]), np.array([float(c)]))[0] == 2 * judged


@pytest.mark.parametrize("seed", range(5))
def test_jmi_takes_what_tells_most_with_each_of_those_before_it(seed):
    holds, target = some_rows(seed)
    order = jmi(candidates(holds, target), 5)
    assert conditional_entropy(holds, target, order[:1]) == pytest.approx(
        min(conditional_entropy(holds, target, [a]) for a in range(9))
    )
    for place in range(1, 5):
        left = {
            a: sum(conditional_entropy(holds, target, [a, b]) for b in order[:place])
            for a in range(9)
            if a not in order[:place]
        }
        assert left[order[place]] == pytest.approx(min(left.values()))


@pytest.mark.parametrize("seed", range(5))
def test_additive_takes_the_attribute_of_the_highest_score_over_the_rows_themselves(seed):
    holds, target = some_rows(seed)
    order = additive(candidates(holds, target), 4)
    for place, chosen in enumerate(order):
        told = holds[:, order[:place]].astype(float)
        features = np.column_stack([np.ones(len(target)), told])
        weights = logistic.fit(told, np.ones(len(target)), target.astype(float))
        p = 1 / (1 + np.exp(-(features @ weights)))
        scores = {}
        for a in set(range(9)) - set(order[:place]):
            x = holds[:, a].astype(float)
            bend = p * (1 - p)
            shared = features.T @ (bend * x)
            known = features.T @ (bend[:, None] * features) + 1e-6 * np.eye(features.shape[1])
            variance = bend @ x - shared @ np.linalg.solve(known, shared)
            scores[a] = (x @ (target - p)) ** 2 / (variance + 1)
        assert scores[chosen] == pytest.approx(max(scores.values()), rel=1e-6)


def test_a_logistic_regression_on_counts_is_that_of_the_rows():
    holds, target = some_rows(3, 400)
    holds = holds[:, :3]
    codes = holds @ (1 << np.arange(3))
    n, c = np.bincount(codes, minlength=8), np.bincount(codes, weights=target, minlength=8)
    types = ((np.arange(8)[:, None] >> np.arange(3)) & 1).astype(float)
    found = logistic.fit(types, n.astype(float), c)
    judged = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(holds, target)
    assert found == pytest.approx([judged.intercept_[0], *judged.coef_[0]], abs=1e-4)


@pytest.mark.parametrize("rank", list(JOINT))
def test_a_row_of_weight_three_is_that_row_three_times(rank):
    holds, target = some_rows(8, 60)
    weights = np.random.default_rng(1).integers(1, 4, 60)
    weighted = Candidates(holds * weights[:, None].astype(np.float64), target, weights)
    repeated = candidates(np.repeat(holds, weights, axis=0), np.repeat(target, weights))
    assert JOINT[rank](weighted, 5) == JOINT[rank](repeated, 5)


@pytest.mark.parametrize("rank", list(JOINT))
@pytest.mark.parametrize("shape", [(1, 1), (5, 1), (3, 4), (40, 2)])
def test_few_rows_few_candidates_and_one_class_are_ranked_all_the_same(rank, shape):
    holds = np.random.default_rng(2).random(shape) < 0.5
    for target in (np.zeros(shape[0], bool), np.ones(shape[0], bool), np.arange(shape[0]) % 2 == 0):
        assert sorted(JOINT[rank](candidates(holds, target), 9)) == list(range(shape[1]))


def test_equal_and_opposite_candidates_are_told():
    x = np.array([True, False, True, True, False])
    y = np.array([True, True, False, True, False])
    holds = np.column_stack([x, y, ~x, x, ~y, np.ones(5, bool)])
    assert first_of_equals(candidates(holds, x)).tolist() == [0, 1, 0, 0, 1, 5]
