"""The charts of a report as files of their own, for papers and slides."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from dnfscale.report.cards.comparing import (
    accuracy_chart,
    accuracy_signs,
    difference_chart,
    paper_sign,
    runtime_chart,
)
from dnfscale.report.cards.curve import curve_of, sweep_chart, sweep_signs
from dnfscale.report.cards.labels import confusion_chart
from dnfscale.report.charts import row_chart
from dnfscale.report.markup import Html, element
from dnfscale.report.own_parts import own_parts
from dnfscale.report.run import ReportRun, RunView, view_runs
from dnfscale.report.style import FIGURE_STYLE

_WIDTH, _MARGIN = 760, 14
"""In pixels."""


def render_figures(runs: Sequence[ReportRun]) -> dict[str, str]:
    """Return the charts of some runs as SVG files by name; a chart without data is left out.

    The accuracies, differences and runtimes are those of all runs. The sweeps, the charts of a
    method's own and the confusion of labels are left out for several runs. Each label has a sweep
    of its own, numbered in the order of the labels.
    """
    views = view_runs(runs)
    files = {}
    if accuracies := accuracy_chart("accuracies", views):
        files["accuracies"] = _file(row_chart(accuracies), accuracy_signs(accuracies.groups))
    if differences := difference_chart("differences", views):
        files["differences"] = _file(row_chart(differences), [])
    if runtimes := runtime_chart("runtimes", views):
        has_paper = any(row.paper is not None for group in runtimes.groups for row in group.rows)
        files["runtimes"] = _file(row_chart(runtimes), [paper_sign()] if has_paper else [])
    if len(views) == 1:
        files |= _run_figures(views[0])
    return files


def _run_figures(view: RunView) -> dict[str, str]:
    files = {}
    measure = "fidelity" if view.result.explains else "accuracy"
    for number, formula in enumerate(view.formulas, start=1):
        curve = curve_of(formula.folds, formula.learned)
        name = "sweep" if formula.label is None else f"sweep-{number}"
        about = (
            "One line a ranking."
            if formula.label is None
            else f"The label {formula.label}; one line a ranking."
        )
        if curve.ranks:
            files[name] = _file(sweep_chart(name, curve, about, measure), sweep_signs(curve))
    for own, method in own_parts(view.result):
        files |= {name: _file(chart, []) for name, chart in own.charts(method).items()}
    if confusion := view.result.confusion:
        files["confusion"] = _file(confusion_chart("confusion", confusion), [])
    return files


def _file(drawing: Html, signs: Sequence[tuple[Html, str]]) -> str:
    legend, top = _legend(signs)
    height = float(ElementTree.fromstring(drawing).get("height", "0"))
    whole = element(
        "svg",
        element("style", Html(FIGURE_STYLE)),
        element("rect", width="100%", height="100%", fill="#ffffff"),
        legend,
        element("svg", drawing, x=_MARGIN, y=top, width=_WIDTH - 2 * _MARGIN, height=height),
        xmlns="http://www.w3.org/2000/svg",
        width=_WIDTH,
        height=top + height + _MARGIN,
    )
    return f"{whole}\n"


def _legend(signs: Sequence[tuple[Html, str]]) -> tuple[Html, float]:
    """Return the legend, in lines that fit the width, and the height at which it ends."""
    placed: list[Html] = []
    x, y = float(_MARGIN), float(_MARGIN)
    for sign, words in signs:
        # The width of text is not known here; a letter of this size takes at most seven pixels in
        # most fonts.
        width = 22 + 6 + 7.0 * len(words) + 18
        if x + width > _WIDTH and placed:
            x, y = float(_MARGIN), y + 20
        label = element("text", words, x=28, y=11.5)
        placed.append(element("g", sign, label, transform=f"translate({x:g} {y:g})"))
        x += width
    return element("g", *placed, class_="chart"), y + 26 if placed else y
