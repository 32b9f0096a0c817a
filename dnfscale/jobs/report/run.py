"""A run as the report is given it, and as its sections use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dnfscale.experiment.outcome import LearnedFormula, Outcome, Support, labels, read_outcome
from dnfscale.jobs.report.formula import Reading, model_reading, text_reading


@dataclass(frozen=True, slots=True)
class ReportRun:
    """One run to report on: its name, its result.json and its model.json, parsed."""

    name: str
    result: dict[str, Any]
    model: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class RunView:
    """A run with what the sections ask of it."""

    label: str
    """What it is called among the runs of the page."""
    outcome: Outcome
    model: Mapping[str, Any] | None
    reading: Reading | None
    """The formula of all rows."""

    @property
    def formula(self) -> LearnedFormula | None:
        return self.outcome.ideal.model if self.outcome.ideal else None

    @property
    def fold_formulas(self) -> list[LearnedFormula]:
        folds = self.outcome.ideal.folds if self.outcome.ideal else ()
        return [fold.formula for fold in folds if fold.formula]

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
        if self.model is None or "target" not in self.model:
            return None
        values = [str(value) for value in self.model.get("positive") or ()]
        return f"{self.model['target']} = {' or '.join(values)}" if values else str(self.model["target"])

    @property
    def negative(self) -> str:
        """What the formula predicts otherwise."""
        values = (self.model or {}).get("positive") or ()
        one = len(values) == 1 and self.positive is not None
        return str(self.positive).replace(" = ", " ≠ ", 1) if one else "that it is not"

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
        RunView(label, outcome, run.model, _reading(outcome, run.model))
        for label, outcome, run in zip(labels(outcomes), outcomes, runs, strict=True)
    ]


def _reading(outcome: Outcome, model: Mapping[str, Any] | None) -> Reading | None:
    if model is not None:
        return model_reading(model)
    formula = outcome.ideal.model if outcome.ideal else None
    return text_reading(formula) if formula else None
