"""Readable classifiers to compare with: each is fitted on W_0 of every fold and tested once, with
little to tune.

The length of rules is the number of their conditions, written as a disjunction; not every peer has
such a length.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from msgspec.structs import replace as changed

from dnfscale.compare.competitor import Notes, Outcome, Study
from dnfscale.compare.rows import Matrix, RowLearner, RowMatrix, RowsPlan, read_rows
from dnfscale.core.arrays import Bools
from dnfscale.core.splits import TEST, Splits
from dnfscale.engine.api import Failure
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.results.confusion import Answers, Confusion
from dnfscale.results.method import Fold, Method
from dnfscale.results.record import Note
from dnfscale.results.spread import mean
from dnfscale.spec.checks import yes_no
from dnfscale.spec.keys import key
from dnfscale.spec.registry import Family

FIT_PEERS = Phase("fit peers", Reads.FILES_ON_WORKERS)


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


Answered = tuple[Bools, int | None]
"""Answers for the test rows, and the number of literals of the rules behind them, if it has such a
length.
"""
PeerLearner = Callable[[RowMatrix, Splits, PeerFit, Matrix], Answered]


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer(RowLearner):
    """A readable classifier, which tells two classes apart."""

    learn: PeerLearner
    options: type = PeerOptions
    many_classes: bool = False
    colour: str = "teal"
    family: Family = field(default_factory=lambda: FITTED)


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
    learners: Mapping[str, PeerLearner]
    """By peer."""

    def __call__(self, fit: PeerFit) -> PeerFold:
        started = time.perf_counter()
        rows, splits = read_rows(self.plan), self.plan.splits
        tested = rows.part(splits, fit.fold, (TEST,))
        answers, literals = self.learners[fit.peer](rows, splits, fit, tested.features)
        seconds = round(time.perf_counter() - started, 3)
        return PeerFold(
            step=fit.step,
            peer=fit.peer,
            fold=fit.fold,
            answers=tested.by_answer(answers.astype(np.int64), 2),
            literals=literals,
            seconds=seconds,
        )


def fit_peers(study: Study, options: Mapping[Peer, Any]) -> dict[str, Outcome]:
    """Fit every peer in every fold."""
    plan = study.plan_rows()
    fits = [
        PeerFit(peer.name, fold, study.spec.seed, own)
        for peer, own in options.items()
        for fold in range(plan.splits.outer)
    ]
    learners = {peer.name: peer.learn for peer in options}
    ends = study.engine.chain(
        FIT_PEERS.name,
        [peer_fold(fit, study.notes) for fit in fits],
        FitPeer(plan, learners),
        expected=len(fits),
    )
    return {name: _outcome([end for end in ends if end.peer == name]) for name in learners}


def plan_peers(layout: Layout, options: Mapping[Peer, Any]) -> Iterator[PlannedPhase]:
    """Yield the phase of fit_peers."""
    yield FIT_PEERS.planned((layout.folds - 1) * len(options), layout.read_bytes)


FITTED: Family = Family(run=fit_peers, plan=plan_peers)


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


def _outcome(folds: Sequence[PeerFold]) -> Outcome:
    """Return what a peer came to; a fold that failed does not count in the means."""
    literals = [Fraction(fold.literals) for fold in folds if fold.literals is not None]
    method = changed(Method.over([_tested(fold) for fold in folds]), literals_mean=mean(literals))
    return Outcome(method, round(sum(fold.seconds for fold in folds), 3))


def _tested(fold: PeerFold) -> Fold:
    if fold.error is not None:
        return Fold(fold=fold.fold, error=fold.error)
    return Fold(fold=fold.fold, confusion=Confusion.of_two(fold.answers), literals=fold.literals)
