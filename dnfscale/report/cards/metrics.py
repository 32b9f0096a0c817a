"""The figures that people decide by, on the page: those of the formulas with intervals, of all
methods side by side, and how far probabilities can be taken at their word.
"""

from __future__ import annotations

from dnfscale.report.formats import Figure, Table, amount_cell
from dnfscale.report.markup import Child, element
from dnfscale.report.measured import (
    counted,
    counted_heading,
    interval_text,
    metric_cell,
    metric_heading,
    metric_text,
    metric_title,
)
from dnfscale.report.parts import Place, Section, card, folded, table
from dnfscale.report.run import RunView
from dnfscale.report.titles import method_title, shown_methods
from dnfscale.results.method import Method
from dnfscale.results.metrics import Calibration
from dnfscale.results.result import Result, Weight

_COMPARED = (
    "cost",
    "sensitivity",
    "specificity",
    "ppv",
    "balanced_accuracy",
    "f1",
    "mcc",
    "auc",
    "average_precision",
    "brier",
    "log_loss",
)
_KINDS = {"wilson": "Wilson", "resampled_t": "t, of the mean"}


def metrics_card(place: Place, view: RunView) -> Section | None:
    """Return the metrics on test rows; None if nothing was tested."""
    ideal = view.result.ideal
    if ideal is None or not ideal.metrics:
        return None
    note = (
        "Each test row is answered by the formula of its fold, in which it had no part. The "
        "procedure chooses the length anew in each fold; «this length» is that of the formula "
        "shown."
    )
    others = compared_table(view.result)
    return card(
        place,
        "metrics",
        "What the answers are worth",
        element("p", note, class_="note"),
        table(metrics_table(ideal)),
        table(others) if len(others.rows) > 1 else None,
        _calibrated(ideal.calibration, view.result.data.weight),
        short="Metrics",
    )


def metrics_table(method: Method) -> Table:
    """Return the metrics of a method with their intervals, one a row."""
    point = method.shown_point
    shown = point.metrics if point is not None else {}
    rows = tuple(
        (
            metric_title(name),
            *([metric_text(name, shown[name]) if name in shown else ""] if shown else []),
            metric_text(name, metric.pooled),
            metric_text(name, metric.mean),
            _ends(name, metric.low, metric.high),
            _KINDS.get(metric.interval or "", ""),
        )
        for name, metric in method.metrics.items()
    )
    header = (
        "Metric",
        *(["This length"] if shown else []),
        "The procedure",
        "Mean over folds",
        "At 95 %",
        "Interval",
    )
    return Table("On test rows", header, rows)


def compared_table(result: Result) -> Table:
    """Return the metrics of all methods on all test rows, one method a row."""
    methods = [(name, own) for name, own in shown_methods(result) if own.metrics]
    names = [metric for metric in _COMPARED if any(metric in own.metrics for _, own in methods)]
    rows = tuple(
        (
            method_title(name),
            *(
                metric_cell(metric, own.metrics[metric].pooled) if metric in own.metrics else None
                for metric in names
            ),
        )
        for name, own in methods
    )
    return Table("Methods on all test rows", ("Method", *map(metric_heading, names)), rows)


def _ends(name: str, low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else interval_text(name, (low, high))


def _calibrated(calibration: Calibration | None, weight: Weight | None) -> Child:
    if calibration is None or not calibration.table:
        return None
    rows = tuple(
        (
            Figure(100 * row.predicted),
            Figure(100 * row.observed),
            amount_cell(counted(row.n, weight)),
        )
        for row in calibration.table
    )
    header = ("Expected, %", "Came, %", counted_heading(weight))
    said = [
        f"{what} {_two_decimals(value)} (best: {best})"
        for what, value, best in (
            ("slope", calibration.slope, 1),
            ("intercept", calibration.intercept, 0),
        )
        if value is not None
    ]
    return folded(
        f"Can probabilities be taken at their word? {', '.join(said)}",
        table(Table("Positive rows, expected and observed", header, rows)),
    )


def _two_decimals(value: float) -> str:
    """Write a number with two decimals; one that rounds to zero has no sign."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "−")
