"""The pieces of every section of the page: cards, tables, legends, figures with their data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dnfscale.report.formats import Table, shown
from dnfscale.report.markup import Child, Html, element, join, name_of

_MOST_COLUMNS = 8
"""A table of more columns than this is set in smaller type."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a section is on the page: the prefix of its ids, and the level of its heading."""

    key: str
    level: int

    def id(self, name: str) -> str:
        return f"{self.key}-{name}" if self.key else name


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page that is listed in its contents."""

    id: str
    title: Child
    html: Html
    live: bool = False
    """Whether it needs the page's script, and stays hidden without it."""


@dataclass(frozen=True, slots=True)
class Panel:
    """What a slider shows at one of its places."""

    title: str
    content: Html


def card(
    place: Place,
    name: str,
    title: str,
    *children: Child,
    short: str | None = None,
    class_: str = "card",
    live: bool = False,
) -> Section:
    """Return a section with its heading; short is its title in the contents. A live one is hidden
    until the page's script shows it.
    """
    key = place.id(name)
    heading = element(f"h{place.level}", title, id=f"{key}-heading")
    html = element(
        "section",
        heading,
        *children,
        id=key,
        class_=class_,
        # Of several runs, each has a section of this title: its name says whose.
        aria_labelledby=" ".join([*([f"{place.key}-heading"] * bool(place.key)), f"{key}-heading"]),
        hidden=live,
        data_live=live,
    )
    return Section(key, short or title, html, live)


def table(table: Table, *, wrap: bool = False, class_: str | None = None) -> Html:
    """Return a table in a box of its own that scrolls if it is wider than the page; its first
    column names the rows.
    """
    texts = [column == 0 or table.is_text(column) for column in range(len(table.header))]
    theirs = [name.endswith("(paper)") for name in table.header]
    classes = [
        " ".join([*(["text"] * text), *(["theirs"] * paper)])
        for text, paper in zip(texts, theirs, strict=True)
    ]
    head = [
        element("th", name, scope="col", class_=classes[column] or None)
        for column, name in enumerate(table.header)
    ]
    body = []
    for row in table.rows:
        first = element(
            "th", name_of(shown(row[0])), scope="row", class_="text wrap" if wrap else "text"
        )
        cells = []
        for column, cell in enumerate(row[1:], start=1):
            content = name_of(cell) if isinstance(cell, str) else shown(cell)
            long = " long" if isinstance(cell, str) and len(cell) > 60 else ""
            cells.append(element("td", content, class_=(classes[column] + long) or None))
        body.append(element("tr", first, *cells))
    wide = "wide" if len(table.header) > _MOST_COLUMNS else None
    return scrolling(table.title, head, body, class_=class_ or wide)


def scrolling(
    title: str,
    head: Sequence[Html],
    rows: Sequence[Html],
    *,
    class_: str | None,
    roles: bool = False,
) -> Html:
    """Return a table in a box that scrolls if it is wider than the page; `roles` where its style
    would hide from screen readers that it is a table.
    """
    group, row = ("rowgroup", "row") if roles else (None, None)
    content = element(
        "table",
        element("caption", element("span", title)),
        element("thead", element("tr", *head, role=row), role=group),
        element("tbody", *rows, role=group),
        class_=class_,
        role="table" if roles else None,
    )
    return element("div", content, class_="scroll", tabindex=0, role="group", aria_label=title)


def folded(
    summary: Child, *children: Child, class_: str | None = None, unfolded: bool = False
) -> Html:
    """Return content that is folded under a summary."""
    return element("details", element("summary", summary), *children, class_=class_, open=unfolded)


def slider(key: str, label: str, panels: Sequence[Panel], at: int, *, folds: bool = False) -> Html:
    """Return panels of which a slider shows one, that at `at` first.

    Without the page's script there is no slider: panels are folds that can be opened if `folds`,
    and else they are not shown, so what they say must also stand elsewhere.
    """
    control = element(
        "div",
        element("label", label, for_=key),
        element("input", type="range", id=key, min=0, max=len(panels) - 1, step=1, value=at),
        element("output", panels[at].title, for_=key),
        class_="slide",
        hidden=True,
        data_live=True,
    )
    shown = [
        element(
            "details",
            element("summary", panel.title),
            panel.content,
            class_="panel",
            data_panel=panel.title,
        )
        if folds
        else element(
            "div",
            panel.content,
            class_="panel",
            data_panel=panel.title,
            hidden=True,
            data_live=True,
        )
        for panel in panels
    ]
    return element("div", control, *shown, class_="slider")


def figure(drawing: Html, caption: str | None, data: Table, *, unfolded: bool = False) -> Html:
    """Return a chart with its caption, and its data as a folded table."""
    return join(
        element("figure", drawing, element("figcaption", caption) if caption else None),
        folded("The same as a table", table(data), unfolded=unfolded),
    )


def figures(pairs: Sequence[tuple[str, Child, Child]]) -> Html:
    """Return the key figures of a run, given as (name, value, note)."""
    return element(
        "dl",
        *(
            element(
                "div",
                element("dt", name),
                element("dd", value, element("small", note) if note else None),
            )
            for name, value, note in pairs
        ),
        class_="figures",
    )


def legend(entries: Sequence[tuple[Html, str]]) -> Html:
    """Return the legend of a chart: its signs and what they mean."""
    return element(
        "ul",
        *(element("li", sign, element("span", words)) for sign, words in entries),
        class_="legend",
    )


def sign(*shapes: Html) -> Html:
    """Return a sign of a legend: shapes in a box of 22 by 14 pixels."""
    return element("svg", *shapes, width=22, height=14, aria_hidden="true")


def facts(title: str, record: Mapping[str, object]) -> Html | None:
    """Return a record of any depth as a table of two columns."""
    rows = tuple(_flat(record))
    return table(Table(title, ("What", "Value"), rows), wrap=True, class_="facts") if rows else None


def _flat(record: Mapping[str, object], prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in record.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            rows += _flat(value, f"{name}: ")
        elif isinstance(value, list | tuple):
            rows.append((name, ", ".join(_plain(item) for item in value)))
        else:
            rows.append((name, _plain(value)))
    return rows


def _plain(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
