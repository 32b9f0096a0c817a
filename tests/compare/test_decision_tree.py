"""Readable peers: a tree grown once answers as each of its smaller trees would."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from dnfscale.compare.decision_tree import answers_by_leaves


@pytest.mark.parametrize("seed", range(8))
def test_a_tree_answers_as_trees_of_fewer_leaves_that_are_fitted_anew(seed):
    random = np.random.default_rng(seed)
    # Few values, so that splits tie.
    features = random.integers(0, 5, (300, 6)).astype(np.float32)
    target = (
        features[:, 0] + features[:, 1] * features[:, 2] + random.normal(0, 3, 300) > 6
    ).astype(np.int64)
    others = random.integers(0, 5, (200, 6)).astype(np.float32)
    grown = DecisionTreeClassifier(max_leaf_nodes=16, random_state=seed).fit(features, target)
    for leaves, answers in enumerate(answers_by_leaves(grown, others), start=2):
        fitted = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=seed).fit(
            features, target
        )
        assert answers.tolist() == fitted.predict(others).tolist()
    assert leaves == 16


def test_a_tree_that_stops_early_has_no_larger_ones():
    features = np.array([[0.0], [0.0], [1.0], [1.0]], dtype=np.float32)
    for target, n_trees in (([0, 0, 1, 1], 1), ([1, 1, 1, 1], 1)):
        grown = DecisionTreeClassifier(max_leaf_nodes=16, random_state=0).fit(features, target)
        answers = list(answers_by_leaves(grown, features))
        assert [each.tolist() for each in answers] == [target] * n_trees
