"""A check of a table in memory, or of a path, with its display in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from msgspec.structs import replace as changed

from dnfscale.data.frames import dask_source, is_dask, table_source, to_table
from dnfscale.data.source import Difference, Source
from dnfscale.datasets.named import open_alike
from dnfscale.engine.serial import SerialEngine
from dnfscale.estimators.labelled import in_python, in_python_words
from dnfscale.learn.check import check_source
from dnfscale.report.checked import check_lines, check_markup
from dnfscale.results.check import Check, ColumnCheck, Finding, check_text

_IN_MEMORY = "the table"


@dataclass(frozen=True, slots=True, repr=False)
class TableCheck:
    """What a check of a table found; it shows itself as text, and as tables in a notebook."""

    name: str
    record: Check

    @property
    def rows(self) -> int:
        return self.record.rows

    @property
    def columns(self) -> tuple[ColumnCheck, ...]:
        return self.record.columns

    @property
    def findings(self) -> tuple[tuple[str | None, Finding], ...]:
        """All findings, each with its column; None for those about the table as a whole."""
        of_table = [(None, finding) for finding in self.record.findings]
        return (*of_table, *((c.name, finding) for c in self.columns for finding in c.findings))

    def to_json(self) -> str:
        """Return it as JSON, schema dnfscale.check/1."""
        return check_text(self.record)

    def __repr__(self) -> str:
        return check_lines(self.record, self.name)

    def _repr_html_(self) -> str:
        return str(check_markup(self.record))


@in_python_words
def check(data: Any, target: str | None = None) -> TableCheck:
    """Look at every column of a table before learning from it: pandas, Polars, Arrow, Dask, an
    array, or the path of files.
    """
    source, differing = _source(data)
    name = source.path
    found = check_source(source, target, SerialEngine(), differing=differing)
    of_columns = tuple(
        changed(column, findings=_in_python(column.findings)) for column in found.columns
    )
    found = changed(found, columns=of_columns, findings=_in_python(found.findings))
    return TableCheck(name, found)


def _in_python(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings whose advice names parameters, where that of a job names keys of a spec."""
    return tuple(changed(one, advice=in_python(one.advice)) for one in findings)


def _source(data: Any) -> tuple[Source, tuple[Difference, ...]]:
    if isinstance(data, str | PathLike):
        return open_alike(fspath(data))
    if is_dask(data):
        return dask_source(data, _IN_MEMORY), ()
    return table_source(to_table(data), _IN_MEMORY), ()
