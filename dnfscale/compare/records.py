"""What a study says about what was learned: its data, its methods, and the model of all rows.

There is one formula for two classes, and one for each of several labels. Nothing here depends on
how the rows were partitioned, on workers, or on the time it took.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
from msgspec.structs import replace as changed

from dnfscale.compare.measure import Measuring, measured, model_scores
from dnfscale.core.arrays import Bools, Ints, Scalar
from dnfscale.core.dealing import FileStages, GroupCircle, SiteStages, TimeStages
from dnfscale.core.formula import Term
from dnfscale.core.model import HALF, Model
from dnfscale.core.parts import stored_column
from dnfscale.core.splits import Splits
from dnfscale.core.vocabulary import Vocabulary
from dnfscale.core.weights import as_weight
from dnfscale.data.models.writing import attribute_record, model_record
from dnfscale.learn.choose import objective_of
from dnfscale.learn.classes import LearnedClasses
from dnfscale.learn.dropped import dropped_rows
from dnfscale.learn.fidelity import agreements
from dnfscale.learn.frontier import Grown
from dnfscale.learn.line import Learned, LearnedFold, fold_model
from dnfscale.method.certificate import certificate_of, certified
from dnfscale.method.ideal import confusion_of
from dnfscale.method.literals import n_literals
from dnfscale.method.metrics import resampled_t, within
from dnfscale.method.objective import Objective as Goal
from dnfscale.method.stability import Stability, stability
from dnfscale.method.words import model_lines
from dnfscale.results.confusion import Answers, Confusion
from dnfscale.results.formula import (
    Attribute,
    CurvePoint,
    Formula,
    Line,
    Literal,
    Minimized,
    SweepStep,
)
from dnfscale.results.frontier import Frontier, FrontierFormula
from dnfscale.results.method import (
    AllRows,
    Fold,
    FrontierPoint,
    Method,
    Objective,
)
from dnfscale.results.metrics import Scores
from dnfscale.results.record import converted, label_record
from dnfscale.results.result import IDEAL, Data, Dealing, GapRows, LabelRows, Weight
from dnfscale.results.spread import deviation, mean
from dnfscale.spec.learn import LearnSpec
from dnfscale.spec.registry import BLACK_BOX


@dataclass(frozen=True, slots=True, eq=False)
class LearnedLabels:
    """What was learned: about two classes, or about each of several labels."""

    targets: tuple[Learned, ...]
    labels: tuple[Scalar, ...] = ()
    """None in a study of two classes."""
    answers: tuple[Answers, ...] = ()
    """For several labels, the joint answers of each fold's formulas on its test rows."""

    @classmethod
    def of_classes(cls, learned: LearnedClasses) -> LearnedLabels:
        """Return what was learned about several labels."""
        return cls(learned.classes, learned.labels, tuple(map(as_answers, learned.confusion)))

    @property
    def first(self) -> Learned:
        """What was learned about the first label; all of them share their rows and folds."""
        return self.targets[0]

    def formulas(self, formula_of: Callable[[Learned], Formula]) -> tuple[Formula, ...]:
        """Return a formula of each target, with its label if there are several."""
        found = map(formula_of, self.targets)
        if not self.labels:
            return tuple(found)
        labelled = zip(found, self.labels, strict=True)
        return tuple(changed(formula, label=label_record(label)) for formula, label in labelled)


def as_answers(confusion: Ints) -> Answers:
    """Return counts by label and answer as a result holds them."""
    return tuple(tuple(row) for row in confusion.tolist())


def data_record(learned: LearnedLabels) -> Data:
    """Return the size of the table, and the rows of each of several labels; with their weight."""
    first = learned.first
    weight = _weight(first, several=bool(learned.labels))
    return Data(
        rows=first.rows,
        rows_dropped=first.rows_dropped,
        columns=len({stored_column(column.name) for column in first.columns}),
        attributes=first.n_attributes,
        positive_rows=None if learned.labels else first.positive_rows,
        silent_columns=first.silent_columns,
        weight=weight,
        dealing=_dealing(first.table.splits),
        rows_without_target=first.table.summary.target.missing,
        gaps=tuple(
            GapRows(column=column, rows=rows)
            for column, rows in dropped_rows(first.table.summary, first.columns).columns
        )
        if not first.table.reading.keep_missing
        else (),
        classes=tuple(
            LabelRows(
                label=label_record(label),
                rows=of_label.positive_rows,
                weight=None if weight is None else _positive_weight(of_label),
            )
            for label, of_label in zip(learned.labels, learned.targets, strict=bool(learned.labels))
        ),
    )


