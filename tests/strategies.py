"""Hypothesis strategies that several tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dnfscale.core.arrays import Bools, Ints
from dnfscale.core.tree import And, Formula, Not, Or, Symbol

INTEGER_DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOAT_DTYPES = ("float32", "float64")
COLUMN_KINDS = (
    "int8",
    "int64",
    "uint64",
    "float32",
    "float64",
    "ties",
    "constant",
    "string",
    "dictionary",
    "bool",
)


@st.composite
def boolean_rows(
    draw: st.DrawFn,
    *,
    min_rows: int = 0,
    max_rows: int = 60,
    min_attributes: int = 1,
    max_attributes: int = 6,
) -> tuple[Bools, Bools]:
    """A Boolean matrix holds[row, attribute], and a target."""
    n_rows = draw(st.integers(min_rows, max_rows))
    n_attributes = draw(st.integers(min_attributes, max_attributes))
    holds = draw(
        hnp.arrays(np.bool_, (n_rows, n_attributes), elements=st.booleans(), fill=st.nothing())
    )
    target = draw(hnp.arrays(np.bool_, n_rows, elements=st.booleans(), fill=st.nothing()))
    return holds, target


@st.composite
def groupings(draw: st.DrawFn, n_items: int) -> list[Ints]:
    """The items 0..n_items-1 dealt into groups, some of them perhaps empty, in any order."""
    n_groups = draw(st.integers(1, 4))
    group = draw(
        hnp.arrays(np.int64, n_items, elements=st.integers(0, n_groups - 1), fill=st.nothing())
    )
    return [np.flatnonzero(group == number) for number in draw(st.permutations(range(n_groups)))]


@st.composite
def numbers(
    draw: st.DrawFn, dtype: str, *, min_size: int = 1, max_size: int = 40
) -> np.ndarray[Any, Any]:
    """The finite values of a number column: from the whole range of the dtype, or a few values with
    ties.
    """
    kind = np.dtype(dtype)
    anything = hnp.from_dtype(kind, allow_nan=False, allow_infinity=False)
    few = draw(st.lists(anything, min_size=1, max_size=4))
    elements = draw(st.sampled_from([anything, st.sampled_from(few)]))
    size = draw(st.integers(min_size, max_size))
    return np.array(draw(st.lists(elements, min_size=size, max_size=size)), dtype=kind)


@st.composite
def tables(
    draw: st.DrawFn,
    *,
    min_rows: int = 2,
    max_rows: int = 30,
    max_columns: int = 5,
    missing: bool = True,
) -> pa.Table:
    """A table of mixed columns and a target «y» of true and false, of which each occurs in some row
    without a null.

    Columns are named after their kind. Floats are finite, and whole numbers small enough for a
    float.
    """
    n_rows = draw(st.integers(min_rows, max_rows))
    kinds = draw(st.lists(st.sampled_from(COLUMN_KINDS), min_size=1, max_size=max_columns))
    columns = {
        f"{kind}_{place}": draw(_column(kind, n_rows, missing)) for place, kind in enumerate(kinds)
    }
    target = draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows))
    first, second = draw(st.permutations(range(n_rows)))[:2]
    target[first], target[second] = True, False
    whole = {name: _filled(column, (first, second)) for name, column in columns.items()}
    return pa.table({**whole, "y": target})


@st.composite
def _column(draw: st.DrawFn, kind: str, n_rows: int, missing: bool) -> pa.Array:
    elements, arrow = _values(kind)
    if kind == "constant":
        elements = st.just(draw(elements))
    if missing and draw(st.booleans()):
        # Nulls are rare, for a row is lost with each of them.
        elements = st.one_of(*[elements] * 5, st.none())
        if arrow in (pa.float32(), pa.float64()):
            elements = st.one_of(*[elements] * 5, st.just(np.nan))
    values = draw(st.lists(elements, min_size=n_rows, max_size=n_rows))
    return pa.array(values, arrow)


def _values(kind: str) -> tuple[st.SearchStrategy[Any], pa.DataType]:
    words = st.sampled_from(["red", "green", "blue", "", "ä ö", 'a"b'])
    return {
        "int8": (st.integers(-128, 127), pa.int8()),
        "int64": (st.integers(-(2**40), 2**40), pa.int64()),
        "uint64": (st.integers(0, 2**40), pa.uint64()),
        "float32": (st.floats(-1e6, 1e6, width=32), pa.float32()),
        "float64": (st.floats(-1e12, 1e12), pa.float64()),
        "ties": (st.integers(0, 2), pa.int32()),
        "constant": (st.floats(-1, 1), pa.float64()),
        "string": (words, pa.string()),
        "dictionary": (words, pa.dictionary(pa.int32(), pa.string())),
        "bool": (st.booleans(), pa.bool_()),
    }[kind]


def _filled(column: pa.Array, rows: tuple[int, ...]) -> pa.Array:
    """Return the column with some value in the given rows."""
    values = column.to_pylist()
    present = [value for value in values if value is not None and value == value]
    some: Any = present[0] if present else {"string": "red", "bool": True}.get(str(column.type), 0)
    if pa.types.is_dictionary(column.type) and not present:
        some = "red"
    for row in rows:
        if values[row] is None or values[row] != values[row]:
            values[row] = some
    return pa.array(values, column.type)


@st.composite
def trees(draw: st.DrawFn, ell: int) -> Formula:
    """A formula in which each of so many attributes occurs, some of them twice, with negations
    anywhere.
    """

    def turned(formula: Formula) -> Formula:
        return Not(formula) if draw(st.booleans()) else formula

    again = draw(st.lists(st.integers(0, ell - 1), max_size=2))
    parts = [turned(Symbol(i)) for i in draw(st.permutations([*range(ell), *again]))]
    while len(parts) > 1:
        place = draw(st.integers(0, len(parts) - 2))
        connective = draw(st.sampled_from([And, Or]))
        parts[place : place + 2] = [turned(connective(parts[place], parts[place + 1]))]
    return parts[0]
