"""A table, and how it is written: CSV for programs, Markdown and LaTeX for people.

A figure keeps its full value: CSV gets all digits, and the deviation in a column of its own; the
formats that people read get it rounded, as mean ± deviation.
"""

from __future__ import annotations

import csv
import io
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from dnfscale.data.cells import defused
from dnfscale.errors import visible
from dnfscale.export.latex import SPECIAL


@dataclass(frozen=True, slots=True)
class Figure:
    """A number for people: with how many decimals to show it, and its deviation if it has one."""

    value: float
    digits: int = 1
    deviation: float | None = None

    def __str__(self) -> str:
        text = f"{self.value:,.{self.digits}f}"
        if self.deviation is not None:
            text += f" ± {self.deviation:,.{self.digits}f}"
        return text.replace("-", "−")


Cell = str | int | Figure | None


def amount_cell(number: float) -> Cell:
    """Return the cell of a table for a number of rows, or for what rows weigh."""
    return number if isinstance(number, int) else Figure(number)


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a title; None is an empty cell."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.header) for row in self.rows):
            raise ValueError(f"every row of «{self.title}» must have {len(self.header)} cells")

    def is_text(self, column: int) -> bool:
        """Return whether a column holds words, not numbers."""
        return any(isinstance(row[column], str) for row in self.rows)


def to_csv(table: Table) -> str:
    """Write a table as CSV, with no text in it that a spreadsheet would run as a formula."""
    spread = [_has_deviations(table, column) for column in range(len(table.header))]
    header: list[str] = []
    for name, wide in zip(table.header, spread, strict=True):
        header += [_csv_text(name), _csv_text(f"{name} deviation")] if wide else [_csv_text(name)]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    for row in table.rows:
        line: list[str | int | float | None] = []
        for cell, wide in zip(row, spread, strict=True):
            if isinstance(cell, Figure):
                line += (
                    [_precise(cell.value), _precise(cell.deviation)]
                    if wide
                    else [_precise(cell.value)]
                )
            else:
                line += [
                    _csv_text(cell) if isinstance(cell, str) else cell,
                    *([None] if wide else []),
                ]
        writer.writerow(line)
    return buffer.getvalue()


def to_markdown(table: Table) -> str:
    """Write a table as GitHub-flavoured Markdown, its title in bold above it."""
    rule = ["---" if table.is_text(column) else "--:" for column in range(len(table.header))]
    lines = [[markdown_text(name) for name in table.header], rule]
    lines += [[markdown_text(shown(cell)) for cell in row] for row in table.rows]
    return f"**{markdown_text(table.title)}**\n\n" + "".join(
        f"| {' | '.join(line)} |\n" for line in lines
    )


def to_text(table: Table, width: int) -> str:
    """Write a table for a terminal: columns that do not fit beside each other follow below, each
    time with the first.
    """
    texts = [[_clipped(shown(cell), width // 3) for cell in row] for row in table.rows]
    heads = [_wrapped_head(name) for name in table.header]
    wide = [
        max(map(len, [*heads[column], *(row[column] for row in texts)]))
        for column in range(len(heads))
    ]
    blocks: list[list[int]] = []
    for column in range(1, len(heads)):
        fits = blocks and wide[0] + sum(2 + wide[n] for n in (*blocks[-1], column)) <= width
        blocks = [*blocks[:-1], [*blocks[-1], column]] if fits else [*blocks, [column]]
    lines = textwrap.wrap(visible(table.title), width, break_on_hyphens=False)
    for block in blocks or [[]]:
        columns = [0, *block]
        depth = max(len(heads[column]) for column in columns)
        padded = {column: [""] * (depth - len(heads[column])) + heads[column] for column in columns}
        rows = [[padded[column][n] for column in columns] for n in range(depth)]
        rows += [[row[column] for column in columns] for row in texts]
        lines.append("")
        for row in rows:
            cells = [
                cell.ljust(wide[column]) if table.is_text(column) else cell.rjust(wide[column])
                for cell, column in zip(row, columns, strict=True)
            ]
            lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def _wrapped_head(name: str) -> list[str]:
    """Return the head of a column on as many lines as make it narrow."""
    return textwrap.wrap(visible(name), width=12, break_on_hyphens=False) or [""]


def _clipped(text: str, most: int) -> str:
    text = visible(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def to_latex(table: Table) -> str:
    """Write a table as LaTeX with the rules of booktabs; columns of long text wrap."""
    wraps = [
        max((len(shown(row[i])) for row in table.rows), default=0) > 40
        for i in range(len(table.header))
    ]
    paragraph = f">{{\\raggedright\\arraybackslash}}p{{{0.7 / max(1, sum(wraps)):.2f}\\linewidth}}"
    columns = [
        paragraph if long else "l" if table.is_text(i) else "r" for i, long in enumerate(wraps)
    ]
    lines = [
        "% needs the packages booktabs, array and textcomp",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(table.title)}}}",
        rf"\begin{{tabular}}{{{''.join(columns)}}}",
        r"\toprule",
        " & ".join(_latex(name) for name in table.header) + r" \\",
        r"\midrule",
        *(" & ".join(_latex(shown(cell)) for cell in row) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def shown(cell: Cell) -> str:
    """Return a cell as people read it."""
    if cell is None:
        return ""
    return f"{cell:,}".replace("-", "−") if isinstance(cell, int) else str(cell)


def _has_deviations(table: Table, column: int) -> bool:
    cells = [row[column] for row in table.rows]
    return any(isinstance(cell, Figure) and cell.deviation is not None for cell in cells)


def _csv_text(text: str) -> str:
    # Python's writer does not quote a bare carriage return, and readers take it for the end of the
    # line.
    return defused(text).replace("\r", "\\r")


def _precise(value: float | None) -> float | None:
    # Ten digits suffice for every share of rows; the last digits of a float are noise of its
    # arithmetic.
    return None if value is None else float(f"{value:.10g}")


def markdown_text(text: str) -> str:
    """Return a text as Markdown that shows it as it is."""
    escaped = re.sub(r"([\\`*_{}\[\]<>#|~&$!])", r"\\\1", visible(text))
    # A bare address would become a link.
    return re.sub(r"(?i)\bwww\.", r"www\\.", escaped.replace("://", ":\\//"))


_LATEX: Mapping[str, str] = {
    **SPECIAL,
    "_": r"\_\allowbreak{}",
    "±": r"$\pm$",
    "−": "$-$",
    "χ": r"$\chi$",
    "²": "$^2$",
    # At the start of a line these two would be read as an option of the line break before it.
    "[": "{[}",
    "*": "{*}",
}


def _latex(text: str) -> str:
    # Hyphens in a row would be set as one dash.
    return re.sub("-(?=-)", "-{}", "".join(_LATEX.get(c, c) for c in visible(text)))
