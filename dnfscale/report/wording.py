"""What the figures of a run say, in plain sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dnfscale.method.explain import DELTA
from dnfscale.report.run import RunView
from dnfscale.report.titles import (
    is_constant,
    method_title,
    paper_of,
    shown_comparisons,
    shown_methods,
)
from dnfscale.results.formula import Formula
from dnfscale.results.method import Comparison, Method, Objective
from dnfscale.results.result import IDEAL, Result
from dnfscale.spec.registry import BLACK_BOX


def accuracy_words(result: Result) -> list[str]:
    """Say how accurate the formula is, and what to compare with; if it explains a classifier, how
    faithful it is.
    """
    ideal = result.ideal
    if ideal is None:
        return []
    if result.explains:
        return _fidelity_words(result, ideal)
    if ideal.accuracy_mean is None or all(fold.accuracy is None for fold in ideal.folds):
        return [*_training_words(result, ideal)]
    words = [_tested_words(result, ideal)]
    if result.majority_share is not None:
        answer = "most frequent label" if result.data.classes else "more frequent answer"
        words.append(
            f"Always giving the {answer} is right for {share(result.majority_share)} of the rows."
        )
    objective = ideal.objective
    if objective is not None and objective.mean is not None:
        words.append(
            "But the formula was not learned for accuracy; on the same test rows it comes "
            f"to {share(objective.mean)} "
            f"{objective_words(objective)}."
        )
        if objective.constant_mean is not None:
            words.append(
                f"Always giving the same answer comes to {share(objective.constant_mean)}."
            )
    paper = paper_of(result)
    if paper:
        told = paper.accuracies[IDEAL]
        spread = f" ± {told.deviation:g}" if told.deviation is not None else ""
        words.append(f"The paper reports {told.mean:g} %{spread} for its method on this dataset.")
    return words


def comparison_words(result: Result, without: Collection[str] = ()) -> list[str]:
    """Say how the formula compares with the other methods in the same folds; some may be
    left out.
    """
    paired = {
        comparison.other: comparison
        for comparison in shown_comparisons(result)
        if comparison.method == IDEAL
    }
    words = []
    for name, method in shown_methods(result):
        if name in (IDEAL, *without) or is_constant(name) or method.accuracy_mean is None:
            continue
        told = f": {difference_words(paired[name])}" if name in paired else failed_words(method)
        words.append(f"{method_title(name)} {share(method.accuracy_mean)}{told}.")
    return words


def objective_title(objective: Objective) -> str:
    """Return what an objective is called."""
    return "expected cost" if objective.name == "cost" else objective_words(objective)


def objective_words(objective: Objective) -> str:
    """Return an objective in words that can follow its mean as a percentage."""
    if objective.name == "cost" and objective.threshold:
        miss, alarm = 1 - objective.threshold, objective.threshold
        times = f"{max(miss, alarm) / max(min(miss, alarm), 1e-9):.3g}"
        costly, cheap = ("miss", "false alarms") if miss > alarm else ("false alarm", "misses")
        return f"of the cost avoided, where a {costly} costs as much as {times} {cheap}"
    return {"f_beta": f"F-score with beta {objective.beta or 1:g}"}.get(
        objective.name, objective.name.replace("_", " ")
    )


def difference_words(paired: Comparison) -> str:
    """Write a difference with its interval and what it shows."""
    shown = (
        "the formula is more accurate"
        if paired.low > 0
        else "it is more accurate"
        if paired.high < 0
        else None
    )
    return (
        f"{shown or 'no difference shown'} (the formula "
        f"{signed(100 * paired.difference_mean)} points, "
        f"{100 * paired.level:.0f} % interval {signed(100 * paired.low)} to "
        f"{signed(100 * paired.high)})"
    )


def failed_words(method: Method) -> str:
    """Say in how many folds a method failed; empty if in none."""
    failed = method.failed_folds
    return (
        (
            f": over {len(method.folds) - failed} of {count(len(method.folds), 'fold')}, the "
            "others failed"
        )
        if failed
        else ""
    )


def length_words(formula: Formula | None) -> str | None:
    """Say how short a formula is known to be."""
    minimized = formula.minimized if formula is not None and formula.literals else None
    if minimized is None:
        return None
    if minimized.status == "bounded" and minimized.gap_literals is not None:
        return f"at most {count(minimized.gap_literals, 'literal')} longer than the shortest"
    return {
        "proven": "proven shortest",
        "heuristic": "not proven shortest",
        "simplified": "simplified by SymPy, not proven shortest",
        "as_is": "as it came, not shortened",
    }.get(minimized.status, minimized.status)


def interval_words(what: str, each: str = "of them") -> str:
    """Say what the intervals beside the lines promise, and what not, for shares of `what`; all
    `each` hold together.
    """
    return (
        f"Rows are those learned from. An interval is for the share of {what} among new "
        "cases that meet its line. With "
        f"probability at least {100 * (1 - DELTA):g} % all {each} hold. This accounts for "
        "choosing the lines on these "
        "rows, but not for choosing the attributes on them."
    )


def suite_words(views: Sequence[RunView]) -> list[str]:
    """Say what several runs show together."""
    words = []
    results = [view.result for view in views]
    paired = [paired for result in results for paired in shown_comparisons(result)]
    comparisons = [
        each
        for each in paired
        if each.method == IDEAL and each.other != BLACK_BOX and not is_constant(each.other)
    ]
    for other in dict.fromkeys(paired.other for paired in comparisons):
        these = [paired for paired in comparisons if paired.other == other]
        better = sum(paired.low > 0 for paired in these)
        worse = sum(paired.high < 0 for paired in these)
        name, same = _lowered(method_title(other)), len(these) - better - worse
        found = [
            ("no difference shown", same),
            ("the formula more accurate", better),
            (f"{name} more accurate", worse),
        ]
        said = ", ".join(f"{result} in {n}" for result, n in found if n)
        words.append(f"Formula against {name}, {count(len(these), 'run')}: {said}.")
    papers = [(result.ideal, paper_of(result)) for result in results]
    told = [
        (ideal.accuracy_mean, paper.accuracies[IDEAL]) for ideal, paper in papers if ideal and paper
    ]
    known = [
        (100 * mean, paper)
        for mean, paper in told
        if mean is not None and paper.deviation is not None
    ]
    if len(known) > 1:
        close = sum(abs(mean - paper.mean) <= (paper.deviation or 0) for mean, paper in known)
        words.append(
            f"Against the paper's own figures for this method: in {close} of {len(known)} "
            "runs our mean lies "
            "within one of its standard deviations."
        )
    return words


def share(value: float) -> str:
    """Write a share as a percentage."""
    return f"{100 * value:.1f} %"


def signed(value: float) -> str:
    """Write a number with its sign; a number that rounds to zero has none."""
    text = f"{value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")


def count(number: int, noun: str) -> str:
    """Write a number with its noun, in the plural unless it is 1."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def extent(numbers: Sequence[int]) -> str:
    """Write numbers as the range from the least to the greatest."""
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def duration(seconds: float) -> str:
    """Write a time in few letters: 0.07 s, 12 s, 45 min, 2.5 h."""
    if seconds < 100:
        return f"{seconds:.{2 if seconds < 1 else 1 if seconds < 10 else 0}f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _tested_words(result: Result, ideal: Method) -> str:
    accuracies = [fold.accuracy for fold in ideal.folds if fold.accuracy is not None]
    mean = ideal.accuracy_mean or 0.0
    if result.leaves_one_out:
        right = round(sum(accuracies))
        return (
            f"Each of the {len(accuracies):,} rows was left out in turn and predicted from "
            "the others: "
            f"{right:,} came out right, {share(mean)}."
        )
    return (
        "Formulas learned this way, each tested on rows it had not seen, were right for "
        f"{share(mean)} of them on "
        f"average ({count(len(accuracies), 'fold')}, from {share(min(accuracies))} to "
        f"{share(max(accuracies))}, "
        f"standard deviation {100 * (ideal.accuracy_std or 0.0):.1f} points)."
    )


