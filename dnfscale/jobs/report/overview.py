"""The overview of several runs, before each of them by itself."""

from __future__ import annotations

from collections.abc import Sequence

from dnfscale.experiment.tables import features_table, formula_table
from dnfscale.jobs.report.comparing import accuracy_card, difference_card, runtime_card
from dnfscale.jobs.report.markup import Html, element, join, name_of
from dnfscale.jobs.report.parts import Place, Section, card, folded, table
from dnfscale.jobs.report.run import RunView
from dnfscale.jobs.report.wording import count, suite_words


def overview(views: Sequence[RunView], failures: Sequence[tuple[str, str]]) -> list[Section]:
    """Return what comes before the runs themselves: what failed, what they came to, and how they compare."""
    failed = [_failures(failures)] if failures else []
    if not views:
        return failed
    place = Place("", 2)
    outcomes = [view.outcome for view in views]
    words = suite_words(views)
    summary = element("ul", *(element("li", sentence) for sentence in words), class_="words") if words else None
    formulas = formula_table(outcomes)
    cards = [
        card(place, "glance", "At a glance", summary, _glance(views)),
        accuracy_card(place, views),
        difference_card(place, views),
        runtime_card(place, views),
        card(
            place,
            "tables",
            "Dimensions and formulas",
            table(features_table(outcomes)),
            folded("The formula of each first fold", table(formulas)) if formulas.rows else None,
            short="Tables",
        ),
    ]
    return [*failed, *(section for section in cards if section is not None)]


def run_key(number: int) -> str:
    """Return the id of the n-th run's own part of the page."""
    return f"run-{number}"


def _glance(views: Sequence[RunView]) -> Html:
    title = "The formula of all rows, and its accuracy on rows not seen"
    has_paper = any(view.outcome.paper for view in views)
    head = [
        ("Run", "text"),
        ("Accuracy, %", None),
        *([("Accuracy (paper)", "theirs")] if has_paper else []),
        ("Formula", "text"),
        ("Attributes", None),
        ("Rows", None),
    ]
    rows = []
    for number, view in enumerate(views, start=1):
        ideal, formula = view.outcome.ideal, view.formula
        text = "" if formula is None else formula.text
        short = text if formula is None or len(text) <= 110 else _size(view)
        tested = ideal.accuracy_mean if ideal else None
        told = view.outcome.paper.accuracies["ideal"].mean if view.outcome.paper else None
        link = element("a", name_of(view.label), href=f"#{run_key(number)}")
        rows.append(
            element(
                "tr",
                element("th", link, scope="row", class_="text"),
                element("td", "not tested" if tested is None else f"{100 * tested:.1f}"),
                element("td", "" if told is None else f"{told:.1f}", class_="theirs") if has_paper else None,
                element("td", name_of(short), class_="text long"),
                element("td", f"{formula.ell}" if formula else ""),
                element("td", f"{view.outcome.rows:,}"),
            )
        )
    content = element(
        "table",
        element("caption", title),
        element("thead", element("tr", *(element("th", words, scope="col", class_=kind) for words, kind in head))),
        element("tbody", *rows),
    )
    return element("div", content, class_="scroll", tabindex=0, role="region", aria_label=title)


def _size(view: RunView) -> str:
    formula = view.formula
    return f"{count(formula.terms, 'line')}, {count(formula.literals, 'condition')}" if formula else ""


def _failures(failures: Sequence[tuple[str, str]]) -> Section:
    entries = [join(element("dt", name_of(name)), element("dd", _lines(error))) for name, error in failures]
    title = f"{count(len(failures), 'job')} failed"
    return card(Place("", 2), "failures", title, element("dl", *entries), class_="card failures")


def _lines(text: str) -> Html:
    first, *rest = text.splitlines() or [""]
    return join(first, *(join(Html("<br>"), line) for line in rest))
