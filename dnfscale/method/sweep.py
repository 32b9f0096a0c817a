"""The sweep over ell: how accurate each number of attributes is on W_val, and which number to keep.

A ranking is nested, so the counts of its best max_ell attributes give those of every shorter prefix
by summing out. With several inner splits, each has a ranking of its own: what is judged is the way
of choosing attributes, not the attributes chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol, TypeVar

from dnfscale.core.counts import TypeCounts, project
from dnfscale.method.ideal import correct_rows
from dnfscale.method.objective import Objective
from dnfscale.method.shrink import Shrink, accepted_by_each


@dataclass(frozen=True, slots=True)
class RankedCounts:
    """A ranking's best attributes and the counts over them."""

    attributes: tuple[int, ...]
    """Best first."""
    train: TypeCounts
    validation: TypeCounts
    """Bit i of a type is attribute i of this ranking."""


@dataclass(frozen=True, slots=True)
class Judging:
    """How prefixes are judged, and how the smallest that is good enough is chosen."""

    objective: Objective = Objective()  # noqa: RUF009 (a frozen value)
    shrinks: tuple[Shrink, ...] = (Shrink(),)
    """The rules for types of few rows to choose from."""
    tolerance: float = 0.01
    rule: str = "tolerance"
    """"tolerance": within the tolerance of the best; "standard_error": also within one standard
    error of the loss.
    """


@dataclass(frozen=True, slots=True)
class Step:
    """The record (ell, F, r): the best ranking for a number of attributes."""

    ell: int
    rank: str
    attributes: tuple[int, ...]
    correct: int
    """Rows of W_val that the classifier of these attributes gets right, in all inner splits."""
    correct_by_rank: Mapping[str, int]
    score: Fraction
    """What the step is judged by: the share of rows that it gets right, unless the objective is
    another.
    """
    shrink: Shrink = Shrink()  # noqa: RUF009 (a frozen value)
    """The rule for types of few rows that is best for these attributes."""
    by_split: tuple[Fraction, ...] = ()
    """The score in each inner split, of which the score is the mean."""


class Judged(Protocol):
    """Anything that inner splits have judged: a number of attributes, or a length."""

    @property
    def score(self) -> Fraction:
        """What it is judged by: the mean over the splits."""

    @property
    def by_split(self) -> tuple[Fraction, ...]:
        """The score in each split."""


AnyJudged = TypeVar("AnyJudged", bound=Judged)


@dataclass(frozen=True, slots=True)
class Sweep:
    """The steps for ell = 1, 2, ... and the one that was chosen."""

    steps: tuple[Step, ...]
    chosen: Step
    validation_rows: int
    """The rows of W_val in all inner splits together."""
    threshold: Fraction = Fraction(1, 2)
    """The share of positives from which on a type is accepted, by the rows of the first split."""


def sweep(
    ranked: Mapping[str, Sequence[RankedCounts]],
    judging: Judging,
    *,
    final: Mapping[str, tuple[int, ...]] | None = None,
    distinct_rows: int | None = None,
) -> Sweep:
    """Try every prefix of every ranking on W_val of each inner split, and choose the smallest that
    is good enough.

    Between rankings that tie, the first in the mapping's order wins, and likewise between rules for
    types of few rows. `final` has the attributes of each ranking on all rows learned from, by
    default those of the only split; `distinct_rows` is how many different rows are validated on.
    """
    best = final or {rank: splits[0].attributes for rank, splits in ranked.items()}
    longest = max(len(attributes) for attributes in best.values())
    judge = _Judge(judging)
    scored = {
        rank: [judge.scored(splits, ell) for ell in range(1, longest + 1)]
        for rank, splits in ranked.items()
    }
    steps = []
    for ell in range(1, longest + 1):
        by_rank = {rank: prefixes[ell - 1] for rank, prefixes in scored.items()}
        rank = max(by_rank, key=lambda rank: by_rank[rank].score)
        top = by_rank[rank]
        steps.append(
            Step(
                ell,
                rank,
                best[rank][:ell],
                top.correct,
                {name: prefix.correct for name, prefix in by_rank.items()},
                score=top.score,
                shrink=top.shrink,
                by_split=top.by_split,
            )
        )
    first = next(iter(ranked.values()))
    validation_rows = sum(split.validation.n_rows for split in first)
    train_rows = sum(split.train.n_rows for split in first)
    decided = choose(
        steps,
        judging,
        distinct_rows=validation_rows if distinct_rows is None else distinct_rows,
        validation_per_train=Fraction(validation_rows, max(1, train_rows)),
    )
    counts = project(
        ranked[decided.rank][0].train, range(min(decided.ell, ranked[decided.rank][0].train.ell))
    )
    return Sweep(tuple(steps), decided, validation_rows, judging.objective.threshold_of(counts))