def _fidelity_words(result: Result, ideal: Method) -> list[str]:
    meaning = (
        "This is the fidelity: how well the formula stands in for the classifier, right or wrong."
    )
    if ideal.fidelity_mean is None:
        if ideal.training_accuracy is None:
            return []
        return [
            "The formula answers as the classifier does for "
            f"{share(ideal.training_accuracy)} of the "
            f"{result.data.rows:,} rows it was learned from. {meaning}",
            "How it does on other rows was not measured.",
        ]
    found = [fold.fidelity for fold in ideal.folds if fold.fidelity is not None]
    mean = ideal.fidelity_mean
    if result.leaves_one_out or not found:
        words = (
            "Formulas learned without a row answered as the classifier does for "
            f"{share(mean)} of the rows."
        )
    else:
        words = (
            "Formulas learned this way, each tested on rows it had not seen, answered as "
            "the classifier does for "
            f"{share(mean)} of them on average ({count(len(found), 'fold')}, from "
            f"{share(min(found))} to "
            f"{share(max(found))}, standard deviation "
            f"{100 * (ideal.fidelity_std or 0.0):.1f} points)."
        )
    box = result.methods.get(BLACK_BOX)
    if ideal.accuracy_mean is None or box is None or box.accuracy_mean is None:
        return [
            words,
            meaning,
            "How often either of them is right was not measured: the true answers are not known.",
        ]
    return [
        words,
        meaning,
        f"Against the truth, the formula is right for {share(ideal.accuracy_mean)} of "
        "these rows and the classifier "
        f"for {share(box.accuracy_mean)}; if it was trained on some of them, it looks "
        "better here than it is.",
    ]


def _training_words(result: Result, ideal: Method) -> list[str]:
    if ideal.training_accuracy is None:
        return []
    right = share(ideal.training_accuracy)
    return [
        f"The formula is right for {right} of the {result.data.rows:,} rows it was learned from.",
        'How it does on other rows was not measured; a job with kind = "study" measures it.',
    ]


def _lowered(title: str) -> str:
    """Return a title as it stands inside a sentence."""
    is_name = not title[1:].islower()
    return title if is_name else title[0].lower() + title[1:]
