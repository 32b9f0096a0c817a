"""Tables in memory: whatever holds rows and columns becomes an Arrow table, and rows get an order of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dnfscale.core.arrays import Ints
from dnfscale.core.columns import Block, Reading
from dnfscale.data.read import TablePartition
from dnfscale.data.source import Source
from dnfscale.errors import DataError

_Hashes = npt.NDArray[np.uint64]


def is_frame(X: Any) -> bool:  # noqa: N803 (scikit-learn's name for a table)
    """Tell a table with named columns from a plain array."""
    return isinstance(X, pa.Table) or hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__")


def is_dask(X: Any) -> bool:  # noqa: N803
    """Tell a Dask DataFrame from one that is in memory."""
    return hasattr(X, "dask") and hasattr(X, "partitions") and hasattr(X, "columns")


def to_table(X: Any) -> pa.Table:  # noqa: N803
    """Return a pandas, Polars or Arrow table, or an array of rows and columns, as an Arrow table.

    The columns of an array are called x0, x1, ...; the index of a pandas table is not a column.
    """
    try:
        if isinstance(X, pa.Table):
            table = X
        elif hasattr(X, "iloc"):
            table = pa.Table.from_pandas(X.set_axis([str(name) for name in X.columns], axis=1), preserve_index=False)
        elif hasattr(X, "__arrow_c_stream__"):
            table = pa.table(X)
        elif hasattr(X, "__dataframe__"):
            table = pa.interchange.from_dataframe(X)
        else:
            table = pa.table({f"x{i}": _column(column) for i, column in enumerate(np.asarray(X).T)})
    except (pa.ArrowException, ValueError, NotImplementedError) as error:
        raise DataError(f"expected columns of one type each, under different names, but {error}") from error
    if not table.num_columns:
        raise DataError("expected a table with at least one column, got 0 feature(s)")
    if len(set(table.column_names)) < table.num_columns:
        raise DataError("expected columns under different names, but two have the same")
    return table


def _column(values: npt.NDArray[Any]) -> Any:
    if values.dtype.kind != "O":
        return np.ascontiguousarray(values)
    for value in values:
        if not (value is None or isinstance(value, str | bool | int | float | np.generic)):
            raise TypeError(f"argument must be a string or a number, got {type(value).__name__}")
    return pa.array(values, from_pandas=True)


def in_own_order(table: pa.Table) -> pa.Table:
    """Return the rows in an order that depends on nothing but what they hold.

    Rows are ordered by a hash of their values; rows of the same hash are alike. A learner that deals rows by their
    number then gives the same answer for the same rows in any order.
    """
    hashes: _Hashes = np.zeros(table.num_rows, dtype=np.uint64)
    for name in table.column_names:
        _mix(hashes)
        hashes += _hashes_of(table.column(name))
    _mix(hashes)
    return table.take(pa.array(np.argsort(hashes, kind="stable")))


def _hashes_of(column: pa.ChunkedArray) -> _Hashes:
    """Return a hash of each value: equal values have equal ones, whatever the encoding."""
    codes = pc.dictionary_encode(column, null_encoding="encode") if not pa.types.is_dictionary(column.type) else column
    joined = codes.combine_chunks() if isinstance(codes, pa.ChunkedArray) else codes
    if isinstance(joined, pa.ChunkedArray):
        joined = pa.concat_arrays(joined.unify_dictionaries().chunks) if joined.num_chunks else joined.chunk(0)
    values = joined.dictionary
    if pa.types.is_floating(values.type):
        # The bits of the number; all nan are alike, and so are the two zeros.
        numbers = np.asarray(values.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64) + 0.0
        numbers[np.isnan(numbers)] = np.nan
        table = numbers.view(np.uint64).copy()
    elif pa.types.is_integer(values.type):
        filled = values.fill_null(0)
        table = filled.to_numpy(zero_copy_only=False).astype(np.int64, casting="unsafe").view(np.uint64).copy()
        table[np.asarray(values.is_null().to_numpy(zero_copy_only=False))] = 0x9E3779B97F4A7C15
    else:
        digests = (hashlib.blake2b(repr(v).encode("utf-8", "replace"), digest_size=8) for v in values.to_pylist())
        table = np.array([int.from_bytes(digest.digest(), "little") for digest in digests], dtype=np.uint64)
    _mix(table)
    indices = joined.indices
    places = indices.fill_null(len(table)).cast(pa.int64()).to_numpy(zero_copy_only=False)
    found: _Hashes = np.append(table, np.uint64(1))[places]
    return found


def _mix(hashes: _Hashes) -> None:
    """Scramble 64-bit numbers in place: every bit depends on every other."""
    hashes ^= hashes >> np.uint64(31)
    hashes *= np.uint64(0xD6E8FEB86659FD93)
    hashes ^= hashes >> np.uint64(32)
    hashes *= np.uint64(0xD6E8FEB86659FD93)
    hashes ^= hashes >> np.uint64(29)


def repeated(table: pa.Table, times: Ints) -> pa.Table:
    """Return each row as often as it is to count."""
    return table.take(pa.array(np.repeat(np.arange(table.num_rows), times)))


@dataclass(frozen=True, slots=True, eq=False)
class DaskPartition:
    """One partition of a Dask DataFrame, computed whenever it is read."""

    ordinal: int
    frame: Any
    n_rows: int

    def blocks(self, reading: Reading) -> Iterator[Block]:
        yield from TablePartition(self.ordinal, to_table(self.frame.compute())).blocks(reading)


def dask_source(frame: Any, name: str) -> Source:
    """Return a Dask DataFrame as a source: one partition is in memory at a time."""
    partitions = [frame.partitions[i] for i in range(frame.npartitions)]
    lengths = [len(partition) for partition in partitions]
    types = {field.name: field.type for field in to_table(frame.head(1, npartitions=-1)).schema}
    return Source(
        path=name,
        types=types,
        partitions=tuple(
            DaskPartition(i, partition, length)
            for i, (partition, length) in enumerate(zip(partitions, lengths, strict=True))
        ),
        n_rows=sum(lengths),
        n_files=0,
        column_bytes=dict.fromkeys(types, 0),
    )
