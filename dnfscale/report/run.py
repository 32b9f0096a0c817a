"""A run as it is given to the report, and as the report's sections use it: one formula, or one for
each label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dnfscale.core.about import NOTHING, About, Label
from dnfscale.core.arrays import Scalar
from dnfscale.core.model import Model
from dnfscale.data.models import parse_models
from dnfscale.errors import DataError
from dnfscale.report.cards.formula import (
    ShownFormula,
    Support,
    shown_fold_formula,
    shown_formula,
    support_of,
)
from dnfscale.report.titles import paper_of, run_titles
from dnfscale.results.certificate import Certified, read_certificate
from dnfscale.results.check import Check
from dnfscale.results.formula import Formula
from dnfscale.results.frontier import Frontier
from dnfscale.results.record import label_record, label_text
from dnfscale.results.result import Result


@dataclass(frozen=True, slots=True)
class ReportRun:
    """One run to report on: its result.json, and the models of its model.json."""

    result: Result
    models: tuple[Model, ...] = ()
    """One, or one for each of several labels; none if the file does not exist, or cannot be used.
    """
    refused: str | None = None
    """Why the file cannot be used, if so."""
    waiting: tuple[str, ...] = ()
    """The titles of methods that were still to be fitted; none once the run has finished."""
    frontier: Frontier | None = None
    """Its formulas by length; None if there is no such file, or it cannot be used."""
    check: Check | None = None
    """What was found in its data; None likewise."""


@dataclass(frozen=True, slots=True)
class FormulaView:
    """A formula of a run: the one for two classes, or the one of a label against the others."""

    label: str | None
    """The label; None for two classes."""
    learned: Formula | None
    """The formula learned from all rows."""
    folds: tuple[Formula, ...]
    model: Model | None
    reading: ShownFormula | None
    explains: bool
    """Whether it explains a classifier, and is to answer as that does."""

    @property
    def counted(self) -> str:
        """The word for rows for which the formula should hold, as in: 12 % positive."""
        return (
            "answered yes"
            if self.explains
            else "positive"
            if self.label is None
            else "with this label"
        )

    @property
    def certificate(self) -> Certified | None:
        """How far the rows that the formula was learned from support it; None if its record cannot
        be used.
        """
        try:
            return None if self.model is None else read_certificate(self.model.certificate)
        except DataError:
            return None

    @property
    def truth(self) -> tuple[Support, Support] | None:
        """The rows that the formula accepts and rejects, with the positive ones among them."""
        if self.model is None or self.reading is None or self.reading.otherwise is None:
            return None
        counts, left = self.model.counts, self.reading.otherwise
        whole = support_of(self.model, counts.n_rows, int(counts.c.sum()))
        covered = Support(whole.n - left.n, whole.c - left.c, whole.weighted)
        return (covered, left) if self.model.answer else (left, covered)

    @property
    def said(self) -> tuple[str | None, str]:
        """What the formula predicts where a line holds, and what otherwise."""
        if self.model is None or self.model.answer:
            return self.positive, self.negative
        return self.negative, self.positive or "positive"

    @property
    def positive(self) -> str | None:
        """What the formula predicts, such as diagnosis = malignant."""
        if self.explains:
            return "yes"
        return self.label if self.model is None else _labelled(self.model, "=")

    @property
    def negative(self) -> str:
        """What the formula predicts otherwise."""
        if self.explains:
            return "no"
        if self.model is None or len(self.model.positive) > 1:
            return "that it is not"
        if len(self.model.positive) == 1 and isinstance(self.model.positive[0], bool):
            return _labelled(replace(self.model, positive=(not self.model.positive[0],)), "=")
        return _labelled(self.model, "≠")


@dataclass(frozen=True, slots=True)
class RunView:
    """A run with all that the sections need."""

    label: str
    """The run's name on the page, unique among its runs."""
    result: Result
    formulas: tuple[FormulaView, ...]
    """One, which may be without contents; or one for each of several labels."""
    target: str | None
    """The column that is predicted."""
    refused: str | None
    """Why its model.json cannot be used, if so."""
    waiting: tuple[str, ...] = ()
    """The titles of methods that are still to be fitted."""
    frontier: Frontier | None = None
    """Its formulas by length, if they are known."""
    check: Check | None = None
    """What was found in its data, if they were looked at."""

    @property
    def about(self) -> About:
        """What people call it and its columns: of several labels, those of all formulas."""
        own = [formula.model.about for formula in self.formulas if formula.model is not None]
        if not own:
            return NOTHING
        return replace(own[0], labels={key: of for each in own for key, of in each.labels.items()})

    @property
    def has_labels(self) -> bool:
        """Whether there is a formula for each of several labels."""
        return self.formulas[0].label is not None

    @property
    def meaning(self) -> str | None:
        """What the positive label of one of the paper's datasets stands for."""
        paper, model = paper_of(self.result), self.formulas[0].model
        if paper is None or model is None or self.has_labels:
            return None
        return (
            paper.outcome
            if (model.target, model.positive) == (paper.target, (paper.positive,))
            else None
        )


def report_run(result: Result, model: object | None) -> ReportRun:
    """Read the parsed model file of a run; if it cannot be used, the page says why and does without
    it.
    """
    try:
        return ReportRun(result, () if model is None else parse_models(model))
    except DataError as error:
        return ReportRun(result, refused=error.message)


def view_runs(runs: Sequence[ReportRun]) -> list[RunView]:
    """Read some runs."""
    titles = run_titles([run.result for run in runs])
    return [
        RunView(
            title,
            run.result,
            _formulas(run.result, run.models),
            _target(run.models),
            run.refused,
            run.waiting,
            run.frontier,
            run.check,
        )
        for title, run in zip(titles, runs, strict=True)
    ]


def _target(models: Sequence[Model]) -> str | None:
    """Return the target of some models, which is the same for all of them."""
    return models[0].target if models else None


def _formulas(result: Result, models: Sequence[Model]) -> tuple[FormulaView, ...]:
    learned = result.ideal.models if result.ideal else ()
    found = result.labels or [each.label_shown for each in learned if each.label is not None]
    if not found and len(models) < 2:
        return (_formula(result, None, models[0] if models else None),)
    by_label = {_shown(model.positive[0]): model for model in models if len(models) > 1}
    return tuple(_formula(result, label, by_label.get(label or "")) for label in found or by_label)


def _formula(result: Result, label: str | None, model: Model | None) -> FormulaView:
    ideal = result.ideal
    learned = (
        next((each for each in ideal.models if each.label_shown == label), None) if ideal else None
    )
    formulas = [formula for fold in (ideal.folds if ideal else ()) for formula in fold.formulas]
    folds = tuple(formula for formula in formulas if formula.label_shown == label)
    return FormulaView(
        label, learned, folds, model, _reading(learned, model, result), result.explains
    )


def _reading(learned: Formula | None, model: Model | None, result: Result) -> ShownFormula | None:
    if model is not None:
        return shown_formula(model)
    return shown_fold_formula(learned, result.data.weight) if learned else None


def _shown(label: Scalar) -> str:
    return label_text(label_record(label))


def _labelled(model: Model, sign: str) -> str:
    label = model.about.labels.get(model.target, Label())
    names = [label.name_of(value) or _said(value) for value in model.positive]
    return f"{label.title or model.target} {sign} {' or '.join(names)}"


def _said(value: Scalar) -> str:
    return _shown(value).lower() if isinstance(value, bool) else _shown(value)
