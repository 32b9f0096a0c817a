"""The tables of a run, one CSV file each: its result for every fold, sweep and size, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FoldTable:
    """A table of a run and the name of its file."""

    file: str
    columns: tuple[str, ...]
    rows: list[list[Any]]


def fold_tables(result: Mapping[str, Any]) -> Iterator[FoldTable]:
    """Yield the tables of a result; the one of sizes only if formulas were searched by size."""
    methods = result["methods"]
    ideal = methods["ideal"]
    label = ("label",) if "classes" in ideal["model"] else ()
    yield _folds(ideal, label)
    yield _sweep(ideal, label)
    yield FoldTable(
        "tables/methods.csv",
        ("method", "fold", "accuracy"),
        [[name, fold["fold"], fold.get("accuracy")] for name, method in methods.items() for fold in method["folds"]],
    )
    if "formula_size" in methods:
        yield _sizes(methods["formula_size"], label)


def _folds(ideal: Mapping[str, Any], label: tuple[str, ...]) -> FoldTable:
    sizes = ("fold", "train_rows", "validation_rows", "test_rows", "accuracy")
    formula = (*label, "ell", "rank", "terms", "literals", "formula")
    rows = [
        [fold[key] for key in sizes] + [found[key] for key in formula]
        for fold in ideal["folds"]
        for found in fold.get("classes", [fold])
    ]
    return FoldTable("tables/folds.csv", sizes + formula, rows)


def _sweep(ideal: Mapping[str, Any], label: tuple[str, ...]) -> FoldTable:
    rows = [
        [where, *(found[key] for key in label), step["ell"], rank, accuracy]
        for where, found in _formulas(ideal)
        for step in found["sweep"]
        for rank, accuracy in step["by_rank"].items()
    ]
    return FoldTable("tables/sweep.csv", ("fold", *label, "ell", "rank", "validation_accuracy"), rows)


def _sizes(sized: Mapping[str, Any], label: tuple[str, ...]) -> FoldTable:
    told = ("size", "formula_size", "errors", "validation_accuracy", "proved")
    rows = [
        [where, *(found[key] for key in label), *(step[key] for key in told)]
        for where, found in _formulas(sized)
        for step in found.get("path", ())
    ]
    return FoldTable("tables/sizes.csv", ("fold", *label, *told), rows)


def _formulas(method: Mapping[str, Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Yield every formula of a method with the number of its fold, or "all" for that of all rows."""
    for record in (*method["folds"], method["model"]):
        for found in record.get("classes", [record]):
            yield record.get("fold", "all"), found
