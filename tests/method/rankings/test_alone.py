"""Scores are scikit-learn's to the last bit, and rankings are SelectKBest's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.feature_selection import SelectKBest, chi2, f_classif, mutual_info_classif

from dnfscale.core.arrays import Bools, Floats
from dnfscale.core.associations import Associations
from dnfscale.data.roles import feature_columns
from dnfscale.datasets.named import open_named
from dnfscale.method.rankings.alone import rankings
from dnfscale.spec.registry import RANKINGS
from tests.strategies import boolean_rows

JUDGES: dict[str, Callable[[Floats, Bools], Floats]] = {
    "f": lambda x, y: f_classif(x, y)[0],
    "chi2": lambda x, y: chi2(x, y)[0],
    "mutual_info": partial(mutual_info_classif, discrete_features=True),
}

SCORES = {name: ranking.rank for name, ranking in RANKINGS.items() if not ranking.together}


def judged(score: str, holds: Bools, target: Bools) -> Floats:
    """Return scikit-learn's scores; what it warns of is no concern here."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(JUDGES[score](holds.astype(np.float64), target))


def tables_of(holds: Bools, target: Bools) -> Associations:
    return Associations(
        np.array([len(target)]),
        np.array([target.sum()]),
        holds.sum(axis=0)[None, :],
        holds[target].sum(axis=0)[None, :],
    )


def selected(scores: Floats, k: int) -> set[int]:
    """Return what SelectKBest takes when its attributes have these scores."""
    chosen = SelectKBest(lambda _x, _y: scores, k=k).fit(np.zeros((2, len(scores))), [0, 1])
    return set(chosen.get_support(indices=True).tolist())


def assert_scores_and_rankings_agree(score: str, holds: Bools, target: Bools) -> None:
    mine, theirs = SCORES[score](tables_of(holds, target))[0], judged(score, holds, target)
    assert np.array_equal(mine, theirs, equal_nan=True)
    order = rankings(mine[None, :], len(mine))[0].tolist()
    for k in range(1, len(mine) + 1):
        assert set(order[:k]) == selected(theirs, k)


@pytest.mark.slow
@pytest.mark.parametrize("score", SCORES)
@given(rows=boolean_rows(min_rows=2, max_rows=40, max_attributes=8))
def test_scores_and_rankings_of_a_few_rows_equal_scikit_learns(score, rows):
    assert_scores_and_rankings_agree(score, *rows)


@pytest.mark.slow
@pytest.mark.parametrize("score", SCORES)
@given(
    n_rows=st.integers(2, 3000),
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=12),
    positive=st.floats(0, 1),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=30)
def test_scores_and_rankings_of_many_rows_equal_scikit_learns(
    score, n_rows, shares, positive, seed
):
    random = np.random.default_rng(seed)
    target = random.random(n_rows) < positive
    noise = random.random((n_rows, len(shares)))
    # Every other attribute leans towards the target.
    lean = np.where(np.arange(len(shares)) % 2, 0.3, 0.0)
    assert_scores_and_rankings_agree(
        score, noise - lean * target[:, None] < np.array(shares), target
    )


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(
    ("n", "positive", "holds", "both"),
    [(435, 257, 75, 73), (435, 173, 26, 25), (4521, 1772, 4038, 1771)],
)
def test_scores_equal_scikit_learns_where_the_order_of_adding_shows_in_the_last_bit(
    score, n, positive, holds, both
):
    target = np.arange(n) < positive
    attribute = (np.arange(n) < both) | (np.arange(n) >= n - (holds - both))
    assert_scores_and_rankings_agree(score, attribute[:, None], target)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("target", [[True] * 6, [False] * 6])
def test_scores_of_one_class_equal_scikit_learns(score, target):
    holds = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 1], [1, 0, 0], [1, 0, 0], [1, 0, 1]], dtype=bool)
    assert_scores_and_rankings_agree(score, holds, np.array(target))


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("n_rows", [2, 3, 10])
def test_scores_of_attributes_that_are_constant_or_the_target_itself_equal_scikit_learns(
    score, n_rows
):
    target = np.arange(n_rows) % 2 == 0
    always, never = np.ones(n_rows, bool), np.zeros(n_rows, bool)
    holds = np.array([target, always, ~target, never, always, target]).T
    assert_scores_and_rankings_agree(score, holds, target)


