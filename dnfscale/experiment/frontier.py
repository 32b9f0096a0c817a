"""Accuracy against length: the formulas of a study that no other beats in both."""

from __future__ import annotations

from dataclasses import dataclass

from dnfscale.experiment.outcome import IDEAL, Outcome


@dataclass(frozen=True, slots=True)
class Point:
    """A way of getting formulas: their length, and their accuracy on test rows, on average."""

    method: str
    name: str
    literals: float
    accuracy: float
    chosen: bool = False
    """Whether the study chose it, without looking at test rows."""


def frontier_points(outcome: Outcome) -> list[Point]:
    """Return all points of a study, shortest first; none if there are fewer than two."""
    ideal = outcome.ideal
    points = (
        [Point(IDEAL, f"{step.ell} attributes", step.literals, step.accuracy) for step in ideal.grown] if ideal else []
    )
    for method in outcome.methods:
        if method.literals_mean is not None and method.accuracy_mean is not None:
            name = "chosen" if method.name == IDEAL else method.title
            points.append(
                Point(method.name, name, method.literals_mean, method.accuracy_mean, chosen=method.name == IDEAL)
            )
    return sorted(points, key=lambda point: (point.literals, -point.accuracy)) if len(points) > 1 else []


def unbeaten(points: list[Point]) -> list[Point]:
    """Return the points that no other beats by being as short and more accurate, or as accurate and shorter."""
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
