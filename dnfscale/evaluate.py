"""The types of rows that were not binned: attributes evaluated on columns as they are read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from dnfscale.core.arrays import Bools, Ints
from dnfscale.core.columns import Block, Categories, Column, Numbers, Role
from dnfscale.core.parts import Part, stored_column
from dnfscale.core.quantities import Kind, Measure, Quantity, edge_among
from dnfscale.core.vocabulary import Above, Attribute, Equals, IsMissing, IsTrue, Vocabulary
from dnfscale.data.clocks import check_zone, has_part
from dnfscale.data.exact import is_decimal, measure_of
from dnfscale.errors import DataError


def columns_of(*taus: Vocabulary) -> tuple[Column, ...]:
    """Return the columns that the attributes need, each once, also where one formula only asks if a number is there."""
    attributes = [attribute for tau in taus for attribute in tau.attributes]
    roles = {
        attribute.column: Role.NUMBER if isinstance(attribute, Above) else Role.CATEGORY
        for attribute in sorted(attributes, key=lambda attribute: isinstance(attribute, Above))
    }
    return tuple(Column(name, role) for name, role in roles.items())


def check_columns(taus: Sequence[Vocabulary], types: Mapping[str, pa.DataType], path: str) -> None:
    """Raise DataError where a column is not there, or holds values that the model cannot have been learned from.

    A number is never equal to a text: a column of another type would give wrong answers without a word.
    """
    for attribute in (attribute for tau in taus for attribute in tau.attributes):
        name = stored_column(attribute.column)
        if name not in types:
            raise DataError(
                f"{path}: expected the columns that the model uses, but {name!r} is not there; it has "
                f"{', '.join(map(repr, list(types)[:10]))}{' and more' * (len(types) > 10)}"
            )
        if isinstance(attribute, IsMissing):
            continue
        if isinstance(attribute.column, Part):
            _check_part(attribute.column, types[name], path)
            continue
        kind = types[name].value_type if pa.types.is_dictionary(types[name]) else types[name]
        value = attribute.value
        expected = "booleans" if isinstance(value, bool) else "text" if isinstance(value, str) else "numbers"
        if isinstance(value, Quantity) and value.measure.kind is not Kind.DECIMAL:
            expected = f"{value.measure.kind}s"
        measure = measure_of(kind)
        fits = {
            "booleans": pa.types.is_boolean(kind),
            "text": pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind),
            "numbers": pa.types.is_integer(kind) or pa.types.is_floating(kind) or is_decimal(kind),
        }
        if not (fits.get(expected, measure is not None and f"{measure.kind}s" == expected) or pa.types.is_null(kind)):
            raise DataError(
                f"{path}: expected column {name!r} to hold {expected} as in the data that the model was learned from, "
                f"got the type {types[name]}; convert it"
            )


def _check_part(part: Part, kind: pa.DataType, path: str) -> None:
    if part.zone is not None:
        check_zone(part.of, part.zone)
    if not (has_part(kind, part) or pa.types.is_null(kind)):
        zone = "without a zone" if part.zone is None else "with a zone"
        raise DataError(
            f"{path}: expected column {part.of!r} to hold dates or times {zone} that have a {part.unit}, as in the "
            f"data that the model was learned from, got the type {kind}; convert it"
        )


def types_of(block: Block, columns: tuple[Column, ...], tau: Vocabulary) -> Ints:
    """Return the type of each row of a block that was read with these columns."""
    places = {column.name: place for place, column in enumerate(columns)}
    # Eight attributes at a time as bytes, and these laid side by side as the bytes of an integer: a quarter of the time
    # of eight-byte integers. Doubling a byte takes a tenth of the time of shifting it.
    planes = np.zeros((block.n_rows, 8), dtype=np.uint8)
    for place in range(0, len(tau), 8):
        byte = np.zeros(block.n_rows, dtype=np.uint8)
        for attribute in reversed(tau.attributes[place : place + 8]):
            np.add(byte, byte, out=byte)
            np.bitwise_or(byte, holds(attribute, block.columns[places[attribute.column]]).view(np.uint8), out=byte)
        planes[:, place // 8] = byte
    codes: Ints = planes.view("<i8").reshape(-1).astype(np.int64, copy=False)
    return codes


def holds(attribute: Attribute, data: Numbers | Categories) -> Bools:
    """Say in which rows an attribute is true, in an array of the caller's own; of a missing value only IsMissing is."""
    if isinstance(attribute, IsMissing):
        return data.missing()
    if isinstance(data, Numbers):
        assert isinstance(attribute, Above)
        if attribute.value is None:
            return np.zeros(len(data.values), dtype=np.bool_)
        true = np.asarray(data.values > _edge(attribute.value, data.measure, data.values.dtype))
        return true if data.present is None else np.logical_and(true, data.present, out=true)
    assert isinstance(attribute, Equals | IsTrue)
    equal = np.array([value == attribute.value for value in data.values] + [False], dtype=np.bool_)
    return equal.take(data.codes)


@lru_cache(maxsize=4096)
def _edge(cut: int | float | Quantity, measure: Measure | None, dtype: np.dtype[Any]) -> Any:
    """Return a number that the values of a column lie above exactly when they lie above the cut.

    Whole numbers are compared with whole numbers: beyond 2**53 floats would not tell them apart. For values of single
    precision NumPy would round the cut to the nearest one of theirs, which may be one above it.
    """
    edge = edge_among(cut, measure, whole=dtype.kind in "iu")
    if dtype != np.float32 or not math.isfinite(edge):
        return edge
    with np.errstate(over="ignore"):
        single = np.float32(edge)
    return np.nextafter(single, np.float32(-np.inf)) if float(single) > edge else single
