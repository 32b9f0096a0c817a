"""Small decision trees of scikit-learn: a readable competitor.

The number of leaves is chosen on W_val. The length of a tree is that of its leaves that say yes,
written as a disjunction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dnfscale.compare.peers import Answered, Peer, PeerFit, of_yes
from dnfscale.compare.rows import Matrix, RowMatrix, RowPart
from dnfscale.compare.ways import SAMPLE, WORKER, where_key
from dnfscale.core.splits import TRAIN, VALIDATION, WHOLE, Splits
from dnfscale.spec.checks import whole
from dnfscale.spec.keys import key
from dnfscale.spec.registry import COMPETITORS


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """How large a decision tree may grow."""

    max_leaves: int = key(whole(2, 1024), 16, "the most leaves; validation chooses how many")
    where: str = where_key(WORKER, SAMPLE)


def learn(rows: RowMatrix, splits: Splits, fit: PeerFit) -> Callable[[Matrix], Answered]:
    """Choose a number of leaves, grow the tree on W_0, and return what answers other rows."""
    from sklearn.tree import DecisionTreeClassifier

    def grown(part: RowPart, leaves: int) -> Any:
        tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=fit.seed)
        return tree.fit(part.features, part.target, sample_weight=part.sample_weight)

    leaves = fit.options.max_leaves
    tree = grown(rows.part(splits, fit.fold, (TRAIN,)), leaves)
    held_out = rows.part(splits, fit.fold, (VALIDATION,))
    if len(held_out.target):
        answered = answers_by_leaves(tree, held_out.features)
        scores = [held_out.counted(answers == held_out.target) for answers in answered]
        leaves = 2 + scores.index(max(scores))
    tree = grown(rows.part(splits, fit.fold, WHOLE), leaves)
    literals = _yes_literals(tree)

    def answer(tested: Matrix) -> Answered:
        return Answered(
            answers=tree.predict(tested) == 1,
            literals=literals,
            probability=of_yes(tree.predict_proba(tested), tree.classes_),
        )

    return answer


def answers_by_leaves(tree: Any, features: Matrix) -> Iterator[Any]:
    """Yield the answers of trees of 2, 3, ... leaves, up to the given tree, which was grown leaf by
    leaf.

    Its nodes are numbered in the order in which they were made, two at a time, so that the first 2k
    - 1 are the tree of k leaves.
    """
    nodes = tree.tree_
    parents = np.zeros(nodes.node_count, dtype=np.int64)
    for children in (nodes.children_left, nodes.children_right):
        inner = np.flatnonzero(children >= 0)
        parents[children[inner]] = inner
    said = tree.classes_[nodes.value[:, 0].argmax(axis=1)]
    reached = tree.apply(features)
    for n_nodes in range(3, max(3, nodes.node_count) + 1, 2):
        place = np.arange(nodes.node_count)
        while (place >= n_nodes).any():
            place = np.where(place >= n_nodes, parents[place], place)
        yield said[place][reached]


def _yes_literals(tree: Any) -> int:
    """Return the number of conditions on the paths to all leaves that say yes."""
    nodes, classes = tree.tree_, tree.classes_.tolist()

    def below(node: int, depth: int) -> int:
        if nodes.children_left[node] < 0:
            return depth if classes[int(np.argmax(nodes.value[node]))] == 1 else 0
        return below(nodes.children_left[node], depth + 1) + below(
            nodes.children_right[node], depth + 1
        )

    return below(0, 0)


COMPETITORS.register(
    Peer(
        name="decision_tree",
        title="Decision tree",
        place=50,
        options=TreeOptions,
        learn=learn,
    )
)
