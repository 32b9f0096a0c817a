"""The tables of one study or of many, with the paper's own figures beside ours, marked as such."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dnfscale.experiment.formats import Cell, Figure, Table, amount_cell
from dnfscale.experiment.outcome import (
    BLACK_BOX,
    FORMULA_SIZE,
    IDEAL,
    Fold,
    Outcome,
    Paired,
    SizedFormula,
    labels,
    method_order,
    method_title,
    read_outcome,
)
from dnfscale.experiment.paper import Percent
from dnfscale.experiment.profiles import difference_table, profile_table

Column = tuple[str, Sequence[Cell]]
"""A column of a table that is being built: its name and its cells, one per dataset."""


def study_tables(results: Sequence[Mapping[str, Any]]) -> dict[str, Table]:
    """Return the tables of some parsed result.json files by the name of their file; one without rows is left out."""
    outcomes = [read_outcome(result) for result in results]
    tables = {
        "accuracies": accuracy_table(outcomes),
        "fidelities": fidelity_table(outcomes),
        "labels": label_table(outcomes),
        "confusions": confusion_table(outcomes),
        "features": features_table(outcomes),
        "runtimes": runtime_table(outcomes),
        "formulas": formula_table(outcomes),
        "comparisons": comparison_table(outcomes),
        "profiles": profile_table(outcomes),
        "profile_differences": difference_table(outcomes),
    }
    return {name: table for name, table in tables.items() if table.rows}


def accuracy_table(outcomes: Sequence[Outcome]) -> Table:
    """Lay out the accuracies of all methods: the paper's Figure 1. Runs that were not tested are left out."""
    names, tested = _those(outcomes, _knows_accuracy)
    run = {method.name for outcome in tested for method in outcome.methods}
    told = {name for outcome in tested if outcome.paper for name in outcome.paper.accuracies}
    columns: list[Column] = []
    for name in method_order(run | told):
        if name in run:
            columns.append((method_title(name), [_accuracy(outcome, name) for outcome in tested]))
        if name in told:
            columns.append((_papers(method_title(name)), [_paper_accuracy(outcome, name) for outcome in tested]))
    literature = [_percent(outcome.paper.literature) if outcome.paper else None for outcome in tested]
    if any(literature):
        columns.append((_papers("Literature"), literature))
    return _table("Accuracy on rows not learned from, %, mean ± deviation over folds", names, columns)


def fidelity_table(outcomes: Sequence[Outcome]) -> Table:
    """Lay out how often formulas agree with the classifiers that they explain, and how accurate both are."""
    names, explaining = _those(
        outcomes, lambda outcome: bool(outcome.ideal and outcome.ideal.fidelity_mean is not None)
    )
    columns: list[Column] = [
        ("Fidelity", [_fidelity(outcome) for outcome in explaining]),
        ("Accuracy of the formula", [_accuracy(outcome, IDEAL) for outcome in explaining]),
        ("Accuracy of the classifier", [_accuracy(outcome, BLACK_BOX) for outcome in explaining]),
    ]
    title = (
        "Fidelity to the classifier explained, and accuracy, on rows not learned from, %, mean ± deviation over folds"
    )
    return _table(title, names, columns)


def label_table(outcomes: Sequence[Outcome]) -> Table:
    """Lay out how each of several labels fares on the test rows of all folds together."""
    rows = []
    for name, outcome in zip(labels(outcomes), outcomes, strict=True):
        confusion = outcome.confusion
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


def confusion_table(outcomes: Sequence[Outcome]) -> Table:
    """List the cells of the confusion matrices, summed over test folds: one line for each pair of labels."""
    rows = [
        (name, label, given, amount_cell(confusion.rows[i][j]))
        for name, outcome in zip(labels(outcomes), outcomes, strict=True)
        if (confusion := outcome.confusion) is not None
        for i, label in enumerate(confusion.labels)
        for j, given in enumerate(confusion.labels)
    ]
    return Table("Test rows by label and answer", ("Dataset", "Label", "Answer", "Rows"), tuple(rows))


