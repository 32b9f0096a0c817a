"""An evaluation of a model as people read it: on the terminal, in a notebook, and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dnfscale.errors import visible
from dnfscale.report.formats import Cell, Figure, Table, shown
from dnfscale.report.markup import Html, element, join, name_of
from dnfscale.report.measured import (
    gap_table,
    interval_text,
    metric_text,
    metric_title,
    slice_table,
    value_text,
)
from dnfscale.report.notebook import framed
from dnfscale.report.page import whole_page
from dnfscale.report.parts import Place, Section, card, table
from dnfscale.report.wording import MISSING_WORDS, count, share
from dnfscale.results.evaluation import Evaluation, LineShift

_WIDEST = 60
_MOST_LINES = 20
_COLUMNS = (
    "Column",
    "Was missing, %",
    "Is missing, %",
    "New values",
    "Out of range",
    "PSI",
    "Effect",
    "Verdict",
)


def evaluation_lines(evaluation: Evaluation, name: str) -> str:
    """Return an evaluation as the lines of a terminal."""
    blocks = [
        [f"{visible(name)}: {headline(evaluation)}"],
        list(_noted(evaluation)),
        *([found.title, *_aligned(found)] for found in evaluation_tables(evaluation) if found.rows),
        drift_words(evaluation),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def headline(evaluation: Evaluation) -> str:
    """Return the size of the table, and how many rows have a truth."""
    rows = count(evaluation.rows, "row")
    if not evaluation.known:
        return f"{rows}, without a truth to compare with ({visible(evaluation.target)})"
    labels = ", ".join(
        f"{visible(value_text(label.value))} {label.rows:,}" for label in evaluation.labels[:10]
    )
    without = evaluation.rows - evaluation.known
    more = f"; the truth of {without:,} is not known" if without else ""
    return f"{rows}; {visible(evaluation.target)}: {labels}{more}"


def evaluation_tables(evaluation: Evaluation) -> list[Table]:
    """Return the tables of an evaluation, in the order in which people need them."""
    tables = [_answers(evaluation), _metrics(evaluation), _lines(evaluation.drift.lines)]
    tables += [_columns(evaluation)]
    tables += [slice_table(part) for part in evaluation.slices]
    if any(part.gaps for part in evaluation.slices):
        tables.append(gap_table(evaluation.slices))
    return [found for found in tables if found.rows]


def drift_words(evaluation: Evaluation) -> list[str]:
    """Say how far the rows differ from those that the model was learned from."""
    drift = evaluation.drift
    if drift.greatest is None:
        return ["drift: the model's counts say nothing to compare with"]
    words = [
        f"drift: the greatest PSI is {drift.greatest:.3f}, of {visible(drift.of or '')} (below 0.1 "
        "little, above 0.25 much)"
    ]
    if not evaluation.findings:
        words.append("nothing differs noticeably from the rows learned from")
    elif 0 < evaluation.known < evaluation.rows:
        words.append(
            "this counts the rows without a truth too; none such was learned from, so where they "
            "are of another kind, compare the others alone"
        )
    words += [
        f"  {found.kind:<11} {visible(found.about)}: {visible(found.evidence)}"
        for found in evaluation.findings
    ]
    return words


def evaluation_markup(evaluation: Evaluation) -> Html:
    """Return an evaluation as tables of HTML, for a notebook."""
    return framed(
        element("p", headline(evaluation)),
        *(table(found, wrap=True) for found in evaluation_tables(evaluation)),
        *(element("p", line) for line in drift_words(evaluation)),
        has_tables=True,
    )


def evaluation_page(evaluation: Evaluation, name: str) -> str:
    """Return an evaluation as a self-contained page."""
    place = Place("", 2)
    header = join(
        element("p", "dnfscale evaluation", class_="kind"),
        element("h1", name_of(name)),
        element("p", headline(evaluation), class_="lead"),
    )
    notes = [element("p", line) for line in _noted(evaluation)]
    words = drift_words(evaluation)
    slices = [slice_table(part) for part in evaluation.slices]
    gaps = gap_table(evaluation.slices)
    sections: list[Section] = [
        card(
            place,
            "metrics",
            "How good the answers are",
            *notes,
            table(_answers(evaluation)),
            table(_metrics(evaluation)) if evaluation.metrics else None,
        ),
        card(
            place,
            "drift",
            "Do these rows look like those learned from?",
            *(element("p", line) for line in words),
            table(_columns(evaluation), wrap=True),
            short="Drift",
        ),
        card(
            place,
            "lines",
            "Are the lines as right as they were?",
            table(_lines(evaluation.drift.lines), wrap=True),
            short="Lines",
        ),
    ]
    if slices:
        found = [table(part) for part in slices]
        found += [table(gaps)] if gaps.rows else []
        sections.append(
            card(place, "slices", "Is it as good for everyone?", *found, short="Slices")
        )
    return whole_page(f"Evaluation of {visible(name)}", header, sections)


def _noted(evaluation: Evaluation) -> Iterator[str]:
    """Say what else a person should know of the answers."""
    if evaluation.weighted:
        yield (
            "the model was learned from rows with weights, and here each row counts once: figures "
            "and drift may differ for that alone"
        )
    if evaluation.unseen_rows:
        yield f"{evaluation.unseen_rows:,} rows are of a type that no row had in the learning"
    if evaluation.missing_rows:
        yield (
            f"{evaluation.missing_rows:,} rows lack a value that the model uses: {MISSING_WORDS}"
        )


def _answers(evaluation: Evaluation) -> Table:
    rows = tuple(
        (value_text(answer.value), answer.rows, Figure(100 * answer.rows / evaluation.rows))
        for answer in evaluation.answers
    )
    return Table("Answers", ("Answer", "Rows", "Share, %"), rows)


def _metrics(evaluation: Evaluation) -> Table:
    rows = tuple(
        (
            metric_title(name),
            metric_text(name, value),
            interval_text(name, evaluation.intervals.get(name)),
        )
        for name, value in evaluation.metrics.items()
    )
    title = f"Metrics of {count(evaluation.known, 'row')} whose truth is known"
    return Table(title, ("Metric", "Value", "At 95 %"), rows)


def _lines(lines: Sequence[LineShift]) -> Table:
    several = any(line.label is not None for line in lines)
    rows = tuple(
        (
            line.text,
            *([value_text(line.label)] if several else []),
            _percent(line.learned_share),
            _percent(line.share),
            _interval_text(line),
            _percent(line.positive),
            "" if line.outside is None else f"{line.outside} its interval",
        )
        for line in lines[:_MOST_LINES]
    )
    header = (
        "Line",
        *(["Label"] if several else []),
        "Held, %",
        "Holds, %",
        "Positive then, at 95 %",
        "Positive now, %",
        "Verdict",
    )
    more = f", the first {_MOST_LINES} of {len(lines):,}" if len(lines) > _MOST_LINES else ""
    return _filled(Table(f"Lines{more}", header, rows))


def _interval_text(line: LineShift) -> str:
    """Return the interval of a line's share of positive rows; of weighted rows, the share."""
    if line.low is None or line.high is None:
        return "" if line.learned_positive is None else share(line.learned_positive)
    return f"{share(line.low).removesuffix(' %')} to {share(line.high)}"


