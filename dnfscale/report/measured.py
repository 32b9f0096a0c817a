"""Metrics as people read them: what they are called, and how their values are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dnfscale.core.weights import as_weight
from dnfscale.report.formats import Cell, Figure, Table, amount_cell
from dnfscale.results.record import Label, label_text
from dnfscale.results.result import Weight
from dnfscale.results.slices import Slice, SliceValue

METRICS: Mapping[str, str] = {
    "cost": "expected cost",
    "accuracy": "accuracy",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "ppv": "PPV",
    "npv": "NPV",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "mcc": "MCC",
    "auc": "ROC AUC",
    "average_precision": "average precision",
    "brier": "Brier score",
    "log_loss": "log loss",
    "selection_rate": "answered yes",
}
_SHARES = {
    "accuracy",
    "sensitivity",
    "specificity",
    "ppv",
    "npv",
    "balanced_accuracy",
    "selection_rate",
}
_OF_SLICES = ("accuracy", "sensitivity", "specificity", "ppv", "auc", "brier")
_OF_LABELS = ("accuracy", "balanced_accuracy", "f1")


def metric_title(name: str) -> str:
    """Return what a metric is called."""
    return METRICS.get(name, name)


def metric_text(name: str, value: float | None) -> str:
    """Write the value of a metric: a share in percent, any other as a number."""
    if value is None:
        return "none"
    return f"{100 * value:.1f} %" if name in _SHARES else f"{value:.3f}".replace("-", "−")


def exact_text(name: str, value: float, *, digits: int) -> str:
    """Write a value with so many digits, none of which is a zero at its end."""
    number, unit = (100 * value, " %") if name in _SHARES else (value, "")
    return f"{number:.{digits}g}{unit}".replace("-", "−")


RARE_SHARE = 0.05
"""Of a smaller share, a whole percent says too little."""


def round_share(value: float) -> str:
    """Write a share in whole percent; one near none or all of the rows, where a percent matters,
    with a decimal.
    """
    if value in (0, 1) or RARE_SHARE <= value <= 1 - RARE_SHARE:
        return f"{100 * value:.0f} %"
    if value < 0.0005:
        return "under 0.1 %"
    return "over 99.9 %" if value > 0.9995 else f"{100 * value:.1f} %"


def interval_text(name: str, ends: tuple[float, float] | None) -> str:
    """Write an interval; an empty text where there is none."""
    if ends is None:
        return ""
    low, high = (metric_text(name, end) for end in ends)
    return f"{low.removesuffix(' %')} to {high}"


def metric_cell(name: str, value: float | None) -> Cell:
    """Return the cell of a table for a metric: a share in percent."""
    if value is None:
        return None
    return Figure(100 * value) if name in _SHARES else Figure(value, 3)


def metric_heading(name: str) -> str:
    """Return the heading of a column of a metric."""
    title = metric_title(name)
    title = title[0].upper() + title[1:]
    return f"{title}, %" if name in _SHARES else title


def value_text(value: Label | None) -> str:
    """Write the value of a column that a slice is of."""
    return "missing" if value is None else label_text(value) or "''"


def counted(rows: int, weight: Weight | None) -> int | float:
    """Return counted rows, or what they weigh if rows have weights."""
    return rows if weight is None else as_weight(rows, weight.unit or 1)


def counted_heading(weight: Weight | None) -> str:
    """Return the heading of a column of these."""
    return "Rows" if weight is None else "Weight"


def slice_table(part: Slice, weight: Weight | None = None) -> Table:
    """Return the metrics for each value of a column."""
    several = any(value.confusion_matrix is not None for value in part.values)
    names = _OF_LABELS if several else _OF_SLICES
    known = [name for name in names if any(name in value.metrics for value in part.values)]
    rate = () if several else ("selection_rate",)
    metrics = map(metric_heading, (*rate, *known))
    header = (part.column, counted_heading(weight), *metrics, *_ENDS[: bool(known)])
    return Table(
        f"By {part.column}",
        header,
        tuple(_slice_row(value, rate, known, weight) for value in part.values),
    )


_ENDS = ("Accuracy at 95 %",)


def _slice_row(
    value: SliceValue, rate: Sequence[str], known: Sequence[str], weight: Weight | None
) -> tuple[Cell, ...]:
    rates = [metric_cell("selection_rate", value.selection_rate) for _ in rate]
    metrics = [metric_cell(name, value.metrics.get(name)) for name in known]
    ends = [interval_text("accuracy", value.intervals.get("accuracy"))] if known else []
    rows = amount_cell(counted(value.rows, weight))
    return (value_text(value.value), rows, *rates, *metrics, *ends)


def gap_table(parts: Iterable[Slice], weight: Weight | None = None) -> Table:
    """Return how far the values of columns lie apart."""
    of = f"of {counted_heading(weight).lower()}"
    # No interval says of weights what may be chance.
    verdict = () if weight is not None else ("Verdict",)
    header = ("Column", "Metric", "Gap, points", "Lowest", of, "Highest", of, *verdict)
    rows = [
        (
            part.column,
            metric_title(gap.metric),
            Figure(100 * gap.difference),
            value_text(gap.lowest),
            amount_cell(counted(gap.lowest_rows, weight)),
            value_text(gap.highest),
            amount_cell(counted(gap.highest_rows, weight)),
            *(("beyond chance" if gap.certain else "may be chance") for _ in verdict),
        )
        for part in parts
        for gap in part.gaps
        if gap.difference
    ]
    return Table("Gaps between groups", header, tuple(rows))
