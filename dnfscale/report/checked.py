"""A check of a table as people read it: on the terminal, in a notebook, and on the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dnfscale.errors import visible
from dnfscale.report.formats import Table
from dnfscale.report.markup import Html, element
from dnfscale.report.notebook import framed
from dnfscale.report.parts import table
from dnfscale.results.check import Check, ColumnCheck, Finding
from dnfscale.results.record import Label, label_text

_WIDEST = 28
_MOST_COLUMNS = 60
"""Of a wider table, the columns without a finding are left out on the terminal."""
HEADINGS = ("column", "type", "missing", "distinct", "least", "greatest", "most frequent")


def check_lines(check: Check, name: str) -> str:
    """Return a check as the lines of a terminal."""
    shown = shown_columns(check)
    rows = [HEADINGS, *(column_cells(column, check.rows) for column in shown)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS))]
    lines = [f"{visible(name)}: {headline(check)}", ""]
    lines += [_aligned(row, widths).rstrip() for row in rows]
    if len(shown) < len(check.columns):
        lines.append(f"and {len(check.columns) - len(shown):,} columns without a finding")
    lines += ["", *_told_findings(check)]
    return "\n".join(lines)


def headline(check: Check) -> str:
    """Return the size of the table, and its labels with their rows."""
    size = f"{check.rows:,} rows, {len(check.columns):,} columns"
    if check.target is None:
        return size
    labels = ", ".join(f"{_brief(label.value)} {label.rows:,}" for label in check.labels[:10])
    more = f" and {len(check.labels) - 10} more" if len(check.labels) > 10 else ""
    absent = check.rows - sum(label.rows for label in check.labels)
    without = f", none {absent:,}" if absent else ""
    return f"{size}; {visible(check.target)}: {labels or 'no label'}{more}{without}"


def column_cells(column: ColumnCheck, n_rows: int) -> tuple[str, ...]:
    """Return what a table says of a column."""
    about = "" if column.exact else "about "
    distinct = "not read" if column.distinct is None else f"{about}{column.distinct:,}"
    most = column.frequent[0] if column.frequent else None
    frequent = "" if most is None else f"{_brief(most.value)} ({_percent(most.rows / n_rows)})"
    return (
        _cut(visible(column.name)),
        _cut(column.type),
        _percent(column.missing) if column.missing_rows else "",
        distinct,
        _brief(column.least),
        _brief(column.greatest),
        frequent,
    )


def ranked_findings(check: Check) -> list[tuple[str, Finding]]:
    """Return all findings with what they are about, the gravest first."""
    return [(about or "the table", finding) for about, finding in check.ranked]


def check_markup(check: Check) -> Html:
    """Return a check as two tables of HTML."""
    findings = [
        (finding.severity, about, finding.kind, finding.evidence, finding.advice)
        for about, finding in ranked_findings(check)
    ]
    columns = [column_cells(column, check.rows) for column in shown_columns(check)]
    heads = ("severity", "about", "kind", "evidence", "what to do")
    found = table(Table("What was found", heads, tuple(findings)), wrap=True)
    return framed(
        element("p", headline(check)),
        found if findings else element("p", "Nothing was found to warn of."),
        table(Table("The columns", HEADINGS, tuple(columns)), wrap=True),
        has_tables=True,
    )


def shown_columns(check: Check) -> list[ColumnCheck]:
    """Return the columns to list: of a wide table, those with a finding."""
    if len(check.columns) <= _MOST_COLUMNS:
        return list(check.columns)
    return [c for c in check.columns if c.findings or c.name == check.target][:_MOST_COLUMNS]


def _told_findings(check: Check) -> Iterator[str]:
    found = ranked_findings(check)
    if not found:
        yield "no findings"
    for about, finding in found:
        subject = "" if about == "the table" else f"{visible(about)}: "
        yield f"{finding.severity:<8} {finding.kind:<20} {subject}{visible(finding.evidence)}"
        yield f"{'':<29} {visible(finding.advice)}"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    right = (2, 3)
    cells = [
        cell.rjust(width) if i in right else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(cells)


def _brief(value: Label | None) -> str:
    if value is None:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else label_text(value)
    return _cut(visible(text) or "''")


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
