"""What a method did: in each fold, on all rows, and compared with another."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Self

from msgspec import UNSET, UnsetType, field
from msgspec.structs import force_setattr

from dnfscale.results.confusion import Answers, Confusion, correct_of, counted_of, is_square
from dnfscale.results.formula import CurvePoint, Formula, SizedFormula, SweepStep, check_labels
from dnfscale.results.metrics import Calibration, Figures, Metric, NetBenefit
from dnfscale.results.record import Conditions, Count, Ell, Figure, Record, Share, null
from dnfscale.results.slices import Slice
from dnfscale.results.spread import deviation, mean

Parameter = bool | int | float | str | None


class Tuning(Record, frozen=True, kw_only=True):
    """How the parameters of a method were tuned in a fold."""

    validation_correct: Count | None
    validated: Count | None
    """The rows that were validated on, or what they weigh in units."""
    validation_accuracy: Share | None
    params: dict[str, Parameter]
    trials: Count
    failed_trials: Count
    pruned_trials: Count
    cut_short: bool = False
    """Whether baselines.time_limit_s left fewer trials than were asked for."""


class Fold(Record, frozen=True, kw_only=True):
    """What a method did in one fold.

    `accuracy` follows from `correct` and `tested`, and these from the confusion, where they are
    known. The keys that describe the formula of a fold repeat those of its only entry in
    `formulas`; they are left out where there is not exactly one.
    """

    fold: Count
    train_rows: Count | None = None
    validation_rows: Count | None = None
    test_rows: Count | None = None
    correct: Count | None = field(default_factory=null)
    tested: Count | None = field(default_factory=null)
    """What `correct` is out of: the test rows, or what they weigh in units."""
    accuracy: Share | None = field(default_factory=null)
    confusion: Confusion | None = None
    confusion_matrix: Answers | None = None
    """The joint answers of the formulas of several labels: test rows by label and by answer."""
    metrics: Figures = field(default_factory=dict)
    """On the fold's test rows; null where they leave one undefined."""
    faithful: Count | None = None
    """Of those tested, how many the formula answers as the classifier does that it explains."""
    fidelity: Share | None = None
    error: str | None = None
    """Why the method failed; None where it did not."""
    attribute: str | None = None
    """The only attribute of a rule that has one."""
    search: str | UnsetType = UNSET
    form: str | UnsetType = UNSET
    ell: Conditions | UnsetType = UNSET
    rank: str | UnsetType | None = UNSET
    attributes: tuple[str, ...] | UnsetType = UNSET
    formula: str | UnsetType = UNSET
    terms: Count | UnsetType = UNSET
    literals: Count | UnsetType | None = UNSET
    """Of a formula, or of a readable classifier; None if that has no such length."""
    formulas: tuple[Formula, ...] = ()
    """One, or one for each of several labels; none if the method has no formulas."""
    sized: tuple[SizedFormula, ...] = ()
    """What the formula-size method found: one, or one for each of several labels."""
    tuning: Tuning | None = None
    curve: tuple[CurvePoint, ...] | UnsetType = UNSET
    sweep: tuple[SweepStep, ...] | UnsetType = UNSET

    def __post_init__(self) -> None:
        check_labels(self.formulas)
        check_labels(self.sized)
        if self.confusion is not None:
            self._count(self.confusion.correct, self.confusion.counted)
        elif self.confusion_matrix is not None:
            if not is_square(self.confusion_matrix):
                raise ValueError("confusion_matrix must have a line and a column for each label")
            self._count(correct_of(self.confusion_matrix), counted_of(self.confusion_matrix))
        force_setattr(self, "accuracy", self._share(self.correct, self.accuracy))
        force_setattr(self, "fidelity", self._share(self.faithful, self.fidelity))
        if len(self.formulas) == 1:
            self._repeat(self.formulas[0])

    @property
    def share(self) -> Fraction | None:
        """The accuracy as it is, not rounded; None if it is not known."""
        known = self.correct is not None and self.tested
        return Fraction(self.correct or 0, self.tested or 1) if known else None

    def _count(self, correct: int, tested: int) -> None:
        force_setattr(self, "correct", correct)
        force_setattr(self, "tested", tested)

    def _share(self, part: int | None, recorded: float | None) -> float | None:
        if part is None or not self.tested:
            return recorded
        if part > self.tested:
            raise ValueError(f"{part} of {self.tested} rows cannot be right")
        return part / self.tested

    def _repeat(self, formula: Formula) -> None:
        for key in _REPEATED:
            force_setattr(self, key, getattr(formula, key))
        force_setattr(self, "attributes", formula.attribute_names)


_REPEATED = ("search", "form", "ell", "rank", "formula", "terms", "literals", "curve", "sweep")
"""What a fold says of its only formula."""


class AllRows(Record, frozen=True, kw_only=True):
    """What a method learned from all rows."""

    rows: Count | None = None
    correct: Count | None = None
    """Of the rows learned from, how many the formula gets right, or what they weigh in units."""
    counted: Count | None = None
    """What `correct` is out of."""
    training_accuracy: Share | None = None
    error: str | None = None
    formulas: tuple[Formula, ...] = ()
    sized: tuple[SizedFormula, ...] = ()

    def __post_init__(self) -> None:
        check_labels(self.formulas)
        check_labels(self.sized)
        if self.correct is not None and self.counted:
            if self.correct > self.counted:
                raise ValueError(f"{self.correct} of {self.counted} rows cannot be right")
            force_setattr(self, "training_accuracy", self.correct / self.counted)


