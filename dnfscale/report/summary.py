"""The summary that ends a run: the formula, how accurate it is, and where the files are."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping, Sequence
from typing import TextIO

from dnfscale.core.model import Model
from dnfscale.core.weights import amount
from dnfscale.errors import visible
from dnfscale.method.words import model_lines, predicted, said_texts
from dnfscale.report.measured import metric_text, metric_title, value_text
from dnfscale.report.own_parts import own_parts
from dnfscale.report.titles import is_free
from dnfscale.report.wording import (
    comparison_words,
    count,
    dealing_words,
    doubt_words,
    left_out_words,
    length_bound,
    length_words,
    objective_words,
    share,
    stability_words,
    tested_words,
    used_words,
)
from dnfscale.results.formula import Formula
from dnfscale.results.method import Method, Objective
from dnfscale.results.result import Result
from dnfscale.spec.registry import BLACK_BOX, COMPETITORS

_WIDEST = 100
_MOST_NAMED = 10
"""The most columns that are named one by one."""


def write_summary(result: Result, models: Sequence[Model], folder: str, out: TextIO) -> None:
    """Write the summary of a result and of the models beside it: one, or one for each of several
    labels.
    """
    ideal = result.ideal
    assert ideal is not None
    doubt = doubt_words(result)
    if doubt is not None:
        print(textwrap.fill(f"Beware: {doubt}", terminal_width()), end="\n\n", file=out)
    table = f"{result.name}: {', '.join(_table_words(result))}"
    print(_wrapped_words(table, subsequent_indent="  "), file=out)
    for formula, model in zip(ideal.models, models, strict=True):
        print(f"\n{_formula_text(model)}", file=out)
        words = explain(formula, result)
        print(
            "",
            _wrapped_words(words, initial_indent="  ", subsequent_indent="  "),
            sep="\n",
            file=out,
        )
    tested = tested_words(result, ideal)
    if ideal.fidelity_mean is not None:
        fidelity = around(result, ideal.fidelity_mean, ideal.fidelity_std)
        print(f"\nfidelity   {fidelity} {tested}: answers as the classifier", file=out)
        _write_truth(ideal, result.methods.get(BLACK_BOX), out)
    elif ideal.folds and ideal.accuracy_mean is not None:
        print(file=out)
        if ideal.objective is not None and ideal.objective.mean is not None:
            _write_objective(result, ideal, ideal.objective, out)
        _write_accuracy(result, ideal, out)
        _write_metrics(ideal, _OF_LABELS if result.data.classes else _DECIDED_BY, out)
        _write_gaps(result, ideal, out)
        frequent = "most" if result.data.classes else "more"
        majority = 100 * (result.majority_share or 0.0)
        words = f"{majority:.1f} % for always giving the {frequent} frequent answer"
        print(_filled("majority", words), file=out)
        _write_means(ideal, " a class" * (len(models) > 1), out)
        for own, method in own_parts(result):
            for line in own.summary(result, method):
                print(line, file=out)
        _write_comparisons(result, out)
    elif ideal.training_accuracy is not None:
        print(
            f"\naccuracy   {100 * ideal.training_accuracy:.1f} % on the rows it was learned from",
            file=out,
        )
    if result.data.silent_columns:
        _write_silent(result.data.silent_columns, out)
    print(f"\nfiles      {visible(folder)}", file=out)


def _write_means(ideal: Method, a_class: str, out: TextIO) -> None:
    """Write how long the formulas of the folds are, and how much they say the same."""
    print(f"attributes {ideal.ell_mean:.1f} on average{a_class}", file=out)
    if ideal.literals_mean is not None:
        print(f"conditions {ideal.literals_mean:.1f} on average{a_class}", file=out)
    if ideal.stability is not None and ideal.columns_shared is not None:
        print(_filled("stability", stability_words(ideal)), file=out)


def _write_objective(result: Result, ideal: Method, objective: Objective, out: TextIO) -> None:
    """Write how good formulas are at what they were learned for: first those of the length of the
    one shown.
    """
    whole = around(result, objective.mean or 0.0, objective.std)
    what = objective_words(objective)
    point = ideal.shown_point
    if point is None or point.objective_mean is None:
        words = f"{whole} {what}: learned for this"
    else:
        reached = around(result, point.objective_mean, point.objective_std)
        words = f"{reached} {what} {tested_words(result, ideal)}: {length_bound(point)}, as this "
        words += f"one; {whole} by the procedure; learned for this"
    if objective.constant_mean is not None:
        words += f"; always the same answer gives {share(objective.constant_mean)}"
    print(_filled("objective", words), file=out)


def _write_accuracy(result: Result, ideal: Method, out: TextIO) -> None:
    """Write what formulas of the length of the one shown come to, and then the procedure."""
    tested = tested_words(result, ideal)
    metric = ideal.metrics.get("accuracy")
    ends = (None, None) if metric is None else (metric.low, metric.high)
    whole = around(result, ideal.accuracy_mean or 0.0, ideal.accuracy_std, ends)
    point = ideal.shown_point
    if point is None:
        print(f"accuracy   {whole} {tested}", file=out)
        return
    ends = point.low, point.high
    reached = around(result, point.accuracy_mean, point.accuracy_std, ends)
    words = f"{reached} {tested}: {length_bound(point)}, as this one"
    print(_filled("accuracy", words), file=out)
    anew = "chosen anew in each fold" if result.n_folds > 1 else "chosen without these rows"
    print(_filled("procedure", f"{whole}: the length {anew}"), file=out)


def _write_metrics(ideal: Method, decided_by: Mapping[str, str], out: TextIO) -> None:
    """Write the figures that people decide by, of all test rows."""
    point = ideal.shown_point
    figures = {name: metric.pooled for name, metric in ideal.metrics.items()}
    if point is not None and point.metrics:
        # Of formulas of the length shown, as the first accuracy.
        figures = point.metrics
    words = [
        f"{title} {metric_text(name, figures[name])}"
        for name, title in decided_by.items()
        if name in figures
    ]
    if words:
        print(_filled("metrics", ", ".join(words)), file=out)


def _write_gaps(result: Result, ideal: Method, out: TextIO) -> None:
    """Write the widest gap between the values of each column that metrics are given for."""
    # No interval says of weights what may be chance.
    is_judged = result.data.weight is None
    for part in ideal.slices:
        widest = max(part.gaps, key=lambda gap: gap.difference, default=None)
        if widest is None or not widest.difference:
            continue
        low, high = (visible(value_text(value)) for value in (widest.lowest, widest.highest))
        chance = "" if widest.certain or not is_judged else ", which may be chance"
        print(
            f"by {visible(part.column)}: {metric_title(widest.metric)} differs by "
            f"{100 * widest.difference:.1f} points, lowest for {low}, highest for {high}{chance}",
            file=out,
        )


_DECIDED_BY = {
    name: metric_title(name)
    for name in ("cost", "sensitivity", "specificity", "ppv", "npv", "mcc", "auc")
}
"""What the summary tells of the metrics."""
_OF_LABELS = {
    "balanced_accuracy": metric_title("balanced_accuracy"),
    "f1": "macro F1",
    "mcc": metric_title("mcc"),
}
"""The same for several labels, where there is no positive one."""


def _table_words(result: Result) -> list[str]:
    """Say how large the table is, its total weight, and how many rows were left out."""
    words = [used_words(result.data), *left_out_words(result.data)]
    words.append(count(result.data.attributes, "attribute"))
    weight = result.data.weight
    if weight is not None:
        words.append(f"counted by {visible(weight.column)}, {amount(weight.total)} in all")
    if result.data.dealing is not None:
        words.append(visible(dealing_words(result.data.dealing)))
    return words


def explain(formula: Formula, result: Result) -> str:
    """Say what kind of formula it is; one without conditions needs a reason."""
    if formula.literals == 0:
        same = f"constant: whatever the chosen attributes say, the answer is {formula.formula}"
        if formula.label is not None:
            return same
        positive = result.positive_share or 0.0
        agreeing = positive if formula.formula == "true" else 1 - positive
        frequent = ", the more frequent one" if agreeing > 0.5 else ""
        by_weight = f"; by weight, {share(positive)}" if result.data.weight is not None else ""
        rows = f"{result.data.positive_rows or 0:,} of {result.data.rows:,} rows"
        return f"{same}{frequent} ({rows} are positive{by_weight})"
    conditions = count(formula.literals, "condition")
    if formula.form == "checklist":
        size = f"a checklist of {conditions}"
    else:
        sizes = [count(formula.terms, "line"), conditions, length_words(formula)]
        size = ", ".join(filter(None, sizes))
    if formula.rank is None:
        return f"{size}; found by a search over all columns"
    return f"{size}; ranking {formula.rank}, {count(formula.ell, 'attribute')}"


def _write_silent(columns: Sequence[str], out: TextIO) -> None:
    """Write which columns tell no rows apart, and what to do if they should."""
    named = ", ".join(visible(name) for name in columns[:_MOST_NAMED])
    more = f" and {len(columns) - _MOST_NAMED:,} more" if len(columns) > _MOST_NAMED else ""
    words = (
        f"{named}{more}: the same in every row once cut; list columns of two values in "
        "data.boolean, or set other "
        "booleanize.cuts"
    )
    print(_filled("unused", words), file=out)


def _write_comparisons(result: Result, out: TextIO) -> None:
    """Write what the baselines of a spec came to in the same folds, unless they have lines of their
    own.
    """
    unasked = [
        name
        for name, competitor in COMPETITORS.items()
        if is_free(name) or competitor.shown is not None
    ]
    words_of = comparison_words(result, without=unasked)
    for place, words in enumerate(words_of):
        print(_filled("" if place else "compared", words), file=out)


def _write_truth(ideal: Method, box: Method | None, out: TextIO) -> None:
    """Write how often a formula and the classifier that it explains are right, if the truth is
    known.
    """
    if ideal.accuracy_mean is not None and box is not None and box.accuracy_mean is not None:
        print(f"accuracy   {100 * ideal.accuracy_mean:.1f} % of the formula, ", end="", file=out)
        print(f"{100 * box.accuracy_mean:.1f} % of the classifier", file=out)


_Ends = tuple[float | None, float | None]


def around(result: Result, mean: float, deviation: float | None, ends: _Ends = (None, None)) -> str:
    """Write a share with its deviation over folds, in percent; where that says nothing, with the
    ends of its interval.
    """
    if result.has_spread:
        return f"{share(mean)} ± {100 * (deviation or 0.0):.1f}"
    low, high = ends
    if low is None or high is None:
        return share(mean)
    return f"{share(mean)} ({100 * low:.1f} to {share(high)} at 95 %)"


def _formula_text(model: Model) -> str:
    """Write what the formula predicts, and each of its lines as conditions, on lines that fit the
    terminal.
    """
    head = visible(predicted(model))
    if not model.dnf.n_literals:
        return f"{head} for {'every' if model.dnf.terms else 'no'} row"
    lines = []
    for number, line in enumerate(model_lines(model)):
        texts, opening = (
            list(map(visible, said_texts(line.literals))),
            "  or " if number else "     ",
        )
        if line.at_least is None:
            lines.append(_wrapped(texts, opening))
        else:
            lines.append(f"{opening}at least {line.at_least} of these {len(texts)}:")
            lines += [f"       {text}" for text in texts]
    return "\n".join([f"{head} if", *lines])


def _wrapped(term: Sequence[str], opening: str) -> str:
    """Write the conditions of a term, breaking lines only between them."""
    width = terminal_width()
    lines = [opening + term[0]]
    for asked in term[1:]:
        if len(lines[-1]) + len(f" and {asked}") <= width:
            lines[-1] += f" and {asked}"
        else:
            lines.append(f"       and {asked}")
    return "\n".join(lines)


def _filled(label: str, words: str) -> str:
    """Return a labelled figure on lines that fit the terminal."""
    return _wrapped_words(words, initial_indent=f"{label:<11}", subsequent_indent=" " * 13)


def _wrapped_words(words: str, *, initial_indent: str = "", subsequent_indent: str) -> str:
    """Return words on lines that fit the terminal; names are not broken."""
    return textwrap.fill(
        words,
        terminal_width(),
        initial_indent=initial_indent,
        subsequent_indent=subsequent_indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def terminal_width() -> int:
    """Return how many letters of a line people see at most."""
    return min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns)
