"""The frontier on the page: accuracy against length, and the points that no other point beats in
both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from dnfscale.report.charts import line, percent, round_step, svg, text
from dnfscale.report.formats import Figure, Table
from dnfscale.report.markup import Html, element
from dnfscale.report.parts import Place, Section, card, figure
from dnfscale.report.run import RunView
from dnfscale.report.titles import method_hue, method_title, shown_methods
from dnfscale.results.result import IDEAL, Result

_LEFT, _RIGHT = 8.0, 96.0
"""Where the axis of lengths begins and ends, in percent of the width."""
_TOP, _BOTTOM, _AXIS = 26.0, 246.0, 40.0
"""Heights in pixels."""


@dataclass(frozen=True, slots=True)
class Point:
    """A way of getting formulas: their length, and their accuracy on test rows, on average."""

    method: str
    name: str
    literals: float
    accuracy: float
    chosen: bool = False
    """Whether the folds chose it, without looking at test rows."""
    shown: bool = False
    """Whether the formula of all rows has this length."""


def frontier_card(place: Place, view: RunView) -> Section | None:
    """Return accuracy against length; None if there is nothing to compare."""
    points = frontier_points(view.result)
    if not points:
        return None
    caption = (
        "Each point is an average over test folds: formulas of every length, what the folds chose "
        "without looking at test rows (the larger dot), and other readable methods. The ring marks "
        "formulas of the length of the formula above, which was chosen for all rows. Lengths are "
        "on a square-root scale."
    )
    if len(unbeaten(points)) > 1:
        caption += " The line joins the points that no other beats in both."
    if view.result.ideal is not None and view.result.ideal.objective is not None:
        caption += " Accuracy is not what the formulas were learned for."
    return card(
        place,
        "frontier",
        "What does accuracy cost in length?",
        figure(_chart(place.id("frontier-chart"), points), caption, frontier_table(view.result)),
        short="Length",
    )


def frontier_table(result: Result) -> Table:
    """Return the points as a table."""
    points = frontier_points(result)
    best = unbeaten(points)
    rows = tuple(
        (
            method_title(point.method),
            point.name,
            Figure(point.literals),
            Figure(100 * point.accuracy),
            "yes" if point in best else "no",
        )
        for point in points
    )
    header = ("Method", "Which", "Conditions", "Accuracy, %", "Unbeaten")
    return Table("Accuracy on test rows against length, means over folds", header, rows)


def frontier_points(result: Result) -> list[Point]:
    """Return all points of a study, shortest first; none if there are fewer than two."""
    ideal = result.ideal
    points = (
        [
            Point(
                IDEAL,
                f"{step.literals_mean:.1f} conditions on average"
                if step.ell is None
                else f"{step.ell} attributes",
                step.literals_mean,
                step.accuracy_mean,
                shown=step.shown,
            )
            for step in ideal.frontier
        ]
        if ideal
        else []
    )
    for name, method in shown_methods(result):
        if method.literals_mean is not None and method.accuracy_mean is not None:
            title = "chosen by the folds" if name == IDEAL else method_title(name)
            points.append(
                Point(name, title, method.literals_mean, method.accuracy_mean, chosen=name == IDEAL)
            )
    return (
        sorted(points, key=lambda point: (point.literals, -point.accuracy))
        if len(points) > 1
        else []
    )


def unbeaten(points: list[Point]) -> list[Point]:
    """Return the points that no other beats by being as short and more accurate, or as accurate and
    shorter.
    """
    return [
        point
        for point in points
        if not any(
            other.literals <= point.literals
            and other.accuracy >= point.accuracy
            and (other.literals, other.accuracy) != (point.literals, point.accuracy)
            for other in points
        )
    ]


def _chart(key: str, points: list[Point]) -> Html:
    best = unbeaten(points)
    longest = max(point.literals for point in points)
    low, high = min(point.accuracy for point in points), max(point.accuracy for point in points)
    step = round_step(max(high - low, 0.01), about=4)
    low, high = step * (low // step), step * (high // step + 1)

    def x(literals: float) -> float:
        # The square root keeps short formulas apart and still has room for long ones.
        return _LEFT + (_RIGHT - _LEFT) * math.sqrt(literals / max(longest, 1.0))

    def y(accuracy: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * (accuracy - low) / (high - low)

    drawn: list[Html] = [text("accuracy, %", 0, 12, class_="tick")]
    for number in range(round((high - low) / step) + 1):
        at = low + number * step
        drawn += [
            line(_LEFT, y(at), _RIGHT, y(at), class_="grid"),
            text(f"{100 * at:g}", _LEFT - 1, y(at) + 4, anchor="end", class_="tick"),
        ]
    ticks = [tick for tick in (0, 1, 3, 10, 30, 100, 300, 1000) if tick <= longest]
    drawn += [
        text(str(tick), x(tick), _BOTTOM + 18, anchor="middle", class_="tick") for tick in ticks
    ]
    drawn.append(text("conditions", _RIGHT, _BOTTOM + 34, anchor="end", class_="tick"))
    drawn += [
        line(x(a.literals), y(a.accuracy), x(b.literals), y(b.accuracy), class_="reference")
        for a, b in pairwise(best)
    ]
    for point in points:
        if point.shown:
            ring = element(
                "circle",
                cx=percent(x(point.literals)),
                cy=y(point.accuracy),
                r=10,
                fill="none",
                class_="chosen",
            )
            drawn.append(ring)
        words = (
            f"{method_title(point.method)}, {point.name}: {point.literals:.1f} conditions, "
            f"{100 * point.accuracy:.1f} %"
        )
        drawn.append(
            element(
                "circle",
                element("title", words),
                cx=percent(x(point.literals)),
                cy=y(point.accuracy),
                r=7 if point.chosen else 4.5,
                class_=f"dot {method_hue(point.method)}",
            )
        )
    description = "; ".join(
        f"{point.name}: {point.literals:.1f}, {100 * point.accuracy:.1f} %" for point in points
    )
    return svg(key, "Accuracy against length", description, _BOTTOM + _AXIS, *drawn)