def features_table(outcomes: Sequence[Outcome]) -> Table:
    """Lay out how many attributes the formulas use, out of how many: the paper's Table 1."""
    papers = [outcome.paper for outcome in outcomes]
    ideals = [outcome.ideal for outcome in outcomes]
    ours: list[Column] = [
        ("Attributes used", [Figure(i.ell_mean) if i and i.ell_mean is not None else None for i in ideals]),
        ("Boolean attributes", [outcome.attributes for outcome in outcomes]),
        ("Columns", [outcome.columns for outcome in outcomes]),
        ("Rows", [outcome.rows for outcome in outcomes]),
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
    return _table("Attributes used on average, and dimensions of the data", labels(outcomes), columns)


def runtime_table(outcomes: Sequence[Outcome]) -> Table:
    """Lay out the run times: ours for all folds and per fold, the paper's for one split on its authors' laptop."""
    names, timed = _those(outcomes, lambda outcome: bool(outcome.seconds))
    columns: list[Column] = [("Splits", [outcome.n_folds or None for outcome in timed])]
    for name in method_order({name for outcome in timed for name in outcome.seconds}):
        title = method_title(name)
        columns.append((f"{title}, all splits, s", [_seconds(outcome.seconds.get(name)) for outcome in timed]))
        columns.append((f"{title}, per split, s", [_seconds(split_seconds(outcome, name)) for outcome in timed]))
        if name == IDEAL and any(outcome.paper for outcome in timed):
            theirs = [outcome.paper.split_s if outcome.paper else None for outcome in timed]
            columns.append((_papers(f"{title}, per split, s"), theirs))
    return _table("Run time", names, columns)


def formula_table(outcomes: Sequence[Outcome]) -> Table:
    """Lay out the formulas of each first fold, one per label; the paper's comes from another split of the same data."""
    first = [
        (name, outcome, fold, formula)
        for name, outcome in zip(labels(outcomes), outcomes, strict=True)
        if (fold := _first_fold(outcome)) is not None
        for formula in fold.formulas
    ]
    columns: list[Column] = [("Test accuracy, %", [_share(fold.accuracy) for _, _, fold, _ in first])]
    if any(formula.label is not None for *_, formula in first):
        columns.append(("Label", [formula.label for *_, formula in first]))
    columns.append(("Formula", [formula.text for *_, formula in first]))
    sized = [_first_sized(outcome, formula.label) for _, outcome, _, formula in first]
    if any(sized):
        columns.append((method_title(FORMULA_SIZE), [found and found[1].text for found in sized]))
        columns.append(
            (
                f"{method_title(FORMULA_SIZE)}, test accuracy, %",
                [found and _share(found[0].accuracy) for found in sized],
            )
        )
    if any(outcome.paper for _, outcome, _, _ in first):
        theirs = [outcome.paper.first_formula if outcome.paper else None for _, outcome, _, _ in first]
        columns.append((_papers("Formula"), theirs))
    return _table("Formula of the first fold", [name for name, *_ in first], columns)


def comparison_table(outcomes: Sequence[Outcome]) -> Table:
    """Lay out the paired comparisons of methods, in percentage points."""
    rows = tuple(
        (
            label,
            method_title(paired.method),
            method_title(paired.other),
            Figure(100 * paired.difference_mean),
            Figure(100 * paired.low),
            Figure(100 * paired.high),
            Figure(100 * paired.level, digits=0),
            paired.folds,
            verdict(paired),
        )
        for label, outcome in zip(labels(outcomes), outcomes, strict=True)
        for paired in outcome.comparisons
    )
    header = ("Dataset", "Method", "Against", "Difference", "From", "To", "Level, %", "Folds", "In words")
    return Table("Difference in accuracy over the same folds, percentage points", header, rows)


def verdict(paired: Paired) -> str:
    """Say in words what an interval shows."""
    if paired.low > 0:
        return f"{method_title(paired.method)} is more accurate"
    if paired.high < 0:
        return f"{method_title(paired.other)} is more accurate"
    return "no difference shown"


def split_seconds(outcome: Outcome, method: str) -> float | None:
    """Return a method's seconds for one fold: those of all folds, which run together, divided by their number."""
    seconds = outcome.seconds.get(method)
    return seconds / outcome.n_folds if seconds is not None and outcome.n_folds else None


def _those(outcomes: Sequence[Outcome], wanted: Callable[[Outcome], bool]) -> tuple[list[str], list[Outcome]]:
    """Return the labels and the outcomes of those that are wanted."""
    pairs = [(name, o) for name, o in zip(labels(outcomes), outcomes, strict=True) if wanted(o)]
    return [name for name, _ in pairs], [outcome for _, outcome in pairs]


def _table(title: str, names: Sequence[str], columns: Sequence[Column]) -> Table:
    cells = [cells for _, cells in columns]
    return Table(title, ("Dataset", *(name for name, _ in columns)), tuple(zip(names, *cells, strict=True)))


def _papers(title: str) -> str:
    return f"{title} (paper)"


def _accuracy(outcome: Outcome, name: str) -> Figure | None:
    method = outcome.method(name)
    if method is None or method.accuracy_mean is None:
        return None
    deviation = outcome.deviation(method)
    return Figure(100 * method.accuracy_mean, deviation=None if deviation is None else 100 * deviation)


def _knows_accuracy(outcome: Outcome) -> bool:
    return outcome.n_folds > 0 and any(method.accuracy_mean is not None for method in outcome.methods)


def _fidelity(outcome: Outcome) -> Figure | None:
    ideal = outcome.ideal
    if ideal is None or ideal.fidelity_mean is None:
        return None
    deviation = None if outcome.leaves_one_out else ideal.fidelity_std
    return Figure(100 * ideal.fidelity_mean, deviation=None if deviation is None else 100 * deviation)


def _paper_accuracy(outcome: Outcome, name: str) -> Figure | None:
    return _percent(outcome.paper.accuracies.get(name)) if outcome.paper else None


def _percent(percent: Percent | None) -> Figure | None:
    return None if percent is None else Figure(percent.mean, deviation=percent.deviation)


def _share(share: float | None) -> Figure | None:
    return None if share is None else Figure(100 * share)


def _first_fold(outcome: Outcome) -> Fold | None:
    folds = outcome.ideal.folds if outcome.ideal else ()
    return folds[0] if folds and folds[0].formulas else None


def _first_sized(outcome: Outcome, label: str | None) -> tuple[Fold, SizedFormula] | None:
    """Return the first fold of the formula-size method and its formula; with several labels, that of the given one."""
    method = outcome.method(FORMULA_SIZE)
    folds = method.folds[:1] if method else ()
    return next(((fold, sized) for fold in folds for sized in fold.sized if sized.label == label), None)


def _seconds(seconds: float | None) -> Figure | None:
    return None if seconds is None else Figure(seconds, digits=0 if seconds >= 100 else 1 if seconds >= 10 else 2)
