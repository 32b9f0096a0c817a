"""A run as it is given to the report, and as the report's sections use it: one formula, or one for each label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dnfscale.core.model import Model
from dnfscale.data.models import parse_models
from dnfscale.errors import DataError
from dnfscale.experiment.outcome import (
    Certified,
    LearnedFormula,
    Outcome,
    Support,
    label_text,
    labels,
    read_certificate,
    read_outcome,
)
from dnfscale.jobs.report.formula import ShownFormula, shown_formula, support_of, text_reading


@dataclass(frozen=True, slots=True)
class ReportRun:
    """One run to report on: its name, its result.json, and the models of its model.json."""

    name: str
    result: dict[str, Any]
    models: tuple[Model, ...] = ()
    """One, or one for each of several labels; none if the file does not exist, or cannot be used."""
    refused: str | None = None
    """Why the file cannot be used, if so."""


@dataclass(frozen=True, slots=True)
class FormulaView:
    """A formula of a run: the one for two classes, or the one of a label against the others."""

    label: str | None
    """The label; None for two classes."""
    learned: LearnedFormula | None
    """The formula learned from all rows."""
    folds: tuple[LearnedFormula, ...]
    model: Model | None
    reading: ShownFormula | None
    explains: bool
    """Whether it explains a classifier, and is to answer as that does."""

    @property
    def counted(self) -> str:
        """The word for rows for which the formula should hold, as in: 12 % positive."""
        return "answered yes" if self.explains else "positive" if self.label is None else "with this label"

    @property
    def certificate(self) -> Certified | None:
        """How far the rows that the formula was learned from support it."""
        return None if self.model is None else read_certificate(self.model.certificate)

    @property
    def truth(self) -> tuple[Support, Support] | None:
        """The rows that the formula accepts and rejects, with the positive ones among them."""
        if self.model is None or self.reading is None or self.reading.otherwise is None:
            return None
        counts, rejected = self.model.counts, self.reading.otherwise
        whole = support_of(self.model, counts.n_rows, int(counts.c.sum()))
        return Support(whole.n - rejected.n, whole.c - rejected.c, whole.weighted), rejected

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
        return _labelled(self.model, "≠")


@dataclass(frozen=True, slots=True)
class RunView:
    """A run with all that the sections need."""

    label: str
    """The run's name on the page, unique among its runs."""
    outcome: Outcome
    formulas: tuple[FormulaView, ...]
    """One, which may be without contents; or one for each of several labels."""
    target: str | None
    """The column that is predicted."""
    refused: str | None
    """Why its model.json cannot be used, if so."""

    @property
    def has_labels(self) -> bool:
        """Whether there is a formula for each of several labels."""
        return self.formulas[0].label is not None

    @property
    def meaning(self) -> str | None:
        """What the positive label of one of the paper's datasets stands for."""
        paper, model = self.outcome.paper, self.formulas[0].model
        if paper is None or model is None or self.has_labels:
            return None
        return paper.outcome if (model.target, model.positive) == (paper.target, (paper.positive,)) else None


def report_run(name: str, result: dict[str, Any], model: Mapping[str, Any] | None) -> ReportRun:
    """Read the model file of a run; if it cannot be used, the page says why and does without it."""
    try:
        return ReportRun(name, result, () if model is None else parse_models(model))
    except DataError as error:
        return ReportRun(name, result, refused=error.message)


def view_runs(runs: Sequence[ReportRun]) -> list[RunView]:
    """Read some runs."""
    outcomes = [read_outcome({**run.result, "name": run.name}) for run in runs]
    return [
        RunView(label, outcome, _formulas(outcome, run.models), _target(run.models), run.refused)
        for label, outcome, run in zip(labels(outcomes), outcomes, runs, strict=True)
    ]


def _target(models: Sequence[Model]) -> str | None:
    """Return the target of some models, which is the same for all of them."""
    return models[0].target if models else None


def _formulas(outcome: Outcome, models: Sequence[Model]) -> tuple[FormulaView, ...]:
    learned = outcome.ideal.models if outcome.ideal else ()
    found = [each.label for each in outcome.label_rows] or [each.label for each in learned if each.label is not None]
    if not found and len(models) < 2:
        return (_formula(outcome, None, models[0] if models else None),)
    by_label = {label_text(model.positive[0]): model for model in models if len(models) > 1}
    return tuple(_formula(outcome, label, by_label.get(label)) for label in found or by_label)


def _formula(outcome: Outcome, label: str | None, model: Model | None) -> FormulaView:
    ideal = outcome.ideal
    learned = next((each for each in ideal.models if each.label == label), None) if ideal else None
    folds = tuple(each for fold in (ideal.folds if ideal else ()) for each in fold.formulas if each.label == label)
    return FormulaView(label, learned, folds, model, _reading(learned, model), outcome.explains)


def _reading(learned: LearnedFormula | None, model: Model | None) -> ShownFormula | None:
    if model is not None:
        return shown_formula(model)
    return text_reading(learned) if learned else None


def _labelled(model: Model, sign: str) -> str:
    return f"{model.target} {sign} {' or '.join(map(label_text, model.positive))}"
