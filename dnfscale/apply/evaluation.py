"""Evaluates a model on new rows: metrics where the truth is known, for parts of the rows too, and
drift against the counts that the model was learned from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from dnfscale.apply.drift import ColumnRows, FormulaRows, drift_of
from dnfscale.apply.evaluate import check_columns
from dnfscale.apply.findings import findings_of
from dnfscale.apply.tested import CountTested, TestedRows
from dnfscale.core.arrays import Ints, Scalar
from dnfscale.core.model import HALF, Model
from dnfscale.core.parts import stored_column
from dnfscale.core.seen import Unfamiliar
from dnfscale.data.roles import holds_labels
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.errors import DataError, SpecError
from dnfscale.method.metrics import (
    calibration,
    decision_curve,
    figures,
    label_figures,
    scores_of_types,
)
from dnfscale.method.slices import Measured, SliceRows, intervals_of, slice_of
from dnfscale.method.words import value_text
from dnfscale.results.check import ValueRows
from dnfscale.results.confusion import Confusion, counted_of
from dnfscale.results.evaluation import (
    Drift,
    Evaluation,
)
from dnfscale.results.record import label_record
from dnfscale.results.slices import Slice
from dnfscale.spec.checks import listed

EVALUATE = "evaluate"
"""The phase."""
MOST_SLICES = 20


@dataclass(frozen=True, slots=True)
class Asked:
    """What to evaluate besides the model's answers."""

    target: str | None = None
    """The column of labels; by default the model's, if it is there."""
    positive: tuple[Scalar, ...] | None = None
    """The labels that count as yes; by default the model's."""
    slices: tuple[str, ...] = ()


def evaluate_models(
    models: Sequence[Model], source: Source, engine: Engine, asked: Asked | None = None
) -> Evaluation:
    """Evaluate one model, or those of several labels, on the rows of a source."""
    asked = asked or Asked()
    check_columns([model.tau for model in models], source.types, source.path)
    target = _target(models, source, asked)
    _check_slices(source, asked.slices)
    if not source.partitions:
        raise DataError(f"{source.path}: expected rows to evaluate, but the dataset has none")
    positives = tuple(model.positive for model in models)
    if asked.positive is not None:
        if len(models) > 1:
            raise SpecError("--positive is for a model of two classes; leave it out")
        positives = (asked.positive,)
    scan = CountTested(tuple(models), target, positives, asked.slices)
    tested: TestedRows = engine.reduce(EVALUATE, source.partitions, scan, scan.merge)
    if asked.positive is None:
        _check_labels(tested, positives, target, source.path)
    else:
        _check_positive(tested, asked.positive, target)
    return _Evaluating(tuple(models), scan, tested).evaluation()


def _target(models: Sequence[Model], source: Source, asked: Asked) -> str | None:
    """Return the column of labels, if there is one."""
    name = models[0].target if asked.target is None else asked.target
    if name not in source.types:
        if asked.target is None:
            return None
        raise SpecError(
            f"--target must name a column of {source.path}, got {name!r}; it has "
            f"{listed(list(source.types))}"
        )
    if not holds_labels(source.types[name]):
        raise DataError(
            f"{source.path}: expected column {name!r} to hold labels (numbers, booleans or "
            f"strings), got the type {source.types[name]}; convert it"
        )
    return name


def _check_slices(source: Source, slices: Sequence[str]) -> None:
    if len(slices) > MOST_SLICES or len(set(slices)) < len(slices):
        raise SpecError(
            f"--slices must list at most {MOST_SLICES} columns, each once, got {listed(slices)}"
        )
    for name in slices:
        if name not in source.types:
            raise SpecError(
                f"--slices must list columns of {source.path}, but {name!r} is none; it has "
                f"{listed(list(source.types))}"
            )
        if not holds_labels(source.types[name]):
            raise SpecError(
                f"--slices must list columns of numbers, booleans or strings, but {name!r} has "
                f"the type {source.types[name]}; group its values in a column of their own"
            )


def _check_labels(
    tested: TestedRows, positives: Sequence[tuple[Scalar, ...]], target: str | None, path: str
) -> None:
    """Raise DataError if there are labels, and none of them is one that the model knows."""
    known = {label for labels in positives for label in labels}
    if not tested.labels or known & set(tested.labels):
        return
    raise DataError(
        f"{path}: expected labels of which some are {listed(sorted(known))} in column {target!r}, "
        f"as in the data that the model was learned from, got "
        f"{listed(sorted(tested.labels))}; convert them, or say with --positive which labels "
        "mean yes"
    )


