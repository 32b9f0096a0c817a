"""What the figures of a run say, in plain sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dnfscale.errors import visible
from dnfscale.method.explain import DELTA
from dnfscale.report.run import FormulaView, RunView
from dnfscale.report.titles import (
    is_constant,
    method_title,
    paper_of,
    shown_comparisons,
    shown_methods,
)
from dnfscale.results.formula import Formula
from dnfscale.results.method import Comparison, FrontierPoint, Method, Objective
from dnfscale.results.result import IDEAL, Data, Dealing, Result
from dnfscale.spec.registry import BLACK_BOX

_MOST_GAPS = 5


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
    words = [*_shown_words(ideal), _tested_words(result, ideal)]
    if result.majority_share is not None:
        answer = "most frequent label" if result.data.classes else "more frequent answer"
        words.append(
            f"Always giving the {answer} is right for {share(result.majority_share)} of the rows."
        )
    objective = ideal.objective
    if objective is not None and objective.mean is not None:
        words.append(
            "But the formula was not learned for accuracy; on the same test rows the procedure "
            f"reaches {share(objective.mean)} "
            f"{objective_words(objective)}."
        )
        if objective.constant_mean is not None:
            words.append(f"Always giving the same answer reaches {share(objective.constant_mean)}.")
    paper = paper_of(result)
    if paper:
        told = paper.accuracies[IDEAL]
        spread = f" ± {told.deviation:g}" if told.deviation is not None else ""
        words.append(f"The paper reports {told.mean:g} %{spread} for its method on this dataset.")
    return words


def summary_words(view: RunView) -> list[str]:
    """Say in three sentences what was learned, how good it is on unseen rows, and how sure that is;
    fewer where less is known.
    """
    told = [_formula_words(view), _good_words(view.result), _sure_words(view.result)]
    return [words for words in told if words is not None]


def _formula_words(view: RunView) -> str | None:
    learned = [formula.learned for formula in view.formulas if formula.learned is not None]
    if not learned:
        return None
    lines = sum(formula.terms for formula in learned)
    literals = sum(formula.literals for formula in learned)
    if view.has_labels:
        size = f"{count(literals, 'condition')} in {count(lines, 'line')}"
        return f"Each of the {len(learned)} labels has a formula of its own, {size} in all."
    if not literals:
        return "The formula found is constant."
    size = count(literals, "condition") + ("" if lines == 1 else f" in {count(lines, 'line')}")
    [formula] = view.formulas
    return f"A formula of {size} tells whether {visible(_asked(formula))}."


def _asked(formula: FormulaView) -> str:
    return (
        "the classifier answers yes"
        if formula.explains
        else formula.positive or "a row is positive"
    )


def _good_words(result: Result) -> str | None:
    ideal = result.ideal
    if ideal is None:
        return None
    tested = ideal.fidelity_mean if result.explains else ideal.accuracy_mean
    right = "answers as the classifier does" if result.explains else "is right"
    if tested is None:
        if ideal.training_accuracy is None:
            return None
        learned = share(ideal.training_accuracy)
        return f"It {right} for {learned} of the {result.data.rows:,} rows it was learned from."
    if ideal.objective is not None and ideal.objective.mean is not None:
        return _objective_sentence(ideal.objective, ideal.objective.mean, _shown_objective(ideal))
    point = None if result.explains else ideal.shown_point
    which = "as short as this one" if point else "learned this way"
    rights = "answer as the classifier does" if result.explains else "are right"
    value = tested if point is None else point.accuracy_mean
    plain = ""
    if result.majority_share is not None and not result.explains:
        plain = f"; always giving the same answer is right for {share(result.majority_share)}"
    return f"On unseen rows, formulas {which} {rights} for {share(value)} of them{plain}."


def _objective_sentence(objective: Objective, mean: float, shown: float | None) -> str:
    plain = ""
    if objective.constant_mean is not None:
        plain = f"; always giving the same answer reaches {share(objective.constant_mean)}"
    what = f" {objective_words(objective)}" if objective.name == "cost" else ""
    which = "formulas learned this way" if shown is None else "formulas as short as this one"
    return (
        f"It was learned for {objective_title(objective)}: on unseen rows, {which} reach "
        f"{share(mean if shown is None else shown)}{what}{plain}."
    )


def _shown_objective(ideal: Method) -> float | None:
    """Return how good formulas of the length of the one shown are at what they were learned for, if
    that was measured.
    """
    point, objective = ideal.shown_point, ideal.objective
    if point is None or objective is None:
        return None
    if point.objective_mean is not None:
        return point.objective_mean
    # The metric of this name is what is paid, the objective the share that is avoided.
    return None if objective.name == "cost" else point.metrics.get(objective.name)


def _sure_words(result: Result) -> str | None:
    """Say how far the figure on unseen rows can be trusted."""
    ideal = result.ideal
    if ideal is None or (ideal.accuracy_mean is None and ideal.fidelity_mean is None):
        if ideal is None or ideal.training_accuracy is None:
            return None
        return 'How it does on other rows was not measured; kind = "study" measures it.'
    if result.explains:
        return None
    objective = ideal.objective
    point = ideal.shown_point
    metric = ideal.metrics.get("accuracy" if objective is None else objective.name)
    ends: tuple[float | None, float | None] = (None, None)
    if point is not None:
        of_objective = point.objective_low, point.objective_high
        ends = (point.low, point.high) if objective is None else of_objective
    is_of_point = point is not None and (objective is None or ends[0] is not None)
    if not is_of_point and metric is not None:
        ends = metric.low, metric.high
    low, high = ends
    found = [fold.accuracy for fold in ideal.folds if fold.accuracy is not None]
    if low is not None and high is not None:
        # Without one of its own, the interval is that of the procedure.
        whose = "that share"
        if not is_of_point and _shown_objective(ideal) is not None:
            whose = "what the procedure reaches, which chooses the length anew in each fold,"
        words = f"With 95 % confidence, {whose} lies between {share(low)} and {share(high)}"
    elif found and result.has_spread and objective is None:
        words = f"Over {count(len(found), 'fold')} it went from {share(min(found))} to "
        words += share(max(found))
    else:
        return None
    return f"{words}, for new rows that are like those tested."


def used_words(data: Data) -> str:
    """Say how many rows of the files were used, and why not all."""
    if not data.rows_dropped:
        return f"{data.rows:,} rows"
    return f"of {data.rows + data.rows_dropped:,} rows in the files, {data.rows:,} were used"


def left_out_words(data: Data) -> list[str]:
    """Say how many rows were left out for each reason."""
    weightless = 0 if data.weight is None else data.weight.rows_without
    gaps = data.rows_dropped - weightless - data.rows_without_target
    said = []
    if gaps:
        costs = [f"{visible(gap.column)} {gap.rows:,}" for gap in data.gaps[:_MOST_GAPS]]
        costs += [f"{len(data.gaps) - _MOST_GAPS} more columns"] * (len(data.gaps) > _MOST_GAPS)
        named = f" ({', '.join(costs)})" if costs else ""
        said.append(f"{gaps:,} dropped for missing values{named}")
    if data.rows_without_target:
        said.append(f"{data.rows_without_target:,} without a target")
    if weightless:
        said.append(f"{weightless:,} of weight 0 left out")
    return said


def dealing_words(dealing: Dealing) -> str:
    """Say how rows were dealt into folds."""
    ways = []
    if dealing.tested == "holdout":
        ways.append("tested on rows held out of all learning")
    if dealing.tested == "test":
        ways.append("tested on files that nothing is learned from")
    if dealing.tested == "time":
        ways.append(f"tested later in {dealing.column} than learned")
    if dealing.tested == "by":
        ways.append(f"each {dealing.column} tested by a fold of its own")
    if dealing.group is not None:
        groups = "very many groups" if dealing.groups is None else count(dealing.groups, "group")
        ways.append(f"{groups} of {dealing.group} kept together")
    if dealing.stratified:
        ways.append("labels in proportion")
    return ", ".join(ways)


def doubt_words(result: Result) -> str | None:
    """Say what a reader must know first: that a formula answers all rows alike, or nearly so, or is
    no better than that; why, and what to try. None if there is nothing of the kind.
    """
    ideal = result.ideal
    if ideal is None or len(ideal.models) != 1 or result.data.classes:
        return None
    formula = ideal.models[0]
    shown = ideal.shown_point
    found = shown.metrics if shown else {name: each.pooled for name, each in ideal.metrics.items()}
    sensitivity, specificity = found.get("sensitivity"), found.get("specificity")
    if formula.literals == 0:
        doubt = "The formula is constant: it gives every row the same answer"
    elif sensitivity is not None and sensitivity < _RARELY:
        doubt = f"Formulas of this length find only {share(sensitivity)} of the positive test rows"
    elif specificity is not None and specificity < _RARELY:
        doubt = f"Formulas of this length clear only {share(specificity)} of the negative test rows"
    else:
        return _futile_words(result, ideal)
    return f"{doubt}. {_doubt_reason(result, ideal)}"


def _futile_words(result: Result, ideal: Method) -> str | None:
    """Say that the same answer for all rows would be as good, if so."""
    shown, objective = ideal.shown_point, ideal.objective
    if objective is not None:
        reached = objective.mean if shown is None else shown.objective_mean
        constant, what = objective.constant_mean, f"reach {{}} {objective_words(objective)}"
    else:
        reached = ideal.accuracy_mean if shown is None else shown.accuracy_mean
        tested = ideal.confusion if shown is None else shown.confusion
        constant = None if tested is None else tested.majority
        what = "are right for {} of the test rows"
    if result.explains or reached is None or constant is None or reached > constant:
        return None
    return (
        f"Formulas of this length {what.format(share(reached))}; the same answer for all rows "
        f"comes to {share(constant)}. These columns tell little of the target, or the rows are too "
        "few; try others, or more."
    )


def _doubt_reason(result: Result, ideal: Method) -> str:
    if ideal.objective is not None:
        return (
            "No longer formula did better by enough on validation rows; try select.tolerance = 0, "
            "or other columns."
        )
    positive = result.positive_share or 0.0
    return (
        f"Formulas were learned for accuracy, and {share(positive)} of the rows are positive; try "
        'formula.objective = "balanced_accuracy", or set formula.threshold to what errors '
        "cost."
    )


_RARELY = 0.1
"""Answers that are right for fewer than this share of a class are doubtful."""


def tested_words(result: Result, method: Method) -> str:
    """Say on which rows a method was tested: in so many folds, or otherwise."""
    folds = method.folds
    if result.leaves_one_out:
        return f"over {count(len(folds), 'row')}, each left out in turn"
    if len(folds) == 1:
        rows = folds[0].test_rows
        return "on one test part" if rows is None else f"on one test part of {count(rows, 'row')}"
    return f"over {count(len(folds), 'test fold')}"


def length_bound(point: FrontierPoint) -> str:
    """Say which formulas a point of the frontier stands for."""
    if point.ell is not None:
        return f"formulas of {count(point.ell, 'attribute')}"
    if not point.literals:
        return "formulas without conditions"
    return f"formulas of at most {count(point.literals, 'condition')}"


def _shown_words(ideal: Method) -> list[str]:
    """Say what formulas of the length of the one shown come to, if it was tested."""
    point = ideal.shown_point
    if point is None:
        return []
    between = ""
    if point.low is not None and point.high is not None:
        between = f", {share(point.low)} to {share(point.high)} at 95 %"
    bound = length_bound(point)
    return [
        f"{bound[0].upper()}{bound[1:]}, as this one, each tested on rows it had not seen, were "
        f"right for {share(point.accuracy_mean)} of them{between}."
    ]


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
        if name in (IDEAL, *without) or is_constant(name):
            continue
        if method.accuracy_mean is None:
            reason = failure_words(method)
            words += [] if reason is None else [f"{method_title(name)}: {reason}."]
            continue
        told = f": {difference_words(paired[name])}" if name in paired else failed_words(method)
        told += fitted_words(method, result.data.rows)
        words.append(f"{method_title(name)} {_reached_words(method, paired.get(name))}{told}.")
    return words


def _reached_words(method: Method, paired: Comparison | None) -> str:
    """Say what a method comes to in what it is compared by."""
    if paired is None or paired.mean is None:
        return share(method.accuracy_mean or 0.0)
    value = f"{paired.mean:.3f}" if paired.metric == "cost" else share(paired.mean)
    return f"{value} {compared_metric(paired)}"


_FEW_TRIALS = 10
"""Fewer tuning trials than this are no fair comparison."""


def few_trials(method: Method) -> int | None:
    """Return how many trials a method was tuned by, if they are too few for a fair comparison."""
    trials = [fold.tuning.trials for fold in method.folds if fold.tuning is not None]
    return min(trials) if trials and min(trials) < _FEW_TRIALS else None


def fitted_words(method: Method, rows: int) -> str:
    """Say how a method was fitted, unless to all rows in one process in its own time; empty if it
    was so.
    """
    trials = few_trials(method)
    words = ""
    if trials is not None:
        words = f"; no fair comparison: only {count(trials, 'tuning trial')} a fold"
    if method.sample_rows is not None and method.sample_rows < rows:
        words += f"; fitted to a sample of {method.sample_rows:,} of {count(rows, 'row')}"
    elif not method.reproducible:
        words += "; fitted by all workers together"
    cut = [fold.tuning for fold in method.folds if fold.tuning and fold.tuning.cut_short]
    if cut:
        done = sum(tuning.trials for tuning in cut)
        words += f"; the time limit left {count(done, 'trial')} in {count(len(cut), 'fold')}"
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


def better_words(paired: Comparison) -> str:
    """Say what the better of two methods is, after its name."""
    return {"accuracy": "is more accurate", "cost": "costs less"}.get(paired.metric, "is better")


def compared_metric(paired: Comparison) -> str:
    """Return what two methods were compared by."""
    return {"cost": "expected cost", "f_beta": "F-score"}.get(
        paired.metric, paired.metric.replace("_", " ")
    )


def difference_words(paired: Comparison) -> str:
    """Write a difference with its interval and what it shows."""
    better = better_words(paired)
    shown = (
        f"the formula {better}" if paired.low > 0 else f"it {better}" if paired.high < 0 else None
    )
    return (
        f"{shown or 'no difference shown'} (the formula "
        f"{signed(100 * paired.difference_mean)} points, "
        f"{100 * paired.level:.0f} % interval {signed(100 * paired.low)} to "
        f"{signed(100 * paired.high)})"
    )


def failure_words(method: Method) -> str | None:
    """Say why a method has no figures at all; None if it has some, or did not fail."""
    reasons = [fold.error for fold in method.folds if fold.error is not None]
    if not reasons or len(reasons) < len(method.folds):
        return None
    return f"no result, as it failed: {visible(reasons[0])}"


def failed_words(method: Method) -> str:
    """Say in how many folds a method failed; empty if in none."""
    failed, reason = method.failed_folds, failure_words(method)
    if reason is not None:
        return f": {reason}"
    return (
        (
            f": over {len(method.folds) - failed} of {count(len(method.folds), 'fold')}, the "
            "others failed"
        )
        if failed
        else ""
    )


def stability_sentence(ideal: Method | None) -> str:
    """Say the same on a page, and what it means; nothing if it is not known."""
    if ideal is None or ideal.stability is None:
        return ""
    return (
        f" On average {stability_words(ideal)}: conditions match where column and direction agree "
        "and at most a 64th of the rows lies between their cuts."
    )


def stability_words(ideal: Method) -> str:
    """Say how much the formulas of two folds have in common."""
    conditions, columns = 100 * (ideal.stability or 0), 100 * (ideal.columns_shared or 0)
    return (
        f"{conditions:.0f} % of the conditions of two folds match, "
        f"{columns:.0f} % of their columns are shared"
    )


def lines_words(formulas: Sequence[Formula]) -> str:
    """Say how many lines formulas have; a checklist is no line."""
    checklists = sum(formula.form == "checklist" for formula in formulas)
    lines = sum(formula.terms for formula in formulas if formula.form != "checklist")
    told = [count(lines, "line")] * bool(lines) + [count(checklists, "checklist")] * bool(
        checklists
    )
    return ", ".join(told)


def length_words(formula: Formula | None) -> str | None:
    """Say how short a formula is known to be."""
    minimized = formula.minimized if formula is not None and formula.literals else None
    if minimized is None or formula is None or formula.form == "checklist":
        return None
    if minimized.status == "bounded" and minimized.gap_literals is not None:
        return f"at most {count(minimized.gap_literals, 'condition')} longer than the shortest"
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
        f"Rows are those learned from. An interval is for the share of {what} among new cases that "
        f"meet its line; with {100 * (1 - DELTA):g} % confidence, all {each} hold. It allows for "
        "choosing the lines on these rows, but not for choosing what they ask about."
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


MISSING_WORDS = "a condition on it does not hold; its negation, such as ≤ or ≠, then does"
"""What becomes of a missing value."""


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
    if len(accuracies) == 1:
        return f"The procedure as a whole was right for {share(mean)} of the rows held out."
    opening = "Formulas learned this way, each tested on rows it had not seen,"
    if ideal.shown_point is not None:
        opening = (
            "The procedure as a whole, which chooses the length anew in each fold, gave formulas "
            "that"
        )
    return (
        f"{opening} were right for "
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
    if not result.has_spread or not found:
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
