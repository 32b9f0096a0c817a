"""Charts as inline SVG: rows of bars, dots and intervals along one axis, in groups.

Widths are percentages and heights are pixels, with no viewBox: a chart fills whatever width it is
given, and its letters stay the size of the text around it, on a phone as on a large screen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dnfscale.errors import visible
from dnfscale.report.markup import Html, element
from dnfscale.report.titles import method_hue

_LEFT, _RIGHT = 31.0, 86.0
"""Where the axis begins and ends, in percent of the width; names are to the left of it, figures to
the right.
"""
_ROW, _GROUP_NAME, _GROUP_GAP, _AXIS = 19, 22, 12, 24
"""Heights in pixels."""
_PANEL_ROWS = 12
"""The most rows of a chart in one panel, where the name of a group counts as two; a longer one gets
two panels.
"""


@dataclass(frozen=True, slots=True)
class Axis:
    """The horizontal axis of a chart."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    unit: str
    logarithmic: bool = False

    def x(self, value: float) -> float:
        """Return where a value lies, in percent of the chart's width; a value beyond an end is
        drawn at the end.
        """
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.logarithmic:
            low, high, at = math.log(low), math.log(high), math.log(at)
        return _LEFT + (_RIGHT - _LEFT) * (at - low) / (high - low)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a chart: a method's figure, the interval around it, and the paper's
    own figure.
    """

    name: str
    method: str
    """Decides the colour."""
    value: float
    text: str
    """The figure as it is written at the right."""
    interval: tuple[float, float] | None = None
    paper: float | None = None
    words: str = ""
    """The row in words, for its tooltip and for screen readers."""

    @property
    def hue(self) -> str:
        """The class that colours it."""
        return method_hue(self.method)


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one dataset, and a value to be marked across all of them."""

    name: str
    rows: tuple[Row, ...]
    reference: float | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of groups of rows."""

    key: str
    """Unique in its page."""
    title: str
    axis: Axis
    groups: tuple[Group, ...]
    mark: Callable[[Axis, Row, float], Html]
    """Draws the figure of a row, centred at a height: `bar` or `dot`."""
    zero_line: bool = False


def panels(chart: Chart) -> Html:
    """Draw a chart; if it has many rows, in two halves, which are side by side if there is room."""
    heights = [len(group.rows) + 2 for group in chart.groups]
    if len(heights) < 4 or sum(heights) <= _PANEL_ROWS:
        return row_chart(chart)
    cut = min(range(1, len(heights)), key=lambda i: (abs(sum(heights[:i]) - sum(heights[i:])), -i))
    halves = enumerate((chart.groups[:cut], chart.groups[cut:]), start=1)
    drawn = [
        row_chart(replace(chart, key=f"{chart.key}-{number}", groups=groups))
        for number, groups in halves
    ]
    return element("div", *drawn, class_="panels")


def row_chart(chart: Chart) -> Html:
    """Draw a chart of rows."""
    y = 4.0
    drawn: list[Html] = []
    for number, group in enumerate(chart.groups):
        y += _GROUP_GAP if number else 0
        drawn.append(text(group.name, 0, y + 13, class_="group"))
        y += _GROUP_NAME
        middle = y
        for row in group.rows:
            drawn.append(_row(chart, row, middle + _ROW / 2))
            middle += _ROW
        if group.reference is not None:
            x = chart.axis.x(group.reference)
            drawn.append(line(x, y - 1, x, middle + 1, class_="reference"))
        y = middle
    height = y + _AXIS
    description = "; ".join(
        f"{group.name}: " + ", ".join(row.words for row in group.rows) for group in chart.groups
    )
    return svg(chart.key, chart.title, description, height, *_grid(chart, y), *drawn)


def bar(axis: Axis, row: Row, y: float) -> Html:
    """Draw a row's figure as a bar from the axis's low end."""
    start, end = axis.x(axis.low), axis.x(row.value)
    return element(
        "rect",
        x=percent(start),
        y=y - 6,
        width=percent(max(end - start, 0.2)),
        height=12,
        class_=f"bar {row.hue}",
    )


def dot(axis: Axis, row: Row, y: float) -> Html:
    """Draw a row's figure as a dot."""
    return element("circle", cx=percent(axis.x(row.value)), cy=y, r=5, class_=f"dot {row.hue}")


