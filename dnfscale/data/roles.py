"""The roles of columns: what their types allow, and which of them are features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dnfscale.core.arrays import Scalar
from dnfscale.core.columns import Column, Role
from dnfscale.core.parts import ColumnName, Part, stored_column
from dnfscale.core.quantities import Kind
from dnfscale.data.clocks import HOURS, part_column, parts_in
from dnfscale.data.measures import is_decimal, is_number, measure_of
from dnfscale.data.source import Source
from dnfscale.errors import DataError, SpecError
from dnfscale.spec.learn import Parts


def feature_columns(
    source: Source,
    *,
    target: str,
    drop: Sequence[str],
    categorical: Sequence[str],
    boolean: Sequence[str],
    parts: Parts = (),
) -> tuple[Column, ...]:
    """Return the feature columns of a source and their roles, in the order of the file, each with
    its parts after it.

    A column that is dropped but named in parts gives these only.
    """
    named = dict(part for part in parts if not isinstance(part, str))
    everywhere = tuple(part for part in parts if isinstance(part, str))
    _check_parts(source, named, target)
    columns = []
    for name, kind in source.types.items():
        if name == target or name.startswith("__index_level_"):
            continue
        if name not in drop:
            role = _role(source, name, categorical=categorical, boolean=boolean)
            columns.append(Column(source.concepts.get(name, name), role, measure_of(kind)))
        asked = named.get(name, () if name in drop else everywhere)
        columns += (
            [part_column(part) for part in parts_in(name, kind) if part.unit in asked]
            if asked
            else []
        )
    return tuple(columns)


def value_type_name(kind: pa.DataType) -> str:
    """Return Arrow's name of the type of a column's values, however these are stored."""
    if pa.types.is_dictionary(kind):
        return value_type_name(kind.value_type)
    is_text = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return "string" if is_text else str(kind)


def role_of(kind: pa.DataType) -> Role | None:
    """Return the role that a column of this type has unless the spec says otherwise; None if it can
    have none.
    """
    if pa.types.is_boolean(kind):
        return Role.FLAG
    if is_number(kind):
        return Role.NUMBER
    if pa.types.is_dictionary(kind):
        return (
            Role.CATEGORY
            if holds_labels(kind.value_type) and not is_decimal(kind.value_type)
            else None
        )
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return Role.CATEGORY
    return Role.CATEGORY if pa.types.is_null(kind) else None


def holds_labels(kind: pa.DataType) -> bool:
    """Say whether the values of a column can be labels or categories: dates and the like are only
    ever cut.
    """
    return role_of(kind) is not None and measure_of(kind) is None


def holds_weights(kind: pa.DataType) -> bool:
    """Say whether the values of a column can say how often rows count."""
    measure = measure_of(kind)
    return is_number(kind) and (measure is None or measure.kind is Kind.DECIMAL)


def number_dtype(source: Source, name: ColumnName) -> np.dtype[Any]:
    """Return the dtype in which a column of numbers is read."""
    if isinstance(name, Part):
        return HOURS
    kind = source.types[stored_column(name)]
    if pa.types.is_null(kind):
        return np.dtype(np.float64)
    if is_decimal(kind):
        return np.dtype(np.int64)
    if measure_of(kind) is not None:
        return np.dtype(np.int32 if kind.bit_width == 32 or pa.types.is_date(kind) else np.int64)
    return np.dtype(np.float32 if pa.types.is_float16(kind) else kind.to_pandas_dtype())


def stored_label(label: Scalar, kind: pa.DataType) -> Scalar:
    """Return a label as a column of its type holds it: in single precision, 0.1 is
    another number.
    """
    return (
        float(kind.to_pandas_dtype()(label))
        if pa.types.is_floating(kind) and isinstance(label, float)
        else label
    )


def unusable(kind: pa.DataType) -> str:
    """Say what to do with a column whose type has no role."""
    if pa.types.is_struct(kind) or pa.types.is_map(kind):
        return "write each of its fields as a column of its own"
    if pa.types.is_nested(kind):
        return "write its elements, or what matters of them, as columns of their own"
    if pa.types.is_decimal(kind):
        return "write it as decimal128 of at most 18 digits, or as floats"
    if (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    ):
        return "write it as strings, if it is text"
    return "convert it"


def _role(source: Source, name: str, *, categorical: Sequence[str], boolean: Sequence[str]) -> Role:
    """Return the role of a feature column: that of the list that names it, else that of
    its type.
    """
    kind = source.types[name]
    role = role_of(kind)
    if role is None:
        raise DataError(
            f"{source.path}: columns must hold numbers, dates, times, booleans or strings, "
            f"but {name!r} has the "
            f"type {kind}; {unusable(kind)}, or add it to data.drop"
        )
    for key, listed, own in (
        ("data.categorical", categorical, Role.CATEGORY),
        ("data.boolean", boolean, Role.FLAG),
    ):
        if name not in listed:
            continue
        if not holds_labels(kind):
            raise SpecError(
                f"{key} must list columns of labels, but {name!r} has the type {kind}, "
                "which is cut at its median; "
                "leave it out, or write the column as strings",
                key,
            )
        return own
    return role


def _check_parts(source: Source, named: Mapping[str, Sequence[str]], target: str) -> None:
    """Raise SpecError where a part is asked of a column that does not have it."""
    for name, units in named.items():
        has = (
            [part.unit for part in parts_in(name, source.types[name])]
            if name in source.types
            else []
        )
        if name == target or not set(units) <= set(has):
            known = [
                repr(column) for column, kind in source.types.items() if parts_in(column, kind)
            ]
            raise SpecError(
                "booleanize.parts must name columns of dates or times, and parts that "
                f"they have, but {name!r} has "
                f"{' and '.join(has) or 'none'}, not {' and '.join(units)}; {source.path} "
                "has such columns: "
                f"{', '.join(known[:10]) or 'none'}",
                "booleanize.parts",
            )
