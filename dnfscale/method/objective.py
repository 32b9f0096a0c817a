"""What a formula is optimized for, computed exactly from counts: accuracy or least cost, balanced
accuracy, or F-beta.

Each objective has its own threshold: the share of positives from which on a type is to be accepted.
For accuracy it is one half, or as the spec says: with the threshold a / b a wrong «yes» costs a and
a wrong «no» b - a, and the score is the share of the possible cost that is avoided. For balanced
accuracy it is the share of positives in the rows learned from. For F-beta no threshold is known
beforehand: the best is found by trying all that make a difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dnfscale.core.arrays import Bools
from dnfscale.core.counts import TypeCounts
from dnfscale.core.model import HALF
from dnfscale.method.ideal import correct_rows, weighed
from dnfscale.results.confusion import Confusion


@dataclass(frozen=True, slots=True)
class Objective:
    """What a formula is optimized for."""

    name: str = "accuracy"
    threshold: Fraction = HALF
    """The threshold for accuracy, and for any objective if all rows are of one class."""
    beta: Fraction = Fraction(1)
    """How many times as much recall counts as precision."""

    def threshold_of(self, counts: TypeCounts) -> Fraction:
        """Return the share of positives from which on a type is to be accepted."""
        n, c = counts.n_rows, int(counts.c.sum())
        if self.name == "accuracy" or c in (0, n):
            return self.threshold
        if self.name == "balanced_accuracy":
            return Fraction(c, n)
        return self._best_f_threshold(counts)

    def score(self, accepted: Bools, counts: TypeCounts) -> Fraction:
        """Return the score of some answers, between 0 and 1; accepted[i] is the answer for type
        counts.codes[i].
        """
        if self.name == "accuracy":
            rows = weighed(counts, self.threshold)
            return Fraction(correct_rows(accepted, rows), max(1, rows.n_rows))
        positive = int(counts.c.sum())
        negative = counts.n_rows - positive
        true_yes = int(counts.c[accepted].sum())
        true_no = negative - int((counts.n - counts.c)[accepted].sum())
        if self.name == "f_beta":
            return self._f(true_yes, positive, int(counts.n[accepted].sum()))
        # A class without rows has nothing to get wrong.
        of_yes = Fraction(true_yes, positive) if positive else Fraction(1)
        of_no = Fraction(true_no, negative) if negative else Fraction(1)
        return (of_yes + of_no) / 2

    def score_of(self, answers: Confusion) -> Fraction:
        """Return the score of answers that were counted."""
        positive, negative = answers.tp + answers.fn, answers.tn + answers.fp
        if self.name == "accuracy":
            lost = self.threshold * answers.fp + (1 - self.threshold) * answers.fn
            possible = self.threshold * negative + (1 - self.threshold) * positive
            return 1 - lost / possible if possible else Fraction(0)
        if self.name == "f_beta":
            return self._f(answers.tp, positive, answers.tp + answers.fp)
        of_yes = Fraction(answers.tp, positive) if positive else Fraction(1)
        of_no = Fraction(answers.tn, negative) if negative else Fraction(1)
        return (of_yes + of_no) / 2

    def _f(self, true_yes: int, positive: int, accepted: int) -> Fraction:
        weight = self.beta**2
        whole = weight * positive + accepted
        return (1 + weight) * true_yes / whole if whole else Fraction(1)

    def _best_f_threshold(self, counts: TypeCounts) -> Fraction:
        """Return the least share of accepted types that gives the best F on the counted rows; in a
        tie the highest.
        """
        order = np.lexsort((counts.codes, -(counts.c / counts.n)))
        best, threshold = Fraction(-1), HALF
        accepted = true_yes = 0
        positive = int(counts.c.sum())
        for place in order.tolist():
            n, c = int(counts.n[place]), int(counts.c[place])
            accepted, true_yes = accepted + n, true_yes + c
            found = self._f(true_yes, positive, accepted)
            if c and found > best:
                best, threshold = found, Fraction(c, n)
        return min(threshold, 1 - Fraction(1, 1_000_000))
