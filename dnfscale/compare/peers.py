"""Readable classifiers to compare with: small decision trees, RIPPER's rules, and explainable
boosting machines.

Each is fitted on W_0 of every fold and tested once, with little to tune: a tree's number of leaves
is chosen on W_val. RIPPER comes from wittgenstein and the boosting machine from interpret, which
are extras of the package. The length of a tree is that of its leaves that say yes, written as a
disjunction; the length of RIPPER's result is that of its rules. A boosting machine has no such
length.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from msgspec.structs import replace as changed

from dnfscale.compare.rows import Matrix, RowMatrix, RowPart, RowsPlan, read_rows
from dnfscale.compare.tuning import Notes
from dnfscale.core.arrays import Bools
from dnfscale.core.splits import TEST, TRAIN, VALIDATION, Splits
from dnfscale.engine.api import Failure
from dnfscale.results.confusion import Answers, Confusion
from dnfscale.results.method import Fold, Method
from dnfscale.results.record import Note
from dnfscale.results.spread import mean
from dnfscale.spec.checks import whole, yes_no
from dnfscale.spec.keys import key
from dnfscale.spec.registry import COMPETITORS, Competitor


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """How large a decision tree may grow."""

    max_leaves: int = key(whole(2, 1024), 16, "the most leaves; validation chooses how many")


@dataclass(frozen=True, slots=True)
class PeerOptions:
    """A peer without anything to choose."""

    run: bool = key(yes_no, True, "false: leave it out")


@dataclass(frozen=True, slots=True)
class PeerFit:
    """A peer to be fitted in a fold."""

    peer: str
    fold: int
    seed: int
    options: Any
    """The block of the peer."""

    @property
    def step(self) -> str:
        return f"fold {self.fold}"


class PeerFold(Note, frozen=True, kw_only=True):
    """The result of fitting and testing a peer in a fold; its step is the fold."""

    peer: str
    fold: int
    answers: Answers = ()
    """The test rows by their class and by their answer, or their weights."""
    literals: int | None = None
    seconds: float = 0.0
    error: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FitPeer:
    """Fits and tests peers on the worker that has the rows."""

    plan: RowsPlan

    def __call__(self, fit: PeerFit) -> PeerFold:
        started = time.perf_counter()
        rows, splits = read_rows(self.plan), self.plan.splits
        tested = rows.part(splits, fit.fold, (TEST,))
        answers, literals = _FITS[fit.peer](rows, splits, fit, tested.features)
        seconds = round(time.perf_counter() - started, 3)
        return PeerFold(
            step=fit.step,
            peer=fit.peer,
            fold=fit.fold,
            answers=tested.by_answer(answers.astype(np.int64), 2),
            literals=literals,
            seconds=seconds,
        )


def peer_fold(fit: PeerFit, notes: Notes) -> Generator[PeerFit, PeerFold | Failure, PeerFold]:
    """Have a peer fitted, unless its result is in the notes."""
    name = f"{fit.peer}-fold{fit.fold}"
    noted = notes.recall(name, PeerFold)
    if noted:
        return noted[0]
    answer = yield fit
    if isinstance(answer, Failure):
        answer = PeerFold(step=fit.step, peer=fit.peer, fold=fit.fold, error=answer.message)
    notes.note(name, answer)
    return answer


def peer_method(folds: Sequence[PeerFold]) -> Method:
    """Return what a peer did; a fold that failed does not count in the means."""
    literals = [Fraction(fold.literals) for fold in folds if fold.literals is not None]
    return changed(Method.over([_tested(fold) for fold in folds]), literals_mean=mean(literals))


def _tested(fold: PeerFold) -> Fold:
    if fold.error is not None:
        return Fold(fold=fold.fold, error=fold.error)
    return Fold(fold=fold.fold, confusion=Confusion.of_two(fold.answers), literals=fold.literals)


Answered = tuple[Bools, int | None]
"""Answers for the test rows, and the number of literals of the rules behind them, if it has such a
length.
"""


def _decision_tree(rows: RowMatrix, splits: Splits, fit: PeerFit, tested: Matrix) -> Answered:
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
    tree = grown(rows.part(splits, fit.fold, (TRAIN, VALIDATION)), leaves)
    return tree.predict(tested) == 1, _yes_literals(tree)


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


def _ripper(rows: RowMatrix, splits: Splits, fit: PeerFit, tested: Matrix) -> Answered:
    import pandas as pd  # type: ignore[import-untyped]
    import wittgenstein

    def frame(features: Matrix) -> Any:
        # Categories are passed as words: codes would be taken for quantities.
        columns = {
            f"c{i}": np.char.add("v", features[:, i].astype(np.int64).astype(str))
            if is_category
            else features[:, i]
            for i, is_category in enumerate(rows.categorical)
        }
        return pd.DataFrame(columns)

    known = rows.part(splits, fit.fold, (TRAIN, VALIDATION))
    ripper = wittgenstein.RIPPER(random_state=fit.seed)
    with warnings.catch_warnings():
        # wittgenstein calls pandas in ways that newer versions warn about.
        warnings.simplefilter("ignore")
        ripper.fit(frame(known.features), y=(known.target == 1).astype(int), pos_class=1)
        answers = np.asarray(ripper.predict(frame(tested)), dtype=np.bool_)
    return answers, sum(len(rule.conds) for rule in ripper.ruleset_.rules)


def _ebm(rows: RowMatrix, splits: Splits, fit: PeerFit, tested: Matrix) -> Answered:
    from interpret.glassbox import ExplainableBoostingClassifier

    known = rows.part(splits, fit.fold, (TRAIN, VALIDATION))
    kinds = ["nominal" if is_category else "continuous" for is_category in rows.categorical]
    machine = ExplainableBoostingClassifier(feature_types=kinds, random_state=fit.seed, n_jobs=1)
    machine.fit(
        known.features.astype(np.float64), known.target == 1, sample_weight=known.sample_weight
    )
    return np.asarray(machine.predict(tested.astype(np.float64)), dtype=np.bool_), None


_FITS: Mapping[str, Callable[[RowMatrix, Splits, PeerFit, Matrix], Answered]] = {
    "decision_tree": _decision_tree,
    "ripper": _ripper,
    "ebm": _ebm,
}


COMPETITORS.register(
    Competitor(
        name="ebm",
        title="Boosting machine",
        colour="teal",
        family="fitted",
        place=40,
        options=PeerOptions,
        many_classes=False,
        package="interpret",
        extra="peers",
    )
)
COMPETITORS.register(
    Competitor(
        name="decision_tree",
        title="Decision tree",
        colour="teal",
        family="fitted",
        place=50,
        options=TreeOptions,
        many_classes=False,
    )
)
COMPETITORS.register(
    Competitor(
        name="ripper",
        title="RIPPER",
        colour="teal",
        family="fitted",
        place=60,
        options=PeerOptions,
        weighs_rows=False,
        many_classes=False,
        package="wittgenstein",
        extra="peers",
    )
)
