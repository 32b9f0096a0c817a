"""Tables in memory: anything with rows and columns becomes an Arrow table, and rows can be ordered
by their content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dnfscale.core.arrays import Ints
from dnfscale.core.columns import Block, Reading
from dnfscale.core.hashes import Hashes, scramble
from dnfscale.data.measures import steps
from dnfscale.data.read import TablePartition
from dnfscale.data.source import Source
from dnfscale.errors import DataError

_MISSING = np.uint64(1)
"""The hash of a missing value, whatever its column holds."""


def is_frame(X: Any) -> bool:  # noqa: N803 (scikit-learn's name for a table)
    """Return whether X is a table with named columns, not a plain array."""
    named = hasattr(X, "columns") or hasattr(X, "column_names")
    return isinstance(X, pa.Table) or (
        named and (hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__"))
    )


def is_dask(X: Any) -> bool:  # noqa: N803
    """Return whether X is a Dask DataFrame."""
    return hasattr(X, "dask") and hasattr(X, "partitions") and hasattr(X, "columns")


def to_table(X: Any) -> pa.Table:  # noqa: N803
    """Return a pandas, Polars or Arrow table, or an array of rows and columns, as an Arrow table.

    The columns of an array are called x0, x1, ...; the index of a pandas table is not a column.
    """
    try:
        if isinstance(X, pa.Table):
            table = X
        elif hasattr(X, "iloc"):
            table = pa.Table.from_pandas(
                X.set_axis([str(name) for name in X.columns], axis=1), preserve_index=False
            )
        elif hasattr(X, "__arrow_c_stream__"):
            table = pa.table(X)
        elif hasattr(X, "__dataframe__"):
            table = pa.interchange.from_dataframe(X)
        else:
            table = pa.table({f"x{i}": _column(column) for i, column in enumerate(np.asarray(X).T)})
    except (pa.ArrowException, ValueError, NotImplementedError) as error:
        raise DataError(
            f"expected columns of one type each, under different names, but {error}"
        ) from error
    if not table.num_columns:
        raise DataError("expected a table with at least one column, got 0 feature(s)")
    if len(set(table.column_names)) < table.num_columns:
        raise DataError("expected columns under different names, but two have the same")
    return _without_views(table)


def _without_views(table: pa.Table) -> pa.Table:
    """Return the table with string views as strings: Polars hands over views, and Arrow cannot take
    rows of them.
    """
    fields = []
    for field in table.schema:
        kind = field.type
        if pa.types.is_string_view(kind):
            kind = pa.large_string()
        elif pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
            kind = pa.dictionary(kind.index_type, pa.large_string(), kind.ordered)
        fields.append(field.with_type(kind))
    return table.cast(pa.schema(fields))


def _column(values: npt.NDArray[Any]) -> Any:
    if values.dtype.kind != "O":
        return np.ascontiguousarray(values)
    for value in values:
        if not (value is None or isinstance(value, str | bool | int | float | np.generic)):
            raise TypeError(f"argument must be a string or a number, got {type(value).__name__}")
    return pa.array(values, from_pandas=True)


def own_order(
    table: pa.Table, weights: Ints | None = None, *, without: Container[str] = ()
) -> Ints:
    """Return the row numbers in an order that depends only on what the rows hold, ignoring some
    columns.

    Rows are ordered by a hash of their values; rows with the same hash are alike except for their
    weight, which comes next. A learner that assigns rows by their number then gives the same answer
    for the same rows in any order, and for equal weights the same answer as without weights.
    """
    hashes: Hashes = np.zeros(table.num_rows, dtype=np.uint64)
    for name in (name for name in table.column_names if name not in without):
        scramble(hashes)
        hashes += _hashes_of(table.column(name))
    scramble(hashes)
    return np.argsort(hashes, kind="stable") if weights is None else np.lexsort((weights, hashes))


def in_own_order(table: pa.Table, *, without: Container[str] = ()) -> pa.Table:
    """Return the rows in the order of own_order, ignoring some columns when ordering."""
    return table.take(pa.array(own_order(table, without=without)))


def _hashes_of(column: pa.ChunkedArray) -> Hashes:
    """Return a hash of each value; equal texts and numbers have equal ones, whatever the type and
    the encoding.

    Exceptions are whole numbers beyond 2**53, which differ from equal floats, and dates, times,
    durations and decimals, which are hashed as numbers of steps: equal decimals of another scale
    have another hash.
    """
    if pa.types.is_null(column.type):
        return np.full(len(column), _MISSING)
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    coded = (
        column.unify_dictionaries()
        if pa.types.is_dictionary(column.type)
        else pc.dictionary_encode(column)
    )
    joined = coded.combine_chunks()
    table = _value_hashes(joined.dictionary)
    places = joined.indices.cast(pa.int64()).fill_null(len(table)).to_numpy(zero_copy_only=False)
    found: Hashes = np.append(table, _MISSING)[places]
    return found


def _value_hashes(values: pa.Array) -> Hashes:
    values = steps(values)
    absent = values.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    if pa.types.is_floating(values.type) or pa.types.is_integer(values.type):
        # Numbers are hashed by their bits as floats, because a whole number may be stored as one;
        # adding 0.0 makes the two zeros alike.
        numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
        hashes = (numbers.astype(np.float64) + 0.0).view(np.uint64)
        if numbers.dtype.kind in "iu":
            exact = (numbers <= 1 << 53) & (
                numbers >= (-(1 << 53) if numbers.dtype.kind == "i" else 0)
            )
            hashes = np.where(exact, hashes, ~numbers.astype(np.int64).view(np.uint64))
    else:
        digests = (
            hashlib.blake2b(repr(v).encode("utf-8", "replace"), digest_size=8)
            for v in values.to_pylist()
        )
        hashes = np.array(
            [int.from_bytes(digest.digest(), "little") for digest in digests], dtype=np.uint64
        )
    scramble(hashes)
    hashes[absent] = _MISSING
    return np.asarray(hashes)


def repeated(table: pa.Table, times: Ints) -> pa.Table:
    """Return each row repeated as often as it counts."""
    return table.take(pa.array(np.repeat(np.arange(table.num_rows), times)))


@dataclass(frozen=True, slots=True, eq=False)
class DaskPartition:
    """One partition of a Dask DataFrame, computed whenever it is read."""

    ordinal: int
    frame: Any
    n_rows: int

    def blocks(self, reading: Reading) -> Iterator[Block]:
        yield from TablePartition(self.ordinal, to_table(self.frame.compute())).blocks(reading)


def table_source(table: pa.Table, name: str) -> Source:
    """Return a table in memory as a source of one partition."""
    return Source(
        path=name,
        types={field.name: field.type for field in table.schema},
        partitions=(TablePartition(0, table),) if table.num_rows else (),
        n_rows=table.num_rows,
        column_bytes={name: table.column(name).nbytes for name in table.column_names},
        null_counts={name: table.column(name).null_count for name in table.column_names},
    )


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
        column_bytes=dict.fromkeys(types, 0),
    )
