"""The tables of one study or of many, with the paper's own figures beside ours, marked as such; and
the folds, sweeps and sizes of a run, row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dnfscale.report.cards.formula import formula_text
from dnfscale.report.formats import Cell, Figure, Table, amount_cell
from dnfscale.report.measured import counted, counted_heading, value_text
from dnfscale.report.paper import Percent
from dnfscale.report.profiles import difference_table, profile_table
from dnfscale.report.titles import (
    method_order,
    method_title,
    paper_of,
    run_titles,
    shown_comparisons,
)
from dnfscale.report.wording import better_words, compared_metric
from dnfscale.results.formula import Formula, SizedFormula
from dnfscale.results.method import Comparison, Fold, Method
from dnfscale.results.record import Infinite, Label
from dnfscale.results.result import IDEAL, Result, Weight
from dnfscale.results.slices import Slice, SliceValue
from dnfscale.spec.registry import BLACK_BOX

Column = tuple[str, Sequence[Cell]]
"""A column of a table that is being built: its name and its cells, one per dataset."""
Value = bool | int | float | str | None
"""A cell of a table that is kept as data, in full precision."""
FormulaKind = TypeVar("FormulaKind", Formula, SizedFormula)


@dataclass(frozen=True, slots=True)
class FoldTable:
    """A table of a run and the name of its file."""

    file: str
    columns: tuple[str, ...]
    rows: list[list[Value]]


def study_tables(results: Sequence[Result]) -> dict[str, Table]:
    """Return the tables of some results by the name of their file; one without rows is left out."""
    tables = {
        "accuracies": accuracy_table(results),
        "fidelities": fidelity_table(results),
        "labels": label_table(results),
        "confusions": confusion_table(results),
        "features": features_table(results),
        "runtimes": runtime_table(results),
        "formulas": formula_table(results),
        "comparisons": comparison_table(results),
        "profiles": profile_table(results),
        "profile_differences": difference_table(results),
    }
    return {name: table for name, table in tables.items() if table.rows}


def fold_tables(result: Result) -> Iterator[FoldTable]:
    """Yield the tables of a result; the one of sizes only if formulas were searched by size."""
    methods = result.methods
    label = ("label",) if result.data.classes else ()
    if result.ideal is not None:
        yield _folds_table(result.ideal, label)
        yield _sweep_table(result.ideal, label)
    accuracies: list[list[Value]] = [
        [name, fold.fold, fold.accuracy]
        for name, method in methods.items()
        for fold in method.folds
    ]
    yield FoldTable("tables/methods.csv", ("method", "fold", "accuracy"), accuracies)
    yield _metrics_table(methods)
    if result.ideal is not None and result.ideal.slices:
        yield _slices_table(result.ideal.slices, result.data.weight)
    sized = [method for method in methods.values() if _searched_sizes(method)]
    if sized:
        yield _sizes_table(sized, label)


def accuracy_table(results: Sequence[Result]) -> Table:
    """Lay out the accuracies of all methods: the paper's Figure 1. Runs that were not tested are
    left out.
    """
    names, tested = _those(results, _knows_accuracy)
    run = {name for result in tested for name in result.methods}
    told = {name for result in tested if (paper := paper_of(result)) for name in paper.accuracies}
    columns: list[Column] = []
    for name in method_order(run | told):
        if name in run:
            columns.append((method_title(name), [_accuracy(result, name) for result in tested]))
        if name in told:
            columns.append(
                (_papers(method_title(name)), [_paper_accuracy(result, name) for result in tested])
            )
    papers = [paper_of(result) for result in tested]
    literature = [_percent(paper.literature) if paper else None for paper in papers]
    if any(literature):
        columns.append((_papers("Literature"), literature))
    return _table(
        "Accuracy on rows not learned from, %, mean ± deviation over folds", names, columns
    )


def fidelity_table(results: Sequence[Result]) -> Table:
    """Lay out how often formulas agree with the classifiers that they explain, and how accurate
    both are.
    """
    names, explaining = _those(
        results, lambda result: bool(result.ideal and result.ideal.fidelity_mean is not None)
    )
    columns: list[Column] = [
        ("Fidelity", [_fidelity(result) for result in explaining]),
        ("Accuracy of the formula", [_accuracy(result, IDEAL) for result in explaining]),
        ("Accuracy of the classifier", [_accuracy(result, BLACK_BOX) for result in explaining]),
    ]
    title = (
        "Fidelity to the classifier explained, and accuracy, on rows not learned from, %, "
        "mean ± deviation over folds"
    )
    return _table(title, names, columns)


def label_table(results: Sequence[Result]) -> Table:
    """Lay out how each of several labels fares on the test rows of all folds together."""
    rows = []
    for name, result in zip(run_titles(results), results, strict=True):
        confusion = result.confusion
        if confusion is None:
            continue
        for i, label in enumerate(confusion.labels):
            other = confusion.mistaken_for(i)
            mistaken = "" if other is None else confusion.labels[other]
            rows.append(
                (
                    name,
                    label,
                    amount_cell(confusion.of(i)),
                    _share(confusion.recall(i)),
                    _share(confusion.precision(i)),
                    mistaken,
                )
            )
    header = ("Dataset", "Label", "Test rows", "Recall, %", "Precision, %", "Most often taken for")
    return Table("Each label on the test rows of all folds", header, tuple(rows))


def confusion_table(results: Sequence[Result]) -> Table:
    """List the cells of the confusion matrices, summed over test folds: one line for each pair of
    labels.
    """
    rows = [
        (name, label, given, amount_cell(confusion.rows[i][j]))
        for name, result in zip(run_titles(results), results, strict=True)
        if (confusion := result.confusion) is not None
        for i, label in enumerate(confusion.labels)
        for j, given in enumerate(confusion.labels)
    ]
    return Table(
        "Test rows by label and answer", ("Dataset", "Label", "Answer", "Rows"), tuple(rows)
    )


def features_table(results: Sequence[Result]) -> Table:
    """Lay out how many attributes the formulas use, out of how many: the paper's Table 1."""
    papers = [paper_of(result) for result in results]
    ideals = [result.ideal for result in results]
    ours: list[Column] = [
        (
            "Attributes used",
            [Figure(i.ell_mean) if i and i.ell_mean is not None else None for i in ideals],
        ),
        ("Boolean attributes", [result.data.attributes for result in results]),
        ("Columns", [result.data.columns for result in results]),
        ("Rows", [result.data.rows for result in results]),
    ]
    theirs: list[Sequence[Cell]] = [
        [Figure(paper.ell_mean) if paper else None for paper in papers],
        [paper.attributes if paper else None for paper in papers],
        [paper.columns if paper else None for paper in papers],
        [paper.rows if paper else None for paper in papers],
    ]
    columns: list[Column] = []
    for (name, cells), paper_cells in zip(ours, theirs, strict=True):
        columns += [(name, cells), (_papers(name), paper_cells)] if any(papers) else [(name, cells)]
    return _table(
        "Attributes used on average, and dimensions of the data", run_titles(results), columns
    )


