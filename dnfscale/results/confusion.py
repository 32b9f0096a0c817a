"""Answers by truth, counted: of two classes, and of several labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dnfscale.core.arrays import Bools, Ints
from dnfscale.results.record import Count, Record

Answers = tuple[tuple[Count, ...], ...]
"""answers[i][j]: rows of label i that were given label j, or what they weigh in units."""


class Confusion(Record, frozen=True, kw_only=True):
    """Rows of two classes by their truth and by their answer, or what they weigh in units."""

    tp: Count
    """Positive rows that were answered with yes."""
    fp: Count
    """Negative rows that were answered with yes."""
    tn: Count
    fn: Count

    @property
    def correct(self) -> int:
        return self.tp + self.tn

    @property
    def counted(self) -> int:
        return self.tp + self.fp + self.tn + self.fn

    @property
    def majority(self) -> float | None:
        """The share of the rows for which the more frequent answer is right."""
        positive = self.tp + self.fn
        return max(positive, self.counted - positive) / self.counted if self.counted else None

    @classmethod
    def of_types(cls, accepted: Bools, n: Ints, c: Ints) -> Confusion:
        """Return how rows are answered: of type i there are n[i], c[i] of them positive."""
        tp, fn = int(c[accepted].sum()), int(c[~accepted].sum())
        yes, no = int(n[accepted].sum()), int(n[~accepted].sum())
        return cls(tp=tp, fp=yes - tp, tn=no - fn, fn=fn)

    @classmethod
    def of_two(cls, answers: Answers) -> Confusion:
        """Return the table of two classes of which the second is the positive one."""
        (tn, fp), (fn, tp) = answers
        return cls(tp=tp, fp=fp, tn=tn, fn=fn)


@dataclass(frozen=True, slots=True)
class LabelConfusion:
    """Test rows by their label and by the label they were given; or what these rows weigh."""

    labels: tuple[str, ...]
    rows: tuple[tuple[int | float, ...], ...]
    """rows[i][j]: rows of label i that were given label j."""

    def of(self, label: int) -> int | float:
        """Return the rows of a label."""
        return sum(self.rows[label])

    def given(self, label: int) -> int | float:
        """Return the rows that were given a label."""
        return sum(row[label] for row in self.rows)

    def recall(self, label: int) -> float | None:
        """Return the share of a label's rows that were given it; None if it has no rows."""
        return _share(self.rows[label][label], self.of(label))

    def precision(self, label: int) -> float | None:
        """Return the share of the rows given a label that have it; None if none were given it."""
        return _share(self.rows[label][label], self.given(label))

    def mistaken_for(self, label: int) -> int | None:
        """Return the wrong label that a label's rows were given most often; None if never one."""
        others = [(-n, other) for other, n in enumerate(self.rows[label]) if other != label and n]
        return min(others)[1] if others else None


def is_square(answers: Answers) -> bool:
    """Return whether there is an answer for each label."""
    return all(len(row) == len(answers) for row in answers)


def summed(folds: Sequence[Answers]) -> Answers:
    """Add up the answers of all folds, which have the same labels."""
    k = len(folds[0])
    return tuple(tuple(sum(answers[i][j] for answers in folds) for j in range(k)) for i in range(k))


def correct_of(answers: Answers) -> int:
    """Return the rows that were given their own label."""
    return sum(row[i] for i, row in enumerate(answers))


def counted_of(answers: Answers) -> int:
    """Return all rows."""
    return sum(map(sum, answers))


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