def _dealing(splits: Splits) -> Dealing | None:
    """Return how rows were dealt; None if by their numbers."""
    if splits.is_plain:
        return None
    dealing = Dealing(stratified=splits.circle is not None)
    if isinstance(splits.circle, GroupCircle):
        dealing = Dealing(
            group=splits.circle.group.name,
            groups=splits.circle.n_groups,
            stratified=splits.circle.positions is not None,
        )
    if splits.holdout is not None:
        return changed(dealing, tested="holdout")
    if isinstance(splits.stages, FileStages):
        return changed(dealing, tested="test")
    if isinstance(splits.stages, SiteStages):
        parts = tuple(map(label_record, splits.stages.values))
        return changed(dealing, tested="by", column=splits.stages.site.name, parts=parts)
    if isinstance(splits.stages, TimeStages):
        times = splits.stages
        return changed(dealing, tested="time", column=times.time.name, parts=times.starts)
    return dealing


def _weight(learned: Learned, *, several: bool) -> Weight | None:
    reading = learned.table.reading
    if reading.weight is None:
        return None
    return Weight(
        column=reading.weight,
        unit=reading.unit,
        total=as_weight(learned.model.whole.n_rows, reading.unit),
        positive=None if several else _positive_weight(learned),
        rows_without=learned.table.summary.weightless,
    )


def _positive_weight(learned: Learned) -> int | float:
    return as_weight(int(learned.model.whole.c.sum()), learned.table.reading.unit)


def ideal_method(learned: LearnedLabels, spec: LearnSpec) -> Method:
    """Return what the ideal classifier method did; without test folds its accuracies are null.

    The accuracy of several labels is that of their joint answers. The certificate of a fold comes
    from its test rows, which had no part in choosing anything.
    """
    chosen = [fold for own in learned.targets for fold in own.folds or (own.model,)]
    folds = [_ideal_fold(number, learned, spec) for number in range(len(learned.first.folds))]
    first = learned.first
    scores = None
    if not learned.labels:
        scores = {
            fold.fold: model_scores(fold_model(fold, first, spec), fold.test)
            for fold in first.folds
        }
    measuring = Measuring.of(spec, first.table.splits)
    stable = _stability(learned.targets)
    return changed(
        measured(Method.over(folds), measuring, scores),
        stability=None if stable is None else float(stable.index),
        columns_shared=None if stable is None else float(stable.columns_shared),
        ell_mean=sum(len(fold.tau) for fold in chosen) / len(chosen),
        literals_mean=sum(n_literals(fold.lines) for fold in chosen) / len(chosen),
        objective=_objective(learned.targets, spec),
        model=_all_rows(learned, spec),
    )


def _stability(targets: Sequence[Learned]) -> Stability | None:
    """Return how much the formulas of the folds say the same; of several targets the mean."""
    found = [stability([fold.conditions for fold in target.folds]) for target in targets]
    known = [each for each in found if each is not None]
    if not known:
        return None
    return Stability(
        sum((each.index for each in known), start=Fraction()) / len(known),
        sum((each.columns_shared for each in known), start=Fraction()) / len(known),
    )


def _ideal_fold(number: int, learned: LearnedLabels, spec: LearnSpec) -> Fold:
    def formula_of(target: Learned) -> Formula:
        fold = target.folds[number]
        model = fold_model(fold, target, spec)
        formula = _formula(fold, target, spec)
        return changed(formula, certificate=certificate_of(model, counts=fold.test))

    first = learned.first.folds[number]
    several = bool(learned.labels)
    return Fold(
        fold=number,
        train_rows=first.train_rows,
        validation_rows=first.validation_rows,
        test_rows=first.test_rows,
        confusion=None if several else _tested(first),
        confusion_matrix=learned.answers[number] if several else None,
        formulas=learned.formulas(formula_of),
    )


def _tested(fold: LearnedFold) -> Confusion:
    """Return how the formula of a fold answers its test rows."""
    return confusion_of(fold.accepts(fold.test), fold.test)


def _all_rows(learned: LearnedLabels, spec: LearnSpec) -> AllRows:
    first = learned.first
    found = AllRows(
        rows=first.rows,
        formulas=learned.formulas(lambda target: _formula(target.model, target, spec)),
    )
    if learned.labels:
        return found
    trained = confusion_of(first.model.accepts(first.model.whole), first.model.whole)
    return changed(found, correct=trained.correct, counted=trained.counted)