@pytest.mark.parametrize("score", SCORES)
def test_scores_of_no_rows_are_no_error(score):
    tables = Associations(*(np.zeros(shape, np.int64) for shape in (1, 1, (1, 2), (1, 2))))
    assert SCORES[score](tables).shape == (1, 2)


@pytest.mark.parametrize("score", SCORES)
def test_all_folds_are_scored_at_once_as_each_alone(score):
    random = np.random.default_rng(0)
    parts = [
        (random.random((n, 5)) < 0.4, random.random(n) < share)
        for n, share in ((50, 0.5), (7, 0.0), (90, 0.2))
    ]
    alone = [tables_of(*part) for part in parts]
    together = Associations(
        *(
            np.concatenate([getattr(t, name) for t in alone])
            for name in ("n", "positive", "holds", "holds_positive")
        )
    )
    expected = np.concatenate([SCORES[score](tables) for tables in alone])
    assert np.array_equal(SCORES[score](together), expected, equal_nan=True)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("n_rows", [10**6, 10**9, 10**10, 10**12])
def test_scores_of_billions_of_rows_follow_the_shares_of_the_rows(score, n_rows):
    def tables(n: int) -> Associations:
        n_half, n_tenth = n // 2, n // 10
        holds = np.array([[n_half, n_half, n_tenth]])
        both = np.array([[4 * n_tenth, 3 * n_tenth, n_tenth]])
        return Associations(np.array([n]), np.array([n_half]), holds, both)

    small, large = SCORES[score](tables(1000))[0], SCORES[score](tables(n_rows))[0]
    scale = 1 if score == "mutual_info" else (n_rows - 2) / 998 if score == "f" else n_rows / 1000
    assert large == pytest.approx(small * scale, rel=1e-6)


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 3), st.integers(1, 10)),
        elements=st.sampled_from([0.0, 0.5, 1.0, np.inf, np.nan, -0.0]),
    ),
    st.integers(1, 12),
)
def test_rankings_with_ties_and_without_scores_are_those_of_select_k_best(scores, length):
    found = rankings(scores, length)
    assert found.shape == (len(scores), min(length, scores.shape[1]))
    for order, of_fold in zip(found.tolist(), scores, strict=True):
        for k in range(1, len(order) + 1):
            assert set(order[:k]) == selected(of_fold, k)


def test_ties_go_to_the_later_attribute_and_attributes_without_a_score_come_last():
    scores = np.array([[1.0, np.nan, 3.0, 1.0, 3.0]])
    assert rankings(scores, 5).tolist() == [[4, 2, 3, 0, 1]]
    assert rankings(scores, 2).tolist() == [[4, 2]]


PAPER = (
    "bank_marketing",
    "breast_cancer",
    "colon",
    "congressional_voting",
    "electricity",
    "eye_movement",
    "german_credit",
    "heart_disease",
    "hepatitis",
    "student_dropout",
)


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.usefixtures("paper_data")
def test_scores_and_rankings_of_the_papers_datasets_equal_scikit_learns(name):
    source, record = open_named(f"paper:{name}")
    frame = pq.read_table(source.path).to_pandas().drop(columns=list(record.drop)).dropna()
    columns = feature_columns(
        source,
        target=record.target,
        drop=record.drop,
        categorical=record.categorical,
        boolean=record.boolean,
    )
    holds = []
    for column in columns:
        values = frame[column.name]
        if column.role == "number":
            holds.append(values.to_numpy() > np.median(values))
        elif column.role == "boolean":
            holds.append(values.to_numpy() == values.max())
        else:
            holds += [values.to_numpy() == value for value in sorted(values.unique())]
    target = frame[record.target].isin(record.positive).to_numpy()
    # A tenth of Colon's six thousand attributes says as much as all of them, and scikit-learn is
    # done sooner.
    matrix = np.array(holds)[:: 10 if name == "colon" else 1].T
    for score in SCORES:
        assert_scores_and_rankings_agree(score, matrix, target)