def log_axis(values: Sequence[float], unit: str) -> Axis:
    """Return an axis of whole powers of ten around some positive values."""
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)
    step = max(1, math.ceil((high - low) / 4))
    powers = range(low, high + 1)
    # All grid lines are drawn, but a phone has room for only about four figures below them.
    ticks = tuple(
        (10.0**power, "" if (power - low) % step else _power_text(power)) for power in powers
    )
    return Axis(10.0**low, 10.0**high, ticks, unit, logarithmic=True)


def difference_axis(values: Sequence[float], unit: str) -> Axis:
    """Return an axis around zero that holds some differences, with round ticks."""
    reach = max([abs(value) for value in values] + [1e-9])
    step = round_step(reach)
    end = step * math.ceil(reach / step)
    n = round(end / step)
    ticks = tuple(
        (k * step, f"{k * step:+g}".replace("-", "−") if k else "0") for k in range(-n, n + 1)
    )
    return Axis(-end, end, ticks, unit)


def round_step(reach: float, *, about: int = 2) -> float:
    """Return 1, 2, 2.5, 5 or 10 times a power of ten, so that `reach` has about `about` steps."""
    raw = reach / about
    power = 10.0 ** math.floor(math.log10(raw))
    return next(
        (power * factor for factor in (1, 2, 2.5, 5) if power * factor >= raw * 0.999), 10 * power
    )


def svg(key: str, title: str, description: str, height: float, *children: Html) -> Html:
    """Return a drawing with its name, and its description for screen readers."""
    return element(
        "svg",
        element("title", title, id=f"{key}-title"),
        element("desc", description, id=f"{key}-desc"),
        *children,
        class_="chart",
        role="img",
        width="100%",
        height=height,
        aria_labelledby=f"{key}-title {key}-desc",
    )


def text(
    words: str, x: float, y: float, *, class_: str = "", anchor: str = "start", widest: int = 60
) -> Html:
    """Write words at x percent; more than `widest` letters are cut, and are shown in full in the
    tooltip.
    """
    words = visible(words)
    cut = words if len(words) <= widest else words[: widest - 1] + "…"
    whole = element("title", words) if cut != words else None
    return element("text", whole, cut, x=percent(x), y=y, text_anchor=anchor, class_=class_ or None)


def line(x1: float, y1: float, x2: float, y2: float, *, class_: str) -> Html:
    """Draw a line; x in percent, y in pixels."""
    return element("line", x1=percent(x1), y1=y1, x2=percent(x2), y2=y2, class_=class_)


def percent(x: float) -> str:
    """Write a horizontal position, in percent of the width."""
    return f"{x:.2f}%"


def _row(chart: Chart, row: Row, y: float) -> Html:
    axis = chart.axis
    figure, interval = chart.mark(axis, row, y), _interval(axis, row, y)
    parts = [
        element("title", row.words) if row.words else None,
        text(row.name, _LEFT - 1.5, y + 4, anchor="end", class_="name", widest=16),
        *((interval, figure) if chart.mark is dot else (figure, interval)),
    ]
    if row.paper is not None:
        x = axis.x(row.paper)
        parts += [
            line(x, y - 8, x, y + 8, class_="paper halo"),
            line(x, y - 8, x, y + 8, class_="paper"),
        ]
    parts.append(text(row.text, 100, y + 4, anchor="end", class_="figure"))
    return element("g", *parts)


def _interval(axis: Axis, row: Row, y: float) -> Html | None:
    if row.interval is None:
        return None
    low, high = axis.x(row.interval[0]), axis.x(row.interval[1])
    caps = [line(x, y - 3.5, x, y + 3.5, class_="interval") for x in (low, high)]
    return element("g", line(low, y, high, y, class_="interval"), *caps)


def _grid(chart: Chart, bottom: float) -> list[Html]:
    drawn = []
    for value, label in chart.axis.ticks:
        x = chart.axis.x(value)
        drawn.append(
            line(
                x,
                22,
                x,
                bottom + 4,
                class_="grid zero" if chart.zero_line and value == 0 else "grid",
            )
        )
        drawn += [text(label, x, bottom + 18, anchor="middle", class_="tick")] if label else []
    drawn.append(text(chart.axis.unit, _LEFT - 7, bottom + 18, anchor="end", class_="tick"))
    return drawn


def _power_text(power: int) -> str:
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:.{-power}f}"
