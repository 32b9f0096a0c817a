"""Curves of validation accuracy, with what was chosen: against the length of formulas, one line per
search, or against ell, one line per ranking.

A method that bounds its formulas otherwise has such a curve too, against its own bound.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dnfscale.report.charts import line, percent, round_step, svg, text
from dnfscale.report.formats import Figure, Table
from dnfscale.report.markup import Html, element
from dnfscale.report.parts import sign
from dnfscale.results.formula import CurvePoint, Formula
from dnfscale.spec.registry import RANKINGS

_LEFT, _RIGHT = 12.0, 97.0
"""Where ell = 1 and the last ell lie, in percent of the width."""
_TOP, _BOTTOM = 30.0, 250.0
"""Where the highest and the lowest accuracy lie, in pixels."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The horizontal axis of a curve: a bound on formulas, which grows to the right."""

    sign: str
    words: str
    colour: int
    """The number of the colour of its first line."""


ELL = Bound("ℓ", "number of attributes", 0)
LENGTH = Bound("conditions", "number of conditions", 0)
_SEARCHES = {
    "attributes": "types of the best attributes",
    "terms": "lines over all columns",
    "checklist_attributes": "checklists of the best attributes",
    "checklist_terms": "checklists over all columns",
}
_MOST_TICKS = 12
"""Beyond this many, every fifth is written."""


@dataclass(frozen=True, slots=True)
class Point:
    """A ranking's validation accuracy at one ell, or size: the mean and deviation over the formulas
    of a study.
    """

    ell: int
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Curve:
    """What a sweep chart shows."""

    ranks: dict[str, tuple[Point, ...]]
    chosen: int | None
    """The ell, or size, of the formula of all rows."""
    choices: dict[int, int]
    """How many folds chose each ell."""
    bound: Bound = ELL


def curve_of(folds: Sequence[Formula], model: Formula | None) -> Curve:
    """Average the curves of the folds, by length or by ell; without folds, take the model's."""
    formulas = list(folds) or ([model] if model else [])
    if formulas and all(formula.curve for formula in formulas):
        lengths = dict(sorted(Counter(formula.literals for formula in folds).items()))
        chosen = model.literals if model else None
        return Curve(_by_length(formulas), chosen, lengths, LENGTH)
    ranks = averaged(
        (rank, step.ell, accuracy)
        for formula in formulas
        for step in formula.sweep
        for rank, accuracy in step.by_rank.items()
    )
    choices = dict(sorted(Counter(formula.ell for formula in folds).items()))
    return Curve(ranks, model.ell if model else None, choices)


def _by_length(formulas: Sequence[Formula]) -> dict[str, tuple[Point, ...]]:
    """Average for each search and form the best score of at most so many literals, at every length
    that makes a difference in some formula, from that on which all have one.
    """
    curves: dict[str, tuple[Point, ...]] = {}
    for search in dict.fromkeys(_searched(p) for formula in formulas for p in formula.curve):
        own = [
            {p.literals: p.validation_score for p in formula.curve if _searched(p) == search}
            for formula in formulas
        ]
        own = [scores for scores in own if scores]
        shortest = max(min(scores) for scores in own)
        lengths = sorted({n for scores in own for n in scores if n >= max(1, shortest)})
        curves[search] = tuple(
            _point(n, [max(score for m, score in scores.items() if m <= n) for scores in own])
            for n in lengths
        )
    return {search: points for search, points in curves.items() if points}


def _searched(point: CurvePoint) -> str:
    return point.search if point.form == "lines" else f"{point.form}_{point.search}"