class Objective(Record, frozen=True, kw_only=True):
    """What formulas were learned for, if not for accuracy, and how good they are at it."""

    name: str
    """balanced_accuracy, f_beta or cost."""
    beta: Figure | None
    threshold: Share | None
    mean: Figure | None
    """On test rows: for cost, the share of it that is avoided; the mean over several labels."""
    std: Figure | None
    constant_mean: Figure | None
    """How good the better constant answer is at it."""


class FrontierPoint(Record, frozen=True, kw_only=True):
    """The formulas of one number of attributes, or of at most so many literals, on test rows."""

    literals_mean: Figure
    ell: Ell | None = None
    """None where formulas were chosen by their length."""
    literals: Count | None = None
    """The bound on the literals, where formulas were chosen by their length."""
    accuracy_mean: Share
    accuracy_std: Share | None = None
    low: Share | None = None
    high: Share | None = None
    """Wilson's interval of the accuracy on the test rows of all folds, at 95 %."""
    objective_mean: Figure | None = None
    """How good they are at what they were learned for, if that is not accuracy."""
    objective_std: Figure | None = None
    objective_low: Figure | None = None
    objective_high: Figure | None = None
    """The corrected resampled t-interval of the mean over folds, at 95 %."""
    terms_mean: Figure | None
    confusion: Confusion | None = None
    """The test rows of all folds together."""
    metrics: Figures = field(default_factory=dict)
    """On these rows."""
    shown: bool = False
    """Whether the formula of all rows has this length, or this number of attributes."""


class Method(Record, frozen=True, kw_only=True):
    """What a method did; its accuracies are null in a fit."""

    accuracy_mean: Share | None
    accuracy_std: Share | None
    fidelity_mean: Share | None = None
    fidelity_std: Share | None = None
    ell_mean: Figure | None = None
    literals_mean: Figure | None = field(default_factory=null)
    """The mean number of literals of the folds' formulas, or of a readable classifier's rules."""
    size_mean: Figure | None = None
    stability: Share | None = None
    """Of the conditions of two folds' formulas, the share that match: the mean over pairs."""
    columns_shared: Share | None = None
    """Of the columns of either, the share that both have: the mean over pairs."""
    objective: Objective | None = None
    """None if the formulas were learned for accuracy."""
    confusion: Confusion | None = None
    """The test rows of all folds together."""
    metrics: dict[str, Metric] = field(default_factory=dict)
    """On test rows, the expected cost first where errors do not all cost the same."""
    calibration: Calibration | None = None
    decision_curve: tuple[NetBenefit, ...] = ()
    slices: tuple[Slice, ...] = ()
    """On test rows, for the values of some columns."""
    frontier: tuple[FrontierPoint, ...] = ()
    where: str | None = None
    """How a competitor was fitted to rows: in one worker, on all together, or to a sample."""
    sample_rows: Count | None = None
    """How many rows were sampled; None if all were learned from."""
    reproducible: bool = True
    """False where the same job may come to slightly other figures if it runs again."""
    failed_folds: Count = field(default_factory=int)
    """Folds in which the method failed; they do not count in its means."""
    folds: tuple[Fold, ...]
    model: AllRows | None = None

    def __post_init__(self) -> None:
        failed = sum(fold.error is not None for fold in self.folds)
        force_setattr(self, "failed_folds", failed)

    @classmethod
    def over(cls, folds: Sequence[Fold]) -> Self:
        """Return what a method did in some folds, with the mean and deviation of its accuracy."""
        shares = [fold.share for fold in folds if fold.share is not None]
        return cls(
            accuracy_mean=mean(shares),
            accuracy_std=deviation(shares),
            folds=tuple(folds),
        )

    @property
    def used_mean(self) -> float | None:
        """The number of attributes that a fold's formula uses, the mean over folds."""
        used = [formula.used for fold in self.folds for formula in fold.formulas]
        known = [number for number in used if number is not None]
        whole = len(known) == len(self.folds)
        return sum(known) / len(known) if known and whole else None

    @property
    def models(self) -> tuple[Formula, ...]:
        """The formula of all rows, or one for each of several labels."""
        return self.model.formulas if self.model else ()

    @property
    def sized_models(self) -> tuple[SizedFormula, ...]:
        """The formula of all rows that the formula-size method found, or one for each label."""
        return self.model.sized if self.model else ()

    @property
    def shown_point(self) -> FrontierPoint | None:
        """What formulas of the length of the one of all rows come to; None if it was not tested."""
        return next((point for point in self.frontier if point.shown), None)

    @property
    def training_accuracy(self) -> float | None:
        return self.model.training_accuracy if self.model else None


class Comparison(Record, frozen=True, kw_only=True):
    """The mean difference of two methods' accuracies, or of what the formula was learned for, over
    the same folds, with an interval.
    """

    method: str
    other: str
    difference_mean: Figure
    low: Figure
    high: Figure
    level: Share
    folds: Count
    metric: str = "accuracy"
    """accuracy, balanced_accuracy, f_beta or cost; the difference is above 0 where the first is
    better."""
    mean: Figure | None = None
    """Of the other method; None of accuracies."""
