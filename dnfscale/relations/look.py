"""What the columns of a related table hold: one scan, whose parts merge in any order.

Quantiles are exact where a column has few values; else they are those of its values with the first
24 bits of a float, which is to one part in four thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dnfscale.core import ranks
from dnfscale.core.arrays import Values
from dnfscale.core.hashes import key_value, order_keys
from dnfscale.core.ranks import KeyRows
from dnfscale.data.measures import is_decimal, measure_of, steps
from dnfscale.errors import DataError

_FEW = 4_096
"""Up to so many values of a column are kept as they are."""
_MOST_TEXTS = 1_000
"""A column of more different texts is not asked about."""
_CELL = np.uint64(40)
"""So many bits of a value's key are left out where there are more."""
_DECIMALS = 6
_WHOLE, _NUMBER, _FLAG, _TEXT = "whole", "number", "flag", "text"


def kind_of(kind: pa.DataType) -> str | None:
    """Return what a column of a type is asked for; None if it is not asked about."""
    if pa.types.is_dictionary(kind):
        return kind_of(kind.value_type)
    if pa.types.is_boolean(kind):
        return _FLAG
    if pa.types.is_integer(kind) or (is_decimal(kind) and kind.scale == 0):
        return _WHOLE
    if pa.types.is_floating(kind) or is_decimal(kind):
        return _NUMBER
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return _TEXT if text or pa.types.is_string_view(kind) else None


def why_not(kind: pa.DataType) -> str:
    """Say why a column of a type is not asked about."""
    return "dates and times" if measure_of(kind) is not None else f"the type {kind}"


def plain(array: Any) -> Any:
    """Return a column without dictionary, whole numbers in 64 bits, others as floats."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = kind_of(array.type)
    try:
        if kind == _WHOLE:
            return array.cast(pa.int64())
        if kind == _NUMBER:
            return _floats(array)
        return array.cast(pa.large_string()) if kind == _TEXT else array
    except pa.ArrowException as error:
        raise DataError(f"expected numbers of at most 64 bits, but {error}") from error


def _floats(array: Any) -> Any:
    """Return numbers as floats, decimals as the floats next to them: Arrow's own cast is a little
    off.
    """
    if not is_decimal(array.type):
        return array.cast(pa.float64())
    return pc.divide(steps(array).cast(pa.float64(), safe=False), 10.0**array.type.scale)


def numbers(array: Any, column: str) -> tuple[Values, Any]:
    """Return the numbers of a plain column, and where they are; NaN is none, infinity an error."""
    present = _numpy(array.is_valid())
    values = _numpy(array.fill_null(0))
    if values.dtype.kind == "f":
        present = present & ~np.isnan(values)
        # Zero is added, so that there is one zero alone.
        values = np.where(present, values, 0.0) + 0.0
        if np.isinf(values).any():
            raise DataError(
                f"column {column!r}: expected finite numbers in a related table, got infinity; "
                "write it as a missing value, or add the column to drop"
            )
    return values, present


def _numpy(array: Any) -> Any:
    if pa.types.is_boolean(array.type):
        return np.from_dlpack(array.cast(pa.uint8())).view(np.bool_)
    return np.from_dlpack(array)


def flags(array: Any) -> Any:
    """Return which values of a column of truth values are true."""
    return _numpy(array.fill_null(False))


@dataclass(frozen=True, slots=True, eq=False)
class ColumnLook:
    """What a column holds."""

    kind: str
    rows: int
    """Those that have a value."""
    keys: KeyRows
    """Of numbers and truth values: the values, or cells of them."""
    in_cells: bool = False
    most: float = 0.0
    """The greatest number, whatever its sign."""
    digits: int | None = 0
    """How many decimal places floats have; None if more than a few."""
    texts: tuple[tuple[str, int], ...] | None = ()
    """The rows of each text, in their order; None if there are too many."""

    def quantile(self, share: Fraction) -> int | float:
        """Return the least value that so many of the rows do not lie above."""
        rank = max(1, -(-share.numerator * self.rows // share.denominator))
        place = int(np.searchsorted(np.cumsum(self.keys.rows), rank))
        return self.value(place)

    def value(self, place: int) -> int | float:
        """Return the value of a key, or the least of its cell."""
        key = int(self.keys.keys[place])
        found = float(key_value(key << int(_CELL) if self.in_cells else key, np.dtype(np.float64)))
        return int(np.floor(found)) if self.kind == _WHOLE else found


def look_at(array: Any, column: str) -> ColumnLook:
    """Return what some rows of a column hold."""
    array = plain(array)
    kind = str(kind_of(array.type))
    if kind == _TEXT:
        counts = pc.value_counts(array.drop_null())
        pairs = zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True)
        texts = _few_texts(dict(pairs))
        return ColumnLook(kind, len(array) - array.null_count, _NO_KEYS, texts=texts)
    if kind == _FLAG:
        known = flags(array.drop_null()).astype(np.float64)
        return ColumnLook(kind, len(known), ranks.key_rows(order_keys(known)))
    values, present = numbers(array, column)
    values = values[present]
    if not len(values):
        return ColumnLook(kind, 0, _NO_KEYS)
    look = ColumnLook(
        kind,
        len(values),
        ranks.key_rows(order_keys(values.astype(np.float64))),
        most=float(np.abs(values.astype(np.float64)).max()),
        digits=0 if kind == _WHOLE else _digits(values),
    )
    return _in_few(look)


def merge(parts: Sequence[ColumnLook]) -> ColumnLook:
    """Merge what disjoint rows of a column hold."""
    kind = parts[0].kind
    if kind == _TEXT:
        return replace(parts[0], rows=sum(p.rows for p in parts), texts=_merged_texts(parts))
    if any(part.in_cells for part in parts):
        parts = [part if part.in_cells else _cells(part) for part in parts]
    found = [part.digits for part in parts]
    look = ColumnLook(
        kind,
        sum(part.rows for part in parts),
        ranks.merge([part.keys for part in parts]),
        parts[0].in_cells,
        max(part.most for part in parts),
        None if None in found else max(each for each in found if each is not None),
    )
    return _in_few(look)


_NO_KEYS = ranks.merge([])


def _in_few(look: ColumnLook) -> ColumnLook:
    return _cells(look) if not look.in_cells and len(look.keys.keys) > _FEW else look


def _cells(look: ColumnLook) -> ColumnLook:
    cells = ranks.merge([KeyRows(look.keys.keys >> _CELL, look.keys.rows)])
    return replace(look, keys=cells, in_cells=True)


def _digits(values: Values) -> int | None:
    """Return the decimal places that all values have; None if some have more than a few."""
    for digits in range(_DECIMALS + 1):
        if np.array_equal(np.round(values, digits), values):
            return digits
    return None


def _merged_texts(parts: Sequence[ColumnLook]) -> tuple[tuple[str, int], ...] | None:
    counts: dict[str, int] = {}
    for part in parts:
        if part.texts is None:
            return None
        for text, rows in part.texts:
            counts[text] = counts.get(text, 0) + rows
    return _few_texts(counts)


def _few_texts(counts: dict[str, int]) -> tuple[tuple[str, int], ...] | None:
    return tuple(sorted(counts.items())) if len(counts) <= _MOST_TEXTS else None