def runtime_table(results: Sequence[Result]) -> Table:
    """Lay out the run times: ours for all folds and per fold, the paper's for one split on its
    authors' laptop.
    """
    names, timed = _those(results, lambda result: bool(result.timing.methods_s))
    columns: list[Column] = [("Splits", [result.n_folds or None for result in timed])]
    for name in method_order({name for result in timed for name in result.timing.methods_s}):
        title = method_title(name)
        columns.append(
            (
                f"{title}, all splits, s",
                [_seconds(result.timing.methods_s.get(name)) for result in timed],
            )
        )
        columns.append(
            (f"{title}, per split, s", [_seconds(split_seconds(result, name)) for result in timed])
        )
        if name == IDEAL and any(paper_of(result) for result in timed):
            theirs = [paper.split_s if (paper := paper_of(result)) else None for result in timed]
            columns.append((_papers(f"{title}, per split, s"), theirs))
    return _table("Run time", names, columns)


def formula_table(results: Sequence[Result]) -> Table:
    """Lay out the formulas of each first fold, one per label; the paper's comes from another split
    of the same data.
    """
    first = [
        (name, result, fold, formula)
        for name, result in zip(run_titles(results), results, strict=True)
        if (fold := _first_fold(result)) is not None
        for formula in fold.formulas
    ]
    columns: list[Column] = [
        ("Test accuracy, %", [_share(fold.accuracy) for _, _, fold, _ in first])
    ]
    if any(formula.label is not None for *_, formula in first):
        columns.append(("Label", [formula.label_shown for *_, formula in first]))
    columns.append(("Formula", [formula_text(formula) for *_, formula in first]))
    for name in method_order({name for _, result, _, _ in first for name in result.methods}):
        sized = [_first_sized(result, name, formula.label_shown) for _, result, _, formula in first]
        if any(sized):
            columns.append((method_title(name), [found and found[1].shown for found in sized]))
            columns.append(
                (
                    f"{method_title(name)}, test accuracy, %",
                    [found and _share(found[0].accuracy) for found in sized],
                )
            )
    if any(paper_of(result) for _, result, _, _ in first):
        theirs = [
            paper.first_formula if (paper := paper_of(result)) else None
            for _, result, _, _ in first
        ]
        columns.append((_papers("Formula"), theirs))
    return _table("Formula of the first fold", [name for name, *_ in first], columns)