def _columns(evaluation: Evaluation) -> Table:
    rows = tuple(
        (
            column.name,
            _percent(column.learned_missing),
            Figure(100 * column.missing),
            column.new,
            column.below + column.above,
            None if column.shift is None else Figure(column.shift.psi, 3),
            None if column.shift is None else Figure(column.shift.effect, 2),
            "drifted" if column.shift is not None and column.shift.drifted else "",
        )
        for column in evaluation.drift.columns
    )
    return _filled(Table("Columns", _COLUMNS, rows))


def _filled(found: Table) -> Table:
    """Return a table without the columns that say nothing in any row."""
    kept = [
        i for i in range(len(found.header)) if any(row[i] not in ("", None) for row in found.rows)
    ]
    header = tuple(found.header[i] for i in kept)
    return Table(found.title, header, tuple(tuple(row[i] for i in kept) for row in found.rows))


def _percent(part: float | None) -> Figure | None:
    return None if part is None else Figure(100 * part)


def _aligned(found: Table) -> list[str]:
    """Return a table as lines: words to the left, numbers to the right."""
    rows = [found.header, *(tuple(map(_brief, row)) for row in found.rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(found.header))]
    left = [i == 0 or found.is_text(i) for i in range(len(found.header))]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if to_left else cell.rjust(width)
            for cell, width, to_left in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in rows
    ]


def _brief(cell: Cell) -> str:
    text = visible(shown(cell))
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"
