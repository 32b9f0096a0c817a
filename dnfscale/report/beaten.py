"""Accuracy against length: the formulas of a study that no other beats in both."""

from __future__ import annotations

from dataclasses import dataclass

from dnfscale.report.titles import method_title, shown_methods
from dnfscale.results.result import IDEAL, Result


@dataclass(frozen=True, slots=True)
class Point:
    """A way of getting formulas: their length, and their accuracy on test rows, on average."""

    method: str
    name: str
    literals: float
    accuracy: float
    chosen: bool = False
    """Whether the study chose it, without looking at test rows."""


def frontier_points(result: Result) -> list[Point]:
    """Return all points of a study, shortest first; none if there are fewer than two."""
    ideal = result.ideal
    points = (
        [
            Point(
                IDEAL,
                f"{step.literals_mean:.1f} conditions"
                if step.ell is None
                else f"{step.ell} attributes",
                step.literals_mean,
                step.accuracy_mean,
            )
            for step in ideal.frontier
        ]
        if ideal
        else []
    )
    for name, method in shown_methods(result):
        if method.literals_mean is not None and method.accuracy_mean is not None:
            title = "chosen" if name == IDEAL else method_title(name)
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