def choose(
    steps: Sequence[AnyJudged],
    judging: Judging,
    *,
    distinct_rows: int,
    validation_per_train: Fraction,
) -> AnyJudged:
    """Return the first step whose score is close enough to the best, inclusive, in fractions.

    `distinct_rows` is how many different rows are validated on in all splits together, and
    `validation_per_train` how many are validated on in a split for each row trained on.
    """
    best = max(steps, key=lambda step: step.score)
    allowed = Fraction(str(judging.tolerance))

    def is_close(step: AnyJudged) -> bool:
        given_up = best.score - step.score
        if given_up > allowed:
            return False
        if judging.rule == "tolerance":
            return True
        # Squares are compared, so that this too is exact in fractions.
        return given_up**2 <= _loss_variance(best, step, distinct_rows, validation_per_train)

    return next(step for step in steps if is_close(step))


def _loss_variance(
    best: Judged, step: Judged, distinct_rows: int, validation_per_train: Fraction
) -> Fraction:
    """Return the square of the standard error of what a step loses against the best.

    It is at most that of the best share itself, p (1 - p) / n. But both steps are judged on the
    same rows and err on nearly the same, so their difference varies less from split to split than
    either; splits share rows, which Nadeau and Bengio correct for by adding the validated rows per
    trained one to 1 / R.
    """
    of_share = best.score * (1 - best.score) / max(1, distinct_rows)
    losses = [a - b for a, b in zip(best.by_split, step.by_split, strict=True)]
    if len(losses) < 2:
        return of_share
    mean = sum(losses, start=Fraction()) / len(losses)
    spread = sum(((loss - mean) ** 2 for loss in losses), start=Fraction()) / (len(losses) - 1)
    return min(of_share, spread * (Fraction(1, len(losses)) + validation_per_train))


class _Scored(NamedTuple):
    """How good a prefix of a ranking is, with the rule for types of few rows that suits it best."""

    shrink: Shrink
    correct: int
    by_split: tuple[Fraction, ...]

    @property
    def score(self) -> Fraction:
        return sum(self.by_split, start=Fraction()) / len(self.by_split)


class _OfSplit(NamedTuple):
    """What each rule for types of few rows comes to on W_val of a split."""

    correct: tuple[int, ...]
    scores: tuple[Fraction, ...]


class _Judge:
    """Judges prefixes of rankings. Rankings that begin alike in a split are judged there once."""

    def __init__(self, judging: Judging) -> None:
        self._judging = judging
        self._known: dict[tuple[int, tuple[int, ...]], _OfSplit] = {}

    def scored(self, splits: Sequence[RankedCounts], ell: int) -> _Scored:
        """Return the best rule for the first ell attributes, the rows that it gets right, and its
        score in each split.
        """
        by_split = [self._of_split(place, split, ell) for place, split in enumerate(splits)]
        each = [
            _Scored(
                shrink,
                sum(of.correct[i] for of in by_split),
                tuple(of.scores[i] for of in by_split),
            )
            for i, shrink in enumerate(self._judging.shrinks)
        ]
        return max(each, key=lambda scored: scored.score)

    def _of_split(self, place: int, split: RankedCounts, ell: int) -> _OfSplit:
        key = (place, split.attributes[:ell])
        if key not in self._known:
            self._known[key] = self._judged(split, len(key[1]))
        return self._known[key]

    def _judged(self, split: RankedCounts, ell: int) -> _OfSplit:
        judging, prefix = self._judging, range(ell)
        train, validation = project(split.train, prefix), project(split.validation, prefix)
        answers = accepted_by_each(train, judging.shrinks, judging.objective.threshold_of(train))
        accepted = [answer[validation.codes] for answer in answers]
        return _OfSplit(
            tuple(correct_rows(own, validation) for own in accepted),
            tuple(judging.objective.score(own, validation) for own in accepted),
        )
