"""What the figures of a run say, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dnfscale.experiment.outcome import METHOD_TITLES, Method, Outcome, Paired, method_title
from dnfscale.jobs.report.run import RunView
from dnfscale.method.explain import DELTA


def accuracy_words(outcome: Outcome) -> list[str]:
    """Say how accurate the formula is, and against what."""
    ideal = outcome.ideal
    if ideal is None:
        return []
    if not ideal.folds or ideal.accuracy_mean is None:
        return [*_training_words(outcome, ideal)]
    words = [_tested_words(outcome, ideal)]
    if outcome.majority_share is not None:
        words.append(
            f"Always giving the more frequent answer is right for {share(outcome.majority_share)} of the rows."
        )
    paper = outcome.paper
    if paper:
        told = paper.accuracies["ideal"]
        spread = f" ± {told.deviation:g}" if told.deviation is not None else ""
        words.append(f"The paper reports {told.mean:g} %{spread} for this method on this dataset.")
    return words


def comparison_words(outcome: Outcome) -> list[str]:
    """Say how the formula compares with the other methods in the same folds."""
    paired = {comparison.other: comparison for comparison in outcome.comparisons if comparison.method == "ideal"}
    words = []
    for method in outcome.methods:
        if method.name in ("ideal", "majority") or method.accuracy_mean is None:
            continue
        told = f": {difference_words(paired[method.name])}" if method.name in paired else failed_words(method)
        words.append(f"{method.title} {share(method.accuracy_mean)}{told}.")
    return words


def difference_words(paired: Paired) -> str:
    """Say a difference with its interval and what it shows."""
    shown = "the formula is more accurate" if paired.low > 0 else "it is more accurate" if paired.high < 0 else None
    return (
        f"{shown or 'no difference shown'} (the formula {signed(100 * paired.difference_mean)} points, "
        f"{100 * paired.level:.0f} % interval {signed(100 * paired.low)} to {signed(100 * paired.high)})"
    )


def failed_words(method: Method) -> str:
    """Say in how many folds a method failed; nothing where it did not."""
    failed = method.failed_folds
    return (
        f": over {len(method.folds) - failed} of {count(len(method.folds), 'fold')}, the others failed"
        if failed
        else ""
    )


def length_words(view: RunView) -> str | None:
    """Say how short the formula is known to be."""
    formula = view.formula
    if formula is None or formula.status is None or formula.literals == 0:
        return None
    return {
        "proven": "proven shortest",
        "bounded": f"at most {formula.gap_literals} longer than the shortest",
        "heuristic": "not proven shortest",
        "as_is": "as it came, not shortened",
    }.get(formula.status, formula.status)


def interval_words() -> str:
    """Say what the intervals beside the lines promise, and what not."""
    return (
        "Rows are those learned from. An interval is for the share of positives among new cases that meet its line: "
        f"with probability at least {100 * (1 - DELTA):g} % all of them hold, allowing for lines that were picked by "
        "these rows, but not for attributes that were."
    )


def certified_words(certificate: Mapping[str, Any]) -> list[str]:
    """Say what a certificate promises of the types; rounding adds nothing to a promise."""
    mass = math.floor(1000 * certificate["certified_mass_at_least"]) / 10
    excess = math.ceil(1000 * certificate["excess_error_at_most"]) / 10
    return [
        f"Of the {count(certificate['types'], 'combination')} of attribute values {certificate['types_seen']:,} occur. "
        f"For {certificate['types_certified']:,} of these, which hold {share(certificate['certified_share'])} of the "
        f"rows and at least {mass:.1f} % of the population, the rows show that the answer is the best possible.",
        f"Of all cases, the formula gets at most {excess:.1f} % more wrong than the best formula of these attributes.",
    ]


def suite_words(views: Sequence[RunView]) -> list[str]:
    """Say what several runs show together."""
    words = []
    outcomes = [view.outcome for view in views]
    paired = [paired for outcome in outcomes for paired in outcome.comparisons]
    comparisons = [each for each in paired if each.method == "ideal" and each.other != "majority"]
    for other in dict.fromkeys(paired.other for paired in comparisons):
        these = [paired for paired in comparisons if paired.other == other]
        better = sum(paired.low > 0 for paired in these)
        worse = sum(paired.high < 0 for paired in these)
        words.append(
            f"Formula against {_lowered(method_title(other))}, {count(len(these), 'run')}: no difference shown in "
            f"{len(these) - better - worse}, the formula more accurate in {better}, the other in {worse}."
        )
    told = [(o.ideal.accuracy_mean, o.paper.accuracies["ideal"]) for o in outcomes if o.paper and o.ideal]
    known = [(100 * mean, paper) for mean, paper in told if mean is not None and paper.deviation is not None]
    if len(known) > 1:
        close = sum(abs(mean - paper.mean) <= (paper.deviation or 0) for mean, paper in known)
        words.append(
            f"Against the paper's own figures for this method: on {close} of {len(known)} datasets our mean lies "
            "within one of its standard deviations."
        )
    return words


def share(value: float) -> str:
    """Write a share as a percentage."""
    return f"{100 * value:.1f} %"


def signed(value: float) -> str:
    """Write a number with its sign; one that rounds to zero has none."""
    text = f"{value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")


def count(number: int, noun: str) -> str:
    """Write a number of things."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def duration(seconds: float) -> str:
    """Write a time in few letters: 0.07 s, 12 s, 45 min, 2.5 h."""
    if seconds < 100:
        return f"{seconds:.{2 if seconds < 1 else 1 if seconds < 10 else 0}f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _tested_words(outcome: Outcome, ideal: Method) -> str:
    accuracies = [fold.accuracy for fold in ideal.folds if fold.accuracy is not None]
    mean = ideal.accuracy_mean or 0.0
    if outcome.leaves_one_out:
        right = round(sum(accuracies))
        return (
            f"Each of the {len(accuracies):,} rows was left out in turn and predicted from the others: "
            f"{right:,} came out right, {share(mean)}."
        )
    return (
        f"Formulas learned this way, each tested on rows it had not seen, were right for {share(mean)} of them on "
        f"average ({count(len(accuracies), 'fold')}, from {share(min(accuracies))} to {share(max(accuracies))}, "
        f"standard deviation {100 * (ideal.accuracy_std or 0.0):.1f} points)."
    )


def _training_words(outcome: Outcome, ideal: Method) -> list[str]:
    if ideal.training_accuracy is None:
        return []
    return [
        f"The formula is right for {share(ideal.training_accuracy)} of the {outcome.rows:,} rows it was learned from.",
        "How it does on other rows was not measured; a job of the kind «study» measures it.",
    ]


def _lowered(title: str) -> str:
    """Return a title as it stands inside a sentence."""
    return title if title not in METHOD_TITLES.values() or title == "XGBoost" else title[0].lower() + title[1:]
