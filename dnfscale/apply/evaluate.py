"""The types of rows that were not binned: attributes evaluated on columns as they are read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from dnfscale.core.arrays import Bools, Codes, Scalar
from dnfscale.core.columns import Block, Categories, Column, Numbers, Role
from dnfscale.core.model import Model
from dnfscale.core.parts import ColumnName, Part, stored_column
from dnfscale.core.planes import no_planes, put
from dnfscale.core.quantities import Kind, Measure, Quantity, edge_among
from dnfscale.core.seen import SeenColumn, Unfamiliar, unlike
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    Equals,
    IsIn,
    IsMissing,
    IsTrue,
    Vocabulary,
    cuts_of,
    values_of,
)
from dnfscale.data.clocks import check_zone, has_part
from dnfscale.data.measures import is_decimal, measure_of
from dnfscale.errors import DataError


def columns_of(*taus: Vocabulary) -> tuple[Column, ...]:
    """Return the columns that the attributes need, each once, also where one formula only asks if a
    number is there.
    """
    attributes = [attribute for tau in taus for attribute in tau.attributes]
    roles = {
        attribute.column: Role.NUMBER if isinstance(attribute, Above | Between) else Role.CATEGORY
        for attribute in sorted(
            attributes, key=lambda attribute: isinstance(attribute, Above | Between)
        )
    }
    return tuple(Column(name, role) for name, role in roles.items())


def seen_in(models: Sequence[Model], columns: Sequence[Column]) -> tuple[SeenColumn | None, ...]:
    """Return what the rows learned from held in each column that is read, as far as it is known.

    Of a part of a date only that can be told which rows have none: other values are all possible.
    """
    known = {seen.name: seen for model in models for seen in model.seen}
    found = []
    for column in columns:
        seen = known.get(stored_column(column.name))
        if seen is not None and isinstance(column.name, Part):
            seen = replace(seen, least=None, greatest=None, values=None)
        found.append(seen)
    return tuple(found)


def check_columns(taus: Sequence[Vocabulary], types: Mapping[str, pa.DataType], path: str) -> None:
    """Raise DataError where a column is not there, or holds values that the model cannot have been
    learned from.

    A number is never equal to a text: a column of another type would give wrong answers without a
    word.
    """
    for attribute in (attribute for tau in taus for attribute in tau.attributes):
        name = stored_column(attribute.column)
        if name not in types:
            raise DataError(
                f"{path}: expected the columns that the model uses, but {name!r} is not "
                "there; it has "
                f"{', '.join(map(repr, list(types)[:10]))}{' and more' * (len(types) > 10)}"
            )
        if isinstance(attribute, IsMissing):
            continue
        if isinstance(attribute.column, Part):
            _check_part(attribute.column, types[name], path)
            continue
        kind = types[name].value_type if pa.types.is_dictionary(types[name]) else types[name]
        value = _compared(attribute)
        expected = (
            "booleans"
            if isinstance(value, bool)
            else "text"
            if isinstance(value, str)
            else "numbers"
        )
        if isinstance(value, Quantity) and value.measure.kind is not Kind.DECIMAL:
            expected = f"{value.measure.kind}s"
        measure = measure_of(kind)
        fits = {
            "booleans": pa.types.is_boolean(kind),
            "text": pa.types.is_string(kind)
            or pa.types.is_large_string(kind)
            or pa.types.is_string_view(kind),
            "numbers": pa.types.is_integer(kind) or pa.types.is_floating(kind) or is_decimal(kind),
        }
        if not (
            fits.get(expected, measure is not None and f"{measure.kind}s" == expected)
            or pa.types.is_null(kind)
        ):
            of_csv = f", or of a CSV say --csv text={name}" if expected == "text" else ""
            raise DataError(
                f"{path}: expected column {name!r} to hold {expected} as in the data that "
                f"the model was learned from, got the type {types[name]}; convert it{of_csv}"
            )


def _compared(attribute: Above | Between | Equals | IsIn | IsTrue) -> Scalar | Quantity | None:
    """Return one of the values that an attribute compares its column with."""
    if isinstance(attribute, Above | Between):
        return next(iter(cuts_of(attribute)), None)
    return values_of(attribute)[0]


def _check_part(part: Part, kind: pa.DataType, path: str) -> None:
    if part.zone is not None:
        check_zone(part.of, part.zone)
    if not (has_part(kind, part) or pa.types.is_null(kind)):
        zone = "without a zone" if part.zone is None else "with a zone"
        raise DataError(
            f"{path}: expected column {part.of!r} to hold dates or times {zone} that have "
            f"a {part.unit}, as in the "
            f"data that the model was learned from, got the type {kind}; convert it"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """What attributes say of the rows of a block."""

    planes: tuple[Codes, ...]
    """The attributes of each vocabulary, as planes."""
    missing: tuple[int, ...]
    """Missing values of each column."""
    incomplete: Bools | None
    """In which rows some value is missing; None where in none."""
    unfamiliar: tuple[Unfamiliar, ...]
    """What each column holds that the rows learned from did not."""
    strange: Bools | None
    """In which rows some value is unfamiliar; None where in none."""


def evaluate(
    block: Block,
    columns: Sequence[Column],
    taus: Sequence[Vocabulary],
    seen: Sequence[SeenColumn | None] = (),
) -> Evaluated:
    """Evaluate attributes on a block that was read with these columns; each is asked for once, and
    then let go. `seen` is from seen_in.
    """
    # Eight attributes at a time as bytes: a quarter of the time of eight-byte integers.
    planes = [no_planes(len(tau), block.n_rows) for tau in taus]
    asked: dict[ColumnName, list[tuple[Attribute, Codes, int]]] = {
        column.name: [] for column in columns
    }
    for tau, own in zip(taus, planes, strict=True):
        for number, attribute in enumerate(tau.attributes):
            asked[attribute.column].append((attribute, own, number))
    missing: list[int] = []
    incomplete: Bools | None = None
    unfamiliar: list[Unfamiliar] = []
    strange: Bools | None = None
    for place, column in enumerate(columns):
        data = block.columns[place]
        gaps = data.missing() if data.has_missing else None
        missing.append(0 if gaps is None else int(gaps.sum()))
        if gaps is not None:
            incomplete = (
                gaps if incomplete is None else np.logical_or(incomplete, gaps, out=incomplete)
            )
        for attribute, own, number in asked[column.name]:
            put(own, number, holds(attribute, data))
        known = seen[place] if seen else None
        found, rows = (Unfamiliar(), None) if known is None else unlike(data, known)
        unfamiliar.append(found)
        if rows is not None:
            strange = rows if strange is None else np.logical_or(strange, rows, out=strange)
        # So that the next takes its memory, which is in the cache.
        del data
    return Evaluated(tuple(planes), tuple(missing), incomplete, tuple(unfamiliar), strange)


def holds(attribute: Attribute, data: Numbers | Categories) -> Bools:
    """Say in which rows an attribute is true, in an array of the caller's own; of a missing value
    only IsMissing is.
    """
    if isinstance(attribute, IsMissing):
        return data.missing()
    if isinstance(data, Numbers):
        assert isinstance(attribute, Above | Between)
        edges = [_edge(cut, data.measure, data.values.dtype) for cut in cuts_of(attribute)]
        if not edges:
            return np.zeros(len(data.values), dtype=np.bool_)
        true = np.asarray(data.values > edges[0])
        for edge in edges[1:]:
            np.logical_and(true, data.values <= edge, out=true)
        return true if data.present is None else np.logical_and(true, data.present, out=true)
    assert isinstance(attribute, Equals | IsIn | IsTrue)
    wanted = values_of(attribute)
    places = [place for place, value in enumerate(data.values) if value in wanted]
    if len(places) == 1:
        # A dictionary seldom lists a value twice, and comparing takes a tenth of the time of
        # looking up.
        return np.asarray(data.codes == places[0])
    return np.isin(data.codes, places)


@lru_cache(maxsize=4096)
def _edge(cut: int | float | Quantity, measure: Measure | None, dtype: np.dtype[Any]) -> Any:
    """Return a number that the values of a column lie above exactly when they lie above the cut.

    Whole numbers are compared with whole numbers: beyond 2**53 floats would not tell them apart.
    For values of single precision NumPy would round the cut to the nearest one of theirs, which may
    be one above it.
    """
    edge = edge_among(cut, measure, whole=dtype.kind in "iu")
    if dtype != np.float32 or not math.isfinite(edge):
        return edge
    with np.errstate(over="ignore"):
        single = np.float32(edge)
    return np.nextafter(single, np.float32(-np.inf)) if float(single) > edge else single
