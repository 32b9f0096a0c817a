"""Charts that set methods, runs and the paper side by side: accuracies, differences, run times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dnfscale.report.charts import (
    Axis,
    Chart,
    Group,
    Row,
    bar,
    difference_axis,
    dot,
    log_axis,
    panels,
)
from dnfscale.report.markup import Html, element
from dnfscale.report.parts import Place, Section, card, figure, legend, sign
from dnfscale.report.run import RunView
from dnfscale.report.tables import accuracy_table, comparison_table, runtime_table, split_seconds
from dnfscale.report.titles import (
    is_constant,
    look_of,
    method_order,
    method_title,
    paper_of,
    shown_comparisons,
    shown_methods,
)
from dnfscale.report.wording import duration, failed_words, signed
from dnfscale.results.method import Comparison
from dnfscale.results.result import IDEAL, Result
from dnfscale.spec.registry import BLACK_BOX

_GOAL = "what formulas were learned for"
_SHORTEST_S = 1e-9
"""No clock measures less; the axis of times is logarithmic."""
_ACCURACY = Axis(0, 100, ((0, "0"), (25, "25"), (50, "50"), (75, "75"), (100, "100")), "%")


def accuracy_chart(key: str, views: Sequence[RunView]) -> Chart | None:
    """Chart the accuracies of all methods like the paper's Figure 1; None if nothing was tested."""
    groups = _filled(
        Group(view.label, _accuracy_rows(view.result), _literature(view.result)) for view in views
    )
    return Chart(key, "Accuracy by dataset and method", _ACCURACY, groups, bar) if groups else None


def difference_chart(key: str, views: Sequence[RunView]) -> Chart | None:
    """Chart the paired comparisons; None where there are none."""
    groups = _filled(Group(view.label, _difference_rows(view.result)) for view in views)
    if not groups:
        return None
    ends = [
        end for group in groups for row in group.rows for end in (row.value, *(row.interval or ()))
    ]
    by_goal = any(
        paired.metric != "accuracy" for view in views for paired in shown_comparisons(view.result)
    )
    title = f"Difference in {_GOAL if by_goal else 'accuracy'} over the same folds"
    return Chart(key, title, difference_axis(ends, "points"), groups, dot, zero_line=True)


def runtime_chart(key: str, views: Sequence[RunView]) -> Chart | None:
    """Chart the run times beside the paper's; None where none are known."""
    groups = _filled(Group(view.label, _time_rows(view.result)) for view in views)
    if not groups:
        return None
    rows = [row for group in groups for row in group.rows]
    times = [row.value for row in rows] + [row.paper for row in rows if row.paper is not None]
    return Chart(key, "Seconds per split", log_axis(times, "s"), groups, dot)


def accuracy_card(place: Place, views: Sequence[RunView]) -> Section | None:
    """Return the accuracies of all methods; None where nothing was tested."""
    chart = accuracy_chart(place.id("accuracy-chart"), views)
    if chart is None:
        return None
    results = [view.result for view in views]
    caption = (
        "Share of rows predicted right among those not learned from: the mean over folds, "
        "and one standard deviation "
        "around it."
    )
    if not all(result.has_spread for result in results):
        caption += " Where one part was tested, or each fold is one row, there is none to show."
    if any(result.methods.get(BLACK_BOX) for result in results):
        caption += (
            " A classifier that is explained may have learned from the same rows, and "
            "then looks too good."
        )
    if any(group.reference is not None for group in chart.groups):
        caption += (
            " Literature figures are those the paper quotes; they were found under other "
            "conditions."
        )
    drawing = figure(
        panels(chart), caption, accuracy_table(results), unfolded=len(chart.groups) > 1
    )
    failed = [
        f"{view.label}: {method_title(name)}{failed_words(method)}."
        for view in views
        for name, method in shown_methods(view.result)
        if method.failed_folds
    ]
    notes = [element("p", words, class_="note") for words in failed]
    return card(
        place, "accuracy", "Accuracy", legend(accuracy_signs(chart.groups)), drawing, *notes
    )


def difference_card(place: Place, views: Sequence[RunView]) -> Section | None:
    """Return the paired comparisons; None where there are none."""
    chart = difference_chart(place.id("difference-chart"), views)
    if chart is None:
        return None
    results = [view.result for view in views]
    firsts = dict.fromkeys(
        paired.method for result in results for paired in shown_comparisons(result)
    )
    caption = (
        f"{' or '.join(map(method_title, firsts))} minus the method named, in percentage "
        "points, with a corrected "
        "resampled t-interval (folds share most of their training rows). Right of 0 the "
        "first is better, left "
        "of 0 the other; an interval that holds 0 shows no difference."
    )
    drawing = figure(panels(chart), caption, comparison_table(results))
    return card(
        place, "comparisons", "Is one method better than another?", drawing, short="Comparison"
    )


