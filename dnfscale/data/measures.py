"""Columns of dates, times, durations and decimals: what they measure, and their values as whole
numbers.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dnfscale.core.quantities import STEPS, Kind, Measure
from dnfscale.errors import DataError

_WIDEST_DECIMAL = 16
"""In bytes; wider decimals have more digits than databases support."""


def measure_of(kind: pa.DataType) -> Measure | None:
    """Return what the numbers of a column count; None for plain numbers, including decimals without
    a fraction.
    """
    if pa.types.is_date(kind):
        return Measure(Kind.DATE, 1)
    if pa.types.is_time(kind):
        return Measure(Kind.TIME, STEPS[kind.unit])
    if pa.types.is_timestamp(kind):
        return Measure(Kind.TIMESTAMP if kind.tz is None else Kind.INSTANT, STEPS[kind.unit])
    if pa.types.is_duration(kind):
        return Measure(Kind.DURATION, STEPS[kind.unit])
    if is_decimal(kind) and kind.scale > 0:
        return Measure(Kind.DECIMAL, 10**kind.scale)
    return None


def is_decimal(kind: pa.DataType) -> bool:
    """Return whether a type is a decimal that can be read."""
    return (
        bool(pa.types.is_decimal(kind)) and kind.byte_width <= _WIDEST_DECIMAL and kind.scale >= 0
    )


def is_number(kind: pa.DataType) -> bool:
    """Return whether the values of a column of this type can be ordered and cut."""
    plain = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(plain) or is_decimal(kind) or measure_of(kind) is not None


def steps(array: pa.Array) -> pa.Array:
    """Return values of a measure, and decimals, as whole numbers; other columns unchanged."""
    kind = array.type
    if is_decimal(kind):
        return _unscaled(array)
    if measure_of(kind) is None:
        return array
    if pa.types.is_date64(kind):
        # date64 counts milliseconds, of which only whole days are allowed.
        array = array.cast(pa.date32())
    return array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())


def _unscaled(array: pa.Array) -> pa.Array:
    """Return decimals as whole numbers, without the point; Arrow has little-endian integers of 4, 8
    or 16 bytes.
    """
    width = array.type.byte_width
    buffer = array.buffers()[1]
    if buffer is None or not len(array):
        return pa.nulls(len(array), pa.int64())
    begin, end = array.offset, array.offset + len(array)
    # Arrow's own to_numpy would import pandas first.
    absent = np.from_dlpack(array.is_null().cast(pa.uint8())).view(np.bool_)
    if width < _WIDEST_DECIMAL:
        values = np.frombuffer(buffer, dtype=f"<i{width}", count=end)[begin:].astype(np.int64)
    else:
        words = np.frombuffer(buffer, dtype="<i8", count=2 * end)[2 * begin :]
        values, high = words[::2], words[1::2]
        if ((high != values >> 63) & ~absent).any():
            raise DataError(
                "expected decimals of at most 64 bits, about 18 digits, got larger ones "
                f"of the type {array.type}; "
                "write it with fewer digits, or as floats"
            )
    return pa.array(values, mask=absent)
