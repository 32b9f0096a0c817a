"""Fitted formulas as axes of matplotlib: the lines with their rows, accuracy by length, and
calibration.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dnfscale.core.model import Model
from dnfscale.core.weights import amount
from dnfscale.errors import SpecError
from dnfscale.method.words import predicted
from dnfscale.report.cards.formula import Line, Support, shown_formula

_BLUE, _SOFT, _TRACK = "#1b5cb8", "#566172", "#e3e8ef"
_LONGEST = 50
"""Characters of a line of a formula on one line of a label."""


def plot_formula(model: Model, ax: Any = None) -> Any:
    """Draw the share of positive rows among those that each line accepts, with their number, and
    that among all others.
    """
    shown = shown_formula(model)
    names = [_wrapped(_line(line)) for line in shown.lines] + ["otherwise"]
    # A bar has the room that its label takes.
    heights = [1.0 + name.count("\n") for name in names]
    places = np.cumsum(heights) - np.array(heights) / 2
    axes = _axes(ax, height=1.2 + 0.3 * sum(heights))
    supports = [line.support or Support(0, 0) for line in shown.lines]
    supports.append(shown.otherwise or Support(0, 0))
    shares = [own.c / own.n if own.n else 0.0 for own in supports]
    axes.barh(places, np.ones(len(names)), color=_TRACK, height=0.6)
    axes.barh(places, shares, color=[_BLUE] * len(shown.lines) + [_SOFT], height=0.6)
    for place, share, support in zip(places, shares, supports, strict=True):
        text = f" {share:.0%} of {amount(support.n)}"
        axes.text(1.0, place, text, va="center", ha="left", color=_SOFT)
    axes.set_yticks(places, names)
    axes.set_ylim(sum(heights), 0)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(_percent())
    labels = ", ".join(map(str, model.positive))
    axes.set_xlabel(f"rows with {model.target} = {labels}")
    axes.set_title(predicted(model) + " if")
    _plain(axes)
    return axes


def plot_points(
    points: Sequence[Mapping[str, Any]], ax: Any = None, *, tested: bool = False
) -> Any:
    """Draw accuracy, on test rows or on the rows learned from, against the number of conditions;
    the formula shown is filled.
    """
    axes = _axes(ax)
    lengths = [point["literals"] for point in points]
    accuracies = [point["accuracy"] for point in points]
    order = np.argsort(lengths, kind="stable")
    axes.plot(np.array(lengths)[order], np.array(accuracies)[order], color=_TRACK, zorder=1)
    for point in points:
        face = _BLUE if point["shown"] else "white"
        axes.scatter(point["literals"], point["accuracy"], color=face, edgecolor=_BLUE, zorder=2)
    axes.set_xlabel("conditions")
    axes.set_ylabel("accuracy on test rows" if tested else "accuracy on the rows learned from")
    axes.yaxis.set_major_formatter(_percent(1))
    _plain(axes)
    return axes


def plot_shares(
    probability: npt.NDArray[np.float64], positive: npt.NDArray[np.bool_], ax: Any = None
) -> Any:
    """Draw how often rows are positive against the probability that they were given; the area of a
    dot is its number of rows.
    """
    axes = _axes(ax)
    given, places = np.unique(probability, return_inverse=True)
    rows = np.bincount(places)
    shares = np.bincount(places, weights=positive) / rows
    axes.plot([0, 1], [0, 1], color=_SOFT, linestyle=":", linewidth=1)
    axes.scatter(given, shares, s=20 + 280 * rows / rows.max(), color=_BLUE, alpha=0.6)
    axes.set_xlabel("probability by predict_proba")
    axes.set_ylabel("share of positive rows")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(_percent())
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.05, 1.05)
    _plain(axes)
    return axes


def _line(line: Line) -> str:
    texts = [asked.text for asked in line.conditions]
    if line.at_least is not None:
        return f"at least {line.at_least} of ({', '.join(texts)})"
    return " and ".join(texts) or "every row"


def _axes(ax: Any, *, height: float = 4.0) -> Any:
    if ax is not None:
        return ax
    if importlib.util.find_spec("matplotlib") is None:
        raise SpecError(
            "a plot needs matplotlib, which is not installed; install it with: "
            "pip install 'dnfscale[plot]'"
        )
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(9.0, height), layout="constrained")[1]


def _percent(decimals: int = 0) -> Any:
    from matplotlib.ticker import PercentFormatter

    return PercentFormatter(1.0, decimals=decimals)


def _plain(axes: Any) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _wrapped(text: str) -> str:
    """Return a line of a formula on as many lines as it needs, broken before «and» or after a
    comma; dollar signs are no mathematics here.
    """
    lines = [""]
    for piece in re.split(r"(?= and )|(?<=, )", text.replace("$", r"\$")):
        if lines[-1] and len(lines[-1]) + len(piece) > _LONGEST:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return "\n".join(line.rstrip() for line in lines)
