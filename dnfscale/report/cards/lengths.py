"""How long a formula: the run's formulas by length, each with its figures on test rows and the
command that chooses it.
"""

from __future__ import annotations

from dnfscale.core.model import Model
from dnfscale.data.models import parse_model
from dnfscale.errors import DataError
from dnfscale.report.cards.formula import formula_list, shown_formula
from dnfscale.report.formats import Figure, Table
from dnfscale.report.markup import Html, element, join
from dnfscale.report.parts import Panel, Place, Section, card, folded, slider, table
from dnfscale.report.run import RunView
from dnfscale.report.wording import count, length_bound, share
from dnfscale.results.frontier import Frontier, FrontierFormula

_FIGURES = {"sensitivity": "Sensitivity, %", "specificity": "Specificity, %", "ppv": "PPV, %"}


def lengths_card(place: Place, view: RunView) -> Section | None:
    """Return the formulas by length; None if there are fewer than two."""
    frontier = view.frontier
    formulas = [] if frontier is None else by_length(frontier)
    if len(formulas) < 2 or view.has_labels:
        return None
    try:
        models = [parse_model(own.model) for own in formulas]
    except DataError as error:
        words = f"frontier.json cannot be used: {error.message}."
        return card(place, "lengths", "How long a formula?", element("p", words, class_="warning"))
    counted = view.formulas[0].counted
    panels = [
        Panel(_title(own), _panel(own, model, counted))
        for own, model in zip(formulas, models, strict=True)
    ]
    shown = next((n for n, own in enumerate(formulas) if own.shown), 0)
    note = (
        "The formulas of all rows, shortest first. Figures are those of formulas of at most "
        "this length, on rows that had no part in learning them. Where to stop depends on what "
        "readers can follow."
        if formulas[0].tested
        else "The formulas of all rows, shortest first. They were not tested on other rows."
    )
    return card(
        place,
        "lengths",
        "How long a formula?",
        element("p", note, class_="note"),
        slider(place.id("length"), "Length", panels, shown, folds=True),
        folded("All lengths as a table", table(lengths_table(formulas))),
        short="Lengths",
        class_="card screen",
    )


def by_length(frontier: Frontier) -> list[FrontierFormula]:
    """Return the formula that `choose` gives for each length, or for each number of attributes;
    of the length of the one in model.json, that one.
    """
    if any(own.ell is not None for own in frontier.formulas):
        return [own for own in frontier.formulas if own.ell is not None]
    shown = {own.literals: own for own in frontier.formulas if own.shown}
    lengths = sorted({own.literals for own in frontier.formulas})
    return [shown.get(length) or frontier.of_literals(length) for length in lengths]


def lengths_table(formulas: list[FrontierFormula]) -> Table:
    """Return the formulas with their figures, one a row."""
    tested = [key for key in _FIGURES if any(key in _metrics(own) for own in formulas)]
    accuracy = "Accuracy, %" if formulas[0].tested else "Accuracy on learning rows, %"
    rows = tuple(
        (
            _title(own),
            own.terms,
            Figure(100 * own.accuracy),
            *(_figure(_metrics(own).get(key)) for key in tested),
            command(own),
        )
        for own in formulas
    )
    header = ("Formula", "Lines", accuracy, *(_FIGURES[key] for key in tested), "Command")
    return Table("Formulas of all rows by length", header, rows)


def command(own: FrontierFormula) -> str:
    """Return the command that chooses a formula."""
    which = f"--literals {own.literals}" if own.ell is None else f"--ell {own.ell}"
    return f"dnfscale choose RUN {which}"


def _title(own: FrontierFormula) -> str:
    size = count(own.literals, "condition")
    size = size if own.ell is None else f"{count(own.ell, 'attribute')}, {size}"
    return f"{size} (shown above)" if own.shown else size


def _panel(own: FrontierFormula, model: Model, counted: str) -> Html:
    command_words = (
        "This is the formula in model.json."
        if own.shown
        else join(
            element("code", command(own)),
            " chooses it; RUN is the folder of this run. No rows are read.",
        )
    )
    return join(
        element("p", _reached(own)),
        formula_list(shown_formula(model), counted),
        element("p", command_words, class_="note"),
    )


def _reached(own: FrontierFormula) -> str:
    """Say what a formula comes to."""
    point = own.tested
    if point is None:
        return f"Right for {share(own.accuracy)} of the rows learned from; not tested on others."
    between = ""
    if point.low is not None and point.high is not None:
        between = f" ({share(point.low)} to {share(point.high)} at 95 %)"
    found = {
        "finds {} of the positives": "sensitivity",
        "clears {} of the negatives": "specificity",
        "is right in {} of its yes answers": "ppv",
    }
    told = [
        words.format(share(value))
        for words, key in found.items()
        if (value := point.metrics.get(key)) is not None
    ]
    bound = length_bound(point)
    said = f"On unseen rows, {bound} were right for {share(point.accuracy_mean)}{between}"
    return (
        f"{said}. On these rows together, such a formula {', '.join(told)}." if told else f"{said}."
    )


def _metrics(own: FrontierFormula) -> dict[str, float | None]:
    return {} if own.tested is None else own.tested.metrics


def _figure(value: float | None) -> Figure | None:
    return None if value is None else Figure(100 * value)
