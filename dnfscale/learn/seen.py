"""What the columns of a formula held in the rows learned from, as its model keeps it."""

from __future__ import annotations

from dnfscale.core.columns import CategorySummary, Column, NumberSummary
from dnfscale.core.parts import Part, stored_column
from dnfscale.core.quantities import Quantity
from dnfscale.core.seen import SeenColumn
from dnfscale.core.vocabulary import Vocabulary
from dnfscale.learn.table import Table
from dnfscale.spec.learn import LearnSpec


def seen_columns(tau: Vocabulary, table: Table, spec: LearnSpec) -> tuple[SeenColumn, ...]:
    """Return what the columns of tau held, each once and in rank order; nothing, if the spec does
    not want it told.

    Values that fewer rows had than privacy.min_rows are counted, and not listed.
    """
    if not spec.columns:
        return ()
    found = {
        column.name: (column, summary)
        for column, summary in zip(table.columns, table.summary.columns, strict=True)
    }
    used = dict.fromkeys(attribute.column for attribute in tau.attributes)
    # A column is told by its own values, also where only a part of it is asked for.
    told = {stored_column(name): found.get(stored_column(name), found[name]) for name in used}
    n_rows = table.summary.rows_of_interest
    return tuple(
        _seen(name, column, summary, table.types[name], n_rows, spec.min_rows)
        for name, (column, summary) in told.items()
    )


def _seen(
    name: str,
    column: Column,
    summary: NumberSummary | CategorySummary,
    kind: str,
    n_rows: int,
    min_rows: int,
) -> SeenColumn:
    missing = summary.missing / n_rows if n_rows else 0.0
    if isinstance(column.name, Part):
        return SeenColumn(name, kind, missing)
    if isinstance(summary, CategorySummary):
        listed = tuple(value for value in summary.values if summary.counts[value] >= min_rows)
        unlisted = len(summary.counts) - len(listed)
        return SeenColumn(name, kind, missing, values=listed, unlisted=unlisted)
    if summary.extent is None:
        return SeenColumn(name, kind, missing)
    least, greatest = (_end(value, column) for value in summary.extent)
    return SeenColumn(name, kind, missing, least, greatest)


def _end(value: int | float, column: Column) -> int | float | Quantity:
    return value if column.measure is None else Quantity(column.measure, int(value))