def frontier_points(
    grown: Sequence[Grown], learned: Learned, spec: LearnSpec
) -> tuple[FrontierPoint, ...]:
    """Return what the formulas of every length, or number of attributes, come to."""
    measuring = Measuring.of(spec, learned.table.splits)
    goal = None if _is_by_accuracy(spec) else objective_of(spec)
    return tuple(_frontier_point(each, measuring, goal) for each in grown if each.folds)


def frontier_record(
    grown: Sequence[Grown],
    points: Sequence[FrontierPoint],
    *,
    name: str,
    provenance: Mapping[str, str | int],
) -> Frontier:
    """Return the formulas of all rows by length; `points` has what each length came to, or nothing
    in a fit.
    """
    formulas = []
    for number, each in enumerate(grown):
        model = replace(certified(each.model), provenance=provenance)
        trained = confusion_of(model.accepts(model.counts.codes), model.counts)
        lines = model_lines(model)
        formulas.append(
            FrontierFormula(
                literals=n_literals(lines),
                terms=len(lines) if model.dnf.n_literals else 0,
                ell=each.ell,
                shown=each.shown,
                correct=trained.correct,
                counted=trained.counted,
                tested=points[number] if points else None,
                model=model_record(model),
            )
        )
    return Frontier(name=name, formulas=tuple(formulas))


def _frontier_point(grown: Grown, measuring: Measuring, goal: Goal | None) -> FrontierPoint:
    tested = measured(
        Method.over([Fold(fold=n, confusion=own.answers) for n, own in enumerate(grown.folds)]),
        measuring,
    )
    accuracy = tested.metrics["accuracy"]
    scores = [goal.score_of(own.answers) for own in grown.folds] if goal is not None else []
    ends = None if measuring.weighted else resampled_t(scores, test_share=measuring.test_share)
    low, high = (None, None) if ends is None else within("objective", ends)
    return FrontierPoint(
        literals_mean=float(grown.literals),
        ell=grown.ell,
        literals=grown.most,
        accuracy_mean=tested.accuracy_mean or 0.0,
        accuracy_std=tested.accuracy_std,
        low=accuracy.low,
        high=accuracy.high,
        objective_mean=mean(scores) if scores else None,
        objective_std=deviation(scores) if scores else None,
        objective_low=low,
        objective_high=high,
        terms_mean=float(grown.terms),
        confusion=tested.confusion,
        metrics={name: metric.pooled for name, metric in tested.metrics.items()},
        shown=grown.shown,
    )


def _objective(targets: Sequence[Learned], spec: LearnSpec) -> Objective | None:
    """Return how good the formulas are at their objective on test rows; None if it is accuracy.

    Of several targets it is the mean over their formulas, each by itself. Where errors do not all
    cost the same, it is the share of the cost that is not incurred. Beside it stands how good the
    better constant answer is.
    """
    goal = objective_of(spec)
    if _is_by_accuracy(spec):
        return None

    def score(folds: Sequence[LearnedFold], accepted: Callable[[LearnedFold], Bools]) -> Fraction:
        scores = [goal.score(accepted(fold), fold.test) for fold in folds]
        return sum(scores, start=Fraction()) / len(scores)

    by_fold = list(zip(*(learned.folds for learned in targets), strict=True))
    values = [score(folds, lambda fold: fold.accepts(fold.test)) for folds in by_fold]
    constant = [score(folds, partial(_better_constant, goal=goal)) for folds in by_fold]
    costs = spec.objective == "accuracy"
    return Objective(
        name="cost" if costs else spec.objective,
        beta=float(spec.beta) if spec.objective == "f_beta" else None,
        threshold=float(spec.threshold) if costs else None,
        mean=mean(values),
        std=deviation(values),
        constant_mean=mean(constant),
    )


def _is_by_accuracy(spec: LearnSpec) -> bool:
    return spec.objective == "accuracy" and spec.threshold == HALF


def _better_constant(fold: LearnedFold, *, goal: Goal) -> Bools:
    """Return the same answer for all test rows: the one that is better on the rows learned from."""
    always = np.ones(len(fold.whole.codes), dtype=np.bool_)
    says_yes = goal.score(always, fold.whole) > goal.score(~always, fold.whole)
    return np.full(len(fold.test.codes), says_yes)


