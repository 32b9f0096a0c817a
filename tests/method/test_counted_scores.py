"""Scores that are counted block by block, against those of all rows at once."""

from __future__ import annotations

import numpy as np
import pytest

from dnfscale.core.arrays import Bools, Floats, Ints
from dnfscale.method.counted_scores import CountedScores
from dnfscale.method.metrics import MOST_SCORES, scores_of_rows

Given = tuple[Floats, Bools, Ints]


def rows(n_rows: int, n_values: int) -> Given:
    random = np.random.default_rng(n_values)
    probability = random.choice(random.random(n_values), n_rows)
    positive = random.random(n_rows) < probability
    return probability, positive, random.integers(1, 50, n_rows)


def counted(given: Given, edges: list[int], *, weighted: bool) -> CountedScores:
    probability, positive, weights = given
    found = CountedScores()
    for start, stop in zip([0, *edges], [*edges, len(positive)], strict=True):
        part = slice(start, stop)
        found.add(probability[part], positive[part], weights[part] if weighted else None)
    return found


@pytest.mark.parametrize("weighted", [False, True])
def test_few_different_values_give_the_scores_of_all_rows_at_once(weighted: bool) -> None:
    given = rows(3_000, 40)
    at_once = scores_of_rows(given[0], given[1], given[2] if weighted else None)
    assert counted(given, [100, 100, 2_500], weighted=weighted).scores() == at_once


@pytest.mark.parametrize("n_values", [40, 20_000])
def test_scores_do_not_depend_on_blocks_nor_on_their_order(n_values: int) -> None:
    given = rows(20_000, n_values)
    whole = counted(given, [], weighted=True).scores()
    assert counted(given, [7, 4_000, 19_000], weighted=True).scores() == whole
    parts = [
        counted(tuple(each[part] for each in given), [50], weighted=True)
        for part in (slice(9_000, None), slice(0, 9_000))
    ]
    merged = CountedScores()
    for part in parts:
        merged.merge(part)
    assert merged.scores() == whole


def test_many_different_values_are_binned_as_those_of_all_rows_at_once() -> None:
    given = rows(20_000, 20_000)
    at_once = scores_of_rows(given[0], given[1], None)
    found = counted(given, [6_000], weighted=False).scores()
    assert len(np.unique(given[0])) > MOST_SCORES
    assert (found.value, found.n, found.c) == (at_once.value, at_once.n, at_once.c)
    for name in ("brier", "log_loss"):
        assert getattr(found, name) == pytest.approx(getattr(at_once, name), rel=1e-7)
    for name in ("auc", "average_precision"):
        assert getattr(found, name) == pytest.approx(getattr(at_once, name), abs=1e-3)


@pytest.mark.parametrize("weight", [1, 1 << 30, 1 << 40])
def test_losses_do_not_depend_on_what_a_row_weighs(weight: int) -> None:
    probability, positive, _ = rows(6_000, 6_000)
    # The greatest loss there is.
    probability[0], positive[0] = 0.0, True
    at_once = scores_of_rows(probability, positive, None)
    found = CountedScores()
    found.add(probability, positive, np.full(6_000, weight))
    for name in ("brier", "log_loss"):
        assert getattr(found.scores(), name) == pytest.approx(getattr(at_once, name), rel=1e-7)
