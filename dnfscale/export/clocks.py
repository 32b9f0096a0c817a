"""Parts of dates and times in other languages: what the clock of a zone shows, whatever zone a
session is in.

Databases count weekdays differently, and PostgreSQL takes the sign of an offset the other way
round; so offsets are added to UTC, except in BigQuery, which reads them as they are meant.
"""

from __future__ import annotations

from collections.abc import Iterable

from dnfscale.core.parts import Part, Unit, offset_s
from dnfscale.core.vocabulary import Attribute


def duckdb_part(column: str, part: Part) -> str:
    """Write a part for DuckDB."""
    return f"{_FIELDS[part.unit]}({_local(column, part.zone)})"


def postgres_part(column: str, part: Part) -> str:
    """Write a part for PostgreSQL."""
    return f"EXTRACT({_FIELDS[part.unit]} FROM {_local(column, part.zone)})"


def bigquery_part(column: str, part: Part) -> str:
    """Write a part for BigQuery."""
    field = "DAYOFWEEK" if part.unit is Unit.WEEKDAY else _FIELDS[part.unit]
    zone = "" if part.zone is None else f" AT TIME ZONE '{part.zone}'"
    return f"EXTRACT({field} FROM {column}{zone})"


def standard_place(part: Part, name: str) -> int:
    """Return the number of a month, or of a weekday where Monday is 1."""
    return part.place(name) + 1


def bigquery_place(part: Part, name: str) -> int:
    """Return the number of a month, or of a weekday where Sunday is 1."""
    return (part.place(name) + 1) % 7 + 1 if part.unit is Unit.WEEKDAY else part.place(name) + 1


def python_part(variable: str, part: Part) -> str:
    """Write the number of a part of a variable's value; Monday is 0, January 1, as
    Python counts.
    """
    return f"_part({variable}, {str(part.unit)!r}, {_python_zone(part.zone)})"


def python_place(part: Part, name: str) -> int:
    """Return the number of a weekday or month as Python counts."""
    return part.place(name) + (part.unit is Unit.MONTH)


def python_part_needs(attributes: Iterable[Attribute]) -> tuple[list[str], list[str]]:
    """Return the imports and the functions that the module of some attributes needs for their
    parts.
    """
    parts = [attribute.column for attribute in attributes if isinstance(attribute.column, Part)]
    fixed = [part.zone is not None and offset_s(part.zone) is not None for part in parts]
    named = [part.zone is not None and offset_s(part.zone) is None for part in parts]
    imports = ["import datetime"] if any(fixed) else []
    imports += ["import zoneinfo"] if any(named) else []
    return imports, [_PART] if parts else []


_FIELDS = {Unit.WEEKDAY: "ISODOW", Unit.HOUR: "HOUR", Unit.MONTH: "MONTH"}
_PART = '''\
def _part(value, name, zone):
    """Return a part of a date or time: its own, or the one that the clock of a zone shows."""
    if not hasattr(value, name) or (getattr(value, "tzinfo", None) is None) is not (zone is None):
        kind = "without a zone" if zone is None else "with a zone"
        raise TypeError(f"expected a date or time {kind} that has a {name}, got {value!r}")
    shown = value if zone is None else value.astimezone(zone)
    return shown.weekday() if name == "weekday" else getattr(shown, name)'''


def _local(column: str, zone: str | None) -> str:
    """Write what the clock of a zone shows, as a timestamp without a zone."""
    if zone is None:
        return column
    ahead = offset_s(zone)
    if ahead is None:
        return f"{column} AT TIME ZONE '{zone}'"
    utc = f"{column} AT TIME ZONE 'UTC'"
    return f"{utc} + INTERVAL '{ahead} seconds'" if ahead else utc


def _python_zone(zone: str | None) -> str:
    if zone is None:
        return "None"
    ahead = offset_s(zone)
    if ahead is None:
        return f"zoneinfo.ZoneInfo({zone!r})"
    return (
        f"datetime.timezone(datetime.timedelta(seconds={ahead}))"
        if ahead
        else "datetime.timezone.utc"
    )