def comparison_table(results: Sequence[Result]) -> Table:
    """Lay out the paired comparisons of methods, in percentage points."""
    several = any(
        paired.metric != "accuracy" for result in results for paired in shown_comparisons(result)
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            label,
            method_title(paired.method),
            method_title(paired.other),
            *([compared_metric(paired)] if several else []),
            Figure(100 * paired.difference_mean),
            Figure(100 * paired.low),
            Figure(100 * paired.high),
            Figure(100 * paired.level, digits=0),
            paired.folds,
            verdict(paired),
        )
        for label, result in zip(run_titles(results), results, strict=True)
        for paired in shown_comparisons(result)
    )
    header = (
        "Dataset",
        "Method",
        "Against",
        *(["By"] if several else []),
        "Difference",
        "From",
        "To",
        "Level, %",
        "Folds",
        "In words",
    )
    what = "what formulas were learned for" if several else "accuracy"
    return Table(f"Difference in {what} over the same folds, percentage points", header, rows)


def verdict(paired: Comparison) -> str:
    """Say in words what an interval shows."""
    if paired.low > 0:
        return f"{method_title(paired.method)} {better_words(paired)}"
    if paired.high < 0:
        return f"{method_title(paired.other)} {better_words(paired)}"
    return "no difference shown"


def split_seconds(result: Result, method: str) -> float | None:
    """Return a method's seconds for one fold: those of all folds, which run together, divided by
    their number.
    """
    seconds = result.timing.methods_s.get(method)
    return seconds / result.n_folds if seconds is not None and result.n_folds else None


def _those(
    results: Sequence[Result], wanted: Callable[[Result], bool]
) -> tuple[list[str], list[Result]]:
    """Return the labels and the results of those that are wanted."""
    pairs = [(name, o) for name, o in zip(run_titles(results), results, strict=True) if wanted(o)]
    return [name for name, _ in pairs], [result for _, result in pairs]


def _table(title: str, names: Sequence[str], columns: Sequence[Column]) -> Table:
    cells = [cells for _, cells in columns]
    return Table(
        title, ("Dataset", *(name for name, _ in columns)), tuple(zip(names, *cells, strict=True))
    )


def _papers(title: str) -> str:
    return f"{title} (paper)"


def _accuracy(result: Result, name: str) -> Figure | None:
    method = result.methods.get(name)
    if method is None or method.accuracy_mean is None:
        return None
    deviation = result.deviation(method)
    return Figure(
        100 * method.accuracy_mean, deviation=None if deviation is None else 100 * deviation
    )


def _knows_accuracy(result: Result) -> bool:
    return result.n_folds > 0 and any(
        method.accuracy_mean is not None for method in result.methods.values()
    )


def _fidelity(result: Result) -> Figure | None:
    ideal = result.ideal
    if ideal is None or ideal.fidelity_mean is None:
        return None
    deviation = ideal.fidelity_std if result.has_spread else None
    return Figure(
        100 * ideal.fidelity_mean, deviation=None if deviation is None else 100 * deviation
    )


def _paper_accuracy(result: Result, name: str) -> Figure | None:
    paper = paper_of(result)
    return _percent(paper.accuracies.get(name)) if paper else None


def _percent(percent: Percent | None) -> Figure | None:
    return None if percent is None else Figure(percent.mean, deviation=percent.deviation)


def _share(share: float | None) -> Figure | None:
    return None if share is None else Figure(100 * share)


def _first_fold(result: Result) -> Fold | None:
    folds = result.ideal.folds if result.ideal else ()
    return folds[0] if folds and folds[0].formulas else None


