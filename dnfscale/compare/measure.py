"""Measures methods on their test rows: every metric in each fold, over the folds, and on all test
rows together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from msgspec.structs import replace as changed

from dnfscale.core.counts import TypeCounts
from dnfscale.core.model import HALF, Model
from dnfscale.core.splits import TEST, WHOLE, Splits
from dnfscale.method.metrics import (
    calibration,
    decision_curve,
    figures,
    label_figures,
    pooled_scores,
    proportions,
    resampled_t,
    scores_of_types,
    wilson,
    within,
)
from dnfscale.results.confusion import Confusion, summed
from dnfscale.results.method import Fold, Method
from dnfscale.results.metrics import Figures, Metric, Scores
from dnfscale.spec.learn import LearnSpec


@dataclass(frozen=True, slots=True)
class Measuring:
    """What metrics depend on besides the answers."""

    test_share: float
    """Test rows per training row, over all folds."""
    threshold: Fraction | None
    """The cost of a wrong «yes», if errors do not all cost the same."""
    weighted: bool
    """Whether rows have weights: then there are no intervals."""

    @classmethod
    def of(cls, spec: LearnSpec, splits: Splits) -> Measuring:
        """Return how the methods of a study are measured."""
        folds = range(splits.outer)
        tested = sum(splits.rows_of(fold, [TEST]) for fold in folds)
        trained = sum(splits.rows_of(fold, WHOLE) for fold in folds)
        costs = spec.objective == "accuracy" and spec.threshold != HALF
        return cls(
            tested / max(1, trained), spec.threshold if costs else None, spec.weight is not None
        )


def model_scores(model: Model, test: TypeCounts) -> Scores:
    """Return the scores of counted types by a model."""
    table = model.table()
    return scores_of_types(table.probability[table.places(test.codes)], test.n, test.c)


def measured(
    method: Method, measuring: Measuring, scores: Mapping[int, Scores] | None = None
) -> Method:
    """Return a method with its metrics; `scores` has those of the folds by number, where known."""
    known = scores or {}
    folds = [_measured_fold(fold, known.get(fold.fold), measuring) for fold in method.folds]
    answered = [fold for fold in folds if fold.metrics]
    if not answered:
        return method
    together = _Together.of(answered, known, measuring)
    return changed(
        method,
        folds=tuple(folds),
        confusion=together.confusion,
        metrics={
            name: _metric(name, [fold.metrics.get(name) for fold in answered], together, measuring)
            for name in answered[0].metrics
        },
        calibration=None if together.scores is None else calibration(together.scores),
        decision_curve=() if together.scores is None else decision_curve(together.scores),
    )


def _measured_fold(fold: Fold, scores: Scores | None, measuring: Measuring) -> Fold:
    if fold.confusion is not None:
        return changed(fold, metrics=figures(fold.confusion, scores, measuring.threshold))
    if fold.confusion_matrix is not None:
        return changed(fold, metrics=label_figures(fold.confusion_matrix))
    return fold


@dataclass(frozen=True, slots=True)
class _Together:
    """The test rows of all folds together."""

    figures: Figures
    confusion: Confusion | None = None
    scores: Scores | None = None
    errors: Mapping[str, float] = field(default_factory=dict)
    """How far bins may put a figure off."""

    @classmethod
    def of(
        cls, folds: Sequence[Fold], scores: Mapping[int, Scores], measuring: Measuring
    ) -> _Together:
        matrices = [fold.confusion_matrix for fold in folds if fold.confusion_matrix is not None]
        if matrices:
            return cls(label_figures(summed(matrices)))
        confusion = pooled(fold.confusion for fold in folds if fold.confusion is not None)
        found = [scores[fold.fold] for fold in folds if fold.fold in scores]
        if len(found) < len(folds):
            return cls(figures(confusion, None, measuring.threshold), confusion)
        together, by_auc, by_precision = pooled_scores(found)
        errors = {"auc": by_auc, "average_precision": by_precision} if together.binned else {}
        return cls(figures(confusion, together, measuring.threshold), confusion, together, errors)


def pooled(confusions: Iterable[Confusion]) -> Confusion:
    """Return the answers of several parts together."""
    parts = list(confusions)
    return Confusion(**{key: sum(getattr(part, key) for part in parts) for key in _CELLS})


_CELLS = ("tp", "fp", "tn", "fn")


def _metric(
    name: str, values: Sequence[float | None], together: _Together, measuring: Measuring
) -> Metric:
    known = [value for value in values if value is not None]
    low, high, kind = _interval(name, values, together, measuring)
    return Metric(
        mean=math.fsum(known) / len(known) if known else None,
        std=_deviation(known),
        pooled=together.figures.get(name),
        low=low,
        high=high,
        interval=kind,
        error=together.errors.get(name),
    )


def _interval(
    name: str, values: Sequence[float | None], together: _Together, measuring: Measuring
) -> tuple[float | None, float | None, str | None]:
    """Return Wilson's interval of a pooled share, or that of a mean over folds if all have it."""
    if measuring.weighted:
        return None, None, None
    shares = {} if together.confusion is None else proportions(together.confusion)
    if name in shares:
        found, kind = wilson(*shares[name]), "wilson"
    else:
        known = [value for value in values if value is not None]
        whole = len(known) == len(values)
        found = resampled_t(known, test_share=measuring.test_share) if whole else None
        found, kind = found and within(name, found), "resampled_t"
    return (*found, kind) if found else (None, None, None)


def _deviation(values: Sequence[float]) -> float | None:
    """Return the population standard deviation."""
    if not values:
        return None
    centre = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / len(values))
