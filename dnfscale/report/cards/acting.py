"""Which errors: what comes of acting from one probability on or another, counted on test rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dnfscale.report.charts import line, percent, round_step, svg, text
from dnfscale.report.formats import Figure, Table
from dnfscale.report.markup import Html, element, join
from dnfscale.report.parts import Panel, Place, Section, card, figure, figures, legend, sign, slider
from dnfscale.report.run import RunView
from dnfscale.report.wording import count, share
from dnfscale.results.confusion import Confusion
from dnfscale.results.metrics import NetBenefit

_LEFT, _RIGHT, _TOP, _BOTTOM, _AXIS = 14.0, 94.0, 26.0, 206.0, 40.0
"""Of the chart: where its axes are, in percent of the width and in pixels."""
_OUT_OF = 1_000
"""Rows that net benefit is told of."""


def acting_card(place: Place, view: RunView) -> Section | None:
    """Return the thresholds; None if no test rows were counted by probability."""
    ideal = view.result.ideal
    points = [point for point in (ideal.decision_curve if ideal else ()) if point.confusion]
    if len(points) < 2 or view.has_labels:
        return None
    model, weighted = view.formulas[0].model, view.result.data.weight is not None
    own = 0.5 if model is None else float(model.threshold)
    shown = min(range(len(points)), key=lambda n: abs(points[n].threshold - own))
    panels = [
        Panel(f"{100 * point.threshold:g} %", _panel(point, weighted=weighted)) for point in points
    ]
    note = (
        "Someone acts on a row whose probability is at least the threshold. The lower it is, the "
        "fewer positives are missed, and the more false alarms there are. Counted on "
        f"{'the weight of the test rows' if weighted else 'the test rows'} "
        f"of all folds, by the formulas that the folds chose; the formula itself answers yes above "
        f"{100 * own:.3g} %."
    )
    return card(
        place,
        "errors",
        "Which errors?",
        element("p", note, class_="note"),
        slider(place.id("threshold"), "Act from", panels, shown),
        legend(_LEGEND),
        figure(_chart(place.id("errors-chart"), points), _CAPTION, acting_table(points)),
        short="Errors",
        class_="card screen",
    )


def acting_table(points: Sequence[NetBenefit]) -> Table:
    """Return the figures of each threshold, one a row."""
    header = (
        "Act from, %",
        "Sensitivity, %",
        "Specificity, %",
        "PPV, %",
        f"Net benefit, of {_OUT_OF:,}",
        "The same, acting always",
    )
    rows = tuple(
        (
            f"{100 * point.threshold:g}",
            *(None if value is None else Figure(100 * value) for value in _shares(point)),
            Figure(_OUT_OF * point.net_benefit),
            Figure(_OUT_OF * point.treat_all),
        )
        for point in points
    )
    return Table("What comes of acting from a probability on, on test rows", header, rows)


_CAPTION = (
    "Net benefit: true positives, less false alarms at the odds of the threshold, of a thousand "
    "rows. Where the line is not above both others, the formula is of no use for that decision."
)
_LEGEND = (
    (sign(line(0, 7, 100, 7, class_="path r-0")), "acting by the formula"),
    (sign(line(0, 7, 100, 7, class_="path r-1")), "acting always"),
    (sign(line(0, 7, 100, 7, class_="grid zero")), "acting never"),
)


def _counted(point: NetBenefit) -> Confusion:
    assert point.confusion is not None
    return point.confusion


def _shares(point: NetBenefit) -> tuple[float | None, float | None, float | None]:
    """Return sensitivity, specificity and positive predictive value."""
    counted = _counted(point)
    pairs = (
        (counted.tp, counted.tp + counted.fn),
        (counted.tn, counted.tn + counted.fp),
        (counted.tp, counted.tp + counted.fp),
    )
    sensitivity, specificity, ppv = (part / whole if whole else None for part, whole in pairs)
    return sensitivity, specificity, ppv


def _panel(point: NetBenefit, *, weighted: bool) -> Html:
    counted = _counted(point)
    names = ("Sensitivity", "Specificity", "Positive predictive value")
    told = (
        "of the positives are acted on",
        "of the negatives are left alone",
        "of those acted on are positive",
    )
    entries = [
        (name, "none" if value is None else share(value), words)
        for name, value, words in zip(names, _shares(point), told, strict=True)
    ]
    best = max(point.treat_all, 0.0)
    better = "more than" if point.net_benefit > best else "no more than"
    net = (
        "Net benefit",
        f"{_OUT_OF * point.net_benefit:.1f}".replace("-", "−"),
        f"of {_OUT_OF:,} rows, {better} without the formula",
    )
    return join(element("p", _acted_words(counted, weighted=weighted)), figures([*entries, net]))


def _acted_words(counted: Confusion, *, weighted: bool) -> str:
    """Say what comes of acting on the test rows; of weights, on a thousand rows like them."""
    parts: Sequence[int] = (counted.tp, counted.fp, counted.fn)
    rows = f"the {counted.counted:,} test rows,"
    if weighted:
        parts = [round(_OUT_OF * part / max(1, counted.counted)) for part in parts]
        rows = f"{_OUT_OF:,} such rows, about"
    true, false, missed = parts
    return (
        f"Of {rows} {true + false:,} {'is' if true + false == 1 else 'are'} acted on: {true:,} "
        f"rightly, and {count(false, 'false alarm')}. {missed:,} of the {true + missed:,} "
        f"positives {'is' if missed == 1 else 'are'} missed."
    )


def _chart(key: str, points: Sequence[NetBenefit]) -> Html:
    most = max(point.net_benefit for point in points)
    high = max(most, max(point.treat_all for point in points), 0.001)
    step = round_step(high, about=3)
    high, low = step * (high // step + 1), -step

    def x(threshold: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * threshold

    def y(benefit: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * (max(benefit, low) - low) / (high - low)

    drawn: list[Html] = [text(f"net benefit, of {_OUT_OF:,}", 0, 12, class_="tick")]
    for number in range(round((high - low) / step) + 1):
        at = low + number * step
        style = "grid zero" if abs(at) < step / 2 else "grid"
        label = f"{_OUT_OF * at:.4g}".replace("-", "−")
        drawn += [
            line(_LEFT, y(at), _RIGHT, y(at), class_=style),
            text(label, _LEFT - 1, y(at) + 4, anchor="end", class_="tick"),
        ]
    for at in (0.0, 0.25, 0.5, 0.75, 1.0):
        drawn.append(text(f"{100 * at:g}", x(at), _BOTTOM + 18, anchor="middle", class_="tick"))
    drawn.append(text("act from, %", _RIGHT, _BOTTOM + 34, anchor="end", class_="tick"))
    for before, after in pairwise(points):
        left, right = x(before.threshold), x(after.threshold)
        if max(before.treat_all, after.treat_all) > low:
            ends = y(before.treat_all), y(after.treat_all)
            drawn.append(line(left, ends[0], right, ends[1], class_="path r-1"))
        ends = y(before.net_benefit), y(after.net_benefit)
        drawn.append(line(left, ends[0], right, ends[1], class_="path r-0"))
    for point in points:
        words = f"from {100 * point.threshold:g} %: {_OUT_OF * point.net_benefit:.1f}"
        drawn.append(
            element(
                "circle",
                element("title", words),
                cx=percent(x(point.threshold)),
                cy=y(point.net_benefit),
                r=4,
                class_="dot m-blue",
            )
        )
    said = "; ".join(f"{100 * p.threshold:g} %: {_OUT_OF * p.net_benefit:.1f}" for p in points)
    return svg(key, "Net benefit by threshold", said, _BOTTOM + _AXIS, *drawn)