def _first_sized(result: Result, name: str, label: str | None) -> tuple[Fold, SizedFormula] | None:
    """Return the first fold of a method that bounds sizes, and its formula; with several labels,
    that of the given one.
    """
    method = result.methods.get(name)
    folds = method.folds[:1] if method else ()
    return next(
        ((fold, sized) for fold in folds for sized in fold.sized if sized.label_shown == label),
        None,
    )


def _seconds(seconds: float | None) -> Figure | None:
    return (
        None
        if seconds is None
        else Figure(seconds, digits=0 if seconds >= 100 else 1 if seconds >= 10 else 2)
    )


def _folds_table(ideal: Method, label: tuple[str, ...]) -> FoldTable:
    sizes = ("fold", "train_rows", "validation_rows", "test_rows", "accuracy")
    formula = (*label, "ell", "rank", "terms", "literals", "formula")
    rows: list[list[Value]] = [
        [
            *(getattr(fold, key) for key in sizes),
            *_label_value(found.label),
            *(getattr(found, key) for key in formula[len(label) :]),
        ]
        for fold in ideal.folds
        for found in fold.formulas
    ]
    return FoldTable("tables/folds.csv", sizes + formula, rows)


def _sweep_table(ideal: Method, label: tuple[str, ...]) -> FoldTable:
    rows: list[list[Value]] = [
        [where, *_label_value(found.label), step.ell, rank, accuracy]
        for where, formulas in _by_part([fold.formulas for fold in ideal.folds], ideal.models)
        for found in formulas
        for step in found.sweep
        for rank, accuracy in step.by_rank.items()
    ]
    columns = ("fold", *label, "ell", "rank", "validation_accuracy")
    return FoldTable("tables/sweep.csv", columns, rows)


def _metrics_table(methods: Mapping[str, Method]) -> FoldTable:
    """Return every metric of every method: in each fold, the mean over folds, and of all test
    rows.
    """
    rows: list[list[Value]] = []
    for name, method in methods.items():
        rows += [
            [name, metric, fold.fold, value]
            for fold in method.folds
            for metric, value in fold.metrics.items()
        ]
        for metric, found in method.metrics.items():
            rows += [[name, metric, "mean", found.mean], [name, metric, "pooled", found.pooled]]
    return FoldTable("tables/metrics.csv", ("method", "metric", "fold", "value"), rows)


def _slices_table(slices: Sequence[Slice], weight: Weight | None) -> FoldTable:
    """Return every metric for each value of some columns."""
    rows: list[list[Value]] = [
        [part.column, value_text(value.value), rows_of, metric, figure, *_ends(value, metric)]
        for part in slices
        for value in part.values
        for rows_of in [counted(value.rows, weight)]
        for metric, figure in (
            *([("selection_rate", value.selection_rate)] if value.confusion is not None else []),
            *value.metrics.items(),
        )
    ]
    header = ("column", "value", counted_heading(weight).lower(), "metric", "figure", "low", "high")
    return FoldTable("tables/slices.csv", header, rows)


def _ends(value: SliceValue, metric: str) -> tuple[float | None, float | None]:
    return value.intervals.get(metric, (None, None))


def _sizes_table(methods: Sequence[Method], label: tuple[str, ...]) -> FoldTable:
    told = ("size", "formula_size", "errors", "validation_accuracy", "proved")
    rows: list[list[Value]] = [
        [where, *_label_value(found.label), *(getattr(step, key) for key in told)]
        for method in methods
        for where, formulas in _by_part([fold.sized for fold in method.folds], method.sized_models)
        for found in formulas
        for step in found.path
    ]
    return FoldTable("tables/sizes.csv", ("fold", *label, *told), rows)


def _searched_sizes(method: Method) -> bool:
    return any(fold.sized for fold in method.folds) or bool(method.sized_models)


def _by_part(
    folds: Sequence[Sequence[FormulaKind]], models: Sequence[FormulaKind]
) -> Iterator[tuple[int | str, Sequence[FormulaKind]]]:
    """Yield formulas with the number of their fold, and at last "all" with those of all rows."""
    yield from enumerate(folds)
    yield "all", models


def _label_value(label: Label | None) -> list[Value]:
    if label is None:
        return []
    return [label.float if isinstance(label, Infinite) else label]
