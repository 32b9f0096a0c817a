"""Columns of every type that Parquet and Arrow know, with the values that are hardest on
a reader.
"""

from __future__ import annotations

import decimal
import struct
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

NAN_WITH_PAYLOAD = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_DEAD_BEEF))[0]
FLOATS = (
    0.0,
    -0.0,
    1.0,
    -1.5,
    5e-324,
    1.7976931348623157e308,
    float("inf"),
    -float("inf"),
    float("nan"),
    NAN_WITH_PAYLOAD,
    1 / 3,
)
STRINGS = (
    "",
    " ",
    "a",
    "b",
    "A",
    "\0",
    "a\0b",
    "\u202e",
    "\x1b[2J",
    "é",
    "e\u0301",
    "\U0001f600",
    "\ufffe",
    "nan",
    "None",
    "1",
    "=1+1",
    "<b>",
    "x" * 3000,
)


def integers(random: Random, bits: int, signed: bool) -> Callable[[], int]:
    """Return a source of whole numbers: from the ends of the range, beyond 2**53, or small."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    ends = [low, low + 1, 0, 1, high - 1, high]
    near = random.randrange(low, high - 8)
    return random.choice(
        (
            lambda: random.choice(ends),
            lambda: random.randrange(low, high + 1),
            lambda: near + random.randrange(8),
            lambda: random.randrange(5),
        )
    )


def _temporal(random: Random, kind: pa.DataType) -> Callable[[], int]:
    if pa.types.is_time(kind):
        steps = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}[kind.unit]
        return lambda: random.choice((0, 1, 86_400 * steps - 1, random.randrange(86_400 * steps)))
    if pa.types.is_date32(kind):
        return lambda: random.choice(
            (0, -719_162, 2_932_896, random.randrange(-(2**31), 2**31), random.randrange(20_000))
        )
    near = random.randrange(2**60)
    wide = 2**63 if kind.unit == "ns" or pa.types.is_duration(kind) else 2**62
    return random.choice(
        (
            lambda: random.randrange(-wide // 1000, wide // 1000),
            lambda: near // 1000 + random.randrange(6),
            lambda: 0,
        )
    )


def _decimal(random: Random, kind: pa.DataType) -> Callable[[], decimal.Decimal]:
    most = 10 ** random.randrange(1, kind.precision + 1)
    with decimal.localcontext(prec=100):
        return lambda: decimal.Decimal(random.randrange(-most + 1, most)).scaleb(-kind.scale)


USUAL = (pa.float64(), pa.int64(), pa.string(), pa.bool_())
NUMBERS = (
    *(
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.uint8(),
        pa.uint16(),
        pa.uint32(),
        pa.uint64(),
    ),
    *(pa.float16(), pa.float32(), pa.float64()),
)
MEASURED = (
    *(pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
    *(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")),
    *(
        pa.timestamp(unit, zone)
        for unit in ("s", "us", "ns")
        for zone in ("UTC", "Europe/Helsinki", "-03:30")
    ),
    *(pa.duration(unit) for unit in ("s", "ms", "us", "ns")),
    *(
        pa.decimal128(1, 0),
        pa.decimal128(18, 4),
        pa.decimal128(38, 0),
        pa.decimal128(38, 10),
        pa.decimal128(19, 19),
    ),
    *(pa.decimal256(40, 2), pa.decimal32(9, 2), pa.decimal64(18, 17)),
)
TEXTS = (
    *(pa.string(), pa.large_string(), pa.string_view(), pa.null(), pa.bool_()),
    *(pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.large_string())),
)
ODD = (
    *(pa.binary(), pa.large_binary(), pa.binary(4), pa.binary_view()),
    *(
        pa.list_(pa.int64()),
        pa.list_(pa.int64(), 2),
        pa.struct({"a": pa.int64(), "b": pa.string()}),
        pa.map_(pa.string(), pa.int8()),
    ),
    *(pa.dictionary(pa.int8(), pa.binary()), pa.dictionary(pa.int8(), pa.int64()), pa.struct({})),
)


def any_type(random: Random) -> pa.DataType:
    """Return a type; now and then one that cannot be used."""
    family = random.choices((USUAL, NUMBERS, MEASURED, TEXTS, ODD), (30, 25, 30, 20, 2))[0]
    return random.choice(family)


def any_column(random: Random, kind: pa.DataType, n_rows: int) -> pa.Array:
    """Return a column of a type, often with nulls."""
    null_share = random.choice((0, 0, 0, 0.1, 0.5, 1 if random.random() < 0.2 else 0))
    if pa.types.is_dictionary(kind):
        return _dictionary(random, kind, n_rows, null_share)
    draw = _source(random, kind)
    values = [None if random.random() < null_share else draw() for _ in range(n_rows)]
    if pa.types.is_float16(kind):
        values = [None if value is None else np.float16(value) for value in values]
    if pa.types.is_date64(kind):
        values = [None if value is None else value * 86_400_000 for value in values]
    return pa.array(values, kind)


def _source(random: Random, kind: pa.DataType) -> Callable[[], Any]:
    if pa.types.is_boolean(kind):
        return lambda: random.random() < 0.5
    if pa.types.is_integer(kind):
        return integers(random, kind.bit_width, pa.types.is_signed_integer(kind))
    if pa.types.is_float16(kind):
        return lambda: random.choice(
            (0.0, -0.0, 1.0, 65504.0, float("inf"), float("nan"), 0.333, 6e-8)
        )
    if pa.types.is_floating(kind):
        few = random.sample(FLOATS, 4)
        return random.choice(
            (lambda: random.choice(few), lambda: random.gauss(0, 1), lambda: random.choice(FLOATS))
        )
    if pa.types.is_date64(kind):
        return lambda: random.randrange(-10_000, 30_000)
    if pa.types.is_temporal(kind):
        return _temporal(random, kind)
    if pa.types.is_decimal(kind):
        return _decimal(random, kind)
    return _texts_or_nested(random, kind)


def _texts_or_nested(random: Random, kind: pa.DataType) -> Callable[[], Any]:
    few_texts = random.sample(STRINGS, random.randrange(1, 8))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return lambda: random.choice(few_texts)
    if pa.types.is_fixed_size_binary(kind):
        return lambda: random.randbytes(4)
    if pa.types.is_fixed_size_list(kind):
        return lambda: [1, 2]
    if pa.types.is_list(kind):
        return lambda: [1] * random.randrange(3)
    if pa.types.is_map(kind):
        return lambda: [("a", 1)]
    if pa.types.is_struct(kind):
        return dict
    if pa.types.is_null(kind):
        return lambda: None
    return lambda: random.choice(few_texts).encode()


def _dictionary(random: Random, kind: pa.DataType, n_rows: int, null_share: float) -> pa.Array:
    """Return a dictionary with values that are unused, that occur twice, or that are null."""
    inner = kind.value_type
    values: list[Any] = random.choices(STRINGS, k=random.randrange(1, 9))
    if pa.types.is_integer(inner):
        values = [random.randrange(5) for _ in values]
    elif pa.types.is_binary(inner):
        values = [value.encode() for value in values]
    if random.random() < 0.2:
        values[random.randrange(len(values))] = None
    codes = [
        None if random.random() < null_share else random.randrange(len(values))
        for _ in range(n_rows)
    ]
    return pa.DictionaryArray.from_arrays(pa.array(codes, kind.index_type), pa.array(values, inner))
