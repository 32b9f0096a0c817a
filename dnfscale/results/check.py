"""What a check of a table found, schema dnfscale.check/1.

Nothing in it depends on how the rows were partitioned, or in which order summaries were merged.
"""

from __future__ import annotations

import json
from typing import Literal

import msgspec
from msgspec import field

from dnfscale.results.record import Count, Label, Record, Share, read_file

CHECK_SCHEMA = "dnfscale.check/1"
CHECK_FILE = "check.json"
"""In the folder of a run."""

Severity = Literal["note", "warning", "error"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""From the gravest down."""

Kind = Literal[
    "identifier",
    "constant",
    "copy",
    "leak",
    "missing_codes",
    "codes",
    "text_numbers",
    "text_dates",
    "spellings",
    "dates",
    "many_categories",
    "group",
    "rare_class",
    "repeated_rows",
    "sorted_by_class",
    "missing_in_one_class",
    "files_differ",
    "repeated_keys",
    "keys_without_rows",
    "rows_without_main",
    "later_rows",
]


class Finding(Record, frozen=True, kw_only=True):
    """Something about the data that a person should know before learning from it."""

    kind: Kind
    severity: Severity
    evidence: str
    advice: str


class ValueRows(Record, frozen=True, kw_only=True):
    """A value, and how many rows have it."""

    value: Label
    rows: Count


class ColumnCheck(Record, frozen=True, kw_only=True):
    """What is known of a column."""

    name: str
    type: str
    missing: Share
    """The share of the rows that have no value."""
    missing_rows: Count
    distinct: Count | None
    """How many values it has; None for a column of a type that cannot be read."""
    exact: bool
    """Whether the distinct and the frequent values were counted; otherwise they are estimates."""
    least: Label | None
    greatest: Label | None
    frequent: tuple[ValueRows, ...]
    """The most frequent values; among rows that were sampled, where they were not counted."""
    findings: tuple[Finding, ...]


class Check(Record, frozen=True, kw_only=True):
    """What a check of a table found."""

    schema: str = field(default_factory=lambda: CHECK_SCHEMA)
    rows: Count
    target: str | None
    labels: tuple[ValueRows, ...]
    """The labels of the target with their rows, in increasing order."""
    sampled_rows: Count
    """How many distinct rows were looked at together; all of them, where there are few."""
    columns: tuple[ColumnCheck, ...]
    findings: tuple[Finding, ...]
    """Those about the table as a whole."""

    def column(self, name: str) -> ColumnCheck:
        """Return what is known of a column by its name."""
        return next(column for column in self.columns if column.name == name)

    @property
    def ranked(self) -> list[tuple[str | None, Finding]]:
        """All findings, the gravest first, each with its column; None: it is about the table."""
        found: list[tuple[str | None, Finding]] = [(None, finding) for finding in self.findings]
        found += [(column.name, finding) for column in self.columns for finding in column.findings]
        return sorted(found, key=lambda pair: SEVERITIES.index(pair[1].severity))

    @property
    def above_notes(self) -> list[tuple[str | None, Finding]]:
        """Those findings that are more than a note."""
        return [pair for pair in self.ranked if pair[1].severity != "note"]

    def counted(self, severity: Severity) -> int:
        """Return how many findings there are of a severity."""
        return sum(finding.severity == severity for _, finding in self.ranked)


def check_text(check: Check) -> str:
    """Return a check as JSON."""
    record = msgspec.to_builtins(check)
    return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_check(content: bytes) -> Check:
    """Read a check; one that is damaged, or of another schema, raises a DataError."""
    return read_file(content, Check, CHECK_SCHEMA, "a check")
