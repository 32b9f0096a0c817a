"""The page: one self-contained HTML file that loads nothing and runs nothing.

Its content security policy allows the one style sheet in it, by its hash, and forbids the rest: no
script, no image, no font, no request. The overview of several runs comes first, then each run by
itself.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from dnfscale.errors import visible
from dnfscale.report.cards.answer import answer_card
from dnfscale.report.cards.certificate import certificate_card
from dnfscale.report.cards.comparing import accuracy_card, difference_card, runtime_card
from dnfscale.report.cards.deciding import deciding_card
from dnfscale.report.cards.frontier import frontier_card
from dnfscale.report.cards.labels import confusion_card
from dnfscale.report.cards.overview import overview, run_key
from dnfscale.report.cards.sections import (
    baselines_card,
    data_card,
    environment_card,
    folds_card,
    stability_card,
    sweep_card,
)
from dnfscale.report.markup import Child, Html, element, join, name_of
from dnfscale.report.own_parts import own_parts
from dnfscale.report.paper import CITATION
from dnfscale.report.parts import Place, Section, folded
from dnfscale.report.run import ReportRun, RunView, view_runs
from dnfscale.report.style import STYLE
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
    if len(views) == 1 and not failures:
        [view] = views
        header = _run_header(view, level=1)
        place = Place("", 2)
        sections = [answer_card(place, view), *_detail_cards(place, view)]
        return _page(title or view.label, header, sections)
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
    return _page(words, header, sections)


def _detail_cards(place: Place, view: RunView) -> list[Section]:
    cards = [
        deciding_card(place, view),
        accuracy_card(place, [view]),
        difference_card(place, [view]),
        confusion_card(place, view),
        sweep_card(place, view),
        frontier_card(place, view),
        *(own.card(place, view, method) for own, method in own_parts(view.result)),
        folds_card(place, view),
        stability_card(place, view),
        baselines_card(place, view),
        runtime_card(place, [view]),
        certificate_card(place, view),
        data_card(place, view),
        environment_card(place, view),
    ]
    return [section for section in cards if section is not None]


def _article(view: RunView, number: int) -> Section:
    place = Place(run_key(number), 3)
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
            *(section.html for section in _detail_cards(place, view)),
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
    name = [" · run ", name_of(result.name)] if view.label != result.name else []
    return join(
        element(
            "p", f"dnfscale {_KINDS.get(result.kind, result.kind).lower()}", *name, class_="kind"
        ),
        element(f"h{level}", name_of(view.label), id=f"{key}-heading" if key else None),
        element("p", " · ".join(facts), class_="lead"),
    )


def _extent(views: Sequence[RunView]) -> str:
    rows = sum(view.result.data.rows for view in views)
    folds = sum(view.result.n_folds for view in views)
    tested = f", {count(folds, 'test fold')}" if folds else ""
    return f"{count(len(views), 'run')}, {count(rows, 'row')}{tested}"


def _contents(sections: Sequence[Section]) -> Html:
    links = [
        element("li", element("a", section.title, href=f"#{section.id}")) for section in sections
    ]
    return element("nav", element("ul", *links), aria_label="Contents")


def _page(title: str, header: Html, sections: Sequence[Section]) -> str:
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    footer = (
        f'Made by dnfscale. "The paper" is {CITATION}; its figures are marked as the '
        "paper's wherever they stand."
    )
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
    ]
    document = element("html", element("head", *head), element("body", *body), lang="en")
    return f"<!DOCTYPE html>\n{document}\n"
