"""The columns of a model file: what each held in the rows learned from, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dnfscale.core.arrays import Scalar
from dnfscale.core.parts import stored_column
from dnfscale.core.seen import SeenColumn
from dnfscale.core.vocabulary import Attribute
from dnfscale.data.models.attributes import Cut, kind_of, measure_in, number_in
from dnfscale.data.models.checked import entry, listed, scalar, short, typed, whole
from dnfscale.errors import DataError


def parse_columns(
    table: Mapping[str, Any], attributes: Sequence[Attribute]
) -> tuple[SeenColumn, ...]:
    """Return what the columns held; nothing, where the file does not say it."""
    if "columns" not in table:
        return ()
    seen = tuple(listed(table, "columns", _column))
    known = {stored_column(attribute.column) for attribute in attributes}
    names = [column.name for column in seen]
    for name in names:
        if name not in known or names.count(name) > 1:
            raise DataError(
                f"columns must be those that attributes test, each once, got {short(name)}"
            )
    return seen


def _column(value: Any, place: str) -> SeenColumn:
    table = typed(value, dict, place, "an object")
    least, greatest = _ends(table, place)
    values = None if table.get("values") is None else _values(table, place)
    if values is not None and least is not None:
        raise DataError(f"{place} must have either ends or values, got both")
    return SeenColumn(
        name=entry(table, "name", str, "text", place),
        type=entry(table, "type", str, "text", place),
        missing=_share(table.get("missing"), f"{place}.missing"),
        least=least,
        greatest=greatest,
        values=values,
        unlisted=0 if values is None else whole(table.get("unlisted", 0), f"{place}.unlisted"),
    )


def _ends(table: Mapping[str, Any], place: str) -> tuple[Cut | None, Cut | None]:
    given = table.get("least"), table.get("greatest")
    if given == (None, None):
        return None, None
    measure = measure_in(table, place) if "measure" in table else None
    least = number_in(given[0], measure, f"{place}.least", "where greatest is one")
    greatest = number_in(given[1], measure, f"{place}.greatest", "where least is one")
    if greatest < least:  # type: ignore[operator]
        raise DataError(
            f"{place}.greatest must be at least {short(given[0])}, got {short(given[1])}"
        )
    return least, greatest


def _values(table: Mapping[str, Any], place: str) -> tuple[Scalar, ...]:
    given = entry(table, "values", list, "a list", place)
    values = [scalar(value, f"{place}.values[{i}]") for i, value in enumerate(given)]
    if len(set(values)) < len(values) or len(set(map(kind_of, values))) > 1:
        raise DataError(f"{place}.values must be of one kind, each once, got {short(given)}")
    return tuple(values)


def _share(value: Any, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise DataError(f"{place} must be a share from 0 to 1, got {short(value)}")
    return float(value)
