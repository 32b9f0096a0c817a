"""How good answers are, in the figures that people decide by, and the scores behind some."""

from __future__ import annotations

from msgspec import field

from dnfscale.results.confusion import Confusion
from dnfscale.results.record import Count, Figure, Record, Share, null

Figures = dict[str, Figure | None]
"""Metrics of one part of the rows by name; None where the part leaves one undefined."""
LOWER_IS_BETTER = ("cost", "brier", "log_loss")


class Metric(Record, frozen=True, kw_only=True):
    """A metric on test rows: over folds, and on the test rows of all folds together."""

    mean: Figure | None
    """Over the folds in which it is defined."""
    std: Figure | None
    pooled: Figure | None
    low: Figure | None = field(default_factory=null)
    high: Figure | None = field(default_factory=null)
    """An interval at 95 %."""
    interval: str | None = field(default_factory=null)
    """wilson: of the pooled figure; resampled_t: of the mean; None if there is no interval."""
    error: Figure | None = None
    """How far the pooled figure may be off, if it comes from a histogram of scores."""


class Scores(Record, frozen=True, kw_only=True):
    """Rows by the probability that they were given, in increasing order."""

    value: tuple[Share, ...]
    n: tuple[Count, ...]
    """The rows of each value, or what they weigh in units."""
    c: tuple[Count, ...]
    """The positive rows among them."""
    binned: bool = False
    """Whether a value stands for all of its bin; the figures below are of the values themselves."""
    auc: Share | None = None
    average_precision: Share | None = None
    brier: Figure | None = None
    log_loss: Figure | None = None

    def __post_init__(self) -> None:
        if not len(self.value) == len(self.n) == len(self.c):
            raise ValueError("scores must have as many counts as values")


class Calibrated(Record, frozen=True, kw_only=True):
    """Rows of similar probability: what was expected of them, and what came."""

    predicted: Share
    observed: Share
    n: Count
    c: Count


class Calibration(Record, frozen=True, kw_only=True):
    """How far probabilities can be taken at their word, on the test rows of all folds."""

    intercept: Figure | None
    """By how much the log-odds are too low on the whole: 0 is best."""
    slope: Figure | None
    """How much of their spread is real: 1 is best, less is overconfident."""
    table: tuple[Calibrated, ...]


class NetBenefit(Record, frozen=True, kw_only=True):
    """A point of the decision curve."""

    threshold: Share
    """The probability from which on somebody would act."""
    net_benefit: Figure
    """True positives per row, less false positives at the odds of the threshold."""
    treat_all: Figure
    """The same of acting in every case."""
    confusion: Confusion | None = None
    """The test rows of all folds by truth and by whether somebody would act; None in results that
    do not count them."""
