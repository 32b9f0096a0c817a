"""The choice of a length, from one curve of validation scores whatever searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dnfscale.method.sweep import Judging, choose


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """How good the formulas of a search of at most so many literals are on validation rows."""

    literals: int
    search: str
    """What searched for them: "terms", or "attributes" and its ranking, as the caller names it."""
    form: str
    by_split: tuple[Fraction, ...]
    """The score in each inner split, of the formula found in that split."""

    @property
    def score(self) -> Fraction:
        """The mean over the splits."""
        return sum(self.by_split, start=Fraction()) / len(self.by_split)


def curve(
    splits: Sequence[Mapping[int, Fraction]], *, search: str, form: str = "lines"
) -> tuple[CurvePoint, ...]:
    """Return the points of one search, given the scores of the formulas of each inner split by
    their length.

    At a length that a split has no formula of, it is judged by its longest one that is shorter.
    Lengths below the shortest formula of some split have no point.
    """
    lengths = sorted({length for split in splits for length in split})
    shortest = max((min(split, default=0) for split in splits), default=0)

    def score(split: Mapping[int, Fraction], length: int) -> Fraction:
        return split[max(own for own in split if own <= length)]

    return tuple(
        CurvePoint(length, search, form, tuple(score(split, length) for split in splits))
        for length in lengths
        if length >= shortest and all(splits)
    )


def choose_length(
    points: Sequence[CurvePoint],
    judging: Judging,
    *,
    distinct_rows: int,
    validation_per_train: Fraction,
) -> CurvePoint:
    """Return the shortest point whose score is close enough to the best of all.

    Of several of one length the best is taken, of equally good ones the first. What is close
    enough, and what the rows are, `sweep.choose` says.
    """
    ordered = sorted(points, key=lambda point: (point.literals, -point.score))
    return choose(
        ordered, judging, distinct_rows=distinct_rows, validation_per_train=validation_per_train
    )
