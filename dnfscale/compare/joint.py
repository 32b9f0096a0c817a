"""Fits that all workers do together: each has a share of the partitions, and keeps their rows.

The libraries add up histograms of the shares, in single precision and in the order of the shares,
so that the same job on more or fewer workers comes to slightly other figures. What is counted in
the end is counted of all rows, each by the worker that has it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from dnfscale.compare.rows import RowMatrix, RowPart, RowsPlan, read_rows, whole_rows
from dnfscale.compare.trial import Answer, Fit, Scored
from dnfscale.core.arrays import Bools, Ints
from dnfscale.core.splits import TEST, TRAIN, VALIDATION, WHOLE
from dnfscale.engine.api import Share
from dnfscale.method.counted_scores import CountedScores
from dnfscale.results.confusion import Answers

_CHUNK_ROWS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class KnownShare:
    """A worker's share of the rows to learn from, some at a time."""

    chunks: Callable[[], Iterator[RowPart]]
    categorical: tuple[bool, ...]
    n_classes: int
    judged: Callable[[], Iterator[RowPart]] | None = None
    """The rows of W_val, for a trial that may stop early."""


class JointLearner(Protocol):
    """Fits to the shares of all workers, on each of them, and returns what answers other rows."""

    def __call__(
        self, known: KnownShare, fit: Fit, deadline: float | None, share: Share
    ) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Joining:
    """How a competitor is fitted by all workers together."""

    meet: Callable[[str, int], object]
    """Called on the first worker, with its host and the number of workers, before each fit."""
    learn: JointLearner


@dataclass(frozen=True, slots=True, eq=False)
class JointAnswers:
    """How a model answered the held-out rows of a share."""

    counts: Ints
    """By class and answer."""
    scores: CountedScores | None
    """Of test rows of two classes."""
    class_rows: Ints
    """How many rows of each class the share has."""
    seconds: float
    n_trees: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FitTogether:
    """Fits and scores a model on the shares of all workers."""

    plan: RowsPlan
    joining: Joining

    def __call__(self, fit: Fit, share: Share) -> JointAnswers:
        started = time.perf_counter()
        plan = replace(self.plan, partitions=tuple(share.items), is_share=True)
        rows, splits, n_classes = read_rows(plan), plan.splits, len(plan.classes)
        learned = np.isin(splits.parts[fit.fold], WHOLE if fit.final else (TRAIN,))
        held_out = splits.parts[fit.fold] == (TEST if fit.final else VALIDATION)
        deadline = None if fit.timeout_s is None else time.monotonic() + fit.timeout_s
        known = KnownShare(lambda: _chunks(rows, learned[rows.arcs]), rows.categorical, n_classes)
        if fit.patience is not None and not fit.final:
            known = replace(known, judged=lambda: _chunks(rows, held_out[rows.arcs]))
        answer = self.joining.learn(known, fit, deadline, share)
        counts = np.zeros((n_classes, n_classes), dtype=np.int64)
        scores = CountedScores() if fit.final and n_classes == 2 else None
        for part in _chunks(rows, held_out[rows.arcs]):
            if not len(part.target):
                continue
            given = answer(part.features)
            counts += np.array(part.by_answer(given.argmax(axis=1), n_classes))
            if scores is not None:
                part.count_scores(given[:, 1], scores)
        class_rows = np.bincount(rows.target, minlength=n_classes)
        seconds = round(time.perf_counter() - started, 3)
        return JointAnswers(counts, scores, class_rows, seconds, answer.n_trees)

    def merge(self, parts: Sequence[JointAnswers]) -> Scored:
        """Merge the answers of all shares."""
        whole_rows(self.plan, np.sum([part.class_rows for part in parts], axis=0))
        counts = np.sum([part.counts for part in parts], axis=0)
        scores = None
        if parts[0].scores is not None:
            merged = CountedScores()
            for part in parts:
                assert part.scores is not None
                merged.merge(part.scores)
            scores = merged.scores()
        answers: Answers = tuple(map(tuple, counts.tolist()))
        seconds = max(part.seconds for part in parts)
        return Scored(answers, seconds, scores, parts[0].n_trees)


def _chunks(rows: RowMatrix, wanted: Bools) -> Iterator[RowPart]:
    """Yield the wanted rows, some at a time."""
    places = np.flatnonzero(wanted)
    # Libraries want to see a share that has none of them, too.
    for start in range(0, max(1, len(places)), _CHUNK_ROWS):
        some = places[start : start + _CHUNK_ROWS]
        weights = None if rows.weights is None else rows.weights[some]
        yield RowPart(rows.features[some], rows.target[some], weights, rows.unit)
