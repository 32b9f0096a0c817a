"""The formula-size method on the page: its curve beside the sweep, its formulas beside those of the
ideal method.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dnfscale.errors import visible
from dnfscale.report.cards.curve import Bound, Curve, averaged, sweep_chart, sweep_table
from dnfscale.report.cards.formula import formula_text
from dnfscale.report.formats import Figure, Table
from dnfscale.report.markup import Html, element, name_of
from dnfscale.report.own_parts import OwnParts
from dnfscale.report.parts import Place, Section, card, figure, folded, table
from dnfscale.report.run import RunView
from dnfscale.report.summary import around
from dnfscale.report.wording import count, share
from dnfscale.results.formula import SizedFormula
from dnfscale.results.method import Fold, Method
from dnfscale.results.result import Result

SIZE = Bound("size", "size of the formula", 3)
_MOST_ROWS = 20
"""The most folds that are listed without unfolding them."""


def size_curve_of(folds: Sequence[SizedFormula], models: Sequence[SizedFormula]) -> Curve:
    """Average the paths of the folds, each size over the folds that searched it; without folds,
    those of all rows.
    """
    formulas = folds or models
    ranks = averaged(
        ("formula size", step.size, step.validation_accuracy)
        for formula in formulas
        for step in formula.path
    )
    choices = dict(sorted(Counter(formula.chosen_size for formula in folds).items()))
    return Curve(ranks, models[0].chosen_size if len(models) == 1 else None, choices, SIZE)


def size_curve(method: Method) -> Curve | None:
    """Return validation accuracy against size; None if there were no rows to validate on."""
    folds = [sized for fold in method.folds for sized in fold.sized]
    curve = size_curve_of(folds, method.sized_models)
    return curve if curve.ranks else None


def size_charts(method: Method) -> dict[str, Html]:
    """Return the curve as a chart of its own."""
    curve = size_curve(method)
    if curve is None:
        return {}
    return {"sizes": sweep_chart("sizes", curve, "One line, the mean over folds.")}


def size_figure(place: Place, method: Method) -> Html | None:
    """Return the curve with its caption, to stand beside the sweep."""
    curve = size_curve(method)
    if curve is None:
        return None
    drawing = sweep_chart(
        place.id("sizes-chart"), curve, "One line. The table below holds the figures."
    )
    caption = (
        'The best formula of each size: symbols, "not", "and" and "or" count one each. '
        "Mean over the folds that "
        "searched a size; a search ends when sizes bring nothing for long enough. Chosen "
        "is the size with the best "
        f"validation accuracy. {_proof(method)}"
    )
    if len(method.sized_models) > 1:
        caption = f"One label against all others, and the mean over labels too. {caption}"
    return element("div", figure(drawing, caption, sweep_table(curve)))


def families_card(place: Place, view: RunView, method: Method) -> Section | None:
    """Return the formulas of a few attributes and those of bounded size, of all rows and of each
    fold, side by side.
    """
    ideal = view.result.ideal
    if ideal is None or not any(fold.sized for fold in method.folds):
        return None
    by_label = {sized.label_shown: sized for sized in method.sized_models}
    panels = []
    for formula in view.formulas:
        learned, sized = formula.learned, by_label.get(formula.label)
        of_label = f": {formula.label}" if formula.label is not None else ""
        if learned is not None:
            told = f"{count(learned.ell, 'attribute')}, {count(learned.literals, 'condition')}"
            panels.append(
                _panel(
                    place,
                    f"The best function of a few attributes{of_label}",
                    formula_text(learned),
                    told,
                )
            )
        if sized is not None:
            told = (
                f"size {sized.size}, {count(len(sized.attributes), 'attribute')}{_how_sure(sized)}"
            )
            panels.append(_panel(place, f"The best formula of a size{of_label}", sized.shown, told))
    by_number = {fold.fold: fold for fold in method.folds}
    rows = tuple(
        (
            str(fold.fold),
            _accuracy(fold),
            " | ".join(formula_text(formula) for formula in fold.formulas),
            *_sized_cells(by_number.get(fold.fold)),
        )
        for fold in ideal.folds
    )
    header = ("Fold", "Formula, %", "Formula", "Formula size, %", "Formula size", "Size", "Proved")
    listed = Table("The formulas of each fold, and their accuracy on its test rows", header, rows)
    return card(
        place,
        "families",
        "Two families of formulas",
        element(
            "p",
            "Both from all rows; below, those of each fold with their accuracy on its test rows.",
            class_="note",
        ),
        element("div", *panels, class_="panels"),
        folded("Fold by fold", table(listed), unfolded=len(rows) <= _MOST_ROWS),
        short="Two families",
    )


def summary_lines(result: Result, method: Method) -> list[str]:
    """Return what the method came to, and its formula of all rows, for the end of a run."""
    if method.accuracy_mean is None:
        return []
    mean = around(result, method.accuracy_mean, method.accuracy_std)
    lines = [f"by size    {mean} with formulas of size {method.size_mean:.1f} on average"]
    for found in method.sized_models:
        of_class = f", {visible(found.label_shown)}" if found.label_shown is not None else ""
        lines.append(f"           of all rows{of_class}: {found.shown}")
    return lines


SHOWN = OwnParts(
    card=families_card, sweep_figure=size_figure, charts=size_charts, summary=summary_lines
)


def _panel(place: Place, title: str, formula: str, told: str) -> Html:
    return element(
        "div",
        element(f"h{place.level + 1}", title),
        element("p", name_of(formula)),
        element("p", told, class_="note"),
    )


def _how_sure(sized: SizedFormula) -> str:
    proved = (
        ", proved to have the fewest errors" if sized.proved else ", not proved: a limit was hit"
    )
    return (
        proved
        if sized.exact_over_all_attributes
        else f"{proved}, over the best {sized.attributes_searched} attributes"
    )


def _proof(method: Method) -> str:
    """Say which share of the formulas is proved, and in how many folds not all attributes were
    searched.
    """
    found = [sized for fold in method.folds for sized in fold.sized] or list(method.sized_models)
    steps = [step for sized in found for step in sized.path]
    proved = sum(step.proved for step in steps)
    told = (
        "All of them are proved."
        if proved == len(steps)
        else f"{share(proved / len(steps))} of them are proved."
    )
    narrowed = sum(
        any(not sized.exact_over_all_attributes for sized in fold.sized) for fold in method.folds
    )
    return (
        f"{told} In {count(narrowed, 'fold')} only the best attributes were searched."
        if narrowed
        else told
    )


def _sized_cells(fold: Fold | None) -> tuple[Figure | None, str | None, int | None, str | None]:
    """Return the accuracy of a fold, its formulas, their total size, and whether all are proved."""
    if fold is None or not fold.sized:
        return None, None, None, None
    texts = " | ".join(sized.shown for sized in fold.sized)
    proved = all(sized.proved for sized in fold.sized)
    return (
        _accuracy(fold),
        texts,
        sum(sized.size for sized in fold.sized),
        "yes" if proved else "no",
    )


def _accuracy(fold: Fold) -> Figure | None:
    return None if fold.accuracy is None else Figure(100 * fold.accuracy)
