"""Readable classifiers to compare with: each is fitted on W_0 of every fold and tested once, with
little to tune.

The length of rules is the number of their conditions, written as a disjunction; not every peer has
such a length.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from msgspec.structs import replace as changed

from dnfscale.compare.competitor import Notes, Outcome, Study
from dnfscale.compare.measure import Measuring, measured
from dnfscale.compare.rows import Matrix, RowMatrix, RowsPlan, parts_tested, read_rows
from dnfscale.compare.ways import SAMPLE, WORKER, RowLearner, drawn_rows, way_of, where_key
from dnfscale.core.arrays import Bools, Floats
from dnfscale.core.splits import TEST, Splits
from dnfscale.engine.api import Failure
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.method.counted_scores import CountedScores
from dnfscale.results.confusion import Answers, Confusion
from dnfscale.results.method import Fold, Method
from dnfscale.results.metrics import Scores
from dnfscale.results.record import Note
from dnfscale.results.spread import mean
from dnfscale.spec.checks import yes_no
from dnfscale.spec.keys import key
from dnfscale.spec.registry import Family

FIT_PEERS = Phase("fit peers", Reads.FILES_ON_WORKERS, "fit readable methods")


@dataclass(frozen=True, slots=True)
class PeerOptions:
    """A peer without anything to choose."""

    run: bool = key(yes_no, True, "false: leave it out")
    where: str = where_key(WORKER, SAMPLE)


@dataclass(frozen=True, slots=True)
class PeerFit:
    """A peer to be fitted in a fold."""

    peer: str
    fold: int
    seed: int
    options: Any
    """The block of the peer."""
    drawn: int | None = None
    """How many rows are sampled; None: all are learned from."""

    @property
    def step(self) -> str:
        sampled = "" if self.drawn is None else f" of {self.drawn} rows"
        return f"fold {self.fold}{sampled}"


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """What a peer says of some rows."""

    answers: Bools
    literals: int | None = None
    """The number of literals of the rules behind them, if there is such a length."""
    probability: Floats | None = None
    """Of a yes; None if the peer gives none."""


PeerLearner = Callable[[RowMatrix, Splits, PeerFit], Callable[[Matrix], Answered]]
"""Fits in a fold and returns what answers other rows."""


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
    scores: Scores | None = None
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
        plan = replace(self.plan, drawn=fit.drawn)
        rows = read_rows(plan)
        answer = self.learners[fit.peer](rows, plan.splits, fit)
        if fit.drawn is not None:
            answers, scores, literals = _tested_by_blocks(plan, fit.fold, answer)
        else:
            tested = rows.part(plan.splits, fit.fold, (TEST,))
            answered = answer(tested.features)
            given, literals = answered.probability, answered.literals
            answers = tested.by_answer(answered.answers.astype(np.int64), 2)
            scores = None if given is None else tested.scores(given)
        return PeerFold(
            step=fit.step,
            peer=fit.peer,
            fold=fit.fold,
            answers=answers,
            scores=scores,
            literals=literals,
            seconds=round(time.perf_counter() - started, 3),
        )


def _tested_by_blocks(
    plan: RowsPlan, fold: int, answer: Callable[[Matrix], Answered]
) -> tuple[Answers, Scores | None, int | None]:
    """Return all test rows of a fold by answer and by probability, and the length of the rules; the
    rows are read for it, some at a time.
    """
    counts = np.zeros((2, 2), dtype=np.int64)
    counted: CountedScores | None = CountedScores()
    literals = None
    for part in parts_tested(plan, fold):
        if not len(part.target):
            continue
        answered = answer(part.features)
        literals = answered.literals
        counts += np.array(part.by_answer(answered.answers.astype(np.int64), 2))
        if answered.probability is None:
            counted = None
        elif counted is not None:
            part.count_scores(answered.probability, counted)
    scores = None if counted is None else counted.scores()
    return tuple(map(tuple, counts.tolist())), scores, literals


def fit_peers(study: Study, options: Mapping[Peer, Any]) -> dict[str, Outcome]:
    """Fit every peer in every fold."""
    plan = study.plan_rows()
    fits = [
        PeerFit(
            peer.name,
            fold,
            study.spec.seed,
            own,
            drawn_rows(peer, way_of(own), plan.table, study.workers),
        )
        for peer, own in options.items()
        for fold in range(plan.splits.outer)
    ]
    learners = {peer.name: peer.learn for peer in options}
    titles = {peer.name: peer.title for peer in options}
    ends = study.engine.chain(
        FIT_PEERS.name,
        [
            peer_fold(fit, study.notes, lambda fit: study.say(_runs_now(fit, titles, plan.splits)))
            for fit in fits
        ],
        FitPeer(plan, learners),
        expected=len(fits),
        known=sum(_noted(fit, study.notes) is not None for fit in fits),
    )
    measuring = Measuring.of(study.spec, plan.splits)
    return {
        name: _outcome([end for end in ends if end.peer == name], measuring) for name in learners
    }


def of_yes(given: Any, classes: Any) -> Floats:
    """Return the probability of a yes, given that of each class that was learned from."""
    places = np.flatnonzero(np.asarray(classes).astype(np.int64) == 1)
    given = np.asarray(given, dtype=np.float64)
    return given[:, places[0]] if len(places) else np.zeros(len(given))


def plan_peers(layout: Layout, options: Mapping[Peer, Any]) -> Iterator[PlannedPhase]:
    """Yield the phase of fit_peers."""
    yield FIT_PEERS.planned((layout.folds - 1) * len(options), layout.read_bytes)


FITTED: Family = Family(run=fit_peers, plan=plan_peers)


def _runs_now(fit: PeerFit, titles: Mapping[str, str], splits: Splits) -> str:
    return f"{titles[fit.peer]}, fold {fit.fold + 1} of {splits.outer}"


def _noted_as(fit: PeerFit) -> str:
    return f"{fit.peer}-fold{fit.fold}"


def peer_fold(
    fit: PeerFit, notes: Notes, begins: Callable[[PeerFit], None]
) -> Generator[PeerFit, PeerFold | Failure, PeerFold]:
    """Have a peer fitted, unless its result is in the notes."""
    noted = _noted(fit, notes)
    if noted is not None:
        return noted
    begins(fit)
    answer = yield fit
    if isinstance(answer, Failure):
        answer = PeerFold(step=fit.step, peer=fit.peer, fold=fit.fold, error=answer.message)
    notes.note(_noted_as(fit), answer)
    return answer


def _noted(fit: PeerFit, notes: Notes) -> PeerFold | None:
    """Return the result of a peer that is in the notes; None if it is not, or of other rows."""
    found = notes.recall(_noted_as(fit), PeerFold)
    return next((fold for fold in found if fold.step == fit.step), None)


def _outcome(folds: Sequence[PeerFold], measuring: Measuring) -> Outcome:
    """Return what a peer came to; a fold that failed does not count in the means."""
    literals = [Fraction(fold.literals) for fold in folds if fold.literals is not None]
    tested = changed(Method.over([_tested(fold) for fold in folds]), literals_mean=mean(literals))
    scores = {fold.fold: fold.scores for fold in folds if fold.scores is not None}
    method = measured(tested, measuring, scores)
    return Outcome(method, round(sum(fold.seconds for fold in folds), 3))


def _tested(fold: PeerFold) -> Fold:
    if fold.error is not None:
        return Fold(fold=fold.fold, error=fold.error)
    return Fold(fold=fold.fold, confusion=Confusion.of_two(fold.answers), literals=fold.literals)
