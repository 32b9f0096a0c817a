"""The tables of a run, one CSV file each: its result for every fold, sweep and size, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dnfscale.results.formula import Formula, SizedFormula
from dnfscale.results.method import Method
from dnfscale.results.record import Infinite, Label
from dnfscale.results.result import Result

Cell = bool | int | float | str | None
Kind = TypeVar("Kind", Formula, SizedFormula)


@dataclass(frozen=True, slots=True)
class FoldTable:
    """A table of a run and the name of its file."""

    file: str
    columns: tuple[str, ...]
    rows: list[list[Cell]]


def fold_tables(result: Result) -> Iterator[FoldTable]:
    """Yield the tables of a result; the one of sizes only if formulas were searched by size."""
    methods = result.methods
    label = ("label",) if result.data.classes else ()
    if result.ideal is not None:
        yield _folds(result.ideal, label)
        yield _sweep(result.ideal, label)
    accuracies: list[list[Cell]] = [
        [name, fold.fold, fold.accuracy]
        for name, method in methods.items()
        for fold in method.folds
    ]
    yield FoldTable("tables/methods.csv", ("method", "fold", "accuracy"), accuracies)
    sized = [method for method in methods.values() if _searched_sizes(method)]
    if sized:
        yield _sizes(sized, label)


def _folds(ideal: Method, label: tuple[str, ...]) -> FoldTable:
    sizes = ("fold", "train_rows", "validation_rows", "test_rows", "accuracy")
    formula = (*label, "ell", "rank", "terms", "literals", "formula")
    rows: list[list[Cell]] = [
        [
            *(getattr(fold, key) for key in sizes),
            *_label(found.label),
            *(getattr(found, key) for key in formula[len(label) :]),
        ]
        for fold in ideal.folds
        for found in fold.formulas
    ]
    return FoldTable("tables/folds.csv", sizes + formula, rows)


def _sweep(ideal: Method, label: tuple[str, ...]) -> FoldTable:
    rows: list[list[Cell]] = [
        [where, *_label(found.label), step.ell, rank, accuracy]
        for where, formulas in _by_part([fold.formulas for fold in ideal.folds], ideal.models)
        for found in formulas
        for step in found.sweep
        for rank, accuracy in step.by_rank.items()
    ]
    columns = ("fold", *label, "ell", "rank", "validation_accuracy")
    return FoldTable("tables/sweep.csv", columns, rows)


def _sizes(methods: Sequence[Method], label: tuple[str, ...]) -> FoldTable:
    told = ("size", "formula_size", "errors", "validation_accuracy", "proved")
    rows: list[list[Cell]] = [
        [where, *_label(found.label), *(getattr(step, key) for key in told)]
        for method in methods
        for where, formulas in _by_part([fold.sized for fold in method.folds], method.sized_models)
        for found in formulas
        for step in found.path
    ]
    return FoldTable("tables/sizes.csv", ("fold", *label, *told), rows)


def _searched_sizes(method: Method) -> bool:
    return any(fold.sized for fold in method.folds) or bool(method.sized_models)


def _by_part(
    folds: Sequence[Sequence[Kind]], models: Sequence[Kind]
) -> Iterator[tuple[int | str, Sequence[Kind]]]:
    """Yield formulas with the number of their fold, and at last "all" with those of all rows."""
    yield from enumerate(folds)
    yield "all", models


def _label(label: Label | None) -> list[Cell]:
    if label is None:
        return []
    return [label.float if isinstance(label, Infinite) else label]