def distilled_methods(
    learned: Learned, ideal: Method, spec: LearnSpec, *, known: bool
) -> dict[str, Method]:
    """Return what the formula and the classifier did that it explains.

    `ideal` was scored by the classifier's answers: its accuracy becomes the fidelity. The accuracy
    against the truth is null where that is not known.
    """
    found = agreements(learned, known=known)
    folds = [
        changed(
            fold,
            faithful=each.faithful,
            fidelity=None,
            confusion=each.formula,
            correct=None,
            accuracy=None,
            metrics={},
        )
        for fold, each in zip(ideal.folds, found, strict=True)
    ]
    box = [
        Fold(fold=number, tested=each.rows, confusion=each.box) for number, each in enumerate(found)
    ]
    measuring = Measuring.of(spec, learned.table.splits)
    judged = measured(Method.over(folds), measuring, _true_scores(learned, spec) if known else None)
    formula = changed(
        judged,
        fidelity_mean=ideal.accuracy_mean,
        fidelity_std=ideal.accuracy_std,
        ell_mean=ideal.ell_mean,
        literals_mean=ideal.literals_mean,
        stability=ideal.stability,
        columns_shared=ideal.columns_shared,
        objective=ideal.objective,
        frontier=ideal.frontier,
        model=ideal.model,
    )
    return {IDEAL: formula, BLACK_BOX: measured(Method.over(box), measuring)}


def _true_scores(learned: Learned, spec: LearnSpec) -> dict[int, Scores]:
    """Return the test rows by the formula's probability, and by the truth, not the classifier's
    answer.
    """
    return {
        fold.fold: model_scores(fold_model(fold, learned, spec), fold.others[0])
        for fold in learned.folds
    }


def learned_models(
    learned: LearnedLabels, spec: LearnSpec, *, provenance: Mapping[str, str | int]
) -> tuple[Model, ...]:
    """Return the formula of all rows as a model with its certificate, or one for each label."""
    models = [
        replace(certified(fold_model(own.model, own, spec)), provenance=provenance)
        for own in learned.targets
    ]
    if not learned.labels:
        return tuple(models)
    labelled = zip(models, learned.labels, strict=True)
    return tuple(replace(model, positive=(label,)) for model, label in labelled)


def attributes_of(tau: Vocabulary) -> tuple[Attribute, ...]:
    """Return attributes as a result holds them."""
    return tuple(converted(attribute_record(each), Attribute) for each in tau.attributes)


def _formula(fold: LearnedFold, learned: Learned, spec: LearnSpec) -> Formula:
    """Return the formula of a fold and how it was chosen."""
    shrink = fold.sweep.chosen.shrink
    supports = fold.supports()
    lines = fold.lines
    return Formula(
        search=fold.search,
        form="checklist" if fold.written.types == "signs" else "lines",
        ell=len(fold.tau),
        used=fold.dnf.n_attributes,
        rank=fold.rank,
        shrink_rows=None if shrink.rule == "none" else shrink.rows,
        attributes=attributes_of(fold.tau),
        formula=fold.dnf.render(fold.tau.names),
        lines=tuple(
            _line(term, n, c) for term, (n, c) in zip(fold.dnf.terms, supports, strict=True)
        ),
        terms=len(lines),
        literals=n_literals(lines),
        minimized=Minimized(
            status=str(fold.minimized.status),
            gap_literals=fold.minimized.gap_literals,
        ),
        curve=_curve(fold),
        sweep=_sweep(fold, learned, spec),
    )


def _line(term: Term, n: int, c: int) -> Line:
    literals = tuple(Literal(attribute=i, value=holds) for i, holds in term.literals)
    if term.at_least is None:
        return Line(all=literals, n=n, c=c)
    return Line(at_least=term.at_least, of=literals, n=n, c=c)


def _curve(fold: LearnedFold) -> tuple[CurvePoint, ...]:
    """Return the points that a formula was chosen from by its length, the shortest first."""
    points = () if fold.decision is None else fold.decision.candidates
    return tuple(
        CurvePoint(
            literals=own.point.literals,
            search=own.point.search,
            form=own.point.form,
            validation_score=float(own.point.score),
        )
        for own in points
    )


def _sweep(fold: LearnedFold, learned: Learned, spec: LearnSpec) -> tuple[SweepStep, ...]:
    """Return the steps of a fold's sweep; if not by accuracy, with the score that decided."""
    names, validated = learned.attribute_names, fold.sweep.validation_rows
    by_accuracy = _is_by_accuracy(spec)

    def share(correct: int) -> float | None:
        return correct / validated if validated else None

    return tuple(
        SweepStep(
            ell=step.ell,
            rank=step.rank,
            attributes=tuple(names[a] for a in step.attributes),
            validation_accuracy=share(step.correct),
            validation_score=None if by_accuracy else float(step.score),
            by_rank={rank: share(correct) for rank, correct in step.correct_by_rank.items()},
        )
        for step in fold.sweep.steps
    )
