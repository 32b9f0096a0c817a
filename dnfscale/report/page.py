"""The page: one self-contained HTML file that loads nothing.

Its content security policy allows the one style sheet and the one script in it, by their hashes,
and forbids the rest: no other script, no image, no font, no request. The page is whole without the
script, which answers what is typed into it. The overview of several runs comes first, then each run
by itself.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from dnfscale.errors import visible
from dnfscale.report.card import card_section
from dnfscale.report.cards.acting import acting_card
from dnfscale.report.cards.answer import answer_card
from dnfscale.report.cards.certificate import certificate_card
from dnfscale.report.cards.comparing import accuracy_card, difference_card, runtime_card
from dnfscale.report.cards.deciding import deciding_card
from dnfscale.report.cards.frontier import frontier_card
from dnfscale.report.cards.labels import confusion_card
from dnfscale.report.cards.lengths import lengths_card
from dnfscale.report.cards.metrics import metrics_card
from dnfscale.report.cards.overview import overview, run_key
from dnfscale.report.cards.sections import (
    baselines_card,
    data_card,
    environment_card,
    folds_card,
    stability_card,
    sweep_card,
)
from dnfscale.report.cards.slices import slices_card
from dnfscale.report.cards.what_if import what_if_card
from dnfscale.report.markup import Child, Html, element, join, name_of
from dnfscale.report.own_parts import own_parts
from dnfscale.report.paper import CITATION
from dnfscale.report.parts import Place, Section, folded
from dnfscale.report.run import ReportRun, RunView, view_runs
from dnfscale.report.style import SCRIPT, STYLE
from dnfscale.report.titles import paper_of
from dnfscale.report.wording import count

_KINDS = {"study": "Study", "fit": "Fit", "distill": "Distillation"}


def render_report(
    runs: Sequence[ReportRun], failures: Sequence[tuple[str, str]] = (), *, title: str | None = None
) -> str:
    """Return the report of some runs as one self-contained HTML page.

    `failures` are the jobs of a suite that did not finish: (name, error). The title names a suite;
    by default, the page of a single run has the run's name.
    """
    views = view_runs(runs)
    quotes_paper = any(paper_of(view.result) for view in views)
    if len(views) == 1 and not failures:
        [view] = views
        header = _run_header(view, level=1)
        place = Place("", 2)
        sections = [answer_card(place, view), *_open_cards(place, view), *_research(place, view)]
        shown = title or view.about.title or view.label
        return whole_page(shown, header, sections, quotes_paper=quotes_paper)
    words = title or "Several runs"
    header = join(
        element("p", "dnfscale report", class_="kind"),
        element("h1", words),
        element("p", _extent(views), class_="lead"),
    )
    sections = [
        *overview(views, failures),
        *(_article(view, number) for number, view in enumerate(views, start=1)),
    ]
    return whole_page(words, header, sections, quotes_paper=quotes_paper)


def _open_cards(place: Place, view: RunView) -> list[Section]:
    """Return what everybody may ask of a run."""
    cards = [
        what_if_card(place, view),
        lengths_card(place, view),
        acting_card(place, view),
        deciding_card(place, view),
        accuracy_card(place, [view]),
        confusion_card(place, view),
        metrics_card(place, view),
        slices_card(place, view),
        card_section(place, view),
        data_card(place, view),
    ]
    return [section for section in cards if section is not None]


def _research_cards(place: Place, view: RunView) -> list[Section]:
    """Return how the formula was chosen, and what else was measured."""
    cards = [
        certificate_card(place, view),
        difference_card(place, [view]),
        sweep_card(place, view),
        frontier_card(place, view),
        *(own.card(place, view, method) for own, method in own_parts(view.result)),
        folds_card(place, view),
        stability_card(place, view),
        baselines_card(place, view),
        runtime_card(place, [view]),
        environment_card(place, view),
    ]
    return [section for section in cards if section is not None]


def _research(place: Place, view: RunView) -> list[Section]:
    """Return the same folded, as one section, if there is any of it."""
    cards = _research_cards(place, view)
    if not cards:
        return []
    title = "For researchers"
    about = "guarantees, how the formula was chosen, each fold, stability, run time, environment"
    html = folded(
        join(element("strong", title), element("span", f": {about}", class_="soft")),
        *(section.html for section in cards),
        class_="more",
    )
    key = place.id("researchers")
    return [Section(key, title, element("div", html, id=key))]


def _article(view: RunView, number: int) -> Section:
    place = Place(run_key(number), 3)
    cards = [*_open_cards(place, view), *_research_cards(place, view)]
    html = element(
        "article",
        element("header", _run_header(view, level=2, key=place.key)),
        answer_card(place, view).html,
        folded(
            join(
                "More on ",
                name_of(view.label),
                ": examples, attributes, folds, stability, run time, data",
            ),
            *(section.html for section in cards),
            class_="more",
        ),
        id=place.key,
        aria_labelledby=f"{place.key}-heading",
    )
    return Section(place.key, name_of(view.label), html)


def _run_header(view: RunView, *, level: int, key: str | None = None) -> Html:
    result = view.result
    folds = "leave-one-out" if result.leaves_one_out else f"{count(result.n_folds, 'fold')}"
    weighted = (
        [] if result.data.weight is None else [f"weighted by {visible(result.data.weight.column)}"]
    )
    facts = [
        f"{result.data.rows:,} rows",
        *weighted,
        f"{result.data.columns:,} columns",
        *([folds] if result.n_folds else []),
    ]
    shown = view.about.title or view.label
    name = [" · run ", name_of(result.name)] if shown != result.name else []
    return join(
        element(
            "p", f"dnfscale {_KINDS.get(result.kind, result.kind).lower()}", *name, class_="kind"
        ),
        element(
            f"h{level}",
            name_of(shown),
            id=f"{key}-heading" if key else None,
        ),
        element("p", view.about.description, class_="lead") if view.about.description else None,
        element("p", " · ".join(facts), class_="lead"),
        *(_waiting(view) if view.waiting else ()),
    )


def _waiting(view: RunView) -> list[Html]:
    """Say what the run had still to do when the page was written."""
    others = ", ".join(view.waiting)
    said = f"This run has not finished: the formula is there, still to come: {others}."
    return [element("p", said, class_="lead")]


def _extent(views: Sequence[RunView]) -> str:
    # Several runs of one dataset have the same rows.
    tables = {
        (view.result.environment.dataset or view.result.name): view.result.data.rows
        for view in views
    }
    rows = sum(tables.values())
    folds = sum(view.result.n_folds for view in views)
    tested = f", {count(folds, 'test fold')}" if folds else ""
    return f"{count(len(views), 'run')}, {count(rows, 'row')}{tested}"


def _contents(sections: Sequence[Section]) -> Html:
    links = [
        element(
            "li",
            element("a", section.title, href=f"#{section.id}"),
            hidden=section.live,
            data_live=section.live,
        )
        for section in sections
    ]
    return element("nav", element("ul", *links), aria_label="Contents")


def whole_page(
    title: str, header: Html, sections: Sequence[Section], *, quotes_paper: bool = False
) -> str:
    """Return a page of its own with some sections; it says what "the paper" is if it quotes it."""
    policy = (
        f"default-src 'none'; style-src '{_digest(STYLE)}'; script-src '{_digest(SCRIPT)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    footer = "Made by dnfscale."
    if quotes_paper:
        footer += f' "The paper" is {CITATION}; its figures are marked as such.'
    head: list[Child] = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"{title} · dnfscale report"),
        element("style", Html(STYLE)),
    ]
    body: list[Child] = [
        element("a", "Skip to the content", href="#content", class_="skip"),
        element("header", header, _contents(sections), class_="frame"),
        element(
            "main",
            *(section.html for section in sections),
            id="content",
            class_="frame",
            tabindex=-1,
        ),
        element("footer", element("p", footer), class_="frame"),
        element("script", Html(SCRIPT)),
    ]
    document = element("html", element("head", *head), element("body", *body), lang="en")
    return f"<!DOCTYPE html>\n{document}\n"


def _digest(text: str) -> str:
    """Return how a policy names a text that it allows."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
