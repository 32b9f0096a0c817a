"""Tables of several labels with cells shaded by a share, and the names of labels where there is
little room.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dnfscale.errors import visible
from dnfscale.report.markup import Html, element, join, name_of
from dnfscale.report.parts import scrolling

SHADES = 5
"""The number of shades, besides no shade."""
_LONGEST_NAME, _LONGEST_HEAD = 12, 32
"""The most letters of one name, and of all names, with which labels head columns; otherwise their
numbers do.
"""
_LONGEST_ROW = 40
"""The most letters of a name at the head of a row; the label's formula shows the full name."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: what it says, and its shade."""

    text: str
    shade: str | None = None
    """A class of the style sheet."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels that head the rows and columns of tables."""

    names: tuple[str, ...]

    @property
    def are_numbered(self) -> bool:
        lengths = [len(visible(name)) for name in self.names]
        return (
            max(lengths, default=0) > _LONGEST_NAME
            or sum(max(length, 2) for length in lengths) > _LONGEST_HEAD
        )

    def row(self, index: int) -> Html:
        """Return the head of a label's row: its name, with its number if columns are headed by
        numbers.
        """
        name = name_of(shortened(self.names[index]))
        return (
            join(element("span", f"{index + 1} ", class_="number"), name)
            if self.are_numbered
            else name
        )

    def column(self, index: int) -> Html:
        """Return the head of a label's column: its name or number; screen readers always get the
        name.
        """
        if not self.are_numbered:
            return name_of(self.names[index])
        number = element("span", str(index + 1), class_="number", aria_hidden="true")
        return join(number, element("span", name_of(shortened(self.names[index])), class_="unseen"))


def shortened(name: str) -> str:
    """Return a name, shortened if it is too long for the head of a row."""
    shown = visible(name)
    return shown if len(shown) <= _LONGEST_ROW else f"{shown[: _LONGEST_ROW - 1]}…"


def shade(kind: str, share: float) -> str | None:
    """Return the class of a share's shade: none for 0, the darkest for all."""
    return f"{kind}-{math.ceil(SHADES * share)}" if share > 0 else None


def shaded_table(
    title: str, head: Sequence[Html | str], rows: Sequence[tuple[Html, Sequence[Cell]]]
) -> Html:
    """Return a table of shaded cells, each row with its head, in a box that scrolls; row heads stay
    in sight.
    """
    first, *others = head
    heads = [
        element("th", first, scope="col", class_="text"),
        *(element("th", words, scope="col") for words in others),
    ]
    body = [
        element(
            "tr",
            element("th", name, scope="row", class_="text wrap"),
            *(element("td", cell.text, class_=cell.shade or "nought") for cell in cells),
        )
        for name, cells in rows
    ]
    return scrolling(title, heads, body, class_="shaded")
