"""Which attributes may be ranked, and which of equals stay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from dnfscale.core.bins import TWO_CLASSES, CategoryBins, Spans
from dnfscale.core.sample import SampledRows
from dnfscale.core.splits import TEST
from dnfscale.data.frames import table_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.learn.line import LearnedFold, learn
from dnfscale.learn.places import JUDGED, LEARNED, LearningPart, splits_of
from dnfscale.learn.rank import RankJob, RankTogether
from dnfscale.spec.learn import LearnSpec, profile_values

N_ROWS = 90
PART = LearningPart(0, 0)
PLAIN = LearnSpec("y", outer=3, max_ell=3)
SPECS = {
    "median": PLAIN,
    "quantiles": replace(PLAIN, cuts=6, rank=("f",)),
    "distinct": replace(PLAIN, cuts=4, rank=("f", "mutual_info"), drop_duplicates=True),
    "rare": replace(PLAIN, categorical=("a",), rare=22),
    "weighed": replace(PLAIN, categorical=("a",), rare=44, weight="d"),
    "entropy": replace(PLAIN, cuts="entropy", rank=("chi2",)),
    "best": LearnSpec(
        "y", outer=3, max_ell=3, **{**profile_values("best"), "validation_splits": 2}
    ),
}


def first_fold(
    columns: dict[str, np.ndarray], target: np.ndarray, spec: LearnSpec
) -> tuple[object, object]:
    fold: LearnedFold = learn(
        table_source(pa.table({**columns, "y": target}), "memory"), spec, SerialEngine()
    ).folds[0]
    return [replace(attribute, name="") for attribute in fold.tau.attributes], fold.dnf


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECS)
def test_nothing_of_the_rows_that_test_a_fold_changes_its_formula(name):
    # Few values, so that cuts coincide in some folds and not in others, and categories are about as
    # frequent as rare.
    for seed in range(6 if name == "best" else 20):
        random = np.random.default_rng(seed)
        columns = {
            column: random.integers(0, most, N_ROWS)
            for column, most in (("a", 4), ("b", 4), ("c", 5))
        }
        columns["d"] = random.integers(1, 4, N_ROWS)
        target = columns["a"] + columns["b"] + 2 * random.normal(size=N_ROWS) > 4
        splits = splits_of(N_ROWS, SPECS[name])
        tests = (splits.parts[0] == TEST)[splits.arcs(0, N_ROWS)]
        assert 0 < tests.sum() < N_ROWS
        others = {column: values.copy() for column, values in columns.items()}
        for column, values in others.items():
            values[tests] = (
                random.permutation(values)[: tests.sum()] if column != "d" else values[tests]
            )
        answers = np.where(tests, ~target, target)
        assert first_fold(others, answers, SPECS[name]) == first_fold(columns, target, SPECS[name])


def ranking(columns: list[np.ndarray], target: np.ndarray) -> RankTogether:
    """Rank flags on rows that are all sampled; equals are left out."""
    n = len(columns)
    return RankTogether(
        rows=SampledRows(
            np.arange(len(target)),
            {i: column.astype(np.uint8) for i, column in enumerate(columns)},
            target.astype(np.uint8),
            None,
        ),
        bins=tuple(CategoryBins((False, True)) for _ in columns),
        spans=Spans(np.arange(n), np.ones((1, n), dtype=np.int64), np.ones((1, n), dtype=np.int64)),
        parts={PART: np.array([LEARNED], dtype=np.uint8)},
        targets=TWO_CLASSES,
        ranks=("forward", "chi2"),
        max_ell=3,
        drop_duplicates=True,
        is_cut=np.zeros(n, dtype=np.bool_),
        intervals=False,
        unit=1,
    )


@pytest.fixture(name="told")
def told_by_the_first_two() -> RankTogether:
    random = np.random.default_rng(0)
    target = random.random(500) < 0.5
    telling = target ^ (random.random(500) < 0.1)
    return ranking([telling, telling, *(random.random(500) < 0.5 for _ in range(3))], target)


def test_of_equals_the_best_ranked_stays_where_it_is(told):
    ranked = told(RankJob(0, PART, (0, 1, 2, 3, 4), {"chi2": (0, 2, 3, 1)}))
    assert ranked["chi2"] == ((0,), (2,), (3,))


def test_a_candidate_does_not_give_way_to_an_equal_that_is_none(told):
    ranked = told(RankJob(0, PART, (1, 2, 3, 4), {"chi2": (0, 2, 3)}))
    assert ranked["forward"][0] == (1,)
    assert ranked["chi2"] == ((0,), (2,), (3,))


def test_a_part_of_which_no_row_was_drawn_ranks_all_the_same(told):
    ranked = replace(told, parts={PART: np.array([JUDGED], dtype=np.uint8)})(
        RankJob(0, PART, (3, 1, 2), {"chi2": (0, 2, 3)})
    )
    assert all(len(order) for order in ranked.values())
