"""Columns of dates, times, durations and decimals, and a target that has to do with them."""

from __future__ import annotations

import decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa

N_ROWS = 240
RANDOM = np.random.default_rng(7)
Y = RANDOM.random(N_ROWS) < 0.5
SHIFTED = np.where(Y, 3, 0) + RANDOM.normal(size=N_ROWS)
"""Larger where y is true."""


def spread(low: int, high: int) -> list[int]:
    """Whole numbers from a range, the larger ones mostly where y is true."""
    share = (SHIFTED - SHIFTED.min()) / (SHIFTED.max() - SHIFTED.min())
    return [low + int(Fraction(float(s)) * (high - low)) for s in share]


def decimals(ticks: list[int], digits: int) -> list[decimal.Decimal]:
    with decimal.localcontext(prec=60):
        return [decimal.Decimal(tick).scaleb(-digits) for tick in ticks]


DAY_S = 86_400
YEAR_NS = 365 * DAY_S * 10**9
COLUMNS: dict[str, pa.Array] = {
    "date": pa.array(spread(19_000, 20_000), pa.date32()),
    "old date": pa.array(spread(-700_000, -600_000), pa.date32()),
    "time of seconds": pa.array(spread(0, DAY_S - 1), pa.time32("s")),
    "time of microseconds": pa.array(spread(0, DAY_S * 10**6 - 1), pa.time64("us")),
    "time of nanoseconds": pa.array(spread(0, DAY_S * 10**9 - 1), pa.time64("ns")),
    "timestamp of milliseconds": pa.array(spread(-(10**12), 10**12), pa.timestamp("ms")),
    "timestamp of microseconds": pa.array(spread(-(10**15), 10**15), pa.timestamp("us")),
    "timestamps a nanosecond apart": pa.array(
        spread(50 * YEAR_NS, 50 * YEAR_NS + 9), pa.timestamp("ns")
    ),
    "instant of microseconds": pa.array(spread(10**15, 2 * 10**15), pa.timestamp("us", "UTC")),
    "instants a nanosecond apart": pa.array(
        spread(YEAR_NS, YEAR_NS + 9), pa.timestamp("ns", "Asia/Kolkata")
    ),
    "duration": pa.array(spread(-(10**10), 10**10), pa.duration("us")),
    "duration of nanoseconds": pa.array(spread(2**60, 2**60 + 9), pa.duration("ns")),
    "decimal": pa.array(decimals(spread(-500, 99_999), 2), pa.decimal128(7, 2)),
    "decimal beyond floats": pa.array(decimals(spread(2**60, 2**60 + 9), 3), pa.decimal128(30, 3)),
    "decimal of many digits": pa.array(decimals(spread(1, 2**40), 30), pa.decimal128(38, 30)),
    "decimal below zero": pa.array(decimals(spread(-(2**62), -(2**61)), 18), pa.decimal128(19, 18)),
}


def with_nulls(values: pa.Array) -> pa.Array:
    """Return a column with some of its values missing."""
    return pa.array([None if i % 17 == 0 else values[i] for i in range(len(values))], values.type)
