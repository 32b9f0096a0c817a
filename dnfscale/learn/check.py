"""Checks a table before anything is learned from it: one scan, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec.structs import replace

from dnfscale.core import facts
from dnfscale.core.arrays import Scalar
from dnfscale.core.columns import Column, Reading, Role, Rows
from dnfscale.core.facts import ColumnFacts, Limits, TableFacts
from dnfscale.core.model import HALF
from dnfscale.core.quantities import Measure, Quantity
from dnfscale.data.measures import measure_of
from dnfscale.data.roles import holds_labels, role_of
from dnfscale.data.source import Difference, Source
from dnfscale.engine.api import Engine
from dnfscale.errors import DataError, SpecError
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.method.findings import Subject, findings_of, table_findings
from dnfscale.results.check import Check, ColumnCheck, Finding, ValueRows
from dnfscale.results.record import label_record
from dnfscale.spec.checks import listed
from dnfscale.spec.learn import LearnSpec

CHECK_COLUMNS = Phase("check columns", Reads.FILES, "look at all columns")
_FREQUENT = 5
_OF_COLUMNS_ASIDE = ("constant", "missing_codes")
"""What matters of columns that no formula asks of."""


@dataclass(frozen=True, slots=True)
class SummarizeFacts:
    """The scan: the facts of a partition."""

    reading: Reading
    target: int | None
    """The place of the target in the reading."""
    limits: Limits

    def __call__(self, rows: Rows) -> TableFacts:
        return facts.summarize(rows, self.reading, self.target, self.limits)

    def merge(self, parts: Sequence[TableFacts]) -> TableFacts:
        return facts.merge(parts, self.limits)


def check_source(
    source: Source,
    target: str | None,
    engine: Engine,
    *,
    drop: Iterable[str] = (),
    differing: Sequence[Difference] = (),
) -> Check:
    """Check the columns of a source, except those to drop; `differing` are columns that it left
    out because files differ in them.
    """
    check_target(source, target)
    if not source.n_rows:
        raise DataError(
            f"{source.path}: expected rows to learn from, but the dataset has none", "data.path"
        )
    dropped = set(drop)
    names = [n for n in source.types if n not in dropped and not n.startswith("__index_level_")]
    columns = tuple(
        Column(name, Role.CATEGORY if name == target else role, measure_of(source.types[name]))
        for name in names
        if (role := role_of(source.types[name])) is not None
    )
    place = next((i for i, column in enumerate(columns) if column.name == target), None)
    reading = Reading(columns, None, keep_missing=True)
    scan = SummarizeFacts(reading, place, Limits.of(len(columns)))
    found: TableFacts = engine.reduce(CHECK_COLUMNS.name, source.partitions, scan, scan.merge)
    check = _checked(source, target, names, columns, found)
    return replace(check, findings=(*map(_of_files, differing), *check.findings))


def without_settled(check: Check, spec: LearnSpec) -> Check:
    """Return a check without the findings that a spec has already acted on."""
    aside = {spec.group, spec.time, spec.by, *spec.protected}
    is_weighed = spec.objective != "accuracy" or spec.threshold != HALF

    def is_open(column: ColumnCheck, finding: Finding) -> bool:
        if column.name in aside:
            return finding.kind in _OF_COLUMNS_ASIDE
        return finding.kind != "codes" or column.name not in spec.categorical

    return replace(
        check,
        columns=tuple(
            replace(column, findings=tuple(f for f in column.findings if is_open(column, f)))
            for column in check.columns
        ),
        findings=tuple(f for f in check.findings if f.kind != "rare_class" or not is_weighed),
    )


def plan_check(layout: Layout) -> PlannedPhase:
    """Return the scan of check_source."""
    dropped = set(layout.spec.drop)
    read_bytes = sum(n for name, n in layout.source.column_bytes.items() if name not in dropped)
    return CHECK_COLUMNS.planned(layout.reduction(layout.batches), read_bytes)


def check_target(source: Source, target: str | None) -> None:
    """Raise SpecError unless the target is a column that can hold labels."""
    if target is None:
        return
    if target not in source.types:
        raise SpecError(
            f"--target must name a column of {source.path}, got {target!r}; it has "
            f"{listed(list(source.types))}",
            "data.target",
        )
    if not holds_labels(source.types[target]):
        raise SpecError(
            "--target must name a column of labels (numbers, booleans or strings), but "
            f"{target!r} has the type {source.types[target]}; convert it, or choose another",
            "data.target",
        )


def _checked(
    source: Source,
    target: str | None,
    names: Sequence[str],
    columns: Sequence[Column],
    found: TableFacts,
) -> Check:
    subjects = [
        Subject(
            name=str(column.name),
            role=column.role,
            measure=column.measure,
            facts=of_column,
            values=values,
            absent=absent,
            n_rows=found.n_rows,
            is_target=column.name == target,
        )
        for column, of_column, (values, absent) in zip(
            columns, found.columns, found.rows.columns, strict=True
        )
    ]
    findings = findings_of(subjects, found)
    known = {subject.name: subject for subject in subjects}
    return Check(
        rows=found.n_rows,
        target=target,
        labels=tuple(
            ValueRows(value=label_record(label), rows=rows)
            for label, rows in zip(found.labels, found.label_rows.tolist(), strict=False)
        ),
        sampled_rows=len(found.rows.hashes),
        columns=tuple(
            _column(known[name], found, str(source.types[name]), findings[name])
            if name in known
            else _unread(name, str(source.types[name]))
            for name in names
        ),
        findings=table_findings(found, target),
    )


def _of_files(difference: Difference) -> Finding:
    return Finding(
        kind="files_differ",
        severity="error",
        evidence=f"{difference.column!r}: {difference.message}",
        advice="write the files with one schema, or name those of one schema by a glob",
    )


def _unread(name: str, kind: str) -> ColumnCheck:
    return ColumnCheck(
        name=name,
        type=kind,
        missing=0.0,
        missing_rows=0,
        distinct=None,
        exact=False,
        least=None,
        greatest=None,
        frequent=(),
        findings=(),
    )


def _column(
    subject: Subject, table: TableFacts, kind: str, findings: tuple[Finding, ...]
) -> ColumnCheck:
    of_column: ColumnFacts = subject.facts
    missing = int(of_column.missing.sum())
    return ColumnCheck(
        name=subject.name,
        type=kind,
        missing=missing / table.n_rows,
        missing_rows=missing,
        distinct=subject.distinct,
        exact=of_column.sample.is_all,
        least=_told(of_column.least, subject.measure),
        greatest=_told(of_column.greatest, subject.measure),
        frequent=_frequent(subject, table),
        findings=findings,
    )


def _told(value: Scalar | None, measure: Measure | None) -> Any:
    if value is None:
        return None
    if measure is not None and isinstance(value, int):
        return str(Quantity(measure, value))
    return label_record(value)


def _frequent(subject: Subject, table: TableFacts) -> tuple[ValueRows, ...]:
    """Return the most frequent values; of sampled rows, where not all values were counted."""
    if subject.facts.sample.is_all:
        values, totals = subject.facts.sample.values, subject.facts.sample.totals
    else:
        values, totals = subject.counted(table.rows.counts)
        share = table.n_rows / max(1, int(table.rows.counts.sum()))
        totals = np.rint(totals * share).astype(np.int64)
    listed_values = values.tolist()
    order = sorted(range(len(listed_values)), key=lambda i: (-int(totals[i]), listed_values[i]))
    return tuple(
        ValueRows(value=_told(listed_values[i], subject.measure), rows=int(totals[i]))
        for i in order[:_FREQUENT]
    )
