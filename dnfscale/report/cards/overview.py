"""The overview of several runs, which comes before the single runs."""

from __future__ import annotations

from collections.abc import Sequence

from dnfscale.report.cards.comparing import accuracy_card, difference_card, runtime_card
from dnfscale.report.cards.formula import formula_text
from dnfscale.report.markup import Html, element, join, name_of
from dnfscale.report.parts import Place, Section, card, folded, scrolling, table
from dnfscale.report.profiles import difference_table, profile_table
from dnfscale.report.run import RunView
from dnfscale.report.tables import features_table, fidelity_table, formula_table, label_table
from dnfscale.report.wording import (
    count,
    extent,
    objective_title,
    objective_words,
    share,
    suite_words,
)
from dnfscale.results.formula import Formula
from dnfscale.results.method import Method
from dnfscale.results.result import Result

_LONGEST_FORMULA = 110
"""The most letters of a formula that the first table writes out."""


def overview(views: Sequence[RunView], failures: Sequence[tuple[str, str]]) -> list[Section]:
    """Return the sections before the single runs: what failed, the results, and how
    they compare.
    """
    failed = [_failures(failures)] if failures else []
    if not views:
        return failed
    place = Place("", 2)
    results = [view.result for view in views]
    words = suite_words(views)
    summary = (
        element("ul", *(element("li", sentence) for sentence in words), class_="words")
        if words
        else None
    )
    formulas, fidelities, by_label = (
        formula_table(results),
        fidelity_table(results),
        label_table(results),
    )
    cards = [
        card(place, "glance", "At a glance", summary, _glance(views)),
        _profiles(place, results),
        accuracy_card(place, views),
        difference_card(place, views),
        runtime_card(place, views),
        card(
            place,
            "tables",
            "Dimensions and formulas",
            table(features_table(results)),
            table(fidelities) if fidelities.rows else None,
            folded("Each label on the test rows", table(by_label)) if by_label.rows else None,
            folded("The formula of each first fold", table(formulas)) if formulas.rows else None,
            short="Tables",
        ),
    ]
    return [*failed, *(section for section in cards if section is not None)]


def _profiles(place: Place, results: Sequence[Result]) -> Section | None:
    """Return the runs averaged by dataset and profile; None if there is one plain run of each."""
    averaged, differences = profile_table(results), difference_table(results)
    if not averaged.rows:
        return None
    compared = table(differences) if differences.rows else None
    return card(
        place, "profiles", "Profiles side by side", table(averaged), compared, short="Profiles"
    )


def run_key(number: int) -> str:
    """Return the id of the n-th run's own part of the page."""
    return f"run-{number}"


def _glance(views: Sequence[RunView]) -> Html:
    """Return the runs in one table; on a phone each row becomes a block, so roles tell screen
    readers it is a table.
    """
    title = "The formula of all rows, and its accuracy on rows not seen"
    results = [view.result for view in views]
    head = ["Run", "Accuracy, %"]
    learned_for = any(result.ideal and result.ideal.objective for result in results)
    head += ["Learned for"] if learned_for else []
    head += ["Fidelity, %"] if any(result.explains for result in results) else []
    head += ["Formula", "Attributes", "Rows"]
    kinds = {"Run": "text", "Learned for": "text", "Formula": "text long"}
    rows = []
    for number, view in enumerate(views, start=1):
        cells = _glance_cells(view)
        link = element("a", name_of(view.label), href=f"#{run_key(number)}")
        rows.append(
            element(
                "tr",
                element("th", link, scope="row", class_="text", role="rowheader"),
                *(
                    element(
                        "td",
                        cells[name] or None,
                        class_=kinds.get(name),
                        role="cell",
                        data_name=name,
                    )
                    for name in head[1:]
                ),
                role="row",
            )
        )
    heads = [
        element("th", words, scope="col", class_=kinds.get(words), role="columnheader")
        for words in head
    ]
    return scrolling(title, heads, rows, class_="glance", roles=True)


def _glance_cells(view: RunView) -> dict[str, Html | str]:
    """Return one run's cells in the table of all runs, by the heads of its columns; empty text if
    there is nothing.
    """
    ideal = view.result.ideal
    point = ideal.shown_point if ideal else None
    accuracy = point.accuracy_mean if point else ideal.accuracy_mean if ideal else None
    fidelity = ideal.fidelity_mean if ideal else None
    untested = "" if fidelity is not None else "not tested"
    learned = [formula.learned for formula in view.formulas if formula.learned]
    return {
        "Accuracy, %": untested if accuracy is None else f"{100 * accuracy:.1f}",
        "Learned for": "" if ideal is None else _learned_for(ideal),
        "Fidelity, %": "" if fidelity is None else f"{100 * fidelity:.1f}",
        "Formula": name_of(_short_formula(learned)) if learned else "",
        "Attributes": extent([formula.ell for formula in learned]) if learned else "",
        "Rows": f"{view.result.data.rows:,}",
    }


def _learned_for(ideal: Method) -> str:
    """Say what formulas were learned for, and what they come to at it on test rows."""
    objective = ideal.objective
    if objective is None:
        return "accuracy"
    if objective.mean is None:
        return objective_title(objective)
    return f"{share(objective.mean)} {objective_words(objective)}"


def _short_formula(learned: Sequence[Formula]) -> str:
    """Return a formula if it is short; for a long one, or several, the size."""
    if len(learned) == 1 and len(text := formula_text(learned[0])) <= _LONGEST_FORMULA:
        return text
    lines, literals = (
        sum(formula.terms for formula in learned),
        sum(formula.literals for formula in learned),
    )
    formulas = f"{count(len(learned), 'formula')}, " if len(learned) > 1 else ""
    return f"{formulas}{count(lines, 'line')}, {count(literals, 'condition')}"


def _failures(failures: Sequence[tuple[str, str]]) -> Section:
    entries = [
        join(element("dt", name_of(name)), element("dd", _lines(error))) for name, error in failures
    ]
    title = f"{count(len(failures), 'job')} failed"
    return card(Place("", 2), "failures", title, element("dl", *entries), class_="card failures")


def _lines(text: str) -> Html:
    first, *rest = text.splitlines() or [""]
    return join(first, *(join(Html("<br>"), line) for line in rest))
