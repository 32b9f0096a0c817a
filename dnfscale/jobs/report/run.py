"""A run as the report is given it, and as its sections use it: one formula, or one for each of several labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
from dnfscale.jobs.report.formula import Reading, model_reading, text_reading


@dataclass(frozen=True, slots=True)
class ReportRun:
    """One run to report on: its name, its result.json and its model.json, parsed."""

    name: str
    result: dict[str, Any]
    model: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class FormulaView:
    """A formula of a run: that of two classes, or that of one label against the others."""

    label: str | None
    """The label; None for two classes."""
    learned: LearnedFormula | None
    """From all rows."""
    folds: tuple[LearnedFormula, ...]
    model: Mapping[str, Any] | None
    reading: Reading | None
    explains: bool
    """Whether it is made to answer as a classifier does."""

    @property
    def counted(self) -> str:
        """What is said of the rows for which the formula should hold, as in: 12 % positive."""
        return "answered yes" if self.explains else "positive" if self.label is None else "with this label"

    @property
    def certificate(self) -> Certified | None:
        """What the rows that it was learned from say of it."""
        return read_certificate((self.model or {}).get("certificate"))

    @property
    def truth(self) -> tuple[Support, Support] | None:
        """The rows that the formula accepts and rejects, with the positive ones among them."""
        counts = self.model.get("counts") if self.model else None
        if not counts or self.reading is None or self.reading.otherwise is None:
            return None
        n, c = sum(count["n"] for count in counts), sum(count["c"] for count in counts)
        rejected = self.reading.otherwise
        return Support(n - rejected.n, c - rejected.c), rejected

    @property
    def positive(self) -> str | None:
        """What the formula predicts, such as diagnosis = malignant."""
        if self.explains:
            return "yes"
        if self.model is None or "target" not in self.model:
            return self.label
        values = [label_text(value) for value in self.model.get("positive") or ()]
        return f"{self.model['target']} = {' or '.join(values)}" if values else str(self.model["target"])

    @property
    def negative(self) -> str:
        """What the formula predicts otherwise."""
        if self.explains:
            return "no"
        values = (self.model or {}).get("positive") or ()
        one = len(values) == 1 and self.positive is not None
        return str(self.positive).replace(" = ", " ≠ ", 1) if one else "that it is not"


@dataclass(frozen=True, slots=True)
class RunView:
    """A run with what the sections ask of it."""

    label: str
    """What it is called among the runs of the page."""
    outcome: Outcome
    model: Mapping[str, Any] | None
    formulas: tuple[FormulaView, ...]
    """One, even where it is not known; or one for each of several labels."""

    @property
    def has_labels(self) -> bool:
        """Whether there is a formula for each of several labels."""
        return self.formulas[0].label is not None

    @property
    def target(self) -> str | None:
        """The column that is predicted."""
        target = (self.model or {}).get("target")
        return None if target is None else str(target)

    @property
    def meaning(self) -> str | None:
        """What the positive label of one of the paper's datasets stands for."""
        paper = self.outcome.paper
        if paper is None or self.model is None:
            return None
        same = self.model.get("target") == paper.target and self.model.get("positive") == [paper.positive]
        return paper.outcome if same else None


def view_runs(runs: Sequence[ReportRun]) -> list[RunView]:
    """Read some runs."""
    outcomes = [read_outcome({**run.result, "name": run.name}) for run in runs]
    return [
        RunView(label, outcome, run.model, _formulas(outcome, run.model))
        for label, outcome, run in zip(labels(outcomes), outcomes, runs, strict=True)
    ]


def _formulas(outcome: Outcome, model: Mapping[str, Any] | None) -> tuple[FormulaView, ...]:
    models = outcome.ideal.models if outcome.ideal else ()
    found = [each.label for each in outcome.label_rows] or [each.label for each in models if each.label is not None]
    files = {label_text(*entry["positive"]): entry for entry in (model or {}).get("classes") or ()}
    if not found and not files:
        return (_formula(outcome, None, model),)
    return tuple(_formula(outcome, label, files.get(label)) for label in found or files)


def _formula(outcome: Outcome, label: str | None, model: Mapping[str, Any] | None) -> FormulaView:
    ideal = outcome.ideal
    learned = next((each for each in ideal.models if each.label == label), None) if ideal else None
    folds = tuple(each for fold in (ideal.folds if ideal else ()) for each in fold.formulas if each.label == label)
    return FormulaView(label, learned, folds, model, _reading(learned, model), outcome.explains)


def _reading(learned: LearnedFormula | None, model: Mapping[str, Any] | None) -> Reading | None:
    if model is not None and "terms" in model:
        return model_reading(model)
    return text_reading(learned) if learned else None