def sweep_chart(key: str, curve: Curve, description: str, measure: str = "accuracy") -> Html:
    """Draw a curve of some measure; it has at least one point."""
    points = [point for line_points in curve.ranks.values() for point in line_points]
    last = max(point.ell for point in points)
    low, high, ticks = _accuracy_axis(points)

    def x(ell: float) -> float:
        return (
            (_LEFT + _RIGHT) / 2 if last == 1 else _LEFT + (_RIGHT - _LEFT) * (ell - 1) / (last - 1)
        )

    def y(accuracy: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * (accuracy - low) / (high - low)

    drawn = [text(f"validation {measure}, %", 0, 14, class_="tick")]
    for tick in ticks:
        drawn.append(line(_LEFT - 1, y(tick), 100, y(tick), class_="grid"))
        drawn.append(text(f"{100 * tick:g}", _LEFT - 2, y(tick) + 4, anchor="end", class_="tick"))
    drawn += [
        text(str(ell), x(ell), _BOTTOM + 18, anchor="middle", class_="tick") for ell in _ticks(last)
    ]
    if curve.chosen is not None and 1 <= curve.chosen <= last:
        drawn.append(line(x(curve.chosen), _TOP - 8, x(curve.chosen), _BOTTOM, class_="chosen"))
        anchor = "end" if curve.chosen > 0.55 * last else "start"
        nudge = -1 if anchor == "end" else 1
        words = f"chosen for all rows: {curve.chosen}"
        drawn.append(text(words, x(curve.chosen) + nudge, _TOP + 2, anchor=anchor, class_="mark"))
    numbered = list(enumerate(curve.ranks, start=curve.bound.colour))
    inner = [_shape(curve.ranks[rank], number, last, y) for number, rank in numbered]
    drawn.append(_stretched(inner))
    for number, rank in numbered:
        drawn += [
            element(
                "circle",
                element(
                    "title",
                    (
                        f"{rank_title(rank)}, {curve.bound.sign} = {point.ell}: "
                        f"{100 * point.mean:.1f} %"
                    ),
                ),
                cx=percent(x(point.ell)),
                cy=round(y(point.mean), 1),
                r=3.5,
                class_=f"knot r-{number % 4}",
            )
            for point in curve.ranks[rank]
        ]
    drawn += _choices(curve, last, x)
    height = _BOTTOM + (62 if curve.choices else 40)
    return svg(
        key, f"Validation {measure} against the {curve.bound.words}", description, height, *drawn
    )


def sweep_table(curve: Curve, measure: str = "accuracy", label: str | None = None) -> Table:
    """Return the curve as a table, which names the label of its formula, if any."""
    ells = sorted({point.ell for points in curve.ranks.values() for point in points})
    by_rank = [{point.ell: point for point in points} for points in curve.ranks.values()]
    rows = tuple(
        (
            ell,
            *(
                Figure(100 * p[ell].mean, deviation=100 * p[ell].deviation) if ell in p else None
                for p in by_rank
            ),
            *([curve.choices.get(ell, 0)] if curve.choices else []),
        )
        for ell in ells
    )
    header = (
        curve.bound.sign,
        *(rank_title(rank) for rank in curve.ranks),
        *(["Folds that chose it"] if curve.choices else []),
    )
    of = "" if label is None else f", for {label}"
    by = {ELL: "number of attributes ℓ and ranking", LENGTH: "number of conditions and search"}.get(
        curve.bound, curve.bound.words
    )
    return Table(f"Validation {measure}, %, by {by}{of}", header, rows)


def sweep_signs(curve: Curve) -> list[tuple[Html, str]]:
    """Return the signs of a sweep chart and what they mean."""
    return [
        (
            sign(
                element("line", x1=0, x2=22, y1=7, y2=7, class_=f"path r-{number % 4}"),
                element("circle", cx=11, cy=7, r=3.5, class_=f"knot r-{number % 4}"),
            ),
            rank_title(rank) if curve.bound is LENGTH else f"ranking by {rank_title(rank)}",
        )
        for number, rank in enumerate(curve.ranks)
    ]


def rank_title(rank: str) -> str:
    """Return what to call a ranking, or a search."""
    if rank in RANKINGS:
        return RANKINGS[rank].title
    return _SEARCHES.get(rank, rank.replace("_", " "))


def _ticks(last: int) -> list[int]:
    """Return the bounds that are written below a chart."""
    if last <= _MOST_TICKS:
        return list(range(1, last + 1))
    return [1, *range(5, last + 1, 5)]


def averaged(found: Iterable[tuple[str, int, float | None]]) -> dict[str, tuple[Point, ...]]:
    """Average accuracies by line and bound; those that are not known do not count."""
    by_rank: dict[str, dict[int, list[float]]] = {}
    for rank, ell, accuracy in found:
        if accuracy is not None:
            by_rank.setdefault(rank, {}).setdefault(ell, []).append(accuracy)
    return {rank: tuple(_point(ell, at[ell]) for ell in sorted(at)) for rank, at in by_rank.items()}


def _point(ell: int, accuracies: Sequence[float]) -> Point:
    mean = sum(accuracies) / len(accuracies)
    deviation = math.sqrt(sum((accuracy - mean) ** 2 for accuracy in accuracies) / len(accuracies))
    return Point(ell, mean, deviation)


def _accuracy_axis(points: Sequence[Point]) -> tuple[float, float, list[float]]:
    """Return the ends and the ticks of the vertical axis, in whole steps around the bands."""
    low = max(0.0, min(point.mean - point.deviation for point in points))
    high = min(1.0, max(point.mean + point.deviation for point in points))
    step = max(round_step(max(high - low, 0.02), about=4), 0.005)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    return first * step, last * step, [round(k * step, 6) for k in range(first, last + 1)]


def _shape(points: Sequence[Point], number: int, last: int, y: Callable[[float], float]) -> Html:
    """Return the band and the line of a ranking, for a drawing that is stretched to the chart's
    width.
    """

    def at(point: Point, accuracy: float) -> str:
        across = 500.0 if last == 1 else 1000 * (point.ell - 1) / (last - 1)
        return f"{across:.1f},{min(max(y(accuracy), 0), _BOTTOM):.1f}"

    upper = [at(point, point.mean + point.deviation) for point in points]
    lower = [at(point, point.mean - point.deviation) for point in reversed(points)]
    band = element("polygon", points=" ".join(upper + lower), class_=f"band r-{number % 4}")
    path = " ".join(at(point, point.mean) for point in points)
    return element(
        "g",
        band if any(point.deviation for point in points) else None,
        element(
            "polyline",
            points=path,
            class_=f"path r-{number % 4}",
            vector_effect="non-scaling-stroke",
        ),
    )


def _stretched(shapes: Sequence[Html]) -> Html:
    return element(
        "svg",
        *shapes,
        x=percent(_LEFT),
        width=percent(_RIGHT - _LEFT),
        y=0,
        height=_BOTTOM,
        viewBox=f"0 0 1000 {_BOTTOM:g}",
        preserveAspectRatio="none",
        overflow="visible",
        aria_hidden="true",
    )


def _choices(curve: Curve, last: int, x: Callable[[float], float]) -> list[Html]:
    """Write under each ell how many folds chose it."""
    words = f"{curve.bound.words} ℓ" if curve.bound is ELL else curve.bound.words
    drawn = [text(words, (_LEFT + _RIGHT) / 2, _BOTTOM + 36, anchor="middle", class_="tick")]
    if curve.choices:
        drawn.append(text("chosen by folds", 0, _BOTTOM + 56, class_="tick"))
        drawn += [
            text(
                str(curve.choices.get(ell, "·")),
                x(ell),
                _BOTTOM + 56,
                anchor="middle",
                class_="mark" if ell in curve.choices else "tick",
            )
            for ell in (range(1, last + 1) if last <= _MOST_TICKS else curve.choices)
        ]
    return drawn