def _check_positive(tested: TestedRows, positive: Sequence[Scalar], target: str | None) -> None:
    """Raise SpecError if no row of several labels has one that is said to mean yes."""
    if len(tested.labels) > 1 and not set(positive) & set(tested.labels):
        raise SpecError(
            f"--positive must list labels of {target!r}, got {listed(list(positive))}; it has "
            f"{listed(sorted(tested.labels))}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Evaluating:
    """From counts to everything that is said of them."""

    models: tuple[Model, ...]
    scan: CountTested
    tested: TestedRows

    @property
    def formulas(self) -> list[FormulaRows]:
        if len(self.models) == 1:
            [model], [types] = self.models, self.tested.types
            return [FormulaRows.of(model, types.keys, types.counts, (0, 1, 2))]
        n = len(self.models)
        return [
            FormulaRows.of(model, types.keys, types.counts, [*(int(i == own) for i in range(n)), 2])
            for own, (model, types) in enumerate(zip(self.models, self.tested.types, strict=True))
        ]

    def evaluation(self) -> Evaluation:
        formulas = self.formulas
        told = self._one(formulas[0]) if len(formulas) == 1 else self._several()
        target = self.scan.target or self.models[0].target
        drift = drift_of(formulas, target, self._columns())
        return replace(
            told,
            drift=drift,
            slices=tuple(
                self._slice(name, values)
                for name, values in zip(self.scan.slices, self.tested.slices, strict=True)
            ),
            findings=tuple(findings_of(drift, told.rows)),
        )

    def _one(self, formula: FormulaRows) -> Evaluation:
        table = formula.model.table()
        places = table.places(formula.codes)
        accepted = table.accepted[places]
        n, c = formula.rows[:2].sum(axis=0), formula.rows[1]
        confusion = Confusion.of_types(accepted, n, c)
        scores = scores_of_types(table.probability[places], n, c)
        known = bool(n.any())
        rows = formula.rows.sum(axis=0)
        no, yes = _answer_names(formula.model)
        return self._told(
            answers=(
                ValueRows(value=no, rows=int(rows[~accepted].sum())),
                ValueRows(value=yes, rows=int(rows[accepted].sum())),
            ),
            known=int(n.sum()),
            unseen_rows=int(rows[table.n[places] == 0].sum()),
            metrics=figures(confusion, scores, self._threshold) if known else {},
            intervals=intervals_of(confusion) if known else {},
            confusion=confusion if known else None,
            calibration=calibration(scores) if known else None,
            decision_curve=decision_curve(scores) if known else (),
        )

    def _several(self) -> Evaluation:
        answers = self.scan.answering.answers(self.tested.answers)
        given = self.tested.answers.reshape(len(self.models), -1).sum(axis=1)
        known = counted_of(answers)
        return self._told(
            answers=tuple(
                ValueRows(value=label_record(model.positive[0]), rows=rows)
                for model, rows in zip(self.models, given.tolist(), strict=True)
            ),
            known=known,
            unseen_rows=None,
            metrics=label_figures(answers) if known else {},
            intervals={},
            confusion_matrix=answers if known else None,
        )

    def _told(self, **more: Any) -> Evaluation:
        nothing = Drift(
            learned_rows=0, greatest=None, of=None, classes=None, types=(), lines=(), columns=()
        )
        return Evaluation(
            rows=self.tested.n_rows,
            target=self.scan.target or self.models[0].target,
            labels=tuple(
                ValueRows(value=label_record(label), rows=self.tested.labels[label])
                for label in sorted(self.tested.labels)
            ),
            missing_rows=self.tested.incomplete,
            weighted=self.models[0].weighted,
            drift=nothing,
            findings=(),
            **more,
        )

    @property
    def _threshold(self) -> Any:
        threshold = self.models[0].threshold
        return None if threshold == HALF else threshold

    def _slice(self, name: str, values: Mapping[Scalar | None, Ints]) -> Slice:
        there = sorted(value for value in values if value is not None)
        order: list[Scalar | None] = [*there, *([None] if None in values else [])]
        return slice_of(name, [self._part(v, values[v]) for v in order], Measured(self._threshold))

    def _part(self, value: Scalar | None, cells: Ints) -> SliceRows:
        label = None if value is None else label_record(value)
        rows, answering = int(cells.sum()), self.scan.answering
        if len(self.models) > 1:
            return SliceRows(label, rows, 0, answers=answering.answers(cells))
        confusion = answering.confusion(cells)
        known = bool(confusion.counted)
        return SliceRows(
            label,
            rows,
            answering.selected(cells),
            confusion if known else None,
            answering.scores(cells) if known else None,
        )

    def _columns(self) -> dict[str, ColumnRows]:
        """Return what the columns of the model hold."""
        missing: dict[str, int] = {}
        for column, rows in zip(self.scan.model_columns, self.tested.missing, strict=True):
            name = stored_column(column.name)
            missing[name] = max(missing.get(name, 0), rows)
        seen = {own.name: own for model in self.models for own in model.seen}
        unfamiliar = self.tested.unfamiliar.columns
        return {
            name: ColumnRows(
                self.tested.n_rows, rows, seen.get(name), unfamiliar.get(name, Unfamiliar())
            )
            for name, rows in missing.items()
        }


def _answer_names(model: Model) -> tuple[str, str]:
    labels = model.positive
    if len(labels) == 1 and isinstance(labels[0], bool):
        return str(not labels[0]), str(labels[0])
    positive = ", ".join(value_text(label) for label in labels)
    return f"not {positive}", positive