def runtime_card(place: Place, views: Sequence[RunView]) -> Section | None:
    """Return the run times beside the paper's; None where none are known."""
    chart = runtime_chart(place.id("runtime-chart"), views)
    if chart is None:
        return None
    results = [view.result for view in views]
    has_paper = any(row.paper is not None for group in chart.groups for row in group.rows)
    caption = (
        "Seconds for one split, each grid line ten times the one before it. Ours is the "
        "time of all splits, which are "
        "computed together, divided by their number; a tuned method's is that of fitting "
        "in all its trials."
        if any(result.n_folds for result in results)
        else "Seconds, each grid line ten times the one before it."
    )
    if len(views) > 1:
        caption += (
            " Jobs that share their workers wait for each other, and a run's time includes that."
        )
    if has_paper:
        caption += " The paper's times were measured on its authors' laptop."
    drawing = figure(panels(chart), caption, runtime_table(results))
    return card(
        place, "runtime", "Run time", legend([paper_sign()]) if has_paper else None, drawing
    )


def accuracy_signs(groups: Sequence[Group]) -> list[tuple[Html, str]]:
    """Return the signs of an accuracy chart and what they mean."""
    rows = [row for group in groups for row in group.rows]
    first = {row.method: row for row in rows}
    entries = [
        (sign(element("rect", x=1, y=1, width=20, height=12, class_=f"bar {row.hue}")), row.name)
        for row in first.values()
    ]
    if any(row.interval for row in rows):
        cap = [element("line", x1=x, x2=x, y1=3.5, y2=10.5, class_="interval") for x in (2, 20)]
        whisker = element("line", x1=2, x2=20, y1=7, y2=7, class_="interval")
        entries.append((sign(whisker, *cap), "± one standard deviation"))
    if any(row.paper is not None for row in rows):
        entries.append(paper_sign())
    if any(group.reference is not None for group in groups):
        mark = sign(element("line", x1=11, x2=11, y1=0, y2=14, class_="reference"))
        entries.append((mark, "literature, as the paper quotes it"))
    return entries


def paper_sign() -> tuple[Html, str]:
    """Return the sign of the paper's figures and what it means."""
    return sign(
        element("line", x1=11, x2=11, y1=0, y2=14, class_="paper")
    ), "the paper's own figure"


def _filled(groups: Iterable[Group]) -> tuple[Group, ...]:
    return tuple(group for group in groups if group.rows)


def _accuracy_rows(result: Result) -> tuple[Row, ...]:
    rows = []
    dataset = paper_of(result)
    for name, method in shown_methods(result):
        if method.accuracy_mean is None or not method.folds:
            continue
        mean, deviation = 100 * method.accuracy_mean, result.deviation(method)
        paper = dataset.accuracies.get(name) if dataset else None
        words = f"{method_title(name)} {mean:.1f} %" + (
            f" ± {100 * deviation:.1f}" if deviation is not None else ""
        )
        rows.append(
            Row(
                look_of(name).short,
                name,
                mean,
                f"{mean:.1f}",
                None
                if deviation is None
                else (max(0.0, mean - 100 * deviation), min(100.0, mean + 100 * deviation)),
                paper.mean if paper else None,
                words + (f" (paper {paper.mean:g} %)" if paper else ""),
            )
        )
    return tuple(rows)


def _literature(result: Result) -> float | None:
    paper = paper_of(result)
    return paper.literature.mean if paper and paper.literature else None


def _difference_rows(result: Result) -> tuple[Row, ...]:
    # A constant answer is in the table only: next to its bar, all other differences would look like
    # none.
    return tuple(
        _difference_row(paired)
        for paired in shown_comparisons(result)
        if not is_constant(paired.other)
    )


def _difference_row(paired: Comparison) -> Row:
    difference, low, high = 100 * paired.difference_mean, 100 * paired.low, 100 * paired.high
    title = method_title(paired.other)
    words = f"against {title} {signed(difference)} points, from {signed(low)} to {signed(high)}"
    return Row(
        look_of(paired.other).short,
        paired.other,
        difference,
        signed(difference),
        (low, high),
        None,
        words,
    )


def _time_rows(result: Result) -> tuple[Row, ...]:
    rows = []
    dataset = paper_of(result)
    for name in method_order(result.timing.methods_s):
        seconds = split_seconds(result, name) if result.n_folds else result.timing.methods_s[name]
        if not seconds or seconds < _SHORTEST_S:
            continue
        paper = dataset.split_s if dataset and name == IDEAL else None
        words = f"{method_title(name)} {duration(seconds)}" + (
            f" (paper {duration(paper)})" if paper else ""
        )
        rows.append(Row(look_of(name).short, name, seconds, duration(seconds), None, paper, words))
    return tuple(rows)
