"""Rankings of attributes together: slow versions, row by row, are the judges."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dnfscale.core.arrays import Bools, Ints
from dnfscale.method import logistic
from dnfscale.method.left_out import left_out_errors
from dnfscale.method.rankings.together import (
    Candidates,
    Pick,
    additive,
    exchange,
    first_of_equals,
    flags_alone,
    forward,
    greedy,
    jmi,
    rank_together,
)
from dnfscale.spec.registry import RANKINGS

JOINT = {name: ranking.rank for name, ranking in RANKINGS.items() if ranking.together}


def some_rows(seed: int, n_rows: int = 200, n_candidates: int = 9) -> tuple[Bools, Bools]:
    """Attributes that matter one by one, only together, and not at all."""
    random = np.random.default_rng(seed)
    holds = random.random((n_rows, n_candidates)) < random.uniform(0.2, 0.8, n_candidates)
    target = (
        (holds[:, 0] & holds[:, 3]) | (holds[:, 5] ^ holds[:, 1]) | (random.random(n_rows) < 0.1)
    )
    return holds, target


def candidates(
    holds: Bools,
    target: Bools,
    weights: Ints | None = None,
    cuts: tuple[Ints, Ints] | None = None,
    *,
    few: bool = False,
) -> Candidates:
    """Flags, some of them perhaps cuts of a column and height, counted as steps unless rows are
    said to be few.
    """
    alone = flags_alone(holds.T, target, weights)
    if cuts is None:
        return alone
    column, height = cuts
    place = np.array(
        [np.sum((column == column[cut]) & (height <= height[cut])) for cut in range(len(column))]
    )
    steps = [
        holds[:, column == number].sum(axis=1).astype(np.uint8)
        for number in range(column.max() + 1)
    ]
    flag = np.where((column < 0) | few, np.arange(len(column)), -1)
    return replace(alone, flag=flag, column=column, place=place, steps=steps, intervals=True)


def singles(order: list[Pick]) -> list[int]:
    """The candidates of a ranking that has no intervals."""
    return [candidate for (candidate,) in order]


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
    """Errors when each row is judged by the others of its type, a toss where there are none, a tie
    being true.
    """
    errors = 0.0
    for labels in groups_of(holds, target, chosen):
        for label in labels:
            others, yes = len(labels) - 1, sum(labels) - label
            errors += 0.5 if not others else (2 * yes >= others) != label
    return errors


@pytest.mark.parametrize("seed", range(5))
def test_forward_takes_what_leaves_the_least_entropy(seed):
    holds, target = some_rows(seed)
    order = singles(forward(candidates(holds, target), 6))
    for place, chosen in enumerate(order):
        left = {
            a: conditional_entropy(holds, target, [*order[:place], a])
            for a in range(9)
            if a not in order[:place]
        }
        assert left[chosen] == pytest.approx(min(left.values()))


@pytest.mark.parametrize("seed", range(5))
def test_exchange_leaves_no_more_errors_on_rows_left_out_and_no_single_exchange_leaves_fewer(seed):
    holds, target = some_rows(seed)
    rows = candidates(holds, target)
    before, after = singles(forward(rows, 4)), singles(exchange(rows, 4))
    errors = judged_left_out(holds, target, after)
    assert len(set(after)) == 4
    assert errors <= judged_left_out(holds, target, before)
    assert after == [sorted(after)[i] for i in singles(forward(rows.only(sorted(after)), 4))]


def test_errors_of_rows_left_out_are_those_of_each_row_judged_by_the_others():
    for n in range(1, 9):
        for c in range(n + 1):
            labels = np.array([True] * c + [False] * (n - c))
            judged = judged_left_out(np.ones((n, 1), bool), labels, [0])
            assert left_out_errors(np.array([float(n)]), np.array([float(c)]))[0] == 2 * judged


@pytest.mark.parametrize("seed", range(5))
def test_jmi_takes_what_tells_most_with_each_of_those_before_it(seed):
    holds, target = some_rows(seed)
    order = singles(jmi(candidates(holds, target), 5))
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
    order = singles(additive(candidates(holds, target), 4))
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
    weighted = candidates(holds, target, weights)
    repeated = candidates(np.repeat(holds, weights, axis=0), np.repeat(target, weights))
    assert JOINT[rank](weighted, 5) == JOINT[rank](repeated, 5)


@pytest.mark.parametrize("rank", list(JOINT))
@pytest.mark.parametrize("shape", [(1, 1), (5, 1), (3, 4), (40, 2)])
def test_few_rows_few_candidates_and_one_class_are_ranked_all_the_same(rank, shape):
    holds = np.random.default_rng(2).random(shape) < 0.5
    for target in (np.zeros(shape[0], bool), np.ones(shape[0], bool), np.arange(shape[0]) % 2 == 0):
        assert sorted(singles(JOINT[rank](candidates(holds, target), 9))) == list(range(shape[1]))


def test_equal_and_opposite_candidates_are_told():
    x = np.array([True, False, True, True, False])
    y = np.array([True, True, False, True, False])
    holds = np.column_stack([x, y, ~x, x, ~y, np.ones(5, bool)])
    assert first_of_equals(candidates(holds, x)).tolist() == [0, 1, 0, 0, 1, 5]


def cut_rows(
    seed: int, n_rows: int = 300, n_cuts: int = 7
) -> tuple[Bools, Bools, tuple[Ints, Ints]]:
    """Three numbers cut at several places, shuffled among two flags; the target lies in a box, with
    some noise.
    """
    random = np.random.default_rng(seed)
    values = random.integers(0, 40, (n_rows, 3))
    column = np.array([*np.repeat(np.arange(3), n_cuts), -1, -1])
    height = np.array([*np.tile(np.linspace(4, 35, n_cuts).astype(int), 3), 0, 0])
    holds = np.concatenate(
        [values[:, column[:-2]] > height[:-2], random.random((n_rows, 2)) < 0.5], axis=1
    )
    inside = (np.abs(values[:, 0] - 20) < 9) & (values[:, 1] > 14)
    target = inside ^ (random.random(n_rows) < 0.1)
    order = random.permutation(len(column))
    return holds[:, order], target, (column[order], height[order])


def held(holds: Bools, picks: list[Pick]) -> Bools:
    return np.column_stack([holds[:, low] & ~holds[:, high].any(axis=1) for low, *high in picks])


@pytest.mark.parametrize("seed", range(5))
def test_what_lies_between_two_cuts_is_taken_only_where_it_leaves_less_entropy_than_every_candidate(
    seed,
):
    holds, target, cuts = cut_rows(seed)
    column, height = cuts
    order = greedy(candidates(holds, target, None, cuts), 6)
    assert len(set(order)) == 6
    assert any(len(pick) == 2 for pick in order)
    for place, pick in enumerate(order):
        told = held(holds, order[:place]) if place else np.empty((len(target), 0), dtype=bool)

        def left(more: Bools, told: Bools = told) -> float:
            together = np.column_stack([told, more])
            return conditional_entropy(together, target, list(range(together.shape[1])))

        alone = min(left(holds[:, a]) for a in range(holds.shape[1]) if (a,) not in order[:place])
        found = left(held(holds, [pick]))
        if len(pick) == 1:
            assert found == pytest.approx(alone)
            continue
        low, high = pick
        assert column[low] == column[high] >= 0
        assert height[low] < height[high]
        assert found < alone
        # For one of its ends no other partner would leave less.
        partners = np.flatnonzero(column == column[low])
        assert any(
            all(found <= left(holds[:, end] ^ holds[:, a]) + 1e-9 for a in partners if a != end)
            for end in pick
        )


@pytest.mark.parametrize("seed", range(5))
def test_with_intervals_exchange_leaves_no_more_errors_on_rows_left_out_than_what_it_starts_from(
    seed,
):
    holds, target, cuts = cut_rows(seed)
    rows = candidates(holds, target, None, cuts)
    orders = [forward(rows, 4), greedy(rows, 4), exchange(rows, 4)]
    errors = [judged_left_out(held(holds, order), target, [0, 1, 2, 3]) for order in orders]
    assert errors[2] <= min(errors[:2])
    assert len(set(orders[2])) == 4
    assert singles(orders[0]) == singles(forward(candidates(holds, target), 4)), (
        "forward knows no intervals"
    )


def test_a_target_between_two_cuts_is_one_attribute():
    values = np.arange(100)
    cuts = (np.zeros(9, dtype=int), np.arange(10, 100, 10))
    rows = candidates(values[:, None] > cuts[1], (values > 30) & (values <= 70), None, cuts)
    assert greedy(rows, 1) == exchange(rows, 1) == [(2, 6)]
    assert len(forward(rows, 1)[0]) == len(additive(rows, 1)[0]) == len(jmi(rows, 1)[0]) == 1


def test_intervals_weigh_what_their_rows_weigh():
    holds, target, cuts = cut_rows(3, 80)
    weights = np.random.default_rng(1).integers(1, 4, 80)
    weighted = candidates(holds, target, weights, cuts)
    repeated = candidates(np.repeat(holds, weights, axis=0), np.repeat(target, weights), None, cuts)
    assert greedy(weighted, 5) == greedy(repeated, 5)
    assert exchange(weighted, 5) == exchange(repeated, 5)


@pytest.mark.parametrize("weighted", [False, True])
def test_joint_counts_of_cuts_and_flags_are_those_of_every_row(weighted):
    holds, target, cuts = cut_rows(2, 150)
    random = np.random.default_rng(5)
    weights = random.integers(1, 5, 150) if weighted else None
    types = random.integers(0, 6, 150)
    types[types == 4] = 5
    each = np.ones(150, dtype=int) if weights is None else weights
    for rows in (
        candidates(holds, target, weights),
        candidates(holds, target, weights, cuts),
        candidates(holds, target, weights, cuts, few=True),
    ):
        joint = rows.joint(types, 6)
        for t in range(6):
            own = types == t
            assert (joint.n[t], joint.c[t]) == (each[own].sum(), each[own & target].sum())
            assert joint.n_held[:, t].tolist() == (each[own] @ holds[own]).tolist()
            assert (
                joint.c_held[:, t].tolist() == (each[own & target] @ holds[own & target]).tolist()
            )
        assert all(np.array_equal(rows.held((a,)), holds[:, a]) for a in range(holds.shape[1]))


@pytest.mark.parametrize("seed", range(3))
def test_it_does_not_matter_how_cuts_are_counted(seed):
    holds, target, cuts = cut_rows(seed)
    for rank in JOINT.values():
        few, many = (candidates(holds, target, None, cuts, few=few) for few in (True, False))
        assert rank(few, 5) == rank(many, 5)


@pytest.mark.parametrize("intervals", [False, True])
@pytest.mark.parametrize(
    "ranks", [("exchange",), ("exchange", "additive", "forward"), ("jmi", "forward", "exchange")]
)
def test_rankings_made_together_are_those_made_one_by_one(ranks, intervals):
    holds, target, cuts = cut_rows(1)
    rows = replace(candidates(holds, target, None, cuts), intervals=intervals)
    assert rank_together(rows, ranks, 5) == {rank: JOINT[rank](rows, 5) for rank in ranks}


@pytest.mark.parametrize("seed", range(5))
def test_an_exchange_ends_where_trying_every_place_again_changes_nothing(seed):
    holds, target, cuts = cut_rows(seed)
    rows = candidates(holds, target, None, cuts)
    found = exchange(rows, 4)
    assert sorted(exchange(rows, 4, found)) == sorted(found)
